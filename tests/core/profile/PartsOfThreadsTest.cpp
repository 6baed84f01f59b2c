// A thread's own part of a recording: its own, found again, and let go of with the recording.
#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

#include "core/profile/PartsOfThreads.h"

namespace stepscope {
namespace {

struct Part {
    int made = 0;
};

TEST(PartsOfThreads, EachThreadJoinsOnceAndFindsItsOwnAgain) {
    PartsOfThreads<Part> parts;
    std::atomic<int> joined{0};
    const auto here = [&]() -> Part& { return parts.here([&] { return std::make_shared<Part>(Part{++joined}); }); };
    Part& mine = here();
    EXPECT_EQ(&here(), &mine);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            Part& own = here();
            EXPECT_NE(&own, &mine);
            EXPECT_EQ(&here(), &own);
        });
    threads.clear();
    EXPECT_EQ(joined, 4);
    EXPECT_EQ(mine.made, 1);
}

TEST(PartsOfThreads, ARecordingAtTheAddressOfAnEarlierOneHasPartsOfItsOwn) {
    std::optional<PartsOfThreads<Part>> parts(std::in_place);
    const auto first = std::make_shared<Part>();
    EXPECT_EQ(&parts->here([&] { return first; }), first.get());
    parts.emplace();
    const auto second = std::make_shared<Part>();
    EXPECT_EQ(&parts->here([&] { return second; }), second.get());
    EXPECT_EQ(first.use_count(), 1) << "the thread has let go of it";
}

TEST(PartsOfThreads, AJoinThatThrowsLeavesThePartThatWas) {
    PartsOfThreads<Part> one, other;
    Part& mine = one.here([] { return std::make_shared<Part>(); });
    EXPECT_THROW(other.here([]() -> std::shared_ptr<Part> { throw std::bad_alloc(); }), std::bad_alloc);
    EXPECT_EQ(&one.here([] { return std::make_shared<Part>(); }), &mine);
}

}  // namespace
}  // namespace stepscope
