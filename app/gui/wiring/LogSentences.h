// What an event says in the log, as a sentence; most steps and samples say nothing. Called by LiveFeed on the GUI thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/analysis/JudgedSentence.h"
#include "widgets/panels/LogModel.h"

namespace stepscope {

struct Event;
class RunHistory;

// startedUnixMs: the session's start, to which the event's time is added. history: of the run, the event in it, which knows what took turns.
std::optional<LogEntry> logSentence(const Event& event, std::int64_t startedUnixMs, const RunHistory* history = nullptr);

// The same of experiments, one after the other: a verdict is told when it stands. Where it comes again with what was found beside it, that alone is.
class ExperimentSentences {
public:
    std::optional<LogEntry> of(const Event& event, std::int64_t startedUnixMs);

private:
    bool m_told = false;    // the verdict
    double m_delta = 0.01;  // of the experiment,
    std::string m_sides = "B beside A";
    ArmNames m_names;  //   and what its sides are called
};

}  // namespace stepscope
