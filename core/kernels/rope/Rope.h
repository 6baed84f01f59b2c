// Rotary positions (RoPE; Su et al. 2021): the table of turns, and the plain reference in double that the fast form is held against. Torch-free; any
// thread, no state.
#pragma once
#include <cstdint>
#include <span>

namespace stepscope {

// cosines, sines (context, half): of position * base^(-d / half). The angles are made in double: a position times a speed must not round.
void ropeTurns(std::int64_t context, std::int64_t half, double base, float* cosines, float* sines);

// One head at one position: element d of its first half turns with element d of its second.
void ropeRotate(std::span<double> head, std::span<const double> angles);

}  // namespace stepscope
