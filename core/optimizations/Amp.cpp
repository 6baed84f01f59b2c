// amp: automatic mixed precision (Micikevicius et al., ICLR 2018): matrix products and attention in bf16 or fp16, norms, softmax and
// the loss in float32, weights and optimizer in float32. fp16 comes with a dynamic loss scaler. One softmax is not: LibTorch's autocast on a CPU
// has none on its list, so that of attention=manual runs in 16 bits there, as in PyTorch.
#include <fmt/format.h>

#include "core/optimizations/registry/Switch.h"

namespace stepscope {
namespace {

Verdict ampUsable(const Machine& machine, const RunConfig& config, const Value& value) {
    if (word(value) == "off" || config.word("device") == "cpu") return Verdict::yes();  // slow without bf16 units, but right
    if (word(value) == "fp16") return Verdict::yes();                                   // every GPU that CUDA 13 knows
    return needsAmpere(machine, config, "bf16");
}

// ONEDNN_MAX_CPU_ISA=AVX2 ATEN_CPU_CAPABILITY=avx2 STEPSCOPE_ISA=avx2 stepscope-cli train --preset tiny-cpu --no-record --steps 5 --set amp=bf16:
// 1.04 s a step, and with amp=off 74 ms; beside fusion=step 52 and 53 ms. With AVX512_CORE_VNNI, avx512 and avx512: 101 and 69 ms.
std::string slowHere(const Machine& machine, const PlanDraft& draft, const Value& value) {
    if (draft.plan.onGpu() || draft.plan.execution == Execution::Planned) return {};
    if (word(value) == "fp16") {
        if (machine.has("avx512_fp16") || machine.has("amx_fp16")) return {};
        return "This CPU has no units for fp16 (avx512_fp16, amx_fp16): amp=fp16 takes many times longer than amp=off here; "
               "amp=bf16 is the 16 bits of CPUs.";
    }
    if (machine.has("avx512_bf16") || machine.has("amx_bf16")) return {};
    return fmt::format(
        "This CPU has no units for bf16 (avx512_bf16, amx_bf16): amp=bf16 takes {} than amp=off here; fusion=step has products of its own.",
        machine.has("avx512") ? "longer" : "many times longer");
}

Precision precisionOf(const std::string& name) {
    return name == "off" ? Precision::Float32 : name == "fp16" ? Precision::Fp16 : Precision::Bf16;
}

}  // namespace

Switch amp() {
    return {
        .id = "amp",
        .title = "Mixed precision",
        .group = SwitchGroup::Precision,
        .why =
            "Runs matrix products and attention in 16 bits: half the memory traffic and faster units; weights, optimizer, norms and loss stay "
            "float32. bf16 has "
            "float32's range; fp16 has 3 bits more of fraction but ends at 65504, so the loss is scaled up and a step that overflows is left out.",
        .cost =
            "Activations are rounded to 8 (bf16) or 11 (fp16) bits: the loss curve moves a little. On a CPU without units for them, fp16 takes many "
            "times as long as float32, and bf16 longer too: with AVX2 alone many times as long, unless fusion=step computes it. On a CPU "
            "attention=manual takes the softmax of its scores in 16 bits too, as PyTorch does.",
        .reported = "333 → 300 ms; ×1.5–3; −40…50 % memory",
        .values = Choices{{"off", "bf16", "fp16"}},
        .byDefault = "off",
        .applicable = ampUsable,
        .note = slowHere,
        .resolve = [](PlanDraft& draft, const Value& value) { draft.plan.precision = precisionOf(word(value)); },
        .racing = {.promise = 90}};
}

}  // namespace stepscope
