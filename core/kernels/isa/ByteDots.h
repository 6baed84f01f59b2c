// Registers of 32-bit whole numbers, kLanes of them, and how the products of four bytes are added to each: what packed_rows/DynamicRowsCpu.isa.cpp,
// which alone includes this, needs beyond Vec.h. A register of weights has four bytes of each of kLanes rows, -127 to 127; the four activations that
// they meet are the same in all lanes, held with 128 added. Both forms give the exact sum.
#pragma once
#include "core/kernels/isa/Vec.h"

namespace stepscope::STEPSCOPE_ISA {

#if STEPSCOPE_ISA_LEVEL >= 2
struct Ints {
    __m512i v;
};
STEPSCOPE_INLINE Ints noInts() {
    return {_mm512_setzero_si512()};
}
STEPSCOPE_INLINE Ints ints(const void* p) {
    return {_mm512_loadu_si512(p)};
}
STEPSCOPE_INLINE Ints operator+(Ints a, Ints b) {
    return {_mm512_add_epi32(a.v, b.v)};
}
STEPSCOPE_INLINE Vec floats(Ints a) {
    return {_mm512_cvtepi32_ps(a.v)};
}
STEPSCOPE_INLINE Ints everywhere(std::int32_t word) {
    return {_mm512_set1_epi32(word)};
}
// Rounded to the nearest, which lies within -127 to 127, with 128 added.
STEPSCOPE_INLINE void storeNumbers(std::uint8_t* p, Vec a, std::int64_t n) {
    const __m128i bytes = _mm_xor_si128(_mm512_cvtepi32_epi8(_mm512_cvtps_epi32(a.v)), _mm_set1_epi8(-128));
    _mm_mask_storeu_epi8(p, firstMask(n), bytes);
}
#elif STEPSCOPE_ISA_LEVEL == 1
struct Ints {
    __m256i v;
};
STEPSCOPE_INLINE Ints noInts() {
    return {_mm256_setzero_si256()};
}
STEPSCOPE_INLINE Ints ints(const void* p) {
    return {_mm256_loadu_si256(static_cast<const __m256i*>(p))};
}
STEPSCOPE_INLINE Ints operator+(Ints a, Ints b) {
    return {_mm256_add_epi32(a.v, b.v)};
}
STEPSCOPE_INLINE Vec floats(Ints a) {
    return {_mm256_cvtepi32_ps(a.v)};
}
STEPSCOPE_INLINE Ints everywhere(std::int32_t word) {
    return {_mm256_set1_epi32(word)};
}
STEPSCOPE_INLINE void storeNumbers(std::uint8_t* p, Vec a, std::int64_t n) {
    alignas(32) std::int32_t whole[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(whole), _mm256_cvtps_epi32(a.v));
    for (std::int64_t i = 0; i < 8 && i < n; ++i) p[i] = static_cast<std::uint8_t>(whole[i] + 128);
}
#else
struct Ints {
    FourInts v;
};
STEPSCOPE_INLINE Ints noInts() {
    return {FourInts{}};
}
STEPSCOPE_INLINE Ints ints(const void* p) {
    Ints a;
    __builtin_memcpy(&a.v, p, sizeof a.v);
    return a;
}
STEPSCOPE_INLINE Ints operator+(Ints a, Ints b) {
    return {a.v + b.v};
}
STEPSCOPE_INLINE Vec floats(Ints a) {
    return {__builtin_convertvector(a.v, Four)};
}
STEPSCOPE_INLINE Ints everywhere(std::int32_t word) {
    return {FourInts{word, word, word, word}};
}
STEPSCOPE_INLINE void storeNumbers(std::uint8_t* p, Vec a, std::int64_t n) {
    const Vec whole = roundNearest(a);
    for (std::int64_t i = 0; i < 4 && i < n; ++i) p[i] = static_cast<std::uint8_t>(static_cast<std::int32_t>(whole.v[i]) + 128);
}
#endif

// The four activations at `p`, in every lane.
STEPSCOPE_INLINE Ints fourEverywhere(const std::uint8_t* p) {
    std::int32_t word;
    __builtin_memcpy(&word, p, sizeof word);
    return everywhere(word);
}

// Sizes as bytes without a sign times weights that have taken over the signs: two products of at most 127 * 127 each fit 16 bits.
struct Apart {
#if STEPSCOPE_ISA_LEVEL >= 2
    struct Four {
        __m512i sizes;
        __mmask64 negative;
    };
    static STEPSCOPE_INLINE Four four(const std::uint8_t* p) {
        const __m512i x = _mm512_xor_si512(fourEverywhere(p).v, _mm512_set1_epi8(-128));
        return {_mm512_abs_epi8(x), _mm512_movepi8_mask(x)};
    }
    static STEPSCOPE_INLINE Ints dot(Ints sum, Ints w, Four x) {
        const __m512i turned = _mm512_mask_sub_epi8(w.v, x.negative, _mm512_setzero_si512(), w.v);
        return sum + Ints{_mm512_madd_epi16(_mm512_maddubs_epi16(x.sizes, turned), _mm512_set1_epi16(1))};
    }
#elif STEPSCOPE_ISA_LEVEL == 1
    struct Four {
        __m256i sizes, x;
    };
    static STEPSCOPE_INLINE Four four(const std::uint8_t* p) {
        const __m256i x = _mm256_xor_si256(fourEverywhere(p).v, _mm256_set1_epi8(-128));
        return {_mm256_abs_epi8(x), x};
    }
    static STEPSCOPE_INLINE Ints dot(Ints sum, Ints w, Four x) {
        return sum + Ints{_mm256_madd_epi16(_mm256_maddubs_epi16(x.sizes, _mm256_sign_epi8(w.v, x.x)), _mm256_set1_epi16(1))};
    }
#else
    struct Four {
        std::int32_t x[4];
    };
    static STEPSCOPE_INLINE Four four(const std::uint8_t* p) {
        return {{p[0] - 128, p[1] - 128, p[2] - 128, p[3] - 128}};
    }
    static STEPSCOPE_INLINE Ints dot(Ints sum, Ints w, Four x) {
        // The bytes of a lane, the first one lowest, with their signs.
        return {sum.v + ((w.v << 24) >> 24) * x.x[0] + ((w.v << 16) >> 24) * x.x[1] + ((w.v << 8) >> 24) * x.x[2] + (w.v >> 24) * x.x[3]};
    }
#endif
    static STEPSCOPE_INLINE Ints start(const std::int32_t*) {
        return noInts();
    }
};

// Activations as they are held, 128 too large, which the sum that it starts with makes good. The instruction is written out, since no set of flags
// here has it.
#if STEPSCOPE_ISA_LEVEL >= 1
struct AtOnce {
    using Four = Ints;
    static STEPSCOPE_INLINE Four four(const std::uint8_t* p) { return fourEverywhere(p); }
    static STEPSCOPE_INLINE Ints start(const std::int32_t* p) { return ints(p); }
    static STEPSCOPE_INLINE Ints dot(Ints sum, Ints w, Four x) {
#if STEPSCOPE_ISA_LEVEL >= 2
        __asm__("vpdpbusd %2, %1, %0" : "+v"(sum.v) : "v"(x.v), "v"(w.v));
#else
        __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum.v) : "x"(x.v), "x"(w.v));
#endif
        return sum;
    }
};
#endif

}  // namespace stepscope::STEPSCOPE_ISA
