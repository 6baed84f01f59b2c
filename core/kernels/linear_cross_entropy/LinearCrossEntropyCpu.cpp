// Chooses the compilation of these loops for this processor.
#include "core/kernels/linear_cross_entropy/LinearCrossEntropyCpu.h"

#include "core/kernels/isa/Isa.h"

namespace stepscope {

STEPSCOPE_ISA_TABLE(LinearCrossEntropyTable, linearCrossEntropyFloat)
STEPSCOPE_ISA_TABLE(LinearCrossEntropyTable, linearCrossEntropyBf16)

const LinearCrossEntropyTable& linearCrossEntropyCpu(gemm::Element element) {
    return element == gemm::Element::Bf16 ? STEPSCOPE_PICK_ISA(linearCrossEntropyBf16) : STEPSCOPE_PICK_ISA(linearCrossEntropyFloat);
}

}  // namespace stepscope
