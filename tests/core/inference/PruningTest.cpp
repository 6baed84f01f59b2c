// Which weights become zeros: the smallest of all, of each matrix, of each few neighbours; nothing else is touched.
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/CounterRandom.h"
#include "core/inference/Pruning.h"

namespace stepscope {
namespace {

struct Model {
    GptConfig config{.layers = 2, .heads = 2, .width = 12, .vocabulary = 20, .paddedVocabulary = 20, .positions = 8};
    ParameterLayout layout{config};
    at::Tensor weights = at::zeros({layout.size()}, at::TensorOptions().dtype(at::kFloat));

    Model() {
        for (std::size_t s = 0; s < layout.slots().size(); ++s) {
            const auto& slot = layout.slots()[s];
            // Matrices of different sizes, or all together and each alone would be the same.
            for (std::int64_t i = 0; i < slot.count; ++i)
                at(slot, i) = static_cast<float>((1.0 + static_cast<double>(s)) *
                                                 (static_cast<double>(counterRandom(2, s, static_cast<std::uint64_t>(i)) >> 11) * 0x1p-53 - 0.5));
        }
    }
    float& at(const ParameterSlot& slot, std::int64_t i) { return weights.data_ptr<float>()[slot.offset + i]; }
    std::int64_t zeros(const ParameterSlot& slot) {
        std::int64_t count = 0;
        for (std::int64_t i = 0; i < slot.count; ++i) count += at(slot, i) == 0;
        return count;
    }
};

TEST(Pruning, TakesTheSmallestOfAllMatricesOfTheBlocks) {
    Model before, after;
    const auto count = prune(after.weights, after.layout, {.share = 0.3});
    EXPECT_EQ(count.zeros, std::llround(0.3 * static_cast<double>(count.weights)));
    float largestGone = 0, smallestLeft = 1e9f;
    bool even = true;
    for (const auto& slot : after.layout.slots()) {
        if (!slot.linear) {
            EXPECT_EQ(after.zeros(slot), before.zeros(slot)) << slot.name;
            continue;
        }
        even = even && std::llround(0.3 * static_cast<double>(slot.count)) == after.zeros(slot);
        for (std::int64_t i = 0; i < slot.count; ++i) {
            const float size = std::fabs(before.at(slot, i));
            if (after.at(slot, i) == 0)
                largestGone = std::max(largestGone, size);
            else
                smallestLeft = std::min(smallestLeft, size);
        }
    }
    EXPECT_LE(largestGone, smallestLeft);
    EXPECT_FALSE(even) << "matrices of small weights lose more";
}

TEST(Pruning, TakesTheSameShareOfEachMatrixWhereAskedTo) {
    Model model;
    prune(model.weights, model.layout, {.share = 0.25, .eachMatrix = true});
    for (const auto& slot : model.layout.slots())
        if (slot.linear) {
            EXPECT_EQ(model.zeros(slot), std::llround(0.25 * static_cast<double>(slot.count))) << slot.name;
        }
}

TEST(Pruning, KeepsTheLargestOfEachFewNeighboursAlongARow) {
    Model before, after;
    const auto count = prune(after.weights, after.layout, *patternNamed("2:4"));
    EXPECT_EQ(count.zeros * 2, count.weights);
    for (const auto& slot : after.layout.slots()) {
        if (!slot.linear) continue;
        for (std::int64_t first = 0; first < slot.count; first += 4) {
            std::vector<float> gone, left;
            for (std::int64_t i = first; i < first + 4; ++i) (after.at(slot, i) == 0 ? gone : left).push_back(std::fabs(before.at(slot, i)));
            ASSERT_EQ(gone.size(), 2u);
            EXPECT_LE(*std::max_element(gone.begin(), gone.end()), *std::min_element(left.begin(), left.end()));
        }
    }
}

TEST(Pruning, TakesExactlyAsManyWhereWeightsAreEqual) {
    Model model;
    model.weights.fill_(0.5);
    const auto count = prune(model.weights, model.layout, {.share = 0.5});
    EXPECT_EQ(count.zeros, std::llround(0.5 * static_cast<double>(count.weights)));
    EXPECT_EQ(prune(model.weights, model.layout, {.share = 0}).zeros, count.zeros) << "zeros of before are counted";
}

TEST(Pruning, RefusesWhatIsNoPattern) {
    for (const char* word : {"", "2", "4:2", "2:2", "0:4", "2:4:8", "a:b", "-1:4", "2:100"}) EXPECT_FALSE(patternNamed(word).ok()) << word;
    EXPECT_EQ(patternNamed("1:3")->of, 3);
}

}  // namespace
}  // namespace stepscope
