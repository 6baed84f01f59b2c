#include "core/analysis/panes/Notable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/analysis/why/WorkClass.h"
#include "core/base/Format.h"

namespace stepscope {
namespace {

// Shares at which a rule begins to speak; those of batches and small operations are what `diagnose` has (core/advice/Rules.cpp).
constexpr double kBatchesCost = 0.05, kGpuIdles = 0.20, kLaunchesLate = 0.10, kMovesAlone = 0.10, kComputesNothing = 0.30;
constexpr double kSmallTogether = 0.30, kSmallNs = 200'000, kSmallAStep = 100;
constexpr double kCopiesCost = 0.10, kClassLeads = 0.50, kKernelLeads = 0.30;
constexpr std::size_t kLongestKernelName = 60;

double partOfTime(TimeNs part, TimeNs all) {
    return all.ns > 0 ? static_cast<double>(part.ns) / static_cast<double>(all.ns) : 0;
}

// Rounded up to all of it, it would contradict the work that is told beside it.
std::string nearlyAll(double share) {
    return share >= 0.995 && share < 1 ? "more than " + format::percent(0.99) : format::percent(share);
}

double shareOfClass(const DividedSteps& steps, std::string_view name) {
    for (const ClassTime& one : steps.classes)
        if (one.name == name) return partOfTime(one.time, steps.divided());
    return 0;
}

// Of a GPU: how long it did anything.
TimeNs timeAtWork(const DividedSteps& steps) {
    TimeNs time;
    for (const ClassTime& one : steps.classes)
        for (const char* name : {"kernels", "copies", "memsets", "communication"})
            if (one.name == std::string_view(name)) time.ns += one.time.ns;
    return time;
}

// Of several workers the one with the largest share.
struct WorstWorker {
    const DividedSteps* steps = nullptr;
    double share = 0;
};
template <class Share>
WorstWorker worstWorker(const RangePanes& panes, double least, const Share& shareOf) {
    WorstWorker worst;
    for (const DividedSteps& steps : panes.steps) {
        const double share = shareOf(steps);
        if (share >= least && (worst.steps == nullptr || share > worst.share)) worst = {&steps, share};
    }
    return worst;
}

// On a CPU, where no step lies in the range as a whole: what has most of it may be little of a step.
bool partsOfSteps(const DividedSteps& steps) {
    return !steps.device && steps.steps > 0 && steps.cut >= steps.steps;
}

std::string dividedTime(const RangePanes& panes, const DividedSteps& steps) {
    // Of GPUs what lies between steps, and between captures, is divided too.
    std::string text = steps.steps <= 0      ? "the range"
                       : steps.device        ? "the time from the first step to the last"
                       : partsOfSteps(steps) ? "what the range has of steps"
                                             : "the time of the steps";
    if (panes.severalRanks) text += fmt::format(" on rank {}", steps.rank);
    return text;
}

Notable waitsForBatches(const RangePanes& panes) {
    const WorstWorker worst =
        worstWorker(panes, kBatchesCost, [](const DividedSteps& steps) { return shareOfClass(steps, toString(WorkClass::Data)); });
    if (worst.steps == nullptr) return {};
    return {.sentence = fmt::format("{} of {} goes into batches: made ahead of a step, by more workers or from memory, they take less of it.",
                                    format::percent(worst.share), dividedTime(panes, *worst.steps)),
            .share = worst.share};
}

Notable idleGpu(const RangePanes& panes) {
    const PaneDevice* worst = nullptr;
    std::string ofWhat;
    double most = 0;
    for (const PaneDevice& device : panes.gpus) {
        const auto steps = std::ranges::find(panes.steps, device.rank, &DividedSteps::rank);
        const bool divided = steps != panes.steps.end() && steps->window.ns > 0;
        const TimeNs window = divided ? steps->window : device.time.end - device.time.begin;
        if (window.ns <= 0) continue;
        // Works that reach over an edge of what is divided are cut there; of a worker's only GPU the classes tell it.
        const bool only = std::ranges::count(panes.gpus, device.rank, &PaneDevice::rank) == 1;
        const TimeNs atWork = divided && steps->device && only ? timeAtWork(*steps) : device.time.busy;
        const double idle = partOfTime({std::max<std::int64_t>(0, window.ns - atWork.ns)}, window);
        if (idle < kGpuIdles || (worst != nullptr && idle <= most)) continue;
        worst = &device;
        most = idle;
        ofWhat = divided ? dividedTime(panes, *steps) : "the time from its first work to its last";
    }
    if (worst == nullptr) return {};
    const PaneStream* busiest = nullptr;
    for (const PaneStream& stream : panes.streams) {
        if (stream.rank != worst->rank || stream.time.device != worst->time.device) continue;
        if (busiest == nullptr || stream.time.busy > busiest->time.busy) busiest = &stream;
    }
    const double late = busiest == nullptr ? 0 : partOfTime(busiest->time.hostWait, busiest->time.end - busiest->time.begin);
    std::string text = fmt::format("GPU {} has no work for {} of {}", worst->time.device, nearlyAll(most), ofWhat);
    if (late >= kLaunchesLate)
        text += fmt::format(
            "; its busiest stream waits for launches {} of its time: fewer and larger kernels help, by a larger batch, fused operations or a "
            "captured step.",
            nearlyAll(late));
    else
        text += ": the pane Idle says what its streams waited for.";
    return {.sentence = text, .share = most};
}

Notable movesAlone(const RangePanes& panes) {
    const WorstWorker worst =
        worstWorker(panes, kMovesAlone, [](const DividedSteps& steps) { return partOfTime(steps.communication - steps.overlapped, steps.window); });
    if (worst.steps == nullptr) return {};
    return {.sentence = fmt::format("{} of {} moves data between workers while no {} computes: with more gradients added up before an update "
                                    "it is needed less often.",
                                    format::percent(worst.share), dividedTime(panes, *worst.steps), worst.steps->device ? "kernel" : "operation"),
            .share = worst.share};
}

Notable computesNothing(const RangePanes& panes) {
    const WorstWorker worst = worstWorker(panes, kComputesNothing, [](const DividedSteps& steps) {
        return steps.device || steps.steps <= 0 ? 0 : shareOfClass(steps, toString(WorkClass::Host)) + shareOfClass(steps, kTeamWaits);
    });
    if (worst.steps == nullptr) return {};
    if (worst.steps->mostThreads > 1)
        return {.sentence = fmt::format("The threads of the team compute nothing for {} of the time of their steps (host and waiting): the timeline "
                                        "shows what goes on meanwhile.",
                                        format::percent(worst.share)),
                .share = worst.share};
    return {
        .sentence = fmt::format("The thread \"{}\" computes nothing for {} of the time of its steps (host and waiting): the flame graph shows what "
                                "lies around that.",
                                worst.steps->thread, format::percent(worst.share)),
        .share = worst.share};
}

Notable smallCalls(const RangePanes& panes) {
    if (panes.devices || panes.totals.steps <= 0 || panes.totals.self.ns <= 0) return {};
    double time = 0, calls = 0;
    for (const PaneOperation& one : panes.operations) {
        const SummaryRow& row = one.row;
        if (row.calls <= 0 || static_cast<double>(row.self.ns) / static_cast<double>(row.calls) > kSmallNs) continue;
        // A node of autograd computes by what it calls.
        if (!row.own && row.name.find("Backward") != std::string::npos) continue;
        const WorkClass work = workClass(row.own ? SliceKind::Own : SliceKind::Operation, row.name, row.phase, row.role);
        if (work == WorkClass::MatrixProducts || work == WorkClass::Attention || work == WorkClass::Data || work == WorkClass::Host) continue;
        time += static_cast<double>(row.self.ns);
        calls += static_cast<double>(row.calls);
    }
    std::int64_t steps = 0;  // a step that the range begins in has calls in it, too
    for (const DividedSteps& one : panes.steps) steps += one.steps;
    const double share = time / static_cast<double>(panes.totals.self.ns), aStep = calls / static_cast<double>(std::max(steps, panes.totals.steps));
    if (aStep < kSmallAStep || share < kSmallTogether) return {};
    return {.sentence = fmt::format("{} of all operations' own time goes into {} small ones a step: fused operations, or a step that is planned as a "
                                    "whole, have fewer.",
                                    format::percent(share), format::significant(aStep)),
            .share = share};
}

Notable copiesCost(const RangePanes& panes) {
    const WorstWorker worst =
        worstWorker(panes, kCopiesCost, [](const DividedSteps& steps) { return shareOfClass(steps, toString(WorkClass::Copies)); });
    if (worst.steps == nullptr) return {};
    return {.sentence = fmt::format("{} of {} goes into copies{}", format::percent(worst.share), dividedTime(panes, *worst.steps),
                                    worst.steps->device ? " while no kernel runs: beside kernels, from pinned memory, they would cost less."
                                                        : " and casts: what stays in one number format and layout needs none."),
            .share = worst.share};
}

// The types that a kernel is made for can be longer than a line, and tell one of CUTLASS's from another.
std::string kernelWords(const std::string& name) {
    if (name.empty()) return "without a name";
    std::string text = name.starts_with("void ") ? name.substr(5) : name;
    if (text.size() <= kLongestKernelName) return text;
    std::size_t end = kLongestKernelName;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not within a letter
    return text.substr(0, end) + "\u2026";
}

Notable leads(const RangePanes& panes) {
    if (panes.devices) {
        const auto kernel = std::ranges::find(panes.kernels, SliceKind::Kernel, [](const PaneKernel& one) { return one.row.kind; });
        if (kernel == panes.kernels.end()) return {};
        const double share = partOfTime(kernel->row.total, panes.totals.deviceTime);
        if (share < kKernelLeads) return {};
        return {.sentence = fmt::format("The kernel {} takes {} of the time of all kernels and copies: what makes it faster pays most.",
                                        kernelWords(kernel->row.name), format::percent(share)),
                .share = share};
    }
    const ClassTime* largest = nullptr;
    const WorstWorker worst = worstWorker(panes, kClassLeads, [](const DividedSteps& steps) {
        double most = 0;
        for (const WorkClass work :
             {WorkClass::MatrixProducts, WorkClass::Attention, WorkClass::Normalisation, WorkClass::Pointwise, WorkClass::Loss, WorkClass::Optimizer})
            most = std::max(most, shareOfClass(steps, toString(work)));
        return most;
    });
    if (worst.steps == nullptr) return {};
    for (const ClassTime& one : worst.steps->classes)
        if (largest == nullptr || one.time > largest->time) largest = &one;
    return {.sentence = fmt::format("The class {} has {} of {}{}.", largest->name, format::percent(worst.share), dividedTime(panes, *worst.steps),
                                    partsOfSteps(*worst.steps) ? "" : ": what makes it faster pays most"),
            .share = worst.share};
}

}  // namespace

const std::vector<NotableRule>& notableRules() {
    static const std::vector<NotableRule> all{
        {"batches", "data at least 5 %", waitsForBatches},
        {"gpu-idle", "a GPU without work at least 20 %", idleGpu},
        {"communication", "data moved between workers while nothing computes at least 10 %", movesAlone},
        {"computes-nothing", "on a CPU: host and waiting at least 30 %", computesNothing},
        {"small-operations",
         "on a CPU: at least 100 operations a step that are neither matrix products nor attention and take at most 0.2 ms each, and at least 30 % of "
         "all own time",
         smallCalls},
        {"copies", "copies at least 10 %", copiesCost},
        {"largest", "on a CPU: another class at least 50 %; on a GPU: a kernel at least 30 % of the time of all kernels and copies", leads},
    };
    return all;
}

std::vector<Notable> notables(const RangePanes& panes, std::size_t most) {
    std::vector<Notable> all;
    if (panes.folded) return all;
    for (const NotableRule& rule : notableRules()) {
        if (all.size() == most) break;
        Notable found = rule.look(panes);
        if (found.sentence.empty()) continue;
        found.rule = rule.id;
        all.push_back(std::move(found));
    }
    return all;
}

}  // namespace stepscope
