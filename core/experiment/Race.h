// Race: the search for the fastest settings, as orders: which configuration runs the next block of steps. Configurations race in heats: the values of
// the most promising switches in every combination first, then every other value alone beside the best so far, then what won together, and round
// again. A heat goes in rounds: all that are still in it run one block each, made anew, in random order, and are compared within the round. One
// leaves when an interval (PairedInterval, alpha shared among the heat) says that it is slower; or, without a claim, when more time on it would be
// wasted. What the race finds is a recommendation: what it is worth is asked by an experiment afterwards. Knows no Program and no clock, so that
// tests play it over arms of known speed. One thread.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stepscope {

struct RaceKnob {
    std::string key;
    std::vector<std::string> values;
    std::size_t present = 0;  // which of them is set now
    int promise = 0;          // those with more are tried first
};
using RaceChoice = std::vector<std::size_t>;  // a value's number for each knob

struct RaceVerdict {
    std::string why;       // it cannot race: a sentence; empty = it can
    std::string identity;  // two with the same run the same
};

struct RaceRules {
    std::uint64_t seed = 1;      // of the order within rounds
    double budgetSeconds = 240;  // of the race
    double slowSeconds = 0;      //   where a step takes half a second or more, so that measuring the winner anew needs more of the whole; 0: the same
    double alpha = 0.05;         // of each heat
    double blockSeconds = 0.4;
    std::int64_t blockSteps = 3;
    double margin = 0.003;      // a gain below this changes nothing
    double othersSlack = 0.25;  // processors that other processes may take beyond the pilot's before a block is run again
};

struct RaceOrder {
    std::size_t candidate = 0;
    std::int64_t steps = 1;    // that count, after those that settle it
    double leastSeconds = 0;   // and on until so long
    double giveUpSeconds = 0;  // a step that takes longer ends it at once; 0: none does
    // The first step alone does not count, where no step is captured: what the second still prepares is nothing beside steps that take so long.
    bool settlesOnce = false;
};

struct RaceTimes {
    double perToken = 0;  // seconds
    double msPerStep = 0;
    double seconds = 0;   // of the whole order, building included
    double elapsed = 0;   // of the race at its end
    double others = 0;    // processors that other processes had meanwhile; not a number: unknown
    std::string failure;  // it broke off: a sentence
};

enum class RaceState { Waiting, Racing, Rejected, Chosen };

inline const std::string kNoTime = "It did not race: the budget has no time for it.";

struct RaceCandidate {
    RaceChoice choice;
    RaceState state = RaceState::Waiting;
    std::string why;         // it left the race
    std::size_t beside = 0;  // the candidate that ratio is beside: the best before its heat
    // Time of that one / of this; 0: not known. Between which values: Student's 95 % over its rounds, each candidate by itself; of one round none
    // (low 0, high infinite). What decides who leaves is stricter.
    double ratio = 0, low = 0, high = 0;
    // Time of the present settings / of this: of its own heat's rounds, times what the best before was found to be in the rounds of its heat. So
    // candidates of different heats, which ran at different times, can be told apart.
    double total = 0, totalLow = 0, totalHigh = 0;
    double msPerStep = 0;
    std::int64_t rounds = 0;
    bool sure = false;      // it left because an interval says that it is slower, or broke off
    bool unusable = false;  // never ran: it cannot, or runs as another does
};

class Race {
public:
    using Judge = std::function<RaceVerdict(const RaceChoice&)>;
    Race(RaceRules rules, std::vector<RaceKnob> knobs, Judge judge);

    // Nothing when it is over. Each order is answered by done().
    std::optional<RaceOrder> next();
    void done(const RaceTimes& times);
    void stop() { m_over = true; }

    const std::vector<RaceKnob>& knobs() const { return m_knobs; }
    const std::vector<RaceCandidate>& candidates() const { return m_candidates; }  // the first is the present settings
    const RaceChoice& best() const { return m_candidates[m_best].choice; }
    std::vector<std::size_t> takeChanged();

    // Of every value that was not chosen: why. In the order of knobs and values.
    struct Rejected {
        std::string key, value, why;
    };
    std::vector<Rejected> rejected() const;

private:
    struct Member {
        std::size_t candidate = 0;
        std::map<std::int64_t, double> logs;  // by round
        double orderSeconds = 0;              // of its newest
        bool in = true;
    };
    enum class Stage { Pilot, Joint, Neighbours, Together, Over };

    std::size_t add(RaceChoice choice);
    std::optional<std::size_t> usable(const RaceChoice& choice);
    void concludePilot();
    void advance();
    bool joint();
    bool neighbours();
    bool together();
    bool begin(std::vector<std::size_t> candidates, double shareOfRest);
    bool beginRound();
    void judgeRound();
    void conclude();
    std::vector<double> gains(const Member& of, const Member& over) const;  // log(time of over / time of `of`), by common rounds
    double spread(const std::vector<double>& gains) const;
    double halfWidth(const std::vector<double>& gains) const;  // of the interval that is told of their mean
    void tell(RaceCandidate& candidate, double gain, double halfWidth) const;
    void reject(Member& member, const std::string& why, bool sure = false);
    std::string words(const RaceChoice& choice) const;
    std::optional<std::size_t> turned(const Member& member) const;
    double gain(const Member& member) const;   // beside the best before the heat
    double error(const Member& member) const;  // of it
    const Member& rival(const Member& member) const;
    bool settled() const;
    double left() const { return m_rules.budgetSeconds - m_elapsed; }
    void change(std::size_t candidate);

    RaceRules m_rules;
    std::vector<RaceKnob> m_knobs;
    Judge m_judge;
    std::vector<RaceCandidate> m_candidates;
    std::map<RaceChoice, std::size_t> m_known;
    std::map<std::string, std::size_t> m_identities;
    std::vector<bool> m_changed;
    std::size_t m_best = 0;

    Stage m_stage = Stage::Pilot;
    std::vector<double> m_pilot;  // log time per token
    std::vector<double> m_pilotOthers;
    double m_stepSeconds = 0, m_blockCost = 0, m_variance = 0, m_mad = 0, m_othersLimit = 0;
    std::vector<Member> m_members;
    std::vector<std::size_t> m_queue;    // members that are still to run in this round, last first
    std::vector<int> m_repeated;         // of the round
    std::vector<RaceChoice> m_improved;  // single changes that won the newest heat of neighbours
    std::int64_t m_round = 0, m_heats = 0;
    int m_passes = 0;
    bool m_again = false;  // those who left may race again
    double m_deadline = 0, m_elapsed = 0;
    bool m_asked = false, m_over = false;
    std::size_t m_running = 0;  // the member asked for
};

}  // namespace stepscope
