// An experiment summed up from its events.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/analysis/ExperimentHistory.h"
#include "core/events/ConfigJson.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

BlockDone block(std::int64_t pair, Arm arm, double ms, std::int64_t tokens = 1000, double loss = 3, std::int64_t step = 10) {
    return {.step = step,
            .duration = {static_cast<std::int64_t>(ms * 10e6)},
            .pair = pair,
            .arm = arm,
            .steps = 10,
            .tokens = tokens,
            .median = {static_cast<std::int64_t>(ms * 1e6)},
            .slowest = {static_cast<std::int64_t>(ms * 2e6)},
            .loss = loss,
            .pageFaults = 40,
            .peakBytes = 5e6 * ms};
}

TEST(ExperimentHistory, SumsUpWhatCountsAndLeavesPilotAndDiscardedPairsOut) {
    ExperimentHistory history;
    history.add(block(-1, Arm::A, 500));
    history.add(block(0, Arm::A, 20));
    history.add(block(0, Arm::B, 10));
    history.add(ExperimentJudged{.pair = 0});
    history.add(block(1, Arm::B, 90));
    history.add(block(1, Arm::A, 90));
    history.add(ExperimentJudged{.pair = 1, .discarded = true});
    history.add(block(2, Arm::A, 30));  // its pair was never finished
    const SideFacts a = history.facts(Arm::A), b = history.facts(Arm::B);
    EXPECT_EQ(a.blocks, 1);
    EXPECT_DOUBLE_EQ(a.msPerStep, 20);
    EXPECT_DOUBLE_EQ(a.tokensPerSecond, 1000 / 0.2);
    EXPECT_DOUBLE_EQ(a.slowestMs, 40);
    EXPECT_DOUBLE_EQ(a.faultsPerStep, 4);
    EXPECT_DOUBLE_EQ(b.msPerStep, 10);
    EXPECT_DOUBLE_EQ(b.peakBytes, 5e7);
    EXPECT_TRUE(std::isnan(b.operations));
    EXPECT_TRUE(std::isnan(b.joulesPerToken));
    EXPECT_EQ(history.pairs().size(), 2u);
}

TEST(ExperimentHistory, IsAsItWasAfterEachOfItsPairs) {
    ExperimentHistory whole;
    const auto grow = [](ExperimentHistory& history, int pair) {
        history.add(block(pair, Arm::A, 20 + pair));
        history.add(block(pair, Arm::B, 10));
        history.add(ExperimentJudged{.pair = pair, .ratio = 2.0 + pair, .pairs = pair + 1});
    };
    whole.add(ExperimentBegan{.seed = 7});
    whole.add(block(-1, Arm::A, 500));
    for (int pair = 0; pair < 4; ++pair) grow(whole, pair);
    whole.add(block(4, Arm::B, 10));  // its pair was never finished
    whole.add(ExperimentJudged{.over = true, .outcome = "faster", .pairs = 4});
    ExperimentHistory then;
    then.add(ExperimentBegan{.seed = 7});
    then.add(block(-1, Arm::A, 500));
    for (std::size_t pairs = 0; pairs <= 4; ++pairs) {
        const ExperimentHistory replayed = whole.after(pairs);
        EXPECT_EQ(replayed.began()->seed, 7);
        EXPECT_EQ(replayed.pairs().size(), pairs);
        EXPECT_EQ(replayed.blocks().size(), then.blocks().size()) << pairs;
        EXPECT_EQ(replayed.newest().has_value(), pairs > 0);
        if (pairs > 0) {
            EXPECT_FALSE(replayed.newest()->over);
            EXPECT_EQ(replayed.newest()->ratio, then.newest()->ratio);
            EXPECT_EQ(replayed.facts(Arm::A).msPerStep, then.facts(Arm::A).msPerStep);
        }
        grow(then, static_cast<int>(pairs));
    }
    EXPECT_EQ(whole.after(99).pairs().size(), 4u);
}

TEST(ExperimentHistory, SaysBetweenWhichMeansMostBlocksLie) {
    ExperimentHistory history;
    for (int pair = 0; pair <= 10; ++pair) {
        history.add(block(pair, Arm::A, 20 + pair));
        history.add(block(pair, Arm::B, 10));
        history.add(ExperimentJudged{.pair = pair});
    }
    EXPECT_NEAR(history.facts(Arm::A).tenthMs, 21, 1e-9);
    EXPECT_NEAR(history.facts(Arm::A).ninetiethMs, 29, 1e-9);
    EXPECT_NEAR(history.facts(Arm::B).tenthMs, 10, 1e-9);
    EXPECT_TRUE(std::isnan(ExperimentHistory().facts(Arm::A).tenthMs));
}

