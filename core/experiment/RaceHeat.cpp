// A heat of a Race: who leaves it, and what it says at its end. What comes next is in Race.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "core/analysis/PairedInterval.h"
#include "core/analysis/Statistics.h"
#include "core/base/Check.h"
#include "core/experiment/Race.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLeastRounds = 3;
constexpr double kFarBehind = 0.03;  // slower by more than this and by so many standard errors: no more time is spent on it
constexpr double kErrors = 4;
// What wins is measured anew at the end, so that little is lost by following a gain that is not sure, and much by never following one: of slow steps
// on a noisy machine there are few rounds.
constexpr double kErrorsToWin = 0.5;
constexpr double kErrorsToHope = 0.75;  // one that may be faster by no more than the margin, with so many of them added, is left
constexpr double kHopeless = 1.4;       // exp of it: four times as slow in a single block
constexpr double kToldAlpha = 0.05;

std::string slowerThan(double gain, const std::string& other) {
    const double slower = std::expm1(gain) * 100;
    return slower >= 100 ? fmt::format("{:.1f} times as much time a token as {}", std::exp(gain), other)
                         : fmt::format("{:.1f} % more time a token than {}", slower, other);
}

}  // namespace

std::vector<double> Race::gains(const Member& of, const Member& over) const {
    std::vector<double> all;
    for (const auto& [round, log] : of.logs)
        if (const auto other = over.logs.find(round); other != over.logs.end()) all.push_back(other->second - log);
    return all;
}

// Standard deviation of a gain: what these show, and no less than what the pilot did while they are few.
double Race::spread(const std::vector<double>& gains) const {
    // By the median: one block that others disturbed must not make all of them look uncertain.
    const double centre = median(gains);
    std::vector<double> away;
    for (const double gain : gains) away.push_back(std::abs(gain - centre));
    const double typical = 1.4826 * median(away), n = static_cast<double>(gains.size());
    // The pilot counts as three of them.
    return std::sqrt((n * typical * typical + 3 * m_variance) / (n + 3));
}

// What is told has every round's scatter in it, the disturbed ones' too. The pilot counts as three of them.
double Race::halfWidth(const std::vector<double>& gains) const {
    if (gains.size() < 2) return std::numeric_limits<double>::infinity();
    const auto n = static_cast<double>(gains.size());
    const double centre = mean(gains);
    double squares = 3 * m_variance;
    for (const double gain : gains) squares += (gain - centre) * (gain - centre);
    return boost::math::quantile(boost::math::students_t(n + 2), 1 - kToldAlpha / 2) * std::sqrt(squares / (n + 2) / n);
}

void Race::tell(RaceCandidate& candidate, double gain, double halfWidth) const {
    candidate.ratio = std::exp(gain);
    candidate.low = std::exp(gain - halfWidth);
    candidate.high = std::exp(gain + halfWidth);
    const RaceCandidate& best = m_candidates[m_best];
    if (&candidate == m_candidates.data() || !(best.total > 0)) return;
    // Two factors, each as sure as its own rounds made it.
    const double both = std::hypot(halfWidth, std::log(best.totalHigh / best.total));
    candidate.total = candidate.ratio * best.total;
    candidate.totalLow = candidate.total * std::exp(-both);
    candidate.totalHigh = candidate.total * std::exp(both);
}

// The knob that this candidate turns beside the best before the heat; none where it turns several.
std::optional<std::size_t> Race::turned(const Member& member) const {
    const RaceChoice &own = m_candidates[member.candidate].choice, &centre = best();
    std::optional<std::size_t> found;
    for (std::size_t knob = 0; knob < own.size(); ++knob)
        if (own[knob] != centre[knob]) {
            if (found) return std::nullopt;
            found = knob;
        }
    return found;
}

double Race::gain(const Member& member) const {
    const auto before = std::ranges::find(m_members, m_best, &Member::candidate);
    const auto over = gains(member, *before);
    return over.empty() ? 0 : pairedInterval(over, {.eta = 10 * m_variance, .alpha = m_rules.alpha, .clip = 3 * m_mad}).centre;
}

