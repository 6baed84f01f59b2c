// What an export has to know of all slices before it writes the first: it holds little of each, and answers as if it held them all.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "sessions/exporters/KinetoRows.h"
#include "sessions/exporters/LaunchIds.h"
#include "sessions/exporters/PerfettoPackets.h"

namespace stepscope {
namespace {

SliceBlock callsOf(std::int64_t rank, std::vector<Slice> slices) {
    return {.thread = {.process = 10, .thread = 11, .number = 1, .rank = rank}, .strings = {"", "name"}, .slices = std::move(slices)};
}
SliceBlock worksOf(std::int64_t rank, std::vector<Slice> slices, std::int64_t lane = 5) {
    return {.thread = {.process = 0, .thread = 7, .lane = lane, .device = 0, .rank = rank}, .strings = {"", "name"}, .slices = std::move(slices)};
}

TEST(LaunchIds, KnowsOfEachNumberOfEachWorkerWhetherBothEndsAreThere) {
    std::mt19937_64 random(11);
    const std::vector<std::int64_t> odd{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), -1, -256, 255, 256};
    LaunchIds ids;
    std::set<std::pair<std::int64_t, std::int64_t>> calls, works;
    const auto any = [&] { return random() % 8 == 0 ? odd[random() % odd.size()] : static_cast<std::int64_t>(random() % 2000) - 100; };
    for (int i = 0; i < 1500; ++i) {
        const auto rank = static_cast<std::int64_t>(random() % 3);
        const std::int64_t call = any(), work = any();
        ids.add(callsOf(rank,
                        {{.start = i, .duration = 1, .name = 1, .kind = i % 2 == 0 ? SliceKind::Runtime : SliceKind::Driver, .correlation = call}}));
        ids.add(worksOf(rank, {{.start = i, .duration = 1, .name = 1, .kind = SliceKind::Kernel, .correlation = work}}));
        calls.insert({rank, call});
        works.insert({rank, work});
    }
    std::vector<std::int64_t> asked = odd;
    for (std::int64_t id = -110; id < 2010; ++id) asked.push_back(id);
    for (const std::int64_t rank : {0, 1, 2, 3})
        for (const std::int64_t id : asked)
            EXPECT_EQ(ids.joined(rank, id), id != 0 && calls.contains({rank, id}) && works.contains({rank, id})) << rank << " " << id;
}

TEST(LaunchIds, TakesLessThanAByteOfANumberThatWasCountedUp) {
    LaunchIds ids;
    constexpr std::int64_t kLaunches = 1'000'000;
    for (std::int64_t from = 1; from < kLaunches; from += 1000) {
        SliceBlock calls = callsOf(0, {}), works = worksOf(0, {});
        for (std::int64_t id = from; id < from + 1000; ++id) {
            calls.slices.push_back({.start = id, .duration = 1, .name = 1, .kind = SliceKind::Runtime, .correlation = id});
            works.slices.push_back({.start = id, .duration = 1, .name = 1, .kind = SliceKind::Kernel, .correlation = id});
        }
        ids.add(calls);
        ids.add(works);
    }
    EXPECT_TRUE(ids.joined(0, kLaunches));
    EXPECT_LT(ids.bytes(), static_cast<std::size_t>(kLaunches));
}

TEST(KinetoLinks, HoldsNoMoreThanTheBlocksInHandAndSaysOfEverySliceWhatItSaysOfThemAtOnce) {
    std::mt19937_64 random(17);
    for (int round = 0; round < 20; ++round) {
        // Two lanes of one stream, whose slices overlap now and then.
        std::vector<Slice> all;
        std::vector<SliceBlock> blocks;
        for (const std::int64_t lane : {5, 6}) {
            std::vector<Slice> slices;
            for (int i = 0; i < 400; ++i)
                slices.push_back({.start = static_cast<std::int64_t>(random() % 20'000),
                                  .duration = static_cast<std::int64_t>(random() % (i % 10 == 0 ? 300 : 30)),
                                  .name = 1,
                                  .kind = SliceKind::Kernel});
            std::ranges::stable_sort(slices, {}, [](const Slice& one) { return std::pair(one.start, -one.duration); });
            all.insert(all.end(), slices.begin(), slices.end());
            const auto size = static_cast<std::ptrdiff_t>(1 + random() % 20);
            for (auto from = slices.begin(); from != slices.end();) {
                const auto to = from + std::min(size, slices.end() - from);
                blocks.push_back(worksOf(0, std::vector<Slice>(from, to), lane));
                from = to;
            }
        }
        std::ranges::stable_sort(blocks, {}, [](const SliceBlock& block) { return block.slices.front().start; });
        kineto::KinetoLinks cut, whole;
        std::size_t most = 0;
        for (const SliceBlock& block : blocks) {
            cut.add(block);
            most = std::max(most, cut.waiting());
        }
        cut.done();
        EXPECT_LE(most, 60u) << "of 800: two blocks of 20 at most, and what of one lies behind the begin of the other's";
        EXPECT_EQ(cut.waiting(), 0u);
        whole.add(worksOf(0, all));
        EXPECT_EQ(whole.waiting(), 800u);
        whole.done();
        int beside = 0;
        for (const Slice& slice : all) {
            EXPECT_EQ(cut.spare(blocks.front().thread, slice), whole.spare(blocks.front().thread, slice)) << slice.start;
            beside += whole.spare(blocks.front().thread, slice) > 0 ? 1 : 0;
        }
        EXPECT_GT(beside, 0);
    }
}

TEST(PerfettoLinks, CountsTheBackwardFunctionsOfEachOperation) {
    perfetto::PerfettoLinks links;
    const auto backward = [](std::int64_t start, std::int64_t forward) {
        return Slice{
            .start = start, .duration = 1, .name = 1, .kind = SliceKind::Backward, .sequence = forward, .forwardThread = 1, .forwardStart = forward};
    };
    links.add(callsOf(0, {backward(100, 30), backward(110, 10), backward(120, 30)}));
    links.add(callsOf(1, {backward(130, 30)}));
    links.done();
    EXPECT_EQ(links.forwards(), 3u);
    const auto functions = [&](std::int64_t rank, std::int64_t start) {
        const auto place = links.placeOf(links.keyOf(callsOf(rank, {}).thread, {.start = start, .duration = 5, .name = 1}));
        return place ? links.backwardOf(*place) : 0;
    };
    EXPECT_EQ(functions(0, 30), 2u);
    EXPECT_EQ(functions(0, 10), 1u);
    EXPECT_EQ(functions(0, 20), 0u);
    EXPECT_EQ(functions(1, 30), 1u);
    EXPECT_EQ(functions(1, 10), 0u);
}

}  // namespace
}  // namespace stepscope