TEST(ExperimentHistory, ComparesLossesAtEqualTokensOnly) {
    ExperimentHistory history;
    history.add(block(0, Arm::A, 10, 1000, 3.0, 10));
    history.add(block(0, Arm::B, 10, 1000, 3.5, 10));
    history.add(block(1, Arm::B, 10, 1000, 2.0, 20));
    history.add(block(1, Arm::A, 10, 1000, 1.0, 20));
    history.add(block(2, Arm::B, 10, 9000, 2.0, 30));
    history.add(block(2, Arm::A, 10, 1000, 1.0, 40));
    EXPECT_DOUBLE_EQ(history.lossDifference(), 0.75);
    EXPECT_TRUE(std::isnan(ExperimentHistory().lossDifference()));
}

TEST(ExperimentHistory, OfAStrangersFileIsBoundedInTimeAndNumbers) {
    ExperimentHistory history;
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t pair = 0; pair < 200'000; ++pair) {
        history.add(BlockDone{.duration = {kMost}, .pair = pair, .steps = kMost, .tokens = kMost, .pageFaults = kMost, .peakBytes = 1e300});
        history.add(ExperimentJudged{.pair = pair});
    }
    const SideFacts facts = history.facts(Arm::A);
    EXPECT_EQ(facts.blocks, 200'000);
    EXPECT_GT(facts.tokens, 0);
    EXPECT_GT(facts.tokensPerSecond, 0);
}

TEST(ExperimentHistory, OfARunWithSeveralExperimentsIsOfTheNewestOne) {
    ExperimentHistory history;
    history.add(ExperimentBegan{.configA = "first"});
    history.add(block(0, Arm::A, 20));
    history.add(ExperimentJudged{.pair = 0, .outcome = "faster"});
    history.add(ExperimentBegan{.configA = "second"});
    EXPECT_EQ(history.began()->configA, "second");
    EXPECT_TRUE(history.blocks().empty());
    EXPECT_FALSE(history.newest());
}

TEST(ExperimentHistory, OfARunWithSeveralExperimentsAnyOfThemCanBeChosen) {
    const std::vector<Event> events{BlockDone{.pair = 7},  // of what came before
                                    ExperimentBegan{.configA = "first"},
                                    block(0, Arm::A, 20),
                                    block(0, Arm::B, 10),
                                    ExperimentJudged{.pair = 0, .outcome = "faster"},
                                    ExperimentJudged{.over = true, .outcome = "faster"},
                                    ExperimentBegan{.configA = "second"},
                                    block(0, Arm::A, 30),
                                    block(0, Arm::B, 30),
                                    ExperimentJudged{.pair = 0, .outcome = "inconclusive"},
                                    ExperimentBegan{.configA = "third"}};
    const ChosenExperiment first = chosenExperiment(events, 1), second = chosenExperiment(events, 2), newest = chosenExperiment(events);
    ASSERT_EQ(first.all.size(), 3u);
    EXPECT_EQ(first.number, 1);
    EXPECT_EQ(first.history.began()->configA, "first");
    EXPECT_EQ(first.history.blocks().size(), 2u);
    EXPECT_TRUE(first.history.newest()->over);
    EXPECT_DOUBLE_EQ(first.history.facts(Arm::A).msPerStep, 20);
    EXPECT_DOUBLE_EQ(second.history.facts(Arm::A).msPerStep, 30);
    EXPECT_FALSE(second.history.newest()->over);
    EXPECT_EQ(newest.number, 3);
    EXPECT_EQ(newest.history.began()->configA, "third");
    EXPECT_FALSE(newest.history.newest());
    EXPECT_EQ(newest.all[1].newest->outcome, "inconclusive");
    EXPECT_FALSE(newest.all[2].newest);
    EXPECT_FALSE(chosenExperiment(events, 4).history.began());
    EXPECT_EQ(chosenExperiment({}, 0).number, 0);
}

TEST(ExperimentHistory, WithoutBlocksKnowsNothing) {
    const SideFacts facts = ExperimentHistory().facts(Arm::A);
    EXPECT_EQ(facts.steps, 0);
    EXPECT_TRUE(std::isnan(facts.msPerStep));
    EXPECT_TRUE(std::isnan(facts.tokensPerSecond));
}

