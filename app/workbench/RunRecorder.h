// Opens the recorder of a run or an experiment, and has it speak through the tee: what it waits for, what a disk refuses.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "app/workbench/EventTee.h"

namespace stepscope {

std::int64_t unixMillisecondsNow();  // SessionInfo::startedUnixMs

// database: empty = the default one. cancelled: while it is true the recorder may give up on what cannot be written. All outlive the recorder.
// goesOn: a session that another process has begun, instead of a new one.
Result<std::shared_ptr<Recorder>> openRecorder(const std::string& database, const SessionInfo& info, EventTee& tee, const SessionClock& clock,
                                               const std::atomic<bool>& cancelled, std::optional<Recorder::GoneOn> goesOn = {});

}  // namespace stepscope
