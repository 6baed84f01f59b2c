// How often a flip that does nothing is called something, and how often one that does is found: simulated over runs as they are met. The series
// are made one after the other and never shuffled; each holds its shams, and the flip behind them.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "core/analysis/RunHistory.h"
#include "core/analysis/flips/FlipEffect.h"
#include "core/analysis/flips/ShamFlips.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

using Random = std::mt19937_64;
using Series = std::function<std::vector<double>(Random&, std::size_t)>;  // logarithms of step times

double noise(Random& random) {
    return std::normal_distribution<double>()(random);
}

Series correlated(double factor, double spread) {
    return [=](Random& random, std::size_t steps) {
        std::vector<double> all(steps);
        double level = noise(random);
        for (double& one : all) {
            level = factor * level + std::sqrt(1 - factor * factor) * noise(random);
            one = spread * level;
        }
        return all;
    };
}

std::vector<double> wandering(Random& random, std::size_t steps) {
    std::vector<double> all(steps);
    double level = 0;
    for (double& one : all) one = (level += 0.002 * noise(random)) + 0.01 * noise(random);
    return all;
}

std::vector<double> drifting(Random& random, std::size_t steps) {
    std::vector<double> all(steps);
    for (std::size_t i = 0; i < steps; ++i) all[i] = 0.3 * static_cast<double>(i) / static_cast<double>(steps) + 0.02 * noise(random);
    return all;
}

// Student's t of 1.5 degrees of freedom: no variance, and every hundredth step takes many times as long.
std::vector<double> heavyTailed(Random& random, std::size_t steps) {
    std::student_t_distribution<double> heavy(1.5);
    std::vector<double> all(steps);
    for (double& one : all) one = std::log1p(std::min(50.0, std::abs(0.01 * heavy(random))));
    return all;
}

// Another program that comes for some 100 steps and goes for some 400.
std::vector<double> besideOthers(Random& random, std::size_t steps) {
    std::vector<double> all(steps);
    std::exponential_distribution<double> quiet(1 / 400.0), busy(1 / 100.0);
    std::uniform_real_distribution<double> share(0.05, 0.5);
    std::size_t i = 0;
    while (i < steps) {
        for (auto end = i + static_cast<std::size_t>(quiet(random)); i < steps && i <= end; ++i) all[i] = 0.01 * noise(random);
        const double slower = share(random);
        for (auto end = i + static_cast<std::size_t>(busy(random)); i < steps && i <= end; ++i) all[i] = slower + 0.02 * noise(random);
    }
    return all;
}

std::vector<StepSample> stepsOf(const std::vector<double>& logs, std::size_t from, std::size_t count, double factor = 1) {
    std::vector<StepSample> all;
    for (std::size_t i = from; i < from + count; ++i) {
        StepSample step;
        step.ms = factor * 50 * std::exp(logs[i]);
        step.tokensPerSecond = 1e6 / step.ms;
        step.memory = 4e8;
        step.pageFaults = 3;
        all.push_back(step);
    }
    return all;
}

// A run of so many shams and one flip behind them, which makes steps take `factor` times as long; by the production function, whole.
FlipEffect flipAfter(Random& random, const Series& series, std::size_t shams, double factor) {
    const std::size_t before = shams * ShamTest::kPlace + ShamTest::kSteps;
    const auto logs = series(random, before + ShamTest::kBetween + ShamTest::kSteps);
    auto backwards = stepsOf(logs, 0, before);
    std::ranges::reverse(backwards);
    FlipSides sides;
    sides.before.assign(backwards.begin(), backwards.begin() + ShamTest::kSteps);
    sides.earlier.assign(backwards.begin() + ShamTest::kSteps, backwards.begin() + 2 * ShamTest::kSteps);
    sides.after = stepsOf(logs, before + ShamTest::kBetween, ShamTest::kSteps, factor);
    sides.shams = shamFlips(std::span(backwards).subspan(ShamTest::kSteps), true, ShamTest::kMost);
    return measureFlip(sides);
}

