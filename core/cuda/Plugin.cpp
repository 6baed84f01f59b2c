// The door of libstepscope_cuda.so: the table of CudaInterface.h, filled. Called once by loadCudaPlugin() on the main thread.
#include <dlfcn.h>

#include "core/cuda/ColumnSums.h"
#include "core/cuda/Forms.h"
#include "core/cuda/Nvml.h"
#include "core/cuda/cupti/Cupti.h"

namespace stepscope {
namespace {

// libtorch_cpu has opened CUPTI already (Kineto is linked into it): the same copy must answer, hence by its soname.
const char* cuptiVersion(std::uint32_t* version) {
    *version = 0;
    void* handle = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return "CUPTI 13 is not installed; packaging/run installs it.";
    using Query = int (*)(std::uint32_t*);
    const auto query = reinterpret_cast<Query>(dlsym(handle, "cuptiGetVersion"));
    if (!query || query(version) != 0) return "CUPTI does not tell its version.";
    return nullptr;
}

constexpr CudaInterface kInterface = {
    .version = kCudaInterfaceVersion,
    .biasGeluForward = biasGeluForward,
    .biasGeluBackward = biasGeluBackward,
    .swigluForward = swigluForward,
    .swigluBackward = swigluBackward,
    .residualNormForward = residualNormForward,
    .residualNormBackward = residualNormBackward,
    .residualNormWorkspaceBytes = residualNormWorkspaceBytes,
    .crossEntropy = crossEntropy,
    .mergeHeads = mergeHeads,
    .columnSums = columnSums,
    .columnSumsWorkspaceBytes = columnSumsWorkspaceBytes,
    .embeddingForward = embeddingForward,
    .embeddingBackward = embeddingBackward,
    .embeddingBackwardWorkspaceBytes = embeddingBackwardWorkspaceBytes,
    .positionBackward = positionBackward,
    .globalNorm = globalNorm,
    .globalNormWorkspaceBytes = globalNormWorkspaceBytes,
    .adamW = adamW,
    .adamWEightBit = adamWEightBit,
    .gpuCount = gpuCount,
    .describeGpu = describeGpu,
    .sampleGpu = sampleGpu,
    .othersOnGpu = othersOnGpu,
    .cuptiVersion = cuptiVersion,
    .captureBegin = captureBegin,
    .captureCollect = captureCollect,
    .captureEnd = captureEnd,
    .capturePush = capturePush,
    .capturePop = capturePop,
    .captureNow = captureNow,
    .captureGraphBegins = captureGraphBegins,
    .captureGraphEnds = captureGraphEnds,
};

}  // namespace
}  // namespace stepscope

extern "C" __attribute__((visibility("default"))) const stepscope::CudaInterface* stepscope_cuda_interface(int version) {
    return version == stepscope::kCudaInterfaceVersion ? &stepscope::kInterface : nullptr;
}
