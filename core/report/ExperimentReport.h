// The report of an experiment: question, verdict, interval, every pair as a dot, an arm beside itself, both sides beside the time, the machine, and
// how to ask it again. Pure function.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/ExperimentHistory.h"
#include "core/report/Document.h"
#include "core/report/ReportFacts.h"

namespace stepscope::report {

struct Differing {
    std::string key, a, b;
};

struct ExperimentFacts : ReportFacts {
    std::int64_t session = 0;         // that holds it; 0 = it was not recorded
    std::int64_t number = 0, of = 0;  // which of the experiments that this session holds, from 1; of 1 or less: it is the only one
    std::vector<Differing> keys;
    std::vector<std::pair<std::string, std::string>> settings;  // of one configuration beside itself: those that are not the preset's
    std::int64_t trainTokens = 0;
    std::vector<std::string> earlier;  // answers to the same question, a sentence each
    double foretold = kUnknown;        // B's speed as a multiple of A's, as it was predicted before, and from what
    std::string foretoldBasis;
};

Document experimentReport(const ExperimentHistory& history, const ExperimentFacts& facts);

// Every pair as a dot. `aboveOne`, `belowOne`: what a ratio on that side means.
PairPicture pictureOf(const std::vector<ExperimentJudged>& pairs, double delta, const std::string& aboveOne, const std::string& belowOne);
constexpr std::size_t kMostDots = 5000;  // hours of pairs; a stranger's file may hold millions

// "amp: off (A), bf16 (B)" of each key, for a title.
std::string questionOf(const std::vector<Differing>& keys, bool same);

}  // namespace stepscope::report
