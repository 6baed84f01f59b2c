// Frames in pieces of any size, what is none, and the first one of an engine. CTest.
#include <gmock/gmock.h>

#include "sessions/wire/EventWire.h"
#include "sessions/wire/Frame.h"
#include "sessions/wire/Hello.h"
#include "sessions/wire/LineWords.h"
#include "sessions/wire/WireIo.h"

namespace stepscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

FrameBytes bytesOf(std::string_view text) {
    const auto* data = reinterpret_cast<const std::byte*>(text.data());
    return {data, data + text.size()};
}

// The sentence with which bytes are refused; empty where they are not.
std::string refusalOf(const FrameBytes& bytes) {
    FrameReader frames;
    frames.add(bytes.data(), bytes.size());
    while (true) {
        const auto frame = frames.next();
        if (!frame) return frame.error().sentence;
        if (!*frame) return {};
    }
}

FrameBytes damagedAt(std::size_t place, int value) {
    FrameBytes all = frameOf(FrameType::Command, bytesOf("first"));
    FrameBytes second = frameOf(FrameType::Event, bytesOf("second"));
    second[place] = static_cast<std::byte>(value);
    all.insert(all.end(), second.begin(), second.end());
    return all;
}

TEST(Frame, ComeOutInOrderHoweverTheyAreCut) {
    FrameBytes all;
    const std::vector<std::pair<FrameType, std::string>> sent{
        {FrameType::Hello, "one"}, {FrameType::Event, ""}, {FrameType::Chunk, std::string(5000, 'x')}};
    for (const auto& [type, text] : sent) {
        const FrameBytes frame = frameOf(type, bytesOf(text));
        all.insert(all.end(), frame.begin(), frame.end());
    }
    for (const std::size_t piece : {1u, 3u, 8u, 100u, 100000u}) {
        FrameReader frames;
        std::vector<Frame> read;
        for (std::size_t at = 0; at < all.size(); at += piece) {
            frames.add(all.data() + at, std::min<std::size_t>(piece, all.size() - at));
            while (true) {
                auto next = frames.next();
                ASSERT_TRUE(next) << next.error().sentence;
                if (!*next) break;
                read.push_back(std::move(**next));
            }
        }
        ASSERT_EQ(read.size(), 3u) << piece;
        EXPECT_EQ(read[0].type, FrameType::Hello);
        EXPECT_EQ(read[0].payload, bytesOf("one"));
        EXPECT_TRUE(read[1].payload.empty());
        EXPECT_EQ(read[2].payload.size(), 5000u);
        EXPECT_FALSE(frames.withinFrame());
        EXPECT_EQ(frames.at(), all.size());
    }
}

TEST(Frame, APartOfOneIsWaitedFor) {
    const FrameBytes frame = frameOf(FrameType::Event, bytesOf("payload"));
    FrameReader frames;
    frames.add(frame.data(), frame.size() - 1);
    const auto next = frames.next();
    ASSERT_TRUE(next);
    EXPECT_FALSE(*next);
    EXPECT_TRUE(frames.withinFrame());
}

TEST(Frame, ABannerBeforeTheFirstIsQuoted) {
    EXPECT_THAT(refusalOf(bytesOf("Welcome to the \x1B[1mrack\n\xF5S")),
                AllOf(HasSubstr("is no engine of Stepscope"), HasSubstr("\"Welcome to the "), Not(HasSubstr("\x1B")), Not(HasSubstr("\n"))));
}

TEST(Frame, WhatIsNoneLaterOnIsOneSentenceWithThePlaceOfItsByte) {
    constexpr int kSecond = 13;  // behind a head of 8 bytes and "first"
    const std::string place = "at byte " + std::to_string(kSecond) + ": ";
    EXPECT_THAT(refusalOf(damagedAt(0, 'x')), HasSubstr(place + "no frame begins there."));
    EXPECT_THAT(refusalOf(damagedAt(2, 9)), HasSubstr(place + "a frame of another version."));
    EXPECT_THAT(refusalOf(damagedAt(3, 0)), HasSubstr(place + "a frame of a type that nobody knows."));
    EXPECT_THAT(refusalOf(damagedAt(3, static_cast<int>(kLastFrameType) + 1)), HasSubstr("a type that nobody knows."));
    EXPECT_THAT(refusalOf(damagedAt(7, 0x7F)), HasSubstr(place + "a frame that is longer than it can be."));
    EXPECT_EQ(refusalOf(damagedAt(8, 'x')), "") << "what is in it is for who reads it";
}

TEST(Frame, AfterAnErrorNothingMoreIsRead) {
    FrameReader frames;
    const FrameBytes banner = bytesOf("hello\n"), good = frameOf(FrameType::Event, {});
    frames.add(banner.data(), banner.size());
    EXPECT_FALSE(frames.next());
    frames.add(good.data(), good.size());
    EXPECT_FALSE(frames.next());
}

constexpr std::uint64_t kLayout = 7;

Frame hello(const Hello& said, std::uint8_t version = kWireVersion) {
    return {.type = FrameType::Hello, .version = version, .payload = helloToBytes(said)};
}

TEST(HelloFrame, OfTheSameProgramTellsItsMachine) {
    const Machine machine{.cpu = "Some CPU", .cores = 5, .memory = {9}};
    const auto read = helloFrom(hello(ownHello(machine, kLayout)), kLayout);
    ASSERT_TRUE(read) << read.error().sentence;
    EXPECT_EQ(read->machine, machine);
    EXPECT_EQ(read->host, hostName());
}

