#include "widgets/panels/operations/OperationsPage.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "core/base/Format.h"
#include "core/events/Command.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/operations/OperationsTable.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/RowTable.h"

namespace stepscope {
namespace {

constexpr int kStepsAtFirst = 3;
constexpr int kFewestLetters = 24, kMostLetters = 80;  // that the column of names has room for
constexpr int kByKernel = 3;                           // of the choices of what a row is

QString sentenceText(const std::string& text) {
    return QString::fromStdString(text);
}

QString capturedStepsText(std::int64_t steps) {
    return QString("%1 captured step%2").arg(sentenceText(format::count(steps)), steps == 1 ? "" : "s");
}

}  // namespace

OperationsPage::OperationsPage(QWidget* parent) : QWidget(parent) {
    setAccessibleName("Operations");
    m_capture = new QPushButton("Capture now");
    m_capture->setAutoDefault(false);
    m_capture->setToolTip("Records every operation of the next steps of the run; those steps take longer and are left out where steps are compared");
    m_steps = new QSpinBox;
    m_steps->setRange(1, static_cast<int>(kMostCapturedSteps));
    m_steps->setValue(kStepsAtFirst);
    m_steps->setSuffix(" steps");
    m_steps->setAccessibleName("Steps to capture");
    m_by = new QComboBox;
    m_by->addItems({"by operation", "by layer", "by part of the model", "by kernel"});
    m_by->setAccessibleName("What a row is");
    m_filter = new QLineEdit;
    m_filter->setPlaceholderText("Filter: name, layer, role");
    m_filter->setClearButtonEnabled(true);
    m_filter->setAccessibleName("Filter the rows");
    m_export = new QPushButton("Export trace…");
    m_export->setAutoDefault(false);
    m_export->setToolTip("Writes the captured steps as a trace for Perfetto, TensorBoard and others");

    m_rows = new OperationsTable(this);
    m_order = new OperationsOrder(this);
    m_order->setSourceModel(m_rows);
    m_order->setSortRole(OperationsTable::kSortRole);
    m_table = new QTableView;
    m_table->setModel(m_order);
    m_table->setAccessibleName("Operations of the captured steps");
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(OperationsTable::Self, Qt::DescendingOrder);
    styleRows(*m_table);
    m_table->setTextElideMode(Qt::ElideMiddle);  // what tells kernels apart stands at the end of their names
    QHeaderView* heads = m_table->horizontalHeader();
    heads->setSectionResizeMode(QHeaderView::ResizeToContents);
    heads->setSectionResizeMode(OperationsTable::Name, QHeaderView::Interactive);
    m_nameWidth = fontMetrics().averageCharWidth() * kFewestLetters;
    heads->resizeSection(OperationsTable::Name, m_nameWidth);
    connect(heads, &QHeaderView::sectionResized, this, [this](int column) {
        if (column != OperationsTable::Name) QTimer::singleShot(0, this, &OperationsPage::widenNames);  // not while the heads are at it
    });
    m_sentence = sentenceLabel(Tone::Muted);
    m_sentence->setAccessibleName("What is shown");

    auto* top = new QHBoxLayout;
    top->setSpacing(space(2));
    top->addWidget(m_capture);
    top->addWidget(m_steps);
    top->addStretch(1);
    top->addWidget(m_export);
    auto* narrow = new QHBoxLayout;
    narrow->setSpacing(space(2));
    narrow->addWidget(m_by);
    narrow->addWidget(m_filter, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space(3), space(3), space(3), space(3));
    layout->setSpacing(space(2));
    layout->addLayout(top);
    layout->addWidget(m_sentence);
    layout->addLayout(narrow);
    layout->addWidget(m_table, 1);
    layout->addStretch(0);

    connect(m_capture, &QPushButton::clicked, this, [this] { Q_EMIT captureRequested(m_steps->value()); });
    connect(m_export, &QPushButton::clicked, this, &OperationsPage::exportRequested);
    connect(m_table, &QTableView::activated, this, [this](const QModelIndex& index) {
        if (m_by->currentIndex() == 0) Q_EMIT showInTimeline(index.siblingAtColumn(OperationsTable::Name).data().toString());
    });
    connect(m_by, &QComboBox::currentIndexChanged, this, [this] {
        showRows();
        showState();
    });
    connect(m_filter, &QLineEdit::textChanged, m_order, &OperationsOrder::setWords);
    showRows();
    showState();
}

void OperationsPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    widenNames();
}

// Names have the room that the other columns leave, until a person draws their column wider or narrower.
void OperationsPage::widenNames() {
    QHeaderView* heads = m_table->horizontalHeader();
    if (heads->sectionSize(OperationsTable::Name) != m_nameWidth) return;
    const int letter = fontMetrics().averageCharWidth(), others = heads->length() - m_nameWidth;
    m_nameWidth = std::clamp(m_table->viewport()->width() - others, letter * kFewestLetters, letter * kMostLetters);
    heads->resizeSection(OperationsTable::Name, m_nameWidth);
}

