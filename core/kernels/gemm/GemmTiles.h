// The products behind Gemm.h for a unit that multiplies tiles of 16 rows by 16 words of A with 16 words by 16 columns of B and keeps the sums, as AMX
// does (Intel, Architecture Instruction Set Extensions Programming Reference, chapter 3: TDPBF16PS). A panel of B is two such tiles side by side as
// it lies there, and so is A where it is row-major; elsewhere A is brought into tiles first. Four tiles of sums, 32 x 32, are held at a time.
//
// Unit: `Unit unit;` makes it ready on this thread and its end frees it; unit.zero(), unit.load(from, stride) and unit.store(to, stride) the sums;
// unit.multiply(a, rowStride, blockStride, b, blocks) adds `blocks` times 16 words: rows of A are rowStride words apart and its blocks blockStride,
// those of B kPanel words and 16 rows. Sums go by blocks of 16 words in the order of k, whatever a form does, so that all forms give the same bits.
// Included by *.isa.cpp files only.
#pragma once
#include "core/kernels/gemm/GemmParts.h"
#include "core/kernels/isa/Transpose16.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

constexpr i64 kBlockWords = 16;                            // of the summed index
constexpr i64 kBlockRows = 32;                             // of A: two tiles
constexpr i64 kTileWords = kBlockRows * kBlockWords;       // of A, in two tiles one behind the other
constexpr i64 kTiledWords = 128 * 1024, kTiledRows = 256;  // A in tiles: half a MiB of the second-level cache

inline i64 blocksOf(i64 steps) {
    return (steps + kBlockWords - 1) / kBlockWords;
}

// Steps [first, first + steps) of `high` rows that begin at `a`, as tiles: [block][32 rows][16 words], zeros where there is nothing.
inline void tileRows(const Word* a, i64 rowStride, i64 stepStride, i64 steps, i64 high, Word* to) {
    for (i64 k = 0; k < steps; k += kBlockWords, to += kTileWords) {
        const i64 here = least(kBlockWords, steps - k);
        if (kTransposes16 && rowStride == 1 && high == kBlockRows && here == kBlockWords) {
            for (i64 half = 0; half < kBlockRows; half += 16) {
                Words all[16];
                for (int i = 0; i < 16; ++i) all[i] = words(a + (k + i) * stepStride + half);
                transpose16(all);
                for (int i = 0; i < 16; ++i) store(to + (half + i) * kBlockWords, all[i]);
            }
            continue;
        }
        for (i64 r = 0; r < kBlockRows; ++r) {
            Word* row = to + r * kBlockWords;
            const Word* from = a + r * rowStride + k * stepStride;
            if (r < high && stepStride == 1 && here == kBlockWords)
                __builtin_memcpy(row, from, kBlockWords * sizeof(Word));
            else
                for (i64 i = 0; i < kBlockWords; ++i) row[i] = r < high && i < here ? from[i * stepStride] : 0u;
        }
    }
}

// A block of 32 rows of A as the unit reads it.
struct TiledRows {
    const Word* words;
    i64 rowStride, blockStride;  // in words
};

// Rows of A over some steps, in tiles where they do not lie so already. InPlace: row-major rows are read where they are.
template <bool InPlace>
class TiledLeft {
public:
    TiledLeft(const gemm::Rows& a, Word* buffer) : m_a(a), m_buffer(buffer) {}

    void take(i64 row, i64 rows, i64 first, i64 steps) {
        m_row = row, m_first = first, m_blocks = blocksOf(steps);
        for (i64 r = 0; r < rows; r += kBlockRows) {
            const i64 high = least(kBlockRows, rows - r);
            if (!inPlace(high, steps))
                tileRows(rowAt(m_a, row + r) + first * m_a.stepStride, m_a.rowStride, m_a.stepStride, steps, high,
                         m_buffer + r / kBlockRows * tiled());
        }
        m_rows = rows, m_steps = steps;
    }
    // From block `block` of what was taken, r a multiple of 32.
    TiledRows at(i64 r, i64 block) const {
        if (inPlace(least(kBlockRows, m_rows - r), m_steps))
            return {rowAt(m_a, m_row + r) + m_first + block * kBlockWords, m_a.rowStride, kBlockWords};
        return {m_buffer + r / kBlockRows * tiled() + block * kTileWords, kBlockWords, kTileWords};
    }

private:
    bool inPlace(i64 high, i64 steps) const { return InPlace && m_a.stepStride == 1 && high == kBlockRows && steps % kBlockWords == 0; }
    i64 tiled() const { return m_blocks * kTileWords; }

    const gemm::Rows& m_a;
    Word* m_buffer;
    i64 m_row = 0, m_rows = 0, m_first = 0, m_steps = 0, m_blocks = 0;
};

// Adds `steps` words of the panel to the unit's sums. A's tiles hold zeros behind the last step; what lies there in B may be anything.
template <class Unit>
void multiplySome(Unit& unit, const TiledRows& a, const Word* panel, i64 steps) {
    const i64 whole = steps / kBlockWords, rest = steps % kBlockWords;
    unit.multiply(a.words, a.rowStride, a.blockStride, panel, whole);
    if (rest == 0) return;
    alignas(64) Word last[kBlockWords * gemm::kPanel];
    for (i64 i = 0; i < kBlockWords * gemm::kPanel; ++i) last[i] = i < rest * gemm::kPanel ? panel[whole * kBlockWords * gemm::kPanel + i] : 0u;
    unit.multiply(a.words + whole * a.blockStride, a.rowStride, a.blockStride, last, 1);
}