TEST(ExperimentHistory, TellsByKindWhatASideHeldAtItsHighestPointAndNothingThatHasNoName) {
    ExperimentHistory history;
    AllocationBlock block{.lane = 7, .rank = 1, .strings = {"", "weights", "MLP", "taken before the capture", "op"}};
    const auto take = [&](std::int64_t at, std::uint64_t address, std::int64_t bytes, std::int64_t total, std::uint32_t kind) {
        block.allocations.push_back({.at = at, .address = address, .bytes = bytes, .totalAllocated = total, .kind = kind, .owner = 4});
    };
    take(10, 1, 400, 400, 1);
    take(10, 2, 9000, 9400, 3);
    take(20, 3, 50, 9450, 2);
    take(30, 4, 60, 9510, 2);  // the highest point
    take(40, 4, -60, 9450, 2);
    take(50, 5, 10, 9460, 2);
    history.add(block);
    EXPECT_TRUE(history.memoryAtPeak(Arm::A).empty());
    const auto kinds = history.memoryAtPeak(Arm::B);
    ASSERT_EQ(kinds.size(), 2u);
    EXPECT_EQ(kinds[0].kind, "weights");
    EXPECT_EQ(kinds[0].bytes, 400);
    EXPECT_EQ(kinds[1].kind, "MLP");
    EXPECT_EQ(kinds[1].bytes, 110);
    EXPECT_EQ(kinds[1].count, 2);
    block.rank = 2;
    history.add(block);
    EXPECT_EQ(history.memoryAtPeak(Arm::B).size(), 2u) << "another worker's is nobody's";
}

TEST(ExperimentHistory, OfWhatCouldNotBeDecidedAsksAgainWithTheTimeThatItTakes) {
    ExperimentHistory history;
    history.add(ExperimentBegan{.budgetSeconds = 60});
    EXPECT_EQ(history.secondsToAskAgain(), 60);
    ExperimentJudged judged{.over = true, .outcome = "inconclusive", .secondsToGo = 240, .seconds = 58};
    history.add(judged);
    EXPECT_EQ(history.secondsToAskAgain(), std::ceil((58 + 360) * 7.0 / 6)) << "a seventh is for what is captured";
    judged.secondsToGo = 1e7;
    history.add(judged);
    EXPECT_EQ(history.secondsToAskAgain(), 3600) << "an hour at most";
    judged.secondsToGo = kUnknown;
    history.add(judged);
    EXPECT_EQ(history.secondsToAskAgain(), 60);
    judged.outcome = "faster";
    judged.secondsToGo = 240;
    history.add(judged);
    EXPECT_EQ(history.secondsToAskAgain(), 60) << "it was decided";
}

TEST(ExperimentHistory, OfABudgetThePairsHaveWhatCapturesLeaveThem) {
    EXPECT_NEAR(secondsOfPairs(180, true), 154.3, 0.05);
    EXPECT_DOUBLE_EQ(secondsOfPairs(secondsOfPairs(180, true) * (1 + kCapturesOfPairs), true), secondsOfPairs(180, true));
    EXPECT_EQ(secondsOfPairs(180, false), 180);
}

