#include "core/analysis/JudgedSentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/analysis/ExperimentHistory.h"
#include "core/analysis/flips/FlipContext.h"
#include "core/base/Format.h"
#include "core/events/ConfigJson.h"
#include "core/events/ConfigKeys.h"

namespace stepscope {
namespace {

std::string minutes(double seconds) {
    if (seconds < 90) return fmt::format("{:.0f} s", std::ceil(seconds));
    return fmt::format("{:.0f} minutes", std::ceil(seconds / 60));
}

std::string more(const WhyContext& context, const char* whatItDoes) {
    if (!std::isfinite(context.secondsToGo) || context.secondsToGo <= 0) return "";
    if (context.secondsToGo > 86'400) return " With pairs that scatter so much, no time that is worth it would decide.";
    return fmt::format(" About {} more would {}.", minutes(context.secondsToGo), whatItDoes);
}

// What is fair beside other programs is still no answer for a machine that is alone.
constexpr double kOthersToTell = 0.25;  // processors
std::string besideOthers(const PairedVerdict& verdict, const WhyContext& context) {
    if (!(context.others >= kOthersToTell)) return "";
    return fmt::format(" Other programs took {:.1f} processor{} meanwhile: {}", context.others,
                       context.others < 1.05 && context.others >= 0.95 ? "" : "s",
                       verdict.outcome == PairedOutcome::Inconclusive ? "close them and ask again."
                                                                      : "it holds beside them, and may be another one on a quiet machine.");
}

// A host that gives s % of the processors' time to somebody else makes steps s % longer. Where the sides' shares differ by as much as counts as
// equal, that alone is a difference, whatever was found; where both lost five times as much, a fifth of it that falls on one of them is, which
// matters where nothing could be told. The coin has the pairs hold of this machine as it was: what is claimed stays so, and may be the host's.
constexpr double kStealOverDelta = 5;
std::string besideHost(const PairedVerdict& verdict, const WhyContext& context) {
    const double apart = std::abs(context.stealOfA - context.stealOfB), mean = (context.stealOfA + context.stealOfB) / 2;
    const double equal = context.delta * 100;
    const bool open = verdict.outcome == PairedOutcome::Inconclusive;
    if (!(apart > equal) && !(open && mean > kStealOverDelta * equal)) return "";
    const auto whatFollows = [&]() -> std::string {
        if (open)
            return (apart > equal ? ", which moves their ratio by about as much as these are apart" : "") +
                   std::string("; ask again when it gives less away.");
        if (verdict.outcome == PairedOutcome::Equivalent) return ": it may hide a difference of theirs.";
        const bool slowerLostMore = (verdict.outcome == PairedOutcome::Faster) == (context.stealOfA > context.stealOfB);
        return slowerLostMore ? ": part of the difference may be the host's." : ": without it the difference may be larger.";
    };
    return fmt::format(
        " This machine is a virtual one, and its host gave {:.1f} % of the processors' time to somebody else during the blocks of {} and {:.1f} % "
        "during those of {}{}",
        context.stealOfA, context.ofA, context.stealOfB, context.ofB, whatFollows());
}

// Two programs on one GPU share its time in turns that neither sees, and one that only holds memory there takes none.
std::string othersOnTheGpu(const MachineMeanwhile& machine) {
    constexpr double kOftenPct = 1, kBusyPct = 0.5;
    if (!(machine.gpuOthersPct >= kOftenPct)) return "";
    const std::string were = fmt::format("Other programs were on the GPU in {:.0f} % of the samples meanwhile", machine.gpuOthersPct);
    if (machine.gpuOthersBusyPct < kBusyPct) return were + ", and computed nothing there that was seen.";
    const std::string computed =
        machine.gpuOthersBusyPct >= kBusyPct ? fmt::format(", and computed there {:.0f} % of the time", machine.gpuOthersBusyPct) : "";
    return were + computed + ": what was found holds beside them, and may be another on a GPU that nobody shares.";
}

std::string percent(double ratio, int decimals) {
    return fmt::format("{:.{}f} %", std::abs(ratio - 1) * 100, decimals);
}

// So many that what lies beyond a border is not rounded to it: an interval that excludes "equal" must not be printed as one that ends there.
int decimalsBeyond(double distance, int least) {
    constexpr int kMore = 4;
    int decimals = least;
    for (double shown = 0.5 * std::pow(10, -least); distance > 0 && distance <= shown && decimals < least + kMore; shown /= 10) ++decimals;
    return decimals;
}

// What ended it before it was decided, for before "after 3 pairs"; empty: nothing did but its own budget, or that it was decided.
const char* whatCutItShort(EndedBy ended) {
    switch (ended) {
        case EndedBy::Person:
            return "It was stopped";
        case EndedBy::RunsEnd:
            return "The run ended";
        case EndedBy::RunStopped:
            return "The run was stopped";
        case EndedBy::ASetting:
            return "A setting of the run was changed";
        case EndedBy::Breakage:
            return "That was";
        case EndedBy::Itself:
        case EndedBy::Budget:
            break;
    }
    return "";
}

// Pairs enough, and too few instances of the two programs for a claim.
std::string fewInstances(const PairedVerdict& verdict, const WhyContext& context) {
    const char* cut = whatCutItShort(context.broke.empty() ? context.ended : EndedBy::Breakage);
    const std::string said = fmt::format(
        "{} after {} pairs, with the programs built again {} time{}; a verdict needs {}, as where memory happens to lie may be what "
        "differs.",
        *cut != 0 ? cut : "The budget was spent", verdict.pairs, verdict.rebuilds, verdict.rebuilds == 1 ? "" : "s", context.leastRebuilds);
    return context.broke.empty() ? said + more(context, std::isfinite(verdict.high) ? "decide it" : "give an interval") : said;
}

// Of what has pairs enough and is open all the same: it was not the pairs that ended it.
std::string whatEndedIt(const PairedVerdict& verdict, const WhyContext& context) {
    if (verdict.outcome != PairedOutcome::Inconclusive || verdict.reason == PairedReason::None || verdict.reason == PairedReason::TooFewPairs)
        return "";
    if (context.ended == EndedBy::Itself || context.ended == EndedBy::Breakage) return "";
    return fmt::format("{} before it was decided. ", context.ended == EndedBy::Budget ? "The budget was spent" : whatCutItShort(context.ended));
}

std::string whyAlone(const PairedVerdict& verdict, const WhyContext& context) {
    const auto interval = [&] {
        // Whoever tells it of a flip that was made tells it the other way round, so it says which way it is.
        if (context.ofB != "B")
            return fmt::format("The speed of {} as a multiple of {}'s, [{:.3f}, {:.3f}], holds both \"equal\" and \"different\".", context.ofB,
                               context.ofA, verdict.low, verdict.high);
        return fmt::format("The interval [{:.3f}, {:.3f}] holds both \"equal\" and \"different\".", verdict.low, verdict.high);
    };
    if (verdict.outcome != PairedOutcome::Inconclusive)
        return verdict.rareSlowSteps ? "The mean lies outside of the interval: rare slow steps weigh on one of them." : "";
    const std::string busy = verdict.discarded > verdict.pairs ? fmt::format(" Other programs used this machine: {} of {} pairs were left out.",
                                                                             verdict.discarded, verdict.discarded + verdict.pairs)
                                                               : "";
    switch (verdict.reason) {
        case PairedReason::None:
            return "";
        case PairedReason::TooFewPairs:
            if (verdict.pairs >= context.leastPairs) return fewInstances(verdict, context) + busy;
            if (const char* cut = whatCutItShort(context.broke.empty() ? context.ended : EndedBy::Breakage); *cut != 0)
                return fmt::format("{} after {} pair{}, too few to say anything.{}", cut, verdict.pairs, verdict.pairs == 1 ? "" : "s",
                                   context.broke.empty() ? more(context, "give an interval") : "");
            return (context.leastSeconds > 0
                        ? fmt::format("The budget was spent after {} pair{}; the least that says anything would have taken about {}.", verdict.pairs,
                                      verdict.pairs == 1 ? "" : "s", minutes(context.leastSeconds))
                        : "The budget was spent before a pair was made; give it more seconds.") +
                   busy;
        case PairedReason::TooWide:
            if (!std::isfinite(verdict.high) || !(verdict.low > 0))
                return fmt::format("{} pairs that scatter like these are too few for an interval.", verdict.pairs) + busy + more(context, "give one");
            return interval() + busy + more(context, "decide it");
        case PairedReason::RebuildsDiffer:
            return "The pairs differ, but not alike in each instance of the two: where memory happens to lie may be what differs." +
                   more(context, "decide it");
        case PairedReason::OrderMatters:
            return "Two blocks of one side in turn differ by which came first: something on this machine drifts faster than the pairs can follow.";
        case PairedReason::DiscardsDecide:
            return "With the pairs that were left out for other programs' use of the machine, the verdict is another one; repeat it on a quieter "
                   "machine.";
        case PairedReason::RareSlowSteps:
            return verdict.low > 1 || verdict.high < 1
                       ? "It differs in rare slow steps: most steps say one thing, and the mean of all of them the opposite."
                       : "It differs in rare slow steps: most steps are equal, the mean is not.";
        case PairedReason::WithinFloor:
            return std::isfinite(verdict.floor) ? fmt::format("One of them beside itself says as much here ({}): that is this machine's, not theirs.",
                                                              floorWords(verdict.floor, 1))
                                                : std::string("What one of them says beside itself here is not bounded yet.");
    }
    return "";
}

// "amp=bf16 fusion=step"; of many settings the first ones.
std::string listedSide(const std::vector<DifferingKey>& keys, Arm arm) {
    constexpr std::size_t kMostNamed = 3;
    std::string all;
    for (std::size_t i = 0; i < std::min(kMostNamed, keys.size()); ++i)
        all += fmt::format("{}{}={}", all.empty() ? "" : " ", keys[i].key, arm == Arm::A ? keys[i].a : keys[i].b);
    return keys.size() > kMostNamed ? all + fmt::format(" and {} more", keys.size() - kMostNamed) : all;
}

bool differs(const ExperimentJudged& judged) {
    return judged.outcome == toString(PairedOutcome::Faster) || judged.outcome == toString(PairedOutcome::Slower);
}

// Of what is slower, the bound that is nearer to 1 is the smaller loss.
double nearBound(const ExperimentJudged& judged) {
    return judged.outcome == toString(PairedOutcome::Faster) ? judged.low : judged.high;
}

int percentDecimals(const ExperimentJudged& judged) {
    return decimalsBeyond(std::abs(nearBound(judged) - 1) * 100, 1);
}

std::string pairsSentence(const std::string& verdict, const ExperimentJudged& judged) {
    const std::string left = judged.left > 0 ? fmt::format(", {} left out", judged.left) : "";
    std::string said = fmt::format("{}, in {} pair{} of blocks{}.", verdict, judged.pairs, judged.pairs == 1 ? "" : "s", left);
    if (!judged.why.empty()) said += " " + judged.why;
    return said;
}

}  // namespace

JudgedParts judgedParts(const ExperimentJudged& judged, double delta) {
    if (judged.outcome == toString(PairedOutcome::Equivalent)) return {fmt::format("no difference of more than {:g} %", delta * 100), ""};
    if (!differs(judged)) return {judged.outcome.empty() ? "inconclusive" : judged.outcome, ""};
    const double near = nearBound(judged), far = near == judged.low ? judged.high : judged.low;
    if (judged.ratio >= 2) {
        const int decimals = decimalsBeyond(std::abs(near - 1), 2);
        return {fmt::format("{:.{}f} times as fast", judged.ratio, decimals),
                fmt::format("[{:.{}f}, {:.{}f}]", judged.low, decimals, judged.high, decimals)};
    }
    const int decimals = percentDecimals(judged);
    return {fmt::format("{} by {}", judged.outcome, percent(judged.ratio, decimals)),
            fmt::format("[{}, {}]", percent(near, decimals), percent(far, decimals))};
}

std::string judgedWords(const ExperimentJudged& judged, double delta) {
    const JudgedParts words = judgedParts(judged, delta);
    return words.interval.empty() ? words.verdict : words.verdict + " " + words.interval;
}

ArmNames armNames(const RunConfig& a, const RunConfig& b) {
    const auto keys = differingKeys(a, b);
    if (keys.size() != 1) return {};
    return {keys[0].key + "=" + keys[0].a, keys[0].key + "=" + keys[0].b};
}

ArmNames armNames(const ExperimentBegan& began) {
    const auto a = configFromJson(began.configA), b = configFromJson(began.configB);
    return a && b ? armNames(*a, *b) : ArmNames();
}

std::string nameOfSide(const RunConfig& a, const RunConfig& b, Arm arm) {
    const auto keys = differingKeys(a, b);
    return keys.empty() ? toString(arm) : listedSide(keys, arm);
}

std::string verdictHeadline(const ExperimentJudged& judged, double delta, const ArmNames& names) {
    const JudgedParts words = judgedParts(judged, delta);
    if (!differs(judged)) {
        std::string said = words.verdict;
        said[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(said[0])));
        return said;
    }
    if (!names.named()) return fmt::format("B is {} {}", words.verdict, words.interval);
    if (judged.ratio >= 2) return fmt::format("{} is {} as {} {}", names.b, words.verdict, names.a, words.interval);
    return fmt::format("{} is {} than {} by {} {}", names.b, judged.outcome, names.a, percent(judged.ratio, percentDecimals(judged)), words.interval);
}

std::string verdictLine(const ExperimentJudged& judged, double delta, const ArmNames& names) {
    if (names.named() && differs(judged)) return verdictHeadline(judged, delta, names);
    return fmt::format("{} beside {}: {}", names.b, names.a, judgedWords(judged, delta));
}

std::string headlineBesideItself(const ExperimentJudged& judged, double delta) {
    if (!differs(judged)) return verdictHeadline(judged, delta);
    std::string said = judgedWords(judged, delta);
    said[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(said[0])));
    return said + ", though both sides are the same";
}

