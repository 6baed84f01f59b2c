// An engine on another machine, as it said who it is (EngineQuestions::findOut()), and how that machine is named in a sentence. Plain values; any
// thread.
#pragma once
#include <string>
#include <vector>

#include "core/events/Machine.h"

namespace stepscope {

struct EngineElsewhere {
    std::vector<std::string> command;  // that starts one for a run
    std::string host;                  // its machine's name for itself
    Machine machine;
    // Engines that train there already, begun by a window that has gone or by another one, "ID: what"; or that have ended, and nobody has heard all
    // of it yet, "ID, which has ended: what".
    std::vector<std::string> going{};
};

constexpr const char* kHasEnded = ", which has ended: ";

// "gpu-rack: AMD EPYC 9R14, 96 cores, 405 GB of memory, 2 GPUs: NVIDIA H100 80GB HBM3"
std::string machineWords(const std::string& host, const Machine& machine);

}  // namespace stepscope
