// PeakMeter: what a device can do at most: the fastest of many matrix products in each number format (the better of LibTorch's and, on a CPU, our own
// packed ones), the fastest of many large copies, and what a fresh page of memory costs. Measured once, about two seconds a number format, and kept
// in a small file of the user's cache folder, by processor and device. Torch-free header.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/events/Machine.h"
#include "core/prediction/MachinePeaks.h"

namespace stepscope {

struct PeaksRequest {
    std::string device = "cpu";           // or "cuda:0"
    std::int64_t threads = 0;             // of a CPU; 0 = every core
    std::vector<Precision> precisions{};  // that are wanted; what the device has no units for is left out (precisionsOf)
    double secondsEach = 2;               // for a number format
    std::string folder;                   // of the cache; empty = peaksFolder(), "none" = nothing is kept
};

// What is known from earlier is not measured again; what is measured while other programs have the processors is not kept. Errors: Cancelled; what
// LibTorch throws. Not while something else runs: times would be of both.
Result<MachinePeaks> measurePeaks(const Machine& machine, const PeaksRequest& request, const std::function<void(const std::string&)>& progress,
                                  const std::atomic<bool>& cancelled);
// The same without measuring: what the cache knows.
MachinePeaks knownPeaks(const Machine& machine, const PeaksRequest& request);
// False where the folder cannot be written to, which is no error: the next process measures again.
bool keepPeaks(const Machine& machine, const PeaksRequest& request, const MachinePeaks& peaks);

// Number formats in which the device has matrix units, or computes at all at a speed worth naming: float32 everywhere.
std::vector<Precision> precisionsOf(const Machine& machine, const std::string& device);

// $XDG_CACHE_HOME/stepscope/peaks or ~/.cache/stepscope/peaks; empty when neither variable names an absolute path.
std::string peaksFolder();

}  // namespace stepscope
