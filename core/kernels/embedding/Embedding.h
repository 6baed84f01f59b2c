// Token + position embedding: the plain reference that every fast version is held against. It is additions alone, so it makes them in float32 and in
// the order of the rows, as every form does: theirs must be the same bits. Called by tests; any thread, no state. Shapes as in EmbeddingCpu.h.
#pragma once
#include <span>

#include "core/kernels/embedding/EmbeddingCpu.h"

namespace stepscope {

// wpe may be empty = no positions.
void embeddingForward(EmbeddingShape shape, std::span<const std::int64_t> ids, std::span<const float> wte, std::span<const float> wpe,
                      std::span<float> out);
// gradWte and gradWpe are added to; either may be empty = not wanted.
void embeddingBackward(EmbeddingShape shape, std::span<const std::int64_t> ids, std::span<const float> gradOut, std::span<float> gradWte,
                       std::span<float> gradWpe);

}  // namespace stepscope
