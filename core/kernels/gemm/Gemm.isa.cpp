// The products behind Gemm.h, compiled once for each instruction set. The shape of the inner loop, 8 rows x 32 columns, was chosen by
// trying 8x32, 12x32, 14x32, 6x64 and 8x48 on a Zen 5 core: in bf16 none was clearly faster, and 8x32 leaves no awkward rest.
#include "core/kernels/gemm/GemmTable.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace stepscope::STEPSCOPE_ISA {
namespace {

using namespace gemm;

using i64 = std::int64_t;
using Word = std::uint32_t;

struct F32 {};
struct Halves {};  // bf16

#if defined(__AVX512F__)
constexpr int kLanes = 16, kVectors = 2, kRowsAtOnce = 8;
using Vector = __m512;
inline Vector load(const float* p) {
    return _mm512_loadu_ps(p);
}
inline void save(float* p, Vector v) {
    _mm512_storeu_ps(p, v);
}
inline Vector add(Vector a, Vector b) {
    return _mm512_add_ps(a, b);
}
inline Vector zero() {
    return _mm512_setzero_ps();
}
inline __m512i words(const Word* p) {
    return _mm512_loadu_si512(p);
}
inline __m512i spread(Word w) {
    return _mm512_set1_epi32(static_cast<int>(w));
}
inline Vector accumulate(F32, Vector sum, __m512i a, __m512i b) {
    return _mm512_fmadd_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), sum);
}
#if defined(__AVX512BF16__)
inline Vector accumulate(Halves, Vector sum, __m512i a, __m512i b) {
    return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
}
#else
inline Vector low(__m512i w) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(w, 16));
}
inline Vector high(__m512i w) {
    return _mm512_castsi512_ps(_mm512_and_si512(w, _mm512_set1_epi32(static_cast<int>(0xffff0000))));
}
inline Vector accumulate(Halves, Vector sum, __m512i a, __m512i b) {
    return _mm512_fmadd_ps(high(a), high(b), _mm512_fmadd_ps(low(a), low(b), sum));
}
#endif
#elif defined(__AVX2__)
constexpr int kLanes = 8, kVectors = 2, kRowsAtOnce = 4;  // 16 registers: half a strip and half a panel at a time
using Vector = __m256;
inline Vector load(const float* p) {
    return _mm256_loadu_ps(p);
}
inline void save(float* p, Vector v) {
    _mm256_storeu_ps(p, v);
}
inline Vector add(Vector a, Vector b) {
    return _mm256_add_ps(a, b);
}
inline Vector zero() {
    return _mm256_setzero_ps();
}
inline __m256i words(const Word* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
inline __m256i spread(Word w) {
    return _mm256_set1_epi32(static_cast<int>(w));
}
inline Vector low(__m256i w) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(w, 16));
}
inline Vector high(__m256i w) {
    return _mm256_castsi256_ps(_mm256_and_si256(w, _mm256_set1_epi32(static_cast<int>(0xffff0000))));
}
inline Vector accumulate(F32, Vector sum, __m256i a, __m256i b) {
    return _mm256_fmadd_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), sum);
}
inline Vector accumulate(Halves, Vector sum, __m256i a, __m256i b) {
    return _mm256_fmadd_ps(high(a), high(b), _mm256_fmadd_ps(low(a), low(b), sum));
}
#else
constexpr int kLanes = 4, kVectors = 2, kRowsAtOnce = 2;
typedef float Vector __attribute__((vector_size(16)));
typedef Word Words __attribute__((vector_size(16)));
inline Vector load(const float* p) {
    Vector v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
inline void save(float* p, Vector v) {
    __builtin_memcpy(p, &v, sizeof v);
}
inline Vector add(Vector a, Vector b) {
    return a + b;
}
inline Vector zero() {
    return Vector{};
}
inline Words words(const Word* p) {
    Words v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
inline Words spread(Word w) {
    return Words{w, w, w, w};
}
inline Vector low(Words w) {
    return (Vector)(w << 16);
}
inline Vector high(Words w) {
    return (Vector)(w & 0xffff0000u);
}
inline Vector accumulate(F32, Vector sum, Words a, Words b) {
    return sum + (Vector)a * (Vector)b;
}
inline Vector accumulate(Halves, Vector sum, Words a, Words b) {
    return sum + low(a) * low(b) + high(a) * high(b);
}
#endif

constexpr int kBlock = kLanes * kVectors;  // columns held at once; divides 32
static_assert(kPanel % kBlock == 0);

// out[i * stride + j] (+)= sum over k of A(i, k) * B(k, j), i < MR, j < kBlock.
template <typename E, int MR>
inline void block(const Word* a, i64 rowStride, i64 stepStride, const Word* b, i64 steps, float* out, i64 stride, bool addTo) {
    Vector sum[MR][kVectors];
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) sum[i][j] = zero();
    for (i64 k = 0; k < steps; ++k) {
        const auto b0 = words(b), b1 = words(b + kLanes);
#pragma GCC unroll 8
        for (int i = 0; i < MR; ++i) {
            const auto one = spread(a[i * rowStride]);
            sum[i][0] = accumulate(E{}, sum[i][0], one, b0);
            sum[i][1] = accumulate(E{}, sum[i][1], one, b1);
        }
        a += stepStride;
        b += kPanel;
    }
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) {
            float* to = out + i * stride + j * kLanes;
            save(to, addTo ? add(load(to), sum[i][j]) : sum[i][j]);
        }
}

