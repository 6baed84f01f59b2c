// Memory in use over a range, against what was in use at every nanosecond of it, however the recording was cut into blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

#include "core/analysis/panes/MemoryCurve.h"

namespace stepscope {
namespace {

// A program that takes and gives back, one thing at a time.
struct Recording {
    std::vector<Allocation> events;
    std::vector<std::int64_t> inUse;   // by ns, after what happened then
    std::vector<std::int64_t> blocks;  // by ns: how many pieces are alive

    explicit Recording(std::mt19937& random) {
        std::vector<Allocation> alive;
        std::int64_t level = 0;
        std::uint64_t address = 1;
        for (std::int64_t at = 0; at < 200; ++at) {
            if (random() % 2 == 0) {
                if (!alive.empty() && random() % 5 < 2) {
                    std::swap(alive[random() % alive.size()], alive.back());
                    events.push_back({.at = at, .address = alive.back().address, .bytes = -alive.back().bytes});
                    alive.pop_back();
                } else {
                    events.push_back({.at = at, .address = address++, .bytes = 1 + static_cast<std::int64_t>(random() % 100), .kind = 1});
                    alive.push_back(events.back());
                }
                level += events.back().bytes;
            }
            inUse.push_back(level);
            blocks.push_back(static_cast<std::int64_t>(alive.size()));
        }
    }
    std::vector<AllocationBlock> cut(std::mt19937& random) const {
        std::vector<AllocationBlock> all;
        for (std::size_t at = 0; at < events.size();) {
            const std::size_t count = std::min<std::size_t>(events.size() - at, 1 + random() % 20);
            AllocationBlock block;
            block.strings = {"", "activations"};
            block.allocations.assign(events.begin() + static_cast<std::ptrdiff_t>(at), events.begin() + static_cast<std::ptrdiff_t>(at + count));
            all.push_back(std::move(block));
            at += count;
        }
        std::ranges::shuffle(all, random);
        return all;
    }
};

TEST(MemoryCurve, TheHighestPointOfARangeIsThatOfEveryNanosecondOfIt) {
    std::mt19937 random(7);
    for (int round = 0; round < 60; ++round) {
        const Recording recording(random);
        MemoryCurve curve;
        for (const auto& block : recording.cut(random)) ASSERT_TRUE(curve.add(block));
        for (int range = 0; range < 20; ++range) {
            const auto from = static_cast<std::int64_t>(random() % 199),
                       to = from + 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(200 - from));
            std::int64_t taken = 0, freed = 0, allocations = 0;
            bool some = false;
            for (const Allocation& one : recording.events) {
                if (one.at < from || one.at >= to) continue;
                some = true;
                (one.bytes > 0 ? taken : freed) += std::abs(one.bytes);
                allocations += one.bytes > 0 ? 1 : 0;
            }
            const auto found = curve.result(from, to);
            ASSERT_EQ(found.size(), some ? 1u : 0u);
            if (!some) continue;
            // Before the first that was recorded nothing is known.
            const std::int64_t known = std::max(from, recording.events.front().at);
            const auto highest = std::max_element(recording.inUse.begin() + known, recording.inUse.begin() + to);
            EXPECT_EQ(found[0].peak, *highest) << from << " to " << to;
            EXPECT_EQ(found[0].peakAt, highest - recording.inUse.begin()) << from << " to " << to;
            EXPECT_EQ(found[0].aliveBytes, *highest) << "all of it has an address";
            std::int64_t pieces = 0;
            for (const MemoryOwner& owner : found[0].alive) pieces += owner.count;
            EXPECT_EQ(pieces, recording.blocks[static_cast<std::size_t>(found[0].peakAt)]);
            EXPECT_EQ(found[0].alivePieces, pieces);
            ASSERT_EQ(static_cast<std::int64_t>(found[0].pieces.size()), pieces);
            std::int64_t ofPieces = 0;
            for (const MemoryPiece& piece : found[0].pieces) {
                ofPieces += piece.bytes;
                EXPECT_LE(piece.at, found[0].peakAt);
                EXPECT_LE(piece.bytes, found[0].pieces.front().bytes) << "the largest first";
            }
            EXPECT_EQ(ofPieces, *highest);
            EXPECT_EQ(found[0].taken, taken);
            EXPECT_EQ(found[0].freed, freed);
            EXPECT_EQ(found[0].allocations, allocations);
            EXPECT_EQ(found[0].curve.front().first, known) << "drawn from where it is known";
            for (const auto& [at, bytes] : found[0].curve) EXPECT_EQ(bytes, recording.inUse[static_cast<std::size_t>(at)]) << at;
        }
    }
}

TEST(MemoryCurve, OfARangeInWhichMemoryIsOnlyGivenBackTheBeginningIsTheHighest) {
    AllocationBlock block;
    block.allocations = {{.at = 10, .address = 1, .bytes = 600, .device = 0, .totalAllocated = 5600, .totalReserved = 8192},
                         {.at = 20, .address = 1, .bytes = -600, .device = 0, .totalAllocated = 5000, .totalReserved = 4096}};
    MemoryCurve curve;
    ASSERT_TRUE(curve.add(block));
    const auto found = curve.result(15, 30);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].peak, 5600);
    EXPECT_EQ(found[0].peakAt, 15);
    EXPECT_EQ(found[0].reserved, 8192) << "the allocator had that much as the range began";
    EXPECT_EQ(found[0].aliveBytes, 600) << "of the rest nobody recorded who took it";
    EXPECT_EQ(found[0].allocations, 0);
    EXPECT_EQ(found[0].freed, 600);
    // From the very instant on it is given back.
    EXPECT_EQ(curve.result(20, 30).front().peak, 5000);
}