std::string sentenceBesideItself(const ExperimentJudged& judged, double delta) {
    return pairsSentence("One configuration beside itself: " + judgedWords(judged, delta), judged);
}

std::string claimBesideItself(const ExperimentJudged& judged, double alpha) {
    if (!differs(judged)) return "";
    return fmt::format(
        "Both sides are the same, so this difference is none of their settings: up to {:.3g} % of such experiments may claim one by chance. Where it "
        "comes "
        "again, do not rely on differences of this size on this machine.",
        alpha * 100);
}

ExperimentJudged turnedRound(ExperimentJudged judged) {
    judged.ratio = 1 / judged.ratio;
    const double low = judged.low;
    judged.low = 1 / judged.high;
    judged.high = 1 / low;
    if (judged.outcome == toString(PairedOutcome::Faster))
        judged.outcome = toString(PairedOutcome::Slower);
    else if (judged.outcome == toString(PairedOutcome::Slower))
        judged.outcome = toString(PairedOutcome::Faster);
    return judged;
}

std::string sidesOfTurns(const std::string& id, const std::string& from, const std::string& to) {
    return fmt::format("{} {} beside {}", id, to, from);
}

std::string sidesInWords(const ExperimentBegan& began) {
    const auto a = configFromJson(began.configA), b = configFromJson(began.configB);
    if (!a || !b) return "B beside A";
    const auto keys = differingKeys(*a, *b);
    if (keys.empty()) return "one configuration beside itself";
    if (keys.size() == 1)
        if (const auto turns = turnsOf(began.configA, began.configB)) return sidesOfTurns(turns->id, toString(turns->from), toString(turns->to));
    return fmt::format("{} beside {}", listedSide(keys, Arm::B), listedSide(keys, Arm::A));
}

