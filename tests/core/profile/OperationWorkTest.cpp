// What an operation computes, by its sizes: attention counted as the work of a step is, the same before a run and in its captures.
#include <gtest/gtest.h>

#include <string>

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

TEST(OperationWork, OfAttentionIsTheSameByWhicheverBackEndItRuns) {
    const OperandShape heads{{2, 4, 10, 8}, 2}, sums{{2, 4, 10}, 4};
    const std::string cpu = "aten::_scaled_dot_product_flash_attention_for_cpu";
    const auto forward = workOf(cpu, {heads, heads, heads}, true);
    const auto backward = workOf(cpu + "_backward", {heads, heads, heads, heads, heads, sums}, true);
    ASSERT_GT(forward.flops, 0);
    for (const std::string backEnd : {"flash", "efficient", "cudnn"}) {
        const std::string name = "aten::_scaled_dot_product_" + backEnd + "_attention";
        EXPECT_EQ(workOf(name, {heads, heads, heads}, true), forward) << name;
        EXPECT_EQ(workOf(name + "_backward", {heads, heads, heads, heads, heads, sums}, true), backward) << name;
    }
    // What these call, and what only chooses among them, is counted once: there.
    for (const char* name : {"aten::_flash_attention_forward", "aten::_efficient_attention_backward", "aten::scaled_dot_product_attention",
                             "aten::_scaled_dot_product_attention_math"})
        EXPECT_EQ(workOf(name, {heads, heads, heads, heads}, true), OperationWork()) << name;
}

}  // namespace
}  // namespace stepscope
