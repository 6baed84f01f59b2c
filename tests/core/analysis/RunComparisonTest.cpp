// Runs beside each other: what differs, the loss at equal tokens and time, and every reason why two of them are hard to compare.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "core/analysis/RunComparison.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

std::shared_ptr<SessionInfo> infoOf(std::int64_t layers = 4) {
    auto info = std::make_shared<SessionInfo>();
    info->config->layers = layers;
    info->machine->cpu = "A processor";
    info->machine->cores = 2;
    return info;
}

struct Made {
    std::shared_ptr<SessionInfo> info = infoOf();
    int steps = 200;
    double ms = 10, others = 1, steal = 0, throttled = kUnknown, clock = kUnknown, processorClock = kUnknown;
    bool flipped = false;
    std::int64_t tokens = 1000;
};

std::vector<Event> eventsOf(const Made& made) {
    std::vector<Event> events{SessionStarted{3, made.info, false}};
    for (int step = 1; step <= made.steps; ++step) {
        StepDone done;
        done.step = step;
        done.duration = TimeNs::fromSeconds(made.ms / 1e3 * (step <= 3 ? 50 : 1));
        done.at = TimeNs::fromSeconds(made.ms / 1e3 * step);
        done.loss = 5 - 0.01 * step;
        done.tokens = made.tokens;
        done.disturbed = step % 10 == 0;
        done.peakBytes = 1e6 + step;
        events.emplace_back(done);
        if (step % 20 == 0)
            events.emplace_back(DeviceSample{.at = done.at,
                                             .gpuClockMhz = made.clock,
                                             .othersPct = made.others,
                                             .stealPct = made.steal,
                                             .cpuClockMhz = made.processorClock,
                                             .throttledPct = made.throttled});
        if (made.flipped && step == 50) events.emplace_back(SwitchApplied{step, done.at, "amp", std::string("off"), std::string("bf16"), ""});
    }
    events.emplace_back(ValidationDone{made.steps, {}, {}, 3.5});
    return events;
}

StoredRun runOf(const Made& made = {}) {
    return storedRun(eventsOf(made));
}

TEST(RunComparison, LeavesOutWarmUpAndDisturbedStepsOfWhatTellsTheSpeed) {
    const StoredRun run = runOf();
    EXPECT_EQ(run.session, 3);
    EXPECT_EQ(run.ms.size(), 200u);
    EXPECT_EQ(run.steadyMs.size(), 200u - 3 - 20);
    EXPECT_THAT(run.steadyMs, Each(testing::DoubleNear(10, 1e-6)));
    EXPECT_DOUBLE_EQ(run.peakBytes, 1e6 + 200);
    EXPECT_DOUBLE_EQ(run.validationLoss, 3.5);
}

