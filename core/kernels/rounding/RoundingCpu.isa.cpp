// Rows to bf16 and back, compiled once per instruction set.
#include "core/kernels/rounding/RoundingCpu.h"

#include "core/kernels/isa/Vec.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

void roundRow(const float* values, Bf16* halves, std::int64_t count) {
    forLanes(count, [&](std::int64_t i, std::int64_t lanes) { put(halves + i, get(values + i, lanes), lanes); });
}

void widenRow(const Bf16* halves, float* values, std::int64_t count) {
    forLanes(count, [&](std::int64_t i, std::int64_t lanes) { put(values + i, get(halves + i, lanes), lanes); });
}

}  // namespace

const RoundingTable roundingTable{roundRow, widenRow};

}  // namespace stepscope::STEPSCOPE_ISA
