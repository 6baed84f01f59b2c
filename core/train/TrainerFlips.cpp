// The part of the Trainer that changes how steps are executed while a run goes on: flips of switches, and two values that take turns.
#include <fmt/format.h>

#include "core/base/CounterRandom.h"
#include "core/events/Event.h"
#include "core/memory/DeviceMemory.h"
#include "core/program/DealtMoments.h"
#include "core/train/Failure.h"
#include "core/train/Trainer.h"

namespace stepscope {
namespace {

constexpr std::uint64_t kMeasureSeeds = 0x6d656173;  // stream of the seeds of measurements

}  // namespace

void Trainer::flip(const Flip& asked) {
    const std::int64_t step = m_state.updates;
    const auto refuse = [&](const Error& why) { this->refuse(asked.id, asked.value, why); };
    auto wanted = planFlip(asked);
    // What one of several workers cannot do none does. Each is asked the same, before the same step.
    if (m_setup.others != nullptr)
        if (const Status agreed = m_setup.others->agree(wanted.status()); !agreed) return refuse(agreed.error());
    if (!wanted) return refuse(wanted.error());
    const Value to = wanted->config.switches.at(asked.id);
    if (m_config.switches.at(asked.id) == to) return;
    if (m_measuring) {
        endMeasuring(EndedBy::ASetting);  // it compared with what changes now, and may have found its other value faster
        wanted = planFlip(asked);
        if (!wanted) return refuse(wanted.error());
    }
    const Value from = m_config.switches.at(asked.id);
    if (from == to) return;
    auto flipped = buildFlipped(*wanted);
    if (!flipped) return refuse(flipped.error());
    m_program.replace(std::move(flipped->program));
    m_config = wanted->config;
    m_plan = std::move(*wanted);
    device_memory::trim(m_state.weights.device());
    m_program.tellChoicesAgain();
    const std::string& lost = flipped->lost;
    m_setup.sink->publish(SwitchApplied{step, m_setup.clock->now(), asked.id, from, to, lost});
    log(LogLevel::Info,
        fmt::format("{} {} → {} from step {} on{}{}.", asked.id, toString(from), toString(to), step + 1, lost.empty() ? "" : "; ", lost));
    tellFallback(m_plan.notes);
}

Result<RunPlan> Trainer::planFlip(const Flip& asked) const {
    auto wanted = m_setup.factory->flipped(m_config, asked.id, asked.value);
    if (!wanted) return wanted.error();
    if (*wanted == m_config) return m_plan;
    auto plan = m_setup.factory->plan(*wanted, m_state.config.vocabulary);
    if (!plan) return plan;
    if (auto fits = m_setup.batches->accepts(*plan); !fits) return fits.error();
    if (auto fits = m_setup.fits(m_plan, *plan); !fits) return fits.error();
    return plan;
}

void Trainer::refuse(const std::string& id, const Value& value, const Error& why) {
    m_setup.sink->publish(SwitchRefused{m_state.updates, m_setup.clock->now(), id, value, why.sentence, why.code, why.subject});
    Error told = why;
    told.sentence = fmt::format("{} stays as it is: {}", id, why.sentence);
    log(LogLevel::Warning, told);
}

// Not by way of flip(): a turn rebuilds nothing, trims nothing and leaves no marker.
void Trainer::measure(const Measure& asked) {
    if (m_measuring) return refuse(asked.id, asked.value, makeError(ErrorCode::BadInput, "another value is being measured; stop that first."));
    if (m_setup.others != nullptr)
        return refuse(asked.id, asked.value, makeError(ErrorCode::Unsupported, "two values take turns in a run of one worker only."));
    Measure wanted = asked;
    // Asked again it tosses other coins, and a script that asks at the same step the same ones.
    if (wanted.seed == 0)
        wanted.seed = static_cast<std::int64_t>(counterRandomBelow(static_cast<std::uint64_t>(m_config.seed), kMeasureSeeds,
                                                                   static_cast<std::uint64_t>(m_state.updates), 1'000'000'000)) +
                      1;
    auto setup = inRunSetup(wanted, {.config = &m_config,
                                     .plan = &m_plan,
                                     .state = &m_state,
                                     .batches = m_setup.batches.get(),
                                     .factory = m_setup.factory,
                                     .clock = m_setup.clock,
                                     .sink = m_setup.sink,
                                     .fits = m_setup.fitsBeside,
                                     .questionOf = m_setup.questionOf});
    if (!setup) return refuse(asked.id, asked.value, setup.error());
    log(LogLevel::Info, fmt::format("{} takes turns between {} and {} from step {} on, for at most {:.0f} s.", asked.id, toString(setup->from),
                                    toString(setup->to), m_state.updates + 1, asked.budgetSeconds));
    m_program.release();  // both arms are instances of their own
    m_measuring = std::make_unique<InRunExperiment>(std::move(*setup), m_state.updates);
}

void Trainer::endMeasuring(EndedBy by, const std::string& broke) {
    if (!m_measuring) return;
    auto ended = std::exchange(m_measuring, nullptr);
    ended->conclude(m_state.updates, by, broke);
    const Arm chosen = ended->chosen();
    const auto setup = ended->setup();
    if (broke.empty()) m_program.replace(ended->take(chosen));
    ended.reset();
    // What broke may be in any state, and memory may be what it lacked.
    if (!broke.empty()) {
        m_program.release();
        device_memory::trim(m_state.weights.device());
    }
    if (!m_program) m_program.replace(build(setup.plans[armPlace(chosen)]));
    if (chosen == Arm::A) return log(LogLevel::Info, fmt::format("{} stays {}.", setup.id, toString(setup.from)));
    const std::int64_t seed = m_config.seed;  // a person may have given it another one meanwhile
    m_config = setup.configs[1];
    m_config.seed = seed;
    m_plan = setup.plans[1];
    m_setup.sink->publish(SwitchApplied{m_state.updates, m_setup.clock->now(), setup.id, setup.from, setup.to, kMeasuredNote});
    log(LogLevel::Info,
        fmt::format("{} {} → {} from step {} on: found faster.", setup.id, toString(setup.from), toString(setup.to), m_state.updates + 1));
    tellFallback(m_plan.notes);
}

// The run ends with it: what is known is told, and its memory comes back.
void Trainer::dropMeasuring(const std::string& broke) {
    if (const auto dropped = std::exchange(m_measuring, nullptr))
        dropped->conclude(m_state.updates, broke.empty() ? EndedBy::RunsEnd : EndedBy::Breakage, broke);
}

// Nothing where the turn broke and has left the State as it was: the measurement is over then, and the run's own value is to make the step. Where its
// own value breaks, the run would have broken without the measurement too, unless memory is what is missing: the other value has some of it.
std::optional<StepResult> Trainer::stepInTurn(StepProgram& turn, double rate) {
    const auto& setup = m_measuring->setup();
    const Arm arm = m_measuring->turn();
    const Revision before = m_state.revision();
    std::string broke;
    try {
        StepResult result = stepAsRange(turn, m_state, *m_setup.batches, rate);
        if (arm == Arm::A || result.breakdown == Breakdown::None) return result;
        broke = fmt::format("{} {} diverged: its loss or a gradient was no number at step {}.", setup.id, toString(setup.to), m_state.updates + 1);
    } catch (const std::exception& thrown) {
        const Error error = describeException(thrown);
        const bool asItWas = m_state.revision() == before;
        if (!asItWas || (arm == Arm::A && error.code != ErrorCode::OutOfMemory)) throw;
        broke = fmt::format("{} {} cannot go on: {}", setup.id, toString(arm == Arm::A ? setup.from : setup.to), error.sentence);
    }
    log(LogLevel::Warning, "The measurement ends here: " + broke);
    endMeasuring(EndedBy::Breakage, broke);
    return std::nullopt;
}

StepProgram& Trainer::programForNextStep() {
    if (!m_measuring) return *m_program;
    std::string broke;
    try {
        if (StepProgram* turn = m_measuring->next(m_state)) return *turn;
        endMeasuring(EndedBy::Itself);
    } catch (const std::exception& thrown) {
        const Error error = describeException(thrown);
        if (error.code != ErrorCode::OutOfMemory) throw;
        broke = error.sentence;
    }
    if (!broke.empty()) {
        log(LogLevel::Warning, "The measurement ends here: " + broke);
        endMeasuring(EndedBy::Breakage, broke);
    }
    return *m_program;
}

std::unique_ptr<StepProgram> Trainer::build(const RunPlan& plan) const {
    auto program = m_setup.factory->build(plan);
    if (m_setup.others != nullptr) program->shareWith(m_setup.others);
    return program;
}

StateForm Trainer::formOf(const RunPlan& plan) const {
    StateForm form = m_setup.factory->formOf(plan, m_state);
    if (m_setup.others != nullptr && !form.share.whole()) form.share.rank = m_setup.others->rank();
    return form;
}

// Moments that are dealt out are brought together before the State becomes another one: all workers do so, as all have the same plan.
std::string Trainer::convertTo(const RunPlan& plan) {
    const StateForm form = formOf(plan);
    if (m_state.has(form)) return {};
    if (m_setup.others != nullptr) makeWhole(m_state, *m_setup.others);
    return m_state.convert(form);
}

// The State is converted last, and is as it was where that fails.
Result<Trainer::Flipped> Trainer::buildFlipped(const RunPlan& wanted) {
    try {
        Flipped flipped{build(wanted), {}};
        flipped.lost = convertTo(wanted);
        return flipped;
    } catch (const std::exception& thrown) {
        Error error = describeException(thrown);
        // The others have changed theirs by now.
        if (error.code != ErrorCode::OutOfMemory || m_setup.others != nullptr) throw;
        return error;
    }
}

void Trainer::tellFallback(const std::string& fallback) {
    if (fallback == m_fallbackTold) return;
    m_fallbackTold = fallback;
    log(LogLevel::Info, fallback.empty() ? "Every switch runs as it is set." : fallback);
}

}  // namespace stepscope
