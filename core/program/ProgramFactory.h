// ProgramFactory: what the loop needs from the registry of switches, so that train/ names none of them. Implemented by
// core/optimizations/registry/Registry. Called on the trainer thread.
#pragma once
#include <memory>

#include "core/base/Result.h"
#include "core/events/RunPlan.h"
#include "core/events/SwitchCatalogue.h"
#include "core/program/StepProgram.h"

namespace stepscope {

class ProgramFactory {
public:
    virtual ~ProgramFactory() = default;

    // The configuration with one switch at another value, or why not: unknown id, value out of range, needs a new run,
    // cannot be used on this machine or with these settings.
    virtual Result<RunConfig> flipped(const RunConfig& config, const std::string& id, const Value& value) const = 0;

    // What a complete configuration comes to on this machine, or which two switches decide the same thing. vocabulary: ids that can occur; 0 = not
    // known yet.
    virtual Result<RunPlan> plan(const RunConfig& config, std::int64_t vocabulary = 0) const = 0;

    // What the plan needs a State of this model to be like: vocabulary padding, positions, device, 8-bit moments. TrainState::convert brings it
    // there.
    virtual StateForm formOf(const RunPlan& plan, const TrainState& state) const = 0;

    // Builds a Program for States of that form. No State is needed for it, nor changed by it.
    virtual std::unique_ptr<StepProgram> build(const RunPlan& plan) const = 0;
};

}  // namespace stepscope
