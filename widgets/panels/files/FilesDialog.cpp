#include "widgets/panels/files/FilesDialog.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QShortcut>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>
#include <utility>

#include "core/base/Format.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/files/FilesModel.h"
#include "widgets/style/RowTable.h"

namespace stepscope {
namespace {

constexpr int kWidth = 620, kHeight = 420, kKindWidth = 130, kSizeWidth = 90, kChooseWidth = 160;
constexpr int kSentenceLines = 2;

QString many(qint64 count) {
    return QString::fromStdString(format::count(count));
}

// "Text (*.txt *.MD)": .txt and .md; "(*)": none.
QStringList endingsOf(const QString& filter) {
    static const QRegularExpression pattern(R"(\*(\.[^\s()*]+))");
    QStringList all;
    for (auto found = pattern.globalMatch(filter); found.hasNext();) all << found.next().captured(1).toLower();
    return all;
}

bool isWholePath(const QString& path) {
    return path.startsWith('/') || path.startsWith('~');
}

}  // namespace

FilesDialog::FilesDialog(const QString& host, const FilesQuestion& question, QWidget* parent)
    : QDialog(parent), m_host(host), m_question(question), m_model(new FilesModel(this)) {
    setWindowTitle(QString("%1: files of %2").arg(question.title, host));
    m_up = new QToolButton;
    m_up->setText("Up");
    m_up->setToolTip("The folder above (Alt+Up, Backspace in the list)");
    m_up->setAccessibleName("Up to the folder above");
    m_path = new QLineEdit;
    m_path->setAccessibleName(QString("Path on %1").arg(host));
    m_path->setPlaceholderText(QString("a path on %1; ~ is the home there").arg(host));
    m_path->setToolTip("Type a path and press Enter: a folder is listed, a file is chosen");
    m_list = new QTableView;
    m_list->setModel(m_model);
    styleRows(*m_list);
    m_list->setSelectionMode(QAbstractItemView::SingleSelection);
    m_list->setAccessibleName(QString("Files of %1").arg(host));
    m_list->setShowGrid(false);
    m_list->horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_list->horizontalHeader()->setSectionResizeMode(FilesModel::Name, QHeaderView::Stretch);
    m_list->horizontalHeader()->setHighlightSections(false);
    m_list->setColumnWidth(FilesModel::Kind, kKindWidth);
    m_list->setColumnWidth(FilesModel::Size, kSizeWidth);
    m_sentence = new ElidedLabel(Tone::Muted, kSentenceLines);
    m_sentence->setAccessibleName(QString("What is listed of %1").arg(host));
    m_filter = new QComboBox;
    m_filter->addItems(question.filters);
    m_filter->setAccessibleName("Kinds of files");
    m_filter->setVisible(!question.folder && question.filters.size() > 1);
    m_choose = new QPushButton;
    m_choose->setMinimumWidth(kChooseWidth);  // its text changes with the row
    auto* cancel = new QPushButton("Cancel");
    // Enter is the list's and the path's: a default button would be pressed by it too.
    for (QPushButton* button : {m_choose, cancel}) button->setAutoDefault(false);

    auto* head = new QHBoxLayout;
    head->addWidget(m_up);
    head->addWidget(m_path, 1);
    auto* foot = new QHBoxLayout;
    foot->addWidget(m_filter);
    foot->addStretch(1);
    foot->addWidget(cancel);
    foot->addWidget(m_choose);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(head);
    layout->addWidget(m_list, 1);
    layout->addWidget(m_sentence);
    layout->addLayout(foot);
    resize(kWidth, kHeight);

    connect(m_up, &QToolButton::clicked, this, &FilesDialog::goUp);
    connect(m_path, &QLineEdit::returnPressed, this, [this] { ask(m_path->text().trimmed(), Asked::Typed); });
    connect(m_list, &QTableView::activated, this, [this](const QModelIndex& index) { take(index.row()); });
    connect(m_list->selectionModel(), &QItemSelectionModel::selectionChanged, this, &FilesDialog::showState);
    connect(m_filter, &QComboBox::activated, this, [this] { ask(m_view.folder, Asked::Folder); });
    connect(m_choose, &QPushButton::clicked, this, &FilesDialog::choose);
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    auto* up = new QShortcut(QKeySequence("Alt+Up"), this);
    connect(up, &QShortcut::activated, this, &FilesDialog::goUp);
    auto* back = new QShortcut(QKeySequence(Qt::Key_Backspace), m_list, nullptr, nullptr, Qt::WidgetShortcut);
    connect(back, &QShortcut::activated, this, &FilesDialog::goUp);
    showState();
}

// A built-in text is no place; the home is.
void FilesDialog::begin() {
    ask(isWholePath(m_question.near) ? m_question.near : QString(), Asked::First);
}

QStringList FilesDialog::endings() const {
    return m_question.folder ? QStringList() : endingsOf(m_filter->currentText());
}

void FilesDialog::ask(const QString& path, Asked how) {
    m_how = how;
    m_waiting = true;
    m_wrong.clear();
    const bool within = how == Asked::Typed && !path.isEmpty() && !isWholePath(path) && !m_view.folder.isEmpty();
    showState();
    Q_EMIT listRequested(++m_number, FilesAsked{within ? pathOf(path) : path, m_question.folder, endings()});
}

void FilesDialog::setView(quint64 number, const FilesView& view) {
    if (number != m_number) return;
    m_waiting = false;
    const Asked how = m_how;
    // What was chosen last may be gone.
    if (how == Asked::First && !view.problem.isEmpty() && !view.folder.isEmpty() && isWholePath(m_question.near) && number == 1)
        return ask({}, Asked::First);
    const QString left = std::exchange(m_left, {});
    if (how == Asked::Typed && !view.problem.isEmpty() && !m_view.folder.isEmpty()) {
        m_wrong = view.problem;  // where one was stays
        return showState();
    }
    m_view = view;
    m_model->setEntries(std::exchange(m_view.entries, {}));
    if (!view.folder.isEmpty()) m_path->setText(view.folder);
    if (how == Asked::Typed && !view.file.isEmpty() && !m_question.folder) return finish(pathOf(view.file));
    // In a folder that is to be chosen itself no row stands for it.
    const int row = m_model->rowOf(view.file.isEmpty() ? left : view.file);
    if (row >= 0) {
        m_list->selectRow(row);
        m_list->scrollTo(m_model->index(row, 0), QAbstractItemView::PositionAtCenter);
    } else if (!m_question.folder && m_model->rowCount() > 0) {
        m_list->selectRow(0);
        m_list->scrollToTop();
    } else {
        m_list->scrollToTop();
    }
    if (how != Asked::Typed || m_model->rowCount() > 0) m_list->setFocus();
    showState();
}

QString FilesDialog::pathOf(const QString& name) const {
    return m_view.folder.endsWith('/') ? m_view.folder + name : m_view.folder + '/' + name;
}

int FilesDialog::chosenRow() const {
    const QModelIndexList rows = m_list->selectionModel()->selectedRows();
    return m_waiting || rows.isEmpty() ? -1 : rows.first().row();
}

void FilesDialog::goUp() {
    if (m_waiting || m_view.folder.isEmpty() || m_view.folder == "/") return;
    const auto slash = m_view.folder.lastIndexOf('/');
    m_left = m_view.folder.mid(slash + 1);
    ask(slash > 0 ? m_view.folder.left(slash) : QString("/"), Asked::Folder);
}

void FilesDialog::take(int row) {
    const FilesEntry* entry = m_waiting ? nullptr : m_model->at(row);
    if (entry == nullptr) return;
    if (entry->folder) return ask(pathOf(entry->name), Asked::Folder);
    finish(pathOf(entry->name));
}

void FilesDialog::choose() {
    const int row = chosenRow();
    if (!m_question.folder) return take(row);
    if (const FilesEntry* entry = m_model->at(row)) return finish(pathOf(entry->name));
    if (!m_waiting && !m_view.folder.isEmpty() && m_view.problem.isEmpty()) finish(m_view.folder);
}

void FilesDialog::finish(const QString& path) {
    Q_EMIT fileSelected(path);
    accept();
}

void FilesDialog::showState() {
    const FilesEntry* entry = m_model->at(chosenRow());
    m_up->setEnabled(!m_waiting && !m_view.folder.isEmpty() && m_view.folder != "/");
    m_choose->setText(!m_question.folder ? "Open"
                      : entry != nullptr ? QString("Choose “%1”").arg(entry->name.left(40))
                                         : QString("Choose this folder"));
    m_choose->setEnabled(entry != nullptr || (m_question.folder && !m_waiting && !m_view.folder.isEmpty() && m_view.problem.isEmpty()));
    say();
}

void FilesDialog::say() {
    const QString problem = m_wrong.isEmpty() ? m_view.problem : m_wrong;
    const bool bad = !m_waiting && !problem.isEmpty();
    m_sentence->setTone(bad ? Tone::Error : Tone::Muted);
    if (m_waiting) return m_sentence->setText(QString("Asking %1…").arg(m_host));
    if (bad) return m_sentence->setText(problem);
    const int rows = m_model->rowCount();
    QStringList said;
    if (rows == 0)
        said << (m_question.folder     ? QString("There is no folder in this one.")
                 : endings().isEmpty() ? QString("This folder is empty.")
                                       : QString("There is nothing of this kind in this folder."));
    else if (m_view.more > 0)
        said << QString("The first %1 of %2 are listed; type a path to choose another one.").arg(many(rows), many(rows + m_view.more));
    if (m_question.folder && !m_view.file.isEmpty()) said << QString("“%1” is a file; choose a folder.").arg(m_view.file);
    if (m_view.hidden > 0)
        said << QString("%1 whose name begins with a dot %2 not listed; type a path to go there.")
                    .arg(many(m_view.hidden), m_view.hidden == 1 ? "is" : "are");
    if (m_view.unnamed > 0)
        said << QString("%1 whose name cannot be shown %2 left out.").arg(many(m_view.unnamed), m_view.unnamed == 1 ? "is" : "are");
    m_sentence->setText(said.join(' '));
}

QString FilesDialog::sentence() const {
    return m_sentence->text();
}

}  // namespace stepscope
