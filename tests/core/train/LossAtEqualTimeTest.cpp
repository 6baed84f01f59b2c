// What two sides learn in equally long training: who learns less is found, a stop keeps whole seeds, and the interval is Student's.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "TinyTraining.h"
#include "core/analysis/JudgedSentence.h"
#include "core/train/LossAtEqualTime.h"

namespace stepscope {
namespace {

class LossAtEqualTimeTest : public ::testing::Test {
protected:
    void SetUp() override {
        at::set_num_threads(1);
        setup.batches = testing::tinyBatches();
        setup.factory = &registry;
        setup.clock = &clock;
        setup.seconds = 0.4;
        setup.seeds = 3;
        setup.stopAsked = [this] { return stopped; };
        for (EqualTimeSide& side : setup.sides) {
            side.config = registry.complete(testing::tinyConfig(registry, 1'000'000)).value();
            side.config.schedule = "constant";
            side.plan = registry.plan(side.config, 61).value();
            side.start = std::make_shared<const TrainState>(TrainState::initialise(registry.modelShape(side.plan, 61), 1));
        }
    }

    Registry registry{testing::plainCpu()};
    SessionClock clock;
    EqualTimeSetup setup;
    bool stopped = false;
};

TEST_F(LossAtEqualTimeTest, FindsTheSideThatLearnsNothing) {
    setup.sides[0].config.lr = 1e-3;
    setup.sides[1].config.lr = 1e-12;
    const auto loss = lossAtEqualTime(setup);
    ASSERT_TRUE(loss) << loss.error().sentence;
    EXPECT_EQ(loss->seeds, 3);
    EXPECT_GT(loss->low, 0) << "B's loss is higher for sure";
    EXPECT_GT(loss->b, loss->a);
    EXPECT_NEAR(loss->difference, loss->b - loss->a, 1e-9);
    EXPECT_GT(loss->stepsA, 1);
    EXPECT_GT(loss->stepsB, 1);
}

TEST_F(LossAtEqualTimeTest, TrainsOneSideAfterTheOtherWhereBothDoNotFit) {
    setup.together = false;
    setup.sides[0].config.lr = 1e-12;
    setup.seeds = 2;
    std::vector<double> progress;
    setup.progress = [&](double fraction) { progress.push_back(fraction); };
    const auto loss = lossAtEqualTime(setup);
    ASSERT_TRUE(loss) << loss.error().sentence;
    EXPECT_LT(loss->difference, 0) << "A is the one that learns nothing";
    EXPECT_TRUE(std::ranges::is_sorted(progress));
    EXPECT_EQ(progress.back(), 1);
}

TEST_F(LossAtEqualTimeTest, ReadsTheSameTokensOfBothWhateverEachIsSetToRead) {
    for (EqualTimeSide& side : setup.sides) side.config.lr = 1e-30;  // weights that no step moves, so losses tell nothing but what was read
    setup.seconds = 0.05;
    setup.seeds = 2;
    setup.sides[0].config.validationTokens = 16;
    setup.sides[1].config.validationTokens = 512;
    const auto loss = lossAtEqualTime(setup);
    ASSERT_TRUE(loss) << loss.error().sentence;
    EXPECT_NEAR(loss->a, loss->b, 1e-6);
    setup.sides[0].config.validationTokens = setup.sides[1].config.validationTokens = 16;
    const auto fewer = lossAtEqualTime(setup);
    ASSERT_TRUE(fewer) << fewer.error().sentence;
    EXPECT_GT(std::abs(fewer->a - loss->a), 1e-5) << "sixteen tokens have another loss, so what is read shows";
}

TEST_F(LossAtEqualTimeTest, OtherCoinsDrawTheSameWeightsAndAnotherSeedOthers) {
    for (EqualTimeSide& side : setup.sides) side.config.lr = 1e-30;  // no step moves the weights: a loss is that of what was drawn
    setup.seconds = 0.05;
    setup.seeds = 2;
    const auto first = lossAtEqualTime(setup);
    setup.coins = 4711;
    const auto again = lossAtEqualTime(setup);
    setup.seed = 4711;
    const auto drawn = lossAtEqualTime(setup);
    ASSERT_TRUE(first && again && drawn);
    EXPECT_NEAR(again->a, first->a, 1e-6);
    EXPECT_NEAR(again->b, first->b, 1e-6);
    EXPECT_GT(std::abs(drawn->a - first->a), 1e-5);
}

TEST_F(LossAtEqualTimeTest, StoppedInTheMiddleKeepsTheSeedsThatAreWhole) {
    setup.seeds = 50;
    setup.progress = [&](double fraction) { stopped = fraction > 1.4 / 50; };
    const auto loss = lossAtEqualTime(setup);
    ASSERT_TRUE(loss) << loss.error().sentence;
    EXPECT_EQ(loss->seeds, 1);
    EXPECT_TRUE(std::isnan(loss->low)) << "one seed says nothing of the next one";
}

TEST_F(LossAtEqualTimeTest, NamesTheSideThatDiverges) {
    setup.sides[1].config.lr = 1e30;
    setup.sides[1].config.switches["grad-clip"] = 0.0;
    setup.sides[1].plan = registry.plan(setup.sides[1].config, 61).value();
    const auto loss = lossAtEqualTime(setup);
    ASSERT_FALSE(loss);
    EXPECT_THAT(loss.error().sentence, ::testing::ContainsRegex("lr=1[^ ]*( .*)? diverged on the way to a loss at equal time"));
}

TEST(EqualTimeLoss, HasStudentsInterval) {
    // scipy.stats.t.interval(0.95, 4, mean, sem) for b - a = -0.03, 0.01, -0.05, -0.02, -0.04.
    EqualTimeLoss loss{.seconds = 20};
    summariseEqualTime({{2.40, 2.37}, {2.50, 2.51}, {2.30, 2.25}, {2.45, 2.43}, {2.35, 2.31}}, 0.05, loss);
    EXPECT_NEAR(loss.difference, -0.026, 1e-12);
    EXPECT_NEAR(loss.low, -0.05458525, 1e-8);
    EXPECT_NEAR(loss.high, 0.00258525, 1e-8);
    EXPECT_NEAR(loss.a, 2.40, 1e-12);
}

TEST(EqualTimeLoss, HoldsTheTruthNineteenTimesOfTwenty) {
    std::mt19937 random(5);
    std::normal_distribution<double> luck(2.5, 0.3), noise(0, 0.02);
    int held = 0;
    constexpr int kTimes = 4000;
    for (int i = 0; i < kTimes; ++i) {
        std::vector<std::array<double, 2>> losses;
        for (int seed = 0; seed < 5; ++seed) {
            const double shared = luck(random);  // what a seed brings both sides
            losses.push_back({shared + noise(random), shared - 0.01 + noise(random)});
        }
        EqualTimeLoss loss;
        summariseEqualTime(losses, 0.05, loss);
        held += loss.low <= -0.01 && -0.01 <= loss.high;
    }
    EXPECT_NEAR(static_cast<double>(held) / kTimes, 0.95, 0.015);
}

TEST(EqualTimeLoss, IsSaidInASentenceThatDoesNotTakeSpeedForLearning) {
    ExperimentJudged judged{.outcome = "faster", .equalTime = {20, 5, 2.31, 2.25, -0.06, -0.1, -0.02, 410, 520}};
    EXPECT_EQ(
        equalTimeSentence(judged),
        "After 20 s of training each, with 5 seeds, the validation loss of A is 2.3100 (410 steps) and that of B 2.2500 (520 steps): B's is lower by "
        "0.0600 [0.0200, 0.1000].");
    const std::string named = equalTimeSentence(judged, {"lr=0.1", "lr=0.2"});
    EXPECT_THAT(named, ::testing::HasSubstr("the validation loss of lr=0.1 is 2.3100 (410 steps) and that of lr=0.2 2.2500"));
    EXPECT_THAT(named, ::testing::EndsWith("lr=0.2's is lower by 0.0600 [0.0200, 0.1000]."));
    judged.equalTime.high = 0.01;
    EXPECT_THAT(equalTimeSentence(judged), ::testing::HasSubstr("B is faster per token; whether it is to this loss is not known."));
    judged.equalTime.difference = 0.06;
    judged.equalTime.low = 0.02;
    judged.equalTime.high = 0.1;
    EXPECT_THAT(equalTimeSentence(judged), ::testing::HasSubstr("B is faster per token, not to this loss."));
    judged.equalTime.seconds = 0;
    EXPECT_EQ(equalTimeSentence(judged), "");
}

}  // namespace
}  // namespace stepscope
