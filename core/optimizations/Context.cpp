// context: tokens of one sequence.
#include "core/optimizations/Optimization.h"

namespace stepscope {

Optimization context() {
    return {.id = "context",
            .title = "Context",
            .group = SwitchGroup::Batch,
            .why = "How many tokens the model sees at once. Attention's work grows with its square, everything else in proportion.",
            .cost = "Longer sequences need more memory; new positions start untrained.",
            .reported = "256 → 128: ×1.3 on 16 GB",
            .values = IntegerRange{1, 1'000'000},
            .byDefault = std::int64_t{128},
            .shape = [](GptConfig& wanted, const Value& value) { wanted.positions = std::max(wanted.positions, integer(value)); },
            .install = [](ProgramBuilder& builder, const Value& value) { builder.setContext(integer(value)); }};
}

}  // namespace stepscope
