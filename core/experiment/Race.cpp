#include "core/experiment/Race.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/analysis/Statistics.h"
#include "core/base/Check.h"
#include "core/base/CounterRandom.h"

namespace stepscope {
namespace {

constexpr std::uint64_t kRaceCoin = 0x72616365;
constexpr std::size_t kPilotBlocks = 5, kMostJointKnobs = 3;
constexpr double kJointRound = 0.2;        // of the budget, that a round of all combinations may take
constexpr double kRacePilotShare = 0.1;    //   and the pilot at most, where five blocks would take longer
constexpr double kLeastRaceSpread = 1e-4;  // of a block's logarithm
constexpr std::int64_t kMostRounds = 60;
constexpr int kMostRepeats = 2, kMostPasses = 4;
constexpr double kTimeForAnotherPass = 0.1;  // of the budget, that must be left
constexpr double kWantedRounds = 6;          // that those who race beside the best have time for
constexpr double kHopelessBlock = 1.4;       // exp of it: four times as slow in a single block
constexpr double kSlowStep = 0.5;            // seconds: a block of such steps has two of them, behind one that settles it

}  // namespace

Race::Race(RaceRules rules, std::vector<RaceKnob> knobs, Judge judge) : m_rules(rules), m_knobs(std::move(knobs)), m_judge(std::move(judge)) {
    SS_CHECK(m_rules.budgetSeconds > 0 && m_rules.alpha > 0 && m_rules.alpha < 1 && m_rules.blockSteps > 0);
    std::ranges::stable_sort(m_knobs, std::ranges::greater{}, &RaceKnob::promise);
    RaceChoice present;
    for (const RaceKnob& knob : m_knobs) {
        SS_CHECK(knob.present < knob.values.size());
        present.push_back(knob.present);
    }
    add(std::move(present));
    m_candidates[0].total = m_candidates[0].totalLow = m_candidates[0].totalHigh = 1;
    m_identities[m_judge(m_candidates[0].choice).identity] = 0;
}

std::size_t Race::add(RaceChoice choice) {
    m_known[choice] = m_candidates.size();
    m_candidates.push_back({.choice = std::move(choice)});
    m_changed.push_back(true);
    return m_candidates.size() - 1;
}

void Race::change(std::size_t candidate) {
    m_changed[candidate] = true;
}

std::vector<std::size_t> Race::takeChanged() {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < m_changed.size(); ++i)
        if (m_changed[i]) all.push_back(i);
    m_changed.assign(m_changed.size(), false);
    return all;
}

// A candidate that can race; none where it cannot, or runs as one does that is known.
std::optional<std::size_t> Race::usable(const RaceChoice& choice) {
    if (const auto found = m_known.find(choice); found != m_known.end())
        return m_candidates[found->second].unusable ? std::nullopt : std::optional(found->second);
    const RaceVerdict verdict = m_judge(choice);
    const std::size_t number = add(choice);
    RaceCandidate& candidate = m_candidates[number];
    const auto same = m_identities.find(verdict.identity);
    if (!verdict.why.empty()) {
        candidate.why = verdict.why;
    } else if (same != m_identities.end()) {
        candidate.why = fmt::format("Same as {} here.", words(m_candidates[same->second].choice));
    } else {
        m_identities[verdict.identity] = number;
        return number;
    }
    candidate.unusable = true;
    candidate.state = RaceState::Rejected;
    return std::nullopt;
}

std::string Race::words(const RaceChoice& choice) const {
    std::string all;
    for (std::size_t i = 0; i < m_knobs.size(); ++i)
        if (choice[i] != m_knobs[i].present) all += fmt::format("{}{}={}", all.empty() ? "" : " ", m_knobs[i].key, m_knobs[i].values[choice[i]]);
    return all.empty() ? "the present settings" : all;
}

std::optional<RaceOrder> Race::next() {
    SS_CHECK(!m_asked);
    while (!m_over) {
        const bool slow = m_stepSeconds > kSlowStep;
        RaceOrder order{.steps = slow ? std::min<std::int64_t>(2, m_rules.blockSteps) : m_rules.blockSteps,
                        .leastSeconds = m_rules.blockSeconds,
                        .settlesOnce = slow};
        if (m_stage == Stage::Pilot) {
            order.candidate = 0;
            m_asked = true;
            return order;
        }
        if (m_queue.empty()) {
            if (m_round > 0) judgeRound();
            if (!beginRound()) {
                conclude();
                advance();
                continue;
            }
        }
        m_running = m_queue.back();
        m_queue.pop_back();
        Member& member = m_members[m_running];
        order.candidate = member.candidate;
        order.giveUpSeconds = std::exp(kHopelessBlock) * m_stepSeconds * 2;
        m_asked = true;
        return order;
    }
    return std::nullopt;
}

