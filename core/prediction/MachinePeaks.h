// What one device of this machine can do at most, as measured on it (app/workbench/diagnose/PeakMeter), and the text in which that is kept.
// Torch-free; any thread.
#pragma once
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "core/events/RunPlan.h"

namespace stepscope {

struct MachinePeaks {
    static constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();
    double float32 = kNotMeasured, bf16 = kNotMeasured, fp16 = kNotMeasured;  // FLOP/s of matrix products, on all threads that were used
    double bytesPerSecond = kNotMeasured;                                     // of a large copy, read and written
    double secondsAPage = kNotMeasured;                                       // that the system takes to hand out 4 KiB anew; of a CPU

    double& of(Precision precision);
    double of(Precision precision) const;
};

// The file's text: `machine` and a line "name value" for each number that is known. Reading trusts nothing: the same machine, known names once each,
// values above 0 and below 1e18; else absent.
std::string writePeaks(std::string_view machine, const MachinePeaks& peaks);
std::optional<MachinePeaks> readPeaks(std::string_view text, std::string_view machine);

}  // namespace stepscope
