#include "core/experiment/Course.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/analysis/Statistics.h"
#include "core/base/Check.h"
#include "core/base/CounterRandom.h"

namespace stepscope {
namespace {

// Streams of the coins: each decides one thing, so that none depends on how often another was tossed. Whatever is asked
// for without another seed has seed 1, and what is lopsided under it is so for all of them: these streams are even there (CourseCoinsTest).
constexpr std::uint64_t kOrderCoin = 0x746f7373, kBuildCoin = 0x6d616465, kSignCoin = 0x7369676e;

constexpr std::size_t kLeastPilotPairs = 2, kMostPilotPairs = 8;
constexpr double kPilotShare = 0.12;  // of the budget, beyond the least number of pairs
constexpr std::int64_t kMostBlockSteps = 2000;
constexpr double kMostUnlike = 3;            // times that one arm's step may take of the other's, for blocks of equal steps
constexpr double kFlat = 0.01;               // a position is as fast as those after it when its mean is within this of theirs, or within its scatter
constexpr std::int64_t kLongestRebuild = 4;  // pairs, where rebuilding costs nothing to speak of
constexpr double kPairsLeftOut = 1.25;       // times the least number of pairs, where some of them are left out
constexpr double kAsGood = 1.3;              // times the least time for an interval: a dozen turns tell no better which length of block takes less
constexpr double kLeastSpread = 1e-5;        // of a pair's difference: clocks are no finer

Arm other(Arm arm) {
    return arm == Arm::A ? Arm::B : Arm::A;
}

double sum(const std::vector<double>& values, std::size_t from) {
    double all = 0;
    for (std::size_t i = from; i < values.size(); ++i) all += values[i];
    return all;
}

// Of equality it is enough that it is bounded: to narrow it below delta would take far longer than the answer.
bool floorIsBelow(const PairedVerdict& verdict, double delta) {
    constexpr double kShare = 1.0 / 3;  // of the difference
    if (!std::isfinite(verdict.floor)) return false;
    if (verdict.outcome == PairedOutcome::Equivalent) return true;
    return std::log(verdict.floor) <= std::max(std::log1p(delta), kShare * std::abs(std::log(verdict.ratio)));
}

}  // namespace

double expectedSeconds(const CourseRules& rules, double stepOfA, double stepOfB) {
    const double slower = std::max(stepOfA, stepOfB), faster = std::min(stepOfA, stepOfB);
    if (!(faster > 0) || !std::isfinite(slower)) return rules.budgetSeconds;
    const auto steps = static_cast<double>(rules.blockSteps);
    // One step of each block warms up. Blocks of arms that are very unlike are equally long.
    const auto block = [&](double step) {
        const double least =
            slower > kMostUnlike * faster ? std::max(rules.blockSeconds, steps * slower) : std::max(rules.blockSeconds, steps * step);
        return least + step;
    };
    const double pair = block(stepOfA) + block(stepOfB);
    const double pilot = static_cast<double>(kLeastPilotPairs) * pair;
    const double enough = pilot + kPairsLeftOut * static_cast<double>(rules.leastPairs) * pair;
    // What is under way is finished: a pair of blocks of the pilot at least.
    return std::max({rules.budgetSeconds, std::min(enough, rules.mostSeconds), pair});
}

double Course::Block::perToken() const {
    return times.seconds / static_cast<double>(std::max<std::int64_t>(times.tokens, 1));
}

Course::Course(CourseRules rules) : m_rules(rules) {
    SS_CHECK(m_rules.delta > 0 && m_rules.alpha > 0 && m_rules.alpha < 1 && m_rules.blockSteps > 0 && m_rules.budgetSeconds > 0 &&
             m_rules.rebuildShare > 0 && m_rules.shortestSteps > 0 && m_rules.shortestSeconds > 0);
}

bool Course::coin(std::uint64_t stream, std::uint64_t number) const {
    return (counterRandom(m_rules.seed, stream, number) & 1) != 0;
}

std::optional<BlockOrder> Course::next() {
    SS_CHECK(!m_order);
    if (m_over) return std::nullopt;
    BlockOrder order;
    order.second = m_first.has_value();
    if (!order.second) {
        const bool pilotBegins = m_rebuild < 0, pairsBegin = m_plan && m_pairs.empty() && m_pairsOfRebuild < 0;
        order.rebuild = pilotBegins || pairsBegin || (m_plan && dueForRebuilding());
        order.arm = coin(kOrderCoin, m_toss++) ? Arm::A : Arm::B;
    } else {
        order.arm = other(m_first->arm);
    }
    if (order.rebuild) {
        ++m_rebuild;
        m_pairsOfRebuild = 0;
        order.builtFirst = coin(kBuildCoin, static_cast<std::uint64_t>(m_rebuild)) ? Arm::A : Arm::B;
    }
    if (piloting()) {
        order.steps = m_rules.blockSteps;
        order.leastSeconds = m_rules.blockSeconds;
    } else {
        order.pair = static_cast<std::int64_t>(m_pairs.size());
        order.warmUp = m_plan->warmUp[armPlace(order.arm)];
        order.steps = m_plan->steps[armPlace(order.arm)];
    }
    m_order = order;
    return order;
}

void Course::done(const BlockTimes& times) {
    SS_CHECK(m_order && !times.steps.empty());
    const BlockOrder order = *m_order;
    m_order.reset();
    m_elapsed = times.elapsed;
    if (order.rebuild) m_rebuildSeconds = std::max(m_rebuildSeconds, times.rebuildSeconds);
    if (m_over) return;  // stopped meanwhile
    if (piloting()) {
        m_pilot.push_back({order.arm, times});
        if (!order.second) {
            m_first = m_pilot.back();
            return;
        }
        m_first.reset();
        const std::size_t pairs = m_pilot.size() / 2;
        if (pairs >= kMostPilotPairs || (pairs >= kLeastPilotPairs && m_elapsed > kPilotShare * m_rules.budgetSeconds))
            concludePilot();
        else if (m_elapsed >= std::max(m_rules.budgetSeconds, m_rules.mostSeconds))
            m_over = m_spent = true;
        return;
    }
    if (!order.second) {
        m_first = Block{order.arm, times};
        return;
    }
    const Block second{order.arm, times};
    const Block first = *std::exchange(m_first, std::nullopt);
    const Block& a = first.arm == Arm::A ? first : second;
    const Block& b = first.arm == Arm::A ? second : first;
    BlockPair pair{.difference = std::log(a.perToken() / b.perToken()), .rebuild = m_rebuild};
    const double length = first.times.turnSeconds + first.times.seconds + second.times.turnSeconds + second.times.seconds;
    const double others = (first.times.others * (first.times.turnSeconds + first.times.seconds) +
                           second.times.others * (second.times.turnSeconds + second.times.seconds)) /
                          length;
    pair.discarded = std::isfinite(others) && std::isfinite(m_plan->othersLimit) && others > m_plan->othersLimit;
    if (pair.discarded) {
        m_before.reset();
    } else {
        if (std::isfinite(others)) {
            m_othersSeconds += others * length;
            m_lookedSeconds += length;
        }
        for (const Block& block : {first, second}) {
            if (!std::isfinite(block.times.stealPct)) continue;
            const double seconds = block.times.turnSeconds + block.times.seconds;
            m_stolen[armPlace(block.arm)] += block.times.stealPct * seconds;
            m_stealLooked[armPlace(block.arm)] += seconds;
        }
        if (m_before && m_before->arm == first.arm) {
            pair.sameArm = std::log(m_before->perToken / first.perToken());
            pair.sameArmTurned = coin(kSignCoin, m_pairs.size());
        }
        m_before = Before{second.arm, second.perToken()};
    }
    m_pairs.push_back(pair);
    ++m_pairsOfRebuild;
    concludePair();
}

void Course::concludePair() {
    // What one side beside itself says here is part of the answer: where there is time for it, a decided experiment goes on until a reader can see
    // that the difference is not of that size.
    const PairedVerdict now = verdict();
    if (now.settled && floorIsBelow(now, m_rules.delta)) {
        m_over = true;
    } else if (!timeForAnother(now.pairs >= m_rules.leastPairs && now.rebuilds >= m_rules.leastRebuilds)) {
        m_over = m_spent = true;
    }
}

// As often as the pilot planned it, and sooner where that comes too late. Pairs that take longer than the pilot's would leave too few instances for
// any claim when the time is spent. Each of the least number has its share of the time, the last one twice its share; what the pairs say plays no
// part, and where they take as long as the pilot said it changes nothing.
bool Course::dueForRebuilding() const {
    if (m_pairsOfRebuild >= m_plan->pairsARebuild) return true;
    std::size_t counted = 0;
    std::int32_t newest = -1;
    for (const BlockPair& pair : m_pairs) {
        if (pair.discarded || pair.rebuild == newest) continue;
        newest = pair.rebuild;
        ++counted;
    }
    if (newest != m_rebuild || counted >= m_rules.leastRebuilds) return false;
    const double share = (m_rules.budgetSeconds - m_plannedAt) / static_cast<double>(m_rules.leastRebuilds + 1);
    return m_elapsed - m_plannedAt >= static_cast<double>(counted) * share;
}

// enough: pairs for the look at the end. Their number alone decides how long it goes on, never what they say: that look must have been fixed
// beforehand.
bool Course::timeForAnother(bool enough) const {
    // For slow steps, not for pairs that others disturb: who computes all day would make it wait all day.
    const double most = enough ? 0 : std::min(m_rules.mostSeconds, kPairsLeftOut * leastBudget());
    return m_elapsed + m_plan->pairSeconds + (dueForRebuilding() ? m_rebuildSeconds : 0) <= std::max(m_rules.budgetSeconds, most);
}

// The first position from which on steps are as fast as those that follow them in their block, over the pilot's blocks of an arm. At least one step:
// the first after a turn meets the other arm's caches.
std::int64_t Course::warmUpOf(Arm arm, std::int64_t most) const {
    std::vector<std::vector<double>> slower;  // by position: the logarithm of its time over the mean of those after it
    for (const Block& block : m_pilot) {
        if (block.arm != arm) continue;
        const std::vector<double>& steps = block.times.steps;
        for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
            if (slower.size() <= i) slower.emplace_back();
            slower[i].push_back(std::log(steps[i] / (sum(steps, i + 1) / static_cast<double>(steps.size() - i - 1))));
        }
    }
    // As a rule a position has but a handful of blocks, so how far their mean moves by itself is told by all positions together.
    std::vector<double> scatters;
    for (const auto& position : slower) {
        if (position.size() < 2) continue;
        const double centre = mean(position);
        double squares = 0;
        for (const double value : position) squares += (value - centre) * (value - centre);
        scatters.push_back(std::sqrt(squares / static_cast<double>(position.size() - 1)));
    }
    const double scatter = scatters.empty() ? 0 : median(scatters);
    std::int64_t warmUp = 1;
    const std::int64_t last = std::min(most, static_cast<std::int64_t>(slower.size()) - 1);
    for (std::int64_t at = 1; at <= last; ++at) {
        const auto& position = slower[static_cast<std::size_t>(at)];
        if (mean(position) > std::max(kFlat, 3 * scatter / std::sqrt(static_cast<double>(position.size())))) warmUp = at + 1;
    }
    return std::max<std::int64_t>(1, std::min(warmUp, std::max<std::int64_t>(last, 1)));
}

