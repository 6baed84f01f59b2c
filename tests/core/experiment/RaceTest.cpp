// A race over arms of known speed: does it find settings near the best, keep its budget, and say why the others lost?
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <span>

#include "core/experiment/Race.h"

namespace stepscope {
namespace {

using testing::HasSubstr;

// A machine on which every switch multiplies the time of a step, the first three together by something else than their product.
struct World {
    std::vector<RaceKnob> knobs;
    std::vector<std::vector<double>> times;                            // by knob and value
    std::map<std::pair<std::size_t, std::size_t>, double> of01, of02;  // by values of two knobs
    std::vector<std::pair<std::size_t, std::size_t>> refused;          // values that cannot be used
    double step = 0.03;

    double seconds(const RaceChoice& choice) const {
        double all = step;
        for (std::size_t i = 0; i < choice.size(); ++i) all *= times[i][choice[i]];
        if (const auto found = of01.find({choice[0], choice[1]}); found != of01.end()) all *= found->second;
        if (const auto found = of02.find({choice[0], choice[2]}); found != of02.end()) all *= found->second;
        return all;
    }
    bool can(const RaceChoice& choice) const {
        return std::ranges::none_of(refused, [&](const auto& one) { return choice[one.first] == one.second; });
    }
    double best() const {
        RaceChoice choice(knobs.size(), 0);
        double least = 1e9;
        while (true) {
            if (can(choice)) least = std::min(least, seconds(choice));
            std::size_t i = 0;
            while (i < choice.size() && ++choice[i] == knobs[i].values.size()) choice[i++] = 0;
            if (i == choice.size()) return least;
        }
    }
};

World world(std::uint64_t seed, double step) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform;
    World all;
    all.step = step;
    const std::vector<std::size_t> values{3, 3, 4, 4, 2, 3, 3, 2, 2, 2};
    for (std::size_t knob = 0; knob < values.size(); ++knob) {
        RaceKnob one{.key = fmt::format("k{}", knob), .promise = 100 - static_cast<int>(knob)};
        std::vector<double> times{1};
        // The first ones matter most; of the others most do little.
        const double reach = knob < 3 ? 0.5 : knob < 5 ? 0.15 : 0.01;
        for (std::size_t value = 0; value < values[knob]; ++value) {
            one.values.push_back(std::to_string(value));
            if (value > 0) times.push_back(std::exp(reach * (2 * uniform(random) - 1)));
        }
        all.knobs.push_back(one);
        all.times.push_back(times);
    }
    for (int i = 0; i < 2; ++i) {
        all.of01[{1 + random() % 2, 1 + random() % 2}] = std::exp(0.6 * (2 * uniform(random) - 1));
        all.of02[{1 + random() % 2, 1 + random() % 3}] = std::exp(0.4 * (2 * uniform(random) - 1));
    }
    all.refused.emplace_back(2, 3);
    return all;
}

struct Weather {
    double white = 0.02, slow = 0.03;  // of a block
    double drift = 0.1;                // of the level, over the race
    bool hog = true;                   // comes and goes, and takes up to half of the machine
};

struct Played {
    RaceChoice best;
    double elapsed = 0;
    std::vector<RaceCandidate> candidates;
    std::vector<Race::Rejected> rejected;
};

Played play(const World& arms, const Weather& weather, std::uint64_t seed, double budget, double slowSeconds = 0) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    Race race({.seed = seed, .budgetSeconds = budget, .slowSeconds = slowSeconds}, arms.knobs, [&](const RaceChoice& choice) {
        std::string identity;
        for (const std::size_t value : choice) identity += std::to_string(value);
        return RaceVerdict{arms.can(choice) ? "" : "This machine cannot.", identity};
    });
    double now = 0, slow = 0, hogUntil = -1, hogNext = 20;
    Played played;
    while (const auto order = race.next()) {
        // An hour's memory would be drift; a block's is this.
        slow = 0.9 * slow + std::sqrt(1 - 0.81) * weather.slow * normal(random);
        if (weather.hog && now > hogNext) {
            hogUntil = now + 5 + 25 * uniform(random);
            hogNext = hogUntil + 20 + 60 * uniform(random);
        }
        const bool hog = weather.hog && now < hogUntil;
        const double level = 1 + weather.drift * std::sin(now / budget * 3);
        const double step = arms.seconds(race.candidates()[order->candidate].choice) * level * std::exp(slow + weather.white * normal(random)) *
                            (hog ? 1.3 + uniform(random) : 1);
        const double steps = std::max<double>(static_cast<double>(order->steps), std::ceil(order->leastSeconds / step));
        const double took = (steps + (order->settlesOnce ? 1 : 2)) * step + 0.05 * std::max(1.0, arms.step / 0.5);
        now += took;
        race.done(
            {.perToken = step, .msPerStep = step * 1e3, .seconds = took, .elapsed = now, .others = (hog ? 0.8 : 0.02) + 0.05 * uniform(random)});
    }
    played.best = race.best();
    played.elapsed = now;
    played.candidates = race.candidates();
    played.rejected = race.rejected();
    return played;
}

