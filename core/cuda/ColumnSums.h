// Column sums in two stages: partial sums of chunks of rows, then the sum over chunks, each in a fixed order, so that no atomic decides.
// The stages are shared by the backward passes of the other .cu files. Inside the plug-in only; any thread.
#pragma once
#include "core/cuda/CudaInterface.h"

namespace stepscope {

std::int64_t sumChunkCount(std::int64_t rows);
// Where the sums of columns go: the first `count` to one place, what is left to another. Null = not wanted.
struct ColumnSumsPlace {
    float* first = nullptr;
    std::int64_t count = 0;
    float* rest = nullptr;
};
// Column sums of partial (chunks, columns).
void sumChunks(std::int64_t chunks, std::int64_t columns, const float* partial, ColumnSumsPlace sums, void* stream);

const char* columnSums(const CudaRows& shape, const void* in, float* sums, void* workspace);
std::size_t columnSumsWorkspaceBytes(std::int64_t rows, std::int64_t columns);

}  // namespace stepscope
