// Token + position embedding on the CPU, forwards over a range of rows and backwards over a range of columns. Called by core/fused and by
// the whole-step program; any thread. Tables, outputs and gradients are float32.
#pragma once
#include <cstdint>

#include "core/kernels/isa/Isa.h"

namespace stepscope {

struct EmbeddingShape {
    std::int64_t rows = 0;     // tokens in the batch, B*T
    std::int64_t context = 1;  // T: the position of row r is r % T
    std::int64_t columns = 0;  // C
};

struct EmbeddingTable {
    // out[r] = wte[ids[r]] + wpe[r % T] for rows [begin, end). wpe null = no positions. Every id is a row of wte: not checked here.
    void (*forward)(EmbeddingShape shape, const std::int64_t* ids, const float* wte, const float* wpe, float* out, std::int64_t begin,
                    std::int64_t end);
    // gradWte[ids[r]] += gradOut[r] and gradWpe[r % T] += gradOut[r], all rows in their order, for columns [begin, end) only: however the
    // columns are shared among threads, the sums are the same bits. Either may be null.
    void (*backward)(EmbeddingShape shape, const std::int64_t* ids, const float* gradOut, float* gradWte, float* gradWpe, std::int64_t begin,
                     std::int64_t end);
};
STEPSCOPE_ISA_TABLE(EmbeddingTable, embeddingTable)
inline const EmbeddingTable& embeddingCpu() {
    return STEPSCOPE_PICK_ISA(embeddingTable);
}

}  // namespace stepscope
