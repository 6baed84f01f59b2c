// Trainer: what is kept of a run: checkpoints that are due, the one at its end, and the State as it was before a step that broke it.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "core/base/Format.h"
#include "core/events/Event.h"
#include "core/events/Schedule.h"
#include "core/memory/DeviceMemory.h"
#include "core/program/DataParallel.h"
#include "core/train/Evaluation.h"
#include "core/train/Failure.h"
#include "core/train/Trainer.h"

namespace stepscope {

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

void Trainer::keepAfterFailure(Error& failure) {
    if (!std::isfinite(m_lastLoss)) return;  // no step was made
    m_measuring.reset();
    m_program.release();  // writing needs some memory, which may be what is missing
    device_memory::trim(m_state.weights.device());
    try {
        keepState();
    } catch (const std::exception& thrown) {
        log(LogLevel::Error, describeException(thrown));
    }
    if (m_keeper.newest().empty()) return;
    failure.sentence += fmt::format(" Step {} is kept; resume from {}.", m_keeper.keptAt(), m_keeper.newest());
    failure = std::move(failure).about(Subject::Kind::Checkpoint, m_keeper.newest());
}

// The State is as it was before the step that broke: worth keeping, unless there is nothing to keep or no place for it.
void Trainer::keepState() {
    if (m_state.updates > 0 && m_state.updates != m_keeper.keptAt() && m_keeper.hasFolder()) checkpoint({});
}

// A disk without room is told, not waited for: the run is over. Nothing is kept of a sweep of learning rates, or where no step was made.
void Trainer::keepAtEnd() {
    if (m_config.checkpointAtEnd != "on" || m_config.schedule == "range-test") return;
    if (!std::isfinite(m_lastLoss) || !m_keeper.hasFolder() || m_keeper.keptAt() == m_state.updates) return;
    const Kept kept = checkpoint({});
    if (kept == Kept::BrokenState) log(LogLevel::Error, brokenState().sentence);
    if (kept == Kept::Yes) retain();
}

// A full disk holds the run up at this step, as it does when nothing can be recorded: what was asked for is not lost. False = the State is broken.
bool Trainer::dueCheckpoint() {
    const auto& corpus = m_setup.batches->corpus();
    if (m_config.keepBest == "on" && m_validatedAt != m_state.updates && whyNothingToEvaluateOn(corpus, m_plan.context).empty()) validate();
    // The others find what rank 0 finds, and go on to wait for it.
    if (!writesCheckpoints()) return m_state.isFinite();
    for (Kept kept = checkpoint({}); kept != Kept::Yes; kept = checkpoint({})) {
        if (kept == Kept::BrokenState) return false;
        const std::int64_t needed = checkpointRoom(m_state);
        if (!m_keeper.hasFolder() || m_setup.room() >= needed || m_stopAsked) {
            m_lostCheckpoints += 1;
            return true;
        }
        m_heldUp = true;
        changeState(RunState::Paused,
                    fmt::format("There is no room for the checkpoint of step {}: it takes {}, and {} are free. The run goes on when there is; "
                                "stopping it gives this checkpoint up.",
                                m_state.updates, format::bytes({needed}), format::bytes({m_setup.room()})));
        while (!m_stopAsked && m_setup.room() < needed) waitABit();
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

bool Trainer::writesCheckpoints() const {
    return m_setup.others == nullptr || m_setup.others->rank() == 0;
}

Trainer::Kept Trainer::checkpoint(const std::string& path) {
    const Kept kept = m_keeper.keep(m_state, m_config, m_lastLoss, path);
    m_disturbed = m_disturbed || kept == Kept::Yes;
    if (m_measuring) m_measuring->interrupted();
    return kept;
}

}  // namespace stepscope
