// The part of the Trainer that keeps checkpoints: those that are due, what is worth keeping of a run that breaks, and of one that ends. Where several
// workers hold parts of the moments, each of these is made by all of them together, and what the first one wants holds.
#include <fmt/format.h>

#include <cmath>

#include "core/base/Format.h"
#include "core/memory/DeviceMemory.h"
#include "core/program/DealtMoments.h"
#include "core/train/Evaluation.h"
#include "core/train/Failure.h"
#include "core/train/Trainer.h"

namespace stepscope {

void Trainer::keepAfterFailure(Error& failure) {
    if (!std::isfinite(m_lastLoss)) return;  // no step was made
    dropMeasuring(failure.sentence);
    try {
        m_program.release();  // writing needs some memory, which may be what is missing
        device_memory::trim(m_state.weights.device());
        // An update that broke may have written some of the weights, or all of them, and a captured one is made before all workers know of it: they
        // are then those of no step.
        const bool asItWas = !m_stepFrom || *m_stepFrom == m_state.revision();
        if (!asItWas && m_keeper.hasFolder())
            log(LogLevel::Warning,
                fmt::format("What was learnt up to step {} is not kept as it is now: the update of the step behind it had begun.", m_state.updates));
        // Parts of the moments went with the others.
        if (asItWas && m_state.share.whole()) keepState();
    } catch (const std::exception& thrown) {
        log(LogLevel::Error, describeException(thrown));
    }
    if (m_keeper.newest().empty()) return;
    failure.sentence += fmt::format(" Step {} is kept; resume from {}.", m_keeper.keptAt(), m_keeper.newest());
    failure = std::move(failure).about(Subject::Kind::Checkpoint, m_keeper.newest());
}

// The State is as it was before the step that broke: worth keeping, unless there is nothing to keep or no place for it.
void Trainer::keepState() {
    if (keeps(m_state.updates > 0 && m_state.updates != m_keeper.keptAt() && m_keeper.hasFolder())) checkpoint({});
}

// Where moments are dealt out all keep what the first worker wants kept; else each decides for itself.
bool Trainer::keeps(bool wanted) {
    if (m_state.share.whole()) return wanted;
    return m_setup.others->gather({wanted ? 1.0 : 0.0}).front() > 0;
}

// A disk without room is told, not waited for: the run is over. Nothing is kept of a sweep of learning rates, or where no step was made. False = the
// State is broken.
bool Trainer::keepAtEnd() {
    if (m_config.checkpointAtEnd != "on" || m_config.schedule == "range-test") return true;
    if (!keeps(std::isfinite(m_lastLoss) && m_keeper.hasFolder() && m_keeper.keptAt() != m_state.updates)) return true;
    const Kept kept = checkpoint({});
    if (kept == Kept::No && writesCheckpoints()) m_lostCheckpoints += 1;
    if (kept == Kept::Yes) retain();
    return kept != Kept::BrokenState;
}

// Where there are others all come here at the same boundary, and the first one alone writes; they go on to meet it.
void Trainer::keepAsAsked(const std::string& path) {
    if (!writesCheckpoints() && m_state.share.whole()) return;
    const Kept kept = checkpoint(path, OthersMeet::Yes);
    if (kept == Kept::BrokenState) log(LogLevel::Error, brokenState());
    if (kept == Kept::Yes) m_keeper.protectNewest();
}

// Asked of the first one while it wrote another checkpoint, and meanwhile all have agreed to stop: it needs nobody for this one, unless each has a
// part of it.
void Trainer::keepAfterStop(const std::string& path) {
    if (m_state.share.whole()) return keepAsAsked(path);
    log(LogLevel::Warning, "The checkpoint that was asked for is not written: the workers had agreed to stop, and each of them has a part of it.");
}

// A full disk holds the run up at this step, as it does when nothing can be recorded: what was asked for is not lost. False = the State is broken.
bool Trainer::dueCheckpoint() {
    const auto& corpus = m_setup.batches->corpus();
    if (m_config.keepsBest() && m_validatedAt != m_state.updates && whyNothingToEvaluateOn(corpus, m_plan.context).empty()) validate();
    // The others find what rank 0 finds, and go on to wait for it; where moments are dealt out each gives its own first.
    const bool dealtOut = !m_state.share.whole();
    if (!writesCheckpoints()) {
        if (dealtOut) checkpoint({});
        return m_state.isFinite();
    }
    const auto keepNow = [&] { return checkpoint({}, OthersMeet::UnlessBroken); };
    for (Kept kept = keepNow(); kept != Kept::Yes; kept = keepNow()) {
        if (kept == Kept::BrokenState) return false;
        const std::int64_t needed = checkpointRoom(m_state);
        // What was brought together is not held until there is room, and the others have gone on.
        if (dealtOut || !m_keeper.hasFolder() || m_setup.room() >= needed || m_stopAsked) {
            m_lostCheckpoints += 1;
            return true;
        }
        m_heldUp = true;
        changeState(RunState::Paused,
                    fmt::format("There is no room for the checkpoint of step {}: it takes {}, and {} are free. The run goes on when there is; "
                                "stopping it gives this checkpoint up.",
                                m_state.updates, format::bytes({needed}), format::bytes({m_setup.room()})));
        waitWhile([&] { return !m_stopAsked && m_setup.room() < needed; });
        m_heldUp = false;
        // Moments that a flip dealt out meanwhile are brought together by all workers, who have gone on.
        const bool apart = !m_state.share.whole();
        if (apart)
            log(LogLevel::Error,
                fmt::format("The checkpoint of step {} is not written: zero was flipped while there was no room for it.", m_state.updates));
        if (m_stopAsked || apart) {
            m_lostCheckpoints += 1;
            if (!m_stopAsked) changeState(m_pauseAsked ? RunState::Paused : RunState::Running);
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

Trainer::Kept Trainer::checkpoint(const std::string& path, OthersMeet othersMeet) {
    if (m_measuring) m_measuring->interrupted();
    FloatMoments moments;
    const bool dealtOut = !m_state.share.whole();
    if (dealtOut) {
        moments = gatheredMoments(m_state, *m_setup.others, writesCheckpoints());
        if (!writesCheckpoints()) return Kept::No;
    }
    // However long the disk takes.
    WorkerBeats beats(othersMeet != OthersMeet::No && !m_stopAgreed ? m_setup.others : nullptr, m_setup.beat);
    const Kept kept = m_keeper.keep(m_state, m_config, m_lastLoss, path, dealtOut ? &moments : nullptr);
    // Who knows of broken weights meets nobody any more.
    const bool stillMet = kept != Kept::BrokenState || othersMeet == OthersMeet::Yes;
    if (stillMet && beats.end()) m_stopAgreed = m_stopAsked = true;
    m_disturbed = m_disturbed || kept == Kept::Yes;
    return kept;
}

}  // namespace stepscope
