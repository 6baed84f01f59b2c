#include "widgets/panels/sessions/CheckpointsDialog.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QStandardPaths>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "core/base/Format.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/style/RowTable.h"

namespace stepscope {
namespace {

QString sizeText(qint64 bytes) {
    return QString::fromStdString(format::bytes({bytes}));
}

QString stepText(qint64 step) {
    return QString::fromStdString(format::count(step));
}

QString validationText(double loss) {
    return std::isfinite(loss) ? QString::number(loss, 'f', 4) : QString("–");
}

}  // namespace

CheckpointsDialog::CheckpointsDialog(QWidget* parent) : SessionDialog("Checkpoints", parent) {
    m_table = new QTableWidget;
    const QStringList heads{"step", "validation loss", "on the disk", ""};
    m_table->setColumnCount(static_cast<int>(heads.size()));
    m_table->setHorizontalHeaderLabels(heads);
    m_table->horizontalHeaderItem(1)->setToolTip("That was found at its step; keep-best validates each checkpoint when it is written");
    m_table->setAccessibleName("Checkpoints, oldest first");
    styleRows(*m_table);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setStretchLastSection(true);

    const auto button = [this](const char* icon, const char* text, const char* tip) {
        auto* made = new QPushButton(lineIcon(icon), text);
        made->setAutoDefault(false);
        made->setToolTip(tip);
        return made;
    };
    m_resume = button("resume", "Resume", "Goes on from the chosen checkpoint as a new session");
    m_text = button("text", "Write text", "Shows the page Text, which writes with the chosen checkpoint");
    m_export = button("export", "Export…", "Its weights as a folder that transformers of Hugging Face reads");
    m_remove = button("trash", "Delete…", "Removes the chosen checkpoint for good and gives its room back; the session stays");
    auto* close = new QPushButton("Close");
    close->setDefault(true);

    auto* foot = new QHBoxLayout;
    for (QPushButton* one : {m_resume, m_text, m_export, m_remove}) foot->addWidget(one);
    foot->addStretch(1);
    foot->addWidget(close);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(&sentenceLine());
    layout->addWidget(m_table, 1);
    layout->addLayout(foot);
    resize(560, 320);
    connect(m_resume, &QPushButton::clicked, this, [this] {
        if (const CheckpointRow* one = chosen()) Q_EMIT resumeRequested(session(), one->path, one->step);
    });
    connect(m_text, &QPushButton::clicked, this, [this] {
        if (const CheckpointRow* one = chosen()) Q_EMIT textRequested(session(), one->path, one->step);
    });
    connect(m_export, &QPushButton::clicked, this, &CheckpointsDialog::chooseFolder);
    connect(m_remove, &QPushButton::clicked, this, &CheckpointsDialog::confirm);
    connect(close, &QPushButton::clicked, this, &QDialog::close);
    connect(m_table, &QTableWidget::itemSelectionChanged, this, &CheckpointsDialog::showState);
    showState();
}

void CheckpointsDialog::begin() {
    m_view = {};
    m_problem.clear();
    m_done.clear();
    m_busy.clear();
    m_waiting = true;
    m_table->setRowCount(0);
    showState();
}

QWidget* CheckpointsDialog::firstFocus() const {
    return m_table;
}

// The newest is chosen at first: it is the one that most people go on from.
void CheckpointsDialog::setView(const CheckpointsView& view) {
    if (view.session != session()) return;
    const bool first = m_waiting && m_table->rowCount() == 0;
    m_view = view;
    m_waiting = false;
    m_table->setRowCount(static_cast<int>(view.checkpoints.size()));
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const CheckpointRow& one = m_view.checkpoints[static_cast<std::size_t>(row)];
        const QStringList cells{stepText(one.step), validationText(one.validationLoss), sizeText(one.bytes), &one == best() ? "best" : ""};
        for (int column = 0; column < cells.size(); ++column) {
            auto* item = new QTableWidgetItem(cells[column]);
            item->setToolTip(one.path);
            if (column < 3) item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
            m_table->setItem(row, column, item);
        }
    }
    const int last = m_table->rowCount() - 1;
    if (last >= 0) m_table->selectRow(first ? last : std::clamp(m_table->currentRow(), 0, last));
    showState();
}

void CheckpointsDialog::setBusy(const QString& sentence) {
    m_busy = sentence;
    m_problem.clear();
    m_done.clear();
    showState();
}

void CheckpointsDialog::setDone(const QString& sentence) {
    m_busy.clear();
    m_done = sentence;
    showState();
}

