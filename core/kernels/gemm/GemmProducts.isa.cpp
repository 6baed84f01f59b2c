// The products behind Gemm.h, compiled once for each instruction set, each in several forms that give the same bits: direct, from operands as they
// are; packed, from rows of A repacked so that the inner loop reads them one after the other; split, where the two bf16 of a word are taken apart to
// float32 first, which is faster where the processor's dot product of pairs is slow. FormChoice measures them.
#include "core/kernels/gemm/GemmParts.h"
#include "core/kernels/isa/FlushDenormals.h"
#include "core/kernels/isa/Transpose16.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

using namespace gemm;

// One step along the summed index.
struct Floats {
    static STEPSCOPE_INLINE Vec add(Vec sum, Words a, Words b) { return fma(floats(a), floats(b), sum); }
};
struct Pairs {
    static STEPSCOPE_INLINE Vec add(Vec sum, Words a, Words b) { return fmaPairs(sum, a, b); }
};

constexpr int kVectors = 2;
constexpr int kBlock = static_cast<int>(kLanes) * kVectors;  // columns held at once; divides 32
static_assert(kPanel % kBlock == 0);
constexpr int kDirectRows = STEPSCOPE_ISA_LEVEL >= 2 ? 8 : STEPSCOPE_ISA_LEVEL == 1 ? 4 : 2;  // 32, 16 and 16 registers
constexpr i64 kStepsAtOnce = 256;  // words of `store` summed from zero: 32 KiB of a panel, which stays in the first-level cache while rows pass

// Where sums begin and end: zero and stored, what lies there and stored, zero and added to what lies there.
enum class Mode { Fresh, Carry, Add };

// out[i * stride + j] = sum over k of A(i, k) * B(k, j), i < MR, j < kBlock, for NP panels of B, `next` words apart, whose results lie `nextOut`
// apart. Packed: rowStride is 1. Flush: as the dot product of pairs treats denormals.
template <class Kind, int MR, int NP, bool Packed, bool Flush>
STEPSCOPE_INLINE void block(const Word* a, i64 rowStride, i64 stepStride, const Word* b, i64 next, i64 steps, Mode mode, float* out, i64 stride,
                            i64 nextOut) {
    constexpr int V = kVectors * NP;
    const auto to = [&](int i, int j) { return out + i * stride + j / kVectors * nextOut + j % kVectors * kLanes; };
    Vec sum[MR][V];
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j) sum[i][j] = mode == Mode::Carry ? load(to(i, j)) : zero();
    {
        const FlushDenormals flushing(Flush);
#pragma GCC unroll 2
        for (i64 k = 0; k < steps; ++k) {
            Words right[V];
#pragma GCC unroll 4
            for (int j = 0; j < V; ++j) right[j] = words(b + j / kVectors * next + j % kVectors * kLanes);
#pragma GCC unroll 16
            for (int i = 0; i < MR; ++i) {
                const Words one = allWords(a[Packed ? i : i * rowStride]);
#pragma GCC unroll 4
                for (int j = 0; j < V; ++j) sum[i][j] = Kind::add(sum[i][j], one, right[j]);
            }
            a += stepStride;
            b += kPanel;
        }
        if constexpr (Flush) {
#pragma GCC unroll 16
            for (int i = 0; i < MR; ++i)
#pragma GCC unroll 4
                for (int j = 0; j < V; ++j) settle(sum[i][j]);
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < V; ++j) store(to(i, j), mode == Mode::Add ? load(to(i, j)) + sum[i][j] : sum[i][j]);
}

// ---- direct ----

template <class Kind>
void strip(const Word* a, i64 rowStride, i64 stepStride, const Word* b, i64 rows, i64 steps, float* out, i64 stride, Mode mode) {
    for (i64 column = 0; column < kPanel; column += kBlock) {
        i64 row = 0;
        const auto some = [&]<int MR>() {
            block<Kind, MR, 1, false, false>(a + row * rowStride, rowStride, stepStride, b + column, 0, steps, mode, out + row * stride + column,
                                             stride, 0);
            row += MR;
        };
        while (row + kDirectRows <= rows) some.template operator()<kDirectRows>();
        if constexpr (kDirectRows > 4)
            if (rows - row >= 4) some.template operator()<4>();
        if constexpr (kDirectRows > 2)
            if (rows - row >= 2) some.template operator()<2>();
        if (rows - row >= 1) some.template operator()<1>();
    }
}

