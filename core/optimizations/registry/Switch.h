// A switch is one file and one line: an entry like this, listed in install.cpp. Panel, tooltips, --set, session columns,
// the guide's table and the parameterised test are all generated from it. Nowhere else is a switch named: the plan says what it comes to.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/events/Machine.h"
#include "core/events/RunPlan.h"
#include "core/events/SwitchCatalogue.h"
#include "core/optimizations/registry/PlanDraft.h"
#include "core/program/ProgramBuilder.h"

namespace stepscope {

// What runs where the value chosen cannot, beside what other switches ask for.
struct Fallback {
    Value value;
    std::string why;  // a sentence that names both values
};

// What to know of a value where it is chosen: a sentence; empty = nothing.
struct SwitchNote {
    std::string text;
    bool idle = false;  // it changes nothing there: a run is as with the default
    SwitchNote() = default;
    SwitchNote(std::string said, bool isIdle = false) : text(std::move(said)), idle(isIdle) {}
};
inline SwitchNote idleNote(std::string why) {
    return {std::move(why), true};
}

struct Switch {
    std::string id;  // the key in --set, YAML and stored sessions: never renamed
    std::string title;
    SwitchGroup group = SwitchGroup::Device;
    std::string why;       // what it does: two sentences a student understands
    std::string cost;      // what it costs
    std::string reported;  // by others, on other hardware
    ValueRange values;
    Value byDefault;
    TakesEffect takesEffect = TakesEffect::Step;
    std::string whyNewRun;

    // Whether `value` can be used on this machine with this configuration. Absent = always.
    std::function<Verdict(const Machine&, const RunConfig&, const Value&)> applicable;
    // What takes the place of `value` with this configuration, which stays as it was written: when the reason goes, `value` is back. Absent =
    // nothing.
    std::function<std::optional<Fallback>(const RunConfig&, const Value&)> fallback;
    // What to know of `value`, which runs and is not the default: that it does nothing beside the other switches (idleNote), or what it costs on this
    // machine. Empty or absent = its words above say it all.
    std::function<SwitchNote(const Machine&, const PlanDraft&, const Value& value)> note;
    // Puts what `value` decides into the plan, claiming what another switch must not decide too.
    std::function<void(PlanDraft&, const Value& value)> resolve;
    // The shape that the State must have; absent = the State stays as it is. Lossless both ways.
    std::function<void(GptConfig& wanted, const RunPlan&)> shape;
    // Fills a slot of the Program where the plan says that this switch's operation runs. Absent = the plan alone says it.
    std::function<void(ProgramBuilder&, const RunPlan&)> install;
    Racing racing{};
};

inline const std::string& word(const Value& value) {
    return std::get<std::string>(value);
}
inline std::int64_t integer(const Value& value) {
    return std::get<std::int64_t>(value);
}
// The GPU that a configuration names as its device; null on a CPU, and where this machine has none of that number.
const Gpu* gpuOf(const Machine& machine, const RunConfig& config);
// Yes on a GPU of at least compute capability 8.0 (and where gpuOf is null: `device` says what is wrong); else a sentence with its name. what:
// "bf16".
Verdict needsAmpere(const Machine& machine, const RunConfig& config, const std::string& what);
// No, of a value for GPUs beside device=cpu; of the machine where it has none that could be chosen.
Verdict onlyOnGpus(const Machine& machine, std::string why);
inline Choices offOn() {
    return {{"off", "on"}};
}

// The list itself (install.cpp), in the order in which people read it.
std::vector<Switch> allSwitches();

}  // namespace stepscope
