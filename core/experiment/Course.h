// Course: an experiment that takes turns between two arms, as orders: which arm runs the next block of steps, how many of them warm up and how many
// count, when both arms are made anew. It is fixed before the first pair counts: a fair coin orders each pair, a pilot that does not count fixes
// lengths and limits, whole pairs are left out by other processes' time alone. Who carries the orders out (core/train) tells it the times, and it
// stops when they decide or the budget is spent. Knows no Program and no clock, so that tests play it over recorded steps. One thread.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/analysis/PairedVerdict.h"
#include "core/events/Experiment.h"

namespace stepscope {

struct CourseRules {
    std::uint64_t seed = 1;      // of every coin
    double budgetSeconds = 180;  // of everything, pilot and rebuilding included
    // Where steps are so slow that the budget is too short for an interval, it goes on beyond it, until so long; less than the budget: it does not.
    double mostSeconds = 0;
    double delta = 0.01;  // a ratio within 1 +- delta counts as equal
    double alpha = 0.05;
    double blockSeconds = 0.5;       // a block of the pilot lasts at least so long
    std::int64_t blockSteps = 3;     //   and has at least so many steps; those of pairs are as long or shorter, as the pilot finds best,
    double shortestSeconds = 0.05;   //   but at least so long
    std::int64_t shortestSteps = 1;  // and so many steps
    std::size_t leastPairs = 8, leastRebuilds = 6;
    // The arms' steps train different numbers of tokens: their blocks are equal in seconds. Else in steps, so that both see the same batches, unless
    // one is many times as fast.
    bool equalSeconds = false;
    double rebuildShare = 0.1;  // of the pairs' time, that making both anew may take: below 1; the least number of rebuilds comes first
    double othersSlack = 0.25;  // processors that other processes may take beyond what they took in the pilot, before a pair is left out
};

struct BlockOrder {
    Arm arm = Arm::A;
    bool rebuild = false;     // before it: both arms' Programs, and States where each has its own, are made anew,
    Arm builtFirst = Arm::A;  //   this one first
    std::int64_t warmUp = 0;  // steps after the turn that do not count,
    std::int64_t steps = 1;   //   and then those that do: so many,
    double leastSeconds = 0;  //   and on until they have lasted so long
    std::int64_t pair = -1;   // -1: of the pilot
    bool second = false;      // of its pair
};

struct BlockTimes {
    std::vector<double> steps;   // seconds of each step that counted; at least one
    double seconds = 0;          // of them together, with what lay between
    std::int64_t tokens = 0;     // that they trained; those of an update that fp16 left out are none
    double turnSeconds = 0;      // everything before the first of them: turn, warm-up, rebuilding
    double rebuildSeconds = 0;   // the part of it that rebuilding took
    double others = kUnknown;    // processors that other processes had, from the turn to the end, on average
    double stealPct = kUnknown;  // of this process's processors, what a virtual machine's host gave to somebody else meanwhile
    double elapsed = 0;          // seconds of the experiment at the block's end
};

// What the pilot fixed.
struct CoursePlan {
    std::array<std::int64_t, 2> steps{}, warmUp{};  // of a block, by arm
    double pairSeconds = 0;                         // expected, warm-up included
    double variance = 0, mad = 0;                   // of a pair's difference
    double othersLimit = kUnknown;                  // processors; unknown: nothing is left out
    std::int64_t pairsARebuild = 1;
    std::size_t pilotPairs = 0;
};

// Seconds that an experiment by these rules is expected to take where a step of its arms takes so long (seconds): the budget, or what the pilot and
// an interval need where steps are too slow for it. An upper estimate: what is decided early ends early. Not positive, or no number: the budget.
double expectedSeconds(const CourseRules& rules, double stepOfA, double stepOfB);

class Course {
public:
    explicit Course(CourseRules rules);

    // Nothing when it is over. Each order is answered by done() before the next is asked for.
    std::optional<BlockOrder> next();
    void done(const BlockTimes& times);
    // No more orders; a pair that was begun does not count.
    void stop(EndedBy by = EndedBy::Person) {
        m_over = m_stopped = true;
        m_stoppedBy = by;
    }

    const CourseRules& rules() const { return m_rules; }
    const std::optional<CoursePlan>& plan() const { return m_plan; }
    const std::vector<BlockPair>& pairs() const { return m_pairs; }
    // Of the pairs so far; final when next() has nothing.
    PairedVerdict verdict() const;
    bool stopped() const { return m_stopped; }
    EndedBy endedBy() const { return m_stopped ? m_stoppedBy : m_spent ? EndedBy::Budget : EndedBy::Itself; }
    double elapsed() const { return m_elapsed; }  // seconds at the end of the newest block
    // Seconds that a pair which counts takes here, with what it costs to make both anew now and then and with the pairs that were left out.
    double secondsACountedPair() const;
    // Processors that other programs had during the pairs that count, on average; unknown where nobody looked.
    double othersMeanwhile() const { return m_lookedSeconds > 0 ? m_othersSeconds / m_lookedSeconds : kUnknown; }
    // Percent of the processors' time that the host gave to somebody else during an arm's blocks that count, on average; unknown where nobody looked.
    double stealMeanwhile(Arm arm) const;
    // Seconds that would have been enough for the least number of pairs and of instances, from the beginning, where nothing else uses the machine.
    // Once there is a plan it is as long as it is; before that it is guessed from the pilot's pairs, and 0 without one.
    double leastBudget() const;

private:
    struct Block {
        Arm arm;
        BlockTimes times;
        double perToken() const;
    };
    bool coin(std::uint64_t stream, std::uint64_t number) const;
    bool piloting() const { return !m_plan; }
    void concludePilot();
    void chooseLength(CoursePlan& plan, const std::array<double, 2>& step) const;
    std::int64_t warmUpOf(Arm arm, std::int64_t most) const;
    std::vector<double> scatterAt(const std::array<std::int64_t, 2>& steps, const std::array<std::int64_t, 2>& warmUp) const;
    void concludePair();
    bool timeForAnother(bool enough) const;
    bool dueForRebuilding() const;

    CourseRules m_rules;
    std::optional<CoursePlan> m_plan;
    std::vector<Block> m_pilot;         // two by two
    std::optional<Block> m_first;       // of the pair in progress
    std::optional<BlockOrder> m_order;  // asked for and not answered
    std::vector<BlockPair> m_pairs;
    // The newest block that counted, for what two blocks of one arm in turn say; of an earlier instance too, whose luck with memory is part of that.
    struct Before {
        Arm arm;
        double perToken;
    };
    std::optional<Before> m_before;
    std::uint64_t m_toss = 0;  // number of the pair's coin: replacements toss again
    std::int32_t m_rebuild = -1;
    std::int64_t m_pairsOfRebuild = 0;
    double m_elapsed = 0, m_rebuildSeconds = 0;
    double m_plannedAt = 0;  // m_elapsed when the pilot was over
    double m_othersSeconds = 0, m_lookedSeconds = 0;
    std::array<double, 2> m_stolen{}, m_stealLooked{};  // percent times seconds, and seconds
    bool m_over = false, m_stopped = false, m_spent = false;
    EndedBy m_stoppedBy = EndedBy::Person;
};

}  // namespace stepscope
