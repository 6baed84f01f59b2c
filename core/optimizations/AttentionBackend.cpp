// attention: which implementation of causal self-attention runs.
#include <fmt/format.h>

#include <utility>

#include "core/optimizations/FusedSwitch.h"

namespace stepscope {
namespace {

// What LibTorch 2.11's sdp_utils.cpp demands of each kernel under a causal mask. Flash attention pads other head sizes, up to 256, which costs what
// it is forced for: refused.
Verdict attentionBackendUsable(const Machine& machine, const RunConfig& config, const Value& value) {
    const std::string& name = word(value);
    const bool cuda = config.word("device") != "cpu";
    if (!cuda && name == "sdpa-efficient") return onlyOnGpus(machine, "the memory-efficient kernel exists for NVIDIA GPUs only.");
    if (!cuda && name == "sdpa-cudnn") return onlyOnGpus(machine, "cuDNN's attention exists for NVIDIA GPUs only.");
    if (!cuda) return Verdict::yes();
    const std::int64_t headSize = config.width / config.heads;
    const bool low = config.word("amp") != "off";
    if (name == "sdpa-flash" || name == "sdpa-cudnn") {
        if (auto can = needsAmpere(machine, config, "this kernel"); !can.usable) return can;
        if (!low) return Verdict::no("on a GPU this kernel takes bf16 and fp16 only; switch amp on.");
        if (headSize > 128 || headSize % 8 != 0)
            return Verdict::no(fmt::format("this kernel takes head sizes up to 128 that divide by 8, and width {} / heads {} is {}.", config.width,
                                           config.heads, headSize));
    }
    if (name == "sdpa-efficient") {
        // Whole vectors of 16 bytes, wherever it uses tensor cores.
        const std::int64_t multiple = low ? 8 : needsAmpere(machine, config, name).usable ? 4 : 1;
        if (headSize % multiple != 0)
            return Verdict::no(fmt::format("this kernel takes head sizes that divide by {} with amp={}, and width {} / heads {} is {}.", multiple,
                                           config.word("amp"), config.width, config.heads, headSize));
    }
    return Verdict::yes();
}

constexpr std::pair<const char*, AttentionKind> kKinds[] = {{"manual", AttentionKind::Manual},
                                                            {"sdpa-math", AttentionKind::Math},
                                                            {"sdpa-flash", AttentionKind::Flash},
                                                            {"sdpa-efficient", AttentionKind::Efficient},
                                                            {"sdpa-cudnn", AttentionKind::Cudnn}};

void attentionBackendResolve(PlanDraft& draft, const Value& value) {
    // "auto" claims nothing: SDPA with every back-end is what a Program has anyway, and another switch may know better.
    for (const auto& [name, kind] : kKinds)
        if (word(value) == name) {
            draft.claim("attention");
            draft.plan.attention = kind;
        }
}

void attentionBackendInstall(ProgramBuilder& builder, const RunPlan& plan) {
    const AttentionKind kind = plan.attention;
    if (kind == AttentionKind::Manual) return builder.setAttention({"manual", manualAttention, {}});
    for (const auto& [name, forced] : kKinds)
        if (kind == forced)
            builder.setAttention({name,
                                  sdpaAttention,
                                  {.math = kind == AttentionKind::Math,
                                   .flash = kind == AttentionKind::Flash,
                                   .efficient = kind == AttentionKind::Efficient,
                                   .cudnn = kind == AttentionKind::Cudnn}});
}

}  // namespace

Switch attention() {
    return {
        .id = "attention",
        .title = "Attention",
        .group = SwitchGroup::Kernels,
        .why =
            "\"manual\" writes the whole table of scores to memory; flash attention (Dao et al. 2022) computes it tile by tile and never stores it. "
            "\"auto\" lets LibTorch choose; the one that really ran is reported.",
        .cost = "Sums are taken in another order: results differ by rounding. On some CPUs flash is slower than manual at short contexts.",
        .reported = "130 → 96 ms; ×1.2–4; −60…90 % attention memory; 8192 context only fits with it",
        .values = Choices{{"manual", "sdpa-math", "sdpa-flash", "sdpa-efficient", "sdpa-cudnn", "auto"}},
        .byDefault = "auto",
        .applicable = attentionBackendUsable,
        .note = [](const Machine&, const PlanDraft& draft, const Value& value) -> SwitchNote {
            // LibTorch's choice on a CPU (sdp_utils_cpp.cpp): flash wherever it can, and it can here.
            if (word(value) != "sdpa-flash" || draft.plan.onGpu() || fusedOn(draft.running(), "fused-attention")) return {};
            return idleNote("attention=sdpa-flash changes nothing on a CPU without a fused attention: auto takes it too.");
        },
        .resolve = attentionBackendResolve,
        .install = attentionBackendInstall,
        .racing = {.promise = 80}};
}

}  // namespace stepscope
