// Holds the CPU embedding against its plain reference, to the bit, and that against sums written out by hand. Run by CTest under every
// instruction set.
#include "Numbers.h"
#include "core/kernels/embedding/Embedding.h"

namespace stepscope {
namespace {

using testing::numbers;

const std::vector<std::int64_t> kIds{4, 0, 4, 2, 4, 1};

TEST(Embedding, IsTheRowOfTheTokenAndOfItsPositionAndSumsTheirGradients) {
    const EmbeddingShape shape{.rows = 3, .context = 2, .columns = 2};
    const std::vector<std::int64_t> ids{1, 0, 1};
    const std::vector<float> wte{1, 2, 3, 4}, wpe{10, 20, 30, 40}, gradOut{1, 2, 4, 8, 16, 32};
    std::vector<float> out(6), gradWte(4, 100.0f), gradWpe(4);
    embeddingForward(shape, ids, wte, wpe, out);
    EXPECT_EQ(out, (std::vector<float>{13, 24, 31, 42, 13, 24}));
    embeddingForward(shape, ids, wte, {}, out);
    EXPECT_EQ(out, (std::vector<float>{3, 4, 1, 2, 3, 4}));
    embeddingBackward(shape, ids, gradOut, gradWte, gradWpe);
    EXPECT_EQ(gradWte, (std::vector<float>{104, 108, 117, 134}));
    EXPECT_EQ(gradWpe, (std::vector<float>{17, 34, 4, 8}));
}

TEST(EmbeddingCpu, AddsTheRowOfTheTokenAndTheRowOfItsPosition) {
    for (const std::int64_t columns : {1L, 16L, 21L, 35L}) {
        const auto C = static_cast<std::size_t>(columns);
        const EmbeddingShape shape{.rows = 6, .context = 3, .columns = columns};
        const auto wte = numbers<float>(5 * C, 1), wpe = numbers<float>(3 * C, 2);
        std::vector<float> both(6 * C), tokensOnly(6 * C);
        embeddingCpu().forward(shape, kIds.data(), wte.data(), wpe.data(), both.data(), 0, 4);
        embeddingCpu().forward(shape, kIds.data(), wte.data(), wpe.data(), both.data(), 4, 6);
        embeddingCpu().forward(shape, kIds.data(), wte.data(), nullptr, tokensOnly.data(), 0, 6);
        std::vector<float> wanted(6 * C);
        embeddingForward(shape, kIds, wte, wpe, wanted);
        EXPECT_EQ(both, wanted);
        embeddingForward(shape, kIds, wte, {}, wanted);
        EXPECT_EQ(tokensOnly, wanted);
    }
}

TEST(EmbeddingCpu, SumsGradientsOfEqualIdsToTheSameBitsHoweverTheColumnsAreShared) {
    const EmbeddingShape shape{.rows = 6, .context = 3, .columns = 37};
    const auto g = numbers<float>(6 * 37, 3);
    std::vector<float> whole(5 * 37, 1.0f), parts = whole, positions(3 * 37), positionsOfParts = positions, wanted = whole,
                                            wantedPositions = positions;
    embeddingCpu().backward(shape, kIds.data(), g.data(), whole.data(), positions.data(), 0, 37);
    for (const auto& [begin, end] : {std::pair{0, 5}, std::pair{5, 22}, std::pair{22, 37}})
        embeddingCpu().backward(shape, kIds.data(), g.data(), parts.data(), positionsOfParts.data(), begin, end);
    embeddingBackward(shape, kIds, g, wanted, wantedPositions);
    EXPECT_EQ(whole, wanted);
    EXPECT_EQ(parts, wanted);
    EXPECT_EQ(positions, wantedPositions);
    EXPECT_EQ(positionsOfParts, wantedPositions);
}

}  // namespace
}  // namespace stepscope