std::string judgedSentence(const ExperimentJudged& judged, double delta, const std::string& sides) {
    return pairsSentence(sides + ": " + judgedWords(judged, delta), judged);
}

std::string verdictSentence(const ExperimentJudged& judged, double delta, const ArmNames& names) {
    return pairsSentence(verdictLine(judged, delta, names), judged);
}

std::string turnsSentence(const ExperimentJudged& judged, double delta, const TurnsWords& turns) {
    return judgedSentence(judged, delta, sidesOfTurns(turns.id, turns.from, turns.to)) +
           fmt::format(" A value beside itself here: {}.{} {} {} {}.", floorWords(judged.floor, turns.same),
                       floorAdvice(judged.floor, judged.ratio, judged.outcome), turns.id, turns.changed ? "became" : "stayed",
                       turns.changed ? turns.to : turns.from);
}

std::string whyJudged(const PairedVerdict& verdict, const WhyContext& context) {
    // What ended it comes first: everything else is about what was there by then.
    std::string why = (context.broke.empty() ? whatEndedIt(verdict, context) : context.broke + " ") + whyAlone(verdict, context);
    if (why.ends_with(' ')) why.pop_back();
    if (verdict.pairs > 0) why += besideOthers(verdict, context);
    if (verdict.pairs > 0) why += besideHost(verdict, context);
    return why.starts_with(' ') ? why.substr(1) : why;
}

