// validation-amp: whether validation runs in the precision of amp or in float32.
#include "core/optimizations/Optimization.h"

namespace stepscope {
namespace {

std::string idle(const Machine&, const RunConfig& config, const Value&) {
    if (config.word("amp") == "off") return "validation-amp=on does nothing while amp is off: validation is float32 as training is.";
    if (config.switches.at("validation-every") == Value{std::int64_t{0}})
        return "validation-amp=on does nothing while validation-every is 0, but for a validation that you ask for.";
    return {};
}

}  // namespace

Optimization validationAmp() {
    return {.id = "validation-amp",
            .title = "Validation in mixed precision",
            .group = SwitchGroup::Loop,
            .why = "Evaluates with the same mixed precision as training. Off, validation is float32 and comparable between runs of any precision.",
            .cost = "The validation loss is rounded as the training loss is.",
            .values = offOn(),
            .byDefault = "off",
            .note = idle,
            .install = [](ProgramBuilder& builder, const Value& value) { builder.setValidationAutocast(word(value) == "on"); }};
}

}  // namespace stepscope
