#include "core/analysis/RateDiagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/analysis/Statistics.h"

namespace stepscope {
namespace {

using Steps = std::span<const LrRangePoint>;

constexpr std::size_t kFewest = 200;  // steps: fewer say nothing
constexpr std::size_t kBlocks = 50;
constexpr int kFewestSwings = 3;                           // up and down again
constexpr double kLeastSwing = 0.03;                       // of the loss
constexpr double kSwingErrors = 8;                         // standard errors of a block's mean
constexpr double kAlternates = -0.4;                       // correlation of neighbouring steps; independent batches: 0
constexpr double kUnlearnt = 0.9;                          // of the loss of a model that knows nothing
constexpr double kHardlyMoved = 0.05, kHardlyRose = 0.02;  // of the loss at the start
constexpr double kStandsStill = 0.005, kDrops = 0.02;      // of the loss before the decay
constexpr double kDecayed = 0.9;                           // of the highest rate

struct Usual {
    double millions;  // of parameters
    UsualRates rates;
    const char* words;
};
constexpr std::array<Usual, 4> kUsual{{{124, {3e-4, 6e-4}, "3e-4 to 6e-4"},
                                       {355, {1e-4, 3e-4}, "1e-4 to 3e-4"},
                                       {774, {1e-4, 2e-4}, "1e-4 to 2e-4"},
                                       {1558, {5e-5, 1e-4}, "5e-5 to 1e-4"}}};

double meanLoss(Steps steps) {
    double sum = 0;
    for (const auto& step : steps) sum += step.loss;
    return sum / static_cast<double>(steps.size());
}

// Of single steps about the curve, whatever its slope: from differences of neighbours.
double noise(Steps steps) {
    double sum = 0;
    for (std::size_t i = 1; i < steps.size(); ++i) sum += (steps[i].loss - steps[i - 1].loss) * (steps[i].loss - steps[i - 1].loss);
    return std::sqrt(sum / static_cast<double>(2 * (steps.size() - 1)));
}

std::vector<double> blockMeans(Steps steps, std::size_t length) {
    std::vector<double> means;
    for (std::size_t begin = 0; begin + length <= steps.size(); begin += length) means.push_back(meanLoss(steps.subspan(begin, length)));
    return means;
}

// How often the curve rose by at least `least` and fell by as much again.
int swings(const std::vector<double>& curve, double least) {
    int count = 0;
    bool rising = false;
    double extreme = curve.front();
    for (const double value : curve) {
        if (rising ? value > extreme : value < extreme) extreme = value;
        if (std::fabs(value - extreme) < least) continue;
        count += rising ? 1 : 0;
        rising = !rising;
        extreme = value;
    }
    return count;
}

// Of each step's distance from its block's mean with the next one's. Blocks are long: the mean of a short one follows its steps, which alone makes
// neighbours look opposed.
double correlationOfNeighbours(Steps steps) {
    constexpr std::size_t length = 20;
    const auto means = blockMeans(steps, length);
    double product = 0, square = 0;
    for (std::size_t i = 0; i + 1 < means.size() * length; ++i) {
        const double here = steps[i].loss - means[i / length], next = steps[i + 1].loss - means[(i + 1) / length];
        product += here * next;
        square += here * here;
    }
    return square > 0 ? product / square : 0;
}

std::optional<RateFinding> tooHigh(Steps steps, double highest) {
    const std::size_t length = steps.size() / kBlocks;
    const auto means = blockMeans(steps, length);
    const double level = median(means), spread = noise(steps);
    const double least = std::max(kLeastSwing * level, kSwingErrors * spread / std::sqrt(static_cast<double>(length)));
    const int swung = swings(means, least);
    const bool alternates = spread > kLeastSwing * level && correlationOfNeighbours(steps) < kAlternates;
    if (swung < kFewestSwings && !alternates) return std::nullopt;
    const std::string seen =
        alternates ? "jumped up and down from step to step" : fmt::format("went up by more than {:.2g} and down again {} times", least, swung);
    return RateFinding{
        RateTrouble::TooHigh, highest,
        fmt::format("The loss {}: the learning rate (lr {:.2g}) is probably too high; try a third of it, or a longer warmup.", seen, highest)};
}

std::optional<RateFinding> tooLow(Steps steps, double highest, double untrained, std::size_t every) {
    // While it warms up a rate is low on purpose.
    const auto warm =
        static_cast<std::size_t>(std::ranges::find_if(steps, [&](const auto& step) { return step.rate >= kDecayed * highest; }) - steps.begin());
    if (!std::isfinite(untrained) || steps.size() - warm < kFewest) return std::nullopt;
    const std::size_t length = (steps.size() - warm) / 20;
    const double start = meanLoss(steps.first(std::min(length, std::max<std::size_t>(1, warm))));
    const auto early = blockMeans(steps.subspan(warm, 5 * length), length);
    const bool rose = std::ranges::any_of(early, [&](double mean) { return mean > (1 + kHardlyRose) * start; });
    if (rose || early.back() < (1 - kHardlyMoved) * start || early.back() < kUnlearnt * untrained) return std::nullopt;
    return RateFinding{
        RateTrouble::TooLow, highest,
        fmt::format("The loss hardly moved in the first {} steps ({:.3g} to {:.3g}): the learning rate (lr {:.2g}) is probably too low; try ten "
                    "times as much, or find one with lr-range.",
                    every * (warm + early.size() * length), start, early.back(), highest)};
}

std::optional<RateFinding> decaysLate(Steps steps, double highest, std::size_t every, std::int64_t firstStep) {
    const auto high = [&](const auto& step) { return step.rate >= kDecayed * highest; };
    const auto first = static_cast<std::size_t>(std::ranges::find_if(steps, high) - steps.begin());
    const auto decay =
        static_cast<std::size_t>(std::find_if_not(steps.begin() + static_cast<std::ptrdiff_t>(first), steps.end(), high) - steps.begin());
    const std::size_t quarter = (decay - first) / 4, after = (steps.size() - decay) / 4;
    if (quarter < kFewest / 4 || after < kFewest / 16) return std::nullopt;
    const Steps third = steps.subspan(decay - 2 * quarter, quarter), fourth = steps.subspan(decay - quarter, quarter);
    const double level = meanLoss(fourth), fallen = meanLoss(steps.last(after)),
                 error = noise(fourth) * std::sqrt(2.0 / static_cast<double>(quarter));
    const double mostStill = std::fabs(meanLoss(third) - level) + 2 * error;
    if (mostStill > kStandsStill * level || level - fallen < std::max(kDrops * level, 5 * mostStill)) return std::nullopt;
    return RateFinding{
        RateTrouble::DecaysLate, highest,
        fmt::format(
            "The loss stood still at {:.3g} up to step {} and fell to {:.3g} once the learning rate decayed: let it decay earlier (schedule, steps).",
            level, firstStep + static_cast<std::int64_t>(every * decay), fallen)};
}

}  // namespace

std::optional<RateFinding> findRateTrouble(Steps steps, double untrained, std::size_t every, std::int64_t firstStep) {
    if (steps.size() < kFewest || !std::ranges::all_of(steps, [](const auto& step) { return std::isfinite(step.loss); })) return std::nullopt;
    const double highest = std::ranges::max(steps, {}, &LrRangePoint::rate).rate;
    if (auto found = tooHigh(steps, highest)) return found;
    if (auto found = tooLow(steps, highest, untrained, every)) return found;
    return decaysLate(steps, highest, every, firstStep);
}

std::optional<std::string> diagnoseRate(Steps steps, double untrained, std::size_t every, std::int64_t firstStep) {
    auto found = findRateTrouble(steps, untrained, every, firstStep);
    return found ? std::optional(std::move(found->sentence)) : std::nullopt;
}

std::optional<UsualRates> usualRates(std::int64_t parameters) {
    const double millions = static_cast<double>(parameters) / 1e6;
    if (millions < kUsual.front().millions / 2) return std::nullopt;
    return std::ranges::min_element(kUsual, {}, [&](const Usual& one) { return std::fabs(std::log(millions / one.millions)); })->rates;
}

std::string typicalRates(std::int64_t parameters) {
    const double millions = static_cast<double>(parameters) / 1e6;
    if (millions < kUsual.front().millions / 2) return "Typical with 124 M parameters: 3e-4 to 6e-4; smaller models bear more.";
    const auto nearest = std::ranges::min_element(kUsual, {}, [&](const Usual& one) { return std::fabs(std::log(millions / one.millions)); });
    return fmt::format("Typical with {:.0f} M parameters: {}{}.", nearest->millions, nearest->words,
                       millions > 2 * kUsual.back().millions ? "; larger models want less" : "");
}

}  // namespace stepscope
