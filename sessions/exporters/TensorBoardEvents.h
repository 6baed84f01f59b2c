// TensorBoardEvents: the scalars of a run as an event file that TensorBoard opens (TFRecords of Event messages). Called by the command line and the
// window's export, on a reader thread.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string>

#include "core/base/Result.h"

namespace stepscope {

// Tags are grouped: train/loss, train/learning_rate, val/loss, time/step_ms, phase/forward_ms, memory/…, machine/cpu_pct. Every value of every step,
// as a float of 32 bits, which is what TensorBoard's scalars are; the wall time is that of the run. BadInput: the session is no run.
Status exportTensorBoard(const std::string& database, std::int64_t session, std::ostream& out);

}  // namespace stepscope
