#include "core/base/MemoryKind.h"

namespace stepscope {

const char* toString(MemoryKind kind) {
    switch (kind) {
        case MemoryKind::Weights:
            return "weights";
        case MemoryKind::Moments:
            return "moments";
        case MemoryKind::Gradients:
            return "gradients";
        case MemoryKind::LowWeights:
            return "copies of the weights";  // in bf16, or packed for the planned step in float32 too
        case MemoryKind::Embedding:
            return "embedding";
        case MemoryKind::Norms:
            return "residual sums and norms";
        case MemoryKind::Qkv:
            return "q, k, v";
        case MemoryKind::Attention:
            return "attention's scores and outputs";
        case MemoryKind::Mlp:
            return "MLP";
        case MemoryKind::Logits:
            return "logits and loss";
        case MemoryKind::Batches:
            return "batches";
        case MemoryKind::Scratch:
            return "scratch";
        case MemoryKind::Graph:
            return "CUDA graph";
    }
    return "";
}

}  // namespace stepscope
