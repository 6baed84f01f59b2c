// The prediction of memory on paper: what must follow from the sizes, whatever the machine. Against a real run: tests/core/train.
#include <gmock/gmock.h>

#include <functional>

#include "core/base/SizeClasses.h"
#include "core/prediction/MemoryPrediction.h"

namespace stepscope {
namespace {

constexpr double kMega = 1e6;

using Change = std::function<void(RunPlan&)>;

RunPlan planWith(const Change& change = [](RunPlan&) {}) {
    RunPlan made{.hostMemory = HostMemory::System, .batchSize = 8, .context = 128};
    made.config.layers = 3;
    made.config.heads = 4;
    made.config.width = 64;
    change(made);
    return made;
}

ModelSizes sizesOf(std::int64_t vocabulary) {
    return {(vocabulary + 128) * 64 + 3 * (12 * 64 * 64 + 13 * 64) + 2 * 64, vocabulary, 256, 256};
}

double tensors(
    const Change& change = [](RunPlan&) {}, std::int64_t vocabulary = 256) {
    return static_cast<double>(predictMemory(planWith(change), sizesOf(vocabulary)).tensors.count);
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

TEST(MemoryPrediction, OfMomentsThatAreDealtOutHasAWorkersPart) {
    for (const Execution execution : {Execution::Eager, Execution::Planned}) {
        RunPlan plan = planWith();
        plan.execution = execution;
        const auto whole = predictMemory(plan, sizesOf(1000));
        plan.momentShares = 4;
        const auto part = predictMemory(plan, sizesOf(1000));
        EXPECT_EQ(part.of(MemoryKind::Moments).count, whole.of(MemoryKind::Moments).count / 4);
        EXPECT_EQ(whole.tensors.count - part.tensors.count, whole.of(MemoryKind::Moments).count * 3 / 4);
    }
}

TEST(MemoryPrediction, HoldsTheStateAndItsPartsAddUp) {
    const auto predicted = predictMemory(planWith(), sizesOf(1000));
    const std::int64_t parameters = (1000 + 128) * 64 + 3 * (12 * 64 * 64 + 13 * 64) + 2 * 64;
    EXPECT_EQ(predicted.of(MemoryKind::Weights).count, 4 * parameters);
    EXPECT_EQ(predicted.of(MemoryKind::Moments).count, 8 * parameters);
    std::int64_t sum = 0;
    for (const Bytes part : predicted.byKind) sum += part.count;
    EXPECT_EQ(sum, predicted.tensors.count);
    EXPECT_GE(predicted.kept.count, 0);
    EXPECT_EQ(predicted.of(MemoryKind::LowWeights).count, 0);
    EXPECT_GT(predictMemory(planWith([](RunPlan& p) { p.precision = Precision::Bf16; }), sizesOf(1000)).of(MemoryKind::LowWeights).count, 0);
}

TEST(MemoryPrediction, TablesOfScoresGrowWithTheSquareOfTheContext) {
    const auto extra = [](std::int64_t context) {
        const auto with = [context](AttentionKind kind) { return tensors([=](RunPlan& p) { p.context = context, p.attention = kind; }); };
        return with(AttentionKind::Manual) - with(AttentionKind::Auto);
    };
    // Three layers keep one float32 table each; backward's temporaries add some of the same size.
    const double table = 4.0 * 8 * 4 * 1024 * 1024;
    EXPECT_GT(extra(1024), 3 * table);
    EXPECT_LT(extra(1024), 6 * table);
    EXPECT_NEAR(extra(2048) / extra(1024), 4, 0.3);
}

TEST(MemoryPrediction, AccumulationCostsTheGradientsAndNotMore) {
    const double parameters = 4.0 * ((256 + 128) * 64 + 3 * (12 * 64 * 64 + 13 * 64) + 2 * 64);
    const auto accumulated = [](std::int64_t microBatches) { return tensors([=](RunPlan& p) { p.accumulation = microBatches; }); };
    EXPECT_NEAR(accumulated(2) - accumulated(1), parameters, 0.05 * parameters);
    EXPECT_EQ(accumulated(2), accumulated(50));
    EXPECT_NEAR(tensors([](RunPlan& p) { p.keepsGradients = true; }) - accumulated(1), parameters, 0.05 * parameters);
}

TEST(MemoryPrediction, ZerosThatAreKeptCostAByteForEachWeightOfTheLargestMatrix) {
    const auto planned = [](const char* keeps, std::int64_t hidden) {
        ModelSizes sizes = sizesOf(256);
        sizes.hidden = sizes.hiddenRows = hidden;
        const RunPlan plan = planWith([&](RunPlan& p) { p.execution = Execution::Planned, p.config.keepZeros = keeps; });
        return predictMemory(plan, sizes).tensors.count;
    };
    EXPECT_EQ(planned("on", 256) - planned("off", 256), 256 * 64);
    EXPECT_EQ(planned("on", 128) - planned("off", 128), 3 * 64 * 64) << "attention's projections, which are one";
}

TEST(MemoryPrediction, CountsTheBatchesThatTheLoaderKeepsReady) {
    const auto with = [](std::int64_t workers, std::int64_t prefetch) {
        const RunPlan plan = planWith([=](RunPlan& p) { p.feed.workers = workers, p.feed.prefetch = prefetch; });
        return predictMemory(plan, sizesOf(256)).of(MemoryKind::Batches).count;
    };
    constexpr std::int64_t kBatch = 2 * 8 * 8 * 128;
    EXPECT_EQ(with(0, 16), kBatch);
    EXPECT_EQ(with(2, 16), 19 * kBatch);
}

TEST(MemoryPrediction, DoesNotOverflowWhateverIsTyped) {
    RunPlan huge{.attention = AttentionKind::Manual, .batchSize = 1'000'000'000, .context = 1'000'000};
    huge.config.width = 100'000;
    huge.config.layers = 1000;
    const auto predicted = predictMemory(huge, {std::int64_t{1} << 62, 10'000'000, 400'000, 400'000});
    EXPECT_GT(predicted.total().count, std::int64_t{1} << 60);
    EXPECT_GE(predicted.kept.count, 0);
}

TEST(MemoryPrediction, NamesTheLargestPartsFirst) {
    const std::string text = describeParts(predictMemory(planWith(), sizesOf(50'257)));
    EXPECT_THAT(text, ::testing::StartsWith("logits and loss"));
    EXPECT_THAT(text, ::testing::HasSubstr("moments"));
    EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("copies")));
}

TEST(MemoryPrediction, TheWeightsThatAPlannedStepPacksAreCopiesInAnyPrecision) {
    for (const Precision precision : {Precision::Float32, Precision::Bf16}) {
        const RunPlan plan = planWith([=](RunPlan& p) { p.execution = Execution::Planned, p.precision = precision; });
        const std::string text = describeParts(predictMemory(plan, sizesOf(256)));
        EXPECT_THAT(text, ::testing::HasSubstr("copies of the weights"));
        EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("bf16")));
    }
}

}  // namespace
}  // namespace stepscope
