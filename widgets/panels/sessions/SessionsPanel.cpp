#include "widgets/panels/sessions/SessionsPanel.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/panels/sessions/Ages.h"
#include "widgets/panels/sessions/SessionDelegate.h"
#include "widgets/panels/sessions/SessionEditor.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/style/Metrics.h"

namespace stepscope {

SessionsPanel::SessionsPanel(QWidget* parent) : QWidget(parent) {
    m_model = new SessionsModel(this);
    m_filter = new SessionsFilter(this);
    m_filter->setSourceModel(m_model);
    m_delegate = new SessionDelegate(this);

    auto* title = new QLabel("Sessions");
    title->setFont(headFont(title->font()));
    m_search = new QLineEdit;
    m_search->setPlaceholderText("name, tag or switch");
    m_search->setClearButtonEnabled(true);
    m_search->addAction(lineIcon("search"), QLineEdit::LeadingPosition);
    m_search->setAccessibleName("Filter sessions");
    m_search->setToolTip("Shows the sessions whose name, tags, state or settings hold these words, e.g. amp=bf16 (/)");
    m_search->installEventFilter(this);

    m_view = new QListView;
    m_view->setModel(m_filter);
    m_view->setItemDelegate(m_delegate);
    m_view->setUniformItemSizes(true);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_view->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_view->setContextMenuPolicy(Qt::CustomContextMenu);
    m_view->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_view->setAccessibleName("Sessions, newest first");
    m_view->installEventFilter(this);
    keepAgesTrue(*m_view);
    m_empty = sentenceLabel(Tone::Muted);
    m_empty->setAlignment(Qt::AlignTop | Qt::AlignHCenter);
    m_empty->setContentsMargins(space(3), space(6), space(3), 0);
    m_stack = new QStackedWidget;
    m_stack->addWidget(m_view);
    m_demo = new QPushButton("Record two demos");  // whole in the narrowest panel
    m_demo->setAutoDefault(false);
    m_demo->setToolTip("Ten seconds of the preset tiny-cpu on this machine, five with fusion off and five with it on; a run that is started ends it");
    m_nothing = new QWidget;
    auto* inNothing = new QVBoxLayout(m_nothing);
    inNothing->setContentsMargins(0, 0, 0, 0);
    inNothing->addWidget(m_empty);
    inNothing->addWidget(m_demo, 0, Qt::AlignHCenter);
    inNothing->addStretch(1);
    m_stack->addWidget(m_nothing);
    m_editor = new SessionEditor;
    m_undo = new NoticeBar(m_stack, Qt::BottomEdge);

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space(1), space(2), space(2), space(2));
    layout->setSpacing(space(1));
    layout->addWidget(title);
    layout->addWidget(m_search);
    layout->addWidget(m_stack, 1);
    layout->addWidget(m_editor);
    setMinimumWidth(200);

    connect(m_demo, &QPushButton::clicked, this, &SessionsPanel::demoRequested);
    connect(m_search, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_filter->setWords(text);
        showEmptiness();
    });
    connect(m_view, &QListView::doubleClicked, this,
            [this](const QModelIndex& index) { Q_EMIT replayRequested(index.data(SessionsModel::IdRole).toLongLong()); });
    connect(m_view, &QListView::customContextMenuRequested, this, &SessionsPanel::showMenu);
    connect(m_editor, &SessionEditor::renamed, this, &SessionsPanel::renameRequested);
    connect(m_editor, &SessionEditor::annotated, this, &SessionsPanel::annotateRequested);
    connect(m_undo, &NoticeBar::acted, this, [this] {
        for (const std::int64_t session : std::exchange(m_deleted, {})) Q_EMIT restoreRequested(session);
    });
    showEmptiness();
}

void SessionsPanel::setRows(std::vector<SessionRow> rows) {
    m_read = true;
    m_unavailable.clear();
    const std::int64_t kept = selected();
    const std::vector<std::int64_t> keptAll = allSelected();
    m_model->setRows(std::move(rows));
    // What is no longer there, deleted here or elsewhere, has no note to write.
    if (m_editor->session() != 0 && m_model->find(m_editor->session()) == nullptr) m_editor->hide();
    if (kept != 0 && (selected() != kept || allSelected() != keptAll))
        for (int i = 0; i < m_filter->rowCount(); ++i) {
            const QModelIndex index = m_filter->index(i, 0);
            const std::int64_t id = index.data(SessionsModel::IdRole).toLongLong();
            if (id == kept) m_view->selectionModel()->setCurrentIndex(index, QItemSelectionModel::NoUpdate);
            if (std::ranges::count(keptAll, id) > 0) m_view->selectionModel()->select(index, QItemSelectionModel::Select);
        }
    showEmptiness();
}

