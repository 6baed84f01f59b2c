// The part of the Trainer between two steps: pausing, waiting for the disk, and meeting the other workers, who go on, wait, change or stop together.
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/Visitor.h"
#include "core/program/DataParallel.h"
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
    return waits || commands || m_stopAsked || hasToShare() || m_stepTook.ns >= kLongStepNs;
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

// What the first one was asked for comes before everything: before they wait on, so that a person sees it at once, and before they stop.
Wish Trainer::agreeWithOthers(Wish own) {
    while (!m_stopAgreed) {
        const Wish agreed = m_setup.others->agree(hasToShare() ? Wish::Change : own);
        if (agreed != Wish::Change) return agreed;
        shareCommand();
    }
    return Wish::Stop;
}

// The first one alone knows what its session has room for, and ends a capture with all of them.
bool Trainer::hasToShare() const {
    return !m_toShare.empty() || (m_setup.others != nullptr && m_setup.others->rank() == 0 && !m_capture.full().empty());
}

// A script asks each worker for the same, a person the first: what the first is asked for, all do.
void Trainer::share(const SharedCommand& asked) {
    if (m_setup.others == nullptr) return carryOut(asked);
    if (m_setup.others->rank() > 0) return;
    if (const auto* wanted = std::get_if<Flip>(&asked); wanted != nullptr && sayCommand(asked).size() > DataParallel::kLongestText)
        return refuse(wanted->id, wanted->value, makeError(ErrorCode::BadInput, "no switch has a value that long."));
    m_toShare.push_back(asked);
}

// Of the first one: what all do next.
SharedCommand Trainer::nextToShare() {
    if (m_toShare.empty()) {
        m_captureEndsBecause = m_capture.full();
        return m_captureEndsBecause.empty() ? SharedCommand(std::monostate{}) : SharedCommand(StopCapture{});
    }
    SharedCommand next = std::move(m_toShare.front());
    m_toShare.erase(m_toShare.begin());
    if (std::holds_alternative<StopCapture>(next)) m_captureEndsBecause = "it was ended";
    if (const auto* capture = std::get_if<Capture>(&next)) {
        // Refused of the first it is nothing that the others could do.
        if (const Status taken = m_capture.ask(*capture); !taken) {
            noCapture(taken.error().sentence);
            return std::monostate{};
        }
    }
    return next;
}

void Trainer::shareCommand() {
    const bool first = m_setup.others->rank() == 0;
    const SharedCommand own = first ? nextToShare() : SharedCommand(std::monostate{});
    const auto heard = commandFrom(m_setup.others->ofFirst(first ? sayCommand(own) : std::string()));
    if (!heard)
        throw WorkersApart(makeError(ErrorCode::Internal,
                                     "Worker 0 asks for something that this version does not know; start all workers with the "
                                     "same program."));
    carryOut(first ? own : *heard);  // its own has what the others need not know
}

void Trainer::carryOut(const SharedCommand& asked) {
    const bool alone = m_setup.others == nullptr;
    std::visit(Visitor{
                   [](const std::monostate&) {},
                   [&](const Flip& wanted) { flip(wanted); },
                   [&](const Reseed& wanted) {
                       m_state.seed = static_cast<std::uint64_t>(wanted.seed);
                       m_config.seed = wanted.seed;
                       log(LogLevel::Info, fmt::format("Batches are drawn with seed {} from step {} on.", wanted.seed, m_state.updates + 1));
                   },
                   [&](const SaveCheckpoint& wanted) { keepAsAsked(wanted.path); },
                   [&](const ValidateNow&) { validate(); },
                   [&](const Capture& wanted) {
                       if (!alone && m_setup.others->rank() == 0) return;  // nextToShare() has asked for it
                       const Status taken = m_capture.ask(wanted);
                       if (taken) return;
                       if (alone) return noCapture(taken.error().sentence);
                       throw WorkersApart(taken.error());  // what is asked for by now is the same with all
                   },
                   [&](const StopCapture&) { tellEnded(m_capture.stop(m_state.updates, alone ? "it was ended" : m_captureEndsBecause), !alone); },
               },
               asked);
}

void Trainer::tellHeldUp() {
    changeState(RunState::Paused,
                fmt::format("Nothing can be stored at the moment; the run {} when it can.", m_pauseAsked ? "stays paused" : "goes on"));
}

}  // namespace stepscope
