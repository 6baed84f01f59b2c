// Samples and allocations as bytes and back: nothing is lost, order does not matter, and whatever a stranger wrote is refused in a sentence or is
// what it says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "core/trace/AllocationCodec.h"
#include "core/trace/SampleCodec.h"

namespace stepscope {
namespace {

SampleBlock randomSamples(unsigned seed, std::size_t count) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most)); };
    SampleBlock block{
        .lane = below(99), .process = below(9999), .device = below(3) - 1, .rank = below(8), .name = "GPU 0", .lost = below(3), .invalid = 0};
    for (int i = 1; i <= 12; ++i) block.series.push_back({"counter " + std::to_string(i), i % 2 == 0 ? "B" : ""});
    std::int64_t at = below(1LL << 50) - (1LL << 49);
    for (std::size_t i = 0; i < count; ++i) {
        at += below(9) == 0 ? 0 : below(1'000'000);
        const double value = below(3) == 0   ? static_cast<double>(below(1LL << 40))
                             : below(2) == 0 ? -1.0 / static_cast<double>(1 + below(1000))
                                             : std::numeric_limits<double>::denorm_min() * static_cast<double>(below(5));
        // Every series in turn first, so that both tables are of the same order.
        const auto series = static_cast<std::uint32_t>(i < 12 ? i + 1 : 1 + below(12));
        block.samples.push_back({at, series, value});
    }
    if (count < 12) block.series.resize(count + 1);
    return block;
}

AllocationBlock randomAllocations(unsigned seed, std::size_t count) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most)); };
    AllocationBlock block{.lane = below(99), .process = below(9999), .thread = below(9999), .rank = below(8), .lost = below(3), .invalid = 0};
    std::int64_t at = below(1LL << 50);
    for (std::size_t i = 0; i < count; ++i) {
        at += below(1'000'000);
        block.strings.push_back("owner " + std::to_string(i));
        block.allocations.push_back({.at = at,
                                     .address = random(),
                                     .bytes = below(1LL << 40) - (1LL << 39),
                                     .device = below(9) - 1,
                                     .totalAllocated = below(4) == 0 ? -1 : below(1LL << 40),
                                     .totalReserved = below(4) == 0 ? -1 : below(1LL << 40),
                                     .kind = 0,
                                     .owner = static_cast<std::uint32_t>(i + 1)});
        block.allocations.back().kind = i % 3 == 0 ? static_cast<std::uint32_t>(1 + below(static_cast<std::int64_t>(i) + 1)) : 0;
    }
    return block;
}

// Numbered as they are first used, as the codec does.
std::vector<std::string> spelledOut(const AllocationBlock& block) {
    std::vector<std::string> all;
    for (const auto& one : block.allocations)
        all.push_back(std::to_string(one.at) + "|" + std::to_string(one.address) + "|" + std::to_string(one.bytes) + "|" +
                      std::to_string(one.device) + "|" + std::to_string(one.totalAllocated) + "|" + std::to_string(one.totalReserved) + "|" +
                      block.strings.at(one.kind) + "|" + block.strings.at(one.owner));
    return all;
}

template <class Decode>
void refusesTruncation(const Chunk& whole, Decode decode, const std::string& sentence) {
    for (std::size_t size = 0; size < whole.bytes.size(); ++size) {
        Chunk cut = whole;
        cut.bytes.resize(size);
        const auto back = decode(cut);
        ASSERT_FALSE(back) << size << " of " << whole.bytes.size() << " bytes";
        EXPECT_THAT(back.error().sentence, ::testing::MatchesRegex(sentence + " is damaged at byte [0-9]+: .*\\."));
    }
}

TEST(SampleCodec, GivesBackWhatItWasGivenWhateverItIs) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const SampleBlock block = randomSamples(seed, seed * 7 % 300);
        const Chunk chunk = encodeSamples(block, {5});
        ASSERT_TRUE(checkChunk(chunk)) << seed;
        const auto back = decodeSamples(chunk);
        ASSERT_TRUE(back) << seed << ": " << back.error().sentence;
        EXPECT_EQ(*back, block) << seed;
    }
}

TEST(SampleCodec, LeavesOutAndCountsWhatIsNoFiniteNumberOrOfNoSeries) {
    SampleBlock block;
    block.series.push_back({"power", "W"});
    block.samples = {{20, 1, 4.0},
                     {10, 1, 3.5},
                     {10, 0, 1.0},
                     {11, 1, std::numeric_limits<double>::quiet_NaN()},
                     {12, 1, std::numeric_limits<double>::infinity()},
                     {std::numeric_limits<std::int64_t>::max(), 1, 1.0}};
    const auto back = decodeSamples(encodeSamples(block));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->invalid, 4);
    EXPECT_EQ(back->samples, (std::vector<Sample>{{10, 1, 3.5}, {20, 1, 4.0}}));
}

TEST(SampleCodec, AStandingCounterTakesAFewBytesASample) {
    SampleBlock block;
    block.series.push_back({"utilisation", "%"});
    for (int i = 0; i < 1000; ++i) block.samples.push_back({i * 500'000'000LL, 1, 93.0});
    EXPECT_LE(encodeSamples(block).bytes.size(), 8000u);
}

