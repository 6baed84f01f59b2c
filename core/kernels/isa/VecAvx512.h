// Vec of 16 lanes by AVX-512 F, BW, DQ and VL; rounding to Bf16 by AVX512-BF16 where the set has it (denormal results become 0
// there). Only Vec.h includes this.
#pragma once
#include <immintrin.h>

namespace stepscope::STEPSCOPE_ISA {

struct Vec {
    static constexpr std::int64_t kLanes = 16;
    __m512 v;
};

STEPSCOPE_INLINE __mmask16 firstMask(std::int64_t n) {
    return static_cast<__mmask16>((1u << n) - 1u);
}

STEPSCOPE_INLINE Vec all(float x) {
    return {_mm512_set1_ps(x)};
}
STEPSCOPE_INLINE Vec load(const float* p) {
    return {_mm512_loadu_ps(p)};
}
STEPSCOPE_INLINE Vec load(const float* p, std::int64_t n) {
    return {_mm512_maskz_loadu_ps(firstMask(n), p)};
}
STEPSCOPE_INLINE void store(float* p, Vec a) {
    _mm512_storeu_ps(p, a.v);
}
STEPSCOPE_INLINE void store(float* p, Vec a, std::int64_t n) {
    _mm512_mask_storeu_ps(p, firstMask(n), a.v);
}

STEPSCOPE_INLINE Vec widen(__m256i bits) {
    return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16))};
}
STEPSCOPE_INLINE __m256i narrow(Vec a) {
#if STEPSCOPE_ISA_LEVEL >= 3
    return (__m256i)_mm512_cvtneps_pbh(a.v);
#else
    const __m512i bits = _mm512_castps_si512(a.v);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff))), 16);
    const __m512i quiet = _mm512_or_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(0x40));
    return _mm512_cvtepi32_epi16(_mm512_mask_mov_epi32(rounded, _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q), quiet));
#endif
}
STEPSCOPE_INLINE Vec load(const Bf16* p) {
    return widen(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
STEPSCOPE_INLINE Vec load(const Bf16* p, std::int64_t n) {
    return widen(_mm256_maskz_loadu_epi16(firstMask(n), p));
}
STEPSCOPE_INLINE void store(Bf16* p, Vec a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), narrow(a));
}
STEPSCOPE_INLINE void store(Bf16* p, Vec a, std::int64_t n) {
    _mm256_mask_storeu_epi16(p, firstMask(n), narrow(a));
}

STEPSCOPE_INLINE Vec load(const std::int8_t* p) {
    return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))))};
}
STEPSCOPE_INLINE Vec loadHalves(const std::uint8_t* p, bool high) {
    const __m512i wide = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    const __m512 numbers = _mm512_setr_ps(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7);
    // It looks at the low four bits of each lane alone.
    return {_mm512_permutexvar_ps(high ? _mm512_srli_epi32(wide, 4) : wide, numbers)};
}

struct Words {
    __m512i v;
};
STEPSCOPE_INLINE Words words(const std::uint32_t* p) {
    return {_mm512_loadu_si512(p)};
}
STEPSCOPE_INLINE Words allWords(std::uint32_t w) {
    return {_mm512_set1_epi32(static_cast<int>(w))};
}
STEPSCOPE_INLINE Vec floats(Words w) {
    return {_mm512_castsi512_ps(w.v)};
}
STEPSCOPE_INLINE Words bits(Vec a) {
    return {_mm512_castps_si512(a.v)};
}
STEPSCOPE_INLINE void store(std::uint32_t* p, Words w) {
    _mm512_storeu_si512(p, w.v);
}
STEPSCOPE_INLINE Words pairs(const Bf16* low, const Bf16* high) {
    return {_mm512_or_si512(_mm512_srli_epi32(bits(load(low)).v, 16), bits(load(high)).v)};
}
// As Bf16 holds them: rounded, still float32; two registers as pairs.
STEPSCOPE_INLINE Vec rounded(Vec a) {
    return widen(narrow(a));
}
STEPSCOPE_INLINE Words pairs(Vec low, Vec high) {
    return {_mm512_or_si512(_mm512_cvtepu16_epi32(narrow(low)), bits(rounded(high)).v)};
}
STEPSCOPE_INLINE Vec lowHalves(Words w) {
    return {_mm512_castsi512_ps(_mm512_slli_epi32(w.v, 16))};
}
STEPSCOPE_INLINE Vec highHalves(Words w) {
    return {_mm512_castsi512_ps(_mm512_and_si512(w.v, _mm512_set1_epi32(static_cast<int>(0xffff0000))))};
}
STEPSCOPE_INLINE Vec fmaPairs(Vec sum, Words a, Words b) {
#if STEPSCOPE_ISA_LEVEL >= 3
    return {_mm512_dpbf16_ps(sum.v, (__m512bh)a.v, (__m512bh)b.v)};
#else
    return {_mm512_fmadd_ps(highHalves(a).v, highHalves(b).v, _mm512_fmadd_ps(lowHalves(a).v, lowHalves(b).v, sum.v))};
#endif
}

STEPSCOPE_INLINE Vec operator+(Vec a, Vec b) {
    return {_mm512_add_ps(a.v, b.v)};
}
STEPSCOPE_INLINE Vec operator-(Vec a, Vec b) {
    return {_mm512_sub_ps(a.v, b.v)};
}
STEPSCOPE_INLINE Vec operator*(Vec a, Vec b) {
    return {_mm512_mul_ps(a.v, b.v)};
}
STEPSCOPE_INLINE Vec operator/(Vec a, Vec b) {
    return {_mm512_div_ps(a.v, b.v)};
}
STEPSCOPE_INLINE Vec fma(Vec a, Vec b, Vec c) {
    return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}
STEPSCOPE_INLINE Vec max(Vec a, Vec b) {
    return {_mm512_max_ps(a.v, b.v)};
}
STEPSCOPE_INLINE Vec min(Vec a, Vec b) {
    return {_mm512_min_ps(a.v, b.v)};
}
STEPSCOPE_INLINE Vec sqrt(Vec a) {
    return {_mm512_sqrt_ps(a.v)};
}
STEPSCOPE_INLINE Vec roundNearest(Vec a) {
    return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
STEPSCOPE_INLINE Vec power2(Vec p, Vec n) {
    return {_mm512_scalef_ps(p.v, n.v)};
}
STEPSCOPE_INLINE Vec firstLanes(Vec a, std::int64_t n, Vec fill) {
    return {_mm512_mask_mov_ps(fill.v, firstMask(n), a.v)};
}
STEPSCOPE_INLINE Vec swapNeighbours(Vec a) {
    return {_mm512_permute_ps(a.v, 0xb1)};
}
STEPSCOPE_INLINE float sum(Vec a) {
    return _mm512_reduce_add_ps(a.v);
}
STEPSCOPE_INLINE float largest(Vec a) {
    return _mm512_reduce_max_ps(a.v);
}

}  // namespace stepscope::STEPSCOPE_ISA
