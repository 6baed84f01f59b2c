// CaptureWindow: the steps that a Capture command is about. The Trainer asks it before and after each step; while such steps run it holds the
// capture's sources (core/profile/CaptureSource.h), and at the end it makes the event of what they saw. Trainer thread.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/Result.h"
#include "core/profile/CaptureSource.h"
#include "core/state/TrainState.h"
#include "core/train/SlowestCapture.h"

namespace stepscope {

// What a State holds for as long as the run goes on.
std::vector<LastingMemory> lastingMemory(const TrainState& state);

class CaptureWindow {
public:
    // together: with other workers, all of which observe the same steps. Then it never ends because its session has no more room: full() says so, and
    // whoever asks ends it with all of them. heldByOthers: bytes that these hold of the capture until it ends; empty: nobody does.
    explicit CaptureWindow(CaptureOutlet outlet = {}, bool together = false, std::function<std::int64_t()> heldByOthers = {})
        : m_outlet(outlet), m_together(together), m_heldByOthers(std::move(heldByOthers)) {}

    // Refused with a sentence: a number of steps that cannot be, or a capture that is asked for already and is not over when this one begins to warm
    // up. Rounds of one schedule are asked for at once, each behind the one before.
    Status ask(const Capture& wanted);

    // Around every step; step: its number. after() gives the event when that was the last. Steps to warm up are observed too, and nothing is kept.
    // onGpu: whether the step puts work onto a GPU; its kernels are captured then, too. stepsOfProgram, disturbed: as SlowestCapture has them.
    void before(std::int64_t step, bool onGpu = false, std::int64_t stepsOfProgram = -1);
    std::optional<CaptureDone> after(std::int64_t step, TimeNs begin, TimeNs end, bool disturbed = false);
    // The run is over: the event of the steps that were captured, if any.
    std::optional<CaptureDone> cut();
    // The run is over at `step`: what was captured of what was asked, and a sentence; what never was is not forgotten in silence. Nothing where all
    // is told. The slowest steps that were kept are handed on at once.
    struct Ending {
        std::string sentence;
        std::optional<CaptureDone> done;
    };
    std::optional<Ending> end(std::int64_t step);
    // Likewise while the run goes on, because a person wants no more of it; the slowest steps go on being kept. Something is always told: whoever
    // asked waits for an answer.
    Ending stop(std::int64_t step, const std::string& why = "it was ended");

    bool observing() const { return capturing() || (m_slowest && m_slowest->observing()); }
    const std::optional<Capture>& asked() const { return m_asked; }
    // Whether what is kept of steps begins with this one.
    bool begins(std::int64_t step) const { return m_asked && step >= m_asked->firstStep && (!capturing() || m_warming); }
    // Why no more steps of it are to be captured, a part of a sentence. Empty: there is room for more, or nothing is kept at the moment.
    std::string full() const { return capturing() && !m_warming && m_done.steps > 0 ? fullWords() : std::string(); }

private:
    bool capturing() const { return !m_sources.empty(); }
    Status askSlowest(bool on);
    CaptureDone finish();
    std::optional<Ending> endOfAll(std::int64_t step, const std::string& why);
    void takeNext();
    std::int64_t endOfAsked() const;
    std::string fullWords() const;  // empty: there is room for more

    CaptureOutlet m_outlet;
    bool m_together = false;
    std::function<std::int64_t()> m_heldByOthers;
    std::optional<Capture> m_asked;
    std::deque<Capture> m_later;  // each behind the one before, the first behind m_asked
    std::vector<std::unique_ptr<CaptureSource>> m_sources;
    bool m_warming = false;  // the sources are of steps that are not kept
    CaptureDone m_done;      // of the steps so far
    std::unique_ptr<SlowestCapture> m_slowest;
    std::int64_t m_newest = 0;  // step that was told of
};

}  // namespace stepscope