TEST(SampleCodec, RefusesAnyTruncationInASentenceWithThePlace) {
    refusesTruncation(encodeSamples(randomSamples(3, 60)), decodeSamples, "A block of samples");
}

TEST(SampleCodec, TakesAnyBytesForWhatTheyAreWorth) {
    std::mt19937_64 random(11);
    const Chunk whole = encodeSamples(randomSamples(5, 80));
    for (int i = 0; i < 4000; ++i) {
        Chunk changed = whole;
        for (int change = 0; change <= i % 3; ++change) changed.bytes[random() % changed.bytes.size()] = static_cast<std::byte>(random());
        if (const auto back = decodeSamples(changed))
            for (const auto& sample : back->samples) ASSERT_LT(sample.series, back->series.size());
        else
            EXPECT_THAT(back.error().sentence, ::testing::StartsWith("A block of samples is damaged at byte "));
    }
}

TEST(SampleCodec, RefusesWhatIsOfAnotherKindOrDoesNotMatchItsRow) {
    Chunk chunk = encodeSamples(randomSamples(2, 20));
    Chunk other = chunk;
    other.kind = "slices/2";
    EXPECT_EQ(decodeSamples(other).error().sentence, "A block of kind slices/2 holds no samples; those are of kind samples/1.");
    other = chunk;
    other.count += 1;
    EXPECT_THAT(decodeSamples(other).error().sentence, ::testing::HasSubstr("its row says 21"));
    other = chunk;
    other.end.ns = other.begin.ns;
    EXPECT_THAT(decodeSamples(other).error().sentence, ::testing::HasSubstr("outside of the block"));
    other = chunk;
    other.bytes.push_back(std::byte{0});
    EXPECT_THAT(decodeSamples(other).error().sentence, ::testing::HasSubstr("bytes follow its end"));
}

TEST(AllocationCodec, GivesBackWhatItWasGivenWhateverItIs) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const AllocationBlock block = randomAllocations(seed, seed * 7 % 300);
        const Chunk chunk = encodeAllocations(block, {5});
        ASSERT_TRUE(checkChunk(chunk)) << seed;
        const auto back = decodeAllocations(chunk);
        ASSERT_TRUE(back) << seed << ": " << back.error().sentence;
        EXPECT_EQ(spelledOut(*back), spelledOut(block)) << seed;
        EXPECT_EQ(back->thread, block.thread);
        EXPECT_EQ(back->lost, block.lost);
        EXPECT_EQ(back->invalid, 0);
    }
}

TEST(AllocationCodec, KeepsWhoseMemoryTheLostOnesWereAndBelievesNoMoreThanWereLost) {
    AllocationBlock block{.lost = 9, .lostOf = {{.device = -1, .lost = 2}, {.device = 1, .lost = 7}}};
    block.allocations = {{.at = 20, .bytes = 4}};
    const auto back = decodeAllocations(encodeAllocations(block));
    ASSERT_TRUE(back) << back.error().sentence;
    EXPECT_EQ(back->lostOf, block.lostOf);
    block.lostOf.back().lost = 8;
    EXPECT_THAT(decodeAllocations(encodeAllocations(block)).error().sentence, ::testing::HasSubstr("more than all of them together"));
    block.lostOf = {{.device = -2, .lost = 1}};
    EXPECT_THAT(decodeAllocations(encodeAllocations(block)).error().sentence, ::testing::HasSubstr("cannot be"));
    block.lostOf.clear();
    Chunk before = encodeAllocations(block);
    EXPECT_TRUE(decodeAllocations(before).value().lostOf.empty()) << "as blocks were before that was told";
    before.bytes.push_back(std::byte{0});
    EXPECT_THAT(decodeAllocations(before).error().sentence, ::testing::HasSubstr("bytes follow its end"));
}

TEST(AllocationCodec, LeavesOutAndCountsWhatCannotBe) {
    AllocationBlock block;
    block.allocations = {{.at = 20, .bytes = 4}, {.at = 10, .bytes = -4}, {.at = 1, .device = -2}, {.at = 1, .totalReserved = -9}};
    const auto back = decodeAllocations(encodeAllocations(block));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->invalid, 2);
    ASSERT_EQ(back->allocations.size(), 2u);
    EXPECT_EQ(back->allocations[0].bytes, -4);
}

TEST(AllocationCodec, RefusesAnyTruncationInASentenceWithThePlace) {
    refusesTruncation(encodeAllocations(randomAllocations(3, 60)), decodeAllocations, "A block of allocations");
}

TEST(AllocationCodec, TakesAnyBytesForWhatTheyAreWorth) {
    std::mt19937_64 random(12);
    const Chunk whole = encodeAllocations(randomAllocations(5, 80));
    for (int i = 0; i < 4000; ++i) {
        Chunk changed = whole;
        for (int change = 0; change <= i % 3; ++change) changed.bytes[random() % changed.bytes.size()] = static_cast<std::byte>(random());
        if (const auto back = decodeAllocations(changed))
            for (const auto& one : back->allocations) ASSERT_LT(std::max(one.kind, one.owner), back->strings.size());
        else
            EXPECT_THAT(back.error().sentence, ::testing::StartsWith("A block of allocations is damaged at byte "));
    }
}

}  // namespace
}  // namespace stepscope