TEST(RunComparison, TheLossAtAPlaceIsTheMeanOfTheLastTwentyBeforeIt) {
    const StoredRun run = runOf();
    EXPECT_NEAR(lossAtTokens(run, 100'000), 5 - 0.01 * 90.5, 1e-9);
    EXPECT_NEAR(lossAtSeconds(run, 1.0), 5 - 0.01 * 90.5, 1e-9);
    EXPECT_NEAR(lossAtTokens(run, 2000), 5 - 0.01 * 1.5, 1e-9) << "fewer where there are fewer";
    EXPECT_TRUE(std::isnan(lossAtTokens(run, 10)));
    EXPECT_NEAR(lossAtTokens(run, 1e300), 5 - 0.01 * 190.5, 1e-9);
}

TEST(RunComparison, AResumedRunsTokensGoOnWhereTheOtherRunEnded) {
    Made resumed{.steps = 5};
    resumed.info->firstStep = 30;
    const StoredRun run = runOf(resumed);
    EXPECT_EQ(run.tokens.front(), 31'000);
    EXPECT_EQ(run.tokens.back(), 35'000);
    EXPECT_TRUE(std::isnan(lossAtTokens(run, 30'500))) << "nothing of this run was trained with so few";
    // A stranger's number of steps is no reason to overflow.
    resumed.info->firstStep = std::numeric_limits<std::int64_t>::max();
    EXPECT_TRUE(std::isfinite(runOf(resumed).tokens.back()));
}

TEST(RunComparison, OfALogWithoutTokensNoLossIsOneAfterSoManyOfThem) {
    const StoredRun run = runOf({.tokens = 0});
    EXPECT_FALSE(knowsTokens(run));
    EXPECT_TRUE(std::isnan(lossAtTokens(run, 0))) << "its last loss is none after 0 tokens";
    EXPECT_NEAR(lossAtSeconds(run, 1.0), 5 - 0.01 * 90.5, 1e-9);
    EXPECT_TRUE(knowsTokens(runOf()));
    EXPECT_TRUE(std::isnan(lossAtTokens(runOf(), kUnknown)));
}

TEST(RunComparison, OfALogWithoutTimesNobodyKnowsItsSpeedNorTheLossAfterSoManySeconds) {
    Made made;
    made.ms = 0;
    const StoredRun run = runOf(made);
    EXPECT_FALSE(knowsTimes(run));
    EXPECT_THAT(run.steadyMs, testing::IsEmpty());
    EXPECT_THAT(run.steadyMsPerToken, testing::IsEmpty());
    EXPECT_TRUE(std::isnan(lossAtSeconds(run, 1.0)));
    EXPECT_TRUE(ratioSentence(run, runOf()).empty());
    EXPECT_THAT(comparabilityOf(run, runOf()).reasons, Contains(HasSubstr("only 0 steps of one of them tell its speed")));
    EXPECT_TRUE(knowsTimes(runOf()));
}

TEST(RunComparison, OfALogThatTellsHowLongStepsTookAndNotWhenNoLossIsOneAfterSoManySeconds) {
    auto info = infoOf();
    info->timesUnknown = true;
    const StoredRun run = runOf({.info = info});
    EXPECT_FALSE(knowsTimes(run));
    EXPECT_TRUE(std::isnan(lossAtSeconds(run, 1.0)));
    EXPECT_FALSE(run.steadyMs.empty()) << "its speed is known";
}

TEST(RunComparison, UnknownLossesAreNotInTheMean) {
    StoredRun run = runOf({.steps = 5});
    run.losses[4] = kUnknown;
    EXPECT_NEAR(lossAtTokens(run, 5000), 5 - 0.01 * 2.5, 1e-9);
}

TEST(RunComparison, NamesTheKeysThatDifferWithAValueForEachRun) {
    auto none = std::make_shared<SessionInfo>();
    none->config.reset();
    const auto keys = differingKeys({runOf(), runOf({.info = infoOf(6)}), runOf({.info = none})});
    const auto layers = std::ranges::find(keys, "layers", &DifferingKeys::key);
    ASSERT_NE(layers, keys.end());
    EXPECT_EQ(layers->values, (std::vector<std::string>{"4", "6", ""}));
    EXPECT_TRUE(differingKeys({runOf(), runOf()}).empty());
    EXPECT_TRUE(differingKeys({runOf(), runOf({.info = none})}).empty()) << "it would differ in every one";
    const Comparability foreign = comparabilityOf(runOf(), runOf({.info = none}));
    EXPECT_LE(foreign.score, 5);
    EXPECT_THAT(foreign.reasons.front(), HasSubstr("settings of one of them are not known"));
}

TEST(RunComparison, TheSameTwiceIsAsComparableAsWhatWasNotInterleavedCanBe) {
    const Comparability found = comparabilityOf(runOf(), runOf());
    EXPECT_EQ(found.score, 75);
    ASSERT_EQ(found.reasons.size(), 1u);
    EXPECT_THAT(found.reasons.front(), HasSubstr("not interleaved"));
}

TEST(RunComparison, EveryReasonIsNamedAndCosts) {
    const auto reasonFor = [](const Made& other) { return comparabilityOf(runOf(), runOf(other)); };
    auto machine = infoOf();
    machine->machine->cpu = "Another";
    auto versions = infoOf();
    versions->machine->libtorch = "9.9";
    auto data = infoOf();
    data->config->data = "other.txt";
    auto unknown = infoOf();
    unknown->machine.reset();
    const std::vector<std::pair<Made, std::string>> cases{{{.info = machine}, "another machine"},
                                                          {{.info = versions}, "other versions"},
                                                          {{.info = data}, "other data (data)"},
                                                          {{.info = unknown}, "not known"},
                                                          {{.info = infoOf(6)}, "not the same work a step (layers)"},
                                                          {{.others = 40}, "other programs took 1 % of the processors during one and 40 %"},
                                                          {{.steal = 20}, "host of this virtual machine"},
                                                          {{.flipped = true}, "flipped in the middle"},
                                                          {{.steps = 12}, "only 8 steps"}};
    for (const auto& [other, words] : cases) {
        const Comparability found = reasonFor(other);
        EXPECT_LT(found.score, 75) << words;
        EXPECT_THAT(found.reasons, Contains(HasSubstr(words)));
        EXPECT_THAT(found.reasons, Contains(HasSubstr("not interleaved")));
    }
    const Comparability throttled = comparabilityOf(runOf({.clock = 1800}), runOf({.clock = 1500}));
    EXPECT_THAT(throttled.reasons, Contains(HasSubstr("throttled")));
    EXPECT_THAT(comparabilityOf(runOf({.clock = 1800}), runOf({.clock = 1790})).reasons, Each(Not(HasSubstr("throttled"))));
    const Comparability warm = comparabilityOf(runOf({.processorClock = 3600}), runOf({.processorClock = 2900}));
    EXPECT_THAT(warm.reasons, Contains(HasSubstr("throttled: the processors ran at 3600 MHz during one and at 2900 MHz during the other")));
    EXPECT_THAT(comparabilityOf(runOf({.throttled = 1}), runOf({.throttled = 30})).reasons,
                Contains(HasSubstr("a quota stopped the threads in 1 % of its periods during one and in 30 % during the other")));
    EXPECT_THAT(comparabilityOf(runOf(), runOf({.throttled = 30})).reasons, Each(Not(HasSubstr("quota")))) << "of one of them it is not known";
    const Comparability onGpu = comparabilityOf(runOf({.clock = 1800, .processorClock = 3600}), runOf({.clock = 1800, .processorClock = 800}));
    EXPECT_THAT(onGpu.reasons, Each(Not(HasSubstr("throttled")))) << "a processor that waits for a GPU slows down";
}

TEST(RunComparison, TheScoreNeverFallsBelowNothing) {
    auto machine = infoOf(8);
    machine->machine->cpu = "Another";
    machine->config->data = "other.txt";
    EXPECT_EQ(comparabilityOf(runOf(), runOf({.info = machine, .steps = 1, .others = 90, .steal = 50, .flipped = true})).score, 0);
}

}  // namespace
}  // namespace stepscope
