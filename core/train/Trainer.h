// Trainer: the loop. Owns State and Program on the trainer thread; takes Commands at step boundaries, publishes Events. It names
// no switch: a flip asks the ProgramFactory for another Program over the same State. The only catch site for LibTorch's
// exceptions: whatever goes wrong ends the run as failed with a sentence, and what was learnt is kept in a checkpoint.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/Channel.h"
#include "core/events/Command.h"
#include "core/events/EventSink.h"
#include "core/events/RunEvents.h"
#include "core/program/DataParallel.h"
#include "core/program/ProgramFactory.h"
#include "core/program/WorkerBeats.h"
#include "core/train/ActiveProgram.h"
#include "core/train/CaptureWindow.h"
#include "core/train/CheckpointKeeper.h"
#include "core/train/InRunExperiment.h"
#include "core/train/RecordingCost.h"
#include "core/train/SharedCommand.h"
#include "core/train/WorkerTimesKeeper.h"
#include "core/train/workers/CapturesTogether.h"
#include "core/train/workers/ClockExchange.h"

namespace stepscope {

struct TrainerSetup {
    RunConfig config;  // complete
    TrainState state;
    std::shared_ptr<const BatchSource> batches;
    const ProgramFactory* factory = nullptr;
    const SessionClock* clock = nullptr;
    EventSink* sink = nullptr;
    Channel<Command>* commands = nullptr;
    CheckpointOrigin origin;                   // written with every checkpoint
    std::string checkpointFolder;              // of the session; empty = checkpoints only to paths that are named
    std::string cameFrom;                      // the checkpoint of this very session that the State is of; empty = of none, or of another's
    std::map<std::int64_t, double> validated;  // then, by step: the validation loss of its checkpoints, where it is known
    std::function<std::int64_t()> room;        // bytes free for checkpointFolder; empty = its disk is asked
    std::function<bool()> mustWait;            // true while nothing can be recorded
    // Whether there is memory for the second plan in place of the first; asked before a flip.
    std::function<Status(const RunPlan&, const RunPlan&)> fits = [](const RunPlan&, const RunPlan&) { return Status(); };
    // Whether there is memory for Programs of both at once over the State; asked before two values take turns.
    std::function<Status(const RunPlan&, const RunPlan&)> fitsBeside = [](const RunPlan&, const RunPlan&) { return Status(); };
    // Copies what it needs and returns at once. asked: by a person; else it is a sample that is due.
    std::function<void(GenerateText, const TrainState&, bool asked)> generate;
    // What an experiment within the run asks, to be found again; empty = nothing is.
    std::function<std::string(const RunConfig&, const RunConfig&)> questionOf;
    // What captures take on the disk by now, and the most that they may; 0: as much as there is.
    std::function<std::int64_t()> captureBytes;
    std::int64_t captureCap = 0;
    // Bytes of them that are not stored yet. Empty: nobody counts them.
    std::function<std::int64_t()> captureBytesInHand;
    const std::atomic<int>* disturbances = nullptr;  // > 0 while something else uses the machine for this run
    // The other workers of this run: all make the same steps, each on its part of the data, and stop, wait, fail and change together. Null = none.
    // Rank 0 alone has a checkpointFolder.
    DataParallel* others = nullptr;
    // How often they hear of this one while they have nothing to do but to meet it; well below how long they wait for one that hangs.
    std::chrono::milliseconds beat = kLongestBeat;
    // Whether a Stop is among the commands that are not taken yet: a validation does not go on for it. Empty = nobody knows.
    std::function<bool()> stopIsAsked;
    // Whether commands are known to come before this step, so that the workers meet there; a person's are taken where they meet next. Empty = none
    // are.
    std::function<bool(std::int64_t)> commandsBefore;
};

struct TrainerOutcome {
    RunState state = RunState::Finished;
    Error error;                       // when failed
    std::int64_t lostCheckpoints = 0;  // that were due and could not be written
};

class Trainer {
public:
    explicit Trainer(TrainerSetup setup);
    TrainerOutcome run();

private:
    TrainerOutcome loop();
    void takeCommands();
    void pause(bool asked);
    void waitWhilePaused();
    void waitForRecorder();
    void waitABit();
    void waitWhile(const std::function<bool()>& held);
    bool meetsOthers() const;
    bool asksToMeet() const;
    void meetOthers();
    Wish agreeWithOthers(Wish own);
    bool hasToShare() const;
    void share(const SharedCommand& asked);
    void shareCommand();
    SharedCommand nextToShare();
    void carryOut(const SharedCommand& asked);
    bool writesCheckpoints() const;
    void tellHeldUp();
    void tellFallback(const std::string& fallback);
    void flip(const Flip& flip);
    void measure(const Measure& asked);
    void endMeasuring(EndedBy ended, const std::string& broke = {});
    void dropMeasuring(const std::string& broke);
    std::optional<StepResult> stepInTurn(StepProgram& turn, double rate);
    StepProgram& programForNextStep();
    void refuse(const std::string& id, const Value& value, const Error& why);
    struct Flipped {
        std::unique_ptr<StepProgram> program;
        std::string lost;  // by converting the State, in a few words
    };
    Result<RunPlan> planFlip(const Flip& asked) const;
    std::unique_ptr<StepProgram> build(const RunPlan& plan) const;
    StateForm formOf(const RunPlan& plan) const;
    std::string convertTo(const RunPlan& plan);
    Result<Flipped> buildFlipped(const RunPlan& wanted);
    bool trainOneStep();
    bool validationDue(std::int64_t cursorBefore) const;
    void tellEnded(std::optional<CaptureWindow::Ending> capture, bool others = false);
    void tellCaptured(CaptureDone done);
    void endCapturesTogether();
    void noCapture(std::string why);
    RecordingCosts recordingCosts() const;
    void breakDown(Breakdown kind, std::int64_t step, double rate);
    Error brokenState() const;
    BreakdownFacts factsOf(Breakdown kind, std::int64_t step, double rate) const;
    bool validate();
    void hearValidation();
    std::string whyEndedEarly() const;
    void keepAfterFailure(Error& failure);
    void keepState();
    bool keeps(bool wanted);
    bool keepAtEnd();
    void keepAsAsked(const std::string& path);
    void keepAfterStop(const std::string& path);
    using Kept = CheckpointKeeper::Kept;
    // Whether the other workers have nothing to do but to meet this one. Of weights that are broken they know by themselves where each looked.
    enum class OthersMeet { No, UnlessBroken, Yes };
    Kept checkpoint(const std::string& path, OthersMeet othersMeet = OthersMeet::No);
    bool dueCheckpoint();
    void retain() { m_keeper.retain(m_state.updates, m_validatedAt == m_state.updates ? m_validationLoss : kUnknown); }
    void changeState(RunState state, std::string why = {});
    void tellState(RunState state, const Error& why);
    void log(LogLevel level, std::string text);
    void log(LogLevel level, const Error& error);

