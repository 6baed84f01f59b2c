// SlowestCapture: "capture the slowest": while it is on, every step is observed by the sources of a capture, and of those that stand out (SlowSteps)
// at most twenty are kept, the slowest, each with the step before and after it. They are held in memory (captures/HeldSteps) and handed on when it
// ends, as captures of their own. CaptureWindow has one; trainer thread.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/events/RunEvents.h"
#include "core/profile/CaptureSource.h"
#include "core/train/SlowSteps.h"
#include "core/train/captures/HeldSteps.h"

namespace stepscope {

class SlowestCapture {
public:
    static constexpr std::size_t kMostKept = 20;
    static constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // that are held; what was fastest of it goes first

    // mostBytes: of one step, too, before it has ended; what comes on top is counted as lost.
    explicit SlowestCapture(const CaptureOutlet& outlet, std::size_t mostBytes = kMostBytes);
    ~SlowestCapture();

    // Around each step. stepsOfProgram: how many its Program has made before it; < 0: it is not to be observed, something else measures. onGpu: it
    // puts work onto a GPU, whose kernels are recorded then.
    void before(std::int64_t step, std::int64_t stepsOfProgram, bool onGpu = false);
    // disturbed: something else used the machine meanwhile.
    void after(std::int64_t step, TimeNs begin, TimeNs end, bool disturbed);
    bool observing() const { return !m_sources.empty(); }
    std::size_t kept() const { return m_kept.size(); }

    // Hands on what is kept, and says what it was and what it cost; then nothing is kept any more.
    void finish(std::int64_t step);

private:
    class Holding;
    struct Kept {
        std::int64_t step = 0;
        TimeNs took, threshold;
    };
    void observe(std::int64_t step, bool onGpu);
    void rest();  // nothing is observed until the next step
    void takeLate();
    void keep(const Kept& one);
    void forget(bool andNewest);
    void dropFastest();
    bool wanted(std::int64_t step) const;
    void makeFit(std::int64_t step);  // into what captures may still take on the disk: the fastest of them go first
    void say(std::int64_t step, std::string text, LogLevel level = LogLevel::Info) const;
    void sayOnce(std::int64_t step, const std::string& text);

    CaptureOutlet m_outlet;
    std::size_t m_most;
    std::unique_ptr<Holding> m_holding, m_late;             // of the step in hand; of any step
    std::vector<std::unique_ptr<CaptureSource>> m_sources;  // end before what they hand on to
    SlowSteps m_slow;
    HeldSteps m_held;
    std::vector<Kept> m_kept;
    // Of all steps, for the first capture that is handed on: what is known of the devices, by kind and lane; sentences on what could not be had, and
    // the newest of the processor's counters.
    std::map<std::pair<std::string, std::int64_t>, ChunkPtr> m_facts;
    std::vector<std::string> m_notes;
    std::string m_counterNote;
    std::set<std::string> m_said;
    std::int64_t m_lastOfProgram = -1;
    std::int64_t m_observed = 0, m_stoodOut = 0;
    CaptureDone m_seen;     // the steps since the sources were made
    bool m_active = false;  // the step in hand is of those that are watched
    bool m_told = false;
};

}  // namespace stepscope