// What a pair of blocks of so many steps would scatter by: at each turn of the pilot, the last steps of one block beside those of the next that
// follow its warm-up, less the difference of the arms.
std::vector<double> Course::scatterAt(const std::array<std::int64_t, 2>& steps, const std::array<std::int64_t, 2>& warmUp) const {
    std::vector<double> found, apart;
    std::vector<int> signs;
    for (std::size_t i = 0; i + 1 < m_pilot.size(); ++i) {
        const auto perToken = [&](const Block& block, std::size_t from, std::size_t count) {
            double seconds = 0;
            for (std::size_t at = from; at < from + count; ++at) seconds += block.times.steps[at];
            const double tokens = static_cast<double>(block.times.tokens) / static_cast<double>(block.times.steps.size());
            return seconds / static_cast<double>(count) / std::max(tokens, 1.0);
        };
        const Block &first = m_pilot[i], &second = m_pilot[i + 1];
        const std::size_t had = first.times.steps.size(), has = second.times.steps.size();
        const std::size_t skipped = std::min(static_cast<std::size_t>(warmUp[armPlace(second.arm)]), has - 1);
        const std::size_t before = std::min(static_cast<std::size_t>(steps[armPlace(first.arm)]), had);
        const std::size_t behind = std::min(static_cast<std::size_t>(steps[armPlace(second.arm)]), has - skipped);
        found.push_back(std::log(perToken(first, had - before, before) / perToken(second, skipped, behind)));
        signs.push_back(first.arm == second.arm ? 0 : first.arm == Arm::A ? 1 : -1);
        if (signs.back() != 0) apart.push_back(signs.back() * found.back());
    }
    const double arms = mean(apart);
    for (std::size_t i = 0; i < found.size(); ++i) found[i] -= signs[i] * arms;
    return found;
}

