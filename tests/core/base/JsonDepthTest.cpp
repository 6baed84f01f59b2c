// How deep a JSON text nests, asked before a parser sees it.
#include <gtest/gtest.h>

#include <string>

#include "core/base/JsonDepth.h"

namespace stepscope {
namespace {

TEST(JsonDepth, CountsOpenBracketsAndBraces) {
    EXPECT_FALSE(nestsDeeper(R"({"a":[{"b":1}]})", 3));
    EXPECT_TRUE(nestsDeeper(R"({"a":[{"b":1}]})", 2));
    EXPECT_FALSE(nestsDeeper("[][][][]", 1)) << "one after the other is not one in the other";
    EXPECT_TRUE(nestsDeeper(std::string(60'000, '[')));
}

TEST(JsonDepth, LeavesOutWhatIsInsideOfStrings) {
    EXPECT_FALSE(nestsDeeper(R"(["[[[[[[", "\"[[[["])", 1));
    EXPECT_TRUE(nestsDeeper(R"(["[", ["x"]])", 1));
    EXPECT_FALSE(nestsDeeper("\"[[[[", 1)) << "a string that nothing ends";
}

}  // namespace
}  // namespace stepscope
