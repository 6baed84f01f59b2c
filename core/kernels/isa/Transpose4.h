// 4 x 4 words transposed from memory to memory, for sizes that are no multiple of a wide register's words; the same moves under every instruction
// set. Included by *.isa.cpp files only.
#pragma once
#include <cstdint>

#include "core/kernels/isa/Vec.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace stepscope::STEPSCOPE_ISA {

// out (4, 4) = in (4, 4) transposed; rows lie inRow and outRow words apart.
STEPSCOPE_INLINE void transpose4(const std::uint32_t* in, std::int64_t inRow, std::uint32_t* out, std::int64_t outRow) {
#if defined(__x86_64__)
    __m128 row0 = _mm_loadu_ps(reinterpret_cast<const float*>(in)), row1 = _mm_loadu_ps(reinterpret_cast<const float*>(in + inRow));
    __m128 row2 = _mm_loadu_ps(reinterpret_cast<const float*>(in + 2 * inRow)), row3 = _mm_loadu_ps(reinterpret_cast<const float*>(in + 3 * inRow));
    _MM_TRANSPOSE4_PS(row0, row1, row2, row3);
    _mm_storeu_ps(reinterpret_cast<float*>(out), row0);
    _mm_storeu_ps(reinterpret_cast<float*>(out + outRow), row1);
    _mm_storeu_ps(reinterpret_cast<float*>(out + 2 * outRow), row2);
    _mm_storeu_ps(reinterpret_cast<float*>(out + 3 * outRow), row3);
#else
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) out[j * outRow + i] = in[i * inRow + j];
#endif
}

}  // namespace stepscope::STEPSCOPE_ISA