TEST(HelloFrame, TellsWhatIsTrainedThereInFewPrintableWords) {
    Hello said = ownHello({}, kLayout);
    said.going = {"0123456789abcdef: session 1, a run", "\x1b[2Jgone " + std::string(1000, 'x')};
    const auto read = helloFrom(hello(said), kLayout);
    ASSERT_TRUE(read) << read.error().sentence;
    ASSERT_EQ(read->going.size(), 2U);
    EXPECT_EQ(read->going[0], said.going[0]);
    EXPECT_EQ(read->going[1].find('\x1b'), std::string::npos);
    EXPECT_LE(read->going[1].size(), 400U);
    said.going.assign(1000, "an engine");
    EXPECT_EQ(helloFrom(hello(said), kLayout)->going.size(), 10U);
}

TEST(HelloFrame, OfAnotherVersionIsRefusedByOneSentenceThatNamesBoth) {
    Hello other = ownHello({}, kLayout);
    other.program = "9.8.7";
    EXPECT_THAT(helloFrom(hello(other), kLayout).error().sentence, AllOf(HasSubstr("Stepscope 9.8.7"), HasSubstr("Stepscope " STEPSCOPE_VERSION)));
    // A later protocol may say anything behind its version.
    WireWriter later;
    later.bytes().whole(7);
    later.bytes().text("10.0");
    later.bytes().text("what nobody knows yet");
    EXPECT_THAT(helloFrom({.type = FrameType::Hello, .version = 7, .payload = later.take()}, kLayout).error().sentence,
                AllOf(HasSubstr("Stepscope 10.0 (protocol 7)"), HasSubstr("(protocol " + std::to_string(kWireVersion) + ")")));
}

TEST(HelloFrame, OfAnotherBuildWithOtherFieldsIsRefused) {
    Hello other = ownHello({}, kLayout);
    ++other.layout;
    EXPECT_THAT(helloFrom(hello(other), kLayout).error().sentence, HasSubstr("another build of Stepscope"));
}

TEST(HelloFrame, ThatIsDamagedOrAnotherFrameIsRefused) {
    Frame cut = hello(ownHello({}, kLayout));
    cut.payload.pop_back();
    EXPECT_THAT(helloFrom(cut, kLayout).error().sentence, HasSubstr("The engine's first frame from the other side is damaged at byte "));
    EXPECT_THAT(helloFrom({.type = FrameType::Event, .payload = {}}, kLayout).error().sentence, HasSubstr("its first frame does not say who it is"));
}

TEST(HelloFrame, NamesAnEngineByWhatMayStandInACommand) {
    Hello named = ownHello({}, kLayout);
    named.engine = "0123456789abcdef";
    ASSERT_TRUE(helloFrom(hello(named), kLayout));
    EXPECT_EQ(helloFrom(hello(named), kLayout)->engine, named.engine);
    for (const char* other : {"; rm -rf ~ #abcd", "0123456789ABCDEF", "0123456789abcde", "--forget=abcdef0"}) {
        named.engine = other;
        EXPECT_THAT(helloFrom(hello(named), kLayout).error().sentence, HasSubstr("a name that no engine has")) << other;
    }
    named.engine = std::string(17, 'a');
    EXPECT_THAT(helloFrom(hello(named), kLayout).error().sentence, HasSubstr("a text is longer than it can be"));
}

template <class T>
void expectCutsRefused(const FrameBytes& whole, Result<T> (*from)(const FrameBytes&)) {
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_THAT(from(FrameBytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))).error().sentence,
                    HasSubstr("from the other side is damaged at byte "));
    FrameBytes more = whole;
    more.push_back(std::byte{0});
    EXPECT_THAT(from(more).error().sentence, HasSubstr("more bytes follow than belong to it."));
}

TEST(LineWords, ComeBackAsTheyWereAndCutShortAreOneSentence) {
    constexpr std::uint64_t kNumber = 123'456'789'012;
    EXPECT_EQ(attachFromBytes(attachToBytes({kNumber}))->number, kNumber);
    EXPECT_FALSE(attachFromBytes(attachToBytes({kNumber}))->anew);
    EXPECT_TRUE(attachFromBytes(attachToBytes({.number = 0, .anew = true}))->anew);
    const auto attached = attachedFromBytes(attachedToBytes({.commands = kNumber, .behind = 7}));
    ASSERT_TRUE(attached);
    EXPECT_EQ(attached->commands, kNumber);
    EXPECT_EQ(attached->behind, 7u);
    for (const bool all : {false, true}) {
        const auto safe = safeFromBytes(safeToBytes({.number = kNumber, .all = all}));
        ASSERT_TRUE(safe);
        EXPECT_EQ(safe->number, kNumber);
        EXPECT_EQ(safe->all, all);
    }
    expectCutsRefused(attachToBytes({kNumber}), &attachFromBytes);
    expectCutsRefused(attachedToBytes({kNumber}), &attachedFromBytes);
    expectCutsRefused(safeToBytes({.number = kNumber}), &safeFromBytes);
    EXPECT_THAT(safeFromBytes({std::byte{1}, std::byte{2}}).error().sentence, HasSubstr("what is neither yes nor no"));
}

}  // namespace
}  // namespace stepscope
