// What an engine that runs apart cannot send is counted and said, and what follows is numbered as if it had never been. CTest.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "app/workbench/engine/EngineOutlet.h"
#include "app/workbench/engine/StartWords.h"
#include "core/events/Event.h"
#include "sessions/wire/EventWire.h"

namespace stepscope {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KeptFrames final : public EngineOutlet {
public:
    std::vector<std::uint64_t> numbers;
    std::vector<std::string> warnings;
    std::vector<TimeNs> warnedAt;
    std::vector<std::string> refusals;
    int chunks = 0;

private:
    void write(FrameType type, const FrameBytes& payload, std::uint64_t number) override {
        numbers.push_back(number);
        if (type == FrameType::Chunk) ++chunks;
        if (type == FrameType::Refused) refusals.push_back(errorFromBytes(payload).sentence);
        if (type != FrameType::Event) return;
        const auto read = eventFromBytes(payload);
        ASSERT_TRUE(read) << read.error().sentence;
        EXPECT_EQ(read->number, number);
        const auto* line = std::get_if<LogLine>(&read->event);
        if (line == nullptr || line->level != LogLevel::Warning) return;
        warnings.push_back(line->text);
        warnedAt.push_back(line->at);
    }
};

LogLine lineOf(std::size_t bytes, TimeNs at) {
    return {at, 0, LogLevel::Info, std::string(bytes, 'x')};
}

ChunkPtr chunkThatEndsBeforeItBegins() {
    return std::make_shared<const Chunk>(Chunk{.kind = "slices/1", .begin = {5}, .end = {4}});
}

TEST(EngineOutlet, SaysThatAnEventTooLargeForAFrameWasLeftOut) {
    KeptFrames kept;
    kept.publish(lineOf(10, {7}));
    kept.publish(lineOf(kMostFrameBytes, {9}));
    kept.publish(lineOf(10, {11}));
    ASSERT_THAT(kept.warnings, ElementsAre(AllOf(HasSubstr("was left out"), HasSubstr("67.1"))));
    EXPECT_EQ(kept.warnedAt.front().ns, 9);
    EXPECT_THAT(kept.numbers, ElementsAre(1, 2, 3));
}

TEST(EngineOutlet, SaysWhyABlockThatNobodyCouldStoreWasLeftOut) {
    KeptFrames kept;
    kept.publish(lineOf(10, {7}));
    kept.publishChunk(chunkThatEndsBeforeItBegins());
    kept.publishChunk(std::make_shared<const Chunk>(Chunk{.kind = "slices/1"}));
    EXPECT_THAT(kept.warnings, ElementsAre(AllOf(HasSubstr("was left out"), HasSubstr("slices/1 ends before it begins"))));
    EXPECT_EQ(kept.chunks, 1);
    EXPECT_THAT(kept.numbers, ElementsAre(1, 2, 3));
}

TEST(EngineOutlet, SaysFewLinesOfManyThatWereLeftOutAndTheirNumberAtTheEnd) {
    KeptFrames kept;
    for (int i = 0; i < 7; ++i) kept.publishChunk(chunkThatEndsBeforeItBegins());
    ASSERT_EQ(kept.warnings.size(), 3U);
    EXPECT_THAT(kept.warnings.back(), HasSubstr("4 parts have been left out so far"));
    kept.publish(StateChanged{.at = {20}, .state = RunState::Finished});
    ASSERT_EQ(kept.warnings.size(), 4U);
    EXPECT_THAT(kept.warnings.back(), HasSubstr("7 parts of what this run records were left out"));
}

TEST(EngineOutlet, WhatIsNoEventAndTooLargeForAFrameIsOneSentenceAndNothingIsWritten) {
    KeptFrames kept;
    EXPECT_TRUE(kept.send(FrameType::Summary, FrameBytes(kMostFrameBytes)).ok());
    EXPECT_THAT(kept.numbers, ElementsAre(0));
    const Status refused = kept.send(FrameType::Keep, FrameBytes(kMostFrameBytes + 1));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::Unsupported);
    EXPECT_THAT(refused.error().sentence, AllOf(HasSubstr("What the engine has to say takes"), HasSubstr("67.1")));
    EXPECT_THAT(kept.numbers, ElementsAre(0));
    kept.refuse(makeError(ErrorCode::BadInput, std::string(kMostFrameBytes, 'x')));
    EXPECT_THAT(kept.numbers, ElementsAre(0, 0));
    EXPECT_THAT(kept.refusals, ElementsAre(HasSubstr("What the engine has to say takes")));
}

TEST(EngineOutlet, SaysNothingOfARunOfWhichNothingWasLeftOut) {
    KeptFrames kept;
    kept.publish(lineOf(10, {7}));
    kept.publish(StateChanged{.at = {20}, .state = RunState::Finished});
    EXPECT_THAT(kept.warnings, IsEmpty());
}

}  // namespace
}  // namespace stepscope