template <class Kind>
void tilesDirect(Rows a, Panels b, i64 rows, i64 columns, i64 steps, TileFunction function, void* context) {
    alignas(64) float tile[kStrip * kPanel];
    const i64 strips = (rows + kStrip - 1) / kStrip;
    for (i64 column = 0; column < columns; column += kPanel) {
        const Word* panel = b.words + column / kPanel * b.panelStride;
        Prefetch next(column + kPanel < columns ? panel + b.panelStride : nullptr, steps, strips);
        for (i64 s = 0; s < strips; ++s) {
            const i64 row = s * kStrip, here = least(kStrip, rows - row);
            next.part();
            strip<Kind>(rowAt(a, row), a.rowStride, a.stepStride, panel, here, steps, tile, kPanel, Mode::Fresh);
            function(context, tile, row, column, here, least(kPanel, columns - column));
        }
    }
}

template <class Kind>
void storeDirect(Rows a, Panels b, i64 rows, i64 columns, i64 steps, float* c, i64 stride, bool addTo) {
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
                    strip<Kind>(from, a.rowStride, a.stepStride, panel, high, here, to, stride, addHere ? Mode::Add : Mode::Fresh);
                    continue;
                }
                strip<Kind>(from, a.rowStride, a.stepStride, panel, high, here, tile, kPanel, Mode::Fresh);
                copyTile(tile, high, wide, to, stride, addHere);
            }
        }
    }
}

// ---- packed and split ----

// Words of A repacked at a time, half a MiB of the second-level cache, and steps of a panel of B taken apart at a time: 16 KiB of the first.
constexpr i64 kLeftWords = 128 * 1024, kMostRows = 256, kRightSteps = 128;
constexpr bool kHighFirst = STEPSCOPE_ISA_LEVEL >= 3;  // the order in which fmaPairs adds its two products

// Rows are repacked in strips, of which the inner loop takes MR at a time. Two times 8 rows fill a register, so that a strip is packed by whole
// registers; other heights have a strip of their own.
template <int MR>
constexpr int kStripRows = MR == 8 && kLanes == 16 ? 16 : MR;

// Strips of the rows of a block of at most 32: as few as can be, of even heights, which differ by at most 2 where a strip is one step of the loop.
template <int MR>
struct Strips {
    static constexpr i64 most = kStripRows<MR>;
    i64 count, pairs;
    explicit Strips(i64 rows) : count((rows + most - 1) / most), pairs((rows + 1) / 2) {}
    i64 begin(i64 s) const { return most > MR ? s * most : 2 * (s * (pairs / count) + least(s, pairs % count)); }
    i64 height(i64 s) const { return most > MR ? least(most, 2 * pairs - s * most) : 2 * (pairs / count + (s < pairs % count ? 1 : 0)); }
};

// Words that are one register of A or B, stored as one step or taken apart to two.
template <bool Split>
STEPSCOPE_INLINE void put(Words w, Word* to, i64 stepWords) {
    if constexpr (Split) {
        store(to, bits(kHighFirst ? highHalves(w) : lowHalves(w)));
        store(to + stepWords, bits(kHighFirst ? lowHalves(w) : highHalves(w)));
    } else {
        store(to, w);
    }
}
STEPSCOPE_INLINE Words someWords(const Word* from, i64 n) {
    return bits(n >= kLanes ? load(reinterpret_cast<const float*>(from)) : load(reinterpret_cast<const float*>(from), n));
}