void Race::done(const RaceTimes& times) {
    SS_CHECK(m_asked);
    m_asked = false;
    m_elapsed = times.elapsed;
    const bool failed = !times.failure.empty() || !(times.perToken > 0) || !std::isfinite(times.perToken);
    if (m_stage == Stage::Pilot) {
        if (failed) {
            m_candidates[0].why = times.failure;
            m_over = true;
            return;
        }
        m_candidates[0].msPerStep = times.msPerStep;
        m_pilot.push_back(std::log(times.perToken));
        if (std::isfinite(times.others)) m_pilotOthers.push_back(times.others);
        m_stepSeconds = times.msPerStep / 1e3;
        m_blockCost = times.seconds;
        if (m_pilot.size() >= kPilotBlocks || m_elapsed > kRacePilotShare * m_rules.budgetSeconds) {
            concludePilot();
            m_stage = Stage::Joint;
            if (!joint()) advance();
        }
        return;
    }
    Member& member = m_members[m_running];
    RaceCandidate& candidate = m_candidates[member.candidate];
    change(member.candidate);
    member.orderSeconds = times.seconds;
    if (failed) {
        reject(member, times.failure.empty() ? "It could not be timed." : times.failure, true);
        return;
    }
    // By what others used, not by how long it took; not for ever, so that whoever computes all day is not waited for.
    if (std::isfinite(times.others) && std::isfinite(m_othersLimit) && times.others > m_othersLimit && m_repeated[m_running] < kMostRepeats) {
        ++m_repeated[m_running];
        m_queue.insert(m_queue.begin(), m_running);
        return;
    }
    member.logs[m_round] = std::log(times.perToken);
    candidate.msPerStep = times.msPerStep;
    ++candidate.rounds;
}

void Race::concludePilot() {
    if (m_stepSeconds > kSlowStep && m_rules.slowSeconds > 0) m_rules.budgetSeconds = std::min(m_rules.budgetSeconds, m_rules.slowSeconds);
    // Of a difference of two blocks of the same settings.
    std::vector<double> differences, off;
    for (std::size_t i = 0; i + 1 < m_pilot.size(); ++i) differences.push_back(m_pilot[i + 1] - m_pilot[i]);
    double squares = 0;
    for (const double difference : differences) {
        squares += difference * difference;
        off.push_back(std::abs(difference));
    }
    m_variance = differences.empty() ? 1e-3 : squares / static_cast<double>(differences.size());
    m_variance = std::max(m_variance, kLeastRaceSpread);
    m_mad = std::max(off.empty() ? 0.0 : median(off), std::sqrt(m_variance) / 2);
    m_othersLimit = std::numeric_limits<double>::quiet_NaN();
    if (!m_pilotOthers.empty()) {
        std::vector<double> away;
        for (const double others : m_pilotOthers) away.push_back(std::abs(others - median(m_pilotOthers)));
        m_othersLimit = median(m_pilotOthers) + std::max(m_rules.othersSlack, 3 * median(away));
    }
}

// What comes after the heat that ended.
void Race::advance() {
    while (!m_over) {
        switch (m_stage) {
            case Stage::Pilot:
            case Stage::Joint:
            case Stage::Together:
                m_stage = Stage::Neighbours;
                if (neighbours()) return;
                m_stage = Stage::Over;
                break;
            case Stage::Neighbours: {
                // Where one change alone was taken there is nothing to put together; what lies around it is new.
                const bool improved = !m_improved.empty();
                m_stage = Stage::Together;
                if (together()) return;
                if (improved) break;
                // Nothing around it is better. Those who left without a claim may have had bad luck: where there is time they race again.
                if (m_passes < kMostPasses && left() > kTimeForAnotherPass * m_rules.budgetSeconds) {
                    ++m_passes;
                    m_again = true;
                    break;
                }
                m_stage = Stage::Over;
                break;
            }
            case Stage::Over:
                m_over = true;
                m_candidates[m_best].state = RaceState::Chosen;
                change(m_best);
        }
    }
}

// Every combination of the most promising knobs, as many of them as a round has time for.
bool Race::joint() {
    for (std::size_t knobs = std::min(kMostJointKnobs, m_knobs.size()); knobs > 0; --knobs) {
        std::size_t cells = 1;
        for (std::size_t i = 0; i < knobs; ++i) cells *= m_knobs[i].values.size();
        if (cells > 200) continue;
        std::vector<std::size_t> all;
        RaceChoice choice = m_candidates[0].choice;
        for (std::size_t cell = 0; cell < cells; ++cell) {
            std::size_t rest = cell;
            for (std::size_t i = 0; i < knobs; ++i) {
                choice[i] = rest % m_knobs[i].values.size();
                rest /= m_knobs[i].values.size();
            }
            if (const auto candidate = usable(choice)) all.push_back(*candidate);
        }
        if (knobs > 1 && static_cast<double>(all.size()) * m_blockCost > kJointRound * m_rules.budgetSeconds) continue;
        return begin(std::move(all), 0.3);
    }
    return false;
}