void CheckpointsDialog::setProblem(const QString& sentence) {
    m_busy.clear();
    m_problem = sentence;
    showState();
}

const CheckpointRow* CheckpointsDialog::chosen() const {
    const int row = m_table->currentRow();
    if (m_waiting || !m_busy.isEmpty() || row < 0 || row >= static_cast<int>(m_view.checkpoints.size())) return nullptr;
    return &m_view.checkpoints[static_cast<std::size_t>(row)];
}

const CheckpointRow* CheckpointsDialog::best() const {
    const CheckpointRow* found = nullptr;
    for (const CheckpointRow& one : m_view.checkpoints)
        if (std::isfinite(one.validationLoss) && (found == nullptr || one.validationLoss < found->validationLoss)) found = &one;
    return found;
}

void CheckpointsDialog::confirm() {
    const CheckpointRow* one = chosen();
    if (one == nullptr) return;
    QString text =
        QString("Delete the checkpoint of step %1 of session %2 for good? Its %3 are given back to the disk. The session and its charts stay.")
            .arg(stepText(one->step))
            .arg(session())
            .arg(sizeText(one->bytes));
    if (m_view.checkpoints.size() == 1)
        text += " It is the last one: the session cannot be resumed after that.";
    else if (one == best())
        text += " It is the one with the lowest validation loss.";
    confirmDeleting("Delete a checkpoint", text, [this, path = one->path, step = one->step] {
        if (m_waiting || !m_busy.isEmpty()) return;
        setBusy(QString("Removing the checkpoint of step %1.").arg(stepText(step)));
        Q_EMIT removeRequested(session(), path);
    });
}

// A folder that is not there yet: its name is typed, as that of a file.
void CheckpointsDialog::chooseFolder() {
    const CheckpointRow* one = chosen();
    if (one == nullptr) return;
    const QString home = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
    auto* dialog = new QFileDialog(this, QString("A new folder for the weights of step %1").arg(stepText(one->step)),
                                   QString("%1/session-%2-step-%3").arg(home).arg(session()).arg(one->step));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setOption(QFileDialog::DontConfirmOverwrite);  // what is there is refused with a sentence
    connect(dialog, &QFileDialog::fileSelected, this, [this, session = session(), path = one->path, step = one->step](const QString& folder) {
        if (session == this->session() && m_busy.isEmpty()) Q_EMIT exportRequested(session, path, step, folder);
    });
    dialog->open();
}

void CheckpointsDialog::showState() {
    const bool bad = m_busy.isEmpty() && !m_waiting && (!m_problem.isEmpty() || !m_view.problem.isEmpty());
    sentenceLine().setTone(bad ? Tone::Error : Tone::Muted);
    m_table->setVisible(!m_view.checkpoints.empty());
    for (QPushButton* one : {m_resume, m_text, m_export, m_remove}) one->setEnabled(chosen() != nullptr);
    if (!m_busy.isEmpty()) return sentenceLine().setText(m_busy);
    if (m_waiting) return sentenceLine().setText("Reading the checkpoints.");
    if (bad) return sentenceLine().setText(m_problem.isEmpty() ? m_view.problem : m_problem);
    sentenceLine().setText(m_done.isEmpty() ? summary() : m_done + ' ' + summary());
}

QString CheckpointsDialog::summary() const {
    const auto& all = m_view.checkpoints;
    if (all.empty() && !m_view.newest.isEmpty())
        return m_view.host.isEmpty()
                   ? QString("None of this session's checkpoints is on the disk any more; the newest was written to %1.").arg(m_view.newest)
                   : QString(
                         "The checkpoints of this session lie on %1, which trained it: the newest is %2. Resume from its last checkpoint, in the "
                         "session's "
                         "menu, goes on from it in a window that trains there; stepscope-cli generate and checkpoint export on that machine take it.")
                         .arg(m_view.host, m_view.newest);
    if (all.empty())
        return "This session has no checkpoint. A run keeps one at its end, unless Checkpoint at the end is off, and more with Checkpoint every; "
               "Ctrl+S saves one at the next step.";
    qint64 bytes = 0;
    for (const CheckpointRow& one : all) bytes += one.bytes;
    QString text = QString("%1 checkpoint%2, %3 on the disk.").arg(all.size()).arg(all.size() == 1 ? "" : "s").arg(sizeText(bytes));
    if (const CheckpointRow* one = best(); one != nullptr && all.size() > 1)
        text += QString(" The lowest validation loss of them has step %1.").arg(stepText(one->step));
    return text;
}

}  // namespace stepscope
