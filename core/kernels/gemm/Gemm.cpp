// See Gemm.h. Chooses the compilation for this processor.
#include "core/kernels/gemm/GemmTable.h"
#include "core/kernels/isa/Isa.h"

namespace stepscope {

STEPSCOPE_ISA_TABLE(gemm::Table, gemmTable)
static const gemm::Table& gemmTableInUse() {
    return STEPSCOPE_PICK_ISA(gemmTable);
}

}  // namespace stepscope

namespace stepscope::gemm {

const Kernels& kernels(Element element) {
    return gemmTableInUse().kernels[static_cast<int>(element)];
}
const Packers& packers(Element element) {
    return gemmTableInUse().packers[static_cast<int>(element)];
}

}  // namespace stepscope::gemm
