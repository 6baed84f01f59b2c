#include "widgets/timeline/panes/TablePanes.h"

#include <QTableView>
#include <QVBoxLayout>

#include "core/base/Format.h"
#include "widgets/style/Metrics.h"
#include "widgets/timeline/panes/PaneTable.h"

namespace stepscope {
namespace {

QVariant msValue(std::int64_t ns) {
    return static_cast<double>(ns) / 1e6;
}
PaneCell timeCell(std::int64_t ns) {
    return {paneTime(ns), msValue(ns)};
}
PaneCell countCell(std::int64_t value) {
    return {paneCount(value), static_cast<qlonglong>(value)};
}
PaneCell wordsCell(const std::string& text, const QString& tip = {}) {
    return {text.empty() ? QString("–") : paneText(text), paneText(text), tip};
}
PaneCell layerCell(std::int32_t layer) {
    return {layer < 0 ? QString("–") : QString::number(layer), layer};
}
PaneCell dash() {
    return {QString("–"), 0.0};
}
PaneCell rateCell(std::int64_t amount, TimeNs self, const char* unit) {
    if (amount <= 0 || self.ns <= 0) return dash();
    const double rate = static_cast<double>(amount) / self.seconds();
    return {paneText(format::rate(rate, unit)), rate};
}

constexpr const char* kBoundRule =
    "By the roof above it (the pane Roofline): where it reaches at least half of what the machine can do at most, memory or compute, whichever it "
    "comes "
    "nearer to; neither where it reaches less, so that starting it, waiting or its own code bound it. Empty where its work or the roof is not known";

PaneCell boundCell(const Bounded& bounded) {
    if (bounded.by == Bound::Unknown) return {QString("–"), QString()};
    return {QString(toString(bounded.by)), QString(toString(bounded.by)), QString("%1 of the roof above it").arg(panePercent(bounded.share))};
}
PaneCell rateOf(double perSecond, const char* unit) {
    if (!(perSecond > 0)) return dash();
    return {paneText(format::rate(perSecond, unit)), perSecond};
}
PaneCell numberCell(const std::optional<double>& value, double scale, const QString& unit) {
    if (!value) return dash();
    return {paneText(format::significant(*value * scale)) + unit, *value * scale};
}

PaneTable* soleTable(Pane* pane, const QString& name, int sorted, bool filtered) {
    auto* table = new PaneTable(name, sorted, filtered);
    auto* layout = new QVBoxLayout(pane);
    layout->setContentsMargins(0, space(1), 0, 0);
    layout->addWidget(table);
    return table;
}

double shareOf(std::int64_t part, std::int64_t all) {
    return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

QString sizesText(const std::array<std::int64_t, 3>& sizes) {
    if (sizes[0] <= 0) return QString("–");
    return QString("%1 × %2 × %3").arg(sizes[0]).arg(sizes[1]).arg(sizes[2]);
}
qlonglong sizesValue(const std::array<std::int64_t, 3>& sizes) {
    return static_cast<qlonglong>(static_cast<double>(sizes[0]) * static_cast<double>(sizes[1]) * static_cast<double>(sizes[2]));
}

// Of the range, behind how many there are.
QString notKept(const RangePanes& panes) {
    const std::int64_t missing = cappedSum(panes.totals.lost, panes.totals.invalid);
    return missing > 0 ? QString(" · %1 slices could not be kept").arg(paneCount(missing)) : QString();
}

QString sumsNotKept(const OperationCounters& counters) {
    return counters.missing() > 0 ? QString(" · %1 sums of hardware counters could not be kept").arg(paneCount(counters.missing())) : QString();
}

QString kernelKind(SliceKind kind) {
    return kind == SliceKind::Memcpy ? "copy" : kind == SliceKind::Memset ? "memset" : "kernel";
}

}  // namespace

QString noKernelsSentence(const PanesView& view) {
    if (!view.note.isEmpty()) return view.note;
    if (view.onlySlowest && !view.panes->devices) return view.slowest;
    if (view.panes->devices) return QString("No kernel begins in %1. “Fit” shows all that was captured.").arg(view.range);
    return "No kernels: this capture has no GPU in it. What ran on the CPU stands under Operations and in the flame graph; a trace of a GPU that is "
           "dropped on the window fills this.";
}

OperationsPane::OperationsPane(QWidget* parent) : Pane(parent) {
    m_table = soleTable(this, "operations of the range", 1, true);
    m_table->table()->setToolTip("A click shows the longest of them in the timeline");
    connect(m_table, &PaneTable::rowChosen, this, [this](int row) {
        const PaneOperation& one = m_panes->operations.at(static_cast<std::size_t>(row));
        if (one.longest.duration >= 0)
            Q_EMIT sliceWanted(one.longest.lane, one.longest.depth, one.longest.start);
        else
            Q_EMIT nameWanted(paneText(one.row.name));
    });
}

void OperationsPane::setView(const PanesView& view) {
    m_panes = view.panes;
    std::vector<PaneColumn> columns{
        {"Name", "What ran on the CPU", {}, true, 34},
        {"Self", "Its own time without what it called, of all threads", "ms"},
        {"Share", "Its own time of that of all operations in the range", "%"},
        {"Calls", "How many begin in the range"},
        {"Layer", "The layer where most of its own time went", {}, true},
        {"Role", "The part of the model where most of its own time went", {}, true},
        {"Phase", "The phase where most of its own time went", {}, true},
        {"Total", "Its time with what it called; a call within one of its own name is part of that one's", "ms"},
        {"Mean", "Time of a call, with what it called", "ms"},
        {"Min", "The shortest call", "ms"},
        {"Max", "The longest call", "ms"},
        {"Computes", "Floating-point operations of matrix products and attention a second of its own time, where sizes were recorded", "FLOP/s"},
        {"Moves", "Bytes of its operands and its result a second of its own time, where sizes were recorded", "B/s"},
        {"Bound by", kBoundRule, {}, true},
        {"Type",
         "The number format that it ran in, by its first tensor; of several each with its share of the time. Under autocast: what stayed in float32",
         {},
         true}};
    // Of a run on a GPU they only launch what computes.
    const Roof roof = m_panes && m_panes->devices ? Roof{} : view.roof;
    const bool counted = view.counters.known();
    if (counted) {
        const QString whole = ", on the threads that ran it, of all captures of the session";
        columns.push_back({"Instr./cycle", "Instructions that the processor completed a cycle" + whole});
        columns.push_back({"Fetches", "Bytes that the last cache had to fetch from memory, a second of its own time" + whole, "B/s"});
        columns.push_back({"Stalled", "Cycles in which nothing could be done for want of data or room, of all its cycles" + whole, "%"});
    }
    std::vector<std::vector<PaneCell>> rows;
    if (m_panes)
        for (const PaneOperation& one : m_panes->operations) {
            const SummaryRow& row = one.row;
            const double share = shareOf(row.self.ns, m_panes->totals.self.ns);
            rows.push_back({wordsCell(row.name, paneText(row.name)),
                            timeCell(row.self.ns),
                            {panePercent(share), 100 * share},
                            countCell(row.calls),
                            layerCell(row.layer),
                            wordsCell(row.role),
                            wordsCell(row.phase),
                            timeCell(row.total.ns),
                            timeCell(row.mean().ns),
                            m_panes->folded ? dash() : timeCell(row.shortest.ns),
                            m_panes->folded ? dash() : timeCell(row.longest.ns),
                            rateCell(row.flops, row.self, "FLOP/s"),
                            rateCell(row.bytes, row.self, "B/s"),
                            boundCell(boundBy(one, roof)),
                            wordsCell(one.formats)});
            if (!counted) continue;
            const CountedOperation known = view.counters.of(row.name);
            rows.back().push_back(numberCell(known.instructionsPerCycle, 1, {}));
            rows.back().push_back(rateOf(known.bytesPerSecond.value_or(0), "B/s"));
            rows.back().push_back(numberCell(known.stalledShare, 100, "\u202F%"));
        }
    if (!m_panes)
        m_table->setSentence({});
    else if (rows.empty())
        m_table->setSentence(QString("No operation begins in %1. “Fit” shows all that was captured.").arg(view.range));
    else
        m_table->setSentence(QString("%1 calls of operations in %2%3%4%5%6")
                                 .arg(paneCount(m_panes->totals.operations), view.range, notKept(*m_panes),
                                      m_panes->nestedEach ? " · in Total calls within calls of the same name count each" : "",
                                      view.counterNote.isEmpty() ? "" : " · " + view.counterNote, sumsNotKept(view.counters) + notRecorded(view)),
                             m_panes->folded ? tooManySlices(*m_panes) : "Those that begin in the range. A click shows the longest of them.");
    m_table->setRows(std::move(columns), std::move(rows));
}

void OperationsPane::setSelected(const std::optional<QString>& name, bool onDevice) {
    m_table->selectKey(name && !onDevice ? *name : QString());
}

QString OperationsPane::asText() const {
    return m_table->sentence() + '\n' + m_table->asCsv();
}

KernelsPane::KernelsPane(QWidget* parent) : Pane(parent) {
    m_table = soleTable(this, "kernels of the range", 1, true);
    m_table->table()->setToolTip("A click shows the longest of them in the timeline");
    connect(m_table, &PaneTable::rowChosen, this, [this](int row) {
        const PaneKernel& one = m_panes->kernels.at(static_cast<std::size_t>(row));
        if (one.longest.duration >= 0)
            Q_EMIT sliceWanted(one.longest.lane, one.longest.depth, one.longest.start);
        else
            Q_EMIT nameWanted(paneText(one.row.name));
    });
}

void KernelsPane::setView(const PanesView& view) {
    m_panes = view.panes;
    std::vector<PaneColumn> columns{
        {"Name", "What ran on a GPU: kernels, copies, memsets", {}, true, 40},
        {"Total", "Time of all of them together; a kernel calls nothing, so it is its own time too", "ms"},
        {"Share", "Of the time of all kernels, copies and memsets in the range", "%"},
        {"Calls", "How many begin in the range"},
        {"Mean", "Time of one", "ms"},
        {"Min", "The shortest", "ms"},
        {"Max", "The longest", "ms"},
        {"Operation", "What had it launched, or of a CUDA graph what had it captured; of several the one with most of the time", {}, true, 24},
        {"Layer", "Of that operation", {}, true},
        {"Role", "The part of the model that operation belongs to", {}, true},
        {"Blocks per SM", "Blocks of a launch for each multiprocessor, weighted by time; below 1 some have nothing to do"},
        {"Occupancy", "Estimated: the share of a multiprocessor's threads that the blocks that fit on it occupy, weighted by time", "%"},
        {"Launch delay", "From the begin of the call that launched it to its own, on average", "ms"},
        {"Grid", "Blocks of the launch that took most of the time"},
        {"Block", "Threads of a block of that launch"},
        {"Registers", "Of a thread"},
        {"Shared", "Shared memory of a block", "B"},
        {"Computes", "Floating-point operations of what launched it, a second; of several kernels of one operation each has the part of its time",
         "FLOP/s"},
        {"Moves", "Bytes of the operands and the result of what launched it, a second, shared the same way", "B/s"},
        {"Bound by", kBoundRule, {}, true},
        {"Type", "The number format of the first tensor of what launched it; of several the one with most of the time", {}, true}};
    std::vector<std::vector<PaneCell>> rows;
    if (m_panes)
        for (const PaneKernel& one : m_panes->kernels) {
            const LaunchedRow& row = one.row;
            const double share = shareOf(row.total.ns, m_panes->totals.deviceTime.ns);
            const bool sized = row.grid[0] > 0;
            const double worked = row.worked.ns > 0 ? row.worked.seconds() : 1;
            const QString more =
                row.operations > 1 ? QString("%1 different operations launch it; this one for most of its time").arg(row.operations) : QString();
            rows.push_back({wordsCell(row.name, QString("%1 (%2)").arg(paneText(row.name), kernelKind(row.kind))),
                            timeCell(row.total.ns),
                            {panePercent(share), 100 * share},
                            countCell(row.calls),
                            timeCell(row.mean().ns),
                            m_panes->folded ? dash() : timeCell(row.shortest.ns),
                            m_panes->folded ? dash() : timeCell(row.longest.ns),
                            wordsCell(row.operation, more),
                            layerCell(row.layer),
                            wordsCell(row.role),
                            one.blocksPerMultiprocessor < 0
                                ? dash()
                                : PaneCell{paneText(format::significant(one.blocksPerMultiprocessor)), one.blocksPerMultiprocessor},
                            {panePercent(one.occupancy), one.occupancy < 0 ? -1.0 : 100 * one.occupancy},
                            one.launched == 0 ? dash() : timeCell(one.launchDelay.ns),
                            {sizesText(row.grid), sizesValue(row.grid)},
                            {sizesText(row.block), sizesValue(row.block)},
                            sized ? countCell(row.registers) : dash(),
                            sized ? countCell(row.sharedBytes) : dash(),
                            rateOf(row.flops / worked, "FLOP/s"),
                            rateOf(row.movedBytes / worked, "B/s"),
                            boundCell(boundBy(one, view.roof)),
                            wordsCell(row.type)});
        }
    if (!m_panes)
        m_table->setSentence({});
    else if (rows.empty())
        m_table->setSentence(noKernelsSentence(view));
    else
        m_table->setSentence(QString("%1 kernels and copies, %2, in %3%4%5")
                                 .arg(paneCount(m_panes->totals.kernels), paneTime(m_panes->totals.deviceTime.ns), view.range, notKept(*m_panes),
                                      view.others.isEmpty() ? QString() : " · " + view.others),
                             m_panes->folded ? tooManySlices(*m_panes) : "Those that begin in the range. A click shows the longest of them.");
    m_table->setRows(std::move(columns), std::move(rows));
}

void KernelsPane::setSelected(const std::optional<QString>& name, bool onDevice) {
    m_table->selectKey(name && onDevice ? *name : QString());
}

QString KernelsPane::asText() const {
    return m_table->sentence() + '\n' + m_table->asCsv();
}

}  // namespace stepscope
