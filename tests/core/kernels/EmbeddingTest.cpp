// Holds the CPU embedding against plain loops written here: there is no arithmetic in it but additions. Run by CTest under every
// instruction set.
#include "Numbers.h"
#include "core/kernels/embedding/EmbeddingCpu.h"

namespace stepscope {
namespace {

using testing::numbers;

const std::vector<std::int64_t> kIds{4, 0, 4, 2, 4, 1};

TEST(EmbeddingCpu, AddsTheRowOfTheTokenAndTheRowOfItsPosition) {
    for (const std::int64_t columns : {1L, 16L, 21L, 35L}) {
        const auto C = static_cast<std::size_t>(columns);
        const EmbeddingShape shape{.rows = 6, .context = 3, .columns = columns};
        const auto wte = numbers<float>(5 * C, 1), wpe = numbers<float>(3 * C, 2);
        std::vector<float> both(6 * C), tokensOnly(6 * C);
        embeddingCpu().forward(shape, kIds.data(), wte.data(), wpe.data(), both.data(), 0, 4);
        embeddingCpu().forward(shape, kIds.data(), wte.data(), wpe.data(), both.data(), 4, 6);
        embeddingCpu().forward(shape, kIds.data(), wte.data(), nullptr, tokensOnly.data(), 0, 6);
        for (std::size_t r = 0; r < 6; ++r)
            for (std::size_t c = 0; c < C; ++c) {
                const float token = wte[static_cast<std::size_t>(kIds[r]) * C + c];
                EXPECT_EQ(both[r * C + c], token + wpe[r % 3 * C + c]);
                EXPECT_EQ(tokensOnly[r * C + c], token);
            }
    }
}

TEST(EmbeddingCpu, SumsGradientsOfEqualIdsToTheSameBitsHoweverTheColumnsAreShared) {
    const EmbeddingShape shape{.rows = 6, .context = 3, .columns = 37};
    const auto g = numbers<float>(6 * 37, 3);
    std::vector<float> whole(5 * 37, 1.0f), parts = whole, positions(3 * 37), positionsOfParts = positions, wanted = whole;
    embeddingCpu().backward(shape, kIds.data(), g.data(), whole.data(), positions.data(), 0, 37);
    for (const auto& [begin, end] : {std::pair{0, 5}, std::pair{5, 22}, std::pair{22, 37}})
        embeddingCpu().backward(shape, kIds.data(), g.data(), parts.data(), positionsOfParts.data(), begin, end);
    for (std::size_t r = 0; r < 6; ++r)
        for (std::size_t c = 0; c < 37; ++c) wanted[static_cast<std::size_t>(kIds[r]) * 37 + c] += g[r * 37 + c];
    EXPECT_EQ(whole, wanted);
    EXPECT_EQ(parts, wanted);
    EXPECT_EQ(positions, positionsOfParts);
    for (std::size_t t = 0; t < 3; ++t)
        for (std::size_t c = 0; c < 37; ++c) EXPECT_EQ(positions[t * 37 + c], g[t * 37 + c] + g[(t + 3) * 37 + c]);
}

}  // namespace
}  // namespace stepscope
