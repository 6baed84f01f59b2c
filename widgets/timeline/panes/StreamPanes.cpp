// The panes Idle and Overview: what streams of GPUs waited for, and what steps spent their time with; tables with bars, and what stands out of them.
#include <QVBoxLayout>
#include <algorithm>
#include <iterator>
#include <optional>

#include "core/analysis/panes/ModelFlops.h"
#include "core/analysis/panes/Notable.h"
#include "core/base/Format.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/timeline/TimelineLooks.h"
#include "widgets/timeline/panes/PaneTable.h"
#include "widgets/timeline/panes/TablePanes.h"

namespace stepscope {
namespace {

BarPart part(double share, const QColor& light, const QColor& dark) {
    return {share, light, dark};
}
BarPart seriesPart(double share, SeriesRole role) {
    return part(share, seriesColour(role, false), seriesColour(role, true));
}

PaneTable* tableOfPane(Pane* pane, const QString& name, int sorted) {
    auto* table = new PaneTable(name, sorted, false);
    auto* layout = new QVBoxLayout(pane);
    layout->setContentsMargins(0, space(1), 0, 0);
    layout->addWidget(table);
    return table;
}

PaneCell timeOf(std::int64_t ns, std::int64_t all) {
    const double share = all > 0 ? static_cast<double>(ns) / static_cast<double>(all) : 0;
    return {paneTime(ns), static_cast<double>(ns) / 1e6, QString("%1 of %2").arg(panePercent(share), paneTime(all))};
}
PaneCell unknownCell() {
    return {QString("–"), 0.0};
}

constexpr int kRoomForRows = 110;  // px: the first line of the pane Overview, its table's head and a few rows

constexpr const char* kHostWait = "Idle because what came next was launched only after what was before it had ended: the program did not keep up";
constexpr const char* kKernelWait = "Idle for less than 30 µs between works that were launched in time: the cost of starting one after the other";
constexpr const char* kOtherIdle = "Idle for another reason, such as waiting for another stream, or launched by nobody knows whom";

// As many colours as classes; TensorBoard's eight, and the nine kinds of work with the waiting of a team's threads.
BarPart classColour(bool device, std::size_t place, double share) {
    static constexpr LookClass onCpu[] = {LookClass::Mlp,       LookClass::Attention, LookClass::Norm, LookClass::Embedding, LookClass::Head,
                                          LookClass::Optimizer, LookClass::Copy,      LookClass::Data, LookClass::Waiting};
    static constexpr LookClass onGpu[] = {LookClass::Kernel,  LookClass::Copy, LookClass::Embedding, LookClass::Mlp,
                                          LookClass::Runtime, LookClass::Norm, LookClass::Attention, LookClass::Waiting};
    if (!device && place >= std::size(onCpu)) return part(share, QColor(0xd5dade), QColor(0x4a5057));
    const LookClass look = device ? onGpu[std::min<std::size_t>(place, 7)] : onCpu[std::min<std::size_t>(place, 8)];
    if (!device && look == LookClass::Data) return part(share, QColor(0x8d6e4f), QColor(0xb08f6c));
    return part(share, lookColour(look, false), lookColour(look, true));
}

QString deviceFacts(const RangePanes& panes, const PaneDevice& device) {
    const DividedSteps* steps = nullptr;
    for (const auto& one : panes.steps)
        if (one.rank == device.rank) steps = &one;
    const auto window = static_cast<double>(steps != nullptr && steps->window.ns > 0 ? steps->window.ns : (device.time.end - device.time.begin).ns);
    if (window <= 0) return {};
    const auto span = static_cast<double>((device.time.end - device.time.begin).ns);
    QString text = QString("GPU %1").arg(device.time.device);
    if (panes.severalRanks) text += QString(" of rank %1").arg(device.rank);
    text += QString(": busy %1").arg(panePercent(std::min(1.0, static_cast<double>(device.time.busy.ns) / window)));
    if (device.time.efficiency >= 0) text += QString(", SM efficiency %1").arg(panePercent(std::min(1.0, device.time.efficiency * span / window)));
    if (device.time.occupancy >= 0) text += QString(", occupancy %1").arg(panePercent(device.time.occupancy));
    return text;
}

// Whose time the classes are of.
QString dividedThreads(const DividedSteps& steps) {
    if (steps.mostThreads <= 1) return QString("time of %1 alone").arg(paneText(steps.thread));
    QString threads = paneCount(steps.mostThreads);
    if (steps.fewestThreads < steps.mostThreads) threads = QString("%1 to %2").arg(paneCount(steps.fewestThreads), threads);
    return QString("time of the team's %1 threads").arg(threads);
}

// How many, and how long a step took where no edge of the range cuts one.
QString countedSteps(const DividedSteps& steps) {
    const QString count = paneCount(steps.steps);
    if (steps.cut <= 0) return QString("%1 %2, %3 each").arg(count, steps.steps == 1 ? "step" : "steps", paneTime(steps.window.ns / steps.steps));
    const QString time = paneTime(steps.window.ns);
    if (steps.steps == 1) return QString("part of a step, %1").arg(time);
    if (steps.cut >= steps.steps) return QString("parts of %1 steps, %2 together").arg(count, time);
    return QString("%1 steps, %2 of them in part, %3 together").arg(count, paneCount(steps.cut), time);
}

QString mfuText(const ModelFlops& reached) {
    if (reached.peak <= 0) return "MFU not measured";
    return QString("MFU %1: %2 of %3, %4")
        .arg(panePercent(reached.share()), paneText(format::rate(reached.perSecond, "FLOP/s")), paneText(format::rate(reached.peak, "FLOP/s")),
             paneText(reached.source));
}

constexpr const char* kMfu =
    "MFU: the floating-point operations of matrix products and attention that begin in the range, a multiplication and an addition each (of a GPU "
    "those of its kernels), of the most that was measured here, or that a GPU's clocks allow, in the time of the steps. Those of recomputation and "
    "of validation count too; MFU in the strict sense (PaLM, appendix B) leaves them out and is less where there are any.";

}  // namespace

IdlePane::IdlePane(QWidget* parent) : Pane(parent) {
    m_table = tableOfPane(this, "what streams of GPUs waited for", -1);
}

void IdlePane::setView(const PanesView& view) {
    const auto& panes = view.panes;
    std::vector<PaneColumn> columns{{"Stream", "Of which GPU", {}, true},
                                    {"", "Green: busy; orange: host wait; blue: kernel wait; grey: other", {}, false, 30},
                                    {"Busy", "With a kernel, a copy or a memset, from the first of them to the last", "ms"},
                                    {"Host wait", kHostWait, "ms"},
                                    {"Kernel wait", kKernelWait, "ms"},
                                    {"Other", kOtherIdle, "ms"},
                                    {"Idle", "The three together, of the time from the first work to the last", "%"},
                                    {"Works", "Kernels, copies and memsets that begin in the range"},
                                    {"Launch delay", "Median of the time from the begin of the call that launched a work to its own", "ms"},
                                    {"longest", "The longest of them", "ms"},
                                    {"Queue", "Works that were launched and had not begun, on average over time"},
                                    {"most", "The most of them at once"}};
    std::vector<std::vector<PaneCell>> rows;
    std::int64_t span = 0, busy = 0;
    if (panes)
        for (const PaneStream& one : panes->streams) {
            const StreamTime& time = one.time;
            const std::int64_t all = (time.end - time.begin).ns;
            const auto share = [&](std::int64_t ns) { return all > 0 ? static_cast<double>(ns) / static_cast<double>(all) : 0; };
            span += all;
            busy += time.busy.ns;
            QString name = QString("GPU %1, stream %2").arg(time.device).arg(time.stream);
            if (panes->severalRanks) name = QString("rank %1, %2").arg(one.rank).arg(name);
            const bool launches = one.launches.launched > 0;
            const bool split = !panes->folded;
            PaneCell bar;
            bar.value = share(time.busy.ns);
            bar.bar = {seriesPart(share(time.busy.ns), SeriesRole::Optimizer)};
            if (split) {
                bar.bar.push_back(seriesPart(share(time.hostWait.ns), SeriesRole::Copy));
                bar.bar.push_back(seriesPart(share(time.kernelWait.ns), SeriesRole::Backward));
                bar.bar.push_back(seriesPart(share(time.otherIdle.ns), SeriesRole::Idle));
            }
            bar.tip = QString("Green: busy; orange: host wait; blue: kernel wait; grey: other. All: %1").arg(paneTime(all));
            rows.push_back(
                {{name, name},
                 bar,
                 timeOf(time.busy.ns, all),
                 split ? timeOf(time.hostWait.ns, all) : unknownCell(),
                 split ? timeOf(time.kernelWait.ns, all) : unknownCell(),
                 split ? timeOf(time.otherIdle.ns, all) : unknownCell(),
                 {panePercent(share(time.idle().ns)), 100 * share(time.idle().ns)},
                 {paneCount(time.works), static_cast<qlonglong>(time.works)},
                 launches ? PaneCell{paneTime(one.launches.median.ns), static_cast<double>(one.launches.median.ns) / 1e6} : unknownCell(),
                 launches ? PaneCell{paneTime(one.launches.longest.ns), static_cast<double>(one.launches.longest.ns) / 1e6} : unknownCell(),
                 launches ? PaneCell{paneText(format::significant(one.launches.meanQueue)), one.launches.meanQueue} : unknownCell(),
                 launches ? PaneCell{paneCount(one.launches.longestQueue), static_cast<qlonglong>(one.launches.longestQueue)} : unknownCell()});
        }
    if (!panes)
        m_table->setSentence({});
    else if (rows.empty())
        m_table->setSentence(panes->devices ? QString("No stream of a GPU has work in %1. “Fit” shows all that was captured.").arg(view.range)
                                            : QString("Nothing waits here that is told apart: this capture has no GPU in it. What the CPU's threads "
                                                      "spent waiting is part of “host and waiting” under Overview."));
    else
        m_table->setSentence(QString("%1: streams are idle %2 of the time between their first and last work%3")
                                 .arg(view.range, panePercent(span > 0 ? 1 - static_cast<double>(busy) / static_cast<double>(span) : 0),
                                      view.others.isEmpty() ? QString() : " · " + view.others),
                             panes->folded ? tooManySlices(*panes)
                                           : QString("Host wait: %1. Kernel wait: %2. Other: %3. The definitions are those of HolisticTraceAnalysis.")
                                                 .arg(kHostWait, kKernelWait, kOtherIdle));
    m_table->setRows(std::move(columns), std::move(rows));
}

QString IdlePane::asText() const {
    return m_table->sentence() + '\n' + m_table->asCsv();
}

OverviewPane::OverviewPane(QWidget* parent) : Pane(parent) {
    m_table = tableOfPane(this, "what steps spent their time with", -1);
    auto* lines = static_cast<QVBoxLayout*>(layout());
    for (int line = 0; line < kNotes; ++line) {
        auto* note = new ElidedLabel(Tone::Normal);
        note->setVisible(false);
        m_noteLines[static_cast<std::size_t>(line)] = note;
        lines->insertWidget(line, note);
    }
    lines->setStretch(kNotes, 1);
}

// In a pane that is low the rows matter more; the tool tip of the first line has these sentences all the same.
void OverviewPane::showNotes() {
    const int room = height() - kRoomForRows;
    for (int line = 0; line < kNotes; ++line) {
        ElidedLabel& label = *m_noteLines[static_cast<std::size_t>(line)];
        label.setText(m_notes.value(line));
        label.setVisible(line < m_notes.size() && (line + 1) * fontMetrics().lineSpacing() <= room);
    }
}

void OverviewPane::resizeEvent(QResizeEvent* event) {
    Pane::resizeEvent(event);
    showNotes();
}

void OverviewPane::setView(const PanesView& view) {
    const auto& panes = view.panes;
    std::vector<PaneColumn> columns{{"Class", "Each instant is in one class only", {}, true, 30},
                                    {"", "Share of the step", {}, false, 30},
                                    {"Share", "Of what is divided: of a team on a CPU, threads × steps", "%"},
                                    {"Time", "In the range; of a team the mean of its threads", "ms"},
                                    {"A step", "Time of a step, where steps were recorded and the range holds whole ones only", "ms"}};
    std::vector<std::vector<PaneCell>> rows;
    QString sentence = view.range, more;
    const auto reached = panes ? modelFlops(*panes, view.roof) : std::nullopt;
    if (panes)
        for (const DividedSteps& steps : panes->steps) {
            const double window = static_cast<double>(std::max<std::int64_t>(1, steps.window.ns));
            const double divided = static_cast<double>(std::max<std::int64_t>(1, steps.divided().ns));
            double left = 0;
            for (std::size_t i = 0; i < steps.classes.size(); ++i) {
                const ClassTime& one = steps.classes[i];
                const double share = static_cast<double>(one.time.ns) / divided;
                const std::int64_t time = steps.eachThread(one.time).ns;
                QString name = paneText(one.name);
                if (panes->severalRanks) name = QString("rank %1: %2").arg(steps.rank).arg(name);
                PaneCell bar;
                const BarPart colour = classColour(steps.device, i, share);
                bar.bar = {part(left, QColor(0, 0, 0, 0), QColor(0, 0, 0, 0)), colour};
                bar.value = share;
                left += share;
                PaneCell head{name, name};
                head.light = colour.light;
                head.dark = colour.dark;
                rows.push_back({head,
                                bar,
                                {panePercent(share), 100 * share},
                                {paneTime(time), static_cast<double>(time) / 1e6},
                                steps.steps > 0 && steps.cut == 0
                                    ? PaneCell{paneTime(time / steps.steps), static_cast<double>(time) / 1e6 / static_cast<double>(steps.steps)}
                                    : unknownCell()});
            }
            if (steps.steps > 0) sentence += " · " + countedSteps(steps);
            if (reached) sentence += " · " + mfuText(*reached);
            if (steps.communication.ns > 0)
                sentence += QString(" · %1communication %2, %3 of it while %4 computed")
                                .arg(panes->severalRanks ? QString("rank %1: ").arg(steps.rank) : QString(), paneTime(steps.communication.ns),
                                     panePercent(static_cast<double>(steps.overlapped.ns) / static_cast<double>(steps.communication.ns)),
                                     steps.device ? "kernels" : "operations");
            if (steps.device) {
                more =
                    "Of what goes on at once the first of these classes counts: kernels, copies, memsets, communication, calls of the CUDA or HIP "
                    "runtime, loading of data, operations on the CPU, other; as TensorBoard's profiler divides a step. Divided is the time from "
                    "the first step to the end of the last and of what it launched.\nBusy: the share of that time in which any stream has work. "
                    "SM efficiency, estimated: each kernel's time weighted by the share of multiprocessors that it gives a block, those that run at "
                    "once by no more than all of them, of that time. Occupancy, estimated: the share of a multiprocessor's threads that the blocks "
                    "that fit on it occupy, weighted by "
                    "the kernels' time.";
            } else {
                if (!steps.thread.empty()) sentence += " · " + dividedThreads(steps);
                more =
                    "Each instant of the thread that runs the steps belongs to the innermost operation on it; what belongs to none, and what "
                    "computes nothing, is “host and waiting”. Of a planned step the other threads of its team count as well; what they leave empty "
                    "of a step is “waiting”. Threads among which LibTorch shares an operation record nothing: their time is in no class.";
                if (steps.threads.size() > 1) {
                    QStringList busy;
                    for (std::size_t i = 0; i < std::min<std::size_t>(steps.threads.size(), 8); ++i)
                        busy << QString("%1 %2").arg(paneText(steps.threads[i].name),
                                                     panePercent(static_cast<double>(steps.threads[i].busy.ns) / window));
                    sentence += " · computing: " + busy.join(", ");
                }
            }
        }
    if (panes)
        for (const PaneDevice& device : panes->gpus)
            if (const QString facts = deviceFacts(*panes, device); !facts.isEmpty()) sentence += " · " + facts;
    if (panes && panes->devices && !view.others.isEmpty()) sentence += " · " + view.others;  // their steps look as if they had no GPU
    if (reached) more += QString("\n") + kMfu;
    if (reached && reached->peak <= 0) more += QString(" Here it is not measured: %1.").arg(paneText(reached->source));
    m_notes.clear();
    if (panes && !rows.empty()) {
        for (const Notable& one : notables(*panes, kNotes)) m_notes << paneText(one.sentence);
        if (m_notes.isEmpty()) m_notes << "Nothing stands out.";
    }
    showNotes();
    if (!panes)
        m_table->setSentence({});
    else if (rows.empty())
        m_table->setSentence(panes->folded ? tooManySlices(*panes)
                                           : QString("Nothing ran in %1. “Fit” shows all that was captured.").arg(view.range));
    else
        m_table->setSentence(sentence, (m_notes + QStringList{more}).join('\n'));
    m_table->setRows(std::move(columns), std::move(rows));
}

QString OverviewPane::asText() const {
    return (QStringList{m_table->sentence()} + m_notes).join('\n') + '\n' + m_table->asCsv();
}

}  // namespace stepscope
