// How long the texts are that workers are about to hand each other: said by the others, so that it is looked at before anything is made room for.
// Torch-free; any thread.
#pragma once
#include <cstddef>
#include <vector>

#include "core/base/Result.h"

namespace stepscope {

constexpr std::size_t kMostText = 1 << 20;     // bytes of one worker's
constexpr std::size_t kMostTexts = 256 << 20;  // of all, each with as much room as the longest

// By rank, whole numbers as they came. The same answer with every worker.
Status checkTextLengths(const std::vector<float>& lengths);

}  // namespace stepscope
