// The list: one line a switch. Adding one is its file and a line here. The fused-* switches stay last: their "auto" gives way to
// what others have claimed.
#include "core/optimizations/registry/Switch.h"

namespace stepscope {

#define STEPSCOPE_OPTIMIZATIONS(ENTRY) \
    ENTRY(deviceSwitch)                \
    ENTRY(matmulPrecision)             \
    ENTRY(amp)                         \
    ENTRY(fusion)                      \
    ENTRY(hostMemory)                  \
    ENTRY(attention)                   \
    ENTRY(cudaGraph)                   \
    ENTRY(cudnnAutotune)               \
    ENTRY(checkpointing)               \
    ENTRY(chunkedLossSwitch)           \
    ENTRY(vocabPadding)                \
    ENTRY(batchSize)                   \
    ENTRY(context)                     \
    ENTRY(gradAccumulation)            \
    ENTRY(optimizer)                   \
    ENTRY(zeroGrad)                    \
    ENTRY(gradClip)                    \
    ENTRY(gradSums)                    \
    ENTRY(zeroMoments)                 \
    ENTRY(dataSource)                  \
    ENTRY(batchCreation)               \
    ENTRY(loaderWorkers)               \
    ENTRY(loaderPrefetch)              \
    ENTRY(loaderPinned)                \
    ENTRY(loaderNonblocking)           \
    ENTRY(validationEvery)             \
    ENTRY(validationAmp)               \
    ENTRY(fusedEmbedding)              \
    ENTRY(fusedNorm)                   \
    ENTRY(fusedActivation)             \
    ENTRY(fusedQkv)                    \
    ENTRY(fusedAttention)              \
    ENTRY(fusedLoss)                   \
    ENTRY(fusedOptimizer)

#define DECLARE(name) Switch name();
STEPSCOPE_OPTIMIZATIONS(DECLARE)

std::vector<Switch> allSwitches() {
#define CALL(name) name(),
    return {STEPSCOPE_OPTIMIZATIONS(CALL)};
}

}  // namespace stepscope
