#include "widgets/panels/sessions/SessionsPage.h"

#include <QCheckBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QSplitter>
#include <QStandardPaths>
#include <QTableView>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <map>

#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/sessions/Ages.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsTable.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/RowTable.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {
constexpr std::size_t kMostBesideEachOther = 6;  // more columns cannot be read
}

SessionsPage::SessionsPage(SessionsModel& sessions, QWidget* parent) : QWidget(parent) {
    m_table = new SessionsTable(sessions, this);
    m_order = new SessionsOrder(this);
    m_order->setSourceModel(m_table);
    m_order->setSortRole(SessionsTable::kSortRole);
    m_view = new QTableView;
    m_view->setModel(m_order);
    m_view->setSortingEnabled(true);
    m_view->sortByColumn(SessionsTable::Started, Qt::DescendingOrder);
    styleRows(*m_view, 8);
    m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_view->setAlternatingRowColors(true);
    m_view->setTextElideMode(Qt::ElideMiddle);
    m_view->setAccessibleName("Sessions as a table");
    keepAgesTrue(*m_view);
    QHeaderView* columns = m_view->horizontalHeader();
    columns->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    const int digit = m_view->fontMetrics().horizontalAdvance('8');
    const int characters[SessionsTable::Columns] = {4, 20, 9, 10, 7, 7, 9, 9, 12, 12};
    for (int column = 0; column < SessionsTable::Columns; ++column) m_view->setColumnWidth(column, characters[column] * digit + 8);

    m_heading = new ToneLabel(Tone::Muted);
    m_settings = new QTableWidget;
    m_settings->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_settings->setAlternatingRowColors(true);
    m_settings->setShowGrid(false);
    m_settings->setWordWrap(false);
    m_settings->setAccessibleName("Settings of the chosen sessions");
    m_settings->setTabKeyNavigation(false);
    m_settings->verticalHeader()->hide();
    m_settings->verticalHeader()->setDefaultSectionSize(m_view->fontMetrics().height() + 6);
    m_settings->horizontalHeader()->setHighlightSections(false);
    m_settings->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_differing = new QCheckBox("only what differs");
    m_differing->setChecked(true);

    auto* below = new QWidget;
    auto* belowLayout = new QVBoxLayout(below);
    belowLayout->setContentsMargins(0, 0, 0, 0);
    belowLayout->setSpacing(space(1));
    auto* head = new QHBoxLayout;
    head->addWidget(m_heading, 1);
    head->addWidget(m_differing);
    belowLayout->addLayout(head);
    belowLayout->addWidget(m_settings, 1);
    auto* split = new QSplitter(Qt::Vertical);
    split->setChildrenCollapsible(false);
    split->addWidget(m_view);
    split->addWidget(below);
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 2);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space(2), space(2), space(2), space(1));
    layout->setSpacing(space(2));
    layout->addWidget(buildControls());
    layout->addWidget(split, 1);

    connect(m_view->selectionModel(), &QItemSelectionModel::selectionChanged, this, &SessionsPage::showSettings);
    // The list is read anew whenever something in it changes: what was chosen stays chosen.
    connect(m_order, &QAbstractItemModel::modelAboutToBeReset, this, [this] { m_kept = chosen(); });
    connect(m_order, &QAbstractItemModel::modelReset, this, [this] {
        select(m_kept);
        showSettings();
    });
    connect(m_differing, &QCheckBox::toggled, this, &SessionsPage::showSettings);
    // That one, whichever others are chosen.
    connect(m_view, &QTableView::doubleClicked, this,
            [this](const QModelIndex& index) { Q_EMIT replayRequested(m_table->at(m_order->mapToSource(index).row()).id); });
    showSettings();
}

