#include "core/train/Trainer.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "core/base/Format.h"
#include "core/base/OperationSpan.h"
#include "core/events/Event.h"
#include "core/events/Schedule.h"
#include "core/memory/DeviceMemory.h"
#include "core/memory/SystemMemory.h"
#include "core/profile/ProcessUsage.h"
#include "core/program/DataParallel.h"
#include "core/train/Evaluation.h"
#include "core/train/Failure.h"

namespace stepscope {
namespace {

// The most that tensors held since it was last asked, with what graphs hold; unknown where nobody counts (an allocator that is not ours).
double highestSince(at::Device device, std::int64_t graphBytes) {
    const Bytes most = device_memory::takePeak(device);
    return most.count > 0 ? static_cast<double>(most.count + graphBytes) : kUnknown;
}

bool dueEvery(std::int64_t every, std::int64_t step) {
    return every > 0 && step % every == 0;
}

// Of the first of several workers.
std::function<std::int64_t()> heldByOthers(const DataParallel* others) {
    if (others == nullptr || others->rank() > 0) return {};
    return [others] { return others->othersHold(); };
}

constexpr const char* kWithoutOthers =
    "What the other workers captured of these steps is not in the session, or not all of it: the run ended before the first one had it.";

}  // namespace

Trainer::Trainer(TrainerSetup setup)
    : m_setup(std::move(setup)),
      m_config(m_setup.config),
      m_state(std::move(m_setup.state)),
      m_keeper({.folder = m_setup.checkpointFolder,
                .origin = m_setup.origin,
                .corpus = &m_setup.batches->corpus(),
                .clock = m_setup.clock,
                .sink = m_setup.sink},
               m_config),
      m_clocks(m_setup.others, m_setup.clock, m_setup.sink),
      m_together(m_setup.others, m_setup.sink, m_setup.clock, m_clocks,
                 {.inHand = m_setup.captureBytesInHand, .blocked = m_setup.mustWait, .stops = m_setup.stopIsAsked}),
      m_capture({.sink = m_together.sink(),
                 .clock = m_setup.clock,
                 .rank = m_together.rank(),
                 .rows = m_together.rank() == 0,
                 .lasting = [this] { return lastingMemory(m_state); },
                 .stored = m_setup.captureBytes,
                 .cap = m_setup.captureCap,
                 .recording = [this] { return recordingCosts(); }},
                m_setup.others != nullptr, heldByOthers(m_setup.others)),
      m_workerTimes(m_setup.others, m_setup.sink, m_clocks) {
    if (!m_setup.cameFrom.empty()) m_keeper.found(m_setup.cameFrom, m_state.updates, m_setup.validated);
    if (!m_setup.room) m_setup.room = [folder = m_setup.checkpointFolder] { return freeSpaceAt(folder); };
}

TrainerOutcome Trainer::run() {
    TrainerOutcome outcome;
    try {
        outcome = loop();
        if (outcome.state != RunState::Failed && !keepAtEnd()) outcome = {RunState::Failed, brokenState()};
    } catch (const std::exception& thrown) {
        m_threw = true;
        outcome = {RunState::Failed, describeException(thrown)};
        if (m_setup.others != nullptr) m_setup.others->settle();
        keepAfterFailure(outcome.error);
    }
    outcome.lostCheckpoints = m_lostCheckpoints;
    if (m_lostCheckpoints > 0)
        log(LogLevel::Error, fmt::format("{} of the checkpoints that were due could not be written; the log above says why.", m_lostCheckpoints));
    tellEnded(m_capture.end(m_state.updates));
    dropMeasuring(outcome.error.sentence);
    // Memory comes back before anybody is told that the run has ended.
    m_program.release();
    const at::Device device = m_state.weights.device();
    if (device.is_cuda())
        log(LogLevel::Info, fmt::format("Peak of the tensors on {}: {}.", device.str(), format::bytes(device_memory::peak(device))));
    m_setup.batches.reset();
    const std::int64_t updates = m_state.updates;
    m_state = {};
    m_state.updates = updates;
    device_memory::trim(device);
    if (outcome.state == RunState::Failed) {
        log(LogLevel::Error, outcome.error);
        tellState(outcome.state, outcome.error);
    } else {
        changeState(outcome.state, outcome.error.sentence);
    }
    return outcome;
}

TrainerOutcome Trainer::loop() {
    auto plan = m_setup.factory->plan(m_config, m_state.config.vocabulary);
    if (!plan) return {RunState::Failed, plan.error()};
    m_plan = std::move(*plan);
    convertTo(m_plan);
    m_program.replace(build(m_plan));
    m_clocks.exchange();
    changeState(RunState::Running);
    tellFallback(m_plan.notes);
    // validate() says why it cannot: to a person each time, of what is due by itself once a run.
    bool toldWhyNot = false;
    bool endsEarly = false;
    const auto validateAsDue = [&] {
        const bool can = whyNothingToEvaluateOn(m_setup.batches->corpus(), m_plan.context).empty();
        const bool done = (can || !std::exchange(toldWhyNot, true)) && validate();
        if (!done || m_config.earlyStopping == 0) return;
        hearValidation();
        endsEarly = m_state.patience.waited >= m_config.earlyStopping;
    };
    if (m_config.earlyStopping > 0 && !m_plan.validation.happens())
        log(LogLevel::Warning, "early-stopping counts validations, and none are due in this run: it makes all its steps.");
    while (m_state.updates < m_config.steps && !endsEarly) {
        takeCommands();
        if (meetsOthers()) {
            waitForRecorder();
            waitWhilePaused();
            meetOthers();
        }
        if (m_setup.others == nullptr ? m_stopAsked : m_stopAgreed) {
            endMeasuring(EndedBy::RunStopped);
            m_workerTimes.finish();
            endCapturesTogether();
            return {RunState::Stopped, {}};
        }
        const std::int64_t cursor = m_state.cursor;
        if (!trainOneStep()) return {RunState::Failed, m_failure};
        const std::int64_t step = m_state.updates;
        if (validationDue(cursor)) validateAsDue();
        if (dueEvery(m_config.checkpointEvery, step) && !dueCheckpoint()) return {RunState::Failed, brokenState()};
        if (dueEvery(m_config.sampleEvery, step)) m_setup.generate(GenerateText{}, m_state, false);
    }
    takeCommands();
    meetOthers();  // the first one may be held up by the last step's checkpoint
    m_workerTimes.flush();
    endCapturesTogether();
    endMeasuring(EndedBy::RunsEnd);
    if (m_plan.validation.happens() && m_validatedAt != m_state.updates) validateAsDue();
    TrainerOutcome outcome;
    if (m_state.updates < m_config.steps) outcome.error.sentence = whyEndedEarly();
    return outcome;
}

void Trainer::takeCommands() {
    std::vector<Command> commands;
    m_setup.commands->drain(commands);
    for (auto& command : commands) {
        std::visit(Visitor{
                       [&](const Pause&) { pause(true); },
                       [&](const Resume&) { pause(false); },
                       [&](const Stop&) {
                           m_stopAsked = true;
                           // Of what all would have to do: what was to be kept is, whoever asked for a capture hears of it, and nothing is changed or
                           // validated for a run that ends.
                           std::erase_if(m_toShare, [](const SharedCommand& one) {
                               return !std::holds_alternative<SaveCheckpoint>(one) && !std::holds_alternative<Capture>(one);
                           });
                       },
                       [&](const Flip& asked) { share(asked); },
                       [&](const Reseed& asked) { share(asked); },
                       [&](const SaveCheckpoint& asked) { share(asked); },
                       [&](const ValidateNow& asked) { share(asked); },
                       [&](const GenerateText& asked) { m_setup.generate(asked, m_state, true); },
                       [&](const Capture& asked) {
                           // Which steps are slow differs from worker to worker: the first one's are kept.
                           if (!asked.slowest || (m_setup.others != nullptr && m_setup.others->rank() > 0)) return share(asked);
                           if (const Status taken = m_capture.ask(asked); !taken) noCapture(taken.error().sentence);
                       },
                       [&](const Measure& asked) { measure(asked); },
                       [&](const StopMeasuring&) { endMeasuring(EndedBy::Person); },
                       [&](const StopCapture& asked) { share(asked); },
                   },
                   command);
    }
}

bool Trainer::validationDue(std::int64_t cursorBefore) const {
    if (!m_plan.validation.everyEpoch) return dueEvery(m_plan.validation.everySteps, m_state.updates);
    // epoch: from the data cursor, so that a resumed run ends its epochs where the whole run would have.
    const std::int64_t context = m_plan.context, epoch = m_setup.batches->corpus().trainTokens;
    return m_state.cursor * context / epoch > cursorBefore * context / epoch;
}

bool Trainer::trainOneStep() {
    const std::int64_t faultsBefore = pageFaults();
    const bool busyBefore = *m_setup.disturbances > 0;
    const double rate = learningRate(m_config, m_state.updates + 1);
    const std::int64_t attempted = m_state.updates + 1;
    StepProgram* program = &programForNextStep();
    bool measured = m_measuring != nullptr;
    if (!measured) device_memory::takePeak(m_state.weights.device());  // what was done between the steps is not this one's
    if (m_capture.begins(attempted)) m_clocks.exchange();
    m_capture.before(attempted, m_state.weights.is_cuda(), measured ? -1 : m_program.steps());
    const bool captured = m_capture.observing();
    if (measured && (captured || busyBefore)) m_measuring->interrupted();
    if (m_setup.others != nullptr) m_setup.others->meetNext(asksToMeet(), m_together.held());
    TimeNs begin = m_setup.clock->now();
    m_stepFrom = m_state.revision();
    std::optional<StepResult> made;
    if (measured) made = stepInTurn(*program, rate);
    if (!made) {
        if (std::exchange(measured, false)) {  // the turn broke
            program = &*m_program;
            begin = m_setup.clock->now();
        }
        made = m_program.step(m_state, *m_setup.batches, rate);
    }
    m_stepFrom.reset();
    const StepResult& result = *made;
    const TimeNs end = m_setup.clock->now();
    m_stepTook = end - begin;
    if (result.breakdown != Breakdown::None || !std::isfinite(result.loss)) {
        breakDown(result.breakdown == Breakdown::Gradients ? Breakdown::Gradients : Breakdown::Loss, attempted, rate);
        return false;
    }
    if (measured && (captured || *m_setup.disturbances > 0 || busyBefore)) {
        m_measuring->interrupted();
    } else if (measured) {
        m_measuring->done(m_state, end - begin, result.skipped ? 0 : result.tokens, result.loss);
    }
    const bool disturbed = std::exchange(m_disturbed, false) || busyBefore || *m_setup.disturbances > 0;
    m_lastLoss = result.loss;
    m_lowestLoss = std::fmin(m_lowestLoss, result.loss);
    if (result.skipped)
        log(LogLevel::Info, fmt::format("fp16 overflowed at step {}: its update is left out, and the loss scale goes from {:g} to {:g}.", attempted,
                                        result.lossScale, m_state.lossScale.scale));
    const TimeNs recording = m_setup.clock->now();
    const StepDone done{.step = m_state.updates,
                        .at = end,
                        .duration = end - begin,
                        .loss = result.loss,
                        .learningRate = rate,
                        .gradientNorm = result.gradientNorm,
                        .lossScale = result.lossScale,
                        .skipped = result.skipped,
                        .tokens = result.tokens,
                        .phaseNs = result.phaseNs,
                        .residentBytes = residentMemory().count,
                        .allocatedBytes = device_memory::live(m_state.weights.device()).count,
                        .peakBytes = measured ? kUnknown : highestSince(m_state.weights.device(), program->report().graphBytes),
                        .pageFaults = pageFaults() - faultsBefore,
                        .operations = m_program.operations(),
                        .disturbed = disturbed || captured || measured};
    m_setup.sink->publish(done);
    if (!captured && !measured) m_recording.add(m_setup.clock->now() - recording, result.phases);
    if (auto finished = m_capture.after(m_state.updates, begin, end, disturbed)) tellCaptured(std::move(*finished));
    m_workerTimes.add(done);
    // Two Programs in turn would say the same again and again.
    if (!measured) m_program.tellChoices([&](std::string text) { log(LogLevel::Info, std::move(text)); });
    return true;
}

// Whoever waits for one hears that it does not come.
void Trainer::noCapture(std::string why) {
    m_setup.sink->publish(
        LogLine{m_setup.clock->now(), m_state.updates, LogLevel::Warning, std::move(why), std::nullopt, {Subject::Kind::Capture, {}}});
}

void Trainer::tellEnded(std::optional<CaptureWindow::Ending> capture, bool others) {
    if (!capture) return;
    noCapture(std::move(capture->sentence));
    if (capture->done && others) {
        // Between two steps: what they said to each other since the last one is in it, too.
        capture->done->at = m_setup.clock->now();
        return tellCaptured(std::move(*capture->done));
    }
    if (capture->done && m_setup.others != nullptr) noCapture(kWithoutOthers);
    if (capture->done) m_setup.sink->publish(std::move(*capture->done));
    m_together.forget();
}

// Of several workers all of them, after the same step. What the first one has of its own is kept whatever becomes of the others.
void Trainer::tellCaptured(CaptureDone done) {
    try {
        m_together.collect(done);
    } catch (const WorkersApart&) {
        noCapture(kWithoutOthers);
        m_setup.sink->publish(std::move(done));
        throw;
    }
    m_setup.sink->publish(std::move(done));
}

// The run ends, of its own accord or stopped, with all workers after the same step, and before the first one writes its last checkpoint.
void Trainer::endCapturesTogether() {
    if (m_setup.others == nullptr) return;
    const auto left = std::exchange(m_toShare, {});
    for (const SharedCommand& asked : left)
        if (std::holds_alternative<Capture>(asked)) noCapture("Nothing was captured: the run has ended before another step.");
    try {
        tellEnded(m_capture.end(m_state.updates), true);
    } catch (const WorkersApart&) {
        // As a run that needs no more of them ends; it was said what is missing.
    }
    for (const SharedCommand& asked : left)
        if (const auto* wanted = std::get_if<SaveCheckpoint>(&asked)) keepAfterStop(wanted->path);
}

// Whoever observes steps would take the phases that are entered for it for a step's.
RecordingCosts Trainer::recordingCosts() const {
    return m_threw || !stepObservers.empty() ? RecordingCosts{} : m_recording.measure(m_state.weights.device());
}

void Trainer::breakDown(Breakdown kind, std::int64_t step, double rate) {
    keepState();
    BreakdownFacts facts = factsOf(kind, step, rate);
    facts.stateIsFinite = m_state.isFinite();
    const bool keptNow = m_keeper.keptAt() == m_state.updates;
    if (keptNow) facts.kept = m_keeper.newest();
    // Weights that give no loss are nothing to go back to.
    std::error_code ignored;
    if (keptNow && kind == Breakdown::Loss) facts.checkpoint = std::filesystem::exists(m_keeper.earlier(), ignored) ? m_keeper.earlier() : "";
    m_failure = makeError(ErrorCode::Training, breakdownSentence(facts));
}

// Of a State that checkpoint() refuses: the update of the newest step broke it.
Error Trainer::brokenState() const {
    return makeError(ErrorCode::Training, breakdownSentence(factsOf(Breakdown::State, m_state.updates, learningRate(m_config, m_state.updates))));
}

BreakdownFacts Trainer::factsOf(Breakdown kind, std::int64_t step, double rate) const {
    return {.kind = kind,
            .step = step,
            .rate = rate,
            .lossBefore = m_lastLoss,
            .lowestLoss = m_lowestLoss,
            .clips = m_plan.maxNorm > 0,
            .fp16 = m_plan.precision == Precision::Fp16,
            .checkpoint = m_keeper.newest()};
}

// Whether there is a loss now.
bool Trainer::validate() {
    if (const std::string why = whyNothingToEvaluateOn(m_setup.batches->corpus(), m_plan.context); !why.empty()) {
        log(LogLevel::Warning, why);
        return false;
    }
    const TimeNs begin = m_setup.clock->now();
    const PlaceScope place(Activity::Evaluation);
    const StepRange range({.kind = RangeFacts::Kind::Evaluation, .activity = Activity::Evaluation, .step = m_state.updates});
    // Behind a block's end this begins the next one, which what follows must not be part of.
    StepProgram& program = programForNextStep();
    if (m_measuring) m_measuring->interrupted();
    // Of several workers none leaves the others alone with it.
    bool stopped = false;
    const auto ended = [&] { return stopped = m_setup.stopIsAsked(); };
    const double loss = program.evaluate(m_state, *m_setup.batches, m_config.validationTokens,
                                         m_setup.stopIsAsked && m_setup.others == nullptr ? StepProgram::Ended(ended) : StepProgram::Ended());
    if (stopped) {
        log(LogLevel::Info, fmt::format("The validation of step {} was broken off, because the run is stopped.", format::count(m_state.updates)));
        return false;
    }
    const TimeNs end = m_setup.clock->now();
    m_validatedAt = m_state.updates;
    m_validationLoss = loss;
    m_setup.sink->publish(ValidationDone{m_state.updates, end, end - begin, loss});
    return true;
}

// Only what was due counts: a person who looks, and a checkpoint that is compared, bring no end nearer. All workers hear the same.
void Trainer::hearValidation() {
    const double loss = m_setup.others != nullptr ? m_setup.others->gather({m_validationLoss}).front() : m_validationLoss;
    m_state.patience.hear(loss, m_state.updates);
}

std::string Trainer::whyEndedEarly() const {
    const Patience& patience = m_state.patience;
    const std::string found = std::isfinite(patience.best)
                                  ? fmt::format("below {:.4f}, which was that of step {}", patience.best, format::count(patience.bestStep))
                                  : std::string("that is a number");
    return fmt::format("Ended early, before step {}: {} validation{} in a row found no loss {} (early-stopping={}).", format::count(m_config.steps),
                       format::count(patience.waited), patience.waited == 1 ? "" : "s", found, m_config.earlyStopping);
}

void Trainer::changeState(RunState state, std::string why) {
    m_runState = state;
    StateChanged change{m_setup.clock->now(), m_state.updates, state, std::move(why)};
    if (state == RunState::Paused && m_heldUp) change.code = ErrorCode::Io;  // what says that nobody asked for it
    m_setup.sink->publish(std::move(change));
}

void Trainer::tellState(RunState state, const Error& why) {
    m_runState = state;
    m_setup.sink->publish(StateChanged{m_setup.clock->now(), m_state.updates, state, why.sentence, why.code, why.subject});
}

void Trainer::log(LogLevel level, const Error& error) {
    m_setup.sink->publish(LogLine{m_setup.clock->now(), m_state.updates, level, error.sentence, error.code, error.subject});
}

void Trainer::log(LogLevel level, std::string text) {
    m_setup.sink->publish(LogLine{m_setup.clock->now(), m_state.updates, level, std::move(text)});
}

}  // namespace stepscope