    TrainerSetup m_setup;
    RunConfig m_config;
    RunPlan m_plan;  // of m_config
    TrainState m_state;
    ActiveProgram m_program;
    RunState m_runState = RunState::Preparing;
    bool m_stopAsked = false;
    bool m_stopAgreed = false;             // by all workers
    TimeNs m_stepTook;                     // the newest one
    std::vector<SharedCommand> m_toShare;  // asked of the first of several workers, and of the others not yet
    std::string m_captureEndsBecause;      // told by the first of them
    bool m_pauseAsked = false;             // by a person
    bool m_heldUp = false;                 // nothing can be recorded, or a checkpoint finds no room
    bool m_disturbed = false;
    double m_lastLoss = kUnknown, m_lowestLoss = kUnknown;
    std::int64_t m_lostCheckpoints = 0;
    std::int64_t m_validatedAt = -1;
    double m_validationLoss = kUnknown;  // at that step
    CheckpointKeeper m_keeper;
    std::unique_ptr<InRunExperiment> m_measuring;
    std::string m_fallbackTold;  // RunPlan::notes, when it was last said
    RecordingCost m_recording;
    bool m_threw = false;                // what it trained on may be of no use any more
    std::optional<Revision> m_stepFrom;  // the State as the step found it that is under way
    ClockExchange m_clocks;
    CapturesTogether m_together;
    CaptureWindow m_capture;
    WorkerTimesKeeper m_workerTimes;
    Error m_failure;
};

}  // namespace stepscope
