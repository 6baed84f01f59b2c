// Token and position rows added up, and their gradients, compiled once per instruction set.
#include "core/kernels/embedding/EmbeddingCpu.h"

#include "core/kernels/isa/Vec.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

void forward(EmbeddingShape shape, const std::int64_t* ids, const float* wte, const float* wpe, float* out, std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
        const float* token = wte + ids[r] * shape.columns;
        const float* position = wpe ? wpe + r % shape.context * shape.columns : nullptr;
        forLanes(shape.columns, [&](std::int64_t c, std::int64_t lanes) {
            const Vec v = get(token + c, lanes);
            put(out + r * shape.columns + c, position ? v + get(position + c, lanes) : v, lanes);
        });
    }
}

STEPSCOPE_INLINE void add(float* to, const float* from, std::int64_t count) {
    forLanes(count, [&](std::int64_t c, std::int64_t lanes) { put(to + c, get(to + c, lanes) + get(from + c, lanes), lanes); });
}

void backward(EmbeddingShape shape, const std::int64_t* ids, const float* gradOut, float* gradWte, float* gradWpe, std::int64_t begin,
              std::int64_t end) {
    for (std::int64_t r = 0; r < shape.rows; ++r) {
        const float* from = gradOut + r * shape.columns + begin;
        if (gradWte) add(gradWte + ids[r] * shape.columns + begin, from, end - begin);
        if (gradWpe) add(gradWpe + r % shape.context * shape.columns + begin, from, end - begin);
    }
}

}  // namespace

const EmbeddingTable embeddingTable{forward, backward};

}  // namespace stepscope::STEPSCOPE_ISA
