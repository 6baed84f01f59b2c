// Events: the one typed stream. A live run and a replay publish the same structs through the same door (EventSink);
// the recorder stores them, the window draws them. Visitors have no catch-all arm, so the compiler lists every place
// where a new event must be handled.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/Result.h"
#include "core/base/Units.h"
#include "core/events/Experiment.h"
#include "core/events/Machine.h"
#include "core/events/RunConfig.h"
#include "core/events/Study.h"
#include "core/trace/Chunk.h"

namespace stepscope {

// Where the time of a step goes; resources/guide/charts.md says what happens in each. Evaluation is outside the step and has its own event.
enum class Phase { Batch, Copy, Forward, Backward, Clip, Optimizer };
constexpr std::size_t kPhases = 6;
const char* toString(Phase phase);  // "batch", "copy", ...

enum class RunState { Preparing, Running, Paused, Finished, Stopped, Failed, Interrupted };
const char* toString(RunState state);  // "preparing", "running", ...
inline bool ended(RunState state) {
    return state >= RunState::Finished;
}

// What a session is a record of. Stored as a word.
enum class SessionKind { Run, Experiment, Trace, Ladder, Tune };
const char* toString(SessionKind kind);  // "run", "experiment", "trace", "ladder", "tune"

struct SessionInfo {
    SessionKind kind = SessionKind::Run;
    std::string name;
    std::string notes;
    std::vector<std::string> tags;
    std::int64_t startedUnixMs = 0;
    // A run's is there and complete: every switch has a value. What was not run here, an imported trace, may have neither.
    std::optional<RunConfig> config{std::in_place};
    std::optional<Machine> machine{std::in_place};
    std::int64_t vocabulary = 0;  // of the model, padding excluded
    std::int64_t parameters = 0;
    std::int64_t trainTokens = 0;
    std::int64_t validationTokens = 0;
    std::int64_t firstStep = 0;  // > 0 when resumed from a checkpoint
    std::string resumedFrom;     // checkpoint path or empty
};

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
    double othersPct = kUnknown;  // every other process, of the time of the same cores
    double stealPct = kUnknown;   // what the host of a virtual machine gave to others of that time
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
    std::string why;  // for Failed, Paused by a full disk, ...
    std::optional<ErrorCode> code{};
    Subject subject{};
};

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

// One kind of operation in one place of the captured steps.
struct CapturedOperation {
    std::string name;           // "aten::addmm"; of our own "norm + QKV"
    std::string kind;           // "matrix product", "norm", ...; see core/profile/OperationTable.h
    std::string phase;          // "forward", ...; empty between the phases
    std::string role;           // "attention/qkv", ...; empty where nobody knows
    bool ours = false;          // an operation of our own, beside LibTorch's
    std::int64_t runs = 0;      // how often it was run, in all captured steps
    std::int64_t launches = 0;  // how often that was a launch of work, and not only a way into others or a view
    TimeNs total;               // of all threads that ran it
    TimeNs self;                // without what it called
};
constexpr std::size_t kMostCapturedOperations = 500;
constexpr std::size_t kLongestOperationName = 200;  // in bytes; what is longer is cut

struct CaptureDone {        // what ran in the steps that a Capture asked for
    std::int64_t step = 0;  // the last of them
    TimeNs at;
    TimeNs duration;                                             // of the steps together
    std::int64_t firstStep = 0;                                  // of them,
    std::int64_t steps = 0;                                      //   and how many
    double operations = kUnknown;                                // launches of work a step
    std::int64_t leftOut = 0;                                    // kinds of operations beyond kMostCapturedOperations, those with the least time
    std::shared_ptr<const std::vector<CapturedOperation>> rows;  // most time of their own first; null: none
};

using Event =
    std::variant<SessionStarted, StepDone, ValidationDone, SwitchApplied, SwitchRefused, DeviceSample, LogLine, StateChanged, CheckpointSaved,
                 TextGenerated, Preparing, RecorderWaited, CaptureDone, ExperimentBegan, BlockDone, ExperimentJudged, StudyBegan, StudyRow>;

// The one door. Both may be called from any thread and must not throw.
class EventSink {
public:
    virtual ~EventSink() = default;
    virtual void publish(Event event) = 0;
    // Bulk data, for those who keep or draw it; nothing of it is an Event, so a listener without this misses no event.
    virtual void publishChunk(ChunkPtr) {}
};

// For std::visit with one lambda an event and no catch-all.
template <class... Arms>
struct Visitor : Arms... {
    using Arms::operator()...;
};
template <class... Arms>
Visitor(Arms...) -> Visitor<Arms...>;

}  // namespace stepscope
