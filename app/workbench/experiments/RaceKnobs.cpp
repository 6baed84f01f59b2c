// What a search may turn: read from the catalogue, so that a new switch takes part by what its own file says.
#include <algorithm>

#include "app/workbench/experiments/LiveTune.h"

namespace stepscope {
namespace {

std::vector<std::string> valuesOf(const SwitchInfo& info, const std::string& present) {
    if (!info.racing.values.empty()) return info.racing.values;
    if (const auto* choices = std::get_if<Choices>(&info.values)) return choices->words;
    if (info.racing.role != RaceRole::Size) return {};
    // Half of what is set and twice as much.
    const auto* range = std::get_if<IntegerRange>(&info.values);
    const std::int64_t now = std::atoll(present.c_str());
    if (range == nullptr || now <= 0) return {};
    std::vector<std::string> values;
    for (const std::int64_t value : {now / 2, now, now * 2})
        if (value >= range->least && value <= range->most) values.push_back(std::to_string(value));
    return values;
}

}  // namespace

std::vector<RaceKnob> raceKnobs(const SwitchCatalogue& catalogue, const RunConfig& config, bool sizes) {
    std::vector<RaceKnob> knobs;
    for (const SwitchInfo& info : catalogue) {
        if (info.racing.role == RaceRole::Never || (info.racing.role == RaceRole::Size && !sizes) || !config.has(info.id)) continue;
        const std::string present = toString(config.switches.at(info.id));
        RaceKnob knob{.key = info.id, .values = valuesOf(info, present), .promise = info.racing.promise};
        auto at = std::ranges::find(knob.values, present);
        if (at == knob.values.end()) at = knob.values.insert(knob.values.begin(), present);
        knob.present = static_cast<std::size_t>(at - knob.values.begin());
        if (knob.values.size() > 1) knobs.push_back(std::move(knob));
    }
    std::ranges::stable_sort(knobs, std::ranges::greater{}, &RaceKnob::promise);  // the order of a Race
    return knobs;
}

std::string whyLearnsOtherwise(const RunPlan& plan, const RunPlan& present, bool sizes) {
    RunPlan alike = plan;
    alike.precision = present.precision;
    alike.matmulPrecision = present.matmulPrecision;
    if (sizes) {
        alike.batchSize = present.batchSize;
        alike.context = present.context;
    }
    return sameArithmetic(alike, present)
               ? std::string()
               : "What is learnt would differ by more than rounding, so it takes no part: choose it by yourself, and compare.";
}

}  // namespace stepscope
