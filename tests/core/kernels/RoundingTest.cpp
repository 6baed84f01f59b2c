// Rows to bfloat16 and back are what a single element's rounding gives, at every width up to two registers. Run by CTest under every instruction set.
#include <cmath>
#include <limits>

#include "Numbers.h"
#include "core/kernels/rounding/RoundingCpu.h"

namespace stepscope {
namespace {

using testing::numbers;

TEST(Rounding, RoundsARowAsItRoundsEachElementAndWidensItExactly) {
    for (std::size_t count = 1; count <= 33; ++count) {
        const auto values = numbers<float>(count, count, 1e3);
        std::vector<Bf16> halves(count + 1, Bf16{0x1234});
        std::vector<float> back(count + 1, 7.0f);
        roundingCpu().round(values.data(), halves.data(), static_cast<std::int64_t>(count));
        roundingCpu().widen(halves.data(), back.data(), static_cast<std::int64_t>(count));
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_EQ(halves[i].bits, toBf16(values[i]).bits) << values[i];
            EXPECT_EQ(back[i], toFloat(halves[i]));
            EXPECT_LE(std::abs(back[i] - values[i]), std::abs(values[i]) / 256) << values[i];
        }
        EXPECT_EQ(halves[count].bits, 0x1234) << "nothing beyond the row is written";
        EXPECT_EQ(back[count], 7.0f);
    }
}

TEST(Rounding, TiesGoToEvenAndWhatIsNoFiniteNumberStaysNone) {
    const float infinite = std::numeric_limits<float>::infinity();
    const std::vector<float> values{1.00390625f,
                                    1.01171875f,
                                    -1.00390625f,
                                    0.0f,
                                    infinite,
                                    -infinite,
                                    std::numeric_limits<float>::max(),
                                    std::numeric_limits<float>::quiet_NaN()};
    const std::vector<float> wanted{1.0f, 1.015625f, -1.0f, 0.0f, infinite, -infinite, infinite};
    std::vector<Bf16> halves(values.size());
    roundingCpu().round(values.data(), halves.data(), static_cast<std::int64_t>(values.size()));
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(toFloat(halves[i]), wanted[i]) << values[i];
    EXPECT_TRUE(std::isnan(toFloat(halves.back())));
}

}  // namespace
}  // namespace stepscope
