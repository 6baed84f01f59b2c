// Vec's arithmetic in the instruction set in use against the C library's, and the choice of that set. Run by CTest under every set.
#include <cstdlib>
#include <cstring>
#include <limits>

#include "Numbers.h"
#include "VecTable.h"

namespace stepscope {
namespace {

const VecTable& vec() {
    return STEPSCOPE_PICK_ISA(vecTable);
}

std::vector<float> ladder(float from, float to, float step) {
    std::vector<float> all;
    for (float x = from; x <= to; x += step) all.push_back(x);
    return all;
}

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Isa, IsTheOneAskedForOrTheHighestThatThisCpuHas) {
    const char* asked = std::getenv("STEPSCOPE_ISA");
    EXPECT_LE(isaInUse(), isaOfThisCpu());
    if (asked == nullptr) {
        EXPECT_EQ(isaInUse(), isaOfThisCpu());
    } else if (isaInUse() != isaOfThisCpu()) {
        EXPECT_STREQ(toString(isaInUse()), asked);
    }
}

TEST(Vec, ExpIsRightToThreeUnitsInTheLastPlace) {
    auto in = ladder(-87.3f, 88.7f, 0.00371f);
    std::vector<float> out(in.size());
    vec().exps(in.data(), out.data(), static_cast<std::int64_t>(in.size()));
    for (std::size_t i = 0; i < in.size(); ++i) {
        const double exact = std::exp(static_cast<double>(in[i]));
        ASSERT_NEAR(out[i] / exact, 1.0, 3 * 5.97e-8) << "at " << in[i];
    }
}

TEST(Vec, ExpOverflowsUnderflowsAndPassesNanOn) {
    const std::vector<float> in{88.8f, 3e38f, kInf, -104.5f, -3e38f, -kInf, kNan, 0.0f, -0.0f};
    std::vector<float> out(in.size());
    vec().exps(in.data(), out.data(), static_cast<std::int64_t>(in.size()));
    for (int i : {0, 1, 2}) EXPECT_EQ(out[static_cast<std::size_t>(i)], kInf);
    for (int i : {3, 4, 5}) EXPECT_EQ(out[static_cast<std::size_t>(i)], 0.0f);
    EXPECT_TRUE(std::isnan(out[6]));
    EXPECT_EQ(out[7], 1.0f);
    EXPECT_EQ(out[8], 1.0f);
}

TEST(Vec, SigmoidAndTanhKeepTheirStatedErrors) {
    auto in = ladder(-80.0f, 80.0f, 0.0137f);
    std::vector<float> sigmoids(in.size()), tanhs(in.size());
    vec().sigmoids(in.data(), sigmoids.data(), static_cast<std::int64_t>(in.size()));
    vec().tanhs(in.data(), tanhs.data(), static_cast<std::int64_t>(in.size()));
    for (std::size_t i = 0; i < in.size(); ++i) {
        const double x = in[i];
        ASSERT_NEAR(sigmoids[i] * (1 + std::exp(-x)), 1.0, 5e-7) << "at " << x;
        ASSERT_NEAR(tanhs[i], std::tanh(x), 3e-7) << "at " << x;
    }
}

TEST(Vec, RoundsToBf16ToNearestEvenAndKeepsNanAndInfinity) {
    std::vector<float> in = testing::numbers<float>(1000, 3, 1e5);
    for (const float x : {1.0f, 1.00390625f, 1.01171875f, -1.00390625f, 3.4e38f, kInf, -kInf, kNan, 0.0f, 1e-30f}) in.push_back(x);
    std::vector<Bf16> out(in.size());
    std::vector<float> back(in.size());
    vec().rounded(in.data(), out.data(), static_cast<std::int64_t>(in.size()));
    vec().widened(out.data(), back.data(), static_cast<std::int64_t>(in.size()));
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (std::isnan(in[i]))
            ASSERT_TRUE(std::isnan(toFloat(out[i])) && std::isnan(back[i]));
        else {
            ASSERT_EQ(out[i].bits, toBf16(in[i]).bits) << in[i];
            ASSERT_EQ(back[i], toFloat(out[i]));
        }
    }
}

TEST(Vec, SumsAndComparesEveryLengthUpToThreeRegisters) {
    const auto in = testing::numbers<float>(48, 9, 2.0);
    for (std::size_t count = 1; count <= in.size(); ++count) {
        double total = 0;
        float most = in[0];
        for (std::size_t i = 0; i < count; ++i) {
            total += in[i];
            most = std::max(most, in[i]);
        }
        EXPECT_NEAR(vec().summed(in.data(), static_cast<std::int64_t>(count)), total, 1e-5);
        EXPECT_EQ(vec().greatest(in.data(), static_cast<std::int64_t>(count)), most);
    }
}

}  // namespace
}  // namespace stepscope
