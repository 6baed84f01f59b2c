// Attention's products by a unit that multiplies tiles, AMX's or a test's: units of two Bf16 are its words, and the operands lie as the pair product
// has them. Included by *.isa.cpp files only.
#pragma once
#include "core/kernels/attention/AttentionTile.h"
#include "core/kernels/isa/Amx.h"
#include "core/kernels/isa/Transpose16.h"

namespace stepscope::STEPSCOPE_ISA {

constexpr std::int64_t kTileSide = 16;  // rows of A, words and columns of a tile

// 16 words of R tiles of A whose rows lie side by side (row 1, place `place` apart), as tiles one below the other.
template <int R>
STEPSCOPE_INLINE void turn(const Unit* a, std::int64_t place, Unit* to) {
    for (std::int64_t half = 0; half < R; ++half) {
        if constexpr (kTransposes16) {
            Words all[16];
            for (int i = 0; i < 16; ++i) all[i] = words(a + i * place + half * kTileSide);
            transpose16(all);
            for (int i = 0; i < 16; ++i) store(to + (half * kTileSide + i) * kTileSide, all[i]);
        } else {
            for (std::int64_t r = 0; r < kTileSide; ++r)
                for (std::int64_t i = 0; i < kTileSide; ++i) to[(half * kTileSide + r) * kTileSide + i] = a[i * place + half * kTileSide + r];
        }
    }
}

template <class Tiles, int R, int C>
STEPSCOPE_INLINE void tilesOf(Tiles& tiles, std::int64_t blocks, Rows a, const Unit* b, std::int64_t bRow, float* c, std::int64_t cRow, bool add) {
    alignas(64) Unit turned[R * kTileSide * kTileSide];
    if (add)
        tiles.template load<R, C>(c, cRow);
    else
        tiles.template zero<R, C>();
    for (std::int64_t block = 0; block < blocks; ++block, a.at += kTileSide * a.place, b += kTileSide * bRow) {
        if (a.place != 1) turn<R>(a.at, a.place, turned);
        tiles.template multiply<R, C>(a.place == 1 ? a.at : turned, a.place == 1 ? a.row : kTileSide, b, bRow);
    }
    tiles.template store<R, C>(c, cRow);
}

// product() of AttentionTile.h for units of two Bf16. Rows of A and c are read and written up to the next multiple of 16, where there may be
// anything: c's are nobody's. What is left of the units goes by the pair product.
template <class Tiles, class T>
__attribute__((noinline)) void productByTiles(Tiles& tiles, std::int64_t rows, std::int64_t columns, std::int64_t units, Rows a, const Unit* b,
                                              std::int64_t bRow, float* c, std::int64_t cRow, bool add) {
    const std::int64_t blocks = units / kTileSide, done = blocks * kTileSide;
    for (std::int64_t r = 0; blocks > 0 && r < rows; r += 2 * kTileSide)
        for (std::int64_t n = 0; n < columns; n += 2 * kTileSide) {
            const Rows from{a.at + r * a.row, a.row, a.place};
            float* to = c + r * cRow + n;
            if (rows - r > kTileSide && columns - n > kTileSide)
                tilesOf<Tiles, 2, 2>(tiles, blocks, from, b + n, bRow, to, cRow, add);
            else if (rows - r > kTileSide)
                tilesOf<Tiles, 2, 1>(tiles, blocks, from, b + n, bRow, to, cRow, add);
            else if (columns - n > kTileSide)
                tilesOf<Tiles, 1, 2>(tiles, blocks, from, b + n, bRow, to, cRow, add);
            else
                tilesOf<Tiles, 1, 1>(tiles, blocks, from, b + n, bRow, to, cRow, add);
        }
    if (done < units || blocks == 0)
        product<T, Way::Units>(rows, columns, units - done, {a.at + done * a.place, a.row, a.place}, b + done * bRow, bRow, c, cRow,
                               add || blocks > 0);
}

// The products of one call of a direction, in its way; arguments as product()'s.
template <class T, Way W>
struct Products {
    STEPSCOPE_INLINE void operator()(std::int64_t rows, std::int64_t columns, std::int64_t units, Rows a, const Unit* b, std::int64_t bRow, float* c,
                                     std::int64_t cRow, bool add) {
        product<T, W>(rows, columns, units, a, b, bRow, c, cRow, add);
    }
};
#if STEPSCOPE_ISA_LEVEL >= 3
template <class T>
struct Products<T, Way::Tiles> {
    AmxTiles tiles;
    STEPSCOPE_INLINE void operator()(std::int64_t rows, std::int64_t columns, std::int64_t units, Rows a, const Unit* b, std::int64_t bRow, float* c,
                                     std::int64_t cRow, bool add) {
        productByTiles<AmxTiles, T>(tiles, rows, columns, units, a, b, bRow, c, cRow, add);
    }
};
#endif

}  // namespace stepscope::STEPSCOPE_ISA