template <class Unit, bool InPlace, i64 Blocks>
void tilesByTiles(gemm::Rows a, gemm::Panels b, i64 rows, i64 columns, i64 steps, gemm::TileFunction function, void* context) {
    constexpr i64 atOnce = Blocks * kBlockWords;
    alignas(64) Word left[kTiledWords];
    alignas(64) float sums[kTiledRows * gemm::kPanel];
    const i64 most = least(kTiledRows, kTiledWords / (blocksOf(steps) * kTileWords + (steps == 0)) * kBlockRows);
    const bool fits = most >= kBlockRows;  // all steps of 32 rows; else each part is brought into tiles when it is needed
    const i64 together = fits ? most : kBlockRows;
    TiledLeft<InPlace> tiled(a, left);
    Unit unit;
    for (i64 row = 0; row < rows; row += together) {
        const i64 n = least(together, rows - row);
        if (fits) tiled.take(row, n, 0, steps);
        for (i64 column = 0; column < columns; column += gemm::kPanel) {
            const Word* panel = b.words + column / gemm::kPanel * b.panelStride;
            const i64 wide = least(gemm::kPanel, columns - column);
            Prefetch next(column + gemm::kPanel < columns ? panel + b.panelStride : nullptr, steps, (n + kBlockRows - 1) / kBlockRows);
            for (i64 first = 0; first < steps || first == 0; first += atOnce) {
                const i64 here = least(atOnce, steps - first);
                const bool last = first + here >= steps;
                if (!fits) tiled.take(row, n, first, here);
                for (i64 r = 0; r < n; r += kBlockRows) {
                    float* const of = sums + (steps > atOnce ? r * gemm::kPanel : 0);  // one place in the cache where nothing has to be kept
                    if (last) next.part();
                    if (first == 0)
                        unit.zero();
                    else
                        unit.load(of, gemm::kPanel);
                    multiplySome(unit, tiled.at(r, fits ? first / kBlockWords : 0), panel + first * gemm::kPanel, here);
                    unit.store(of, gemm::kPanel);
                    if (!last) continue;
                    const i64 high = least(kBlockRows, n - r);
                    for (i64 g = 0; g < high; g += gemm::kStrip)
                        function(context, of + g * gemm::kPanel, row + r + g, column, least(gemm::kStrip, high - g), wide);
                }
            }
        }
    }
}

template <class Unit, bool InPlace, i64 Blocks>
void storeByTiles(gemm::Rows a, gemm::Panels b, i64 rows, i64 columns, i64 steps, float* c, i64 stride, bool addTo) {
    constexpr i64 atOnce = Blocks * kBlockWords;
    static_assert(kTiledRows * atOnce <= kTiledWords);
    alignas(64) Word left[kTiledWords];
    alignas(64) float sums[kBlockRows * gemm::kPanel];
    TiledLeft<InPlace> tiled(a, left);
    Unit unit;
    for (i64 first = 0; first < steps || first == 0; first += atOnce) {
        const i64 here = least(atOnce, steps - first);
        const bool carry = addTo || first > 0;
        for (i64 row = 0; row < rows; row += kTiledRows) {
            const i64 n = least(kTiledRows, rows - row);
            tiled.take(row, n, first, here);
            for (i64 column = 0; column < columns; column += gemm::kPanel) {
                const Word* panel = b.words + column / gemm::kPanel * b.panelStride + first * gemm::kPanel;
                const i64 wide = least(gemm::kPanel, columns - column);
                Prefetch next(column + gemm::kPanel < columns ? panel + b.panelStride : nullptr, here, (n + kBlockRows - 1) / kBlockRows);
                for (i64 r = 0; r < n; r += kBlockRows) {
                    float* to = c + (row + r) * stride + column;
                    const i64 high = least(kBlockRows, n - r);
                    const bool whole = high == kBlockRows && wide == gemm::kPanel;
                    next.part();
                    if (!carry) {
                        unit.zero();
                    } else if (whole) {
                        unit.load(to, stride);
                    } else {
                        for (i64 i = 0; i < kBlockRows; ++i)
                            for (i64 j = 0; j < gemm::kPanel; ++j) sums[i * gemm::kPanel + j] = i < high && j < wide ? to[i * stride + j] : 0.0f;
                        unit.load(sums, gemm::kPanel);
                    }
                    multiplySome(unit, tiled.at(r, 0), panel, here);
                    if (whole) {
                        unit.store(to, stride);
                    } else {
                        unit.store(sums, gemm::kPanel);
                        copyTile(sums, high, wide, to, stride, false);
                    }
                }
            }
        }
    }
}

// Blocks of 16 words of a panel of B that are worked on at a time, 2 KiB each, so that they and as many of A stay in the first-level cache.
template <class Unit, bool InPlace, i64 Blocks>
constexpr gemm::Kernels byTiles() {
    return {.store = storeByTiles<Unit, InPlace, Blocks>, .tiles = tilesByTiles<Unit, InPlace, Blocks>};
}

}  // namespace
}  // namespace stepscope::STEPSCOPE_ISA