// step: seconds of a step of each arm. Fixes the steps of a block, and what a pair takes; the warm-up is fixed already.
void Course::chooseLength(CoursePlan& plan, const std::array<double, 2>& step) const {
    const auto stepsFor = [&](double seconds, double each, std::int64_t least) {
        return std::clamp(static_cast<std::int64_t>(std::ceil(seconds / std::max(each, 1e-9))), least, kMostBlockSteps);
    };
    // Equal steps show both arms the same batches; where one takes many times as long, that would spend the budget on it alone.
    const bool equalSeconds = m_rules.equalSeconds || std::max(step[0], step[1]) > kMostUnlike * std::min(step[0], step[1]);
    if (!equalSeconds) plan.warmUp[0] = plan.warmUp[1] = std::max(plan.warmUp[0], plan.warmUp[1]);
    const auto stepsAt = [&](double seconds, std::int64_t least) -> std::array<std::int64_t, 2> {
        if (!equalSeconds) {
            const std::int64_t both = stepsFor(seconds, std::min(step[0], step[1]), least);
            return {both, both};
        }
        const double longer = std::max(seconds, static_cast<double>(least) * std::max(step[0], step[1]));
        return {stepsFor(longer, step[0], least), stepsFor(longer, step[1], least)};
    };
    std::vector<double> turns;
    for (const Block& block : m_pilot)
        if (block.times.rebuildSeconds == 0) turns.push_back(block.times.turnSeconds);
    const double turn = turns.empty() ? 0 : median(turns);
    const auto secondsOfAPair = [&](const std::array<std::int64_t, 2>& steps) {
        double seconds = 2 * turn;
        for (const std::size_t arm : {0, 1}) seconds += static_cast<double>(steps[arm] + plan.warmUp[arm]) * step[arm];
        return seconds;
    };
    // A machine whose speed wanders is alike for a moment only: there short blocks beside each other differ less than long ones, and there are more
    // of them. Where steps scatter by themselves it is long blocks that waste the least on warming up. The time that an interval of some width takes
    // goes with a pair's time and the square of its scatter.
    const double faster = std::min(step[0], step[1]), longest = std::max(m_rules.blockSeconds, static_cast<double>(m_rules.blockSteps) * faster);
    const double shortest = std::min(longest, std::max(m_rules.shortestSeconds, static_cast<double>(m_rules.shortestSteps) * faster));
    std::vector<std::pair<double, std::array<std::int64_t, 2>>> lengths;  // cost, steps
    for (double seconds = longest;; seconds = std::max(seconds / 2, shortest)) {
        const auto steps = stepsAt(seconds, seconds == longest ? m_rules.blockSteps : m_rules.shortestSteps);
        double typical = 0;
        const std::vector<double> scatter = scatterAt(steps, plan.warmUp);
        for (const double each : scatter) typical += std::abs(each) / static_cast<double>(scatter.size());
        lengths.emplace_back(secondsOfAPair(steps) * std::max(typical * typical, kLeastSpread * kLeastSpread), steps);
        if (seconds <= shortest) break;
    }
    const double least = std::ranges::min(lengths).first;
    // The shortest that is as good: it has more pairs, and with them it is decided sooner where the difference is large.
    for (const auto& [cost, steps] : lengths)
        if (cost <= kAsGood * least) plan.steps = steps;
    plan.pairSeconds = secondsOfAPair(plan.steps);
}