// Steps [first, first + steps) of `high` rows from `a` on, to [step][wide]; rows beyond are zeros. Writes up to kLanes words more than it says.
template <bool Split>
void packStrip(const Word* a, i64 rowStride, i64 stepStride, i64 steps, i64 high, i64 wide, Word* to) {
    constexpr i64 factor = Split ? 2 : 1;
    i64 k = 0;
    if (rowStride == 1 && wide <= kLanes) {
        for (; k < steps; ++k, to += factor * wide) put<Split>(someWords(a + k * stepStride, high), to, wide);
        return;
    }
    if (kTransposes16 && stepStride == 1 && wide <= 16) {
        for (; k < steps; k += 16) {
            Words all[16];
            for (i64 i = 0; i < 16; ++i) all[i] = i < high ? someWords(a + i * rowStride + k, steps - k) : allWords(0);
            transpose16(all);
            const i64 here = least(16, steps - k);
            for (i64 i = 0; i < here; ++i, to += factor * wide) put<Split>(all[i], to, wide);
        }
        return;
    }
    for (; k < steps; ++k, to += factor * wide)
        for (i64 i = 0; i < wide; ++i) {
            const Word w = i < high ? a[i * rowStride + k * stepStride] : 0u;
            if constexpr (Split) {
                to[kHighFirst ? i : wide + i] = w & 0xffff0000u;
                to[kHighFirst ? wide + i : i] = w << 16;
            } else {
                to[i] = w;
            }
        }
}

inline void splitPanel(const Word* panel, i64 steps, Word* to) {
    for (i64 k = 0; k < steps; ++k, panel += kPanel, to += 2 * kPanel)
        for (i64 c = 0; c < kPanel; c += kLanes) put<true>(words(panel + c), to + c, kPanel);
}

// NP panels of B that are multiplied together, and where their results go.
struct Together {
    const Word* b;
    i64 next;
    float* out;
    i64 stride, nextOut;
};

// `rows` of a strip that is `wide` rows high, even and at most MR.
template <class Kind, int MR, int NP, bool Flush>
STEPSCOPE_INLINE void packedRows(i64 rows, const Word* a, i64 wide, const Together& by, i64 row, i64 steps, Mode mode) {
    static_assert(NP == 1 || kBlock == kPanel);
    if (rows == MR)
        for (i64 column = 0; column < kPanel; column += kBlock)
            block<Kind, MR, NP, true, Flush>(a, 1, wide, by.b + column, by.next, steps, mode, by.out + row * by.stride + column, by.stride,
                                             by.nextOut);
    else if constexpr (MR > 2)
        packedRows<Kind, MR - 2, NP, Flush>(rows, a, wide, by, row, steps, mode);
}
template <class Kind, int MR, int NP, bool Flush>
void packedStrip(i64 wide, const Word* a, const Together& by, i64 steps, Mode mode) {
    for (i64 row = 0; row < wide; row += MR) packedRows<Kind, MR, NP, Flush>(least(MR, wide - row), a + row, wide, by, row, steps, mode);
}
template <class Kind, int MR, int NP, bool Flush>
void packedStrip(i64 panels, i64 wide, const Word* a, const Together& by, i64 steps, Mode mode) {
    if (panels == NP)
        packedStrip<Kind, MR, NP, Flush>(wide, a, by, steps, mode);
    else if constexpr (NP > 1)
        packedStrip<Kind, MR, 1, Flush>(wide, a, by, steps, mode);
}

// What the two products have in common: A's rows [row, row + n) over steps [first, first + steps), repacked block by block of 32 rows.
template <bool Split, int MR>
void packRows(const Rows& a, i64 row, i64 n, i64 first, i64 steps, Word* left) {
    constexpr i64 factor = Split ? 2 : 1;
    for (i64 r = 0; r < n; r += kPanel) {
        const Strips<MR> strips(least(kPanel, n - r));
        for (i64 s = 0; s < strips.count; ++s) {
            const i64 begin = strips.begin(s), wide = strips.height(s);
            packStrip<Split>(rowAt(a, row + r + begin) + first * a.stepStride, a.rowStride, a.stepStride, steps, least(wide, n - r - begin), wide,
                             left + (r + begin) * steps * factor);
        }
    }
}

