// fused-embedding: token and position rows added in one pass; the gradient of a tied table holds only the rows that occurred.
#include "core/fused/FusedOps.h"
#include "core/optimizations/FusedSwitch.h"

namespace stepscope {

Optimization fusedEmbedding() {
    return fusedSwitch("fused-embedding", "Fused embedding",
                       "Adds the row of the token and the row of its position in one pass. Backward sums only the rows whose tokens occurred, "
                       "instead of clearing and "
                       "adding a gradient as large as the whole table.",
                       "None.", "2 → 1 kernels", "embedding",
                       [](ProgramBuilder& builder) { builder.setEmbedOp(builder.config().tiedHead == "on" ? fused::embedTied : fused::embed); });
}

}  // namespace stepscope
