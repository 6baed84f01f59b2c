#include "core/experiment/Judgement.h"

#include <algorithm>
#include <cmath>

namespace stepscope {
namespace {

// What was spent and was not enough is no answer to how much would have been: pairs took longer than the pilot's, others had them left out, or more
// than the pairs took its time (a run that does something else between them). Then it is what was spent and what the missing pairs take.
double leastSecondsOf(const Course& course, const PairedVerdict& verdict) {
    const double least = course.leastBudget();
    if (!course.plan() || verdict.reason != PairedReason::TooFewPairs) return least;
    const auto pairs = static_cast<double>(verdict.pairs), instances = static_cast<double>(verdict.rebuilds);
    const double pairsAnInstance = instances > 0 ? pairs / instances : 1;
    double missing = std::max(static_cast<double>(course.rules().leastPairs) - pairs,
                              (static_cast<double>(course.rules().leastRebuilds) - instances) * pairsAnInstance);
    // Who is stopped has no last look, which is content with fewer.
    if (course.stopped() && std::isfinite(verdict.pairsToGo)) missing = std::max(missing, verdict.pairsToGo);
    return std::max(least, course.elapsed() + missing * course.secondsACountedPair());
}

}  // namespace

void tellVerdict(const PairedVerdict& verdict, ExperimentJudged& judged) {
    judged.outcome = toString(verdict.outcome);
    judged.reason = toString(verdict.reason);
    judged.ratio = verdict.ratio;
    judged.low = verdict.low;
    judged.high = verdict.high;
    judged.floor = verdict.floor;
    judged.rareSlowSteps = verdict.rareSlowSteps;
    judged.pairs = static_cast<std::int64_t>(verdict.pairs);
    judged.left = static_cast<std::int64_t>(verdict.discarded);
    judged.rebuilds = static_cast<std::int64_t>(verdict.rebuilds);
}

ExperimentJudged judgementOf(const Course& course, bool over, const std::string& broke, const ArmNames& names) {
    const PairedVerdict verdict = course.verdict();
    ExperimentJudged judged{.over = over};
    if (!course.pairs().empty()) {
        const BlockPair& newest = course.pairs().back();
        judged.pair = static_cast<std::int64_t>(course.pairs().size()) - 1;
        judged.difference = newest.difference;
        judged.sameArm = newest.sameArm;
        judged.sameArmTurned = newest.sameArmTurned;
        judged.rebuild = newest.rebuild;
        judged.discarded = newest.discarded;
    }
    tellVerdict(verdict, judged);
    judged.seconds = course.elapsed();
    WhyContext context{.ended = course.endedBy(),
                       .broke = broke,
                       .leastSeconds = leastSecondsOf(course, verdict),
                       .leastPairs = course.rules().leastPairs,
                       .leastRebuilds = course.rules().leastRebuilds,
                       .delta = course.rules().delta,
                       .ofA = names.a,
                       .ofB = names.b};
    if (const auto& plan = course.plan()) {
        judged.pilotVariance = plan->variance;
        judged.pilotMad = plan->mad;
        judged.othersLimit = plan->othersLimit;
        context.others = course.othersMeanwhile();
        context.stealOfA = course.stealMeanwhile(Arm::A);
        context.stealOfB = course.stealMeanwhile(Arm::B);
        judged.pilotPairs = static_cast<std::int64_t>(plan->pilotPairs);
        judged.pairsARebuild = plan->pairsARebuild;
        judged.secondsToGo = context.secondsToGo = verdict.pairsToGo * course.secondsACountedPair();
    } else if (course.leastBudget() > course.elapsed()) {
        judged.secondsToGo = context.secondsToGo = course.leastBudget() - course.elapsed();
    }
    if (over) judged.why = whyJudged(verdict, context);
    return judged;
}

}  // namespace stepscope
