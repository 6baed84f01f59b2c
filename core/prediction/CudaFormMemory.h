// What operations on a GPU take beside their results and what backward needs: the sums of core/fused and core/cuda, which this room does not see, and
// of LibTorch 2.11's sources. No GPU has measured them yet. Sizes are in bytes. Used by EagerMemory.
#pragma once
#include <algorithm>
#include <cmath>

namespace stepscope::cuda_form {

// Rows of logits that linear + cross-entropy has at a time: core/fused/CudaLoss.cpp, held against it by tests/app/workbench/MemoryNeedTest.cpp.
inline double rowsOfLogits(double rows, double columns) {
    constexpr double kLogitsAtOnce = 268'435'456, kRowsTogether = 128;
    const double wanted = std::floor(kLogitsAtOnce / std::max(1.0, columns) / kRowsTogether) * kRowsTogether;
    return std::min(rows, std::max(kRowsTogether, wanted));
}

// Partial sums of a bias's gradient: columnSumsWorkspaceBytes of core/cuda/ColumnSums.cu.
inline double columnSums(double rows, double columns) {
    return 4 * columns * std::clamp(std::ceil(rows / 16), 1.0, 512.0);
}

// Of the gradients of a norm's weight and bias: residualNormWorkspaceBytes of core/cuda/ResidualNorm.cu.
inline double normSums(double rows, double columns) {
    return 4 * 2 * columns * std::clamp(std::ceil(rows / 4), 1.0, 1024.0);
}

// Of spans of the sorted tokens: embeddingBackwardWorkspaceBytes of core/cuda/Embedding.cu.
inline double embeddingSums(double rows, double columns) {
    return 4 * columns * std::ceil(rows / 32);
}

// The queries' gradient summed in float32, and a sum a row: mha_bwd of flash_attn/flash_api.cpp, whose rounding this is. The memory-efficient kernel
// takes about as much (mem_eff_attention/kernel_backward.h); cuDNN tells its workspace only to who runs it.
inline double attentionBackward(double sequences, double context, double heads, double headWidth) {
    return 4 * sequences * heads * std::ceil(context / 128) * 128 * (std::ceil(headWidth / 32) * 32 + 1);
}

}  // namespace stepscope::cuda_form
