// MemoryKind: what memory is for: the words of the prediction of memory, and of what a capture saw taken. Any thread.
#pragma once
#include <cstddef>

namespace stepscope {

// The order is that of people's interest: what lasts, then what a step makes.
enum class MemoryKind { Weights, Moments, Gradients, LowWeights, Embedding, Norms, Qkv, Attention, Mlp, Logits, Batches, Scratch, Graph };
constexpr std::size_t kMemoryKinds = 13;
const char* toString(MemoryKind kind);  // "weights", "copies of the weights", "residual sums and norms", ...

}  // namespace stepscope
