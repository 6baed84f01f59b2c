// The events of a run, one struct each. Event.h has all events as one type; who shows or judges single ones needs only this.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/Result.h"
#include "core/base/Units.h"
#include "core/events/Phase.h"
#include "core/events/SessionInfo.h"

namespace stepscope {

// First event of every stream; again when a replay jumps back: listeners forget what they have and start anew.
struct SessionStarted {
    std::int64_t session = 0;  // database id, 0 when not recorded
    std::shared_ptr<const SessionInfo> info;
    bool replay = false;
};

struct StepDone {
    std::int64_t step = 0;   // 1-based: number of updates made so far
    TimeNs at;               // end of the step
    TimeNs duration;         // wall time of the step, without evaluation, checkpoints and pauses
    double loss = kUnknown;  // mean over the micro-batches, natural log
    double learningRate = kUnknown;
    double gradientNorm = kUnknown;  // before clipping; unknown when not computed
    double lossScale = kUnknown;     // fp16 only
    bool skipped = false;            // fp16: non-finite gradients, no update made
    std::int64_t tokens = 0;         // tokens of this step
    std::array<std::int64_t, kPhases> phaseNs{};
    std::int64_t residentBytes = 0;   // process resident memory after the step
    std::int64_t allocatedBytes = 0;  // live bytes after the step on the device that the model is on (host allocator on a CPU)
    double peakBytes = kUnknown;      // the most of them at a time during the step
    std::int64_t pageFaults = 0;      // minor + major faults during the step
    double operations = kUnknown;     // that a step of this Program runs (OperationCounter); counted now and then, unknown at its first step
    bool disturbed = false;           // text was generated, a checkpoint written or the step captured meanwhile
};

struct ValidationDone {
    std::int64_t step = 0;
    TimeNs at;
    TimeNs duration;
    double loss = kUnknown;
};

struct SwitchApplied {      // the marker on every chart
    std::int64_t step = 0;  // first step that runs with it is step + 1
    TimeNs at;
    std::string id;
    Value from, to;
    std::string note;  // "attention: sdpa-flash ran", a lossy conversion's loss, ...
};

struct SwitchRefused {
    std::int64_t step = 0;
    TimeNs at;
    std::string id;
    Value value;
    std::string why;
    std::optional<ErrorCode> code{};
    Subject subject{};  // what stands in its way, where that has a name
};

struct DeviceSample {  // every 500 ms from /proc, and NVML where there is a GPU
    TimeNs at;
    double cpuPct = kUnknown;  // this process, of all cores that it may use, 0..100
    std::int64_t residentBytes = 0;
    std::int64_t availableBytes = 0;  // of the machine
    double gpuPct = kUnknown;
    double gpuMemoryBytes = kUnknown;
    double gpuPowerW = kUnknown;
    double gpuTemperatureC = kUnknown;
    double gpuClockMhz = kUnknown;
    double othersPct = kUnknown;                                // every other process, of the time of the same cores
    double stealPct = kUnknown;                                 // what the host of a virtual machine gave to others of that time
    double cpuClockMhz = kUnknown, cpuTemperatureC = kUnknown;  // of the processors that it may use, on average; of their hottest sensor
    // Of whole processors, for all programs on them: watts since the sample before, joules since sampling began.
    double cpuPowerW = kUnknown, cpuEnergyJ = kUnknown;
    double throttledPct = kUnknown;  // of the periods of its control group's quota since the sample before: in which threads were stopped
    // Other processes that compute on the GPU, and of the last second that in which kernels of theirs ran; unknown where the driver hides them, as in
    // most containers.
    double gpuOtherProcesses = kUnknown, gpuOthersBusyPct = kUnknown;
};

enum class LogLevel { Info, Warning, Error };
struct LogLine {
    TimeNs at;
    std::int64_t step = 0;
    LogLevel level = LogLevel::Info;
    std::string text;
    std::optional<ErrorCode> code{};  // of a line that tells an error
    Subject subject{};
};

struct StateChanged {
    TimeNs at;
    std::int64_t step = 0;
    RunState state = RunState::Preparing;
    std::string why;                  // for Failed, Paused by a full disk, ...
    std::optional<ErrorCode> code{};  // of an end that is a failure, and of a pause that nobody asked for
    Subject subject{};
};
// Whether the run waits for what no Resume brings, as room on the disk: it goes on by itself then.
inline bool isHeldUp(const StateChanged& change) {
    return change.state == RunState::Paused && change.code.has_value();
}

struct CheckpointSaved {
    std::int64_t step = 0;
    TimeNs at;
    TimeNs duration;
    std::string path;
};

struct TextGenerated {
    std::int64_t step = 0;  // of the weights it was written with
    TimeNs at;
    std::string prompt;
    std::string text;
    bool complete = true;  // false = more of the same text follows; text is always the whole text so far
    // Tokens a second of prompt and text so far, and of several texts that are written beside each other which one it is, from 0. For who looks on:
    // not stored.
    double promptPerSecond = kUnknown, textPerSecond = kUnknown;
    std::int64_t place = 0;
};

struct Preparing {  // tokenising, building: progress before the first step
    TimeNs at;
    std::string what;
    double fraction = kUnknown;
};

struct RecorderWaited {  // the trainer waited for the recorder
    TimeNs at;
    TimeNs waited;
};

}  // namespace stepscope
