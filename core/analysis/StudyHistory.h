// StudyHistory: a ladder or a search for the fastest settings summed up from its events, live or stored: what was asked, and the newest of every row
// of its table. One thread.
#pragma once
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
    double measuredSeconds() const;                                       // that its rows took
    bool saysAnything() const;                                            // a row is there that pairs or rounds stand behind
    double seconds() const;                                               // from its begin to its newest row

private:
    std::optional<StudyBegan> m_began;
    std::vector<StudyRow> m_rows;
    ExperimentHistory m_experiment;
};

// What a stranger's file may hold beyond this is left out.
constexpr std::int64_t kMostStudyRows = 2000;

}  // namespace stepscope