TEST(MemoryCurve, APeakThatIsShorterThanAPixelIsNotHeldUntilSomethingHappensAgain) {
    AllocationBlock block;
    block.allocations = {{.at = 100, .address = 1, .bytes = 50},       {.at = 1010, .address = 2, .bytes = 10},
                         {.at = 1020, .address = 3, .bytes = 900},     {.at = 1030, .address = 3, .bytes = -900},
                         {.at = 1040, .address = 4, .bytes = 5},       {.at = 1'500'000, .address = 5, .bytes = 1},
                         {.at = 1'500'010, .address = 5, .bytes = -1}, {.at = 1'500'020, .address = 2, .bytes = -10}};
    MemoryCurve curve;
    ASSERT_TRUE(curve.add(block));
    const auto found = curve.result(0, 2'000'000);  // a part of it is 1000 ns
    ASSERT_EQ(found.size(), 1u);
    const auto levelAt = [&](std::int64_t at) {
        std::int64_t level = 0;
        for (const auto& [when, bytes] : found[0].curve)
            if (when <= at) level = bytes;
        return level;
    };
    EXPECT_EQ(found[0].peak, 960);
    EXPECT_EQ(levelAt(found[0].peakAt), 960) << "where it was";
    EXPECT_EQ(levelAt(500'000), 65);
    EXPECT_EQ(levelAt(1'999'999), 55) << "what is in use at the end";
    EXPECT_LE(found[0].curve.size(), 2 * MemoryCurve::kPoints + 2);
    EXPECT_TRUE(std::ranges::is_sorted(found[0].curve, {}, [](const auto& point) { return point.first; }));
}

TEST(MemoryCurve, OfVeryManyPiecesTheLargestAreListedAndAllCounted) {
    AllocationBlock block;
    const auto many = static_cast<std::int64_t>(MemoryCurve::kMostPieces) + 100;
    for (std::int64_t i = 1; i <= many; ++i) block.allocations.push_back({.at = i, .address = static_cast<std::uint64_t>(i), .bytes = i});
    MemoryCurve curve;
    ASSERT_TRUE(curve.add(block));
    const auto found = curve.result(0, many + 1);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].alivePieces, many);
    ASSERT_EQ(found[0].pieces.size(), MemoryCurve::kMostPieces);
    EXPECT_EQ(found[0].pieces.front().bytes, many);
    EXPECT_EQ(found[0].pieces.back().bytes, 101);
}

TEST(MemoryCurve, KeepsDevicesAndWorkersApart) {
    MemoryCurve curve;
    for (const std::int64_t rank : {1, 0}) {
        AllocationBlock block;
        block.rank = rank;
        block.allocations = {{.at = 1, .address = 7, .bytes = 10 + rank, .device = 0}, {.at = 2, .address = 7, .bytes = 20 + rank, .device = -1}};
        ASSERT_TRUE(curve.add(block));
    }
    const auto found = curve.result(0, 10);
    ASSERT_EQ(found.size(), 4u);
    std::vector<std::vector<std::int64_t>> all;
    for (const MemoryOfDevice& one : found) all.push_back({one.rank, one.device, one.peak});
    EXPECT_EQ(all, (std::vector<std::vector<std::int64_t>>{{0, -1, 20}, {0, 0, 10}, {1, -1, 21}, {1, 0, 11}}));
}

TEST(MemoryCurve, GivingBackWhatWasTakenBeforeTheRecordingLeavesOwnersAlone) {
    AllocationBlock block;
    block.strings = {"", "weights", "aten::mm"};
    block.allocations = {{.at = 1, .address = 5, .bytes = -400}, {.at = 2, .address = 6, .bytes = 100, .kind = 1, .owner = 2}};
    MemoryCurve curve;
    ASSERT_TRUE(curve.add(block));
    const auto found = curve.result(0, 10);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].peak, -300) << "counted from the first that was recorded";
    ASSERT_EQ(found[0].alive.size(), 1u);
    EXPECT_EQ(found[0].alive[0].owner, "aten::mm");
    EXPECT_EQ(found[0].aliveBytes, 100);
}

TEST(MemoryCurve, NumbersOfAStrangerAtTheEndsOfTheirRangeDoNotOverflow) {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    AllocationBlock block;
    for (std::int64_t i = 0; i < 4; ++i) block.allocations.push_back({.at = i, .address = static_cast<std::uint64_t>(i), .bytes = kMost});
    for (std::int64_t i = 4; i < 9; ++i) block.allocations.push_back({.at = i, .address = 99, .bytes = std::numeric_limits<std::int64_t>::min()});
    MemoryCurve curve;
    ASSERT_TRUE(curve.add(block));
    const auto found = curve.result(0, 100);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].allocations, 4);
    EXPECT_GT(found[0].peak, 0);
    EXPECT_GT(found[0].taken, 0);
    EXPECT_GT(found[0].freed, 0);
    EXPECT_GT(found[0].aliveBytes, 0);
}

}  // namespace
}  // namespace stepscope
