#include "sessions/Plausible.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "core/analysis/PairedVerdict.h"

namespace stepscope {
namespace {

void expect(bool holds, const char* what) {
    if (!holds) throw std::out_of_range(fmt::format("an answer was stored that cannot be: {}", what));
}

constexpr double kLargestAnswer = 1e15;  // nothing that is measured comes to so much; the first bounds of an interval may

// Unknown is NaN, and allowed.
bool isRatio(double value) {
    return std::isnan(value) || (value > 0 && value <= kLargestAnswer);
}
bool isBound(double value) {
    return std::isnan(value) || value >= 0;
}
bool isFloor(double value) {
    return isBound(value) && !(std::isfinite(value) && value > kLargestAnswer);
}
bool isSeconds(double value) {
    return !(value < 0) && !(value > kLargestAnswer);
}

void checkRatio(const std::string& outcome, double ratio, double low, double high) {
    const std::array known{PairedOutcome::Faster, PairedOutcome::Slower, PairedOutcome::Equivalent, PairedOutcome::Inconclusive};
    expect(outcome.empty() || std::ranges::any_of(known, [&](PairedOutcome one) { return outcome == toString(one); }), "an unknown outcome");
    expect(isRatio(ratio), "a ratio of times that is not positive, or beyond all");
    expect(isBound(low) && isBound(high), "a negative bound");
    expect(!(low > high), "an interval that runs backwards");
    // What is not known to lie on one side of 1 was never claimed to.
    expect(outcome != toString(PairedOutcome::Faster) || low >= 1, "\"faster\" with an interval that holds \"equal\"");
    expect(outcome != toString(PairedOutcome::Slower) || high <= 1, "\"slower\" with an interval that holds \"equal\"");
}

// What every sentence about an answer rests on: "a 95 % interval", "no difference of more than 1 %".
void checkAsked(double delta, double alpha, double budgetSeconds) {
    expect(delta > 0 && delta <= 1, "a difference that counts as equal and is none");
    expect(alpha > 0 && alpha < 1, "a share of wrong answers that is none");
    expect(budgetSeconds >= 0 && isSeconds(budgetSeconds), "a budget that is none");
}

}  // namespace

void checkPlausible(const ExperimentBegan& began) {
    checkAsked(began.delta, began.alpha, began.budgetSeconds);
}

void checkPlausible(const StudyBegan& began) {
    checkAsked(began.delta, began.alpha, began.budgetSeconds);
}

void checkPlausible(const BlockDone& block) {
    expect(block.duration.ns >= 0 && block.turn.ns >= 0 && block.median.ns >= 0 && block.slowest.ns >= 0, "a negative time");
    expect(block.steps >= 0 && block.tokens >= 0 && block.warmUp >= 0, "a negative count");
}

void checkPlausible(const ExperimentJudged& judged) {
    checkRatio(judged.outcome, judged.ratio, judged.low, judged.high);
    expect(isFloor(judged.floor), "a floor that is none");
    expect(judged.pairs >= 0 && judged.left >= 0 && judged.rebuilds >= 0, "a negative count");
    expect(isSeconds(judged.seconds), "a time that is none");
    const EqualTimeLoss& loss = judged.equalTime;
    expect(!(loss.seconds < 0) && loss.seeds >= 0 && !(loss.stepsA < 0) && !(loss.stepsB < 0), "a negative count or time of a loss");
    expect(!(loss.low > loss.difference) && !(loss.high < loss.difference), "a difference of losses outside of its interval");
}

void checkPlausible(const StudyRow& row) {
    checkRatio(row.outcome, row.ratio, row.low, row.high);
    expect(isRatio(row.total) && isBound(row.totalLow) && isBound(row.totalHigh) && !(row.totalLow > row.totalHigh), "an impossible total");
    expect(isFloor(row.floor), "a floor that is none");
    expect(row.pairs >= 0 && isSeconds(row.seconds), "a negative count, or a time that is none");
    expect(row.keptSession >= 0, "a session that cannot be");
}

}  // namespace stepscope
