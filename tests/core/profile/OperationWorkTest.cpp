// What an operation computes, by its sizes: attention counted as the work of a step is, the same before a run and in its captures.
#include <gtest/gtest.h>

#include "core/profile/OperationWork.h"

namespace stepscope {
namespace {

TEST(OperationWork, OfAttentionIsThatOfTheModelForwardsAndTwiceThatBackwards) {
    constexpr std::int64_t kSequences = 2, kHeads = 4, kContext = 10, kWidth = 8;
    const OperandShape heads{{kSequences, kHeads, kContext, kWidth}, 4};
    constexpr std::int64_t kPairs = kContext * (kContext + 1) / 2;
    const auto forward = workOf("aten::_scaled_dot_product_flash_attention_for_cpu", {heads, heads, heads}, true);
    EXPECT_EQ(forward.flops, 2 * 2 * kSequences * kHeads * kPairs * kWidth);
    const auto backward = workOf("aten::_scaled_dot_product_flash_attention_for_cpu_backward", {heads, heads, heads, heads, heads}, true);
    EXPECT_EQ(backward.flops, 2 * forward.flops) << "what its kernel computes anew is no work of the model's";
    EXPECT_EQ(workOf("aten::_scaled_dot_product_flash_attention_for_cpu", {heads, heads, heads}, false).flops,
              2 * 2 * kSequences * kHeads * kContext * kContext * kWidth);
}

}  // namespace
}  // namespace stepscope
