// Holds the layout kernels against index arithmetic written here. Run by CTest under every instruction set.
#include "Numbers.h"
#include "core/kernels/qkv_layout/QkvLayoutCpu.h"

namespace stepscope {
namespace {

using testing::numbers;
using testing::widened;

template <class T>
class QkvLayout : public ::testing::Test {};
using ElementTypes = ::testing::Types<float, Bf16>;
TYPED_TEST_SUITE(QkvLayout, ElementTypes);

TYPED_TEST(QkvLayout, SplitsRowsIntoHeadsWithTheirBiasAndMergesThemBack) {
    const std::int64_t B = 2;
    for (const HeadShape shape : {HeadShape{3, 2, 5}, HeadShape{1, 1, 1}, HeadShape{4, 3, 16}, HeadShape{2, 2, 19}})
        for (const std::int64_t parts : {1L, 3L}) {
            const std::int64_t C = shape.heads * shape.width, count = B * shape.context, block = count * C;
            const auto rows = numbers<TypeParam>(static_cast<std::size_t>(parts * block), 1);
            const auto bias = numbers<float>(static_cast<std::size_t>(parts * C), 2);
            std::vector<TypeParam> heads(rows.size()), moved(rows.size()), back(rows.size());
            TypeParam* to[3] = {heads.data(), heads.data() + block, heads.data() + 2 * block};
            TypeParam* plain[3] = {moved.data(), moved.data() + block, moved.data() + 2 * block};
            const TypeParam* of[3] = {plain[0], plain[1], plain[2]};
            const auto& kernel = qkvLayoutCpu<TypeParam>();
            kernel.split(shape, parts, rows.data(), bias.data(), to, 0, 1);
            kernel.split(shape, parts, rows.data(), bias.data(), to, 1, count);
            kernel.split(shape, parts, rows.data(), nullptr, plain, 0, count);
            std::vector<float> sums(bias.size()), same(bias.size());
            kernel.merge(shape, parts, of, back.data(), sums.data(), 0, count);
            kernel.columnSums(parts * C, rows.data(), same.data(), 0, count);
            EXPECT_EQ(widened(back), widened(rows));
            EXPECT_EQ(sums, same);
            for (std::int64_t r = 0; r < count; ++r)
                for (std::int64_t column = 0; column < parts * C; ++column) {
                    const std::int64_t p = column / C, h = column % C / shape.width, d = column % shape.width;
                    const std::int64_t at = p * block + ((r / shape.context * shape.heads + h) * shape.context + r % shape.context) * shape.width + d;
                    const double wanted = toFloat(rows[static_cast<std::size_t>(r * parts * C + column)]) + bias[static_cast<std::size_t>(column)];
                    ASSERT_NEAR(toFloat(heads[static_cast<std::size_t>(at)]), wanted, testing::tolerance<TypeParam>(2.0));
                }
            for (std::int64_t column = 0; column < parts * C; ++column) {
                double wanted = 0;
                for (std::int64_t r = 0; r < count; ++r) wanted += toFloat(rows[static_cast<std::size_t>(r * parts * C + column)]);
                EXPECT_NEAR(sums[static_cast<std::size_t>(column)], wanted, 1e-5);
            }
        }
}

}  // namespace
}  // namespace stepscope
