// StudyHistory: a ladder or a search for the fastest settings summed up from its events, live or stored: what was asked, and the newest of every row
// of its table; and what of it the command line, reports and the window say in the same words. One thread.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/ExperimentHistory.h"
#include "core/events/Study.h"

namespace stepscope {

struct Event;

class StudyHistory {
public:
    // Samples of the machine may come in any order with the others, behind its begin.
    void add(const Event& event);

    const std::optional<StudyBegan>& began() const { return m_began; }
    const std::vector<StudyRow>& rows() const { return m_rows; }          // ascending by their number
    const StudyRow* find(const char* role) const;                         // the first of this role; null: there is none
    const ExperimentHistory& experiment() const { return m_experiment; }  // the newest of its experiments
    // What a search recommends: the best of its race where measuring that anew beside the present settings bore it out, or leant that way. Null where
    // it found nothing, and where it was ended before that was known.
    const StudyRow* recommended() const;
    // Whether something is, and measuring it anew left open whether it is faster.
    bool recommendedUnconfirmed() const;
    // This row won its race, and was measured anew beside the present settings: it was chosen for the figure of the race, whose interval is not shown
    // any more, for that of find(study::kFinal) says what is known (kBeforeAnew).
    bool isMeasuredAnew(const StudyRow& row) const;
    // What a search did not choose, without telling one reason twice: values of one switch that were left for the same reason are one row,
    // "attention=flash, attention=manual".
    std::vector<StudyRow> rejectedValues() const;
    // Every pair of blocks that stands behind a row; none of a row that was measured in an earlier session, or not by an experiment of its own.
    const std::vector<ExperimentJudged>& pairsOf(const StudyRow& row) const;
    // What the machine did while a row's own experiment ran. Nothing of a row that was measured in an earlier session, or that raced.
    std::optional<MachineMeanwhile> machineMeanwhile(const StudyRow& row) const;
    double measuredSeconds() const;     // that its rows took
    std::int64_t measuredLegs() const;  // of StudyBegan::legs; the bottom is measured beside the first of them and is none
    bool saysAnything() const;          // a row is there that pairs or rounds stand behind
    double seconds() const;             // from its begin to its newest row

private:
    std::optional<StudyBegan> m_began;
    std::vector<StudyRow> m_rows;
    ExperimentHistory m_experiment;
    std::map<std::int64_t, std::vector<ExperimentJudged>> m_pairs;  // by row, of those whose experiment has ended
    std::map<std::int64_t, MachineWindow> m_windows;                // the same
    MachineSamples m_samples;
    // Of those that were asked for: a table asks for all of them at each tick.
    mutable std::map<std::int64_t, MachineMeanwhile> m_meanwhile;
    bool m_taken = true;     // the newest experiment's are in it, or there is none
    std::size_t m_kept = 0;  // pairs in it
};

// Stands where the interval of a winner's race would.
constexpr const char* kBeforeAnew = "before it was measured anew";

// What there is to know of a row, in sentences: which earlier session of the same ladder measured it, "Measured in session 3 by another version
// (Stepscope 0.9).", and its own `why` behind that. Empty: nothing.
std::string whyWords(const StudyRow& row);
// The same, and what the machine did meanwhile where that is worth a sentence (machineSentence).
std::string rowWords(const StudyHistory& history, const StudyRow& row);

// Whether a measurement is left out for want of time: going on with the ladder measures it.
bool waitsForBudget(const StudyHistory& history);

// How the winner of a search computes, and the sentence that says so, which stands at the end of its `why`.
enum class Arithmetic { Unknown, Same, Other };  // beside the present settings; Unknown: searches of earlier versions did not ask
constexpr const char* kSameArithmetic = "It computes the same as the present settings, up to rounding.";
constexpr const char* kOtherArithmetic = "Other arithmetic than the present settings: the loss may move.";
Arithmetic arithmeticOf(const StudyRow& row);

// "Loss at equal tokens, soon after the start: 0.0012 lower than with the present settings." Of what a search recommends; empty where it does not.
std::string searchLossSentence(const StudyHistory& history);

// What it came to, beside other studies of the same question: "the top is ×2.10 [1.98, 2.23] as fast as the bottom", "recommended: amp=bf16, ×1.31
// [1.22, 1.41]". Empty where it came to nothing.
std::string studyHeadline(const StudyHistory& history);

// How the interval of an experiment is made, as a part of a sentence. finalLook: ExperimentBegan has it.
std::string intervalMethod(bool finalLook);

// What a stranger's file may hold beyond this is left out.
constexpr std::int64_t kMostStudyRows = 2000;
constexpr std::size_t kMostStudyPairs = 50'000;

}  // namespace stepscope
