// Holds attention over kept keys and values against its reference in double, for widths of heads that fill registers and widths that do not, and
// every number of positions up to a few blocks. Run by CTest under every set.
#include <limits>

#include "Numbers.h"
#include "core/kernels/cached_attention/CachedAttentionCpu.h"

namespace stepscope {
namespace {

using testing::numbers;

template <class T>
class CachedAttention : public ::testing::Test {};
using ElementTypes = ::testing::Types<float, Bf16>;
TYPED_TEST_SUITE(CachedAttention, ElementTypes);

TYPED_TEST(CachedAttention, AttendsOverAllPositionsKeptSoFarAndNoOthers) {
    constexpr std::int64_t kMost = 37, kRoom = 48;
    for (const std::int64_t width : {1, 6, 16, 38, 64, 80}) {
        const CachedHead head{width, 1.0f / std::sqrt(static_cast<float>(width))};
        const auto rows = static_cast<std::size_t>(kMost * width);
        const auto keys = numbers<TypeParam>(rows, 1, 2), values = numbers<TypeParam>(rows, 2);
        const auto queries = numbers<float>(rows, 3, 2);
        const auto wideKeys = testing::widened(keys), wideValues = testing::widened(values);
        // What lies behind the positions must not count, whatever it is.
        const TypeParam nothing = testing::from<TypeParam>(std::numeric_limits<double>::quiet_NaN());
        std::vector<TypeParam> keptKeys(static_cast<std::size_t>(kRoom * width), nothing), keptValues = keptKeys;
        std::vector<float> scores(kRoom), out(static_cast<std::size_t>(width));
        const auto& kernel = cachedAttentionCpu<TypeParam>();
        for (std::int64_t position = 0; position < kMost; ++position) {
            const auto at = static_cast<std::size_t>(position * width);
            kernel.keep(head, wideKeys.data() + at, wideValues.data() + at, position, keptKeys.data(), keptValues.data());
            EXPECT_EQ(toFloat(keptKeys[static_cast<std::size_t>(keyPlace(width, position, width - 1))]),
                      wideKeys[at + static_cast<std::size_t>(width) - 1]);
            kernel.attend(head, queries.data() + at, keptKeys.data(), keptValues.data(), position + 1, scores.data(), out.data());
            const auto seen = at + static_cast<std::size_t>(width);
            std::vector<double> wanted(static_cast<std::size_t>(width)),
                query(queries.begin() + position * width, queries.begin() + (position + 1) * width),
                k(wideKeys.begin(), wideKeys.begin() + static_cast<std::ptrdiff_t>(seen)),
                v(wideValues.begin(), wideValues.begin() + static_cast<std::ptrdiff_t>(seen));
            attendPlainly(query, k, v, head.scale, wanted);
            testing::expectNear(out, std::vector<float>(wanted.begin(), wanted.end()), 1e-5);
            if (this->HasFatalFailure()) FAIL() << "width " << width << ", position " << position;
        }
    }
}

TYPED_TEST(CachedAttention, TakesTheValueOfTheKeyThatIsFarAheadOfTheOthers) {
    const CachedHead head{4, 1};
    std::vector<TypeParam> keys(64), values(64);
    std::vector<float> scores(16), out(4);
    const auto& kernel = cachedAttentionCpu<TypeParam>();
    for (std::int64_t j = 0; j < 3; ++j) {
        const float large = j == 1 ? 100.0f : -100.0f;
        const std::vector<float> key(4, large), value(4, static_cast<float>(j));
        kernel.keep(head, key.data(), value.data(), j, keys.data(), values.data());
    }
    const std::vector<float> query(4, 1.0f);
    kernel.attend(head, query.data(), keys.data(), values.data(), 3, scores.data(), out.data());
    for (const float value : out) EXPECT_EQ(value, 1.0f);
}

}  // namespace
}  // namespace stepscope
