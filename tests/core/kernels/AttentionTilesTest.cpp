// Attention's products by tiles against sums in double, on every processor.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "core/kernels/isa/Bf16.h"
#include "tests/core/kernels/AttentionTilesTable.h"

namespace stepscope {
namespace {

double sumOf(std::uint32_t a, std::uint32_t b) {
    double sum = 0;
    for (const int shift : {0, 16})
        sum += static_cast<double>(toFloat(Bf16{static_cast<std::uint16_t>(a >> shift)})) *
               static_cast<double>(toFloat(Bf16{static_cast<std::uint16_t>(b >> shift)}));
    return sum;
}

std::vector<std::uint32_t> wordsOf(std::int64_t count, std::mt19937& random) {
    std::uniform_real_distribution<float> draw(-1, 1);
    std::vector<std::uint32_t> all(static_cast<std::size_t>(count));
    for (auto& word : all) word = toBf16(draw(random)).bits | static_cast<std::uint32_t>(toBf16(draw(random)).bits) << 16;
    return all;
}

// Rows of every number of tiles, whole and not; columns of one tile and several; with what is left of the units where the set multiplies pairs.
TEST(AttentionTiles, GiveTheProductWhetherRowsLieBesideOrBelowEachOther) {
    const TiledProduct& product = STEPSCOPE_PICK_ISA(tiledProduct);
    constexpr std::int64_t kRows = 64, kColumns = 80, kUnits = 48;  // room for the next multiples of 16
    std::mt19937 random(3);
    for (const std::int64_t rows : {1, 16, 17, 32, 40, 64})
        for (const std::int64_t columns : {16, 32, 48, 80})
            for (const std::int64_t units : {16, 24, 32, 3})
                for (const bool below : {true, false})
                    for (const bool add : {false, true}) {
                        if (units % 16 != 0 && !product.pairs) continue;
                        const std::int64_t row = below ? kUnits : 1, place = below ? 1 : kRows;
                        const auto a = wordsOf(kRows * kUnits, random), b = wordsOf(kUnits * kColumns, random);
                        std::vector<float> c(kRows * kColumns, 0.5f);
                        product.run(rows, columns, units, a.data(), row, place, b.data(), kColumns, c.data(), kColumns, add);
                        for (std::int64_t r = 0; r < rows; ++r)
                            for (std::int64_t n = 0; n < columns; ++n) {
                                double sum = add ? 0.5 : 0;
                                for (std::int64_t p = 0; p < units; ++p)
                                    sum += sumOf(a[static_cast<std::size_t>(r * row + p * place)], b[static_cast<std::size_t>(p * kColumns + n)]);
                                ASSERT_NEAR(c[static_cast<std::size_t>(r * kColumns + n)], sum, 1e-4)
                                    << rows << "x" << columns << "x" << units << (below ? " rows below" : " rows beside") << (add ? ", added" : "");
                            }
                        for (std::size_t i = 0; i < c.size(); ++i) {
                            const bool beyond = static_cast<std::int64_t>(i) % kColumns >= columns;  // somebody else's
                            if (beyond) {
                                ASSERT_EQ(c[i], 0.5f);
                            }
                        }
                    }
}

}  // namespace
}  // namespace stepscope
