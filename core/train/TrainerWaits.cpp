// The part of the Trainer between two steps: pausing, waiting for the disk, and meeting the other workers, who go on, wait, change or stop together.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "core/program/DataParallel.h"
#include "core/train/SharedFlip.h"
#include "core/train/Trainer.h"

namespace stepscope {
namespace {

constexpr std::chrono::milliseconds kPausePoll{20};
// A person notices when such a step more is made before a command is heard; what it takes to meet is nothing beside it.
constexpr std::int64_t kLongStepNs = 100'000'000;

}  // namespace

void Trainer::pause(bool asked) {
    if (std::exchange(m_pauseAsked, asked) == asked) return;
    // A person's Resume does not make room on the disk.
    if (m_heldUp)
        tellHeldUp();
    else
        changeState(asked ? RunState::Paused : RunState::Running);
}

void Trainer::waitWhilePaused() {
    waitWhile([this] { return m_runState == RunState::Paused && !m_stopAsked; });
}

void Trainer::waitForRecorder() {
    if (!m_setup.mustWait()) return;
    m_heldUp = true;
    tellHeldUp();
    waitWhile([this] { return m_setup.mustWait() && !m_stopAsked; });
    m_heldUp = false;
    if (!m_stopAsked) changeState(m_pauseAsked ? RunState::Paused : RunState::Running);
}

// A measurement in turns does not pay for it.
void Trainer::waitWhile(const std::function<bool()>& held) {
    const TimeNs since = m_setup.clock->now();
    bool waited = false;
    for (; held(); waited = true) waitABit();
    if (waited && m_measuring) m_measuring->waited(since);
}

// Between steps. The others hear that this worker is still there and what it wants: a run that is paused for days is not one that hangs.
void Trainer::waitABit() {
    std::this_thread::sleep_for(kPausePoll);
    takeCommands();
    if (m_setup.others == nullptr || m_stopAgreed) return;
    m_stopAgreed = agreeWithOthers(m_stopAsked ? Wish::Stop : Wish::Wait) == Wish::Stop;
    m_stopAsked = m_stopAsked || m_stopAgreed;
}

// At every boundary a run of one worker looks at what it has to wait for. Several meet where one of them had something to say when the step behind
// them was made, and where the first one may have waited for room.
bool Trainer::meetsOthers() const {
    const std::int64_t every = m_config.checkpointEvery;
    return m_setup.others == nullptr || m_setup.others->somebodyMeets() || (every > 0 && m_state.updates % every == 0);
}

bool Trainer::asksToMeet() const {
    const bool waits = m_pauseAsked || m_setup.mustWait();
    const bool commands = m_setup.commandsBefore && m_setup.commandsBefore(m_state.updates + 2);
    return waits || commands || m_stopAsked || !m_toShare.empty() || m_stepTook.ns >= kLongStepNs;
}

// All workers make the next step, or none does.
void Trainer::meetOthers() {
    while (m_setup.others != nullptr && !m_stopAgreed) {
        const Wish agreed = agreeWithOthers(m_stopAsked ? Wish::Stop : Wish::GoOn);
        if (agreed == Wish::GoOn) return;
        m_stopAgreed = agreed == Wish::Stop;
        m_stopAsked = m_stopAsked || m_stopAgreed;
        if (m_stopAgreed) return;
        std::this_thread::sleep_for(kPausePoll);
        takeCommands();
    }
}

// What is to be changed comes first, also while they wait: a person sees it at once.
Wish Trainer::agreeWithOthers(Wish own) {
    while (true) {
        const Wish agreed = m_setup.others->agree(own != Wish::Stop && !m_toShare.empty() ? Wish::Change : own);
        if (agreed != Wish::Change) return agreed;
        shareFlip();
    }
}

void Trainer::shareFlip() {
    std::string said;
    if (!m_toShare.empty()) {
        said = sayFlip(m_toShare.front());
        m_toShare.erase(m_toShare.begin());
    }
    const std::string heard = m_setup.others->ofFirst(said);
    const auto asked = flipFrom(heard);
    if (!asked)
        throw WorkersApart(makeError(ErrorCode::Internal,
                                     "Worker 0 changes something that this version does not know; start all workers with the "
                                     "same program."));
    flip(*asked);
}

void Trainer::tellHeldUp() {
    changeState(RunState::Paused,
                fmt::format("Nothing can be stored at the moment; the run {} when it can.", m_pauseAsked ? "stays paused" : "goes on"));
}

}  // namespace stepscope
