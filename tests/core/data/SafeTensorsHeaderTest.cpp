// Headers of safetensors files that a stranger wrote: what they claim is bounded by what the file has.
#include <gmock/gmock.h>

#include "core/data/SafeTensorsHeader.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;

TEST(SafeTensorsHeader, GivesTypeShapeAndPlaceOfEachTensor) {
    const auto read = parseSafeTensorsHeader(
        R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"mask":{"dtype":"U8","shape":[4],"data_offsets":[24,28]},
            "odd":{"dtype":"Q4","shape":[9],"data_offsets":[28,30]},"none":{"dtype":"F64","shape":[0],"data_offsets":[30,30]}})",
        30, "f");
    ASSERT_TRUE(read.ok()) << read.error().sentence;
    ASSERT_EQ(read->size(), 4u);
    EXPECT_EQ(read->at("a").shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_TRUE(read->at("a").isReal());
    EXPECT_TRUE(read->at("none").isReal());
    EXPECT_FALSE(read->at("mask").isReal());
    EXPECT_FALSE(read->at("odd").isReal());
    EXPECT_EQ(read->at("mask").begin, 24u);
}

TEST(SafeTensorsHeader, RefusesTensorsThatShareBytes) {
    std::string many = "{";
    for (int i = 0; i < 1000; ++i)
        many += (i > 0 ? "," : "") + ("\"t" + std::to_string(i)) + R"(":{"dtype":"F32","shape":[250000],"data_offsets":[0,1000000]})";
    const auto read = parseSafeTensorsHeader(many + "}", 1'000'000, "f.safetensors");
    ASSERT_FALSE(read.ok()) << "a file of 1 MB must not become 1 GB";
    EXPECT_THAT(read.error().sentence, HasSubstr("overlap"));
    EXPECT_FALSE(parseSafeTensorsHeader(
                     R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", 12, "f")
                     .ok());
}

TEST(SafeTensorsHeader, RefusesANameThatIsThereTwice) {
    const auto read = parseSafeTensorsHeader(
        R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4, "f.safetensors");
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().sentence, "f.safetensors is not a whole safetensors file: its header names a twice.");
}

TEST(SafeTensorsHeader, RefusesWhatDoesNotFitItsDataOrNestsDeep) {
    for (const char* header :
         {R"({"x":{"dtype":"F32","shape":[4],"data_offsets":[0,8]}})", R"({"x":{"dtype":"F32","shape":[1e30],"data_offsets":[0,8]}})",
          R"({"x":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})",
          R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})", R"({"x":{"dtype":7,"shape":[2],"data_offsets":[0,8]}})",
          R"({"x":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})", R"({"x":7})", R"([1])", R"({"x")"}) {
        const auto read = parseSafeTensorsHeader(header, 8, "f");
        ASSERT_FALSE(read.ok()) << header;
        EXPECT_EQ(read.error().code, ErrorCode::Damaged);
    }
    EXPECT_FALSE(parseSafeTensorsHeader("{\"x\":" + std::string(60'000, '[') + std::string(60'000, ']') + "}", 8, "f").ok());
}

}  // namespace
}  // namespace stepscope
