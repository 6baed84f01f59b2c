// The text of an operation's arguments, taken apart: what the recorder writes, and anything else.
#include <gtest/gtest.h>

#include "core/trace/Slice.h"

namespace stepscope {
namespace {

using Dims = std::vector<std::vector<std::int64_t>>;

TEST(SliceArguments, ReadsTensorsListsAndScalars) {
    const auto all = argumentsOf("Float[4,12] BFloat16[] {Float[3];Half[2,5]} {} int true -");
    ASSERT_EQ(all.size(), 7u);
    EXPECT_EQ(all[0].type, "Float");
    EXPECT_EQ(all[0].dims, (Dims{{4, 12}}));
    EXPECT_EQ(all[1].dims, (Dims{{}})) << "a tensor without dimensions";
    EXPECT_TRUE(all[2].list);
    EXPECT_EQ(all[2].type, "Float");
    EXPECT_EQ(all[2].dims, (Dims{{3}, {2, 5}}));
    EXPECT_TRUE(all[3].list);
    EXPECT_TRUE(all[3].dims.empty());
    EXPECT_EQ(all[4].type, "int");
    EXPECT_TRUE(all[4].dims.empty());
    EXPECT_EQ(all[6].type, "-");
    EXPECT_TRUE(argumentsOf("").empty());
}

TEST(SliceArguments, TakesWhatItCannotReadForAnArgumentWithoutAType) {
    for (const char* text : {"Float[", "Float[4", "[4]", "Float[x]", "Float[-4]", "Float[4,,4]", "Float[99999999999999999999]", "a]b[", "{Float[3;"})
        for (const auto& argument : argumentsOf(text)) EXPECT_TRUE(argument.dims.empty()) << text;
    EXPECT_EQ(argumentsOf("   ").size(), 3u);
}

TEST(SliceArguments, SayOfASumWithAProductInWhatTypeItsFactorsAre) {
    EXPECT_EQ(elementType("Float[50257,768] BFloat16[50257,5248] BFloat16[5248,768] Scalar Scalar"), "BFloat16") << "addmm into float32";
    EXPECT_EQ(elementType("Float[768] BFloat16[64,512] BFloat16[512,768]"), "BFloat16");
    EXPECT_EQ(elementType("Float[8,64,32] Half[8,64,16] Half[8,16,32]"), "Half") << "baddbmm";
    EXPECT_EQ(elementType("BFloat16[16,1024,768] Float[768] Float[768]"), "BFloat16") << "a norm multiplies no matrices";
    EXPECT_EQ(elementType("BFloat16[64,512] BFloat16[512,768]"), "BFloat16");
    EXPECT_EQ(elementType("int -"), "");
}

}  // namespace
}  // namespace stepscope
