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
    GptConfig config;
    ParameterLayout layout{config};
    at::Tensor weights = at::zeros({layout.size()}, at::TensorOptions().dtype(at::kFloat));

    explicit Model(const GptConfig& shape = {.layers = 2, .heads = 2, .width = 12, .vocabulary = 20, .paddedVocabulary = 20, .positions = 8})
        : config(shape) {
        for (std::size_t s = 0; s < layout.slots().size(); ++s) {
            const auto& slot = layout.slots()[s];
            // Matrices of different sizes, or all together and each alone would be the same.
            for (std::int64_t i = 0; i < slot.count; ++i)
                at(slot, i) = static_cast<float>((1.0 + static_cast<double>(s)) *
                                                 (static_cast<double>(counterRandom(2, s, static_cast<std::uint64_t>(i)) >> 11) * 0x1p-53 - 0.5));
        }
    }
    float& at(const ParameterSlot& slot, std::int64_t i) { return weights.data_ptr<float>()[slot.offset + i]; }
    // How many of all weights differ.
    std::int64_t changed(Model& from) {
        std::int64_t count = 0;
        for (std::int64_t i = 0; i < layout.size(); ++i) count += weights.data_ptr<float>()[i] != from.weights.data_ptr<float>()[i];
        return count;
    }
    std::int64_t zeros(const ParameterSlot& slot) {
        std::int64_t count = 0;
        for (std::int64_t i = 0; i < slot.count; ++i) count += at(slot, i) == 0;
        return count;
    }
};

TEST(Pruning, TakesTheSmallestOfAllMatricesOfTheBlocks) {
    Model before, after;
    const auto count = prune(after.weights, after.layout, after.config, {.share = 0.3});
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
    prune(model.weights, model.layout, model.config, {.share = 0.25, .scope = PruneScope::Layer});
    for (const auto& slot : model.layout.slots())
        if (slot.linear) {
            EXPECT_EQ(model.zeros(slot), std::llround(0.25 * static_cast<double>(slot.count))) << slot.name;
        }
}

TEST(Pruning, KeepsTheLargestOfEachFewNeighboursAlongARow) {
    Model before, after;
    const auto count = prune(after.weights, after.layout, after.config, *patternNamed("2:4"));
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

// Each head's own rows of query, key and value and columns of the projection are set to `size` times its number, counted from 1 and backwards, so
// that the last head of the last layer is the smallest.
void sizeHeads(Model& model) {
    const std::int64_t width = model.config.width, size = model.config.headWidth();
    for (std::int64_t layer = 0; layer < model.config.layers; ++layer)
        for (std::int64_t head = 0; head < model.config.heads; ++head) {
            const auto value = static_cast<float>(model.config.layers * model.config.heads - (layer * model.config.heads + head));
            const std::string block = "h." + std::to_string(layer) + ".attn.";
            for (const char* name : {"c_attn", "q_proj", "k_proj", "v_proj"}) {
                const bool fused = std::string(name) == "c_attn";
                if (fused == model.config.splitQkv) continue;
                const auto& slot = model.layout.slot(block + name + ".weight");
                for (std::int64_t part = 0; part < (fused ? 3 : 1); ++part)
                    for (std::int64_t i = 0; i < size * width; ++i) model.at(slot, (part * width + head * size) * width + i) = value;
            }
            const auto& out = model.layout.slot(block + "c_proj.weight");
            for (std::int64_t row = 0; row < width; ++row)
                for (std::int64_t column = 0; column < size; ++column) model.at(out, row * width + head * size + column) = value;
        }
}

TEST(Pruning, TakesTheSmallestHeadsWholeAndNothingElse) {
    for (const bool split : {false, true}) {
        GptConfig config = Model().config;
        config.splitQkv = split;
        Model before(config), after(config);
        sizeHeads(before);
        sizeHeads(after);
        const std::int64_t own = 4 * config.width * config.headWidth();
        const auto norms = headNorms(before.weights, before.layout, config);
        ASSERT_EQ(norms.size(), 4u);
        for (std::size_t i = 0; i < norms.size(); ++i)
            EXPECT_NEAR(norms[i], static_cast<double>(4 - i) * std::sqrt(static_cast<double>(own)), 1e-6) << "the root of the sum of squares";
        const auto count = prune(after.weights, after.layout, config, {.share = 0.25, .scope = PruneScope::Heads});
        EXPECT_EQ(count.heads, 1);
        EXPECT_EQ(count.zeros, own);
        const auto left = headNorms(after.weights, after.layout, config);
        EXPECT_EQ(left[3], 0) << "the last of the last layer";
        for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(left[i], norms[i]) << "no weight of another head";
        EXPECT_EQ(after.changed(before), own) << "nor of anything else";
    }
}

// What a pruned head has to say is nothing, whatever its biases are: the block is as if the head were not there.
TEST(Pruning, APrunedHeadsColumnsOfTheProjectionAreZero) {
    Model model;
    sizeHeads(model);
    prune(model.weights, model.layout, model.config, {.share = 0.5, .scope = PruneScope::Heads});
    const std::int64_t width = model.config.width;
    for (const char* name : {"h.0.attn.c_proj.weight", "h.1.attn.c_proj.weight"}) {
        const auto& out = model.layout.slot(name);
        for (std::int64_t i = 0; i < width * width; ++i) EXPECT_EQ(model.at(out, i) == 0, std::string(name).starts_with("h.1")) << name << " " << i;
    }
}

TEST(Pruning, TakesExactlyAsManyWhereWeightsAreEqual) {
    Model model;
    model.weights.fill_(0.5);
    const auto count = prune(model.weights, model.layout, model.config, {.share = 0.5});
    EXPECT_EQ(count.zeros, std::llround(0.5 * static_cast<double>(count.weights)));
    EXPECT_EQ(prune(model.weights, model.layout, model.config, {.share = 0}).zeros, count.zeros) << "zeros of before are counted";
}

TEST(Pruning, KnowsTheWordsOfItsScopes) {
    for (const PruneScope scope : kAllPruneScopes) EXPECT_EQ(*pruneScopeNamed(toString(scope)), scope);
    EXPECT_FALSE(pruneScopeNamed("all").ok());
}

TEST(Pruning, RefusesWhatIsNoPattern) {
    for (const char* word : {"", "2", "4:2", "2:2", "0:4", "2:4:8", "a:b", "-1:4", "2:100"}) EXPECT_FALSE(patternNamed(word).ok()) << word;
    EXPECT_EQ(patternNamed("1:3")->of, 3);
}

}  // namespace
}  // namespace stepscope
