// Two builds of one version whose words have other fields do not talk to each other: what is said beside events counts as well. CTest.
#include <gmock/gmock.h>

#include "app/workbench/engine/StartWords.h"
#include "sessions/wire/EventWire.h"
#include "sessions/wire/LayoutWords.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;

Frame helloOfLayout(std::uint64_t layout) {
    return {.type = FrameType::Hello, .payload = helloToBytes(ownHello(Machine{.cores = 1}, layout))};
}

TEST(EngineHello, OfABuildThatAgreesOnEventsAloneIsRefused) {
    LayoutWords events;
    addWireLayout(events);
    ASSERT_THAT(engineLayout().words(), HasSubstr(events.words()));
    EXPECT_TRUE(engineHelloFrom(helloOfLayout(engineLayout().hash())));
    const auto other = engineHelloFrom(helloOfLayout(events.hash()));
    ASSERT_FALSE(other);
    EXPECT_THAT(other.error().sentence, HasSubstr("another build of Stepscope"));
}

TEST(EngineHello, CountsRequestsPlacesAndSummaries) {
    for (const char* field : {"may_be_done:b", "capture_cap:i8 ", "checkpoint_folder:", "chunk_bytes:i8 ", "lost_checkpoints:i8 ", "scheduled "})
        EXPECT_THAT(engineLayout().words(), HasSubstr(field));
}

}  // namespace
}  // namespace stepscope