QWidget* SessionsPage::buildControls() {
    m_search = new QLineEdit;
    m_search->setPlaceholderText("name, tag or setting, such as amp=bf16");
    m_search->setAccessibleName("Filter the table of sessions");
    m_search->setClearButtonEnabled(true);
    m_search->addAction(lineIcon("search"), QLineEdit::LeadingPosition);
    connect(m_search, &QLineEdit::textChanged, this, [this](const QString& text) { m_order->setWords(text); });
    auto* lines = new QWidget;
    auto* both = new QVBoxLayout(lines);
    both->setContentsMargins(0, 0, 0, 0);
    both->setSpacing(space(1));
    auto* above = new QHBoxLayout;
    auto* below = new QHBoxLayout;
    both->addLayout(above);
    both->addLayout(below);
    above->addWidget(m_search, 1);
    QHBoxLayout* layout = below;
    const auto add = [&](const char* icon, const QString& text, const QString& tooltip, auto&& what) {
        auto* button = new QPushButton(lineIcon(icon), text);
        button->setToolTip(tooltip);
        connect(button, &QPushButton::clicked, this, what);
        layout->addWidget(button);
        return button;
    };
    const auto first = [this](auto signal) {
        return [this, signal] {
            if (const auto chosenNow = rows(); !chosenNow.empty()) Q_EMIT(this->*signal)(chosenNow.front()->id);
        };
    };
    m_replay = add("run", "Replay", "Play the chosen session (double click)", first(&SessionsPage::replayRequested));
    m_load = add("undo", "Load settings", "Put the chosen session's settings into the panel on the left, without starting a run",
                 first(&SessionsPage::loadRequested));
    m_again = add("again", "Run again", "Start a run with the chosen session's settings", first(&SessionsPage::runAgainRequested));
    m_remove = add("trash", "Delete", "Delete the chosen sessions; it can be undone", [this] {
        std::vector<std::pair<std::int64_t, QString>> gone;  // the list changes with the first of them
        for (const SessionRow* row : rows())
            if (ended(row->state)) gone.emplace_back(row->id, row->name);
        for (const auto& [id, name] : gone) Q_EMIT deleteRequested(id, name);
    });
    below->addStretch();
    layout = above;
    m_overlay = add("layers", "Lay over", "Lay the chosen sessions over each other in the live charts (2 to 20)",
                    [this] { Q_EMIT overlayRequested(chosen()); });
    add("export", "Export…", "Write the table as it is shown to a CSV file", [this] { exportTable(); });
    return lines;
}

std::vector<const SessionRow*> SessionsPage::rows() const {
    std::vector<int> places;
    for (const QModelIndex& index : m_view->selectionModel()->selectedRows()) places.push_back(index.row());
    std::ranges::sort(places);
    std::vector<const SessionRow*> all;
    for (const int place : places) all.push_back(&m_table->at(m_order->mapToSource(m_order->index(place, 0)).row()));
    return all;
}

std::vector<std::int64_t> SessionsPage::chosen() const {
    std::vector<std::int64_t> ids;
    for (const SessionRow* row : rows()) ids.push_back(row->id);
    return ids;
}

void SessionsPage::choose(const std::vector<std::int64_t>& sessions) {
    m_search->clear();
    select(sessions);
    if (const auto chosenNow = m_view->selectionModel()->selectedRows(); !chosenNow.empty()) m_view->scrollTo(chosenNow.front());
}

void SessionsPage::select(const std::vector<std::int64_t>& sessions) {
    QItemSelection selection;
    for (int row = 0; row < m_order->rowCount(); ++row)
        if (std::ranges::count(sessions, m_table->at(m_order->mapToSource(m_order->index(row, 0)).row()).id) > 0)
            selection.select(m_order->index(row, 0), m_order->index(row, SessionsTable::Columns - 1));
    m_view->selectionModel()->select(selection, QItemSelectionModel::ClearAndSelect);
}

