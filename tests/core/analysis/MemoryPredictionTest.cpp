// The prediction of memory on paper: what must follow from the sizes, whatever the machine. Against a real run: tests/core/train.
#include <gmock/gmock.h>

#include "core/analysis/MemoryPrediction.h"
#include "core/base/SizeClasses.h"

namespace stepscope {
namespace {

constexpr double kMega = 1e6;

RunConfig config(std::vector<std::pair<std::string, Value>> changes = {}) {
    RunConfig made;
    made.layers = 3;
    made.heads = 4;
    made.width = 64;
    made.switches = {{"device", std::string("cpu")},         {"amp", std::string("off")},         {"attention", std::string("auto")},
                     {"host-memory", std::string("system")}, {"optimizer", std::string("fused")}, {"zero-grad", std::string("set-to-none")},
                     {"batch-size", std::int64_t{8}},        {"context", std::int64_t{128}},      {"grad-accumulation", std::int64_t{1}}};
    for (auto& [key, value] : changes) made.switches[key] = value;
    return made;
}

ModelSizes sizesOf(std::int64_t vocabulary) {
    return {(vocabulary + 128) * 64 + 3 * (12 * 64 * 64 + 13 * 64) + 2 * 64, vocabulary, 256, 256};
}

double tensors(std::vector<std::pair<std::string, Value>> changes, std::int64_t vocabulary = 256) {
    return static_cast<double>(predictMemory(config(std::move(changes)), sizesOf(vocabulary)).tensors.count);
}

TEST(AllocationTrace, RemembersWhatWasThereAtTheWorstMoment) {
    AllocationTrace trace(false);
    auto weights = trace.take(MemoryKind::Weights, 10), logits = trace.take(MemoryKind::Logits, 5);
    trace.drop(logits);
    trace.touch(MemoryKind::Scratch, 3);
    EXPECT_EQ(trace.peak(), 15);
    EXPECT_EQ(trace.atPeak()[static_cast<std::size_t>(MemoryKind::Logits)], 5);
    trace.touch(MemoryKind::Scratch, 6);
    EXPECT_EQ(trace.peak(), 16);
    EXPECT_EQ(trace.atPeak()[static_cast<std::size_t>(MemoryKind::Logits)], 0);
    trace.drop(weights);
    EXPECT_EQ(weights, AllocationTrace::kNone);
    trace.drop(weights);
    EXPECT_EQ(trace.peak(), 16);
}

TEST(AllocationTrace, KeepsFreedBlocksOfOneSizeFromServingAnother) {
    for (const bool caching : {true, false}) {
        AllocationTrace trace(caching);
        for (const double bytes : {4 * kMega, 8 * kMega, 16 * kMega}) trace.touch(MemoryKind::Mlp, bytes);
        EXPECT_EQ(trace.peak(), 16 * kMega);
        EXPECT_GT(trace.held(), 28 * kMega);
        EXPECT_LT(trace.held(), 28 * kMega + (caching ? 3.0 * size_classes::kHugePage : 1000));
    }
}

TEST(AllocationTrace, GivesVeryLargeBlocksBackWithoutTheCachingAllocator) {
    AllocationTrace system(false), caching(true);
    for (const double bytes : {40 * kMega, 80 * kMega}) system.touch(MemoryKind::Logits, bytes), caching.touch(MemoryKind::Logits, bytes);
    EXPECT_EQ(system.held(), 80 * kMega);
    EXPECT_GT(caching.held(), 120 * kMega);
}

TEST(MemoryPrediction, HoldsTheStateAndItsPartsAddUp) {
    const auto predicted = predictMemory(config(), sizesOf(1000));
    const std::int64_t parameters = (1000 + 128) * 64 + 3 * (12 * 64 * 64 + 13 * 64) + 2 * 64;
    EXPECT_EQ(predicted.of(MemoryKind::Weights).count, 4 * parameters);
    EXPECT_EQ(predicted.of(MemoryKind::Moments).count, 8 * parameters);
    std::int64_t sum = 0;
    for (const Bytes part : predicted.byKind) sum += part.count;
    EXPECT_EQ(sum, predicted.tensors.count);
    EXPECT_GE(predicted.kept.count, 0);
    EXPECT_EQ(predicted.of(MemoryKind::LowWeights).count, 0);
    EXPECT_GT(predictMemory(config({{"amp", std::string("bf16")}}), sizesOf(1000)).of(MemoryKind::LowWeights).count, 0);
}

TEST(MemoryPrediction, TablesOfScoresGrowWithTheSquareOfTheContext) {
    const auto extra = [](std::int64_t context) {
        return tensors({{"attention", std::string("manual")}, {"context", context}}) - tensors({{"context", context}});
    };
    // Three layers keep one float32 table each; backward's temporaries add some of the same size.
    const double table = 4.0 * 8 * 4 * 1024 * 1024;
    EXPECT_GT(extra(1024), 3 * table);
    EXPECT_LT(extra(1024), 6 * table);
    EXPECT_NEAR(extra(2048) / extra(1024), 4, 0.3);
}

TEST(MemoryPrediction, AccumulationCostsTheGradientsAndNotMore) {
    const double parameters = 4.0 * ((256 + 128) * 64 + 3 * (12 * 64 * 64 + 13 * 64) + 2 * 64);
    const double one = tensors({});
    EXPECT_NEAR(tensors({{"grad-accumulation", std::int64_t{2}}}) - one, parameters, 0.05 * parameters);
    EXPECT_EQ(tensors({{"grad-accumulation", std::int64_t{2}}}), tensors({{"grad-accumulation", std::int64_t{50}}}));
    EXPECT_NEAR(tensors({{"zero-grad", std::string("zero")}}) - one, parameters, 0.05 * parameters);
}

TEST(MemoryPrediction, CountsTheBatchesThatTheLoaderKeepsReady) {
    const auto with = [](std::int64_t workers, std::int64_t prefetch) {
        return predictMemory(config({{"loader-workers", workers}, {"loader-prefetch", prefetch}}), sizesOf(256)).of(MemoryKind::Batches).count;
    };
    constexpr std::int64_t kBatch = 2 * 8 * 8 * 128;
    EXPECT_EQ(with(0, 16), kBatch);
    EXPECT_EQ(with(2, 16), 19 * kBatch);
}

TEST(MemoryPrediction, DoesNotOverflowWhateverIsTyped) {
    RunConfig huge =
        config({{"batch-size", std::int64_t{1'000'000'000}}, {"context", std::int64_t{1'000'000}}, {"attention", std::string("manual")}});
    huge.width = 100'000;
    huge.layers = 1000;
    const auto predicted = predictMemory(huge, {std::int64_t{1} << 62, 10'000'000, 400'000, 400'000});
    EXPECT_GT(predicted.total().count, std::int64_t{1} << 60);
    EXPECT_GE(predicted.kept.count, 0);
}

TEST(MemoryPrediction, NamesTheLargestPartsFirst) {
    const std::string text = describeParts(predictMemory(config(), sizesOf(50'257)));
    EXPECT_THAT(text, ::testing::StartsWith("logits and loss"));
    EXPECT_THAT(text, ::testing::HasSubstr("moments"));
    EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("copies")));
}

TEST(MemoryPrediction, TheWeightsThatAPlannedStepPacksAreCopiesInAnyPrecision) {
    for (const char* amp : {"off", "bf16"}) {
        const std::string text = describeParts(predictMemory(config({{"fusion", std::string("step")}, {"amp", std::string(amp)}}), sizesOf(256)));
        EXPECT_THAT(text, ::testing::HasSubstr("copies of the weights")) << amp;
        EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("bf16"))) << amp;
    }
}

}  // namespace
}  // namespace stepscope
