// The list: one line an optimisation. Adding one is its file and a line here.
#include "core/optimizations/Optimization.h"

namespace stepscope {

#define STEPSCOPE_OPTIMIZATIONS(ENTRY)                                                                                          \
    ENTRY(deviceSwitch)                                                                                                         \
    ENTRY(matmulPrecision)                                                                                                      \
    ENTRY(amp)                                                                                                                  \
    ENTRY(fusion)                                                                                                               \
    ENTRY(hostMemory)                                                                                                           \
    ENTRY(attention)                                                                                                            \
    ENTRY(vocabPadding)                                                                                                         \
    ENTRY(batchSize)                                                                                                            \
    ENTRY(context)                                                                                                              \
    ENTRY(gradAccumulation)                                                                                                     \
    ENTRY(optimizer)                                                                                                            \
    ENTRY(zeroGrad)                                                                                                             \
    ENTRY(gradClip)                                                                                                             \
    ENTRY(dataSource)                                                                                                           \
    ENTRY(validationEvery)                                                                                                      \
    ENTRY(validationAmp)

#define DECLARE(name) Optimization name();
STEPSCOPE_OPTIMIZATIONS(DECLARE)

std::vector<Optimization> allOptimizations() {
#define CALL(name) name(),
    return {STEPSCOPE_OPTIMIZATIONS(CALL)};
}

}  // namespace stepscope
