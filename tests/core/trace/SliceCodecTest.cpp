// Slices as bytes and back: nothing is lost, order and cut do not matter, and whatever a stranger wrote is refused in a sentence or is what it says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "core/trace/SliceCodec.h"

namespace stepscope {
namespace {

SliceBlock randomBlock(unsigned seed, std::size_t count) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most)); };
    SliceBlock block{.thread = {.process = 4711,
                                .thread = 4712,
                                .number = 1,
                                .name = "trainer",
                                .lane = below(5),
                                .device = below(3) - 1,
                                .rank = below(8),
                                .processName = "GPU"},
                     .lost = below(3),
                     .invalid = 0};
    for (int i = 1; i < 40; ++i) block.strings.push_back("aten::operation_" + std::to_string(i));
    for (int i = 1; i < 20; ++i) {
        block.arguments.push_back({.text = "Float[" + std::to_string(i) + ",64] int -", .flops = below(1LL << 40), .bytes = below(1LL << 40)});
        if (i % 3 == 0) continue;
        block.arguments.back().grid = {below(1 << 20), below(9), 1};
        block.arguments.back().block = {below(1025), 1, 1};
        block.arguments.back().registers = below(256);
        block.arguments.back().sharedBytes = below(1 << 16);
        block.arguments.back().extra = R"({"context":)" + std::to_string(i) + "}";
    }
    std::int64_t at = below(1LL << 50);
    for (std::size_t i = 0; i < count; ++i) {
        at += below(20'000);
        Slice slice{.start = at, .duration = below(5) == 0 ? 0 : below(200'000), .depth = static_cast<std::int32_t>(below(9))};
        slice.called = slice.duration == 0 ? 0 : below(slice.duration + 1);
        slice.name = static_cast<std::uint32_t>(1 + below(39));
        slice.phase = static_cast<std::uint32_t>(below(40));
        slice.role = static_cast<std::uint32_t>(below(40));
        slice.arguments = static_cast<std::uint32_t>(below(20));
        slice.layer = static_cast<std::int32_t>(below(13)) - 1;
        slice.kind = static_cast<SliceKind>(below(kSliceKinds));
        slice.recomputed = below(10) == 0;
        slice.step = below(3) + 100;
        slice.sequence = below(3) == 0 ? below(1LL << 40) : -1;
        slice.forwardThread = slice.kind == SliceKind::Backward ? below(3) : 0;
        slice.forwardStart = slice.kind == SliceKind::Backward ? below(at + 1) : 0;
        slice.correlation = below(4) == 0 ? below(1LL << 60) : 0;
        slice.external = below(2) == 0 ? below(1LL << 40) : 0;
        block.slices.push_back(slice);
    }
    return block;
}

// With texts in the place of numbers, so that blocks of other tables compare.
std::vector<std::string> spelledOut(const SliceBlock& block) {
    std::vector<std::string> all;
    for (const auto& s : block.slices) {
        const auto& arguments = block.arguments.at(s.arguments);
        std::string text = block.strings.at(s.name) + "|" + block.strings.at(s.phase) + "|" + block.strings.at(s.role) + "|" + arguments.text;
        for (const std::int64_t value : {arguments.flops,
                                         arguments.bytes,
                                         s.start,
                                         s.duration,
                                         s.called,
                                         std::int64_t{s.depth},
                                         std::int64_t{s.layer},
                                         static_cast<std::int64_t>(s.kind),
                                         std::int64_t{s.recomputed},
                                         s.step,
                                         s.sequence,
                                         s.forwardThread,
                                         s.forwardStart,
                                         s.correlation,
                                         s.external,
                                         arguments.grid[0],
                                         arguments.grid[1],
                                         arguments.grid[2],
                                         arguments.block[0],
                                         arguments.block[1],
                                         arguments.block[2],
                                         arguments.registers,
                                         arguments.sharedBytes})
            text += "|" + std::to_string(value);
        text += "|" + arguments.extra;
        all.push_back(text);
    }
    std::ranges::sort(all);
    return all;
}

TEST(SliceCodec, GivesBackWhatItWasGivenWhateverItIs) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const SliceBlock block = randomBlock(seed, seed * 7 % 300);
        const Chunk chunk = encodeSlices(block, {5});
        ASSERT_TRUE(checkChunk(chunk)) << seed;
        const auto back = decodeSlices(chunk);
        ASSERT_TRUE(back) << seed << ": " << back.error().sentence;
        EXPECT_EQ(spelledOut(*back), spelledOut(block)) << seed;
        EXPECT_EQ(back->thread, block.thread);
        EXPECT_EQ(back->lost, block.lost);
        EXPECT_EQ(back->invalid, 0);
        EXPECT_TRUE(std::ranges::is_sorted(back->slices, {}, &Slice::start));
        for (const auto& slice : back->slices) {
            EXPECT_GE(slice.start, chunk.begin.ns);
            EXPECT_LT(slice.start, chunk.end.ns) << "its range is half-open";
            EXPECT_LE(slice.start + slice.duration, chunk.end.ns);
        }
    }
}

