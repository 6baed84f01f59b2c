// ProgramFactory: what the loop needs from the registry of switches, so that train/ names none of them. Implemented by
// optimizations/Registry. Called on the trainer thread.
#pragma once
#include <memory>

#include "core/base/Result.h"
#include "core/events/RunPlan.h"
#include "core/events/SwitchCatalogue.h"
#include "core/train/StepProgram.h"

namespace stepscope {

// What a person should know of how a Program was built; empty = nothing.
struct BuildNotes {
    std::string lost;     // by a conversion of the State, in a few words
    std::string instead;  // which switch runs as another value than the one chosen, or does nothing beside the others, and why: sentences
};

class ProgramFactory {
public:
    virtual ~ProgramFactory() = default;

    // The configuration with one switch at another value, or why not: unknown id, value out of range, needs a new run,
    // cannot be used on this machine or with these settings.
    virtual Result<RunConfig> flipped(const RunConfig& config, const std::string& id, const Value& value) const = 0;

    // What a complete configuration comes to on this machine, or which two switches decide the same thing. vocabulary: ids that can occur; 0 = not
    // known yet.
    virtual Result<RunPlan> plan(const RunConfig& config, std::int64_t vocabulary = 0) const = 0;

    // Builds the Program and converts the State as the plan needs it (vocabulary padding, positions, device, 8-bit moments).
    virtual Result<std::unique_ptr<StepProgram>> build(const RunPlan& plan, TrainState& state, BuildNotes* notes = nullptr) const = 0;
};

}  // namespace stepscope