double Race::error(const Member& member) const {
    const auto over = gains(member, *std::ranges::find(m_members, m_best, &Member::candidate));
    return over.empty() ? 0 : spread(over) / std::sqrt(static_cast<double>(over.size()));
}

// Who a member must not fall behind: the fastest of all, or around the best so far, where what is won with one knob can be had beside what is won
// with another, the fastest value of its own knob.
const Race::Member& Race::rival(const Member& member) const {
    const Member* fastest = nullptr;
    const bool alone = m_stage == Stage::Neighbours;
    for (const Member& other : m_members)
        if (other.in && (!alone || other.candidate == m_best || turned(other) == turned(member)) &&
            (fastest == nullptr || gain(other) > gain(*fastest)))
            fastest = &other;
    SS_CHECK(fastest != nullptr);
    return *fastest;
}

// Whether more rounds would change nothing: who is left is alone with its knob, or with all of them, and ahead for all that matters.
bool Race::settled() const {
    std::map<std::size_t, int> ofKnob;
    int others = 0;
    for (const Member& member : m_members) {
        if (!member.in || member.candidate == m_best) continue;
        if (member.logs.size() < static_cast<std::size_t>(kLeastRounds) || gain(member) < std::max(m_rules.margin, kErrors * error(member)))
            return false;
        if (m_stage == Stage::Neighbours)
            others = std::max(others, ++ofKnob[turned(member).value_or(m_knobs.size())]);
        else
            ++others;
    }
    return others < 2;
}

void Race::reject(Member& member, const std::string& why, bool sure) {
    member.in = false;
    RaceCandidate& candidate = m_candidates[member.candidate];
    candidate.state = RaceState::Rejected;
    candidate.why = why;
    candidate.sure = sure;
    change(member.candidate);
}

void Race::judgeRound() {
    if (std::ranges::none_of(m_members, &Member::in)) return;
    const PairedBound bound{.eta = 10 * m_variance, .alpha = m_rules.alpha / static_cast<double>(m_members.size()), .clip = 3 * m_mad};
    const auto before = std::ranges::find(m_members, m_best, &Member::candidate);
    for (Member& member : m_members) {
        if (!member.in) continue;
        RaceCandidate& candidate = m_candidates[member.candidate];
        if (const auto beside = gains(member, *before); !beside.empty() && member.candidate != m_best) {
            const PairedInterval around = pairedInterval(beside, bound);
            tell(candidate, around.centre, halfWidth(beside));
            change(member.candidate);
        }
        // What is best before the heat stays in it: the others are compared with it.
        const Member& first = rival(member);
        if (&member == &first || member.candidate == m_best) continue;
        const auto behind = gains(first, member);
        if (behind.empty()) continue;
        const PairedInterval around = pairedInterval(behind, bound);
        const double n = static_cast<double>(behind.size());
        const std::string than = words(m_candidates[first.candidate].choice);
        if (around.low > 0)
            reject(member, fmt::format("{}, for sure after {} rounds.", slowerThan(around.centre, than), behind.size()), true);
        else if (around.centre > kHopeless)
            reject(member, fmt::format("About {} in {} round{}; not raced longer.", slowerThan(around.centre, than), behind.size(),
                                       behind.size() == 1 ? "" : "s"));
        else if (behind.size() >= kLeastRounds && around.centre > std::max(kFarBehind, kErrors * spread(behind) / std::sqrt(n)))
            reject(member, fmt::format("About {} in {} rounds; not raced longer.", slowerThan(around.centre, than), behind.size()));
        else if (m_stage == Stage::Neighbours && behind.size() >= kLeastRounds) {
            // Around the best so far only a gain matters: the time goes to those that may be one.
            const auto over = gains(member, *before);
            if (gain(member) + kErrorsToHope * error(member) < m_rules.margin)
                reject(member, fmt::format("No gain in {} rounds ({:+.1f} %); not raced longer.", over.size(), 100 * std::expm1(gain(member))));
        }
    }
}