template <typename E>
void strip(const Word* a, i64 rowStride, i64 stepStride, const Word* b, i64 rows, i64 steps, float* out, i64 stride, bool addTo) {
    for (i64 column = 0; column < kPanel; column += kBlock) {
        i64 row = 0;
        const auto at = [&](i64 r) { return a + r * rowStride; };
        for (; row + kRowsAtOnce <= rows; row += kRowsAtOnce)
            block<E, kRowsAtOnce>(at(row), rowStride, stepStride, b + column, steps, out + row * stride + column, stride, addTo);
        const i64 rest = rows - row;
        if constexpr (kRowsAtOnce > 4) {
            if (rest >= 4) {
                block<E, 4>(at(row), rowStride, stepStride, b + column, steps, out + row * stride + column, stride, addTo);
                row += 4;
            }
        }
        if constexpr (kRowsAtOnce > 2) {
            if (rows - row >= 2) {
                block<E, 2>(at(row), rowStride, stepStride, b + column, steps, out + row * stride + column, stride, addTo);
                row += 2;
            }
        }
        if (rows - row >= 1) block<E, 1>(at(row), rowStride, stepStride, b + column, steps, out + row * stride + column, stride, addTo);
    }
}

// The next panel of B is brought near while this one is worked on, a part with each strip: weights come from far away, once.
struct Prefetch {
    const Word* next;
    i64 lines, perStrip;
    Prefetch(const Word* panel, i64 steps, i64 strips)
        : next(panel), lines(panel == nullptr ? 0 : steps * kPanel / 16), perStrip((lines + strips - 1) / strips) {}
    void part() {
        const i64 now = lines < perStrip ? lines : perStrip;
        for (i64 line = 0; line < now; ++line) __builtin_prefetch(next + line * 16, 0, 2);
        next += now * 16;
        lines -= now;
    }
};

inline i64 least(i64 a, i64 b) {
    return a < b ? a : b;
}
inline const Word* rowAt(const Rows& a, i64 row) {
    return a.words + row / kPanel * a.blockStride + row % kPanel * a.rowStride;
}

template <typename E>
void tiles(Rows a, Panels b, i64 rows, i64 columns, i64 steps, TileFunction function, void* context) {
    alignas(64) float tile[kStrip * kPanel];
    const i64 strips = (rows + kStrip - 1) / kStrip;
    for (i64 column = 0; column < columns; column += kPanel) {
        const Word* panel = b.words + column / kPanel * b.panelStride;
        Prefetch next(column + kPanel < columns ? panel + b.panelStride : nullptr, steps, strips);
        for (i64 s = 0; s < strips; ++s) {
            const i64 row = s * kStrip, here = least(kStrip, rows - row);
            next.part();
            strip<E>(rowAt(a, row), a.rowStride, a.stepStride, panel, here, steps, tile, kPanel, false);
            function(context, tile, row, column, here, least(kPanel, columns - column));
        }
    }
}

constexpr i64 kStepsAtOnce = 256;  // 32 KiB of a panel: it stays in the first-level cache while the strips pass

template <typename E>
void store(Rows a, Panels b, i64 rows, i64 columns, i64 steps, float* c, i64 stride, bool addTo) {
    alignas(64) float tile[kStrip * kPanel];
    const i64 strips = (rows + kStrip - 1) / kStrip;
    for (i64 first = 0; first < steps || first == 0; first += kStepsAtOnce) {
        const i64 here = least(kStepsAtOnce, steps - first);
        const bool addHere = addTo || first > 0;
        for (i64 column = 0; column < columns; column += kPanel) {
            const Word* panel = b.words + column / kPanel * b.panelStride + first * kPanel;
            const i64 wide = least(kPanel, columns - column);
            Prefetch next(column + kPanel < columns ? panel + b.panelStride : nullptr, here, strips);
            for (i64 s = 0; s < strips; ++s) {
                const i64 row = s * kStrip, high = least(kStrip, rows - row);
                const Word* from = rowAt(a, row) + first * a.stepStride;
                float* to = c + row * stride + column;
                next.part();
                if (wide == kPanel) {
                    strip<E>(from, a.rowStride, a.stepStride, panel, high, here, to, stride, addHere);
                    continue;
                }
                strip<E>(from, a.rowStride, a.stepStride, panel, high, here, tile, kPanel, false);
                for (i64 r = 0; r < high; ++r)
                    for (i64 j = 0; j < wide; ++j) to[r * stride + j] = tile[r * kPanel + j] + (addHere ? to[r * stride + j] : 0.0f);
            }
        }
    }
}

