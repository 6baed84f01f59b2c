// Vec of 4 lanes in the compiler's own vector type: SSE2 on any x86-64, NEON on AArch64, plain scalars elsewhere. Only Vec.h
// includes this.
#pragma once

namespace stepscope::STEPSCOPE_ISA {

typedef float Four __attribute__((vector_size(16)));
typedef std::int32_t FourInts __attribute__((vector_size(16)));

struct Vec {
    static constexpr std::int64_t kLanes = 4;
    Four v;
};

STEPSCOPE_INLINE FourInts bitsOf(Four a) {
    return reinterpret_cast<FourInts>(a);
}
STEPSCOPE_INLINE Four fromBits(FourInts a) {
    return reinterpret_cast<Four>(a);
}
STEPSCOPE_INLINE Four blend(FourInts where, Four yes, Four no) {
    return fromBits((bitsOf(yes) & where) | (bitsOf(no) & ~where));
}

STEPSCOPE_INLINE Vec all(float x) {
    return {Four{x, x, x, x}};
}
STEPSCOPE_INLINE Vec load(const float* p) {
    Vec a;
    __builtin_memcpy(&a.v, p, sizeof a.v);
    return a;
}
STEPSCOPE_INLINE Vec load(const float* p, std::int64_t n) {
    float lanes[4] = {};
    // Bounded by the lanes too, which g++ 12 cannot see that n is.
    for (std::int64_t i = 0; i < 4 && i < n; ++i) lanes[i] = p[i];
    return load(lanes);
}
STEPSCOPE_INLINE void store(float* p, Vec a) {
    __builtin_memcpy(p, &a.v, sizeof a.v);
}
STEPSCOPE_INLINE void store(float* p, Vec a, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) p[i] = a.v[i];
}

STEPSCOPE_INLINE Vec load(const Bf16* p, std::int64_t n) {
    FourInts bits = {};
    for (std::int64_t i = 0; i < n; ++i) bits[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(p[i].bits) << 16);
    return {fromBits(bits)};
}
STEPSCOPE_INLINE Vec load(const Bf16* p) {
    return load(p, 4);
}
STEPSCOPE_INLINE void store(Bf16* p, Vec a, std::int64_t n) {
    const FourInts bits = bitsOf(a.v), isNan = a.v != a.v;
    const FourInts rounded = bits + 0x7fff + ((bits >> 16) & 1), quiet = bits | 0x400000;
    const FourInts chosen = (quiet & isNan) | (rounded & ~isNan);
    for (std::int64_t i = 0; i < n; ++i) p[i].bits = static_cast<std::uint16_t>(static_cast<std::uint32_t>(chosen[i]) >> 16);
}
STEPSCOPE_INLINE void store(Bf16* p, Vec a) {
    store(p, a, 4);
}

STEPSCOPE_INLINE Vec load(const std::int8_t* p) {
    return {Four{static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2]), static_cast<float>(p[3])}};
}
STEPSCOPE_INLINE Vec loadHalves(const std::uint8_t* p, bool high) {
    Vec a = {};
    for (int i = 0; i < 4; ++i) a.v[i] = static_cast<float>((high ? p[i] >> 4 : p[i] & 15) - 8);
    return a;
}

typedef std::uint32_t FourWords __attribute__((vector_size(16)));
struct Words {
    FourWords v;
};
STEPSCOPE_INLINE Words words(const std::uint32_t* p) {
    Words w;
    __builtin_memcpy(&w.v, p, sizeof w.v);
    return w;
}
STEPSCOPE_INLINE Words allWords(std::uint32_t w) {
    return {FourWords{w, w, w, w}};
}
STEPSCOPE_INLINE Vec floats(Words w) {
    return {reinterpret_cast<Four>(w.v)};
}
STEPSCOPE_INLINE Words bits(Vec a) {
    return {reinterpret_cast<FourWords>(a.v)};
}
STEPSCOPE_INLINE void store(std::uint32_t* p, Words w) {
    __builtin_memcpy(p, &w.v, sizeof w.v);
}
STEPSCOPE_INLINE Words pairs(const Bf16* low, const Bf16* high) {
    return {bits(load(low)).v >> 16 | bits(load(high)).v};
}
STEPSCOPE_INLINE Vec lowHalves(Words w) {
    return {reinterpret_cast<Four>(w.v << 16)};
}
STEPSCOPE_INLINE Vec highHalves(Words w) {
    return {reinterpret_cast<Four>(w.v & 0xffff0000u)};
}
STEPSCOPE_INLINE Vec fmaPairs(Vec sum, Words a, Words b) {
    return {sum.v + lowHalves(a).v * lowHalves(b).v + highHalves(a).v * highHalves(b).v};
}

STEPSCOPE_INLINE Vec operator+(Vec a, Vec b) {
    return {a.v + b.v};
}
STEPSCOPE_INLINE Vec operator-(Vec a, Vec b) {
    return {a.v - b.v};
}
STEPSCOPE_INLINE Vec operator*(Vec a, Vec b) {
    return {a.v * b.v};
}
STEPSCOPE_INLINE Vec operator/(Vec a, Vec b) {
    return {a.v / b.v};
}
STEPSCOPE_INLINE Vec fma(Vec a, Vec b, Vec c) {
    return {a.v * b.v + c.v};
}
STEPSCOPE_INLINE Vec max(Vec a, Vec b) {
    return {blend(a.v > b.v, a.v, b.v)};
}
STEPSCOPE_INLINE Vec min(Vec a, Vec b) {
    return {blend(a.v < b.v, a.v, b.v)};
}
STEPSCOPE_INLINE Vec sqrt(Vec a) {
    for (int i = 0; i < 4; ++i) a.v[i] = __builtin_sqrtf(a.v[i]);
    return a;
}
// Below 2^22 in size, which is all that exp() needs.
STEPSCOPE_INLINE Vec roundNearest(Vec a) {
    const Vec shift = all(12582912.0f);
    return (a + shift) - shift;
}
STEPSCOPE_INLINE Vec power2(Vec p, Vec n) {
    // In two factors: 2^n alone leaves the range of float32 at both ends. A NaN in n comes out of p, whatever the factors are.
    const FourInts isNan = n.v != n.v;
    const FourInts whole = __builtin_convertvector(blend(isNan, Four{}, n.v), FourInts), half = whole >> 1;
    return {p.v * fromBits((half + 127) << 23) * fromBits((whole - half + 127) << 23)};
}
STEPSCOPE_INLINE Vec firstLanes(Vec a, std::int64_t n, Vec fill) {
    const std::int32_t limit = static_cast<std::int32_t>(n);
    return {blend(FourInts{0, 1, 2, 3} < FourInts{limit, limit, limit, limit}, a.v, fill.v)};
}
STEPSCOPE_INLINE Vec swapNeighbours(Vec a) {
    return {Four{a.v[1], a.v[0], a.v[3], a.v[2]}};
}
STEPSCOPE_INLINE float sum(Vec a) {
    return (a.v[0] + a.v[2]) + (a.v[1] + a.v[3]);
}
STEPSCOPE_INLINE float largest(Vec a) {
    const float even = a.v[0] > a.v[2] ? a.v[0] : a.v[2], odd = a.v[1] > a.v[3] ? a.v[1] : a.v[3];
    return even > odd ? even : odd;
}

}  // namespace stepscope::STEPSCOPE_ISA
