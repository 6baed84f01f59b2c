// The interval of paired differences: against its formula, and by simulation for what it promises: looked at after every pair, under drift,
// autocorrelation and heavy tails, it misses the mean in no more than one of twenty experiments.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "core/analysis/PairedInterval.h"

namespace stepscope {
namespace {

using Random = std::mt19937_64;

// d of pair i: a coin decides which side comes first, `course` is the logarithm of the machine's own slowness, block after block.
std::vector<double> pairs(Random& random, std::size_t count, double truth, const std::function<double()>& course) {
    std::bernoulli_distribution coin(0.5);
    std::vector<double> differences;
    for (std::size_t i = 0; i < count; ++i) {
        const double first = course(), second = course();
        differences.push_back(coin(random) ? truth + first - second : truth + second - first);
    }
    return differences;
}

// How often, of `experiments`, the mean lay outside the interval after any pair from the eighth on; or outside that of one look, after `look` pairs.
double missed(std::uint64_t seed, double truth, double clip, const std::function<std::function<double()>(Random&)>& machine, std::size_t look = 0) {
    const int experiments = look == 0 ? 400 : 2000;
    const std::size_t count = look == 0 ? 60 : look;
    Random random(seed);
    int misses = 0;
    for (int e = 0; e < experiments; ++e) {
        const auto course = machine(random);
        const auto pilot = pairs(random, 8, truth, course), differences = pairs(random, count, truth, course);
        double variance = 0;
        for (const double d : pilot) variance += (d - truth) * (d - truth) / 8;
        const PairedBound bound{.eta = 10 * variance, .clip = clip * std::sqrt(variance)};
        if (look > 0) {
            misses += !pairedIntervalAtOneLook(differences, bound).holds(truth);
            continue;
        }
        for (std::size_t n = 8; n <= differences.size(); ++n)
            if (!pairedInterval(std::span(differences).first(n), bound).holds(truth)) {
                ++misses;
                break;
            }
    }
    return static_cast<double>(misses) / experiments;
}

const double kNone = std::numeric_limits<double>::infinity();
// 400 experiments at a true rate of 5 % stay below 8 % in more than 99 of 100.
const double kBar = 0.08;

// And 2000 below 6.5 %.
const double kBarOfOneLook = 0.065;

std::function<double()> normal(Random& random) {
    return [&random, noise = std::normal_distribution<double>(0, 0.01)]() mutable { return noise(random); };
}

TEST(PairedInterval, EndsWhereItsFormulaSays) {
    const std::vector<double> differences{0.03, 0.01, 0.02, 0.05, 0.015, 0.025, 0.02, 0.03, 0.02, 0.04};
    const PairedBound bound{.eta = 0.002};
    const auto interval = pairedInterval(differences, bound);
    EXPECT_NEAR(interval.centre, 0.026, 1e-9);
    for (const double theta : {interval.low, interval.high}) {
        double s = 0, v = 0;
        for (const double d : differences) s += d - theta, v += (d - theta) * (d - theta);
        EXPECT_NEAR(s * s, (v + bound.eta) * std::log((v + bound.eta) / (bound.eta * 0.05 * 0.05)), 1e-9);
    }
    EXPECT_TRUE(interval.holds(0.026));
    EXPECT_NEAR(interval.centre - interval.low, interval.high - interval.centre, 1e-9) << "nothing is cut, so it is symmetric";
}

// Sums over the differences in order, taken apart and put together again, are those of a walk over all of them.
TEST(PairedInterval, EndsThereTooOfManyDifferencesFarFromNoneAndCut) {
    Random random(21);
    std::cauchy_distribution<double> tails(std::log(2.0), 1e-4);
    for (const std::size_t count : {12u, 100u, 3000u}) {
        std::vector<double> differences(count);
        for (double& d : differences) d = tails(random);
        const PairedBound bound{.eta = 1e-7, .clip = 2e-4};
        const auto sums = [&](double theta) {
            double s = 0, v = 0;
            for (const double d : differences) {
                const double cut = std::clamp(d - theta, -bound.clip, bound.clip);
                s += cut;
                v += cut * cut;
            }
            return std::pair{s, v};
        };
        const auto interval = pairedInterval(differences, bound);
        for (const double theta : {interval.low, interval.high}) {
            const auto [s, v] = sums(theta);
            const double most = (v + bound.eta) * std::log((v + bound.eta) / (bound.eta * 0.05 * 0.05));
            EXPECT_NEAR(s * s / most, 1, 1e-6) << count;
        }
        EXPECT_NEAR(sums(interval.centre).first, 0, 1e-9 * static_cast<double>(count));
        EXPECT_LT(interval.halfWidth(), 1e-3);
    }
}

// Which side is called A must not decide what is found: of differences with their signs turned everything is the same with its sign turned.
TEST(PairedInterval, OfDifferencesWithTheirSignsTurnedIsItsOwnMirrorImage) {
    EXPECT_EQ(cutMean(std::vector<double>{0, 1}, 0.1), 0.5) << "S is 0 from 0.1 to 0.9";
    EXPECT_EQ(cutMean(std::vector<double>{0, 1, 5, 6}, 0.25), 3);
    EXPECT_EQ(cutMean(std::vector<double>{-2, -2, 6, 7}, kNone), 2.25) << "nothing is cut";
    Random random(22);
    std::student_t_distribution<double> tails(2);
    for (std::size_t count = 1; count <= 40; ++count)
        for (const double clip : {0.1, 1.0, 3.0}) {
            std::vector<double> differences(count), turned;
            for (double& d : differences) turned.push_back(-(d = tails(random) + 0.3));
            EXPECT_NEAR(cutMean(differences, clip), -cutMean(turned, clip), 1e-12) << count << " cut at " << clip;
            const PairedBound bound{.eta = 2, .clip = clip};
            for (const auto interval : {pairedInterval, pairedIntervalAtOneLook}) {
                const PairedInterval of = interval(differences, bound), mirror = interval(turned, bound);
                if (std::isfinite(of.low) || std::isfinite(mirror.high)) {
                    EXPECT_NEAR(of.low, -mirror.high, 1e-9) << count << " cut at " << clip;
                }
                if (std::isfinite(of.high) || std::isfinite(mirror.low)) {
                    EXPECT_NEAR(of.high, -mirror.low, 1e-9) << count << " cut at " << clip;
                }
            }
        }
}

TEST(PairedInterval, BoundsNothingWithTooFewPairs) {
    EXPECT_TRUE(std::isnan(pairedInterval({}, {.eta = 1}).centre));
    const auto one = pairedInterval(std::vector<double>{0.5}, {.eta = 0.01});
    EXPECT_EQ(one.centre, 0.5);
    EXPECT_TRUE(std::isinf(one.low) && std::isinf(one.high));
}

TEST(PairedInterval, NarrowsAsPairsCome) {
    Random random(1);
    const auto differences = pairs(random, 400, 0.03, normal(random));
    double former = kNone;
    for (const std::size_t n : {20u, 100u, 400u}) {
        const double width = pairedInterval(std::span(differences).first(n), {.eta = 0.002}).halfWidth();
        EXPECT_LT(width, former);
        former = width;
    }
    EXPECT_LT(former, 0.003);
}

TEST(PairedInterval, OnePairThatSomebodyDisturbedMovesACutMeanLittle) {
    std::vector<double> differences(30);
    for (std::size_t i = 0; i < differences.size(); ++i) differences[i] = i % 2 == 0 ? 0.021 : 0.019;
    differences[7] = 3;
    const PairedBound cut{.eta = 0.001, .clip = 0.005};
    EXPECT_NEAR(pairedInterval(differences, cut).centre, 0.02, 0.001);
    EXPECT_GT(pairedInterval(differences, {.eta = 0.001}).centre, 0.1);
    EXPECT_FALSE(pairedInterval(differences, cut).holds(0));
}

TEST(PairedInterval, HoldsTheMeanWhenNoiseIsNormal) {
    EXPECT_LE(missed(2, 0, kNone, normal), kBar);
    EXPECT_LE(missed(3, 0.03, 2, normal), kBar);
}

TEST(PairedInterval, HoldsTheMeanUnderDrift) {
    // The machine grows slower block by block, by as much within a pair as the noise.
    const auto drifting = [](Random& random) {
        return std::function<double()>(
            [&random, at = 0.0, noise = std::normal_distribution<double>(0, 0.005)]() mutable { return (at += 0.01) + noise(random); });
    };
    EXPECT_LE(missed(4, 0.01, kNone, drifting), kBar);
    EXPECT_LE(missed(5, -0.1, 2, drifting), kBar);
}

TEST(PairedInterval, HoldsTheMeanWhenBlocksRemember) {
    const auto remembering = [](Random& random) {
        return std::function<double()>(
            [&random, at = 0.0, noise = std::normal_distribution<double>(0, 0.01)]() mutable { return at = 0.95 * at + noise(random); });
    };
    EXPECT_LE(missed(6, 0, kNone, remembering), kBar);
    EXPECT_LE(missed(7, 0.03, 2, remembering), kBar);
}

TEST(PairedInterval, HoldsTheMeanWithTailsThatHaveNoVariance) {
    const auto bursts = [](Random& random) {
        return std::function<double()>([&random, noise = std::student_t_distribution<double>(1.5)]() mutable { return 0.01 * noise(random); });
    };
    EXPECT_LE(missed(8, 0, kNone, bursts), kBar);
    EXPECT_LE(missed(9, 0.1, 2, bursts), kBar);
}

TEST(PairedIntervalAtOneLook, IsStudentsWhereNothingIsCut) {
    // Twice each, so that they are too many for all signs to be counted.
    const std::vector<double> differences{0.03, 0.01, 0.02, 0.05, 0.015, 0.025, 0.02, 0.03, 0.02, 0.04,
                                          0.03, 0.01, 0.02, 0.05, 0.015, 0.025, 0.02, 0.03, 0.02, 0.04};
    const auto interval = pairedIntervalAtOneLook(differences, {});
    EXPECT_NEAR(interval.centre, 0.026, 1e-12);
    // The quantile for 19 degrees of freedom is 2.0930240544; the squares about the mean come to 0.00258.
    const double half = 2.0930240544 * std::sqrt(0.00258 / 19 / 20);
    EXPECT_NEAR(interval.low, 0.026 - half, 1e-9);
    EXPECT_NEAR(interval.high, 0.026 + half, 1e-9);
}

// Of pairs of one size S has few values, and Student's t alone misses up to twice as often as it says.
TEST(PairedIntervalAtOneLook, HoldsTheMeanOfAFewPairsOfOneSizeAsOftenAsItSays) {
    constexpr double kTruth = 0.03, kSize = 0.01;
    for (const double alpha : {0.05, 0.0375, 0.0125})
        for (std::size_t n = 8; n < kExactBelow; ++n) {
            double missed = 0, ways = 1;  // of 2^n; so many have `plus` signs that are +
            for (std::size_t plus = 0; plus <= n; ++plus) {
                std::vector<double> differences(n, kTruth - kSize);
                std::fill_n(differences.begin(), plus, kTruth + kSize);
                if (!pairedIntervalAtOneLook(differences, {.alpha = alpha}).holds(kTruth)) missed += ways;
                ways *= static_cast<double>(n - plus) / static_cast<double>(plus + 1);
            }
            EXPECT_LE(missed / std::exp2(n), alpha) << n << " pairs at " << alpha;
        }
}

// All signs of three kinds of sizes, the last as they are where half of them are cut.
TEST(PairedIntervalAtOneLook, HoldsTheMeanOfEightPairsOfAnySizesAsOftenAsItSays) {
    constexpr double kTruth = -0.1, kAlpha = 0.0375;
    for (const std::vector<double>& sizes : {std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}, std::vector<double>{1, 1, 1, 1, 1, 1, 1, 1},
                                             std::vector<double>{0.1, 0.3, 0.5, 0.7, 1, 1, 1, 1}}) {
        int missed = 0;
        for (unsigned signs = 0; signs < 256; ++signs) {
            std::vector<double> differences;
            for (std::size_t i = 0; i < sizes.size(); ++i) differences.push_back(kTruth + ((signs >> i) & 1 ? sizes[i] : -sizes[i]) / 100);
            missed += !pairedIntervalAtOneLook(differences, {.alpha = kAlpha}).holds(kTruth);
        }
        EXPECT_LE(missed / 256.0, kAlpha) << sizes.back();
        EXPECT_GT(missed, 0) << "it bounds something";
    }
}

TEST(PairedIntervalAtOneLook, BoundsNothingWithOnePairAndEverythingWithTwo) {
    EXPECT_TRUE(std::isnan(pairedIntervalAtOneLook({}, {}).centre));
    EXPECT_TRUE(std::isinf(pairedIntervalAtOneLook(std::vector<double>{0.5}, {}).high));
    const auto two = pairedIntervalAtOneLook(std::vector<double>{0.5, 0.7}, {.clip = 0.05});
    EXPECT_TRUE(std::isfinite(two.low) && std::isfinite(two.high));
    EXPECT_TRUE(two.holds(0.6));
    const auto same = pairedIntervalAtOneLook(std::vector<double>{0.1, 0.1, 0.1}, {});
    EXPECT_NEAR(same.low, 0.1, 1e-9) << "a clock that is too coarse";
    EXPECT_NEAR(same.high, 0.1, 1e-9);
}

TEST(PairedIntervalAtOneLook, IsNarrowerThanOneThatMayBeLookedAtAlways) {
    Random random(1);
    const auto differences = pairs(random, 200, 0.03, normal(random));
    EXPECT_LT(pairedIntervalAtOneLook(differences, {}).halfWidth(), 0.75 * pairedInterval(differences, {.eta = 0.002}).halfWidth());
}

TEST(PairedIntervalAtOneLook, HoldsTheMeanWhateverTheMachineDoes) {
    const auto drifting = [](Random& random) {
        return std::function<double()>(
            [&random, at = 0.0, noise = std::normal_distribution<double>(0, 0.005)]() mutable { return (at += 0.01) + noise(random); });
    };
    const auto remembering = [](Random& random) {
        return std::function<double()>(
            [&random, at = 0.0, noise = std::normal_distribution<double>(0, 0.01)]() mutable { return at = 0.95 * at + noise(random); });
    };
    const auto bursts = [](Random& random) {
        return std::function<double()>([&random, noise = std::student_t_distribution<double>(1.5)]() mutable { return 0.01 * noise(random); });
    };
    std::uint64_t seed = 20;
    for (const std::size_t look : {8u, 20u, 100u})
        for (const double clip : {kNone, 0.6}) {
            EXPECT_LE(missed(++seed, 0.03, clip, normal, look), kBarOfOneLook) << look << " " << clip;
            EXPECT_LE(missed(++seed, 0, clip, drifting, look), kBarOfOneLook) << look << " " << clip;
            EXPECT_LE(missed(++seed, -0.1, clip, remembering, look), kBarOfOneLook) << look << " " << clip;
            EXPECT_LE(missed(++seed, 0.03, clip, bursts, look), kBarOfOneLook) << look << " " << clip;
        }
}

}  // namespace
}  // namespace stepscope