// Word k of a row: for bf16 two neighbours, for float32 one.
inline Word wordOf(F32, const void* row, i64 k, i64) {
    Word w;
    __builtin_memcpy(&w, static_cast<const float*>(row) + k, sizeof w);
    return w;
}
inline Word wordOf(Halves, const void* row, i64 k, i64 columns) {
    const auto* at = static_cast<const std::uint16_t*>(row) + 2 * k;
    return at[0] | (2 * k + 1 < columns ? static_cast<Word>(at[1]) << 16 : 0u);
}

constexpr i64 width(F32) {
    return 4;
}
constexpr i64 width(Halves) {
    return 2;
}

#if defined(__AVX512F__)
// out[j][i] = in[i][j], 16 x 16 words.
inline void transpose16(const unsigned char* in[16], Word* out, i64 outStride) {
    __m512i r[16], t[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) r[i] = _mm512_loadu_si512(in[i]);
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4) {
        r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        _mm512_storeu_si512(out + (i)*outStride, _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88));
        _mm512_storeu_si512(out + (i + 4) * outStride, _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88));
        _mm512_storeu_si512(out + (i + 8) * outStride, _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd));
        _mm512_storeu_si512(out + (i + 12) * outStride, _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd));
    }
}
#endif

template <typename E>
void transposed(const void* source, i64 stride, i64 rows, i64 columns, Word* out, i64 panelStride) {
    const auto* bytes = static_cast<const unsigned char*>(source);
    const i64 rowBytes = stride * width(E{}), perWord = 4 / width(E{}), all = (columns + perWord - 1) / perWord, full = columns / perWord;
    for (i64 first = 0; first < rows; first += kPanel) {
        Word* panel = out + first / kPanel * panelStride;
        const i64 here = least(kPanel, rows - first);
        i64 k = 0;
#if defined(__AVX512F__)
        if (here == kPanel)
            for (; k + 16 <= full; k += 16)
                for (i64 half = 0; half < kPanel; half += 16) {
                    const unsigned char* in[16];
                    for (int i = 0; i < 16; ++i) in[i] = bytes + (first + half + i) * rowBytes + k * 4;
                    transpose16(in, panel + k * kPanel + half, kPanel);
                }
#endif
        (void)full;
        for (; k < all; ++k)
            for (i64 n = 0; n < kPanel; ++n) panel[k * kPanel + n] = n < here ? wordOf(E{}, bytes + (first + n) * rowBytes, k, columns) : 0u;
    }
}

void summedRows(F32, const void* source, i64 stride, i64 rows, i64 columns, Word* out, i64 panelStride) {
    const auto* from = static_cast<const float*>(source);
    for (i64 first = 0; first < columns; first += kPanel) {
        Word* panel = out + first / kPanel * panelStride;
        const i64 wide = least(kPanel, columns - first);
        for (i64 k = 0; k < rows; ++k) {
            __builtin_memcpy(panel + k * kPanel, from + k * stride + first, static_cast<std::size_t>(wide) * sizeof(float));
            for (i64 n = wide; n < kPanel; ++n) panel[k * kPanel + n] = 0;
        }
    }
}

void summedRows(Halves, const void* source, i64 stride, i64 rows, i64 columns, Word* out, i64 panelStride) {
    const auto* from = static_cast<const std::uint16_t*>(source);
    for (i64 k = 0; 2 * k < rows; ++k) {
        const std::uint16_t* even = from + 2 * k * stride;
        const bool pair = 2 * k + 1 < rows;
        const std::uint16_t* odd = pair ? even + stride : even;
        for (i64 first = 0; first < columns; first += kPanel) {
            Word* to = out + first / kPanel * panelStride + k * kPanel;
            const i64 wide = least(kPanel, columns - first);
#if defined(__AVX512F__)
            if (wide == kPanel && pair) {
                const __m512i e = _mm512_loadu_si512(even + first), o = _mm512_loadu_si512(odd + first);
                const __m512i low = _mm512_unpacklo_epi16(e, o), high = _mm512_unpackhi_epi16(e, o);
                const __m512i a = _mm512_permutex2var_epi64(low, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), high);
                const __m512i b = _mm512_permutex2var_epi64(low, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), high);
                _mm512_storeu_si512(to, a);
                _mm512_storeu_si512(to + 16, b);
                continue;
            }
#endif
            for (i64 n = 0; n < kPanel; ++n) to[n] = n < wide ? even[first + n] | (pair ? static_cast<Word>(odd[first + n]) << 16 : 0u) : 0u;
        }
    }
}

template <typename E>
void summedRowsOf(const void* source, i64 stride, i64 rows, i64 columns, Word* out, i64 panelStride) {
    summedRows(E{}, source, stride, rows, columns, out, panelStride);
}

}  // namespace

extern const gemm::Table gemmTable;  // a constant is local to its file otherwise
const gemm::Table gemmTable = {
    .kernels = {{.store = store<F32>, .tiles = tiles<F32>}, {.store = store<Halves>, .tiles = tiles<Halves>}},
    .packers = {{.transposed = transposed<F32>, .summedRows = summedRowsOf<F32>},
                {.transposed = transposed<Halves>, .summedRows = summedRowsOf<Halves>}},
};

}  // namespace stepscope::STEPSCOPE_ISA
