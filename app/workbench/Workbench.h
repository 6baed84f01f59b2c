// Workbench: the engine behind both front ends, without Qt and without a torch, CUPTI or SQLite type in this header.
// The window and the command line build a RunRequest, start a Run, send Commands and listen to Events.
#pragma once
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/ExperimentHistory.h"
#include "core/base/MemoryKind.h"
#include "core/base/Result.h"
#include "core/events/CaptureDone.h"
#include "core/events/Command.h"
#include "core/events/EventSink.h"
#include "core/events/Experiment.h"
#include "core/events/Machine.h"
#include "core/events/Presets.h"
#include "core/events/RunEvents.h"
#include "core/events/SessionInfo.h"
#include "core/events/SwitchCatalogue.h"
#include "core/workers/WorkerPlace.h"
#include "sessions/Replayer.h"
#include "sessions/SessionStore.h"

namespace stepscope {

class SessionKeeper;

// Taken at the step boundary before `step`, counted from 1.
struct ScheduledCommand {
    std::int64_t step = 1;
    Command command;
};

constexpr std::int64_t kUsualCaptureCap = 2'000'000'000;  // bytes on the disk that all captures of a session may take

struct RunRequest {
    RunConfig config;
    std::string name;  // empty = made from what differs from the preset
    std::string notes;
    std::vector<std::string> tags;
    std::string database;                        // empty = defaultDatabasePath()
    std::string init;                            // weights to start from, whoever wrote them (core/state/foreign/ForeignModel.h); empty = random
    std::optional<Capture> capture{};            // asked of the trainer before its first step
    std::int64_t captureCap = kUsualCaptureCap;  // bytes that captures may take on the disk; 0: as many as there are
    std::vector<ScheduledCommand> scheduled{};
    std::string resume;  // checkpoint folder, or a session id whose newest checkpoint is taken
    // This process among those that train together; alone = a run as every other. The first one alone records and keeps checkpoints.
    WorkerPlace workers{};
    std::chrono::milliseconds workerPatience{300'000};  // with one that does not come, at the start or to a sum
    std::string workerProgram{};                        // of the others, where localWorkers is more than 1
    // Not empty: the run is trained by a process of its own, started with these words (engine/EngineRun.h). The session is kept by this process.
    std::vector<std::string> engine{};
    // Not empty: nothing is begun. The line to the engine of this name, which outlives it and trains already, is taken up, and that session here,
    // left behind by a window that was killed, goes on with what the engine says (engine/SessionOfEngine.h).
    std::string engineTakenUp{};
    std::int64_t sessionTakenUp = 0;
    std::chrono::seconds engineGreeting{120};      // until it has said who it is: its command may have to ask somebody
    std::chrono::milliseconds enginePause{1'000};  // before a line that broke is tried again; then twice as long each time, up to half a minute
    // After Stop: how long nothing may come from it before it is ended. Samples of the device come twice a second, however long a step takes.
    std::chrono::milliseconds engineSilence{30'000};
    SessionKeeper* keeper = nullptr;  // in that process: who keeps the session, in place of a database; outlives the run
    // More: this process is the first of so many on this machine, and the others are started for the run, as processes of the command line's
    // program (workers/LocalRun.h).
    int localWorkers = 1;
    // The small ones together, so that nothing lies empty between the others.
    bool record = true;
    bool initPartial = false;      // of `init` what fits is taken, the rest drawn
    bool mayBeDone = false;        // `resume` may be of the last step already: the run then ends as one that has made it
    bool engineElsewhere = false;  // the engine is on another machine: its checkpoints lie there
};

// In place of a seed of coins: another one each time, so that two measurements do not share what one order of turns does to them. What was drawn is
// stored, and is in the line that asks the same again.
constexpr std::int64_t kAnySeed = 0;

// Two configurations that take turns: is B faster than A here, how sure is that?
struct ExperimentRequest {
    RunConfig a, b;
    bool same = false;  // A beside itself, and b is a: what is found then is this machine's
    double budgetSeconds = 180;
    double mostSeconds = 0;  // CourseRules
    double delta = 0.01;     // a ratio within 1 +- delta counts as equal
    double alpha = 0.05;     // of claiming a difference that is not there
    std::int64_t seed = 1;   // of the coins that order the turns; kAnySeed: drawn when it starts
    std::string name;        // empty = made from what differs
    std::string notes;
    std::vector<std::string> tags;
    std::string database;  // empty = defaultDatabasePath()
    bool record = true;
    std::string init;  // weights that both start from; empty = random
    std::string from;  // checkpoint folder that both start from
    // Afterwards, what both learn in so many seconds of training each, with each of so many seeds; 0 seconds: nothing.
    double lossSeconds = 0;
    std::int64_t whyWindows = 4;  // short captures of each side when it is decided, which tell why; 0: none
    std::int64_t lossSeeds = 5;
};
constexpr double kLeastLossSeconds = 1, kMostLossSeconds = 86'400;
constexpr std::int64_t kLeastLossSeeds = 2, kMostLossSeeds = 100;
constexpr double kShortestBudget = 5, kLongestBudget = 86'400;  // seconds
constexpr double kLeastDelta = 0.0005, kMostDelta = 0.5;

struct LadderRequest;  // StudyRequests.h
struct LadderForecast;
struct TuneRequest;

// What a run measured in turns, and what came of it.
struct ExperimentAnswer {
    ExperimentBegan began;
    ExperimentJudged judged;     // the last one; over
    std::size_t same = 0;        // pairs that told something of a side beside itself
    bool changed = false;        // the run went on with B's value
    MachineMeanwhile machine{};  // while its blocks that count ran
};

struct RunSummary {
    std::int64_t session = 0;
    RunState state = RunState::Failed;
    ErrorCode code = ErrorCode::Internal;  // when failed, or interrupted because what it did could not be stored: the kind,
    std::string why;                       //   and the sentence
    std::int64_t steps = 0;
    double lossFirst = kUnknown, lossLast = kUnknown, validationLoss = kUnknown;
    double msPerStepMedian = kUnknown;  // without the first 3 steps
    double tokensPerSecond = kUnknown;
    std::int64_t peakMemoryBytes = 0;
    std::int64_t peakAllocatedBytes = 0;    // most live bytes of tensors on the run's device
    std::int64_t predictedMemoryBytes = 0;  // of peakMemoryBytes, before the run
    std::int64_t lostCheckpoints = 0;       // that were due and could not be written
    std::int64_t keptStep = -1;             // of the newest checkpoint that was written; -1: none was
    std::int64_t skipped = 0;               // steps whose update fp16's overflow left out
    std::vector<CaptureDone> captures;
    std::vector<ExperimentAnswer> answers{};  // of experiments, in their order; the last one may be of one that was cut off
    std::vector<SwitchRefused> refused{};     // flips and measurements that were asked of it and not made, in their order
};

// A live run: a trainer thread, a recorder thread, a sampler. Destroying it stops the run cleanly and waits.
class Run {
public:
    virtual ~Run() = default;
    virtual void send(Command command) = 0;  // any thread; taken at the next step boundary
    virtual bool done() const = 0;
    virtual RunSummary wait() = 0;  // any threads, at once too; until the run has ended and everything is stored
};

// First statement of main(): installs the host allocator and loads the CUDA plug-in, both before any ATen call, takes what libraries write to
// std::cerr, and has a write beyond a limit to the size of files fail instead of ending the program. Descriptor 2 is taken before that
// (process/EarlyEnd.h).
void initialiseEngine();
// Whether the environment variables that the engine reads have values that it can use (STEPSCOPE_MEMORY_LIMIT, STEPSCOPE_ISA).
Status checkEnvironment();

class Workbench {
public:
    virtual ~Workbench() = default;
    static std::unique_ptr<Workbench> create();
    // As it would be on another machine: for its verdicts and predictions, and for runs that an engine there trains. What is free there is not known:
    // all that it has counts as available.
    static std::unique_ptr<Workbench> create(Machine machine);

    virtual const Machine& machine() const = 0;
    // Every switch with its verdict for this machine and this configuration. Cheap: called on each edit.
    virtual SwitchCatalogue switches(const RunConfig& config) const = 0;
    // Fills in defaults and checks everything that can be checked without reading data.
    virtual Result<RunConfig> complete(RunConfig config) const = 0;
    // Predicted peak memory and parameter count, by kind; shown before a run.
    struct Estimate {
        std::int64_t parameters = 0;
        Bytes weights, gradients, moments, activations, logits, total, available;
        Bytes tensors;      // the part of total that tensors hold; the rest the allocator keeps
        Bytes process;      // resident besides: the program and its libraries; total + process is the peak that the system will show
        std::string parts;  // the same finer: "logits and loss 40 MB, q, k, v 12 MB, ..."
        std::string room;   // of a GPU: "on cuda:0, NVIDIA H200: 120 GB of 150 GB are free"; empty on a CPU
        std::array<Bytes, kMemoryKinds> byKind{};  // of tensors
        Bytes tokens{};  // of tensors: all tokens of the data, where they lie on a GPU; 0 as long as nobody knows how many there are
    };
    virtual Estimate estimate(const RunConfig& config) const = 0;

    // Returns at once after checking the request and opening the database; tokenising and building happen on the trainer
    // thread and are published as Preparing. sink is called from several threads and outlives the Run.
    virtual Result<std::unique_ptr<Run>> start(RunRequest request, EventSink& sink) = 0;

    // The same for an experiment. Errors name the side (A or B) that cannot be run here; configurations that cannot be compared are BadInput with the
    // sentence of whyNotComparable (ExperimentQuestion.h) or of whyNothingDiffers.
    virtual Result<std::unique_ptr<Run>> startExperiment(ExperimentRequest request, EventSink& sink) = 0;

    // Complete configurations of which the switches alone differ, and of which the same is made here: why, in a sentence. Empty where what runs
    // differs, or anything else than switches does.
    virtual std::string whyNothingDiffers(const RunConfig& a, const RunConfig& b) const = 0;

    // A ladder of switches: many experiments, one after the other, in one session.
    virtual Result<std::unique_ptr<Run>> startLadder(LadderRequest request, EventSink& sink) = 0;
    // A search for the fastest settings.
    virtual Result<std::unique_ptr<Run>> startTune(TuneRequest request, EventSink& sink) = 0;
    // What of a ladder can be measured here, and how long that takes. Errors as startLadder.
    virtual Result<LadderForecast> forecast(LadderRequest request) const = 0;
};

// YAML with the keys of ConfigKeys.h.
Result<RunConfig> loadYaml(const std::string& path, const RunConfig& base, const SwitchCatalogue& catalogue);
std::string toYaml(const RunConfig& config);

}  // namespace stepscope
