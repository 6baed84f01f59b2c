#include "core/experiment/LadderCourse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/Check.h"
#include "core/events/Study.h"
#include "core/experiment/Course.h"
#include "core/experiment/StudyRows.h"

namespace stepscope {
namespace {

RungSet without(const RungSet& all, const RungSet& left) {
    RungSet rest;
    std::ranges::copy_if(all, std::back_inserter(rest), [&](std::size_t rung) { return std::ranges::find(left, rung) == left.end(); });
    return rest;
}

bool isLeg(const StudyRow& row) {
    return row.role != study::kBottom;
}

}  // namespace

LadderCourse::LadderCourse(Ladder ladder, LadderRules rules, WhyNot whyNot)
    : m_ladder(std::move(ladder)), m_rules(rules), m_whyNot(std::move(whyNot)) {
    SS_CHECK(m_rules.alpha > 0 && m_rules.alpha < 1 && !m_ladder.rungs.empty());
    plan();
}

void LadderCourse::add(Slot slot, StudyRow row) {
    row.row = static_cast<std::int64_t>(m_rows.size());
    row.role = slot.role;
    if (row.state.empty()) row.state = study::kWaiting;
    m_slots.push_back(std::move(slot));
    m_rows.push_back(std::move(row));
    m_changed.push_back(true);
}

void LadderCourse::plan() {
    const auto rowOf = [](const LadderRung& rung) { return StudyRow{.name = rung.name, .settings = settingsWords(rung), .reported = rung.reported}; };
    add({study::kBottom, {}}, rowOf(m_ladder.bottom));
    for (std::size_t i = 0; i < m_ladder.rungs.size(); ++i) {
        StudyRow row = rowOf(m_ladder.rungs[i]);
        RungSet with = m_kept;
        with.push_back(i);
        row.why = m_whyNot(m_kept, with);
        if (row.why.empty())
            m_kept = std::move(with);
        else
            row.state = study::kSkipped;
        add({study::kRung, {i}}, std::move(row));
    }
    if (m_kept.size() > 1) add({study::kTop, {}}, {.name = "the top beside the bottom"});
    const auto named = [&](std::size_t rung) { return m_ladder.rungs[rung].name; };
    // The top without its last rung is the rung below it, which is measured.
    if (m_rules.leaveOneOut && m_kept.size() > 1)
        for (std::size_t i = 0; i + 1 < m_kept.size(); ++i) {
            const std::size_t rung = m_kept[i];
            add({study::kWithout, {rung}}, {.name = fmt::format("without {}", named(rung)), .settings = settingsWords(m_ladder.rungs[rung])});
        }
    if (m_rules.pairs && m_kept.size() > 2)
        for (std::size_t i = 0; i < m_kept.size(); ++i)
            for (std::size_t j = i + 1; j < m_kept.size(); ++j) {
                const std::size_t one = m_kept[i], other = m_kept[j];
                add({study::kPair, {one, other}}, {.name = fmt::format("without {} and {}", named(one), named(other)),
                                                   .settings = settingsWords(m_ladder.rungs[one]) + " " + settingsWords(m_ladder.rungs[other])});
            }
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        if (!open(i)) continue;
        RungSet a, b;
        sides(m_slots[i], a, b);
        if (m_slots[i].role != study::kRung) m_rows[i].why = m_whyNot(a, b);
        if (m_rows[i].why.empty())
            ++m_legs;
        else
            m_rows[i].state = study::kSkipped;
    }
    m_budget = m_rules.budgetSeconds > 0 ? m_rules.budgetSeconds : std::max(kLeastByDefault, kSecondsALeg * static_cast<double>(m_legs));
}

LadderCourse::Expected LadderCourse::expected(const StepSeconds& stepSeconds) const {
    Expected all;
    // Of a set that was not timed: the slowest of the sets that it stands on.
    const auto known = [&](const RungSet& rungs) {
        const double own = stepSeconds(rungs);
        if (own > 0 && std::isfinite(own)) return own;
        double slowest = 0;
        RungSet below;
        for (std::size_t count = 0; count <= rungs.size(); ++count) {
            const double step = stepSeconds(below);
            if (step > 0 && std::isfinite(step)) slowest = std::max(slowest, step);
            if (count < rungs.size()) below.push_back(rungs[count]);
        }
        return slowest;
    };
    const bool given = m_rules.budgetSeconds > 0;
    double left = static_cast<double>(std::ranges::count_if(m_rows, [&](const StudyRow& row) { return open(static_cast<std::size_t>(row.row)); }));
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        if (!open(i)) continue;
        if (isTooLateFor(m_rows[i], all.seconds)) {
            ++all.waiting;
            --left;
            continue;
        }
        RungSet a, b;
        sides(m_slots[i], a, b);
        const double ofA = known(a), ofB = known(b);
        all.slowest = std::max({all.slowest, ofA, ofB});
        const CourseRules rules{.budgetSeconds = std::max(given ? kLeastLegSeconds : kSecondsALeg, (m_budget - all.seconds) / left),
                                .mostSeconds = given ? 0 : kLongestLegByDefault};
        const double seconds = expectedSeconds(rules, ofA, ofB);
        all.seconds += seconds;
        if (m_rows[i].role == study::kPair) all.pairs += seconds;
        --left;
    }
    return all;
}