TEST(SliceCodec, AnyCutGivesTheSameSlices) {
    const SliceBlock whole = randomBlock(7, 1000);
    const auto wanted = spelledOut(whole);
    for (const std::size_t most : {1UL, 3UL, 64UL, 999UL, 5000UL}) {
        std::vector<std::string> found;
        for (std::size_t from = 0; from < whole.slices.size(); from += most) {
            SliceBlock part = whole;
            part.slices.assign(whole.slices.begin() + static_cast<std::ptrdiff_t>(from),
                               whole.slices.begin() + static_cast<std::ptrdiff_t>(std::min(whole.slices.size(), from + most)));
            const auto back = decodeSlices(encodeSlices(part));
            ASSERT_TRUE(back) << back.error().sentence;
            const auto some = spelledOut(*back);
            found.insert(found.end(), some.begin(), some.end());
        }
        std::ranges::sort(found);
        EXPECT_EQ(found, wanted) << "blocks of " << most;
    }
}

TEST(SliceCodec, KeepsTheNamesThatAreUsedAndNoOthers) {
    SliceBlock block = randomBlock(1, 0);
    block.slices = {{.start = 10, .duration = 5, .name = 30}};
    const auto back = decodeSlices(encodeSlices(block));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->strings, (std::vector<std::string>{"", "aten::operation_30"}));
    EXPECT_EQ(back->arguments.size(), 1u);
}

TEST(SliceCodec, LeavesOutAndCountsWhatCannotBe) {
    SliceBlock block;
    block.slices = {{.start = 10, .duration = -1},
                    {.start = 10, .duration = 5, .called = 6},
                    {.start = std::numeric_limits<std::int64_t>::max(), .duration = 1},
                    {.start = 10, .duration = 5, .called = 5}};
    const auto back = decodeSlices(encodeSlices(block));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->invalid, 3);
    EXPECT_EQ(back->slices.size(), 1u);
}

TEST(SliceCodec, CarriesCountsWithoutAnySlice) {
    SliceBlock block{.thread = {.thread = 3}, .lost = 12};
    const Chunk chunk = encodeSlices(block, {77});
    EXPECT_EQ(chunk.begin.ns, 77);
    const auto back = decodeSlices(chunk);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->lost, 12);
    EXPECT_TRUE(back->slices.empty());
}

TEST(SliceCodec, CutsNamesThatAreTooLong) {
    SliceBlock block;
    block.strings.emplace_back();
    block.strings.back().resize(10'000'000, 'x');
    block.slices = {{.start = 1, .duration = 1, .name = 1}};
    const Chunk chunk = encodeSlices(block);
    EXPECT_LT(chunk.bytes.size(), kLongestSliceName + 1000);
    const auto back = decodeSlices(chunk);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->strings[1].size(), kLongestSliceName);
}

TEST(SliceCodec, RefusesAnyTruncationInASentenceWithThePlace) {
    const Chunk whole = encodeSlices(randomBlock(3, 60));
    for (std::size_t size = 0; size < whole.bytes.size(); ++size) {
        Chunk cut = whole;
        cut.bytes.resize(size);
        const auto back = decodeSlices(cut);
        ASSERT_FALSE(back) << size << " of " << whole.bytes.size() << " bytes";
        EXPECT_THAT(back.error().sentence, ::testing::MatchesRegex("A block of slices is damaged at byte [0-9]+: .*\\."));
    }
}

TEST(SliceCodec, TakesAnyBytesForWhatTheyAreWorth) {
    std::mt19937_64 random(11);
    const Chunk whole = encodeSlices(randomBlock(5, 80));
    for (int i = 0; i < 4000; ++i) {
        Chunk changed = whole;
        for (int change = 0; change <= i % 3; ++change) changed.bytes[random() % changed.bytes.size()] = static_cast<std::byte>(random());
        if (const auto back = decodeSlices(changed))
            for (const auto& slice : back->slices) {
                ASSERT_LT(slice.name, back->strings.size());
                ASSERT_LT(slice.arguments, back->arguments.size());
                ASSERT_GE(slice.self(), 0);
            }
        else
            EXPECT_THAT(back.error().sentence, ::testing::StartsWith("A block of slices is damaged at byte "));
    }
}

