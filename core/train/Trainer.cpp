#include "core/train/Trainer.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <thread>

#include "core/base/Format.h"
#include "core/base/OperationSpan.h"
#include "core/events/Schedule.h"
#include "core/memory/DeviceMemory.h"
#include "core/memory/SystemMemory.h"
#include "core/profile/OperationCounter.h"
#include "core/state/Checkpoint.h"
#include "core/train/Failure.h"

namespace stepscope {
namespace {

constexpr std::chrono::milliseconds kPausePoll{20};

std::int64_t pageFaults() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_minflt + used.ru_majflt;
}

// The most that tensors held since it was last asked, with what graphs hold; unknown where nobody counts (an allocator that is not ours).
double highestSince(at::Device device, std::int64_t graphBytes) {
    const Bytes most = device_memory::takePeak(device);
    return most.count > 0 ? static_cast<double>(most.count + graphBytes) : kUnknown;
}

// Free for this user on the disk of a folder that need not be there yet; all there can be where nobody can tell.
std::int64_t roomAt(std::filesystem::path folder) {
    std::error_code problem;
    while (!std::filesystem::exists(folder, problem) && folder.has_parent_path() && folder != folder.parent_path()) folder = folder.parent_path();
    const auto space = std::filesystem::space(folder, problem);
    return problem ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(space.available);
}

bool dueEvery(std::int64_t every, std::int64_t step) {
    return every > 0 && step % every == 0;
}

// A sentence; empty = there is something.
std::string whyNothingToEvaluateOn(const Corpus& corpus, std::int64_t context) {
    const std::int64_t tokens = corpus.validationTokens();
    if (tokens > context) return {};
    if (tokens == 0) return "There is no validation part to evaluate on; set validation-fraction above 0 in a new run.";
    return fmt::format(
        "There is nothing to evaluate on: the validation part has {} tokens, and one sequence needs {}; lower context, or raise validation-fraction "
        "in a new run.",
        tokens, context + 1);
}

}  // namespace

Trainer::Trainer(TrainerSetup setup)
    : m_setup(std::move(setup)), m_config(m_setup.config), m_state(std::move(m_setup.state)), m_retention(m_config.keep, m_config.keepBest == "on") {
    if (!m_setup.room) m_setup.room = [folder = m_setup.checkpointFolder] { return roomAt(folder); };
}

TrainerOutcome Trainer::run() {
    TrainerOutcome outcome;
    try {
        outcome = loop();
        if (outcome.state != RunState::Failed) keepAtEnd();
    } catch (const std::exception& thrown) {
        outcome = {RunState::Failed, describeException(thrown)};
        keepAfterFailure(outcome.error);
    }
    outcome.lostCheckpoints = m_lostCheckpoints;
    if (m_lostCheckpoints > 0)
        log(LogLevel::Error, fmt::format("{} of the checkpoints that were due could not be written; the log above says why.", m_lostCheckpoints));
    endCapture();
    // Memory comes back before anybody is told that the run has ended.
    m_program.reset();
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
    m_state.convert(m_setup.factory->formOf(m_plan, m_state));
    m_program = m_setup.factory->build(m_plan);
    changeState(RunState::Running);
    tellFallback(m_plan.notes);
    // validate() says why it cannot: to a person each time, of what is due by itself once a run.
    bool toldWhyNot = false;
    const auto validateAsDue = [&] {
        if (whyNothingToEvaluateOn(m_setup.batches->corpus(), m_plan.context).empty() || !std::exchange(toldWhyNot, true)) validate();
    };
    while (m_state.updates < m_config.steps) {
        takeCommands();
        waitForRecorder();
        waitWhilePaused();
        if (m_stopAsked) return {RunState::Stopped, {}};
        const std::int64_t cursor = m_state.cursor;
        if (!trainOneStep()) return {RunState::Failed, m_failure};
        const std::int64_t step = m_state.updates;
        if (validationDue(cursor)) validateAsDue();
        if (dueEvery(m_config.checkpointEvery, step) && !dueCheckpoint()) return {RunState::Failed, brokenState()};
        if (dueEvery(m_config.sampleEvery, step)) m_setup.generate(GenerateText{}, m_state);
    }
    takeCommands();
    if (m_plan.validation.happens() && m_validatedAt != m_state.updates) validateAsDue();
    return {RunState::Finished, {}};
}