// The table's own rungs are measured however long their steps take; what comes after them waits for a larger budget, or for one at all.
bool LadderCourse::isTooLateFor(const StudyRow& row, double elapsed) const {
    if (row.role == study::kRung || row.role == study::kTop) return false;
    return m_rules.budgetSeconds > 0 ? elapsed > kOverBudget * m_budget : elapsed + kSecondsALeg > m_budget;
}

bool LadderCourse::open(std::size_t row) const {
    return isLeg(m_rows[row]) && m_rows[row].state == study::kWaiting;
}

void LadderCourse::sides(const Slot& slot, RungSet& a, RungSet& b) const {
    if (slot.role == study::kRung) {
        std::ranges::copy_if(m_kept, std::back_inserter(a), [&](std::size_t rung) { return rung < slot.rungs.front(); });
        b = a;
        b.push_back(slot.rungs.front());
        return;
    }
    a = slot.role == study::kTop ? RungSet() : without(m_kept, slot.rungs);
    b = m_kept;
}

std::string LadderCourse::whyGone(const Slot& slot) const {
    if (slot.role != study::kWithout && slot.role != study::kPair) return {};
    for (const std::size_t rung : slot.rungs)
        if (std::ranges::find(m_kept, rung) == m_kept.end())
            return fmt::format("The top is without \"{}\" anyway: that rung was not measured.", m_ladder.rungs[rung].name);
    return {};
}

// What a rung gives at the top: measured there, or, of the last one, by itself.
const StudyRow* LadderCourse::aloneAtTheTop(std::size_t rung) const {
    const StudyRow* found = nullptr;
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        if (m_slots[i].rungs != RungSet{rung} || m_rows[i].state != study::kMeasured) continue;
        if (m_slots[i].role == study::kWithout) return &m_rows[i];
        if (m_slots[i].role == study::kRung && !m_kept.empty() && rung == m_kept.back()) found = &m_rows[i];
    }
    return found;
}

StudyRow& LadderCourse::change(std::size_t row) {
    m_changed[row] = true;
    return m_rows[row];
}

void LadderCourse::restore(const std::vector<StudyRow>& rows) {
    std::vector<const StudyRow*> own(m_rows.size(), nullptr);  // what was stored of each row, where it is the same one
    for (const StudyRow& stored : rows) {
        if (stored.row < 0 || stored.row >= static_cast<std::int64_t>(m_rows.size())) continue;
        const auto at = static_cast<std::size_t>(stored.row);
        if (m_rows[at].role == stored.role && m_rows[at].settings == stored.settings) own[at] = &stored;
    }
    std::size_t end = own.size();  // behind the last one that was measured
    while (end > 0 && (own[end - 1] == nullptr || own[end - 1]->state != study::kMeasured)) --end;
    for (std::size_t at = 0; at < own.size(); ++at) {
        if (own[at] == nullptr) continue;
        StudyRow& row = m_rows[at];
        if (row.role == study::kBottom ? std::isfinite(own[at]->msPerStep) : row.state == study::kWaiting && own[at]->state == study::kMeasured)
            change(at) = *own[at];
        // What was measured above a rung that broke off was measured without it. Were it measured now, products would be of figures that do not stand
        // on each other: it stays as it was, and so does one that could not run then and could now. With nothing above it yet, it is tried again.
        const bool leftOut = own[at]->state == study::kFailed || own[at]->state == study::kSkipped;
        if (row.role == study::kRung && row.state == study::kWaiting && leftOut && at < end) {
            change(at) = *own[at];
            m_kept = without(m_kept, m_slots[at].rungs);
        }
    }
    totals();
}

