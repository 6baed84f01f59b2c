// Comparison: two Programs that take turns over steps, each over a State of its own, until a Course says that it is decided. Carries out the course's
// orders: builds both arms anew, turns, warms up, times blocks with the device waited for, and publishes each block and what the pairs say so far.
// Validation, checkpoints and text have no place in it. Trainer thread; a stop is asked from any.
#pragma once
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "core/data/BatchSource.h"
#include "core/events/EventSink.h"
#include "core/events/Experiment.h"
#include "core/events/SessionInfo.h"
#include "core/experiment/Course.h"
#include "core/profile/CaptureSource.h"
#include "core/profile/EnergyCounter.h"
#include "core/profile/ProcessorTimes.h"
#include "core/program/ProgramFactory.h"

namespace stepscope {

struct ComparedSide {
    RunConfig config;  // complete; the learning rate is read from it
    RunPlan plan;
    std::shared_ptr<const TrainState> start;  // that every instance begins with; both sides may name one State
};

struct ComparisonSetup {
    std::array<ComparedSide, 2> sides;  // A, B
    std::shared_ptr<const BatchSource> batches;
    // One State at a time lies on the device, the other one in the host's memory meanwhile: where both do not fit.
    bool swapStates = false;
    CourseRules rules;
    // When it is decided which one is faster: what both learn in so many seconds, with each of so many seeds (LossAtEqualTime.h). 0: not asked.
    double lossSeconds = 0;
    std::int64_t lossSeeds = 0;
    bool drawWeights = true;  // for those; false where both start from weights that were trained
    // Before that, captured windows of steps of each arm in turns, which tell why it is faster: chunks of slices of rank 0 (A) and 1 (B). So many of
    // each, and more, 40 at most, while they tell a decided difference less well than to a tenth of it and whySeconds are not over. 0: none.
    std::int64_t whyWindows = 0;
    // Of a time of their own behind that of the pairs (rules.budgetSeconds). What the pairs left of theirs may go into the first windows too; past
    // the two together there is one window of each and no more.
    double whySeconds = 30;
    const ProgramFactory* factory = nullptr;
    const SessionClock* clock = nullptr;
    EventSink* sink = nullptr;
    const std::atomic<bool>* stop = nullptr;
    // Called after each step of an arm, within what is timed: for tests that make one slower or look at every loss. The
    // arm's count of updates starts again where its State is made anew. Empty = nothing.
    std::function<void(Arm, std::int64_t update, const StepResult&)> afterStep;
};

struct ComparisonOutcome {
    RunState state = RunState::Finished;  // Stopped when it was asked to, Failed with an error
    Error error;
};

class Comparison {
public:
    explicit Comparison(ComparisonSetup setup);
    // Publishes BlockDone and ExperimentJudged; the last ExperimentJudged is over. Where captures or losses at equal time come behind the verdict
    // there is one before them that is over as well: the verdict is known then, whatever becomes of them, and the last one has it again with what
    // they say. What was measured before a failure is judged too; what fails behind the verdict is a warning beside it.
    ComparisonOutcome run();

private:
    struct Instance {
        std::unique_ptr<StepProgram> program;
        TrainState state;        // where states are swapped: on the host while the other one runs
        std::int64_t owned = 0;  // bytes of tensors that are there for this arm alone
    };
    struct Reading {
        TimeNs at;
        std::optional<ProcessorTimes> processors;
        std::int64_t ownNs = 0;
        std::int64_t faults = 0;
    };

    Status build(Arm first);
    Status buildOne(Arm arm);
    Status carryOut(const BlockOrder& order);
    Status step(Arm arm, StepResult& result);
    std::string nameOf(Arm arm) const;  // in sentences
    void turnTo(Arm arm);
    Instance& of(Arm arm) { return m_instances[arm == Arm::A ? 0 : 1]; }
    const ComparedSide& side(Arm arm) const { return m_setup.sides[arm == Arm::A ? 0 : 1]; }
    TrainState& stateOf(Arm arm) { return m_setup.swapStates ? m_shared : of(arm).state; }
    at::Device deviceOf(Arm arm) const { return at::Device(side(arm).plan.device()); }
    Reading read() const;
    bool stopAsked() const { return m_setup.stop != nullptr && m_setup.stop->load(); }
    void judge(bool over, const std::string& beside = {});  // beside: what else there is to say
    Status learnFor(EqualTimeLoss& loss) const;
    Status captureBoth();
    // Seconds of a step per token, while it is captured.
    Result<double> captureWindow(Arm arm);
    Result<double> captureSteps(Arm arm, std::int64_t steps);
    Status captureMemory(Arm arm);
    CaptureOutlet outletOf(Arm arm);
    void tellLost(const std::string& lost);

    ComparisonSetup m_setup;
    Course m_course;
    std::array<Instance, 2> m_instances;
    TrainState m_shared;            // where states are swapped
    std::optional<Arm> m_onDevice;  // whose State it holds
    at::Tensor m_ballast;           // moves the addresses of the next instances
    // Captured steps are told apart by their numbers, and new instances count from their start again: the numbers of theirs begin behind the others'.
    std::int64_t m_capturedBefore = 0, m_capturedUntil = 0;
    std::set<std::string> m_lost;  // what captures could not keep, as it was said
    std::array<double, 2> m_operations{kUnknown, kUnknown};
    std::vector<int> m_processors;
    EnergyCounter m_energy;
    std::uint64_t m_builds = 0;
    std::int64_t m_newestStep = 0;
    TimeNs m_begin;
    EqualTimeLoss m_equalTime;  // 0 seconds: not asked, or not yet
    Arm m_working = Arm::A;     // whose instance is made or makes steps; both are made where one's turn begins
    std::string m_broke;        // why a side could make no more steps; empty: it could
};

}  // namespace stepscope
