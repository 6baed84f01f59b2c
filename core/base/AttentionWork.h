// AttentionWork: the floating-point operations of causal attention, counted in one way wherever they are told: of a step before it runs
// (core/prediction/StepWork.h) and of an operation that was recorded, LibTorch's (core/profile/OperationWork.h) and our own (core/fused, core/step).
// A multiplication and an addition each; of scores what lies on and below the diagonal. What a kernel computes anew for its backward pass, as flash
// attention its scores, is not counted: it is no work of the model's, and what MFU is told in leaves it out. Pure functions.
#pragma once
#include <cstdint>

namespace stepscope::attention_work {

constexpr std::int64_t kForwardProducts = 2;   // queries with keys, their weights with the values
constexpr std::int64_t kBackwardProducts = 4;  // the gradients of both factors of each

// Pairs of a query and a key that are looked at.
constexpr std::int64_t pairs(std::int64_t queries, std::int64_t keys, bool causal) {
    return causal && queries == keys ? queries * (queries + 1) / 2 : queries * keys;
}

// Of one head of one sequence, `width` wide.
constexpr std::int64_t flops(std::int64_t queries, std::int64_t keys, std::int64_t width, std::int64_t products, bool causal) {
    return 2 * products * pairs(queries, keys, causal) * width;
}

}  // namespace stepscope::attention_work
