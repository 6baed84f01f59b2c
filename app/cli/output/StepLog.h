// StepLog: --step-log FILE, one line {"step":…,"t_ns":…,"loss":…,"lr":…,"grad_norm":…} a step; null where a value is not known. In a run of
// several workers "waiting_ns":… too: how long it waited for the others. Each line is one write(2), so a kill at any moment loses no line that was
// written. append() runs on the trainer thread.
#pragma once
#include <memory>
#include <string>

#include "core/base/Result.h"
#include "core/events/RunEvents.h"

namespace stepscope::cli {

class StepLog {
public:
    // Replaces what is in the file, or goes on behind it. The error names it.
    static Result<std::unique_ptr<StepLog>> open(const std::string& path, bool goesOn = false);
    ~StepLog();
    StepLog(const StepLog&) = delete;
    StepLog& operator=(const StepLog&) = delete;

    // The first failure is reported, later ones are not: the run is worth more than its log.
    Status append(const StepDone& step);

private:
    StepLog(int descriptor, std::string path) : m_descriptor(descriptor), m_path(std::move(path)) {}

    int m_descriptor;
    std::string m_path;
    bool m_failed = false;
};

}  // namespace stepscope::cli