// Rows repacked together, of at most `rows`: in parts of about equal size, whole blocks of 32 where so many fit. 0 where not even a tile's do.
inline i64 rowsAtOnce(i64 rows, i64 depth) {
    const i64 most = least(kLeftWords / depth, kMostRows);
    if (most < kPanel) return most / kStrip * kStrip == 3 * kStrip ? 2 * kStrip : most / kStrip * kStrip;
    const i64 parts = (rows + most / kPanel * kPanel - 1) / (most / kPanel * kPanel), each = (rows + parts - 1) / parts;
    return (each + kPanel - 1) / kPanel * kPanel;
}

template <class Kind, bool Split, int MR, int NP, bool Flush, class Whole>
void tilesPacked(Rows a, Panels b, i64 rows, i64 columns, i64 steps, TileFunction function, void* context) {
    constexpr i64 factor = Split ? 2 : 1, tileFloats = kMostRows * kPanel;
    const i64 depth = steps * factor, together = depth == 0 ? 0 : rowsAtOnce(rows, depth), atOnce = Split ? kRightSteps / 2 : steps;
    if (together == 0) return tilesDirect<Whole>(a, b, rows, columns, steps, function, context);
    alignas(64) Word left[kLeftWords + kPanel * kLanes], right[Split ? NP * kRightSteps * kPanel : 1];
    alignas(64) float tile[NP * tileFloats];
    for (i64 row = 0; row < rows; row += together) {
        const i64 n = least(together, rows - row);
        packRows<Split, MR>(a, row, n, 0, steps, left);
        for (i64 column = 0; column < columns; column += NP * kPanel) {
            const Word* panel = b.words + column / kPanel * b.panelStride;
            const i64 width = least(NP * kPanel, columns - column), count = (width + kPanel - 1) / kPanel;
            Prefetch next(column + NP * kPanel < columns ? panel + NP * b.panelStride : nullptr, steps, (n + kPanel - 1) / kPanel);
            for (i64 first = 0; first < steps; first += atOnce) {
                const i64 here = least(atOnce, steps - first);
                const bool last = first + here == steps;
                if constexpr (Split)
                    for (i64 p = 0; p < count; ++p) splitPanel(panel + p * b.panelStride + first * kPanel, here, right + p * kRightSteps * kPanel);
                for (i64 r = 0; r < n; r += kPanel) {
                    const i64 high = least(kPanel, n - r);
                    float* const of = tile + (depth > kRightSteps ? r * kPanel : 0);
                    const Strips<MR> strips(high);
                    if (last) next.part();
                    for (i64 s = 0; s < strips.count; ++s)
                        packedStrip<Kind, MR, NP, Flush>(
                            count, strips.height(s), left + (r + strips.begin(s)) * depth + first * factor * strips.height(s),
                            {Split ? right : panel, Split ? kRightSteps * kPanel : b.panelStride, of + strips.begin(s) * kPanel, kPanel, tileFloats},
                            here * factor, first == 0 ? Mode::Fresh : Mode::Carry);
                    if (!last) continue;
                    for (i64 p = 0; p < count; ++p)
                        for (i64 g = 0; g < high; g += kStrip)
                            function(context, of + p * tileFloats + g * kPanel, row + r + g, column + p * kPanel, least(kStrip, high - g),
                                     least(kPanel, width - p * kPanel));
                }
            }
        }
    }
}

