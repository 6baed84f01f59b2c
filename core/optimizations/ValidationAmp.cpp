// validation-amp: whether validation runs in the precision of amp or in float32.
#include "core/optimizations/Optimization.h"

namespace stepscope {

Optimization validationAmp() {
    return {.id = "validation-amp",
            .title = "Validation in mixed precision",
            .group = SwitchGroup::Loop,
            .why = "Evaluates with the same mixed precision as training. Off, validation is float32 and comparable between runs of any precision.",
            .cost = "The validation loss is rounded as the training loss is.",
            .values = offOn(),
            .byDefault = "off",
            .install = [](ProgramBuilder& builder, const Value& value) { builder.setValidationAutocast(word(value) == "on"); }};
}

}  // namespace stepscope