void Race::conclude() {
    if (m_round > 0) judgeRound();
    const auto before = std::ranges::find(m_members, m_best, &Member::candidate);
    const PairedBound bound{.eta = 10 * m_variance, .alpha = m_rules.alpha / static_cast<double>(m_members.size()), .clip = 3 * m_mad};
    struct Won {
        std::size_t candidate;
        double gain;
    };
    std::vector<Won> won;
    for (Member& member : m_members) {
        if (!member.in || member.candidate == m_best) continue;
        const auto over = gains(member, *before);
        const PairedInterval around = over.empty() ? PairedInterval{} : pairedInterval(over, bound);
        const double error = over.empty() ? 0 : spread(over) / std::sqrt(static_cast<double>(over.size()));
        const double least = m_stage == Stage::Together ? 0 : std::max(m_rules.margin, kErrorsToWin * error);
        if (!over.empty() && (around.low > 0 || around.centre > least))
            won.push_back({member.candidate, around.centre});
        else if (over.empty())
            reject(member, kNoTime);
        else
            reject(member, fmt::format("No gain of more than {:.1f} % that its {} round{} would show ({:+.1f} %).", 100 * least, over.size(),
                                       over.size() == 1 ? "" : "s", 100 * std::expm1(around.centre)));
    }
    std::ranges::sort(won, std::ranges::greater{}, &Won::gain);
    m_improved.clear();
    if (won.empty()) return;
    const RaceChoice centre = best();
    if (m_stage == Stage::Neighbours) {
        // The best value of each knob.
        std::vector<bool> taken(m_knobs.size(), false);
        for (const Won& one : won)
            for (std::size_t knob = 0; knob < m_knobs.size(); ++knob)
                if (m_candidates[one.candidate].choice[knob] != centre[knob] && !taken[knob]) {
                    taken[knob] = true;
                    m_improved.push_back(m_candidates[one.candidate].choice);
                }
        m_improved.push_back(centre);
    }
    const std::size_t old = m_best;
    m_best = won.front().candidate;
    for (const Won& one : won) {
        if (one.candidate == m_best) continue;
        RaceCandidate& candidate = m_candidates[one.candidate];
        candidate.state = RaceState::Rejected;
        candidate.why = fmt::format("Faster than what was best before ({:+.1f} %), and {} is faster still.", 100 * std::expm1(one.gain),
                                    words(m_candidates[m_best].choice));
        change(one.candidate);
    }
    m_candidates[old].state = RaceState::Rejected;
    m_candidates[old].why = slowerThan(won.front().gain, words(m_candidates[m_best].choice)) + ".";
    change(old);
    change(m_best);
}

std::vector<Race::Rejected> Race::rejected() const {
    std::vector<Rejected> all;
    for (std::size_t knob = 0; knob < m_knobs.size(); ++knob)
        for (std::size_t value = 0; value < m_knobs[knob].values.size(); ++value) {
            if (value == best()[knob]) continue;
            // Nearest to what was chosen says most; of equally near ones the latest.
            const RaceCandidate* found = nullptr;
            std::size_t nearest = 0;
            for (const RaceCandidate& candidate : m_candidates) {
                if (candidate.choice[knob] != value) continue;
                std::size_t apart = 0;
                for (std::size_t i = 0; i < m_knobs.size(); ++i) apart += candidate.choice[i] != best()[i] ? 1 : 0;
                if (found != nullptr && apart > nearest) continue;
                found = &candidate;
                nearest = apart;
            }
            std::string why = found != nullptr && found->state != RaceState::Waiting ? found->why : kNoTime;
            if (why.empty()) why = "The race was stopped before it was decided.";
            all.push_back({m_knobs[knob].key, m_knobs[knob].values[value], std::move(why)});
        }
    return all;
}

}  // namespace stepscope
