// Holds the layout kernels against their plain reference, and that against a table written out by hand. Run by CTest under every instruction set.
#include "Numbers.h"
#include "core/kernels/qkv_layout/QkvLayout.h"

namespace stepscope {
namespace {

using testing::numbers;
using testing::widened;

template <class T>
class QkvLayout : public ::testing::Test {};
using ElementTypes = ::testing::Types<float, Bf16>;
TYPED_TEST_SUITE(QkvLayout, ElementTypes);

TEST(QkvLayoutReference, PutsTheHeadsOfEachPartOneAfterTheOther) {
    const HeadShape shape{.context = 2, .heads = 2, .width = 1};
    // Two tokens; of each, two heads of part 0 and two of part 1.
    const std::vector<float> rows{1, 2, 3, 4, 5, 6, 7, 8}, heads{1, 5, 2, 6, 3, 7, 4, 8};
    EXPECT_EQ(qkvLayoutSplit(shape, 2, rows, {}), heads);
    EXPECT_EQ(qkvLayoutMerge(shape, 2, heads), rows);
    EXPECT_EQ(qkvLayoutSplit(shape, 2, rows, std::vector<float>{10, 20, 30, 40}), (std::vector<float>{11, 15, 22, 26, 33, 37, 44, 48}));
    EXPECT_EQ(qkvLayoutColumnSums(4, rows), (std::vector<float>{6, 8, 10, 12}));
}

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
            const auto wide = widened(rows);
            EXPECT_EQ(widened(moved), qkvLayoutSplit(shape, parts, wide, {}));
            testing::expectNear(heads, qkvLayoutSplit(shape, parts, wide, bias));
            testing::expectNear(sums, qkvLayoutColumnSums(parts * C, wide), 1e-5);
        }
}

}  // namespace
}  // namespace stepscope
