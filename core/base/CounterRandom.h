// A counter-based random function: the same (seed, stream, counter) always gives the same number, in any order, on any
// thread. Batches and dropout are keyed by it, so that every loader, batch split and Program sees the same draws.
// Mixing function: SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
#pragma once
#include <cstdint>

namespace stepscope {

// Inlined everywhere: it is called in files that are compiled once per instruction set, and those must not leave a copy to the linker.
[[gnu::always_inline]] constexpr std::uint64_t splitMix64(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

// Uniform over all 64-bit values.
constexpr std::uint64_t counterRandom(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter) {
    return splitMix64(splitMix64(splitMix64(seed) ^ stream) ^ counter);
}

// Uniform in [0, bound), bound > 0; by 128-bit multiplication, so the bias is below bound / 2^64.
constexpr std::uint64_t counterRandomBelow(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter, std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(counterRandom(seed, stream, counter)) * bound) >> 64);
}

}  // namespace stepscope
