#include "app/workbench/experiments/DemoSessions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace stepscope {
namespace {

const std::string kOff = "off";

struct Demo {
    std::string id, on;
};

// The switch that promises most of those that are off or on in a step, and the last of its values that can be used here.
std::optional<Demo> demoSwitch(const SwitchCatalogue& catalogue) {
    std::optional<Demo> best;
    int promise = 0;
    for (const SwitchInfo& entry : catalogue) {
        const auto* choices = std::get_if<Choices>(&entry.values);
        if (choices == nullptr || entry.racing.role != RaceRole::Free || !entry.applicable.usable || entry.racing.promise <= promise) continue;
        if (std::ranges::find(choices->words, kOff) == choices->words.end()) continue;
        for (const std::string& word : choices->words) {
            const bool refused =
                std::ranges::find(entry.refusedChoices, word, &std::pair<std::string, std::string>::first) != entry.refusedChoices.end();
            if (word == kOff || refused) continue;
            best = Demo{entry.id, word};
            promise = entry.racing.promise;
        }
    }
    return best;
}

}  // namespace

Result<std::vector<RunRequest>> demoRequests(const Workbench& workbench, const std::string& database) {
    auto preset = presetConfig("tiny-cpu");
    if (!preset) return preset.error();
    onlySteps(*preset);
    auto complete = workbench.complete(*preset);
    if (!complete) return complete.error();
    const auto demo = demoSwitch(workbench.switches(*complete));
    if (!demo) return makeError(ErrorCode::Unsupported, "There is nothing to show: no switch can be turned on on this machine.");
    std::vector<RunRequest> requests;
    for (const std::string& value : {kOff, demo->on}) {
        RunConfig wanted = *complete;
        wanted.switches[demo->id] = value;
        auto config = workbench.complete(std::move(wanted));
        if (!config) return config.error();
        RunRequest request;
        request.config = std::move(*config);
        request.name = fmt::format("demo: {}={}", demo->id, value);
        request.notes = "Recorded on this machine on request.";
        request.tags = {"demo"};
        request.database = database;
        request.capture = Capture{.steps = 3, .firstStep = 12, .warmUp = 2};
        requests.push_back(std::move(request));
    }
    return requests;
}

}  // namespace stepscope
