// bias + SwiGLU: the plain reference in double that every fast version is held against. Called by tests; any thread, no state.
// Shapes as in SwigluCpu.h.
#pragma once
#include <cstddef>
#include <span>

namespace stepscope {

// bias may be empty = none.
void swigluForward(std::size_t columns, std::span<const float> in, std::span<const float> bias, std::span<float> out);
// gradBias (2 columns) is set, not added to.
void swigluBackward(std::size_t columns, std::span<const float> gradOut, std::span<const float> in, std::span<const float> bias,
                    std::span<float> gradIn, std::span<float> gradBias);

}  // namespace stepscope
