// Rows of elements as the words of an operand that sums over rows (Gemm.h), for tile functions that pack while a tile is in cache. Included by
// *.isa.cpp files only.
#pragma once
#include "core/kernels/isa/Vec.h"

namespace stepscope::STEPSCOPE_ISA {

template <typename E>
constexpr std::int64_t kPerWord = 4 / static_cast<std::int64_t>(sizeof(E));

// Two rows of bf16 become one row of words, the second being absent after an odd last one; for float32 a row is a row of words already.
STEPSCOPE_INLINE void pairRows(const float* even, const float*, std::int64_t count, std::uint32_t* out) {
    __builtin_memcpy(out, even, static_cast<std::size_t>(count) * 4);
}
STEPSCOPE_INLINE void pairRows(const Bf16* even, const Bf16* odd, std::int64_t count, std::uint32_t* out) {
    if (odd == nullptr)
        for (std::int64_t c = 0; c < count; ++c) out[c] = even[c].bits;
    else
        for (std::int64_t c = 0; c < count; ++c) out[c] = even[c].bits | static_cast<std::uint32_t>(odd[c].bits) << 16;
}

}  // namespace stepscope::STEPSCOPE_ISA