void Trainer::takeCommands() {
    std::vector<Command> commands;
    m_setup.commands->drain(commands);
    for (auto& command : commands) {
        std::visit(Visitor{
                       [&](const Pause&) { pause(true); },
                       [&](const Resume&) { pause(false); },
                       [&](const Stop&) { m_stopAsked = true; },
                       [&](const Flip& asked) { flip(asked); },
                       [&](const Reseed& asked) {
                           m_state.seed = static_cast<std::uint64_t>(asked.seed);
                           m_config.seed = asked.seed;
                           log(LogLevel::Info, fmt::format("Batches are drawn with seed {} from step {} on.", asked.seed, m_state.updates + 1));
                       },
                       [&](const SaveCheckpoint& asked) {
                           const Kept kept = checkpoint(asked.path);
                           if (kept == Kept::BrokenState) log(LogLevel::Error, brokenState());
                           if (kept == Kept::Yes) m_retention.protect(m_lastCheckpoint);
                       },
                       [&](const ValidateNow&) { validate(); },
                       [&](const GenerateText& asked) { m_setup.generate(asked, m_state); },
                       [&](const Capture& asked) {
                           if (const Status taken = m_capture.ask(asked); !taken) log(LogLevel::Warning, taken.error().sentence);
                       },
                   },
                   command);
    }
}

void Trainer::pause(bool asked) {
    if (std::exchange(m_pauseAsked, asked) == asked) return;
    // A person's Resume does not make room on the disk.
    if (m_heldUp)
        tellHeldUp();
    else
        changeState(asked ? RunState::Paused : RunState::Running);
}

void Trainer::waitWhilePaused() {
    while (m_runState == RunState::Paused && !m_stopAsked) {
        std::this_thread::sleep_for(kPausePoll);
        takeCommands();
    }
}

void Trainer::waitForRecorder() {
    if (!m_setup.mustWait()) return;
    m_heldUp = true;
    tellHeldUp();
    while (m_setup.mustWait() && !m_stopAsked) {
        std::this_thread::sleep_for(kPausePoll);
        takeCommands();
    }
    m_heldUp = false;
    if (!m_stopAsked) changeState(m_pauseAsked ? RunState::Paused : RunState::Running);
}

void Trainer::tellHeldUp() {
    changeState(RunState::Paused,
                fmt::format("Nothing can be stored at the moment; the run {} when it can.", m_pauseAsked ? "stays paused" : "goes on"));
}

void Trainer::flip(const Flip& asked) {
    const std::int64_t step = m_state.updates;
    const auto refuse = [&](const Error& why) {
        m_setup.sink->publish(SwitchRefused{step, m_setup.clock->now(), asked.id, asked.value, why.sentence, why.code, why.subject});
        log(LogLevel::Warning, fmt::format("{} stays as it is: {}", asked.id, why.sentence));
    };
    auto wanted = m_setup.factory->flipped(m_config, asked.id, asked.value);
    if (!wanted) return refuse(wanted.error());
    const Value from = m_config.switches.at(asked.id), to = wanted->switches.at(asked.id);
    if (from == to) return;
    auto plan = m_setup.factory->plan(*wanted, m_state.config.vocabulary);
    if (!plan) return refuse(plan.error());
    if (auto fits = m_setup.batches->accepts(*plan); !fits) return refuse(fits.error());
    if (auto fits = m_setup.fits(m_plan, *plan); !fits) return refuse(fits.error());
    auto flipped = buildFlipped(*plan);
    if (!flipped) return refuse(flipped.error());
    m_program = std::move(flipped->program);
    m_config = std::move(*wanted);
    m_plan = std::move(*plan);
    device_memory::trim(m_state.weights.device());
    m_attentionTold.clear();
    m_preparationTold.clear();
    m_stepsOfProgram = 0;
    m_operations = kUnknown;
    const std::string& lost = flipped->lost;
    m_setup.sink->publish(SwitchApplied{step, m_setup.clock->now(), asked.id, from, to, lost});
    log(LogLevel::Info,
        fmt::format("{} {} → {} from step {} on{}{}.", asked.id, toString(from), toString(to), step + 1, lost.empty() ? "" : "; ", lost));
    tellFallback(m_plan.notes);
}

// The State is converted last, and is as it was where that fails.
Result<Trainer::Flipped> Trainer::buildFlipped(const RunPlan& wanted) {
    try {
        Flipped flipped{m_setup.factory->build(wanted), {}};
        flipped.lost = m_state.convert(m_setup.factory->formOf(wanted, m_state));
        return flipped;
    } catch (const std::exception& thrown) {
        Error error = describeException(thrown);
        if (error.code != ErrorCode::OutOfMemory) throw;
        return error;
    }
}

