// 16 x 16 words transposed in registers, where a register holds 16: kTransposes16 says whether. For packing operands of matrix products. Included by
// *.isa.cpp files only.
#pragma once
#include "core/kernels/isa/Vec.h"

namespace stepscope::STEPSCOPE_ISA {

#if STEPSCOPE_ISA_LEVEL >= 2
constexpr bool kTransposes16 = true;

// Word j of r[i] and word i of r[j] change places.
STEPSCOPE_INLINE void transpose16(Words (&r)[16]) {
    __m512i s[16], t[16];
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_epi32(r[i].v, r[i + 1].v);
        t[i + 1] = _mm512_unpackhi_epi32(r[i].v, r[i + 1].v);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4) {
        s[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        s[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        s[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        s[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        t[i] = _mm512_shuffle_i32x4(s[i], s[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_i32x4(s[i], s[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_i32x4(s[i + 8], s[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_i32x4(s[i + 8], s[i + 12], 0xdd);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        r[i].v = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
        r[i + 4].v = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
        r[i + 8].v = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
        r[i + 12].v = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
    }
}
#else
constexpr bool kTransposes16 = false;
inline void transpose16(Words (&)[16]) {}
#endif

}  // namespace stepscope::STEPSCOPE_ISA
