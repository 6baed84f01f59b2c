// SlowestCapture: "capture the slowest": while it is on, every step is observed, and of those that stand out (SlowSteps) at most twenty are kept, the
// slowest, each with the step before and after it. They are held in memory and handed on when it ends, as captures of their own. CaptureWindow has
// one; trainer thread.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/events/RunEvents.h"
#include "core/profile/OperationSource.h"
#include "core/train/SlowSteps.h"

namespace stepscope {

class SlowestCapture {
public:
    static constexpr std::size_t kMostKept = 20;
    static constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // that are held; what was fastest of it goes first

    explicit SlowestCapture(const CaptureOutlet& outlet);
    ~SlowestCapture();

    // Around each step. stepsOfProgram: how many its Program has made before it; < 0: it is not to be observed, something else measures.
    void before(std::int64_t step, std::int64_t stepsOfProgram);
    // disturbed: something else used the machine meanwhile.
    void after(std::int64_t step, TimeNs begin, TimeNs end, bool disturbed);
    void rest();  // nothing is observed until the next step
    bool observing() const { return m_source != nullptr; }
    std::size_t kept() const { return m_kept.size(); }

    // Hands on what is kept, and says what it was and what it cost; then nothing is kept any more.
    void finish(std::int64_t step);

private:
    class Holding;
    struct Held {
        TimeNs begin, end;
        std::vector<ChunkPtr> chunks;
    };
    struct Kept {
        std::int64_t step = 0;
        TimeNs took, threshold;
    };
    void keep(const Kept& one);
    void forget(std::int64_t newest);
    bool wanted(std::int64_t step) const;
    std::size_t bytes() const;
    void makeFit(std::int64_t step);  // into what captures may still take on the disk: the fastest of them go first
    void say(std::int64_t step, std::string text, LogLevel level = LogLevel::Info) const;

    CaptureOutlet m_outlet;
    std::unique_ptr<Holding> m_holding;
    std::unique_ptr<OperationSource> m_source;  // ends before what it hands on to
    SlowSteps m_slow;
    std::map<std::int64_t, Held> m_held;  // by step
    std::vector<Kept> m_kept;
    std::int64_t m_lastOfProgram = -1;
    std::int64_t m_observed = 0, m_stoodOut = 0;
    bool m_active = false;  // the step in hand is of those that are watched
    bool m_told = false;
};

}  // namespace stepscope