std::string undecidedSentence(const ExperimentJudged& judged, double secondsLeft) {
    constexpr double kHour = 3600;
    const PairedRules rules;
    if (judged.pairs < static_cast<std::int64_t>(rules.leastPairs))
        return fmt::format("{} pairs are the least that says anything.", rules.leastPairs);
    const double toGo = judged.secondsToGo;
    if (!std::isfinite(judged.high) || !std::isfinite(toGo) || toGo <= 0) return "The pairs scatter too much for an interval so far.";
    if (toGo > kHour && toGo > secondsLeft)
        return "If the pairs go on to scatter like this, it takes hours to decide. Mostly other programs on this machine are why: close them.";
    return fmt::format("If the pairs go on to scatter like this, about {} more decide it{}.", minutes(toGo),
                       toGo > secondsLeft ? ", longer than the time that it was given" : "");
}

std::string equalTimeSentence(const ExperimentJudged& judged, const ArmNames& names) {
    const EqualTimeLoss& loss = judged.equalTime;
    if (loss.seconds <= 0) return "";
    if (loss.seeds < 1 || !std::isfinite(loss.a) || !std::isfinite(loss.b)) return "Loss at equal time was asked for and is not known.";
    std::string said = fmt::format(
        "After {:g} s of training each, with {} seed{}, the validation loss of {} is {:.4f} ({:.0f} steps) and that of {} {:.4f} ({:.0f} steps)",
        loss.seconds, loss.seeds, loss.seeds == 1 ? "" : "s", names.a, loss.a, loss.stepsA, names.b, loss.b, loss.stepsB);
    if (!std::isfinite(loss.low) || !std::isfinite(loss.high)) return said + ": too few seeds to say which is lower.";
    const bool lower = loss.high<0, higher = loss.low> 0;
    if (lower || higher) {
        const double near = lower ? -loss.high : loss.low, far = lower ? -loss.low : loss.high;
        const int decimals = decimalsBeyond(near, 4);
        said += fmt::format(": {}'s is {} by {:.{}f} [{:.{}f}, {:.{}f}].", names.b, lower ? "lower" : "higher", std::abs(loss.difference), decimals,
                            near, decimals, far, decimals);
    } else
        said += fmt::format(": nobody can tell which is lower, {}'s minus {}'s is {:.4f} [{:.4f}, {:.4f}].", names.b, names.a, loss.difference,
                            loss.low, loss.high);
    // An interval that holds 0 shows nothing, neither that it gets there sooner nor that it does not.
    const bool faster = judged.outcome == toString(PairedOutcome::Faster), slower = judged.outcome == toString(PairedOutcome::Slower);
    if (faster && higher) said += fmt::format(" {} is faster per token, not to this loss.", names.b);
    if (slower && lower) said += fmt::format(" {} is slower per token, not to this loss.", names.b);
    if ((faster || slower) && !lower && !higher)
        said += fmt::format(" {} is {} per token; whether it is to this loss is not known.", names.b, faster ? "faster" : "slower");
    return said;
}

