// cudnn-autotune: cuDNN's benchmark mode. Honest about a GPT, which has no convolutions.
#include "core/optimizations/registry/Switch.h"

namespace stepscope {
namespace {

Verdict cudnnAutotuneUsable(const Machine& machine, const RunConfig& config, const Value& value) {
    if (word(value) == "on" && config.word("device") == "cpu") return onlyOnGpus(machine, "cuDNN runs on NVIDIA GPUs only.");
    return Verdict::yes();
}

}  // namespace

Switch cudnnAutotune() {
    return {.id = "cudnn-autotune",
            .title = "cuDNN autotune",
            .group = SwitchGroup::Kernels,
            .why =
                "Lets cuDNN try several algorithms for each convolution and keep the fastest. A GPT has no convolutions, so here it gains nothing: "
                "it is on "
                "this list because people try it.",
            .cost = "None without convolutions; with them, slower first steps.",
            .reported = "1–2 %",
            .values = offOn(),
            .byDefault = "off",
            .applicable = cudnnAutotuneUsable,
            .note = [](const Machine&, const PlanDraft&,
                       const Value&) { return idleNote("cudnn-autotune=on does nothing here: a GPT has no convolutions."); },
            .resolve = [](PlanDraft& draft, const Value& value) { draft.plan.cudnnAutotune = word(value) == "on"; }};
}

}  // namespace stepscope
