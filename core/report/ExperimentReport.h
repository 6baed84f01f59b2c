// The report of an experiment: question, verdict, interval, every pair as a dot, an arm beside itself, both sides beside the time, the machine, and
// how to ask it again. Pure function.
#pragma once
#include <string>
#include <vector>

#include "core/analysis/ExperimentHistory.h"
#include "core/report/Document.h"
#include "core/report/ReportFacts.h"

namespace stepscope::report {

struct Differing {
    std::string key, a, b;
};

struct ExperimentFacts : ReportFacts {
    std::vector<Differing> keys;
    std::int64_t trainTokens = 0;
    std::vector<std::string> earlier;  // answers to the same question, a sentence each
};

Document experimentReport(const ExperimentHistory& history, const ExperimentFacts& facts);

// "amp: off (A), bf16 (B)" of each key, for a title.
std::string questionOf(const std::vector<Differing>& keys, bool same);

}  // namespace stepscope::report