std::string lossApart(double difference) {
    constexpr double kNone = 5e-5;  // it would be written as 0.0000
    if (std::abs(difference) < kNone) return "the same to four digits";
    return fmt::format("that of B is {:.4f} {} on average", std::abs(difference), difference < 0 ? "lower" : "higher");
}

std::string meansSentence(const ExperimentJudged& judged, double speedRatio, double delta) {
    constexpr double kAlike = 0.02;
    if (!(judged.ratio > 0) || !(speedRatio > 0) || !std::isfinite(judged.ratio) || !std::isfinite(speedRatio)) return "";
    if (std::abs(std::log(speedRatio / judged.ratio)) <= std::max(kAlike, std::log1p(delta))) return "";
    return fmt::format(
        "Over all counted steps together B trained {:.3f} times as many tokens a second as A, while the mean of the pairs is {:.3f}: where this "
        "machine "
        "was slow for a while weighs more in the first, and each pair counts alike in the second, which the verdict is of.",
        speedRatio, judged.ratio);
}

std::string machineSentence(const MachineMeanwhile& machine) {
    constexpr double kSpread = 1.05, kThrottledPct = 1;
    const auto clocks = [](const char* who, double low, double high) {
        if (!(low > 0) || !(high > kSpread * low) || !std::isfinite(high)) return std::string();
        return fmt::format("{} ran at {} to {} MHz meanwhile (nine of ten samples).", who, format::count(std::llround(std::min(low, 1e9))),
                           format::count(std::llround(std::min(high, 1e9))));
    };
    std::string said = clocks("The GPU", machine.gpuMhzLow, machine.gpuMhzHigh) + clocks("The processors", machine.cpuMhzLow, machine.cpuMhzHigh);
    if (machine.throttledPct > kThrottledPct)
        said += fmt::format("{}A quota stopped the threads in {:.0f} % of its periods meanwhile.", said.empty() ? "" : " ", machine.throttledPct);
    if (const std::string others = othersOnTheGpu(machine); !others.empty()) said += (said.empty() ? "" : " ") + others;
    return said;
}