bool Race::neighbours() {
    std::vector<std::size_t> all{m_best};
    const RaceChoice centre = best();
    for (std::size_t knob = 0; knob < m_knobs.size(); ++knob)
        for (std::size_t value = 0; value < m_knobs[knob].values.size(); ++value) {
            RaceChoice choice = centre;
            choice[knob] = value;
            if (value == centre[knob]) continue;
            const auto candidate = usable(choice);
            // What lost beside this very one before stays lost.
            if (candidate && (m_candidates[*candidate].state == RaceState::Waiting || (m_again && !m_candidates[*candidate].sure)) &&
                std::ranges::find(all, *candidate) == all.end())
                all.push_back(*candidate);
        }
    m_again = false;
    // The more promising ones, where not all have time for enough rounds.
    const auto most = static_cast<std::size_t>(0.8 * left() / (kWantedRounds * std::max(m_blockCost, 1e-6)));
    if (all.size() > std::max<std::size_t>(most, 2)) {
        for (std::size_t i = std::max<std::size_t>(most, 2); i < all.size(); ++i) {
            // One that raced before keeps what came of it.
            RaceCandidate& candidate = m_candidates[all[i]];
            if (candidate.state != RaceState::Waiting) continue;
            candidate.state = RaceState::Rejected;
            candidate.why = kNoTime;
            change(all[i]);
        }
        all.resize(std::max<std::size_t>(most, 2));
    }
    return begin(std::move(all), m_heats < 2 ? 0.7 : 1);
}

// What won alone, all together, and all but one.
bool Race::together() {
    if (m_improved.size() < 2) return false;
    const RaceChoice centre = best();
    const auto with = [&](std::optional<std::size_t> without) {
        RaceChoice choice = m_improved.front();  // the best of them, and what m_best is
        for (std::size_t i = 0; i < m_improved.size(); ++i) {
            if (without && *without == i) continue;
            for (std::size_t knob = 0; knob < choice.size(); ++knob)
                if (m_improved[i][knob] != m_improved.back()[knob]) choice[knob] = m_improved[i][knob];
        }
        return choice;
    };
    // The last entry is where they all started from.
    std::vector<std::size_t> all{m_best};
    const std::size_t changes = m_improved.size() - 1;
    const auto take = [&](const RaceChoice& choice) {
        if (const auto candidate = usable(choice); candidate && std::ranges::find(all, *candidate) == all.end()) all.push_back(*candidate);
    };
    take(with({}));
    for (std::size_t i = 1; changes > 2 && i < changes; ++i) take(with(i));
    m_improved.clear();
    return all.size() > 1 && begin(std::move(all), 0.6);
}

bool Race::begin(std::vector<std::size_t> candidates, double shareOfRest) {
    if (candidates.size() < 2 || left() <= 0) return false;
    if (std::ranges::find(candidates, m_best) == candidates.end()) candidates.push_back(m_best);
    ++m_heats;
    m_members.clear();
    for (const std::size_t candidate : candidates) {
        m_members.push_back({.candidate = candidate});
        RaceCandidate& own = m_candidates[candidate];
        own.state = RaceState::Racing;
        own.why.clear();
        own.rounds = 0;
        own.beside = m_best;
        own.ratio = own.low = own.high = 0;
        // What others are told beside in this heat keeps what is known of it.
        if (candidate != m_best && candidate != 0) own.total = own.totalLow = own.totalHigh = 0;
        change(candidate);
    }
    m_round = 0;
    m_queue.clear();
    m_deadline = m_elapsed + shareOfRest * left();
    return true;
}

bool Race::beginRound() {
    std::vector<std::size_t> in;
    double cost = 0;
    for (std::size_t i = 0; i < m_members.size(); ++i) {
        if (!m_members[i].in) continue;
        in.push_back(i);
        cost += m_members[i].orderSeconds > 0 ? m_members[i].orderSeconds : m_blockCost;
    }
    if (in.size() < 2 || (m_round > 0 && settled()) || m_round >= kMostRounds ||
        m_elapsed + cost > (m_round == 0 ? m_rules.budgetSeconds : m_deadline))
        return false;
    ++m_round;
    for (std::size_t i = in.size(); i > 1; --i)
        std::swap(
            in[i - 1],
            in[counterRandomBelow(m_rules.seed, kRaceCoin + static_cast<std::uint64_t>(m_heats), static_cast<std::uint64_t>(m_round) * 1000 + i, i)]);
    m_queue = std::move(in);
    m_repeated.assign(m_members.size(), 0);
    return true;
}

}  // namespace stepscope
