// What was counted, as samples: figures by hand, what is unknown is left out, and blocks are handed on when they are full.
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/profile/counters/CounterSamples.h"

namespace stepscope {
namespace {

// 1000 cycles, 1500 instructions, 40 misses, 250 stalled cycles; half of the time where `half`.
CounterDelta delta(bool half = false) {
    return {.counted = {1000, 1500, 40, 250}, .enabled = 100, .running = half ? 50.0 : 100.0};
}

struct CounterSamplesOf : ::testing::Test {
    CounterSamples samples{3, "B", 128};
    CounterSamplesOf() { samples.setKinds({.instructions = true, .misses = true, .stalled = true}); }
};

TEST_F(CounterSamplesOf, APhaseAreItsRatesUnderTheNameOfItsThread) {
    samples.addPhase(CounterSamples::kTeamLane, {}, delta(), TimeNs{7}, 0.5);
    samples.addPhase(CounterSamples::kFirstThreadLane, "trainer", delta(true), TimeNs{9}, 0.5);
    EXPECT_TRUE(samples.take(false).empty()) << "none is full";
    const auto blocks = samples.take(true);
    ASSERT_EQ(blocks.size(), 2u);
    EXPECT_EQ(blocks[0].name, "hardware counters, B");
    EXPECT_EQ(blocks[1].name, "hardware counters, trainer, B");
    EXPECT_NE(blocks[0].lane, blocks[1].lane);
    EXPECT_EQ(blocks[0].rank, 3);
    EXPECT_EQ(blocks[0].process, ::getpid());
    EXPECT_EQ(blocks[0].samples, (std::vector<Sample>{{7, 1, 1.5}, {7, 2, 40 * 128 / 0.5}, {7, 3, 25}}));
    EXPECT_EQ(blocks[1].series[1].name, "instructions per cycle, trainer");
    EXPECT_EQ(blocks[1].samples, (std::vector<Sample>{{9, 1, 1.5}, {9, 2, 2 * 40 * 128 / 0.5}, {9, 3, 25}})) << "counts are scaled, shares are not";
    EXPECT_TRUE(samples.take(true).empty()) << "each sample is handed on once";
}

TEST_F(CounterSamplesOf, APhaseLeaveOutWhatIsNotKnown) {
    samples.setKinds({.instructions = false, .misses = true, .stalled = false});
    samples.addPhase(CounterSamples::kTeamLane, {}, delta(), TimeNs{1}, 0);
    EXPECT_TRUE(samples.take(true).empty()) << "no rate in no time";
    CounterDelta stood = delta();
    stood.running = 0;
    samples.setKinds({.instructions = true, .misses = true, .stalled = true});
    samples.addPhase(CounterSamples::kTeamLane, {}, stood, TimeNs{1}, 1);
    EXPECT_TRUE(samples.take(true).empty()) << "counters that stood still say nothing";
    CounterDelta idle{.counted = {}, .enabled = 0, .running = 0};
    samples.addPhase(CounterSamples::kTeamLane, {}, idle, TimeNs{1}, 1);
    for (const auto& block : samples.take(true))
        for (const Sample& sample : block.samples) EXPECT_EQ(sample.series, 2u) << "of a thread that did not run no share of cycles";
}

TEST_F(CounterSamplesOf, AFullBlockGoesAloneAndTheNextBeginsWithItsSeries) {
    for (std::size_t i = 0; i * 3 < CounterSamples::kFullBlock; ++i) samples.addPhase(0, {}, delta(), TimeNs{static_cast<std::int64_t>(i)}, 1);
    samples.addPhase(2, "trainer", delta(), TimeNs{1}, 1);
    const auto full = samples.take(false);
    ASSERT_EQ(full.size(), 1u);
    EXPECT_GE(full[0].samples.size(), CounterSamples::kFullBlock);
    samples.addPhase(0, {}, delta(), TimeNs{1}, 1);
    const auto rest = samples.take(true);
    ASSERT_EQ(rest.size(), 2u);
    EXPECT_EQ(rest[0].samples.size(), 3u);
    EXPECT_EQ(rest[0].series, full[0].series);
    EXPECT_EQ(rest[0].name, full[0].name);
}

TEST_F(CounterSamplesOf, OperationsAreASeriesANameAndUnit) {
    CountedSum sum{delta(), 10};
    sum.add({delta(), 5});
    samples.setKinds({.instructions = true, .misses = true, .stalled = false});
    const SampleBlock block = samples.operations({{"add", sum}}, TimeNs{4});
    EXPECT_EQ(block.name, kCountedOperations);
    std::vector<std::pair<std::string, double>> found;
    for (const Sample& sample : block.samples) {
        EXPECT_EQ(sample.at, 4);
        EXPECT_EQ(block.series[sample.series].name, "add");
        found.emplace_back(block.series[sample.series].unit, sample.value);
    }
    EXPECT_EQ(found, (std::vector<std::pair<std::string, double>>{{"cycles", 2000}, {"instructions", 3000}, {"B", 2 * 40 * 128}, {"ns", 15}}));
}

TEST(CountedKinds, NameWhatAProcessorDoesNotCount) {
    EXPECT_EQ((CountedKinds{true, true, true}.missing()), "");
    EXPECT_EQ((CountedKinds{true, false, false}.missing()), "This processor does not count cache misses, stalled cycles.");
    EXPECT_EQ((CountedKinds{false, true, true}.missing()), "This processor does not count instructions.");
}

}  // namespace
}  // namespace stepscope
