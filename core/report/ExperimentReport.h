// The report of an experiment: question, verdict, interval, every pair as a dot, an arm beside itself, both sides beside the time, the machine, and
// how to ask it again. Pure function.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/ExperimentHistory.h"
#include "core/events/Machine.h"
#include "core/report/Document.h"

namespace stepscope::report {

struct Differing {
    std::string key, a, b;
};

// What the events of an experiment do not say; empty where nobody knows.
struct ExperimentFacts {
    std::string name;
    std::string started;  // "2026-11-22 16:30"
    std::vector<Differing> keys;
    std::string preset;  // of both
    Machine machine;
    bool machineKnown = false;
    std::int64_t parameters = 0, trainTokens = 0;
    std::string repeat;                // one line to type
    std::vector<std::string> earlier;  // answers to the same question, a sentence each
};

Document experimentReport(const ExperimentHistory& history, const ExperimentFacts& facts);

// "amp: off (A), bf16 (B)" of each key, for a title.
std::string questionOf(const std::vector<Differing>& keys, bool same);

}  // namespace stepscope::report