int foundNearTheBest(double step, double budget, const Weather& weather, double* worst = nullptr, double within = 1.03) {
    int found = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const World arms = world(seed, step);
        const Played played = play(arms, weather, seed * 17, budget);
        const double beyond = arms.seconds(played.best) / arms.best();
        found += beyond <= within ? 1 : 0;
        if (worst != nullptr) *worst = std::max(*worst, beyond);
        EXPECT_LE(played.elapsed, 1.05 * budget) << seed;
    }
    return found;
}

TEST(Race, FindsSettingsWithinThreePercentOfTheBestOnATinyModel) {
    double worst = 1;
    const int found = foundNearTheBest(0.03, 240, {}, &worst);
    RecordProperty("found", found);
    EXPECT_GE(found, 90) << "the worst is " << worst;
}

TEST(Race, FindsThemOnAMachineThatIsIdle) {
    EXPECT_GE(foundNearTheBest(0.03, 240, {.white = 0.01, .slow = 0.01, .drift = 0.02, .hog = false}), 95);
}

TEST(Race, FindsThemWhereAStepTakesASecondInTwelveMinutes) {
    double worst = 1;
    const int found = foundNearTheBest(0.7, 576, {}, &worst);
    RecordProperty("found", found);
    EXPECT_GE(found, 85) << "the worst is " << worst;
    EXPECT_LE(worst, 1.5);
}

TEST(Race, FindsThemWhereAStepTakesTwoSecondsAndMostOfThemOnANoisyMachine) {
    const Weather quiet{.white = 0.03, .slow = 0.03, .drift = 0.1, .hog = false}, noisy{.white = 0.08, .slow = 0.08, .drift = 0.1, .hog = false};
    const auto told = [](const char* name, const Weather& weather, double within) {
        const int found = foundNearTheBest(2, 490, weather, nullptr, within);
        ::testing::Test::RecordProperty(name, found);
        return found;
    };
    EXPECT_GE(told("quiet3", quiet, 1.03), 70);
    EXPECT_GE(told("quiet10", quiet, 1.1), 90);
    EXPECT_GE(told("noisy3", noisy, 1.03), 40);
    EXPECT_GE(told("noisy10", noisy, 1.1), 70);
}

TEST(Race, LeavesMoreTimeToWhatFollowsItWhereStepsAreSlow) {
    EXPECT_LE(play(world(1, 2), {}, 17, 576, 490).elapsed, 1.05 * 490);
    EXPECT_GT(play(world(1, 2), {}, 17, 576).elapsed, 500);
    EXPECT_GT(play(world(1, 0.03), {}, 17, 240, 100).elapsed, 105) << "its steps are fast";
}

TEST(Race, FindsTheLargeGainsWhereOthersComputeAllTheTime) {
    EXPECT_GE(foundNearTheBest(0.1, 240, {.white = 0.2, .slow = 0.3, .drift = 0.3}, nullptr, 1.3), 80);
}

TEST(Race, WhoNeverRacedDoesNotSeemToRaceAtItsEnd) {
    const Played played = play(world(2, 0.7), {}, 5, 100);
    for (const auto& candidate : played.candidates) EXPECT_TRUE(candidate.state != RaceState::Racing || candidate.rounds > 0) << candidate.why;
    for (const auto& one : played.rejected) EXPECT_NE(one.why, "The race was stopped before it was decided.") << one.key;
}

TEST(Race, SaysWhyEveryOtherValueWasNotChosen) {
    const World arms = world(3, 0.03);
    const Played played = play(arms, {}, 5, 240);
    std::size_t values = 0;
    for (const auto& knob : arms.knobs) values += knob.values.size() - 1;
    EXPECT_EQ(played.rejected.size(), values);
    bool refused = false;
    for (const auto& one : played.rejected) {
        EXPECT_TRUE(one.why.ends_with('.')) << one.why;
        refused = refused || (one.key == "k2" && one.value == "3" && one.why == "This machine cannot.");
    }
    EXPECT_TRUE(refused);
    EXPECT_EQ(std::ranges::count(played.candidates, RaceState::Chosen, &RaceCandidate::state), 1);
}

TEST(Race, CandidatesOfDifferentHeatsAreAllToldBesideThePresentSettings) {
    int told = 0, near = 0, later = 0, bounded = 0, held = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        const World arms = world(seed, 0.03);
        // The machine becomes slower by a third while they race.
        const Played played = play(arms, {.drift = 0.3}, seed * 17, 240);
        const double present = arms.seconds(played.candidates[0].choice);
        EXPECT_EQ(played.candidates[0].total, 1);
        for (const RaceCandidate& candidate : std::span(played.candidates).subspan(1)) {
            if (candidate.rounds < 3 || !(candidate.total > 0)) continue;
            const double truth = present / arms.seconds(candidate.choice);
            ++told;
            near += std::abs(candidate.total / truth - 1) < 0.1;
            later += candidate.beside != 0;
            EXPECT_LE(candidate.totalLow, candidate.total);
            EXPECT_LE(candidate.total, candidate.totalHigh);
            if (!(candidate.totalLow > 0) || !std::isfinite(candidate.totalHigh)) continue;
            ++bounded;
            held += candidate.totalLow <= truth && truth <= candidate.totalHigh;
        }
    }
    EXPECT_GT(later, 30) << "beside something else than the present settings";
    EXPECT_GE(near, 0.9 * told) << "of " << told;
    EXPECT_GT(bounded, 30);
    RecordProperty("held", held);
    RecordProperty("bounded", bounded);
    EXPECT_GE(held, 0.9 * bounded) << "of " << bounded;
}