template <class Kind, bool Split, int MR, int NP, bool Flush, class Whole>
void storePacked(Rows a, Panels b, i64 rows, i64 columns, i64 steps, float* c, i64 stride, bool addTo) {
    constexpr i64 factor = Split ? 2 : 1, rightWords = kStepsAtOnce * 2 * kPanel;
    if (steps == 0) return storeDirect<Whole>(a, b, rows, columns, steps, c, stride, addTo);
    alignas(64) Word left[kLeftWords + kPanel * kLanes], right[Split ? NP * rightWords : 1];
    alignas(64) float tile[NP * kPanel * kPanel];
    for (i64 first = 0; first < steps; first += kStepsAtOnce) {
        const i64 here = least(kStepsAtOnce, steps - first), depth = here * factor, together = rowsAtOnce(rows, depth);
        const Mode mode = addTo || first > 0 ? Mode::Add : Mode::Fresh;
        for (i64 row = 0; row < rows; row += together) {
            const i64 n = least(together, rows - row);
            packRows<Split, MR>(a, row, n, first, here, left);
            for (i64 column = 0; column < columns; column += NP * kPanel) {
                const Word* panel = b.words + column / kPanel * b.panelStride + first * kPanel;
                const i64 width = least(NP * kPanel, columns - column), count = (width + kPanel - 1) / kPanel;
                Prefetch next(column + NP * kPanel < columns ? panel + NP * b.panelStride : nullptr, here, (n + kPanel - 1) / kPanel);
                if constexpr (Split)
                    for (i64 p = 0; p < count; ++p) splitPanel(panel + p * b.panelStride, here, right + p * rightWords);
                const Word* const from = Split ? right : panel;
                const i64 nextPanel = Split ? rightWords : b.panelStride;
                for (i64 r = 0; r < n; r += kPanel) {
                    const i64 high = least(kPanel, n - r);
                    const Strips<MR> strips(high);
                    next.part();
                    for (i64 s = 0; s < strips.count; ++s) {
                        const i64 begin = strips.begin(s), height = strips.height(s);
                        float* to = c + (row + r + begin) * stride + column;
                        const Word* const rowsOfA = left + (r + begin) * depth;
                        if (width == count * kPanel && begin + height <= high) {
                            packedStrip<Kind, MR, NP, Flush>(count, height, rowsOfA, {from, nextPanel, to, stride, kPanel}, depth, mode);
                            continue;
                        }
                        packedStrip<Kind, MR, NP, Flush>(count, height, rowsOfA, {from, nextPanel, tile, kPanel, kPanel * kPanel}, depth,
                                                         Mode::Fresh);
                        for (i64 p = 0; p < count; ++p)
                            copyTile(tile + p * kPanel * kPanel, least(height, high - begin), least(kPanel, width - p * kPanel), to + p * kPanel,
                                     stride, mode == Mode::Add);
                    }
                }
            }
        }
    }
}

template <class Kind>
constexpr Kernels direct() {
    return {.store = storeDirect<Kind>, .tiles = tilesDirect<Kind>};
}
// MR rows by NP panels.
template <class Kind, int MR, int NP>
constexpr Kernels packed() {
    return {.store = storePacked<Kind, false, MR, NP, false, Kind>, .tiles = tilesPacked<Kind, false, MR, NP, false, Kind>};
}
template <int MR, int NP>
constexpr Kernels split() {
    return {.store = storePacked<Floats, true, MR, NP, (STEPSCOPE_ISA_LEVEL >= 3), Pairs>,
            .tiles = tilesPacked<Floats, true, MR, NP, (STEPSCOPE_ISA_LEVEL >= 3), Pairs>};
}

}  // namespace

extern const gemm::FormTable gemmForms;  // a constant is local to its file otherwise
#if STEPSCOPE_ISA_LEVEL >= 2
const gemm::FormTable gemmForms = {.forms = {
                                       {{"direct", direct<Floats>()}, {"packed-12", packed<Floats, 12, 1>()}, {"packed-6x2", packed<Floats, 6, 2>()}},
                                       {{"direct", direct<Pairs>()},
                                        {"packed-12", packed<Pairs, 12, 1>()},
                                        {"packed-6x2", packed<Pairs, 6, 2>()},
                                        {"split-8", split<8, 1>()},
                                        {"split-12", split<12, 1>()},
                                        {"split-6x2", split<6, 2>()}},
                                   }};
#elif STEPSCOPE_ISA_LEVEL == 1
const gemm::FormTable gemmForms = {.forms = {
                                       {{"direct", direct<Floats>()}, {"packed-6", packed<Floats, 6, 1>()}},
                                       {{"direct", direct<Pairs>()}, {"split-4", split<4, 1>()}, {"split-6", split<6, 1>()}},
                                   }};
#else
const gemm::FormTable gemmForms = {.forms = {{{"direct", direct<Floats>()}}, {{"direct", direct<Pairs>()}}}};
#endif

}  // namespace stepscope::STEPSCOPE_ISA
