// InRunExperiment: two Programs that take turns over the one State of a run that trains on: every step counts for the training, and what the pairs of
// blocks say comes for free. It carries out a Course's orders a step at a time; the Trainer makes the steps. Only Programs for one form of the State
// can take turns: nothing is converted. Trainer thread.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/events/Command.h"
#include "core/events/EventSink.h"
#include "core/events/Experiment.h"
#include "core/experiment/Course.h"
#include "core/profile/EnergyCounter.h"
#include "core/profile/OperationCounter.h"
#include "core/profile/ProcessorTimes.h"
#include "core/program/ProgramFactory.h"

namespace stepscope {

class InRunExperiment {
public:
    struct Setup {
        std::array<RunConfig, 2> configs;  // A: as the run is; B: with the other value
        std::array<RunPlan, 2> plans;
        std::string id;  // of the switch
        Value from, to;
        CourseRules rules;
        const ProgramFactory* factory = nullptr;
        const SessionClock* clock = nullptr;
        EventSink* sink = nullptr;
        std::string question, comparison;                             // ExperimentBegan
        std::function<std::optional<ProcessorTimes>()> processors{};  // empty: those that this process may use
    };
    // Publishes ExperimentBegan.
    InRunExperiment(Setup setup, std::int64_t step);

    // The Program that makes the next step: turned to, with all that it keeps of the State made fresh. Nothing when it is over. Throws what building
    // and preparing throw.
    StepProgram* next(const TrainState& state);
    // The step was made by it. tokens: none where its update was left out.
    void done(const TrainState& state, TimeNs duration, std::int64_t tokens, double loss);
    // Something else was done between two steps (validation, a checkpoint, text): the next ones warm up again. What was counted of the block stays,
    // so that a run that validates often comes to an end of it. Told before it is done where that is known: faults, energy and the highest memory of
    // a block are those of its steps.
    void interrupted();
    // Nothing at all was done since then (a pause, a full disk): that is no time of the experiment's, and the block under way begins anew.
    void waited(TimeNs since);
    // It is over: what is known is judged. Publishes the last ExperimentJudged; once. ended: what cut it short, Itself where the course has no more
    // orders. broke: why no more steps can be made in turns, a sentence.
    void conclude(std::int64_t step, EndedBy ended, const std::string& broke = {});

    bool over() const { return m_concluded; }
    // Whose turn it is; between next() and done().
    Arm turn() const { return m_order->arm; }
    // Which value is to stay: B where it was found faster, else A, and A where the turns broke off.
    Arm chosen() const;
    std::unique_ptr<StepProgram> take(Arm arm) { return std::move(m_instances[armPlace(arm)].program); }
    const Setup& setup() const { return m_setup; }

private:
    struct Instance {
        std::unique_ptr<StepProgram> program;
        std::int64_t steps = 0;  // that this instance has made
        std::int64_t owned = 0;  // bytes of tensors that are there for it alone
    };
    struct Reading {
        TimeNs at;
        std::optional<ProcessorTimes> processors;
        std::int64_t ownNs = 0;
    };
    Instance& of(Arm arm) { return m_instances[armPlace(arm)]; }
    const RunPlan& planOf(Arm arm) const { return m_setup.plans[armPlace(arm)]; }
    // Counted steps without anything between them, what they took beside time.
    struct Stretch {
        std::int64_t faults = 0;  // before it; of it, when it is over
        EnergyReading begin, end;
    };
    void begin(const TrainState& state);
    void openStretch(const TrainState& state);
    void closeStretch();
    double elapsedSeconds() const { return (m_setup.clock->now() - m_began).seconds() - m_idleSeconds; }
    std::int64_t warmUp() const;
    void finishBlock(const TrainState& state, double loss);
    Reading read() const;
    void judge(std::int64_t step, bool over);

    Setup m_setup;
    Course m_course;
    std::array<Instance, 2> m_instances;
    std::optional<BlockOrder> m_order;
    Reading m_turn, m_counted;                     // at the turn, and when the first step that counts began
    double m_rebuildSeconds = 0;                   // of this order
    double m_warmSeconds = 0;                      // of the steps since the turn that do not count
    std::int64_t m_warmed = 0;                     // steps made since the turn that do not count
    std::int64_t m_rewarm = 0;                     // more of them, after an interruption
    std::int64_t m_interruptions = 0, m_made = 0;  // so often was something else done, and so many steps
    std::vector<double> m_steps;                   // that count, seconds
    std::int64_t m_tokens = 0, m_liveBefore = 0, m_builds = 0;
    at::Tensor m_ballast;                        // moves the addresses of the next instances
    std::optional<OperationCounter> m_counting;  // during one step of each arm that does not count
    std::array<double, 2> m_operations{kUnknown, kUnknown};
    std::vector<int> m_processors;
    EnergyCounter m_energy;
    std::vector<Stretch> m_stretches;  // of the block
    bool m_stretchIsOpen = false;
    std::int64_t m_peak = 0;  // bytes, highest of the stretches
    at::Device m_device = at::kCPU;
    TimeNs m_began;
    double m_idleSeconds = 0;  // since then, in which the run waited
    std::string m_broke;
    bool m_concluded = false;
};

// What a run that is asked to measure has.
struct InRunContext {
    const RunConfig* config;
    const RunPlan* plan;
    const TrainState* state;
    const BatchSource* batches;
    const ProgramFactory* factory;
    const SessionClock* clock;
    EventSink* sink;
    std::function<Status(const RunPlan&, const RunPlan&)> fits;                 // whether there is memory for Programs of both at once
    std::function<std::string(const RunConfig&, const RunConfig&)> questionOf;  // empty = the question has no key
};
// Or why not, a sentence for after "id stays as it is:": the value, what does not go with it, a State in another form, arithmetic that the person has
// not agreed to.
Result<InRunExperiment::Setup> inRunSetup(const Measure& asked, const InRunContext& run);

}  // namespace stepscope