std::string foretoldSentence(double foretold, const std::string& basis, const ExperimentJudged& judged) {
    if (!(foretold > 0) || !std::isfinite(foretold) || !(judged.ratio > 0) || !std::isfinite(judged.ratio) || judged.pairs == 0) return "";
    const bool bounded = judged.low > 0 && std::isfinite(judged.high);
    // Two rounded numbers are told apart where they differ by more than a unit of their last digit.
    const double fromBound = std::min(std::abs(foretold - judged.low), std::abs(foretold - judged.high));
    const int decimals = bounded ? decimalsBeyond(fromBound / 2, 2) : 2;
    std::string said = fmt::format("Foretold before it was measured: B {:.{}f} times as fast as A{}; measured {:.{}f}", foretold, decimals,
                                   basis.empty() ? "" : " (from " + basis + ")", judged.ratio, decimals);
    if (!bounded) return said + ".";
    const bool held = judged.low <= foretold && foretold <= judged.high;
    return said + fmt::format(" [{:.{}f}, {:.{}f}], which {} it.", judged.low, decimals, judged.high, decimals, held ? "holds" : "does not hold");
}

std::string floorWords(double floor, std::size_t same) {
    if (std::isfinite(floor)) return fmt::format("within {:.2f} %", (floor - 1) * 100);
    if (same == 0) return "not known: no two blocks of one side came in turn";
    return fmt::format("not known: {} comparison{} of a side's blocks {} too few for an interval", same, same == 1 ? "" : "s",
                       same == 1 ? "is" : "are");
}

std::string floorAdvice(double floor, double ratio, const std::string& outcome) {
    if (!(floor >= 1) || !std::isfinite(floor)) return "";
    const bool claimed = outcome == toString(PairedOutcome::Faster) || outcome == toString(PairedOutcome::Slower);
    // As both are printed, since a reader compares those: 21 % slower is beyond a floor of 24 % as a logarithm, and less than it to the eye.
    if (claimed && std::abs(ratio - 1) < floor - 1) return " The difference that is claimed is smaller: measure once more before relying on it.";
    return " A smaller difference should not be believed.";
}

}  // namespace stepscope