TEST(SliceCodec, StillReadsBlocksThatWereRecordedBeforeThereWereStreams) {
    // As "slices/1" had it: process 7, thread 8, number 1, "t", nothing lost or invalid, one name, no arguments, one slice and a byte or two of each
    // of 15 columns.
    Chunk chunk{.kind = kSlicesBefore, .lane = 8, .begin = {100}, .end = {150}, .count = 1, .bytes = {}};
    for (const int byte : {14, 16, 2, 1, 0x74, 0, 0, 1, 4, 0x61, 0x64, 0x64, 0x21, 0, 1, 0, 50, 20, 1, 0, 1, 0, 0x81, 1, 4, 10, 18, 7, 3, 0, 5})
        chunk.bytes.push_back(static_cast<std::byte>(byte));
    const auto back = decodeSlices(chunk);
    ASSERT_TRUE(back) << back.error().sentence;
    ASSERT_EQ(back->slices.size(), 1u);
    const Slice& slice = back->slices.front();
    EXPECT_EQ(back->thread, (SliceThread{.process = 7, .thread = 8, .number = 1, .name = "t"}));
    EXPECT_EQ(back->strings.at(slice.name), "add!");
    EXPECT_EQ(slice.start, 100);
    EXPECT_EQ(slice.duration, 50);
    EXPECT_EQ(slice.called, 20);
    EXPECT_EQ(slice.kind, SliceKind::Own);
    EXPECT_TRUE(slice.recomputed);
    EXPECT_EQ(slice.step, 9);
    EXPECT_EQ(slice.correlation, 2);
}

TEST(SliceCodec, TheStepNumberedZeroIsToldFromNoStepWhichIsStoredAsItAlwaysWas) {
    SliceBlock block{.thread = {.thread = 8}, .strings = {""}};
    for (const std::int64_t step : {std::int64_t{0}, kNoStep, std::int64_t{1}, std::int64_t{0}})
        block.slices.push_back({.start = static_cast<std::int64_t>(block.slices.size()), .duration = 1, .step = step});
    const auto back = decodeSlices(encodeSlices(block));
    ASSERT_TRUE(back) << back.error().sentence;
    EXPECT_EQ(back->slices, block.slices);
    // As "slices/1" had it, whose column of steps is always there: one slice, its step 0.
    Chunk before{.kind = kSlicesBefore, .lane = 8, .begin = {100}, .end = {150}, .count = 1, .bytes = {}};
    for (const int byte : {14, 16, 2, 1, 0x74, 0, 0, 1, 4, 0x61, 0x64, 0x64, 0x21, 0, 1, 0, 50, 20, 1, 0, 1, 0, 0x81, 1, 4, 10, 0, 7, 3, 0, 5})
        before.bytes.push_back(static_cast<std::byte>(byte));
    const auto read = decodeSlices(before);
    ASSERT_TRUE(read) << read.error().sentence;
    EXPECT_EQ(read->slices.at(0).step, kNoStep);
}

TEST(SliceCodec, RefusesACountThatTheBytesCannotHold) {
    Chunk chunk = encodeSlices(SliceBlock{});
    ASSERT_EQ(std::to_integer<int>(chunk.bytes.back()), 0) << "the number of slices";
    chunk.bytes.pop_back();
    for (const int byte : {0xff, 0xff, 0xff, 0xff, 0x0f}) chunk.bytes.push_back(static_cast<std::byte>(byte));
    const auto back = decodeSlices(chunk);
    ASSERT_FALSE(back);
    EXPECT_THAT(back.error().sentence, ::testing::HasSubstr("there are more slices than bytes"));
}

TEST(SliceCodec, RefusesATextThatReachesBeyondTheBytesByLessThanItsOwnSize) {
    Chunk chunk{.kind = kSlices, .lane = 0, .begin = {0}, .end = {1}, .count = 0, .bytes = {}};
    for (const int byte : {0, 0, 0, 2, 120}) chunk.bytes.push_back(static_cast<std::byte>(byte));
    const auto back = decodeSlices(chunk);
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().sentence, "A block of slices is damaged at byte 4: a text is longer than it can be.");
}

TEST(SliceCodec, RefusesWhatIsOfAnotherKindOrDoesNotMatchItsRow) {
    Chunk chunk = encodeSlices(randomBlock(2, 10));
    Chunk other = chunk;
    other.kind = "pairs/1";
    EXPECT_EQ(decodeSlices(other).error().sentence, "A block of kind pairs/1 holds no slices; those are of kind slices/2.");
    other = chunk;
    other.count += 1;
    EXPECT_THAT(decodeSlices(other).error().sentence, ::testing::HasSubstr("its row says 11"));
    other = chunk;
    other.end.ns = other.begin.ns;
    EXPECT_THAT(decodeSlices(other).error().sentence, ::testing::HasSubstr("outside of the block"));
    other = chunk;
    other.bytes.push_back(std::byte{0});
    EXPECT_THAT(decodeSlices(other).error().sentence, ::testing::HasSubstr("bytes follow its end"));
}

}  // namespace
}  // namespace stepscope
