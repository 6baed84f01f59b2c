// cuda-graph: one launch for a whole step. Not captured by this version: the row says when it could be and refuses with the reason.
#include "core/optimizations/Optimization.h"

namespace stepscope {
namespace {

Verdict usable(const Machine& machine, const RunConfig& config, const Value& value) {
    if (word(value) == "off") return Verdict::yes();
    if (machine.gpus.empty()) return Verdict::no("CUDA graphs are captured on NVIDIA GPUs, and there is none usable here.");
    if (config.word("device") == "cpu") return Verdict::no("this run is on the CPU, where there are no launches to save; choose a GPU as device.");
    return Verdict::no("this version of Stepscope does not capture steps into CUDA graphs yet.");
}

}  // namespace

Optimization cudaGraph() {
    return {.id = "cuda-graph",
            .title = "CUDA graph",
            .group = SwitchGroup::Kernels,
            .why = "Records all of a step's GPU launches once and replays them as one, so that a small batch does not wait for the CPU to launch kernels. "
                   "It needs a step whose buffers and sizes never change.",
            .cost = "Capturing takes time at the start, and at each change of size or switch.",
            .reported = "small batches: up to 5×",
            .values = offOn(),
            .byDefault = "off",
            .applicable = usable};
}

}  // namespace stepscope
