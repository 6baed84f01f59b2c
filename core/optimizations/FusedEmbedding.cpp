// fused-embedding: token and position rows added in one pass; the gradient of a tied table holds only the rows that occurred.
#include "core/fused/FusedOps.h"
#include "core/optimizations/FusedSwitch.h"

namespace stepscope {

Switch fusedEmbedding() {
    return fusedSwitch({.id = "fused-embedding",
                        .title = "Fused embedding",
                        .why =
                            "Adds the row of the token and the row of its position in one pass. Backward sums only the rows whose tokens occurred, "
                            "instead of clearing and "
                            "adding a gradient as large as the whole table.",
                        .cost = "None.",
                        .reported = "2 → 1 kernels",
                        .decides = "embedding",
                        .choose = [](RunPlan& plan) { plan.fused.embedding = true; },
                        .install =
                            [](ProgramBuilder& builder, const RunPlan& plan) {
                                if (plan.fused.embedding) builder.setEmbedOp(plan.config.tiedHead == "on" ? fused::embedTied : fused::embed);
                            }});
}

}  // namespace stepscope
