// Which part of the moments a worker's State holds: parts that follow each other, about as large as each other, and no byte of the others'.
#include <ATen/ops/equal.h>
#include <ATen/ops/rand_like.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/memory/HostAllocator.h"
#include "core/state/TrainState.h"

namespace stepscope {
namespace {

const GptConfig kLarge{.layers = 3, .heads = 2, .width = 64, .vocabulary = 997, .paddedVocabulary = 997, .positions = 16};

TEST(MomentShare, PartsFollowEachOtherAndAreAboutAsLargeAsEachOther) {
    const ParameterLayout layout(kLarge);
    for (const std::int64_t of : {1, 2, 3, 7, 16}) {
        const auto bounds = momentBounds(layout, of);
        ASSERT_EQ(bounds.size(), static_cast<std::size_t>(of) + 1);
        EXPECT_EQ(bounds.front(), 0);
        EXPECT_EQ(bounds.back(), layout.size());
        for (std::size_t part = 0; part + 1 < bounds.size(); ++part)
            EXPECT_NEAR(bounds[part + 1] - bounds[part], layout.size() / of, 2 * 64 + 16) << of;
    }
}

TEST(MomentShare, CutsAParameterWhereOperationsBeginAnewAnyway) {
    const ParameterLayout layout(kLarge);
    std::int64_t within = 0;
    for (const std::int64_t bound : momentBounds(layout, 16))
        for (const auto& slot : layout.slots())
            if (bound > slot.offset && bound < slot.offset + slot.count) {
                ++within;
                EXPECT_EQ((bound - slot.offset) % 64, 0) << slot.name;
            }
    EXPECT_GT(within, 8) << "most parts begin within a matrix";
}

TEST(MomentShare, OfMoreWorkersThanThereIsToDealOutSomeHaveNothing) {
    const ParameterLayout layout({.layers = 1, .heads = 1, .width = 2, .vocabulary = 3, .paddedVocabulary = 3, .positions = 2});
    const auto bounds = momentBounds(layout, 500);
    EXPECT_TRUE(std::ranges::is_sorted(bounds));
    EXPECT_EQ(bounds.back(), layout.size());
    TrainState state = TrainState::initialise({.layers = 1, .heads = 1, .width = 2, .vocabulary = 3, .paddedVocabulary = 3, .positions = 2}, 1);
    state.convert({.model = state.config, .share = {.rank = 0, .of = 500}});
    EXPECT_EQ(state.firstMoment.numel(), 0);
    EXPECT_TRUE(state.isFinite());
}

TEST(MomentShare, AStateHoldsItsPartAndNoByteMore) {
    host_memory::install();
    TrainState state = TrainState::initialise(kLarge, 3);
    state.firstMoment = at::rand_like(state.weights);
    state.secondMoment = at::rand_like(state.weights);
    const TrainState whole = state.clone();
    const MomentShare share{.rank = 2, .of = 4};
    const MomentRange range = momentRange(state.layout, share);
    const std::int64_t before = host_memory::usage().live.count;
    state.convert({.model = state.config, .share = share});
    const std::int64_t freed = before - host_memory::usage().live.count, others = 2 * 4 * (state.layout.size() - range.count());
    EXPECT_NEAR(freed, others, 1024);
    EXPECT_EQ(state.firstMoment.storage().nbytes(), static_cast<std::size_t>(4 * range.count()));
    EXPECT_TRUE(at::equal(state.firstMoment, whole.firstMoment.narrow(0, range.begin, range.count())));
    EXPECT_TRUE(at::equal(state.secondMoment, whole.secondMoment.narrow(0, range.begin, range.count())));
    EXPECT_TRUE(state.has({.model = state.config, .share = share}));
    EXPECT_FALSE(state.has({.model = state.config, .share = {.rank = 1, .of = 4}}));
    EXPECT_FALSE(state.has({.model = state.config}));

    TrainState restored = whole.clone();
    restored.restore(state);
    EXPECT_EQ(restored.share, share);
    EXPECT_TRUE(at::equal(restored.secondMoment, state.secondMoment));
}

}  // namespace
}  // namespace stepscope
