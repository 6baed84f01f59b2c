// Bf16: the bits of a bfloat16 number, the upper half of a float32. Element type of activations in the kernels; LibTorch's
// at::BFloat16 has the same layout. Arithmetic on it is Vec's (per instruction set); the two functions here are for tests and
// for code outside *.isa.cpp files.
#pragma once
#include <bit>
#include <cstdint>

namespace stepscope {

struct Bf16 {
    std::uint16_t bits;
};

inline float toFloat(Bf16 value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}
inline float toFloat(float value) {
    return value;
}

// To nearest, ties to even; NaN stays NaN.
inline Bf16 toBf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (value != value) return {static_cast<std::uint16_t>(bits >> 16 | 0x40)};
    return {static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

}  // namespace stepscope