void Trainer::tellFallback(const std::string& fallback) {
    if (fallback == m_fallbackTold) return;
    m_fallbackTold = fallback;
    log(LogLevel::Info, fallback.empty() ? "Every switch runs as it is set." : fallback);
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
    device_memory::takePeak(m_state.weights.device());  // what was done between the steps is not this one's
    m_capture.before(attempted);
    const bool captured = m_capture.observing();
    const TimeNs begin = m_setup.clock->now();
    const StepResult result = stepOfProgram(rate);
    const TimeNs end = m_setup.clock->now();
    if (result.breakdown != Breakdown::None || !std::isfinite(result.loss)) {
        breakDown(result.breakdown == Breakdown::Gradients ? Breakdown::Gradients : Breakdown::Loss, attempted, rate);
        return false;
    }
    m_lastLoss = result.loss;
    m_lowestLoss = std::fmin(m_lowestLoss, result.loss);
    if (result.skipped)
        log(LogLevel::Info, fmt::format("fp16 overflowed at step {}: its update is left out, and the loss scale goes from {:g} to {:g}.", attempted,
                                        result.lossScale, m_state.lossScale.scale));
    m_setup.sink->publish(StepDone{.step = m_state.updates,
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
                                   .peakBytes = highestSince(m_state.weights.device(), m_program->report().graphBytes),
                                   .pageFaults = pageFaults() - faultsBefore,
                                   .operations = m_operations,
                                   .disturbed = m_disturbed || busyBefore || *m_setup.disturbances > 0 || captured});
    m_disturbed = false;
    if (auto done = m_capture.after(m_state.updates, begin, end)) m_setup.sink->publish(std::move(*done));
    if (m_attentionTold != m_program->report().attention) {
        m_attentionTold = m_program->report().attention;
        log(LogLevel::Info, fmt::format("Attention that runs: {}.", m_attentionTold));
    }
    if (m_preparationTold != m_program->report().preparation) {
        m_preparationTold = m_program->report().preparation;
        log(LogLevel::Info, m_preparationTold);
    }
    return true;
}

StepResult Trainer::stepOfProgram(double rate) {
    // The first step of a Program still prepares: back-ends are asked for, weights packed. One that captures its step has done so by the fifth; those
    // after it are compared with the ones before a flip, and counting costs time.
    ++m_stepsOfProgram;
    const auto step = [&] {
        const StepRange range({.kind = RangeFacts::Kind::Step, .step = m_state.updates + 1});
        return m_program->step(m_state, *m_setup.batches, rate);
    };
    if (m_stepsOfProgram != 2 && m_stepsOfProgram != 5) return step();
    const OperationCounter counter;
    const StepResult result = step();
    m_operations = static_cast<double>(counter.count());
    return result;
}

// What was captured is told, and what never was is not forgotten in silence.
void Trainer::endCapture() {
    const auto asked = m_capture.asked();
    if (!asked) return;
    if (auto done = m_capture.cut()) {
        log(LogLevel::Warning, fmt::format("The capture has {} of {} steps: the run has ended.", done->steps, asked->steps));
        return m_setup.sink->publish(std::move(*done));
    }
    log(LogLevel::Warning, asked->firstStep > m_state.updates
                               ? fmt::format("Nothing was captured: the run has ended before step {}.", asked->firstStep)
                               : "Nothing was captured: the run has ended before another step.");
}

void Trainer::breakDown(Breakdown kind, std::int64_t step, double rate) {
    keepState();
    BreakdownFacts facts = factsOf(kind, step, rate);
    facts.stateIsFinite = m_state.isFinite();
    const bool keptNow = m_checkpointedAt == m_state.updates;
    if (keptNow) facts.kept = m_lastCheckpoint;
    // Weights that give no loss are nothing to go back to.
    std::error_code ignored;
    if (keptNow && kind == Breakdown::Loss) facts.checkpoint = std::filesystem::exists(m_earlierCheckpoint, ignored) ? m_earlierCheckpoint : "";
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
            .checkpoint = m_lastCheckpoint};
}

void Trainer::keepAfterFailure(Error& failure) {
    if (!std::isfinite(m_lastLoss)) return;  // no step was made
    m_program.reset();                       // writing needs some memory, which may be what is missing
    device_memory::trim(m_state.weights.device());
    try {
        keepState();
    } catch (const std::exception& thrown) {
        log(LogLevel::Error, describeException(thrown));
    }
    if (m_lastCheckpoint.empty()) return;
    failure.sentence += fmt::format(" Step {} is kept; resume from {}.", m_checkpointedAt, m_lastCheckpoint);
    failure = std::move(failure).about(Subject::Kind::Checkpoint, m_lastCheckpoint);
}

// The State is as it was before the step that broke: worth keeping, unless there is nothing to keep or no place for it.
void Trainer::keepState() {
    if (m_state.updates > 0 && m_state.updates != m_checkpointedAt && !m_setup.checkpointFolder.empty()) checkpoint({});
}

// A disk without room is told, not waited for: the run is over. Nothing is kept of a sweep of learning rates, or where no step was made.
void Trainer::keepAtEnd() {
    if (m_config.checkpointAtEnd != "on" || m_config.schedule == "range-test") return;
    if (!std::isfinite(m_lastLoss) || m_setup.checkpointFolder.empty() || m_checkpointedAt == m_state.updates) return;
    const Kept kept = checkpoint({});
    if (kept == Kept::BrokenState) log(LogLevel::Error, brokenState().sentence);
    if (kept == Kept::Yes) retain();
}

