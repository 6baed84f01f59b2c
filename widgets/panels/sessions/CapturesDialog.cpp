#include "widgets/panels/sessions/CapturesDialog.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "core/base/Format.h"
#include "core/trace/Lod.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/style/RowTable.h"

namespace stepscope {
namespace {

QString roomText(qint64 bytes) {
    return QString::fromStdString(format::bytes({bytes}));
}

QString manyText(qint64 count) {
    return QString::fromStdString(format::count(count));
}

QString costText(double share) {
    if (!std::isfinite(share)) return "–";
    return QString("%1%2\u202F%").arg(share < 0 ? "−" : "+").arg(100 * std::abs(share), 0, 'f', 1);
}

QString capturedSteps(const CaptureRow& row) {
    if (row.steps == 0) return "not told";
    return row.steps == 1 ? manyText(row.firstStep)
                          : QString("%1 to %2").arg(manyText(row.firstStep), manyText(cappedSum(row.firstStep, row.steps - 1)));
}

}  // namespace

CapturesDialog::CapturesDialog(QWidget* parent) : SessionDialog("Captures", parent) {
    m_table = new QTableWidget;
    const QStringList heads{"capture", "steps", "level", "cost", "records", "on the disk"};
    m_table->setColumnCount(static_cast<int>(heads.size()));
    m_table->setHorizontalHeaderLabels(heads);
    m_table->horizontalHeaderItem(2)->setToolTip("L2: every operation and kernel with its time; sums: only what they came to together");
    m_table->horizontalHeaderItem(3)->setToolTip(
        "How much longer its steps took than those around it that nothing disturbed, measured, by their medians");
    m_table->setAccessibleName("Captures, in order of time");
    styleRows(*m_table);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_remove = new QPushButton(lineIcon("trash"), "Delete…");
    m_remove->setAutoDefault(false);
    m_remove->setToolTip("Removes the chosen capture for good and gives its room back to the disk; the session stays");
    m_show = new QPushButton(lineIcon("search"), "Show");
    m_show->setAutoDefault(false);
    m_show->setToolTip("Shows the chosen capture on the page Timeline; so does a double click on it");
    m_beside = new QPushButton(lineIcon("layers"), "Side by side…");
    m_beside->setAutoDefault(false);
    m_beside->setToolTip(
        "The timelines of the chosen capture and of the one before it (of the first: the one behind it), locked together; both can be chosen there");
    auto* close = new QPushButton("Close");
    close->setDefault(true);

    auto* foot = new QHBoxLayout;
    foot->addWidget(m_show);
    foot->addWidget(m_beside);
    foot->addWidget(m_remove);
    foot->addStretch(1);
    foot->addWidget(close);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(&sentenceLine());
    layout->addWidget(m_table, 1);
    layout->addLayout(foot);
    resize(560, 300);
    connect(m_remove, &QPushButton::clicked, this, &CapturesDialog::confirm);
    connect(m_show, &QPushButton::clicked, this, &CapturesDialog::showChosen);
    connect(m_table, &QTableWidget::cellDoubleClicked, this, &CapturesDialog::showChosen);
    connect(m_beside, &QPushButton::clicked, this, [this] {
        const CaptureRow *one = chosen(), *other = besideChosen();
        if (one == nullptr || other == nullptr) return;
        Q_EMIT sideBySideRequested(session(), std::min(one->number, other->number), std::max(one->number, other->number));
    });
    connect(close, &QPushButton::clicked, this, &QDialog::close);
    connect(m_table, &QTableWidget::itemSelectionChanged, this, &CapturesDialog::showState);
    showState();
}

void CapturesDialog::begin() {
    m_view = {};
    m_problem.clear();
    m_removing = 0;
    m_waiting = true;
    m_table->setRowCount(0);
    showState();
}

QWidget* CapturesDialog::firstFocus() const {
    return m_table;
}

void CapturesDialog::setView(const CapturesView& view) {
    if (view.session != session()) return;
    m_view = view;
    m_waiting = false;
    m_removing = 0;
    m_table->setRowCount(static_cast<int>(view.captures.size()));
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const CaptureRow& one = view.captures[static_cast<std::size_t>(row)];
        const QStringList cells{manyText(one.number), capturedSteps(one),    one.slices > 0 ? "L2" : "sums",
                                costText(one.cost),   manyText(one.records), roomText(one.bytes)};
        for (int column = 0; column < cells.size(); ++column) {
            auto* item = new QTableWidgetItem(cells[column]);
            if (column != 2) item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
            m_table->setItem(row, column, item);
        }
    }
    if (m_table->rowCount() > 0) m_table->selectRow(std::clamp(m_table->currentRow(), 0, m_table->rowCount() - 1));
    showState();
}