void OperationsPage::setView(OperationsView view) {
    m_view = std::move(view);
    // An import of Nsight's has kernels alone: the other ways to group have no row of it.
    // What a person chose stays; what was chosen for such a one goes with it.
    const bool kernelsAlone = m_view.totals.operations == 0 && m_view.totals.kernels > 0;
    if (kernelsAlone && m_by->currentIndex() != kByKernel) {
        m_by->setCurrentIndex(kByKernel);
        m_byChosen = true;
    } else if (m_byChosen && !kernelsAlone && m_view.totals.operations > 0) {
        m_byChosen = false;
        if (m_by->currentIndex() == kByKernel) m_by->setCurrentIndex(0);
    }
    showRows();
    showState();
}

void OperationsPage::setReady(bool ready) {
    m_ready = ready;
    m_waiting = m_waiting && ready;
    showState();
}

void OperationsPage::setWaiting(bool waiting) {
    m_waiting = waiting;
    showState();
}

QString OperationsPage::sentence() const {
    return m_sentence->text();
}

bool OperationsPage::ofDevice() const {
    return m_by->currentIndex() == kByKernel || (m_by->currentIndex() != 0 && m_view.placesOfDevice);
}

void OperationsPage::showRows() {
    const int by = m_by->currentIndex();
    m_table->setToolTip(by == 0 ? QString("Double click or Enter: its slices in the timeline") : QString());  // the others lead nowhere
    const std::vector<SummaryRow>* const rows[] = {&m_view.operations, &m_view.layers, &m_view.roles, &m_view.kernels};
    m_rows->setRows(*rows[std::clamp(by, 0, 3)], ofDevice() ? m_view.totals.deviceTime : m_view.totals.self);
    m_table->setColumnHidden(OperationsTable::Role, by == 1);
    m_table->setColumnHidden(OperationsTable::Layer, by != 0 && by != kByKernel);
    m_table->setColumnHidden(OperationsTable::Total, by != 0);  // the same as self there
}

void OperationsPage::showState() {
    const bool some = m_view.totals.operations > 0 || m_view.totals.kernels > 0;
    m_capture->setEnabled(m_ready && !m_waiting);
    m_steps->setEnabled(m_ready && !m_waiting);
    m_export->setEnabled(some);
    for (QWidget* part : {static_cast<QWidget*>(m_by), static_cast<QWidget*>(m_filter), static_cast<QWidget*>(m_table)}) part->setVisible(some);
    m_sentence->setTone(m_view.problem.isEmpty() ? Tone::Muted : Tone::Error);
    m_sentence->setToolTip({});
    const QString how = m_ready ? QString("“Capture now” records its next steps.")
                                : QString("While a run goes on, “Capture now” records its next steps; so does train --profile on the command line.");
    if (m_waiting)
        m_sentence->setText("Waiting for the steps.");
    else if (!m_view.problem.isEmpty())
        m_sentence->setText(m_view.problem);
    else if (m_view.loading)
        m_sentence->setText("Reading what was captured.");
    else if (m_view.session == 0)
        m_sentence->setText("Nothing is shown yet: start a run, or double-click a session at the right. " + how);
    else if (!some)
        m_sentence->setText(QString("No step of session %1 was captured. %2").arg(m_view.session).arg(how));
    else {
        const SummaryTotals& totals = m_view.totals;
        // Two numbers of the same steps that differ much.
        if (!ofDevice() && totals.operations > 0)
            m_sentence->setToolTip(
                "Every call that was recorded, also those that other operations made. “Operations a step” in the log and the charts is less: it "
                "counts "
                "only calls that hand work on themselves, not those that view tensors or only call others, and of several workers those of the "
                "first.");
        QString text = totals.operations == 0
                           ? QString("It has no operations, only what ran on GPUs: “by kernel” shows that.")
                           : QString("%1 calls of operations in %2, %3 a step. Times are those of all threads and all these steps together.")
                                 .arg(sentenceText(format::count(totals.operations)), capturedStepsText(totals.steps),
                                      sentenceText(format::milliseconds(totals.stepTime.milliseconds() /
                                                                        std::max<double>(1, static_cast<double>(totals.steps)))));
        if (ofDevice())
            text = totals.kernels == 0 ? m_view.note.isEmpty() ? QString("No kernels were captured: the run was not on a GPU.") : m_view.note
                                       : QString("%1 kernels and copies%2 took %3 on GPUs.")
                                             .arg(sentenceText(format::count(totals.kernels)),
                                                  totals.steps == 0 ? QString() : " in " + capturedStepsText(totals.steps),
                                                  sentenceText(format::milliseconds(totals.deviceTime.milliseconds())));
        else if (!m_view.note.isEmpty())
            text += " " + m_view.note;
        if (!m_view.whose.isEmpty()) text += " " + m_view.whose;
        if (totals.lost + totals.invalid > 0)
            text += QString(" %1 more could not be kept.").arg(sentenceText(format::count(totals.lost + totals.invalid)));
        m_sentence->setText(text);
    }
}

}  // namespace stepscope
