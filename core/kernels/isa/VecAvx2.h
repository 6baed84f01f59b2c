// Vec of 8 lanes by AVX2 and FMA. Only Vec.h includes this.
#pragma once
#include <immintrin.h>

namespace stepscope::STEPSCOPE_ISA {

struct Vec {
    static constexpr std::int64_t kLanes = 8;
    __m256 v;
};

STEPSCOPE_INLINE __m256i firstMask(std::int64_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

STEPSCOPE_INLINE Vec all(float x) {
    return {_mm256_set1_ps(x)};
}
STEPSCOPE_INLINE Vec load(const float* p) {
    return {_mm256_loadu_ps(p)};
}
STEPSCOPE_INLINE Vec load(const float* p, std::int64_t n) {
    return {_mm256_maskload_ps(p, firstMask(n))};
}
STEPSCOPE_INLINE void store(float* p, Vec a) {
    _mm256_storeu_ps(p, a.v);
}
STEPSCOPE_INLINE void store(float* p, Vec a, std::int64_t n) {
    _mm256_maskstore_ps(p, firstMask(n), a.v);
}

STEPSCOPE_INLINE Vec widen(__m128i bits) {
    return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16))};
}
STEPSCOPE_INLINE __m128i narrow(Vec a) {
    const __m256i bits = _mm256_castps_si256(a.v);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff))), 16);
    const __m256i quiet = _mm256_or_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(0x40));
    const __m256i chosen = _mm256_blendv_epi8(rounded, quiet, _mm256_castps_si256(_mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q)));
    return _mm_packus_epi32(_mm256_castsi256_si128(chosen), _mm256_extracti128_si256(chosen, 1));
}
STEPSCOPE_INLINE Vec load(const Bf16* p) {
    return widen(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
STEPSCOPE_INLINE Vec load(const Bf16* p, std::int64_t n) {
    alignas(16) std::uint16_t bits[8] = {};
    for (std::int64_t i = 0; i < n; ++i) bits[i] = p[i].bits;
    return widen(_mm_load_si128(reinterpret_cast<const __m128i*>(bits)));
}
STEPSCOPE_INLINE void store(Bf16* p, Vec a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), narrow(a));
}
STEPSCOPE_INLINE void store(Bf16* p, Vec a, std::int64_t n) {
    alignas(16) std::uint16_t bits[8];
    _mm_store_si128(reinterpret_cast<__m128i*>(bits), narrow(a));
    for (std::int64_t i = 0; i < n; ++i) p[i].bits = bits[i];
}

STEPSCOPE_INLINE Vec load(const std::int8_t* p) {
    return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))))};
}
STEPSCOPE_INLINE Vec loadHalves(const std::uint8_t* p, bool high) {
    const __m256i wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    const __m256i half = high ? _mm256_srli_epi32(wide, 4) : _mm256_and_si256(wide, _mm256_set1_epi32(15));
    return {_mm256_sub_ps(_mm256_cvtepi32_ps(half), _mm256_set1_ps(8.0f))};
}

struct Words {
    __m256i v;
};
STEPSCOPE_INLINE Words words(const std::uint32_t* p) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))};
}
STEPSCOPE_INLINE Words allWords(std::uint32_t w) {
    return {_mm256_set1_epi32(static_cast<int>(w))};
}
STEPSCOPE_INLINE Vec floats(Words w) {
    return {_mm256_castsi256_ps(w.v)};
}
STEPSCOPE_INLINE Words bits(Vec a) {
    return {_mm256_castps_si256(a.v)};
}
STEPSCOPE_INLINE void store(std::uint32_t* p, Words w) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), w.v);
}
STEPSCOPE_INLINE Words pairs(const Bf16* low, const Bf16* high) {
    return {_mm256_or_si256(_mm256_srli_epi32(bits(load(low)).v, 16), bits(load(high)).v)};
}
STEPSCOPE_INLINE Vec lowHalves(Words w) {
    return {_mm256_castsi256_ps(_mm256_slli_epi32(w.v, 16))};
}
STEPSCOPE_INLINE Vec highHalves(Words w) {
    return {_mm256_castsi256_ps(_mm256_and_si256(w.v, _mm256_set1_epi32(static_cast<int>(0xffff0000))))};
}
STEPSCOPE_INLINE Vec fmaPairs(Vec sum, Words a, Words b) {
    return {_mm256_fmadd_ps(highHalves(a).v, highHalves(b).v, _mm256_fmadd_ps(lowHalves(a).v, lowHalves(b).v, sum.v))};
}

STEPSCOPE_INLINE Vec operator+(Vec a, Vec b) {
    return {_mm256_add_ps(a.v, b.v)};
}
STEPSCOPE_INLINE Vec operator-(Vec a, Vec b) {
    return {_mm256_sub_ps(a.v, b.v)};
}
STEPSCOPE_INLINE Vec operator*(Vec a, Vec b) {
    return {_mm256_mul_ps(a.v, b.v)};
}
STEPSCOPE_INLINE Vec operator/(Vec a, Vec b) {
    return {_mm256_div_ps(a.v, b.v)};
}
STEPSCOPE_INLINE Vec fma(Vec a, Vec b, Vec c) {
    return {_mm256_fmadd_ps(a.v, b.v, c.v)};
}
STEPSCOPE_INLINE Vec max(Vec a, Vec b) {
    return {_mm256_max_ps(a.v, b.v)};
}
STEPSCOPE_INLINE Vec min(Vec a, Vec b) {
    return {_mm256_min_ps(a.v, b.v)};
}
STEPSCOPE_INLINE Vec sqrt(Vec a) {
    return {_mm256_sqrt_ps(a.v)};
}
STEPSCOPE_INLINE Vec roundNearest(Vec a) {
    return {_mm256_round_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
STEPSCOPE_INLINE Vec power2(Vec p, Vec n) {
    // In two factors: 2^n alone leaves the range of float32 at both ends.
    const __m256i whole = _mm256_cvtps_epi32(n.v), half = _mm256_srai_epi32(whole, 1);
    const auto factor = [](__m256i exponent) {
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(exponent, _mm256_set1_epi32(127)), 23));
    };
    return {_mm256_mul_ps(_mm256_mul_ps(p.v, factor(half)), factor(_mm256_sub_epi32(whole, half)))};
}
STEPSCOPE_INLINE Vec firstLanes(Vec a, std::int64_t n, Vec fill) {
    return {_mm256_blendv_ps(fill.v, a.v, _mm256_castsi256_ps(firstMask(n)))};
}
STEPSCOPE_INLINE Vec swapNeighbours(Vec a) {
    return {_mm256_permute_ps(a.v, 0xb1)};
}
STEPSCOPE_INLINE float sum(Vec a) {
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_movehdup_ps(four)));
}
STEPSCOPE_INLINE float largest(Vec a) {
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
    four = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(four, _mm_movehdup_ps(four)));
}

}  // namespace stepscope::STEPSCOPE_ISA