TEST(ExperimentHistory, SaysAtWhichClocksAndUnderWhichQuotaTheBlocksThatCountRan) {
    const auto measuredOn = [](const std::string& device, double every) {
        RunConfig config;
        config.switches["device"] = device;
        ExperimentHistory history;
        history.add(ExperimentBegan{.configA = configToJson(config), .configB = configToJson(config)});
        for (const auto& [pair, end] : {std::pair(-1, 1), std::pair(0, 2), std::pair(0, 12)}) {
            BlockDone one = block(pair, end == 2 ? Arm::A : Arm::B, 20);
            one.at = TimeNs::fromSeconds(end);
            history.add(one);
        }
        for (double at = 0; at < 20; at += every) {
            const bool counts = at >= 2 && at <= 12;
            DeviceSample sample;
            sample.at = TimeNs::fromSeconds(at);
            sample.cpuClockMhz = !counts ? 9999 : at < 7 ? 3000 : 2000;
            sample.gpuClockMhz = !counts ? 9 : at < 7 ? 1980 : 1410;
            sample.throttledPct = counts ? 12 : 90;
            sample.gpuOtherProcesses = counts && at > 3 && at < 7 ? 2 : counts && at >= 7 ? 0 : kUnknown;
            sample.gpuOthersBusyPct = !counts ? 90 : at < 7 ? 30 : 0;
            history.add(sample);
        }
        return history;
    };
    const MachineMeanwhile onCpu = measuredOn("cpu", 0.5).machineMeanwhile();
    EXPECT_EQ(onCpu.cpuMhzLow, 2000);
    EXPECT_EQ(onCpu.cpuMhzHigh, 3000);
    EXPECT_TRUE(std::isnan(onCpu.gpuMhzLow)) << "nothing of it runs there";
    EXPECT_DOUBLE_EQ(onCpu.throttledPct, 12);
    const MachineMeanwhile onGpu = measuredOn("cuda:0", 0.5).machineMeanwhile();
    EXPECT_EQ(onGpu.gpuMhzLow, 1410);
    EXPECT_EQ(onGpu.gpuMhzHigh, 1980);
    EXPECT_TRUE(std::isnan(onGpu.cpuMhzLow)) << "the processors wait for it";
    EXPECT_TRUE(std::isnan(onCpu.gpuOthersPct) && std::isnan(onCpu.gpuOthersBusyPct)) << "whoever is there takes nothing from it";
    EXPECT_NEAR(onGpu.gpuOthersPct, 100.0 * 7 / 18, 1e-9) << "of the samples that know it";
    EXPECT_NEAR(onGpu.gpuOthersBusyPct, 30.0 * 10 / 21, 1e-9);
    EXPECT_TRUE(std::isnan(measuredOn("cuda:0", 2).machineMeanwhile().gpuOthersPct)) << "six samples are too few";
    EXPECT_TRUE(std::isnan(measuredOn("cpu", 2).machineMeanwhile().cpuMhzLow)) << "six samples say nothing of how far it goes";
    EXPECT_TRUE(std::isnan(ExperimentHistory().machineMeanwhile().throttledPct));
}

TEST(ExperimentHistory, OfAVerdictThatIsToldAgainWithItsReasonsIsStillOneExperiment) {
    ExperimentHistory history;
    const std::vector<Event> events{
        ExperimentBegan{.budgetSeconds = 60, .captures = false},
        block(0, Arm::A, 20),
        block(0, Arm::B, 10),
        ExperimentJudged{.pair = 0, .seconds = 40},
        ExperimentJudged{.over = true, .pair = 0, .outcome = "inconclusive", .secondsToGo = 100, .seconds = 41},
        ExperimentJudged{.over = true, .pair = 0, .outcome = "inconclusive", .why = "And why.", .secondsToGo = 100, .seconds = 700}};
    for (const Event& event : events) history.add(event);
    EXPECT_EQ(history.pairs().size(), 1u);
    EXPECT_EQ(history.newest()->why, "And why.");
    EXPECT_EQ(history.newest()->seconds, 700);
    EXPECT_EQ(history.measuringSeconds(), 41) << "the rest went into captures and losses";
    EXPECT_EQ(history.secondsToAskAgain(), 41 + 150) << "what the losses took decides nothing";
    EXPECT_EQ(chosenExperiment(events).all.size(), 1u);
}

TEST(ExperimentHistory, SaysWhyTheLossAtEqualTokensIsNotKnown) {
    const auto of = [](std::int64_t batch) {
        RunConfig config;
        config.switches["batch-size"] = batch;
        return configToJson(config);
    };
    const auto asked = [&](std::int64_t a, std::int64_t b) {
        ExperimentHistory history;
        history.add(ExperimentBegan{.configA = of(a), .configB = of(b)});
        EXPECT_EQ(history.whyNoLoss(), "") << "no pair was made";
        history.add(block(0, Arm::A, 20, 1000, 3, 10));
        history.add(block(0, Arm::B, 10, 1000, 3, 17));
        history.add(ExperimentJudged{.pair = 0});
        return history;
    };
    EXPECT_EQ(asked(2, 8).whyNoLoss(), "the batches differ");
    ExperimentHistory same = asked(8, 8);
    EXPECT_EQ(same.whyNoLoss(), "no pair ended where both had trained as many tokens");
    same.add(block(1, Arm::A, 20, 1000, 3, 30));
    same.add(block(1, Arm::B, 10, 1000, 3, 30));
    EXPECT_EQ(same.whyNoLoss(), "") << "it is known";
}

}  // namespace
}  // namespace stepscope
