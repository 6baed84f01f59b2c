// StudyHistory: a ladder or a search for the fastest settings summed up from its events, live or stored: what was asked, and the newest of every row
// of its table. One thread.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "core/analysis/ExperimentHistory.h"
#include "core/events/Study.h"

namespace stepscope {

struct Event;

class StudyHistory {
public:
    void add(const Event& event);

    const std::optional<StudyBegan>& began() const { return m_began; }
    const std::vector<StudyRow>& rows() const { return m_rows; }          // ascending by their number
    const StudyRow* find(const char* role) const;                         // the first of this role; null: there is none
    const ExperimentHistory& experiment() const { return m_experiment; }  // the newest of its experiments
    // What a search recommends: the best of its race where measuring that anew beside the present settings bore it out, or leant that way. Null where
    // it found nothing, and where it was ended before that was known.
    const StudyRow* recommended() const;
    // What a search did not choose, without telling one reason twice: values of one switch that were left for the same reason are one row,
    // "attention=flash, attention=manual".
    std::vector<StudyRow> rejectedValues() const;
    // Every pair of blocks that stands behind a row; none of a row that was measured in an earlier session, or not by an experiment of its own.
    const std::vector<ExperimentJudged>& pairsOf(const StudyRow& row) const;
    double measuredSeconds() const;  // that its rows took
    bool saysAnything() const;       // a row is there that pairs or rounds stand behind
    double seconds() const;          // from its begin to its newest row

private:
    std::optional<StudyBegan> m_began;
    std::vector<StudyRow> m_rows;
    ExperimentHistory m_experiment;
    std::map<std::int64_t, std::vector<ExperimentJudged>> m_pairs;  // by row, of those whose experiment has ended
    bool m_taken = true;                                            // the newest experiment's are in it, or there is none
    std::size_t m_kept = 0;                                         // pairs in it
};

// What a stranger's file may hold beyond this is left out.
constexpr std::int64_t kMostStudyRows = 2000;
constexpr std::size_t kMostStudyPairs = 50'000;

}  // namespace stepscope