void Course::concludePilot() {
    CoursePlan plan;
    plan.pilotPairs = m_pilot.size() / 2;
    std::array<double, 2> step{};
    for (const Arm arm : {Arm::A, Arm::B}) {
        std::vector<double> all;
        std::int64_t shortest = kMostBlockSteps;
        for (const Block& block : m_pilot) {
            if (block.arm != arm) continue;
            all.insert(all.end(), block.times.steps.begin(), block.times.steps.end());
            shortest = std::min(shortest, static_cast<std::int64_t>(block.times.steps.size()));
        }
        step[armPlace(arm)] = median(all);
        plan.warmUp[armPlace(arm)] = warmUpOf(arm, shortest / 2);
    }
    chooseLength(plan, step);
    std::vector<double> others, off;
    for (const Block& block : m_pilot)
        if (std::isfinite(block.times.others)) others.push_back(block.times.others);
    const std::vector<double> scatter = scatterAt(plan.steps, plan.warmUp);
    for (const double each : scatter) {
        plan.variance += each * each / static_cast<double>(scatter.size() - 1);
        off.push_back(std::abs(each));
    }
    plan.variance = std::max(plan.variance, kLeastSpread * kLeastSpread);
    // The median of so few deviations may be far too small by luck, and what is cut too early needs more pairs; a part of the standard deviation is
    // as much fixed beforehand as it is.
    plan.mad = std::max({median(off), std::sqrt(plan.variance) / 2, kLeastSpread});
    if (!others.empty()) {
        std::vector<double> offOthers;
        for (const double each : others) offOthers.push_back(std::abs(each - median(others)));
        // Where somebody computes all the time, how much they take moves by itself; what is more than that is new.
        plan.othersLimit = median(others) + std::max(m_rules.othersSlack, 3 * median(offOthers));
    }

    const double left = std::max(0.0, m_rules.budgetSeconds - m_elapsed);
    const auto most = static_cast<std::int64_t>(left / std::max(plan.pairSeconds, 1e-9) / static_cast<double>(m_rules.leastRebuilds + 2));
    const auto cheap = static_cast<std::int64_t>(std::ceil(m_rebuildSeconds / (m_rules.rebuildShare * std::max(plan.pairSeconds, 1e-9))));
    plan.pairsARebuild =
        std::clamp<std::int64_t>(std::max<std::int64_t>(2, cheap), 1, std::max<std::int64_t>(1, std::min(most, std::max(cheap, kLongestRebuild))));
    m_plan = plan;
    m_plannedAt = m_elapsed;
    m_pairsOfRebuild = -1;  // the first pair is run by instances of its own
    if (!timeForAnother(false)) m_over = m_spent = true;
}

