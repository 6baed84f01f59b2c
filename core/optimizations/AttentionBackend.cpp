// attention: which implementation of causal self-attention runs.
#include <fmt/format.h>

#include "core/optimizations/Optimization.h"

namespace stepscope {
namespace {

// What LibTorch 2.11's sdp_utils.cpp demands of each kernel under a causal mask. Flash attention pads other head sizes, up to 256, which costs what
// it is forced for: refused.
Verdict usable(const Machine& machine, const RunConfig& config, const Value& value) {
    const std::string& name = word(value);
    const bool cuda = config.word("device") != "cpu";
    if (!cuda && name == "sdpa-efficient") return Verdict::no("the memory-efficient kernel exists for NVIDIA GPUs only.");
    if (!cuda && name == "sdpa-cudnn") return Verdict::no("cuDNN's attention exists for NVIDIA GPUs only.");
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

ProgramBuilder::AttentionSlot slotFor(const std::string& name) {
    if (name == "manual") return {name, manualAttention, {}};
    return {name,
            sdpaAttention,
            {.math = name == "sdpa-math", .flash = name == "sdpa-flash", .efficient = name == "sdpa-efficient", .cudnn = name == "sdpa-cudnn"}};
}

}  // namespace

Optimization attention() {
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
        .applicable = usable,
        .install = [](ProgramBuilder& builder, const Value& value) {
            // "auto" claims nothing: SDPA with every back-end is what a Program has anyway, and another switch may know better.
            if (word(value) != "auto") builder.setAttention(slotFor(word(value)));
        }};
}

}  // namespace stepscope
