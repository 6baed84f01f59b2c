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

}  // namespace
}  // namespace stepscope
