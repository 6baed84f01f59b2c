// What the three levels of observing cost a step, as a run has measured it itself: L0, the record of each step, and L1, the times of its phases, by
// what they take the trainer; L2, a capture, by captured steps beside those around them. The dialog that asks for a capture shows it, and so do
// `profile`, `sessions show` and the report of a capture. Pure functions, any thread.
#pragma once
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/events/CaptureDone.h"

namespace stepscope {

class RunHistory;

// How much longer some steps took than others.
struct MeasuredCost {
    double share = kUnknown;                 // 0.04: 4 % longer
    double low = kUnknown, high = kUnknown;  // where that lies with 95 % confidence; unknown where the steps are too few to tell
    std::int64_t steps = 0, beside = 0;      // the captured ones, and those that they are held against
};

// The middle one of the ratios of every captured step and every one beside it, and an interval from their ranks (Hodges and Lehmann, "Estimates of
// location based on rank tests", Annals of Mathematical Statistics 34, 1963): nothing is supposed of how step times are distributed, and one slow
// step moves neither. Steps of several captures are told in the median of those beside each.
class CaptureCost {
public:
    static constexpr std::size_t kBeside = 25;  // steps looked for on either side of a capture
    static constexpr std::size_t kFewest = 10;  // on both together; a capture with fewer is left out

    // Times of steps, all in one unit.
    void add(std::span<const double> captured, std::span<const double> beside);
    MeasuredCost cost() const;

private:
    std::vector<double> m_captured, m_beside;
};

struct LevelCosts {
    double stepNs = kUnknown;  // the median of steps that nothing observed
    RecordingCosts always{};
    MeasuredCost capture{};

    double records() const { return always.recordNs / stepNs; }  // L0, as a share of a step
    double phases() const { return always.phasesNs / stepNs; }   // L1, on top of that
    bool measured() const { return std::isfinite(capture.share) || std::isfinite(records()); }
};

// captures: of the run, in order of time. Those of the slowest steps are passed over: they were kept because they were slow.
LevelCosts levelsOfRun(const RunHistory& run, std::span<const CaptureDone> captures);
inline bool tellsItsCost(const CaptureDone& capture) {
    return std::isfinite(capture.operations);
}

struct LevelWords {
    std::string level, what, cost;  // "L2", "operations and kernels", "+3.1 % (95 %: +1.2 % to +5.0 %), 6 captured steps beside 50"
};
// unknown: what stands where a level was not measured.
std::vector<LevelWords> levelWords(const LevelCosts& levels, const std::string& unknown = "not measured");
// "L0 steps: 0.012 % of a step; L1 phases: …"
std::string levelSentence(const LevelCosts& levels, const std::string& unknown = "not measured");
std::string costText(const MeasuredCost& cost);  // "+3.1 % (95 %: +1.2 % to +5.0 %)"; empty: unknown

}  // namespace stepscope
