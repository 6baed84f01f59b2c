// The diagnosis on curves whose answer is known, and its silence on healthy ones under any noise.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/analysis/RateDiagnosis.h"
#include "core/base/CounterRandom.h"
#include "core/events/Schedule.h"

namespace stepscope {
namespace {

double uniform(std::uint64_t seed, std::size_t i) {
    return static_cast<double>(counterRandom(seed, 3, i) >> 11) * 0x1p-53;
}
double normal(std::uint64_t seed, std::size_t i) {
    return std::sqrt(-2 * std::log(uniform(seed, 2 * i) + 1e-12)) * std::cos(6.283185307 * uniform(seed, 2 * i + 1));
}

constexpr double kUntrained = 5.545;  // ln 256

std::vector<LrRangePoint> run(const std::string& schedule, std::size_t steps, double noise, std::uint64_t seed,
                              const std::function<double(double)>& loss) {
    RunConfig config;
    config.schedule = schedule;
    config.steps = static_cast<std::int64_t>(steps);
    config.warmup = config.steps / 20;
    std::vector<LrRangePoint> points;
    for (std::size_t i = 0; i < steps; ++i)
        points.push_back({learningRate(config, static_cast<std::int64_t>(i) + 1),
                          loss(static_cast<double>(i) / static_cast<double>(steps)) + noise * normal(seed, i)});
    return points;
}

// Of `progress` from 0 to 1: fast at first, then ever more slowly.
double healthy(double progress) {
    return 1.2 + 3 * std::exp(-25 * progress) + 1.345 * std::exp(-1.5 * progress);
}

TEST(RateDiagnosis, SaysNothingOfAHealthyRunWhateverTheNoiseTheLengthAndTheSchedule) {
    for (const std::string schedule : {"constant", "warmup", "cosine", "linear", "warmup-cosine", "one-cycle", "trapezoid"})
        for (const double noise : {0.0, 0.03, 0.2, 1.0})
            for (const std::size_t steps : {200u, 700u, 5000u})
                for (std::uint64_t seed = 1; seed <= 20; ++seed) {
                    auto points = run(schedule, steps, noise, seed, healthy);
                    if (seed % 2 == 0)  // a hard batch now and then
                        for (std::size_t i = 0; i < steps; ++i) points[i].loss += uniform(seed + 100, i) > 0.99 ? 1.5 : 0;
                    const auto said = diagnoseRate(points, kUntrained);
                    EXPECT_FALSE(said) << schedule << ", noise " << noise << ", " << steps << " steps, seed " << seed << ": " << *said;
                }
}

TEST(RateDiagnosis, SaysNothingOfOneSpikeOrOfARunThatWasTrainedBefore) {
    const auto spiked = run("constant", 1000, 0.05, 1, [](double p) { return healthy(p) + (p > 0.5 ? 2 * std::exp(-40 * (p - 0.5)) : 0); });
    EXPECT_FALSE(diagnoseRate(spiked, kUntrained));
    const auto flat = [](double) { return 1.4; };
    EXPECT_FALSE(diagnoseRate(run("constant", 1000, 0.05, 1, flat)));
    EXPECT_FALSE(diagnoseRate(run("warmup-cosine", 1000, 0.05, 1, flat), kUntrained)) << "far below the loss of an untrained model";
}

TEST(RateDiagnosis, SaysNothingOfAFewStepsOrALossThatIsNoNumber) {
    const auto flat = [](double) { return 5.54; };
    EXPECT_FALSE(diagnoseRate(run("constant", 199, 0.01, 1, flat), kUntrained));
    auto broken = run("constant", 1000, 0.01, 1, flat);
    broken.back().loss = std::nan("");
    EXPECT_FALSE(diagnoseRate(broken, kUntrained));
}

TEST(RateDiagnosis, ALossThatGoesUpAndDownMeansTooHighARate) {
    for (const double noise : {0.0, 0.1}) {
        const auto waves = run("constant", 1000, noise, 1, [](double p) { return healthy(p) + 0.5 * std::sin(40 * p); });
        const auto said = diagnoseRate(waves, kUntrained);
        ASSERT_TRUE(said);
        EXPECT_NE(said->find("too high"), std::string::npos) << *said;
        EXPECT_NE(said->find("lr 0.001"), std::string::npos) << *said;
    }
    auto zigzag = run("constant", 400, 0.02, 1, healthy);
    for (std::size_t i = 0; i < zigzag.size(); ++i) zigzag[i].loss += i % 2 == 0 ? 0.3 : -0.3;
    const auto said = diagnoseRate(zigzag, kUntrained);
    ASSERT_TRUE(said);
    EXPECT_NE(said->find("from step to step"), std::string::npos) << *said;
}

TEST(RateDiagnosis, ALossThatHardlyMovesAtTheStartMeansTooLowARate) {
    for (const std::string schedule : {"constant", "warmup-cosine", "trapezoid"}) {
        const auto said = diagnoseRate(run(schedule, 1000, 0.05, 1, [](double p) { return 5.54 - 0.3 * p; }), kUntrained);
        ASSERT_TRUE(said) << schedule;
        EXPECT_NE(said->find("too low"), std::string::npos) << *said;
    }
    EXPECT_FALSE(diagnoseRate(run("constant", 1000, 0.05, 1, [](double p) { return 5.54 + std::min(1.0, 20 * p); }), kUntrained))
        << "it rose: not too low";
}

TEST(RateDiagnosis, APlateauThatOnlyTheDecayEndsMeansDecayEarlier) {
    // Stands still from a third on; a trapezoid's rate falls in the last fifth.
    const auto story = [](double p) { return 2.0 + 3.5 * std::exp(-30 * p) - (p > 0.8 ? 1.0 * (p - 0.8) : 0); };
    for (const double noise : {0.0, 0.05}) {
        const auto said = diagnoseRate(run("trapezoid", 4000, noise, 1, story), kUntrained);
        ASSERT_TRUE(said);
        EXPECT_NE(said->find("decay earlier"), std::string::npos) << *said;
        EXPECT_NE(said->find("stood still at 2"), std::string::npos) << *said;
    }
    const auto whole = diagnoseRate(run("trapezoid", 4000, 0, 1, story), kUntrained),
               later = diagnoseRate(run("trapezoid", 4000, 0, 1, story), kUntrained, 1, 5000);
    ASSERT_TRUE(whole && later);
    EXPECT_NE(whole->find("up to step 3288"), std::string::npos) << *whole;
    EXPECT_NE(later->find("up to step 8288"), std::string::npos) << *later << ": a run that goes on counts as it did";
    EXPECT_FALSE(diagnoseRate(run("trapezoid", 4000, 0.5, 1, story), kUntrained)) << "under this noise nobody can tell a plateau";
    EXPECT_FALSE(diagnoseRate(run("trapezoid", 4000, 0.05, 1, [&](double p) { return story(p) - 0.3 * p; }), kUntrained)) << "it still fell";
}

TEST(RateDiagnosis, KnowsWhichRatesAreTypicalForASize) {
    EXPECT_EQ(typicalRates(124'000'000), "Typical with 124 M parameters: 3e-4 to 6e-4.");
    EXPECT_EQ(typicalRates(400'000'000), "Typical with 355 M parameters: 1e-4 to 3e-4.");
    EXPECT_EQ(typicalRates(774'000'000), "Typical with 774 M parameters: 1e-4 to 2e-4.");
    EXPECT_EQ(typicalRates(1'557'611'200), "Typical with 1558 M parameters: 5e-5 to 1e-4.");
    EXPECT_NE(typicalRates(840'000).find("smaller models bear more"), std::string::npos);
    EXPECT_NE(typicalRates(7'000'000'000).find("larger models want less"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
