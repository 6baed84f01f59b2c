#include "core/analysis/captures/CaptureSentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "core/analysis/captures/KernelSummary.h"
#include "core/base/Format.h"

namespace stepscope {

std::string captureSentence(const CaptureDone& capture) {
    std::string text = capture.steps == 1 ? fmt::format("Step {} is captured", format::count(capture.firstStep))
                                          : fmt::format("Steps {} to {} are captured", format::count(capture.firstStep), format::count(capture.step));
    if (std::isfinite(capture.operations)) {
        const std::int64_t operations = std::llround(capture.operations);
        text += fmt::format(": {} operation{} a step", format::count(operations), operations == 1 ? "" : "s");
    }
    if (!capture.rows || capture.rows->empty()) return text + ".";
    // A row is of one part of the model, and an operation has many: what is named is what the page Operations has first.
    double all = 0;
    std::map<std::pair<std::string_view, std::string_view>, double> spent;
    for (const auto& row : *capture.rows) {
        all += static_cast<double>(row.self.ns);
        spent[{row.name, row.phase}] += static_cast<double>(row.self.ns);
    }
    const auto most = std::ranges::max_element(spent, {}, [](const auto& one) { return one.second; });
    const auto& [name, phase] = most->first;
    if (all > 0)
        text += fmt::format(", most time in {}{}{} ({:.0f} % of what they took)", name, phase.empty() ? "" : ", ", phase, 100 * most->second / all);
    return text + ".";
}

std::string slowestSentence(SlowestSteps among) {
    if (among == SlowestSteps::None) return "";
    return fmt::format(
        "{} were kept as the slowest, of which operations alone are recorded: memory, the processor's counters and, of a run on a GPU, "
        "kernels are in captures of steps that are asked for.",
        among == SlowestSteps::All ? "These steps" : "Some of these steps");
}

std::string otherWorkersSentence(bool onGpus) {
    return fmt::format(
        "Of the workers beside the first operations, phases and steps are recorded: {}memory and the processor's counters are of the "
        "first alone.",
        onGpus ? "kernels, " : "");
}

std::string kernelMemorySentence(std::int64_t slices) {
    constexpr std::int64_t kLittle = 250'000'000;  // bytes
    const std::int64_t bytes = KernelSummary::bytesNeeded(slices);
    if (bytes < kLittle) return "";
    return fmt::format("{} slices were captured: adding them up by kernel takes up to {} of memory.", format::count(slices),
                       format::bytes(Bytes{bytes}));
}

std::string launchersUnknownSentence(std::int64_t most) {
    return fmt::format(
        "More than {} operations, calls and kernels were captured, too many to be matched: times are of all kernels, but which operation launched "
        "them, what it computed and how long launches waited is not told. Capture fewer steps, or name one worker of several (--rank).",
        format::count(most));
}

}  // namespace stepscope
