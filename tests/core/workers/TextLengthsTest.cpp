// What another worker says of its text's length is looked at before memory is taken for it. CTest.
#include <gmock/gmock.h>

#include <limits>

#include "core/workers/TextLengths.h"

namespace stepscope {
namespace {

using testing::HasSubstr;

TEST(TextLengths, TextsOfAnyLengthThatIsAllowedAreTaken) {
    EXPECT_TRUE(checkTextLengths({0, 0}));
    EXPECT_TRUE(checkTextLengths({0, static_cast<float>(kMostText), 17}));
    EXPECT_TRUE(checkTextLengths(std::vector<float>(4096, 10'000)));
}

TEST(TextLengths, OneThatNoTextHasNamesItsWorker) {
    constexpr float kNone = std::numeric_limits<float>::quiet_NaN(), kEndless = std::numeric_limits<float>::infinity();
    for (const float length : {-1.0f, static_cast<float>(kMostText) + 1, 1e12f, kNone, kEndless, -kEndless}) {
        const Status checked = checkTextLengths({3, length});
        ASSERT_FALSE(checked) << length;
        EXPECT_THAT(checked.error().sentence, HasSubstr("Worker 1 of 2 says that its text has")) << length;
    }
}

TEST(TextLengths, ManyWorkersWithLongTextsTakeNoGigabytes) {
    const Status checked = checkTextLengths(std::vector<float>(4096, static_cast<float>(kMostText)));
    ASSERT_FALSE(checked);
    EXPECT_THAT(checked.error().sentence, HasSubstr("The longest text of the 4096 workers has 1048576 bytes"));
}

}  // namespace
}  // namespace stepscope