void SessionsPanel::setUnavailable(const QString& why) {
    m_unavailable = why;
    showEmptiness();
}

void SessionsPanel::setDemoOffered(bool offered) {
    m_demoOffered = offered;
    showEmptiness();
}

void SessionsPanel::setReplayed(std::int64_t session) {
    m_delegate->setReplayed(session);
    m_view->viewport()->update();
}

void SessionsPanel::setOverlaid(std::map<std::int64_t, std::size_t> colours) {
    m_delegate->setOverlaid(std::move(colours));
    m_view->viewport()->update();
}

void SessionsPanel::showEmptiness() {
    const bool bad = !m_unavailable.isEmpty();
    m_empty->setTone(bad ? Tone::Error : Tone::Muted);
    m_empty->setText(bad                        ? m_unavailable
                     : !m_read                  ? "Reading the sessions…"
                     : m_model->rowCount() == 0 ? "No sessions yet. Press Run: every run is recorded here and can be replayed."
                                                : "No session matches. Fewer letters find more; Esc shows all.");
    m_demo->setVisible(m_demoOffered && !bad && m_read && m_model->rowCount() == 0);
    m_stack->setCurrentWidget(bad || m_filter->rowCount() == 0 ? m_nothing : m_view);
}

std::int64_t SessionsPanel::selected() const {
    const QModelIndex current = m_view->currentIndex();
    return current.isValid() ? current.data(SessionsModel::IdRole).toLongLong() : 0;
}

std::vector<std::int64_t> SessionsPanel::allSelected() const {
    std::vector<std::int64_t> ids;
    for (const QModelIndex& index : m_view->selectionModel()->selectedIndexes()) ids.push_back(index.data(SessionsModel::IdRole).toLongLong());
    std::ranges::sort(ids);
    return ids;
}

void SessionsPanel::focusSearch() {
    m_search->setFocus(Qt::ShortcutFocusReason);
    m_search->selectAll();
}

void SessionsPanel::showMenu(const QPoint& at) {
    const SessionRow* found = m_model->find(m_view->indexAt(at).data(SessionsModel::IdRole).toLongLong());
    if (found == nullptr) return;
    const SessionRow row = *found;  // the list may be read anew while the menu is open
    const bool over = ended(row.state);
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    // A right click beside the selection is of what lies under it.
    std::vector<std::int64_t> several = allSelected();
    if (std::ranges::count(several, row.id) == 0) several = {row.id};
    menu->addAction(lineIcon("run"), "Replay", this, [this, row] { Q_EMIT replayRequested(row.id); });
    const bool ownSettings = row.kind != SessionKind::Trace;  // what was imported was not run here
    menu->addAction(lineIcon("again"), "Run again with these settings", this, [this, row] { Q_EMIT runAgainRequested(row.id); })
        ->setEnabled(row.kind == SessionKind::Run);
    menu->addAction(lineIcon("undo"), "Load these settings", this, [this, row] { Q_EMIT loadRequested(row.id); })->setEnabled(ownSettings);
    menu->addAction(lineIcon("note"), several.size() > 1 ? QString("Compare %1 sessions").arg(several.size()) : QString("Details"), this,
                    [this, several] { Q_EMIT compareRequested(several); });
    if (several.size() > 1)
        menu->addAction(lineIcon("layers"), QString("Lay %1 sessions over each other").arg(several.size()), this,
                        [this, several] { Q_EMIT overlayRequested(several); });
    if (several.size() == 2)
        menu->addAction(lineIcon("layers"), "Timelines side by side", this, [this, several] { Q_EMIT sideBySideRequested(several[0], several[1]); });
    if (row.kind == SessionKind::Run || row.kind == SessionKind::Ladder || row.kind == SessionKind::Tune)
        menu->addAction(lineIcon("range"), "What was measured in it", this, [this, row] { Q_EMIT measurementsRequested(row.id); });
    QAction* resume = menu->addAction(lineIcon("resume"), "Resume from its last checkpoint", this, [this, row] { Q_EMIT resumeRequested(row.id); });
    resume->setEnabled(over && row.kind == SessionKind::Run);
    menu->addSeparator();
    menu->addAction(lineIcon("rename"), "Rename", this, [this, row] { m_editor->edit(row, SessionEditor::Field::Name); });
    menu->addAction(lineIcon("note"), "Note", this, [this, row] { m_editor->edit(row, SessionEditor::Field::Note); });
    menu->addAction(lineIcon("tag"), "Tags", this, [this, row] { m_editor->edit(row, SessionEditor::Field::Tags); });
    menu->addSeparator();
    menu->addAction(lineIcon("flag"), "Checkpoints…", this, [this, row] { Q_EMIT checkpointsRequested(row.id, row.name); })
        ->setEnabled(row.kind == SessionKind::Run);
    menu->addAction(lineIcon("box"), "Captures…", this, [this, row] { Q_EMIT capturesRequested(row.id, row.name); });
    if (row.severalWorkers) menu->addAction(lineIcon("layers"), "Workers…", this, [this, row] { Q_EMIT workersRequested(row.id, row.name); });
    QMenu* exports = menu->addMenu(lineIcon("export"), "Export");
    for (const ExportChoice& choice : m_exports)
        exports->addAction(choice.title + "…", this, [this, row, word = choice.word] { Q_EMIT exportRequested(row.id, word); });
    exports->setEnabled(!m_exports.empty());
    QAction* removal = menu->addAction(lineIcon("trash"), several.size() > 1 ? QString("Delete %1 sessions").arg(several.size()) : QString("Delete"),
                                       this, [this, several] { removeAll(several); });
    removal->setEnabled(over || several.size() > 1);
    menu->popup(m_view->viewport()->mapToGlobal(at));
}