void CapturesDialog::setProblem(const QString& sentence) {
    m_problem = sentence;
    m_waiting = false;
    m_removing = 0;
    showState();
}

const CaptureRow* CapturesDialog::chosen() const {
    const int row = m_table->currentRow();
    return m_waiting || row < 0 || row >= static_cast<int>(m_view.captures.size()) ? nullptr : &m_view.captures[static_cast<std::size_t>(row)];
}

// The nearest before it that has something to show, else the nearest behind it.
const CaptureRow* CapturesDialog::besideChosen() const {
    const CaptureRow* one = chosen();
    if (one == nullptr || one->slices == 0) return nullptr;
    const CaptureRow *before = nullptr, *behind = nullptr;
    for (const CaptureRow& other : m_view.captures) {
        if (other.slices == 0 || &other == one) continue;
        if (&other < one)
            before = &other;
        else if (behind == nullptr)
            behind = &other;
    }
    return before != nullptr ? before : behind;
}

bool CapturesDialog::canShow() const {
    const CaptureRow* one = chosen();
    return one != nullptr && one->slices > 0 && one->until > one->from;
}

void CapturesDialog::showChosen() {
    if (canShow()) Q_EMIT showRequested(session(), chosen()->from, chosen()->until);
}

void CapturesDialog::confirm() {
    if (chosen() == nullptr) return;
    const CaptureRow one = *chosen();
    confirmDeleting("Delete a capture",
                    QString("Delete capture %1 of session %2%3 for good? Its %4 are given back to the disk. The steps, charts and other "
                            "captures of the session stay.")
                        .arg(one.number)
                        .arg(session())
                        .arg(one.steps == 0 ? QString() : QString(", step%1 %2,").arg(one.steps == 1 ? "" : "s", capturedSteps(one)))
                        .arg(roomText(one.bytes)),
                    [this, number = one.number] {
                        if (m_waiting) return;
                        m_waiting = true;
                        m_removing = number;
                        m_problem.clear();
                        showState();
                        Q_EMIT removeRequested(session(), number);
                    });
}

void CapturesDialog::showState() {
    const bool bad = !m_waiting && (!m_problem.isEmpty() || !m_view.problem.isEmpty());
    sentenceLine().setTone(bad ? Tone::Error : Tone::Muted);
    m_table->setVisible(!m_view.captures.empty());
    m_show->setEnabled(canShow());
    m_remove->setEnabled(chosen() != nullptr);
    m_beside->setEnabled(besideChosen() != nullptr);
    if (m_removing > 0) return sentenceLine().setText(QString("Removing capture %1 and giving its room back.").arg(m_removing));
    if (m_waiting) return sentenceLine().setText("Reading the captures.");
    if (bad) return sentenceLine().setText(m_problem.isEmpty() ? m_view.problem : m_problem);
    if (m_view.captures.empty())
        return sentenceLine().setText(
            "Nothing was captured in this session. While a run goes on, “Capture now” on the page Operations records its next steps; "
            "so does train --profile on the command line.");
    qint64 bytes = 0;
    for (const CaptureRow& one : m_view.captures) bytes += one.bytes;
    sentenceLine().setText(
        QString("%1 capture%2, %3 on the disk%4.%5")
            .arg(manyText(static_cast<qint64>(m_view.captures.size())), m_view.captures.size() == 1 ? "" : "s", roomText(bytes),
                 m_view.detailBytes > 0
                     ? QString(", and %1 for their level of detail, which is made again when it is missing").arg(roomText(m_view.detailBytes))
                     : QString(),
                 m_view.older > 0 ? QString(" %1 before them are not listed here; stepscope-cli sessions show lists all.").arg(manyText(m_view.older))
                                  : QString()) +
        (m_view.levels.isEmpty() ? QString() : "\nCost of observing, measured in this run: " + m_view.levels));
}

}  // namespace stepscope
