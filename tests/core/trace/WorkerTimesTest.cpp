// Times of workers as a chunk and back; what a stranger wrote is a sentence.
#include <gmock/gmock.h>

#include "core/trace/WorkerTimes.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;

WorkerTimes someTimes() {
    return {.phases = {"forward", "waiting", "other"},
            .workers = 2,
            .steps = {{.number = 7, .at = 1000}, {.number = 8, .at = 5000}},
            .ns = {300, 0, 5, 200, 100, 5, 310, 0, 4, 205, 105, 4}};
}

TEST(WorkerTimes, ComeBackAsTheyWere) {
    const Chunk chunk = encodeWorkerTimes(someTimes());
    EXPECT_TRUE(checkChunk(chunk));
    EXPECT_EQ(chunk.count, 12);
    const auto back = decodeWorkerTimes(chunk);
    ASSERT_TRUE(back) << back.error().sentence;
    EXPECT_EQ(*back, someTimes());
}

TEST(WorkerTimes, WhatIsCutOffOrDoesNotFitIsRefusedWithItsPlace) {
    const Chunk whole = encodeWorkerTimes(someTimes());
    for (std::size_t size = 0; size < whole.bytes.size(); ++size) {
        Chunk cut = whole;
        cut.bytes.resize(size);
        const auto read = decodeWorkerTimes(cut);
        ASSERT_FALSE(read) << size;
        EXPECT_THAT(read.error().sentence, HasSubstr("A block of workers' times is damaged at byte"));
    }
    Chunk longer = whole, other = whole, early = whole, fewer = whole;
    longer.bytes.push_back(std::byte{0});
    EXPECT_THAT(decodeWorkerTimes(longer).error().sentence, HasSubstr("bytes follow its end"));
    other.kind = "samples/1";
    EXPECT_THAT(decodeWorkerTimes(other).error().sentence, HasSubstr("holds no times of workers"));
    early.end = TimeNs{5000};
    EXPECT_THAT(decodeWorkerTimes(early).error().sentence, HasSubstr("outside of it"));
    fewer.count = 11;
    EXPECT_THAT(decodeWorkerTimes(fewer).error().sentence, HasSubstr("12 times, and its row says 11"));
}

}  // namespace
}  // namespace stepscope
