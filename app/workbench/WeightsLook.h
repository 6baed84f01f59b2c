// What the weights are that a person wants to begin a run with, told when they are chosen: their shape, their tokenizer, what of the files is left
// out, and why these settings cannot begin from them. Torch-free header; reads heads of files, and of a head of its own the table beside it. Any
// thread but the window's.
#pragma once
#include <optional>
#include <string>

#include "core/events/RunConfig.h"

namespace stepscope {

struct WeightsLook {
    std::string found;                // what they are; empty where they cannot be read
    std::string problem;              // why a run of these settings cannot begin from them; empty = it can
    std::optional<RunConfig> shaped;  // the settings with their model, where that is what is wrong: as --init-shape sets it
};

WeightsLook lookAtWeights(const std::string& path, const RunConfig& config);

}  // namespace stepscope
