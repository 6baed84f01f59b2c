// A study summed up from its events.
#include <gtest/gtest.h>

#include "core/analysis/StudyHistory.h"
#include "core/events/Event.h"

namespace stepscope {
namespace {

TEST(StudyHistory, TheNewestOfEveryRowIsTheTable) {
    StudyHistory history;
    history.add(StudyBegan{.kind = "ladder", .title = "mine"});
    history.add(StudyRow{.row = 1, .role = "rung", .state = "waiting"});
    history.add(StudyRow{.row = 0, .role = "bottom"});
    history.add(StudyRow{.row = 1, .role = "rung", .state = "measured", .ratio = 2, .seconds = 20});
    ASSERT_EQ(history.rows().size(), 2u);
    EXPECT_EQ(history.rows()[0].role, "bottom");
    EXPECT_EQ(history.rows()[1].state, "measured");
    EXPECT_EQ(history.find("rung")->ratio, 2);
    EXPECT_EQ(history.find("top"), nullptr);
    EXPECT_EQ(history.measuredSeconds(), 20);
    history.add(StudyBegan{.kind = "tune"});
    EXPECT_TRUE(history.rows().empty()) << "a replay that jumped back begins anew";
}

TEST(StudyHistory, NumbersOfRowsThatNobodyMakesAreLeftOut) {
    StudyHistory history;
    for (const std::int64_t row : {std::int64_t{-1}, kMostStudyRows, std::int64_t{1} << 60}) history.add(StudyRow{.row = row});
    EXPECT_TRUE(history.rows().empty());
}

}  // namespace
}  // namespace stepscope
