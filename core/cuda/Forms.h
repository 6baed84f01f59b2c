// The CUDA forms of the fused operations as they stand in CudaInterface (what each does is said there), one .cu file an operation.
// Inside the plug-in only; any thread.
#pragma once
#include "core/cuda/CudaInterface.h"

namespace stepscope {

const char* biasGeluForward(const CudaRows& shape, const void* in, const float* bias, void* out);
const char* biasGeluBackward(const CudaRows& shape, const void* gradOut, const void* in, const float* bias, void* gradIn, float* gradBias,
                             void* workspace);

const char* swigluForward(const CudaRows& shape, const void* in, const float* bias, void* out);
const char* swigluBackward(const CudaRows& shape, const void* gradOut, const void* in, const float* bias, void* gradIn, float* gradBias,
                           void* workspace);

const char* residualNormForward(const CudaRows& shape, const NormForward<void>& norm);
const char* residualNormBackward(const CudaRows& shape, const NormBackward<void>& norm, void* workspace);
std::size_t residualNormWorkspaceBytes(std::int64_t rows, std::int64_t columns);

const char* crossEntropy(const CudaRows& shape, const CudaCrossEntropy& loss);

const char* mergeHeads(const CudaRows& shape, std::int64_t context, std::int64_t heads, const CudaHeadPart (&parts)[3], void* rows, float* gradBias,
                       void* workspace);

const char* embeddingForward(const CudaRows& shape, const CudaEmbedding& embedding, const float* wte, const float* wpe, float* out);
const char* embeddingBackward(const CudaRows& shape, const CudaEmbedding& sorted, const std::int64_t* order, const float* gradOut, float* gradWte,
                              void* workspace);
std::size_t embeddingBackwardWorkspaceBytes(std::int64_t rows, std::int64_t columns);
const char* positionBackward(const CudaRows& shape, std::int64_t context, const float* gradOut, float* gradWpe);

const char* globalNorm(const CudaUpdate& list, float* norm, void* workspace);
std::size_t globalNormWorkspaceBytes(const CudaUpdate& list);
const char* adamW(const CudaUpdate& list, const AdamWStep* step, const float* norm, float maxNorm);
const char* adamWEightBit(const CudaEightBitUpdate& list, const AdamWStep& step);

}  // namespace stepscope
