// The event of a capture: what ran in its steps, as a table. Its slices are chunks (core/trace).
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/Units.h"

namespace stepscope {

// One kind of operation in one place of the captured steps.
struct CapturedOperation {
    std::string name;           // "aten::addmm"; of our own "norm + QKV"
    std::string kind;           // "matrix product", "norm", ...; see core/profile/OperationTable.h
    std::string phase;          // "forward", ...; empty between the phases
    std::string role;           // "attention/qkv", ...; empty where nobody knows
    bool ours = false;          // an operation of our own, beside LibTorch's
    std::int64_t runs = 0;      // how often it was run, in all captured steps
    std::int64_t launches = 0;  // how often that was a launch of work, and not only a way into others or a view
    TimeNs total;               // of all threads that ran it; what it called of its own name counts once
    TimeNs self;                // without what it called
};
constexpr std::size_t kMostCapturedOperations = 500;
constexpr std::size_t kLongestOperationName = 200;  // in bytes; what is longer is cut

// What is recorded of every step, captured or not, takes the trainer: of steps that were not captured. Unknown where it was not measured.
struct RecordingCosts {
    double recordNs = kUnknown;  // L0: to make the record of a step and hand it on
    double phasesNs = kUnknown;  // L1, on top: to tell the phases of a step apart
};

struct CaptureDone {        // what ran in the steps that a Capture asked for
    std::int64_t step = 0;  // the last of them
    TimeNs at;
    TimeNs duration;                                             // of the steps together
    std::int64_t firstStep = 0;                                  // of them,
    std::int64_t steps = 0;                                      //   and how many
    double operations = kUnknown;                                // launches of work a step
    std::int64_t leftOut = 0;                                    // kinds of operations beyond kMostCapturedOperations, those with the least time
    std::shared_ptr<const std::vector<CapturedOperation>> rows;  // most time of their own first; null: none
    RecordingCosts always{};
};

}  // namespace stepscope