void Trainer::validate() {
    if (const std::string why = whyNothingToEvaluateOn(m_setup.batches->corpus(), m_plan.context); !why.empty()) return log(LogLevel::Warning, why);
    const TimeNs begin = m_setup.clock->now();
    const PlaceScope place(Activity::Evaluation);
    const StepRange range({.kind = RangeFacts::Kind::Evaluation, .activity = Activity::Evaluation, .step = m_state.updates});
    const double loss = m_program->evaluate(m_state, *m_setup.batches, m_config.validationTokens);
    const TimeNs end = m_setup.clock->now();
    m_validatedAt = m_state.updates;
    m_validationLoss = loss;
    m_setup.sink->publish(ValidationDone{m_state.updates, end, end - begin, loss});
}

// A full disk holds the run up at this step, as it does when nothing can be recorded: what was asked for is not lost. False = the State is broken.
bool Trainer::dueCheckpoint() {
    const auto& corpus = m_setup.batches->corpus();
    if (m_config.keepBest == "on" && m_validatedAt != m_state.updates && whyNothingToEvaluateOn(corpus, m_plan.context).empty()) validate();
    for (Kept kept = checkpoint({}); kept != Kept::Yes; kept = checkpoint({})) {
        if (kept == Kept::BrokenState) return false;
        const std::int64_t needed = checkpointBytes(m_state);
        if (m_setup.checkpointFolder.empty() || m_setup.room() >= needed || m_stopAsked) {
            m_lostCheckpoints += 1;
            return true;
        }
        m_heldUp = true;
        changeState(RunState::Paused,
                    fmt::format("There is no room for the checkpoint of step {}: it takes {}, and {} are free. The run goes on when there is; "
                                "stopping it gives this checkpoint up.",
                                m_state.updates, format::bytes({needed}), format::bytes({m_setup.room()})));
        while (!m_stopAsked && m_setup.room() < needed) {
            std::this_thread::sleep_for(kPausePoll);
            takeCommands();
        }
        m_heldUp = false;
        if (m_stopAsked) {
            m_lostCheckpoints += 1;
            return true;
        }
        changeState(m_pauseAsked ? RunState::Paused : RunState::Running);
    }
    retain();
    return true;
}

// The newest of those that were due is kept; older ones go as `keep` says. Of what cannot be removed nothing is said: its disk may be full or gone.
void Trainer::retain() {
    for (const auto& path : m_retention.add(m_lastCheckpoint, m_validatedAt == m_state.updates ? m_validationLoss : kUnknown))
        if (removeCheckpoint(path)) log(LogLevel::Info, fmt::format("The checkpoint {} is removed: keep={}.", path, m_config.keep));
}

// Whether it is kept now. Values that are no numbers never are: a run resumed from them could only break again.
Trainer::Kept Trainer::checkpoint(const std::string& path) {
    // A person may ask for what checkpoint-every has just written.
    if (path.empty() && m_checkpointedAt == m_state.updates) {
        log(LogLevel::Info, fmt::format("Step {} is kept already in {}.", m_state.updates, m_lastCheckpoint));
        return Kept::Yes;
    }
    const std::string place = !path.empty()                      ? path
                              : m_setup.checkpointFolder.empty() ? ""
                                                                 : fmt::format("{}/step-{:07}", m_setup.checkpointFolder, m_state.updates);
    if (place.empty()) {
        log(LogLevel::Warning, "This run is not recorded and has no checkpoint folder; name a path for the checkpoint.");
        return Kept::No;
    }
    if (!m_state.isFinite()) return Kept::BrokenState;
    const TimeNs begin = m_setup.clock->now();
    const auto& tokenizer = m_setup.batches->corpus().tokenizer;
    const auto saved = saveCheckpoint(place, m_state, m_config, tokenizer ? tokenizer->toJson() : "", m_lastLoss, m_setup.origin);
    const TimeNs end = m_setup.clock->now();
    m_disturbed = true;
    // A checkpoint that cannot be written does not end a run that may have taken days.
    if (!saved) {
        log(LogLevel::Error, saved.error());
        return Kept::No;
    }
    m_earlierCheckpoint = std::exchange(m_lastCheckpoint, place);
    m_checkpointedAt = m_state.updates;
    m_setup.sink->publish(CheckpointSaved{m_state.updates, end, end - begin, place});
    log(LogLevel::Info, fmt::format("Checkpoint of step {} written to {}.", m_state.updates, place));
    return Kept::Yes;
}

void Trainer::changeState(RunState state, std::string why) {
    m_runState = state;
    m_setup.sink->publish(StateChanged{m_setup.clock->now(), m_state.updates, state, std::move(why)});
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
