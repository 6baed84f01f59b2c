// Chooses the compilation of these loops for this processor.
#include "core/kernels/isa/Isa.h"
#include "core/step/StepKernelsTable.h"

namespace stepscope {

STEPSCOPE_ISA_TABLE(step::Table, stepTable)
static const step::Table& stepTableInUse() {
    return STEPSCOPE_PICK_ISA(stepTable);
}

}  // namespace stepscope

namespace stepscope::step {

const Kernels& kernels(gemm::Element element) {
    return stepTableInUse().kernels[static_cast<int>(element)];
}

}  // namespace stepscope::step
