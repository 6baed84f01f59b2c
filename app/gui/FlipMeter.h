// What flipping a switch did to the speed on this machine: tokens a second before and after, as the switch's chip. Medians of up
// to 40 steps on either side; the first 5 after a flip are left out, they warm up. Remembered between starts (QSettings).
// GUI thread; fed by ExperimentWiring.
#pragma once
#include "core/analysis/RunHistory.h"

#include <QString>
#include <string>
#include <vector>

namespace stepscope {

struct FlipChip {
    std::string id;    // of the switch
    QString text;      // "×2.2", "no gain", "−8 %"
    QString tooltip;
};

class FlipMeter {
public:
    static constexpr std::size_t kSteps = 40, kWarmUp = 5;

    // A flip away from `byDefault` or back to it; others are not comparable with anything a chip could say.
    void flipped(const RunHistory& history, const SwitchApplied& flip, const Value& byDefault);
    void forget() { m_open.clear(); }  // another run begins
    // Chips that have become known since; called as the history grows.
    std::vector<FlipChip> finished(const RunHistory& history);

    static QString chipText(double ratio);

private:
    struct Open {
        SwitchApplied flip;
        bool awayFromDefault = true;
        double before = kUnknown;   // median tokens/s
        std::size_t from = 0;       // first row that counts
    };
    std::vector<Open> m_open;
};

}  // namespace stepscope
