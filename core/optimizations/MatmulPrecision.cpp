// matmul-precision: how exactly float32 matrix products are computed inside.
#include "core/optimizations/FusedSwitch.h"

namespace stepscope {
namespace {

Verdict matmulPrecisionUsable(const Machine& machine, const RunConfig& config, const Value& value) {
    if (word(value) == "highest") return Verdict::yes();
    if (!onCpu(config)) return needsAmpere(machine, config, "TF32");
    if (word(value) == "high")
        return onlyOnGpus(machine, "TF32 exists on NVIDIA GPUs only; on a CPU with AMX \"medium\" computes float32 products in bf16.");
    if (!machine.has("amx_bf16"))
        return Verdict::notHere("oneDNN rounds float32 products to bf16 only with AMX (amx_bf16), which this CPU does not have; choose amp=bf16.");
    return Verdict::yes();
}

MatmulPrecision precision(const std::string& name) {
    return name == "high" ? MatmulPrecision::High : name == "medium" ? MatmulPrecision::Medium : MatmulPrecision::Highest;
}

}  // namespace

Switch matmulPrecision() {
    return {
        .id = "matmul-precision",
        .title = "Float32 matrix products",
        .group = SwitchGroup::Precision,
        .why = "Lets float32 matrix products round their inputs: \"high\" to TF32 on NVIDIA GPUs, \"medium\" to bf16. Everything else stays float32.",
        .cost =
            "Products lose 13 (TF32) or 16 (bf16) bits of their inputs' fraction; the loss moves a little. On a CPU the head's products under "
            "fused-loss are our own, in "
            "float32 whatever is chosen here.",
        .reported = "1000 → 333 ms on an A100; ×1.5; \"up to 8x matmul\"",
        .values = Choices{{"highest", "high", "medium"}},
        .byDefault = "highest",
        .applicable = matmulPrecisionUsable,
        .resolve = [](PlanDraft& draft, const Value& value) { draft.plan.matmulPrecision = precision(word(value)); },
        .racing = {.promise = 60}};
}

}  // namespace stepscope
