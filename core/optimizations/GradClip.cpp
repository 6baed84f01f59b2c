// grad-clip: clips the gradients by their global norm.
#include "core/optimizations/registry/Switch.h"

namespace stepscope {

Switch gradClip() {
    return {
        .id = "grad-clip",
        .title = "Gradient clipping",
        .group = SwitchGroup::Optimizer,
        .why = "Scales all gradients down when their global norm exceeds this; 0 switches it off. One bad batch then cannot throw the weights away.",
        .cost = "One pass over the gradients for the norm and one for the scaling.",
        .reported = "stability",
        .values = RealRange{0, 1e6, "off"},
        .byDefault = 1.0,
        .resolve = [](PlanDraft& draft, const Value& value) { draft.plan.maxNorm = std::get<double>(value); },
        .racing = {.role = RaceRole::Never}};
}

}  // namespace stepscope