struct Rates {
    int time = 0, shown = 0;  // conclusive; and not put down to the machine
};
Rates called(const Series& series, std::size_t shams, double factor, int runs = 1000) {
    Random random(20261122);
    Rates rates;
    for (int run = 0; run < runs; ++run) {
        const FlipEffect effect = flipAfter(random, series, shams, factor);
        EXPECT_EQ(effect.ms.conclusive(), effect.tokensPerSecond.conclusive());
        rates.time += effect.ms.conclusive() ? 1 : 0;
        rates.shown += effect.ms.conclusive() && effect.machineChange.empty() ? 1 : 0;
    }
    return rates;
}

const std::pair<const char*, Series> kKinds[] = {
    {"independent", correlated(0, 0.02)},
    {"correlated", correlated(0.9, 0.02)},
    {"strongly_correlated", correlated(0.99, 0.02)},
    {"wandering", wandering},
    {"drifting", drifting},
    {"heavy_tailed", heavyTailed},
    {"beside_others", besideOthers},
};

// 61 of 1000 is what a rule with one in twenty exceeds once in twenty times.
TEST(ShamFlips, OfAThousandFlipsThatDoNothingAtMostSixtyOneAreCalledSomethingWhateverTheStepsAreLike) {
    for (const auto& [name, series] : kKinds)
        for (const std::size_t shams : {ShamTest::kFewest, ShamTest::kMost}) {
            const Rates rates = called(series, shams, 1);
            RecordProperty(std::string(name) + "_" + std::to_string(shams), rates.shown);
            EXPECT_LE(rates.shown, 61) << name << ", " << shams << " shams";
            EXPECT_LE(rates.time, 61) << name << ", " << shams << " shams, without the look at the machine";
        }
}

TEST(ShamFlips, FindWhatIsLargerThanTheNoise) {
    const auto found = [&](const char* name, const Series& series, double factor) {
        const Rates rates = called(series, ShamTest::kMost, factor);
        RecordProperty(std::string(name) + "_" + std::to_string(std::lround(100 * (factor - 1))) + "_percent", rates.shown);
        return rates.shown;
    };
    // Steps that spread by 1 %, as on an idle machine; by 2 %; and beside other programs.
    EXPECT_GE(found("quiet", correlated(0.3, 0.01), 1.03), 900);
    EXPECT_GE(found("quiet", correlated(0.3, 0.01), 1.10), 990);
    EXPECT_GE(found("independent", correlated(0, 0.02), 1.03), 700);
    EXPECT_GE(found("independent", correlated(0, 0.02), 0.90), 990);
    EXPECT_GE(found("correlated", correlated(0.9, 0.02), 1.10), 600);
    EXPECT_GE(found("heavy_tailed", heavyTailed, 1.10), 900);
}

TEST(ShamFlips, NeedThirtyNineAndSayHowManyThereAre) {
    Random random(1);
    const FlipEffect few = flipAfter(random, correlated(0, 0.001), 12, 2);
    EXPECT_FALSE(few.ms.conclusive()) << "twice as slow, and yet nobody knows what this machine does by itself";
    EXPECT_FALSE(few.decided());
    EXPECT_EQ(few.doubt(few.ms), "12 of 39 comparisons without a flip so far");
    const FlipEffect enough = flipAfter(random, correlated(0, 0.001), 39, 2);
    EXPECT_TRUE(enough.ms.conclusive());
    EXPECT_TRUE(enough.decided());
    EXPECT_DOUBLE_EQ(enough.ms.chance, 2.0 / 40);
    const FlipEffect nothing = flipAfter(random, correlated(0, 0.02), 59, 1);
    EXPECT_FALSE(nothing.ms.conclusive());
    EXPECT_NE(nothing.doubt(nothing.ms).find(" of 59 comparisons without a flip differ as much that way"), std::string::npos)
        << nothing.doubt(nothing.ms);
}