TEST(Race, OneThatBreaksOffOrRunsAsAnotherIsOutAndTheRaceGoesOn) {
    const std::vector<RaceKnob> knobs{{.key = "a", .values = {"0", "1", "2", "3"}}};
    Race race({.budgetSeconds = 60}, knobs, [](const RaceChoice& choice) {
        return RaceVerdict{"", choice[0] == 3 ? "0" : std::to_string(choice[0])};
    });
    double now = 0;
    while (const auto order = race.next()) {
        const std::size_t value = race.candidates()[order->candidate].choice[0];
        now += 0.5;
        RaceTimes times{.perToken = value == 2 ? 0.5 : 1.0, .msPerStep = 10, .seconds = 0.5, .elapsed = now, .others = std::nan("")};
        if (value == 1) times.failure = "It diverged.";
        race.done(times);
    }
    EXPECT_EQ(race.best(), RaceChoice{2});
    for (const auto& one : race.rejected()) {
        if (one.value == "1") {
            EXPECT_EQ(one.why, "It diverged.");
        }
        if (one.value == "3") {
            EXPECT_THAT(one.why, HasSubstr("Same as"));
        }
    }
}

TEST(Race, OfOneConfigurationOrABudgetThatIsTooShortKeepsThePresentSettings) {
    for (const bool alone : {true, false}) {
        const std::vector<RaceKnob> knobs{{.key = "a", .values = alone ? std::vector<std::string>{"0"} : std::vector<std::string>{"0", "1"}}};
        Race race({.budgetSeconds = 1}, knobs, [](const RaceChoice& choice) { return RaceVerdict{"", std::to_string(choice[0])}; });
        double now = 0;
        while (race.next()) race.done({.perToken = 1, .msPerStep = 900, .seconds = 1.5, .elapsed = now += 1.5});
        EXPECT_EQ(race.best(), RaceChoice{0});
        EXPECT_LE(now, 4.5);
    }
}

TEST(Race, WhosePresentSettingsCannotRunIsOverAndSaysWhy) {
    Race race({}, {{.key = "a", .values = {"0", "1"}}}, [](const RaceChoice& choice) { return RaceVerdict{"", std::to_string(choice[0])}; });
    ASSERT_TRUE(race.next().has_value());
    race.done({.failure = "It diverged."});
    EXPECT_FALSE(race.next().has_value());
    EXPECT_EQ(race.candidates()[0].why, "It diverged.");
}

// One block of the present settings, a heat of one round beside a second value, and then the time is spent.
RaceCandidate afterOneRound(double perToken) {
    Race race({.budgetSeconds = 10}, {{.key = "a", .values = {"0", "1"}}}, [](const RaceChoice& choice) {
        return RaceVerdict{"", std::to_string(choice[0])};
    });
    double now = 1;
    while (const auto order = race.next()) {
        now += 1;
        race.done({.perToken = order->candidate == 0 ? 1 : perToken, .msPerStep = 10, .seconds = now == 2 ? 2.0 : 1.0, .elapsed = now});
    }
    EXPECT_EQ(now, 4) << "the pilot, and a block of each";
    EXPECT_EQ(race.best(), RaceChoice{0});
    EXPECT_EQ(race.rejected().size(), 1u);
    EXPECT_EQ(race.rejected().at(0).why, race.candidates().at(1).why);
    return race.candidates().at(1);
}

TEST(Race, SaysOneRoundAsOneAndClaimsNothingOfIt) {
    const RaceCandidate faster = afterOneRound(0.999);
    EXPECT_EQ(faster.why, "No gain of more than 1.4 % that its 1 round would show (+0.1 %).");
    EXPECT_FALSE(faster.sure);
    EXPECT_NEAR(faster.ratio, 1 / 0.999, 1e-9);
    EXPECT_EQ(faster.low, 0) << "one round bounds nothing";
    EXPECT_TRUE(std::isinf(faster.high));
    const RaceCandidate hopeless = afterOneRound(5);
    EXPECT_EQ(hopeless.why, "About 5.0 times as much time a token as the present settings in 1 round; not raced longer.");
    EXPECT_FALSE(hopeless.sure);
    EXPECT_EQ(hopeless.state, RaceState::Rejected);
}

TEST(Race, ATimeThatIsNoNumberIsOutAndSaysSo) {
    for (const double perToken : {std::nan(""), 0.0, -1.0, std::numeric_limits<double>::infinity()}) {
        const RaceCandidate broken = afterOneRound(perToken);
        EXPECT_EQ(broken.why, "It could not be timed.") << perToken;
        EXPECT_TRUE(broken.sure);
        EXPECT_EQ(broken.rounds, 0);
    }
}

}  // namespace
}  // namespace stepscope