std::optional<LadderLeg> LadderCourse::next(double elapsed) {
    SS_CHECK(!m_running);
    std::int64_t left = 0;
    for (std::size_t i = 0; i < m_rows.size(); ++i) left += open(i) ? 1 : 0;
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        if (!open(i)) continue;
        LadderLeg leg{.row = m_rows[i].row};
        sides(m_slots[i], leg.a, leg.b);
        // A rung that broke off meanwhile may have been what it stood on, or what the top was to lack.
        const std::string gone = whyGone(m_slots[i]);
        if (const std::string why = gone.empty() ? m_whyNot(leg.a, leg.b) : gone; !why.empty()) {
            StudyRow& row = change(i);
            row.state = study::kSkipped;
            row.why = why;
            if (row.role == study::kRung) m_kept = without(m_kept, m_slots[i].rungs);
            --left;
            continue;
        }
        // What one did not need is there for the others.
        const bool given = m_rules.budgetSeconds > 0;
        if (isTooLateFor(m_rows[i], elapsed)) {
            StudyRow& row = change(i);
            row.state = study::kSkipped;
            row.why = fmt::format("Not measured: the {:.0f} s of this ladder were spent on its rungs. A larger budget measures it.", m_budget);
            row.waits = true;
            --left;
            continue;
        }
        leg.budgetSeconds = std::max(given ? kLeastLegSeconds : kSecondsALeg, (m_budget - elapsed) / static_cast<double>(left));
        leg.mostSeconds = given ? 0 : kLongestLegByDefault;
        leg.alpha = m_rules.alpha / static_cast<double>(std::max<std::int64_t>(m_legs, 1));
        change(i).state = study::kRunning;
        m_running = i;
        return leg;
    }
    return std::nullopt;
}

void LadderCourse::note(const ExperimentHistory& history) {
    const std::size_t at = *m_running;
    StudyRow& row = change(at);
    if (const auto& judged = history.newest()) fillJudged(row, *judged);
    // What a row is about: the rung itself, the top, or the top without something.
    const bool lacks = row.role == study::kWithout || row.role == study::kPair;
    fillSide(row, history.facts(lacks ? Arm::A : Arm::B));
    const double loss = history.lossDifference();
    row.loss = lacks ? -loss : loss;
    const bool first = row.role == study::kRung && std::ranges::none_of(m_kept, [&](std::size_t rung) { return rung < m_slots[at].rungs.front(); });
    // The bottom is measured once there is a figure of it: until the first pair it waits as the others do.
    if (const SideFacts below = history.facts(Arm::A); first && std::isfinite(below.msPerStep)) {
        fillSide(change(0), below);
        m_rows[0].state = study::kMeasured;
    }
}

void LadderCourse::totals() {
    // Intervals that hold together at alpha multiply to one that does.
    double total = 1, low = 1, high = 1;
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        StudyRow& row = m_rows[i];
        if (row.role == study::kRung && row.state == study::kMeasured) {
            total *= row.ratio;
            low *= row.low;
            high *= row.high;
            if (row.total != total || row.totalLow != low || row.totalHigh != high) m_changed[i] = true;
            row.total = total;
            row.totalLow = low;
            row.totalHigh = high;
        } else if (row.role == study::kTop && row.state == study::kMeasured) {
            row.total = row.ratio;
            row.totalLow = row.low;
            row.totalHigh = row.high;
        } else if (row.role == study::kPair && row.state == study::kMeasured) {
            // What the two give together beside what each gives.
            double apart = 1, apartLow = 1, apartHigh = 1;
            for (const std::size_t rung : m_slots[i].rungs) {
                const StudyRow* alone = aloneAtTheTop(rung);
                apart *= alone != nullptr ? alone->ratio : kUnknown;
                apartLow *= alone != nullptr ? alone->low : kUnknown;
                apartHigh *= alone != nullptr ? alone->high : kUnknown;
            }
            row.total = row.ratio / apart;
            row.totalLow = row.low / apartHigh;
            row.totalHigh = row.high / apartLow;
        }
    }
}

void LadderCourse::update(const ExperimentHistory& history) {
    SS_CHECK(m_running);
    note(history);
}

void LadderCourse::done(const ExperimentHistory& history, bool stopped) {
    SS_CHECK(m_running);
    note(history);
    change(*m_running).state = stopped ? study::kWaiting : study::kMeasured;
    m_running.reset();
    totals();
}

void LadderCourse::failed(const std::string& why, const ExperimentHistory& history) {
    SS_CHECK(m_running);
    const std::size_t at = *m_running;
    note(history);
    StudyRow& row = change(at);
    row.state = study::kFailed;
    row.why = why;
    m_running.reset();
    if (row.role == study::kRung) m_kept = without(m_kept, m_slots[at].rungs);
    totals();
}

std::vector<std::int64_t> LadderCourse::takeChanged() {
    std::vector<std::int64_t> rows;
    for (std::size_t i = 0; i < m_changed.size(); ++i)
        if (m_changed[i]) rows.push_back(static_cast<std::int64_t>(i));
    m_changed.assign(m_changed.size(), false);
    return rows;
}

}  // namespace stepscope