bool SessionsPanel::exportSelected() {
    const auto csv = std::ranges::find(m_exports, QString("csv"), &ExportChoice::word);
    const SessionRow* row = m_model->find(selected());
    if (row == nullptr || csv == m_exports.end()) return false;
    Q_EMIT exportRequested(row->id, csv->word);
    return true;
}

// Those that have ended; what is still recorded stays.
void SessionsPanel::removeAll(const std::vector<std::int64_t>& sessions) {
    std::vector<SessionRow> gone;  // copies: the list changes meanwhile
    for (const std::int64_t id : sessions)
        if (const SessionRow* row = m_model->find(id); row != nullptr && ended(row->state)) gone.push_back(*row);
    for (const SessionRow& row : gone) remove(row);
}

void SessionsPanel::remove(const SessionRow& row) {
    if (m_editor->session() == row.id) m_editor->hide();
    Q_EMIT deleteRequested(row.id, row.name);
}

void SessionsPanel::offerUndo(std::int64_t session, const QString& name) {
    // While the offer stands it grows: what was deleted together arrives one by one, and comes back together.
    if (!m_undo->isVisibleTo(this)) m_deleted.clear();
    m_deleted.push_back(session);
    m_undo->say(NoticeBar::Kind::Note, m_deleted.size() == 1 ? "Deleted “" + name + "”." : QString("Deleted %1 sessions.").arg(m_deleted.size()),
                "Undo");
}

bool SessionsPanel::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const SessionRow* row = m_model->find(selected());
        if (watched == m_search && key == Qt::Key_Escape) {
            m_search->clear();
            return true;
        }
        if (watched == m_search && key == Qt::Key_Down) {
            m_view->setFocus();
            return true;
        }
        if (watched == m_view && row != nullptr) {
            if (key == Qt::Key_Return || key == Qt::Key_Enter)
                Q_EMIT replayRequested(row->id);
            else if (key == Qt::Key_F2)
                m_editor->edit(*row, SessionEditor::Field::Name);
            else if (key == Qt::Key_Delete && ended(row->state))
                removeAll(allSelected());
            else if (key == Qt::Key_C)
                Q_EMIT compareRequested(allSelected());
            else if (key == Qt::Key_O)
                Q_EMIT overlayRequested(allSelected());
            else if (const auto both = allSelected(); key == Qt::Key_T && both.size() == 2)
                Q_EMIT sideBySideRequested(both[0], both[1]);
            else
                return QWidget::eventFilter(watched, event);
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace stepscope
