// How work is cut into blocks: every row, column and parameter is somebody's, exactly once, and no launch exceeds what a device takes.
#include <gtest/gtest.h>

#include <vector>

#include "core/cuda/Launch.h"

namespace stepscope::launch {
namespace {

TEST(Launch, PartsFollowEachOtherFromTheFirstToTheLast) {
    for (const std::int64_t count : {0, 1, 7, 64, 1000003})
        for (const std::int64_t parts : {1, 2, 7, 512}) {
            std::int64_t at = 0;
            for (std::int64_t i = 0; i < parts; ++i) {
                const Range range = part(count, parts, i);
                EXPECT_EQ(range.begin, at);
                EXPECT_LE(range.end - range.begin, ceilDivide(count, parts));
                at = range.end;
            }
            EXPECT_EQ(at, count);
        }
}

TEST(Launch, RowsAreCutIntoChunksThatAreWorthABlock) {
    EXPECT_EQ(rowChunks(0, 16, 512), 1);  // sums of no rows are written too
    EXPECT_EQ(rowChunks(16, 16, 512), 1);
    EXPECT_EQ(rowChunks(17, 16, 512), 2);
    EXPECT_EQ(rowChunks(1 << 20, 16, 512), 512);
}

TEST(Launch, BlocksAreWholeWarpsAndNoLargerThanADeviceTakes) {
    for (const std::int64_t pieces : {0, 1, 31, 192, 6288, 1000000}) {
        const int threads = threadsFor(pieces, 6);
        EXPECT_EQ(threads % kWarp, 0);
        EXPECT_GE(threads, kWarp);
        EXPECT_LE(threads, 1024);
    }
    EXPECT_EQ(threadsFor(192, 2), 96);  // GPT-2 small's rows, two packs of four a thread
}

TEST(Launch, APlaceIsFoundInTheEntryThatHoldsIt) {
    const std::vector<std::int32_t> begins{0, 3, 3, 10};  // the second entry is empty
    const auto at = [&](std::int32_t place) { return entryAt(begins.data(), 4, place); };
    for (const auto& [place, entry] : {std::pair{0, 0}, {2, 0}, {3, 2}, {9, 2}, {10, 3}, {1000, 3}}) EXPECT_EQ(at(place), entry) << place;
    EXPECT_EQ(entryAt(begins.data(), 1, 2), 0);
}

}  // namespace
}  // namespace stepscope::launch
