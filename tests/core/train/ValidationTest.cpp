// What a validation reads: as many tokens, at the same places, however batches are cut.
#include <gtest/gtest.h>

#include <atomic>

#include "TinyTraining.h"

namespace stepscope {
namespace {

const Registry& theRegistry() {
    static const Registry all(testing::plainCpu());
    return all;
}

// Counts the ids that are read.
class CountingRow final : public TokenRow {
public:
    explicit CountingRow(std::shared_ptr<const TokenRow> row) : m_row(std::move(row)) {}
    std::int64_t size() const override { return m_row->size(); }
    void copy(std::int64_t begin, std::int64_t count, std::int64_t* into) const override {
        read += count;
        m_row->copy(begin, count, into);
    }
    mutable std::atomic<std::int64_t> read{0};

private:
    std::shared_ptr<const TokenRow> m_row;
};

double lossOf(TrainState& state, const BatchSource& batches, std::int64_t batch, std::int64_t tokens, const std::string& fusion = "off",
              std::int64_t context = 12) {
    RunConfig config = testing::tinyConfig(theRegistry());
    config.switches["batch-size"] = batch;
    config.switches["context"] = context;
    config.switches["fusion"] = fusion;
    const auto program = testing::programOver(state, theRegistry(), config);
    return program->evaluate(state, batches, tokens);
}

TrainState trainedState() {
    RunConfig config = testing::tinyConfig(theRegistry());
    TrainState state = TrainState::initialise(theRegistry().modelShape(config, 61), 1);
    const auto program = testing::programOver(state, theRegistry(), config);
    for (int i = 0; i < 20; ++i) program->step(state, *testing::tinyBatches(), 1e-2);
    return state;
}

TEST(Validation, IsTheSameWhateverTheBatchSize) {
    const auto batches = testing::tinyBatches();
    TrainState state = trainedState();
    const double expected = lossOf(state, *batches, 12, 576);
    EXPECT_LT(expected, std::log(61.0) - 0.05) << "a model that has learnt nothing has the same loss everywhere";
    for (const std::string fusion : {"off", "kernels", "step"})
        // 48 sequences: 4, 12 and 48 divide them, 5 and 7 leave some over, 64 is more than there are.
        for (const std::int64_t batch : {4, 12, 48, 5, 7, 64, 1})
            EXPECT_NEAR(lossOf(state, *batches, batch, 576, fusion), expected, 1e-6) << fusion << " " << batch;
}

TEST(Validation, ReadsAsManyTokensWhateverBatchAndContextAre) {
    const auto batches = testing::tinyBatches();
    Corpus corpus = batches->corpus();
    const auto counting = std::make_shared<CountingRow>(corpus.tokens);
    corpus.tokens = counting;
    const BatchSource counted(std::move(corpus));
    TrainState state = trainedState();
    for (const auto& [batch, context] : {std::pair{4, 12}, {12, 12}, {5, 12}, {3, 24}, {2, 6}, {7, 48}}) {
        counting->read = 0;
        lossOf(state, counted, batch, 576, "off", context);
        EXPECT_EQ(counting->read, 2 * 576) << batch << " x " << context << ": inputs and targets";
    }
    counting->read = 0;
    lossOf(state, counted, 4, 1);
    EXPECT_EQ(counting->read, 2 * 12) << "at least a sequence";
}

TEST(Validation, IsBrokenOffBetweenTwoBatchesWhereThatIsAsked) {
    for (const std::string& fusion : {std::string("off"), std::string("step")}) {
        RunConfig config = testing::tinyConfig(theRegistry());
        config.switches["fusion"] = fusion;
        TrainState state = TrainState::initialise(theRegistry().modelShape(config, 61), 1);
        const auto program = testing::programOver(state, theRegistry(), config);
        int asked = 0;
        EXPECT_TRUE(std::isnan(program->evaluate(state, *testing::tinyBatches(), 100'000, [&] { return ++asked == 3; }))) << fusion;
        EXPECT_EQ(asked, 3) << fusion;
        EXPECT_EQ(program->evaluate(state, *testing::tinyBatches(), 96, [] { return false; }), program->evaluate(state, *testing::tinyBatches(), 96));
    }
}

TEST(Validation, MoreTokensAreOtherPlaces) {
    const auto batches = testing::tinyBatches();
    TrainState state = trainedState();
    EXPECT_NE(lossOf(state, *batches, 4, 96), lossOf(state, *batches, 4, 576));
}

}  // namespace
}  // namespace stepscope
