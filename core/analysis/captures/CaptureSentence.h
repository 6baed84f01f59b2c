// What a log says of captured steps: how many operations a step ran, and where most time went; and what captures of the slowest steps, and of workers
// beside the first, do not hold.
// Used by the window and the command line.
#pragma once
#include <cstdint>
#include <string>

#include "core/events/CaptureDone.h"

namespace stepscope {

std::string captureSentence(const CaptureDone& capture);

// How many of some captures were kept because their steps were slow (core/train/SlowestCapture.h), of those that hold operations alone:
// older versions kept no more of them.
enum class SlowestSteps { None, Some, All };
std::string slowestSentence(SlowestSteps among);  // empty for none
// Of a run of several workers that an older version captured: by now all that is captured is of each. onGpus: the first one's kernels are there.
std::string otherWorkersSentence(bool onGpus);
// Before so many slices are added up by kernel: how much memory that takes. Empty where it is little.
std::string kernelMemorySentence(std::int64_t slices);
// Where more than `most` operations, calls and kernels were to be added up by kernel (KernelSummary::launchersKnown()).
std::string launchersUnknownSentence(std::int64_t most);

}  // namespace stepscope
