// Rounds: several arms measured in turn, as orders: in each round every arm runs one block, in an order that coins decide, and is compared with the
// first arm within the round, so that what drifts meanwhile meets all of them. The first arm runs a second block in each round, which is compared
// with its first one like any other arm: that is the floor, and a difference that is not beyond it is none. A pilot that does not count fixes the
// limits; every so many rounds all arms are made anew, and rounds that other processes disturbed are left out, whole, blind to arms and times. A
// block may be timed in several ways (reading a prompt, writing a text): each has its verdict. Knows no model and no clock, so that tests play it.
// One thread.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/analysis/PairedVerdict.h"
#include "core/events/Experiment.h"
#include "core/experiment/MeanInterval.h"

namespace stepscope {

struct RoundsRules {
    std::uint64_t seed = 1;              // of every coin
    std::size_t arms = 2, measures = 1;  // ways in which a block is timed
    double budgetSeconds = 60;           // of everything, pilot and making anew included
    double mostSeconds = 240;            // where rounds are so slow that the budget is too short for the least number of them
    double delta = 0.01;                 // a ratio within 1 +- delta counts as equal
    double alpha = 0.05;                 // of each verdict by itself, and of the floor
    std::size_t pilotRounds = 4;         // at least 2
    std::size_t leastRounds = 8, leastRebuilds = 6;
    double rebuildShare = 0.1;  // of the rounds' time, that making the arms anew may take; the least number of times comes first
    double othersSlack = 0.25;  // processors that other processes may take beyond the pilot's before a round is left out
};

struct RoundOrder {
    std::size_t arm = 0;
    bool rebuild = false;  // before it: all arms are made anew
    bool pilot = false;
};

struct ArmTimes {
    std::vector<double> perToken;  // seconds, above 0; one a measure
    double rebuildSeconds = 0;     // where it was ordered
    double others = kUnknown;      // processors that other processes had meanwhile, on average
    double elapsed = 0;            // seconds of the whole at the block's end
};

class Rounds {
public:
    explicit Rounds(RoundsRules rules);

    // Nothing when it is over. Each order is answered by done() before the next is asked for.
    std::optional<RoundOrder> next();
    void done(const ArmTimes& times);
    // No more orders; a round that was begun does not count.
    void stop() { m_over = m_stopped = true; }

    // Of an arm beside the first one, of the rounds so far; final when next() has nothing. arm >= 1. Faster or slower only beyond the floor.
    PairedVerdict verdict(std::size_t arm, std::size_t measure) const;
    // The same as it is told: outcome, ratio, interval, and why where it is inconclusive and all is over.
    ExperimentJudged judged(std::size_t arm, std::size_t measure) const;
    // Seconds a token: the geometric mean over the rounds that count, or over all where none does, with its 95 % interval.
    MeanInterval perToken(std::size_t arm, std::size_t measure) const;

    // What the first arm says beside itself, as a ratio above 1 that holds it in either direction; unknown while nothing bounds it, and of one arm
    // alone.
    double floor(std::size_t measure) const;

    std::size_t blocksARound() const { return m_blocks; }
    std::size_t counted() const;  // rounds
    std::size_t leftOut() const { return m_rounds.size() - counted(); }
    bool over() const { return m_over; }
    bool stopped() const { return m_stopped; }
    double elapsed() const { return m_elapsed; }
    double share() const;  // of the time that it may take, spent: 0 to 1

private:
    struct Round {
        std::vector<std::vector<double>> logs;  // of seconds a token, by place (an arm, or the first one again behind the last) and measure
        std::int32_t rebuild = 0;
        double others = kUnknown;
        bool discarded = false;
    };
    struct Scatter {
        double variance = 0, mad = 0;  // of the pilot's differences
    };

    void beginRound(RoundOrder& order);
    void endRound();
    void plan();
    bool enough() const;
    bool settled() const;
    PairedVerdict beside(std::size_t place, std::size_t measure) const;  // of the first arm, the floor not asked
    std::vector<BlockPair> pairs(std::size_t place, std::size_t measure) const;
    Scatter scatterOf(std::size_t place, std::size_t measure) const;
    bool planned() const { return !m_scatter.empty(); }

    RoundsRules m_rules;
    std::size_t m_blocks;  // of a round: one an arm, and the first one's second
    std::vector<Round> m_pilot, m_rounds;
    std::vector<Scatter> m_scatter;  // place after place, without the first; empty until the pilot is over
    double m_othersLimit = kUnknown;
    std::vector<std::size_t> m_queue;  // places that are still to run in this round, last first
    Round m_round;
    double m_roundOthers = 0;
    bool m_asked = false, m_over = false, m_stopped = false, m_spent = false;
    std::uint64_t m_toss = 0;
    std::int32_t m_rebuild = -1;
    std::int64_t m_roundsOfRebuild = 0, m_roundsARebuild = 1;
    double m_elapsed = 0, m_plannedAt = 0, m_roundSeconds = 0, m_rebuildSeconds = 0;
};

}  // namespace stepscope
