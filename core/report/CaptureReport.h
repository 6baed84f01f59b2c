// The report of what a session captured: which steps, what their time went into, the operations and kernels that took most of it, where in the
// model that was, and what streams of GPUs waited for. Pure function.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/analysis/panes/RangePanes.h"
#include "core/report/Document.h"
#include "core/report/ReportFacts.h"

namespace stepscope::report {

struct CapturedSteps {
    std::int64_t number = 0;                // of the capture, from 1 in order of time
    std::int64_t firstStep = 0, steps = 0;  // 0: not told
    std::int64_t slices = 0;
    double cost = kUnknown;  // how much longer its steps took than those around it: 0.04 is 4 %
};

struct CaptureFacts : ReportFacts {
    std::int64_t session = 0;
    std::string about;  // a sentence on what kind of session it is; empty: a run
    std::vector<CapturedSteps> captures;
    std::string levels;                                         // what each level of observing cost, a sentence; empty: nobody measured
    std::vector<std::string> notes;                             // what captures had to say, a sentence each
    std::vector<std::pair<std::string, std::string>> settings;  // those that differ from the preset
};

// panes: of all that the session captured.
Document captureReport(const RangePanes& panes, const CaptureFacts& facts);

}  // namespace stepscope::report
