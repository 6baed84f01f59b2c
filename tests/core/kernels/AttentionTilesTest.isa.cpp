// Attention's products by tiles (AttentionByTiles.h) over tiles in plain C++, so that they are tested where no processor has them.
#include "core/kernels/attention/AttentionByTiles.h"
#include "tests/core/kernels/AttentionTilesTable.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

float half(Unit word, bool high) {
    const Unit bits = high ? word & 0xffff0000u : word << 16;
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

struct PlainTiles {
    float sums[32][32];

    template <int R, int C>
    void zero() {
        __builtin_memset(sums, 0, sizeof sums);
    }
    template <int R, int C>
    void load(const float* from, std::int64_t stride) {
        for (std::int64_t r = 0; r < 16 * R; ++r)
            for (std::int64_t c = 0; c < 16 * C; ++c) sums[r][c] = from[r * stride + c];
    }
    template <int R, int C>
    void store(float* to, std::int64_t stride) {
        for (std::int64_t r = 0; r < 16 * R; ++r)
            for (std::int64_t c = 0; c < 16 * C; ++c) to[r * stride + c] = sums[r][c];
    }
    template <int R, int C>
    void multiply(const Unit* a, std::int64_t rowOfA, const Unit* b, std::int64_t rowOfB) {
        for (std::int64_t r = 0; r < 16 * R; ++r)
            for (std::int64_t c = 0; c < 16 * C; ++c)
                for (std::int64_t k = 0; k < 16; ++k)
                    sums[r][c] += half(a[r * rowOfA + k], false) * half(b[k * rowOfB + c], false) +
                                  half(a[r * rowOfA + k], true) * half(b[k * rowOfB + c], true);
    }
};

void run(std::int64_t rows, std::int64_t columns, std::int64_t units, const std::uint32_t* a, std::int64_t row, std::int64_t place,
         const std::uint32_t* b, std::int64_t bRow, float* c, std::int64_t cRow, bool add) {
    PlainTiles tiles;
    productByTiles<PlainTiles, Bf16>(tiles, rows, columns, units, {a, row, place}, b, bRow, c, cRow, add);
}

}  // namespace

const TiledProduct tiledProduct{run, kPairs<Bf16>};

}  // namespace stepscope::STEPSCOPE_ISA
