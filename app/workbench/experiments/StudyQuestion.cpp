// By what a ladder or a search is found again that was asked before: all that makes it another one, whatever its budget and its coins. Torch-free;
// any thread.
#include <fmt/format.h>

#include "app/workbench/experiments/ExperimentQuestion.h"
#include "app/workbench/experiments/StudyRequests.h"
#include "core/data/Hash128.h"

namespace stepscope {
namespace {

std::string hardwareOf(const Machine& machine) {
    std::string words = fmt::format("{}|{}", machine.cpu, machine.cores);
    for (const Gpu& gpu : machine.gpus) words += "|" + gpu.name;
    return words;
}

}  // namespace

std::string ladderQuestion(const LadderRequest& request, const RunConfig& bottom, const Machine& machine) {
    std::string text = fmt::format("ladder|{}|{}|{}", hardwareOf(machine), request.leaveOneOut ? "leave one out" : "", request.pairs ? "pairs" : "");
    for (const auto& rung : request.ladder.rungs) text += "|" + settingsWords(rung);
    return hashOf(text + questionSettings(bottom)).hex();
}

std::string tuneQuestion(const TuneRequest& request, const Machine& machine) {
    const std::string text = fmt::format("tune|{}|{}|{}", hardwareOf(machine), request.sizes ? "sizes" : "",
                                         request.memory ? fmt::format("memory {}", request.memory->count) : std::string());
    return hashOf(text + questionSettings(request.config)).hex();
}

}  // namespace stepscope