// One column a session. What differs between them is bold.
void SessionsPage::showSettings() {
    auto shown = rows();
    const std::size_t all = shown.size();
    if (shown.size() > kMostBesideEachOther) shown.resize(kMostBesideEachOther);
    m_replay->setEnabled(all == 1);
    // What was imported was not run here.
    for (QPushButton* button : {m_load, m_again}) button->setEnabled(all == 1 && shown.front()->kind != SessionKind::Trace);
    m_overlay->setEnabled(all > 1);
    m_remove->setEnabled(std::ranges::any_of(rows(), [](const SessionRow* row) { return ended(row->state); }));
    m_differing->setEnabled(all > 1);
    m_heading->setText(
        all == 0   ? QString("Choose one or more sessions to read their settings.")
        : all == 1 ? QString("Settings of session %1").arg(shown.front()->id)
                   : QString("Settings of %1 sessions%2").arg(all).arg(all > shown.size() ? QString(", the first %1").arg(shown.size()) : ""));
    m_heading->setToolTip(all == 0 ? QString("A click with Ctrl or Shift chooses several: their settings then stand beside each other.") : QString());
    std::vector<QString> keys;
    std::vector<std::map<QString, QString>> values(shown.size());
    for (std::size_t i = 0; i < shown.size(); ++i)
        for (const auto& [key, value] : shown[i]->config) {
            if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
            values[i][key] = value;
        }
    const auto valueOf = [&](std::size_t i, const QString& key) {
        const auto found = values[i].find(key);
        return found != values[i].end() ? found->second : QString("–");
    };
    const auto differs = [&](const QString& key) {
        for (std::size_t i = 1; i < shown.size(); ++i)
            if (valueOf(i, key) != valueOf(0, key)) return true;
        return false;
    };
    if (all > 1 && m_differing->isChecked()) {
        const bool some = !keys.empty();
        std::erase_if(keys, [&](const QString& key) { return !differs(key); });
        if (keys.empty()) m_heading->setText(m_heading->text() + (some ? ": nothing differs" : ": they have none"));
    }
    m_settings->clear();
    m_settings->setColumnCount(static_cast<int>(shown.size()) + (shown.empty() ? 0 : 1));
    m_settings->setRowCount(static_cast<int>(keys.size()));
    QStringList titles{"Setting"};
    for (const SessionRow* row : shown) titles << QString("%1  %2").arg(row->id).arg(row->name);
    if (!shown.empty()) m_settings->setHorizontalHeaderLabels(titles);
    for (std::size_t place = 0; place < keys.size(); ++place) {
        const int row = static_cast<int>(place);
        m_settings->setItem(row, 0, new QTableWidgetItem(keys[place]));
        for (std::size_t i = 0; i < shown.size(); ++i) {
            auto* cell = new QTableWidgetItem(valueOf(i, keys[place]));
            cell->setToolTip(plainTip(cell->text()));
            if (differs(keys[place])) {
                QFont bold = m_settings->font();
                bold.setBold(true);
                cell->setFont(bold);
            }
            m_settings->setItem(row, static_cast<int>(i) + 1, cell);
        }
    }
    for (int column = 0; column < m_settings->columnCount(); ++column) m_settings->setColumnWidth(column, column == 0 ? 180 : 190);
}

void SessionsPage::exportTable() {
    const QString folder = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
    auto* dialog = new QFileDialog(this, "Export the table of sessions", folder + "/sessions.csv", "CSV (*.csv)");
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix("csv");
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) { Q_EMIT exportRequested(path, m_order->csv()); });
    dialog->open();
}

void SessionsPage::save(QSettings& settings) const {
    settings.setValue("sessions/columns", m_view->horizontalHeader()->saveState());
}

void SessionsPage::restore(const QSettings& settings) {
    const QByteArray state = settings.value("sessions/columns").toByteArray();
    if (!state.isEmpty() && m_view->horizontalHeader()->restoreState(state))
        m_view->sortByColumn(m_view->horizontalHeader()->sortIndicatorSection(), m_view->horizontalHeader()->sortIndicatorOrder());
}

}  // namespace stepscope
