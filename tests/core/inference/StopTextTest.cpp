// Where a text ends, and what of it is shown before that is known.
#include <gtest/gtest.h>

#include "core/inference/StopText.h"

namespace stepscope {
namespace {

TEST(StopText, EndsBeforeTheFirstOfItsStops) {
    const StopText stops({"###", "\n\n"});
    EXPECT_EQ(stops.find("one\n\ntwo###"), 3u);
    EXPECT_EQ(stops.find("one#\n#"), std::string::npos);
    EXPECT_EQ(stops.longest(), 3u);
    EXPECT_EQ(StopText({}).find("anything"), std::string::npos);
}

TEST(StopText, HoldsBackWhatMayBecomeAStop) {
    const StopText stops({"###", "\n\nEnd"});
    EXPECT_EQ(stops.settled("text#"), "text");
    EXPECT_EQ(stops.settled("text##"), "text");
    EXPECT_EQ(stops.settled("text\n\nEn"), "text");
    EXPECT_EQ(stops.settled("text\n\nEx"), "text\n\nEx");
    EXPECT_EQ(stops.settled(""), "");
}

TEST(StopText, HoldsBackACharacterThatIsNotWholeYet) {
    const StopText none({});
    EXPECT_EQ(none.settled("caf\xEF\xBF\xBD"), "caf");
    EXPECT_EQ(none.settled("\xEF\xBF\xBD and more"), "\xEF\xBF\xBD and more");
}

}  // namespace
}  // namespace stepscope
