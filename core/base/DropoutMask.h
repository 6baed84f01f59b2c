// Which elements dropout keeps, as a pure function of (seed, step, site, element): fused and plain Programs, micro-batches in any
// split and recomputed activations all drop the same ones. Used by core/model and by fused operations, on any thread.
#pragma once
#include "core/base/CounterRandom.h"

namespace stepscope {

// One key for each place where a model drops: site 0 is the embedding, 1 + 2 l the attention branch of block l, 2 + 2 l its MLP branch.
constexpr std::uint64_t dropoutKey(std::uint64_t seed, std::uint64_t step, std::uint64_t site) {
    return splitMix64(splitMix64(splitMix64(seed ^ 0x64726f70) ^ step) ^ site);
}

// rate in [0, 1).
constexpr std::uint32_t dropoutThreshold(double rate) {
    return static_cast<std::uint32_t>(rate * 0x1p32);
}

// element: row-major index in the (sequences of the step, T, C) tensor, all micro-batches of the step counted.
[[gnu::always_inline]] constexpr bool dropoutKeeps(std::uint64_t key, std::uint64_t element, std::uint32_t threshold) {
    return static_cast<std::uint32_t>(splitMix64(key ^ element) >> 32) >= threshold;
}

}  // namespace stepscope