PairedVerdict Course::verdict() const {
    if (!m_plan) return {};
    const PairedRules rules{.delta = m_rules.delta,
                            .alpha = m_rules.alpha,
                            .pilotVariance = m_plan->variance,
                            .pilotMad = m_plan->mad,
                            .leastPairs = m_rules.leastPairs,
                            .leastRebuilds = m_rules.leastRebuilds};
    return judgePairs(m_pairs, rules, m_stopped ? VerdictLook::Stopped : m_spent ? VerdictLook::AtTheEnd : VerdictLook::AfterAPair);
}

double Course::secondsACountedPair() const {
    if (!m_plan) return 0;
    const auto counted = static_cast<double>(std::max<std::ptrdiff_t>(1, std::ranges::count(m_pairs, false, &BlockPair::discarded)));
    return std::max(m_plan->pairSeconds, (m_elapsed - m_plannedAt) / counted);
}

double Course::stealMeanwhile(Arm arm) const {
    const double looked = m_stealLooked[armPlace(arm)];
    return looked > 0 ? m_stolen[armPlace(arm)] / looked : kUnknown;
}

double Course::leastBudget() const {
    const auto least = static_cast<double>(m_rules.leastPairs);
    if (!m_plan) {
        const std::size_t pairs = m_pilot.size() / 2;
        if (pairs == 0) return 0;
        const double pair = (m_elapsed - m_rebuildSeconds) / static_cast<double>(pairs);
        return (static_cast<double>(kLeastPilotPairs) + least) * pair + static_cast<double>(m_rules.leastRebuilds + 1) * m_rebuildSeconds;
    }
    const double rebuilds = std::max(static_cast<double>(m_rules.leastRebuilds), least / static_cast<double>(m_plan->pairsARebuild));
    return m_plannedAt + least * m_plan->pairSeconds + rebuilds * m_rebuildSeconds;
}

}  // namespace stepscope