TEST(ShamFlips, CountsThatDoNotVaryNeedNoShams) {
    Random random(2);
    FlipEffect effect = flipAfter(random, correlated(0, 0.02), 3, 1);
    EXPECT_FALSE(effect.memory.conclusive()) << "the same on both sides";
    EXPECT_TRUE(effect.memory.exact);
    FlipSides sides;
    sides.before = stepsOf(std::vector<double>(20), 0, 20);
    sides.after = sides.before;
    for (auto& step : sides.after) step.memory = 3e8;
    effect = measureFlip(sides);
    EXPECT_TRUE(effect.memory.conclusive());
    EXPECT_FALSE(effect.ms.conclusive());
    for (std::size_t i = 0; i < 8; ++i) sides.after[i].memory += 1e6;
    EXPECT_FALSE(measureFlip(sides).memory.conclusive()) << "memory that moves by itself is tested like time";
}

TEST(ShamFlips, RankOnBothSidesAndTiesCountAgainstTheFlip) {
    const std::vector<double> shams(39, 0.0);
    EXPECT_DOUBLE_EQ(flipChance(0.1, shams), 2.0 / 40);
    EXPECT_DOUBLE_EQ(flipChance(-0.1, shams), 2.0 / 40);
    EXPECT_DOUBLE_EQ(flipChance(0, shams), 1);
    EXPECT_TRUE(std::isnan(flipChance(0.1, std::span(shams).first(38))));
    EXPECT_TRUE(std::isnan(flipChance(kUnknown, shams)));
    std::vector<double> some(shams);
    some[3] = kUnknown;
    EXPECT_TRUE(std::isnan(flipChance(0.1, some))) << "one that is not known does not count";
}

struct FlippedRun {
    RunHistory history;
    std::int64_t step = 0;
    FlippedRun() { history.append(SessionStarted{1, std::make_shared<SessionInfo>(), false}); }
    void steps(std::size_t count, double ms, bool disturbed = false) {
        for (std::size_t i = 0; i < count; ++i) {
            ++step;
            history.append(StepDone{
                .step = step, .at = TimeNs{step * 1'000'000}, .duration = TimeNs::fromSeconds(ms / 1000), .tokens = 1000, .disturbed = disturbed});
        }
    }
    void flip() { history.append(SwitchApplied{step, {step * 1'000'000}, "amp", std::string("off"), std::string("on"), ""}); }
};

TEST(ShamFlips, AreCutFromTheStretchesBetweenFlipsAndNeverAcrossOne) {
    FlippedRun run;
    run.steps(5 + 2 * 45 + 10, 10);  // warm-up, two places, some left over
    run.flip();
    run.steps(5 + 45 + 44, 20);
    run.flip();
    run.steps(5 + 20, 30);
    const std::size_t end = run.history.rows() - 20;
    auto found = shamsAround(run.history, run.history.rows() - 20, run.history.rows());
    EXPECT_EQ(found.size(), 3u) << "two of the first stretch, one of the second";
    for (const ShamFlip& sham : found) EXPECT_NEAR(sham.ms, 0, 1e-6) << "no place holds both 10 and 20 ms";
    run.steps(45, 30);
    run.steps(300, 30, /*disturbed=*/true);
    run.steps(45, 30);
    found = shamsAround(run.history, end, end + 20);
    EXPECT_EQ(found.size(), 5u) << "as those before are too few, those behind it count too; disturbed steps tell nothing";
}

TEST(ShamFlips, AreTheNearestFiftyNineAndLaterStepsChangeNothing) {
    FlippedRun run;
    run.steps(70 * 45, 10);
    const std::size_t end = run.history.rows();
    run.flip();
    run.steps(25, 5);
    EXPECT_EQ(shamsAround(run.history, end - 20, end + 25).size(), ShamTest::kMost);
    run.steps(3000, 5);
    EXPECT_EQ(shamsAround(run.history, end - 20, end + 25).size(), ShamTest::kMost);
    FlippedRun brief;
    brief.steps(100, 10);
    brief.flip();
    brief.steps(25 + 20 * 45, 5);
    const auto then = shamsAround(brief.history, 80, 125);
    EXPECT_EQ(then.size(), 1u + 20u);
    brief.steps(9000, 6);
    EXPECT_EQ(shamsAround(brief.history, 80, 125).size(), ShamTest::kFewest);
    brief.flip();
    brief.steps(9000, 7);
    EXPECT_EQ(shamsAround(brief.history, 80, 125).size(), ShamTest::kFewest) << "what is said once stays";
}

}  // namespace
}  // namespace stepscope
