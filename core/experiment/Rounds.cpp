#include "core/experiment/Rounds.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/analysis/JudgedSentence.h"
#include "core/analysis/Statistics.h"
#include "core/base/Check.h"
#include "core/base/CounterRandom.h"
#include "core/experiment/Judgement.h"

namespace stepscope {
namespace {

constexpr std::uint64_t kRoundCoin = 0x726f756e64;
constexpr double kLeastRoundSpread = 1e-5;          // of a difference: clocks are no finer
constexpr std::int64_t kLongestRoundsInstance = 4;  // rounds, where making the arms anew costs nothing to speak of

}  // namespace

// One arm alone is compared with nothing.
Rounds::Rounds(RoundsRules rules) : m_rules(rules), m_blocks(rules.arms > 1 ? rules.arms + 1 : rules.arms) {
    SS_CHECK(rules.arms >= 1 && rules.measures >= 1 && rules.pilotRounds >= 2 && rules.budgetSeconds > 0 && rules.delta > 0 &&
             rules.rebuildShare > 0);
}

std::optional<RoundOrder> Rounds::next() {
    SS_CHECK(!m_asked);
    if (m_over) return std::nullopt;
    RoundOrder order;
    order.pilot = !planned();
    if (m_queue.empty()) beginRound(order);
    order.arm = m_queue.back() % m_rules.arms;
    m_asked = true;
    return order;
}

void Rounds::beginRound(RoundOrder& order) {
    m_queue.resize(m_blocks);
    std::iota(m_queue.begin(), m_queue.end(), std::size_t{0});
    for (std::size_t i = m_queue.size() - 1; i > 0; --i)
        std::swap(m_queue[i], m_queue[counterRandomBelow(m_rules.seed, kRoundCoin + m_toss, i, i + 1)]);
    ++m_toss;
    order.rebuild = m_rebuild < 0 || (planned() && m_roundsOfRebuild >= m_roundsARebuild);
    if (order.rebuild) {
        ++m_rebuild;
        m_roundsOfRebuild = 0;
    }
    m_round = Round{};
    m_round.logs.resize(m_blocks);
    m_round.rebuild = m_rebuild;
    m_roundOthers = 0;
}

void Rounds::done(const ArmTimes& times) {
    SS_CHECK(m_asked && times.perToken.size() == m_rules.measures);
    m_asked = false;
    m_elapsed = times.elapsed;
    m_rebuildSeconds = std::max(m_rebuildSeconds, times.rebuildSeconds);
    if (m_over) return;  // stopped meanwhile
    std::vector<double>& logs = m_round.logs[m_queue.back()];
    for (const double seconds : times.perToken) {
        SS_CHECK(seconds > 0);
        logs.push_back(std::log(seconds));
    }
    m_roundOthers += times.others;  // not a number when one of them is none
    m_queue.pop_back();
    if (m_queue.empty()) endRound();
}

void Rounds::endRound() {
    m_round.others = m_roundOthers / static_cast<double>(m_blocks);
    if (!planned()) {
        m_pilot.push_back(std::move(m_round));
        if (m_pilot.size() >= m_rules.pilotRounds)
            plan();
        else if (m_elapsed >= m_rules.mostSeconds)
            m_over = m_spent = true;
        return;
    }
    m_round.discarded = std::isfinite(m_round.others) && std::isfinite(m_othersLimit) && m_round.others > m_othersLimit;
    m_rounds.push_back(std::move(m_round));
    ++m_roundsOfRebuild;
    if (settled()) {
        m_over = true;
        return;
    }
    const bool anew = m_roundsOfRebuild >= m_roundsARebuild;
    // Their number alone decides how long it goes on, never what they say: the look at the end must have been fixed beforehand.
    const double most = enough() ? m_rules.budgetSeconds : std::max(m_rules.budgetSeconds, m_rules.mostSeconds);
    if (m_elapsed + m_roundSeconds + (anew ? m_rebuildSeconds : 0) > most) m_over = m_spent = true;
}

void Rounds::plan() {
    for (std::size_t place = 1; place < m_blocks; ++place)
        for (std::size_t measure = 0; measure < m_rules.measures; ++measure) m_scatter.push_back(scatterOf(place, measure));
    if (m_scatter.empty()) m_scatter.emplace_back();  // one arm alone has no differences, and a speed
    std::vector<double> others, off;
    for (const Round& round : m_pilot)
        if (std::isfinite(round.others)) others.push_back(round.others);
    if (!others.empty()) {
        const double middle = median(others);
        for (const double each : others) off.push_back(std::abs(each - middle));
        m_othersLimit = middle + std::max(m_rules.othersSlack, 3 * median(off));
    }
    m_roundSeconds = std::max(1e-9, (m_elapsed - m_rebuildSeconds) / static_cast<double>(m_pilot.size()));
    m_plannedAt = m_elapsed;
    const double left = std::max(0.0, m_rules.budgetSeconds - m_elapsed);
    const auto most = static_cast<std::int64_t>(left / m_roundSeconds / static_cast<double>(m_rules.leastRebuilds + 2));
    const auto cheap = static_cast<std::int64_t>(std::ceil(m_rebuildSeconds / (m_rules.rebuildShare * m_roundSeconds)));
    m_roundsARebuild = std::clamp<std::int64_t>(std::max<std::int64_t>(2, cheap), 1,
                                                std::max<std::int64_t>(1, std::min(most, std::max(cheap, kLongestRoundsInstance))));
    m_roundsOfRebuild = m_roundsARebuild;  // the first round that counts is run by instances of its own
}

Rounds::Scatter Rounds::scatterOf(std::size_t place, std::size_t measure) const {
    std::vector<double> differences, off;
    for (const Round& round : m_pilot) differences.push_back(round.logs[0][measure] - round.logs[place][measure]);
    const double centre = mean(differences);
    Scatter scatter;
    for (const double each : differences) {
        scatter.variance += (each - centre) * (each - centre) / static_cast<double>(differences.size() - 1);
        off.push_back(std::abs(each - centre));
    }
    scatter.variance = std::max(scatter.variance, kLeastRoundSpread * kLeastRoundSpread);
    // As in Course: the median of so few may be far too small by luck.
    scatter.mad = std::max({median(off), std::sqrt(scatter.variance) / 2, kLeastRoundSpread});
    return scatter;
}

std::size_t Rounds::counted() const {
    return static_cast<std::size_t>(std::ranges::count(m_rounds, false, &Round::discarded));
}

double Rounds::share() const {
    if (m_over) return 1;
    const double most = planned() && !enough()
                            ? std::max(m_rules.budgetSeconds, m_plannedAt + static_cast<double>(m_rules.leastRounds) * m_roundSeconds)
                            : m_rules.budgetSeconds;
    return std::clamp(m_elapsed / most, 0.0, 1.0);
}

bool Rounds::enough() const {
    std::vector<std::int32_t> instances;
    for (const Round& round : m_rounds)
        if (!round.discarded && (instances.empty() || instances.back() != round.rebuild)) instances.push_back(round.rebuild);
    return counted() >= m_rules.leastRounds && instances.size() >= m_rules.leastRebuilds;
}

bool Rounds::settled() const {
    if (m_rules.arms < 2 || !enough()) return false;
    for (std::size_t arm = 1; arm < m_rules.arms; ++arm)
        for (std::size_t measure = 0; measure < m_rules.measures; ++measure)
            if (!verdict(arm, measure).settled) return false;
    return true;
}

std::vector<BlockPair> Rounds::pairs(std::size_t place, std::size_t measure) const {
    std::vector<BlockPair> all;
    for (const Round& round : m_rounds) {
        BlockPair pair;
        pair.difference = round.logs[0][measure] - round.logs[place][measure];
        pair.rebuild = round.rebuild;
        pair.discarded = round.discarded;
        all.push_back(pair);
    }
    return all;
}

PairedVerdict Rounds::beside(std::size_t place, std::size_t measure) const {
    if (!planned()) return {};
    const Scatter& scatter = m_scatter[(place - 1) * m_rules.measures + measure];
    PairedRules rules;
    rules.delta = m_rules.delta;
    rules.alpha = m_rules.alpha;
    rules.pilotVariance = scatter.variance;
    rules.pilotMad = scatter.mad;
    rules.leastPairs = m_rules.leastRounds;
    rules.leastRebuilds = m_rules.leastRebuilds;
    return judgePairs(pairs(place, measure), rules, m_stopped ? VerdictLook::Stopped : m_spent ? VerdictLook::AtTheEnd : VerdictLook::AfterAPair);
}

double Rounds::floor(std::size_t measure) const {
    SS_CHECK(measure < m_rules.measures);
    if (m_rules.arms < 2) return kUnknown;
    const PairedVerdict itself = beside(m_rules.arms, measure);
    return itself.low > 0 && std::isfinite(itself.high) ? std::max(itself.high, 1 / itself.low) : kUnknown;
}

PairedVerdict Rounds::verdict(std::size_t arm, std::size_t measure) const {
    SS_CHECK(arm >= 1 && arm < m_rules.arms && measure < m_rules.measures);
    PairedVerdict verdict = beside(arm, measure);
    verdict.floor = floor(measure);
    const bool differs = verdict.outcome == PairedOutcome::Faster || verdict.outcome == PairedOutcome::Slower;
    if (!differs || std::abs(std::log(verdict.ratio)) > std::log(verdict.floor)) return verdict;
    // More rounds narrow both, and nobody knows which one first.
    verdict.outcome = PairedOutcome::Inconclusive;
    verdict.reason = PairedReason::WithinFloor;
    verdict.settled = false;
    verdict.pairsToGo = kUnknown;
    return verdict;
}

ExperimentJudged Rounds::judged(std::size_t arm, std::size_t measure) const {
    const PairedVerdict verdict = this->verdict(arm, measure);
    ExperimentJudged judged;
    judged.over = m_over;
    tellVerdict(verdict, judged);
    judged.seconds = m_elapsed;
    WhyContext context;
    context.ended = m_stopped ? EndedBy::Person : EndedBy::Itself;
    context.leastPairs = m_rules.leastRounds;
    context.leastRebuilds = m_rules.leastRebuilds;
    context.delta = m_rules.delta;
    if (planned()) {
        context.leastSeconds =
            m_plannedAt + static_cast<double>(m_rules.leastRounds) * m_roundSeconds + static_cast<double>(m_rules.leastRebuilds) * m_rebuildSeconds;
        judged.secondsToGo = context.secondsToGo = verdict.pairsToGo * m_roundSeconds;
    }
    if (m_over) judged.why = whyJudged(verdict, context);
    return judged;
}

MeanInterval Rounds::perToken(std::size_t arm, std::size_t measure) const {
    SS_CHECK(arm < m_rules.arms && measure < m_rules.measures);
    std::vector<double> logs;
    for (const Round& round : m_rounds)
        if (!round.discarded || counted() == 0) logs.push_back(round.logs[arm][measure]);
    const MeanInterval interval = meanInterval(logs);
    return {std::exp(interval.mean), std::exp(interval.low), std::exp(interval.high)};
}

}  // namespace stepscope
