// LadderCourse: which two configurations of a ladder are measured beside each other next, for how long, and what the table says so far. Rungs first,
// each beside the one below it; then the top beside the bottom; then the top beside itself without each rung; on request without each two. Whoever
// carries a leg out (app/workbench/experiments/LiveLadder) tells it what came of it. Knows no clock and no configuration, so that tests play it. One
// thread.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/ExperimentHistory.h"
#include "core/events/Study.h"
#include "core/experiment/Ladder.h"

namespace stepscope {

using RungSet = std::vector<std::size_t>;  // numbers of rungs that are on, ascending

struct LadderRules {
    bool leaveOneOut = true;   // from the top
    bool pairs = false;        // and two at a time
    double budgetSeconds = 0;  // of everything; 0: kSecondsALeg a leg, at least kLeastByDefault
    double alpha = 0.05;       // of all intervals together
};
constexpr double kLeastByDefault = 290, kLeastLegSeconds = 5, kLongestLegByDefault = 300;
constexpr double kOverBudget = 1.2;  // of a budget that was given: when so much of it is gone, nothing is begun that its rungs do not need

struct LadderLeg {
    std::int64_t row = 0;
    RungSet a, b;
    double budgetSeconds = 0, alpha = 0.05;
    double mostSeconds = 0;  // where no budget was given, until there is an interval: CourseRules
};

class LadderCourse {
public:
    // Why two sets of rungs cannot be measured beside each other here, or would be the same: a sentence; empty = they can.
    using WhyNot = std::function<std::string(const RungSet& a, const RungSet& b)>;

    LadderCourse(Ladder ladder, LadderRules rules, WhyNot whyNot);

    const Ladder& ladder() const { return m_ladder; }
    const std::vector<StudyRow>& rows() const { return m_rows; }  // by their number, from 0
    std::int64_t legs() const { return m_legs; }                  // that are meant to be measured, those restored included
    double budgetSeconds() const { return m_budget; }

    // Seconds of a step with a set of rungs; not a number: not known.
    using StepSeconds = std::function<double(const RungSet&)>;
    struct Expected {
        double seconds = 0;        // of all that is still to be measured,
        double pairs = 0;          //   and of them those of pairs that have the time
        double slowest = 0;        // seconds: the slowest step that this rests on; 0: none is known
        std::int64_t waiting = 0;  // measurements that slow rungs leave no time for
    };
    // What the ladder will take here. Where a set was not timed, a step with it is taken to last as long as the slowest set below it that was: what a
    // rung adds is meant to make it faster.
    Expected expected(const StepSeconds& stepSeconds) const;

    // Of an earlier session of the same ladder: rows that were measured are kept, and so is a rung that broke off or could not run where something
    // above it was measured without it. Before the first next().
    void restore(const std::vector<StudyRow>& rows);

    // Nothing when all is measured. elapsed: seconds since this began. Each leg is answered by done() or failed() before the next is asked for.
    std::optional<LadderLeg> next(double elapsed);
    // How the leg stands: its row has what is known so far.
    void update(const ExperimentHistory& history);
    // stopped: by a person, so that the row is to be measured again when the ladder goes on.
    void done(const ExperimentHistory& history, bool stopped);
    // It broke off; a rung that did is left out of what is built on it.
    void failed(const std::string& why, const ExperimentHistory& history);
    // Numbers of rows that changed since it was last asked.
    std::vector<std::int64_t> takeChanged();

private:
    struct Slot {  // of a row
        std::string role;
        RungSet rungs;  // of a rung itself; of those left out, which
    };
    void add(Slot slot, StudyRow row);
    void plan();
    bool isTooLateFor(const StudyRow& row, double elapsed) const;
    bool open(std::size_t row) const;
    void sides(const Slot& slot, RungSet& a, RungSet& b) const;
    void note(const ExperimentHistory& history);
    void totals();
    std::string whyGone(const Slot& slot) const;  // a sentence; empty: what it is to lack is in the top
    const StudyRow* aloneAtTheTop(std::size_t rung) const;
    StudyRow& change(std::size_t row);

    Ladder m_ladder;
    LadderRules m_rules;
    WhyNot m_whyNot;
    std::vector<Slot> m_slots;  // beside m_rows
    std::vector<StudyRow> m_rows;
    RungSet m_kept;  // rungs that are measured or will be
    std::vector<bool> m_changed;
    std::optional<std::size_t> m_running;
    std::int64_t m_legs = 0;
    double m_budget = 0;
};

}  // namespace stepscope
