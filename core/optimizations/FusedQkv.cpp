// fused-qkv: queries, keys and values as views of one product, whose gradients are joined without three padded copies.
#include "core/fused/FusedOps.h"
#include "core/optimizations/FusedSwitch.h"

namespace stepscope {

Optimization fusedQkv() {
    return fusedSwitch("fused-qkv", "Fused QKV layout",
                       "Queries, keys and values are three views of one matrix product. Backward joins their gradients in one pass, and with fused-attention in none, "
                       "where autograd would fill three padded copies and add them.",
                       "None.", "", "layout of the heads", [](ProgramBuilder& builder) { builder.setHeadsOps({.split = fused::linearHeads}); });
}

}  // namespace stepscope
