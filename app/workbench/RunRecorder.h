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
// goesOn: a session that another process has begun, instead of a new one. measured: of what is no run, true when nothing more will be measured.
Result<std::shared_ptr<Recorder>> openRecorder(const std::string& database, const SessionInfo& info, EventTee& tee, const SessionClock& clock,
                                               const std::atomic<bool>& cancelled, std::optional<Recorder::GoneOn> goesOn = {},
                                               const std::atomic<bool>* measured = nullptr);

// The end of what was measured: says so where the recorder waits for room, and waits with it. `measured` is that of openRecorder; given up where
// `cancelled` is.
Status finishMeasured(Recorder& recorder, const std::string& database, EventTee& tee, const SessionClock& clock, std::atomic<bool>& measured,
                      const std::atomic<bool>& cancelled);

}  // namespace stepscope
