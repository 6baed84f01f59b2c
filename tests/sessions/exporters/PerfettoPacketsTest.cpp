// The packets of a Perfetto trace: begins and ends that nest whatever slices do, names interned once, tracks of processes apart, arrows from a launch
// to what it launched and from a forward operation to each of its backward functions, and times that no clock has brought into its own.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>
#include <sstream>

#include "sessions/exporters/PerfettoPackets.h"
#include "tests/sessions/exporters/PerfettoRead.h"

namespace stepscope::perfetto {
namespace {

using stepscope::test::PerfettoRead;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

SliceBlock packetBlock(SliceThread thread, std::vector<Slice> slices) {
    return {.thread = std::move(thread), .strings = {"", "one", "two", "forward", "mlp"}, .slices = std::move(slices)};
}
SliceThread ofHost(std::int64_t rank = 0) {
    return {.process = 10, .thread = 11, .number = 1, .name = "trainer", .lane = 1 + 100 * rank, .rank = rank};
}
SliceThread ofStream(std::int64_t rank = 0) {
    return {.process = 0, .thread = 7, .name = "stream 7", .lane = 2 + 100 * rank, .device = 0, .rank = rank};
}

struct PerfettoPacketsOf : testing::Test {
    std::vector<SliceBlock> blocks;
    std::vector<SampleBlock> samples;
    std::vector<AllocationBlock> allocations;
    std::size_t bytes = 0;

    PerfettoRead read() {
        PerfettoLinks links;
        for (const auto& block : blocks) links.add(block);
        links.done();
        std::ostringstream out;
        PerfettoPackets packets(out, links);
        std::int64_t slices = 0;
        for (const auto& block : blocks) {
            EXPECT_TRUE(packets.add(block));
            slices += static_cast<std::int64_t>(block.slices.size());
        }
        for (const auto& block : samples) EXPECT_TRUE(packets.add(block));
        for (const auto& block : allocations) EXPECT_TRUE(packets.add(block));
        EXPECT_TRUE(packets.finish());
        EXPECT_EQ(packets.slices(), slices);
        bytes = out.str().size();
        return PerfettoRead(out.str());
    }
    static std::vector<PerfettoRead::Event> begins(const PerfettoRead& trace) {
        std::vector<PerfettoRead::Event> some;
        for (const auto& event : trace.events)
            if (event.type == 1) some.push_back(event);
        return some;
    }
};

TEST_F(PerfettoPacketsOf, EverySliceComesBackHoweverTheyOverlapAndHoweverTheyAreCut) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 60; ++round) {
        std::vector<Slice> slices;
        std::multiset<std::tuple<std::string, std::uint64_t, std::uint64_t>> expected;
        for (int i = 0; i < 80; ++i) {
            const auto start = static_cast<std::int64_t>(random() % 300), duration = static_cast<std::int64_t>(random() % 60);
            const auto name = static_cast<std::uint32_t>(1 + random() % 2);
            slices.push_back({.start = start, .duration = duration, .name = name});
            expected.insert({name == 1 ? "one" : "two", start, duration});
        }
        std::ranges::stable_sort(slices, {}, &Slice::start);
        blocks.clear();
        for (std::size_t at = 0; at < slices.size();) {
            const std::size_t size = std::min<std::size_t>(slices.size() - at, 1 + random() % 20);
            blocks.push_back(
                packetBlock(ofHost(), {slices.begin() + static_cast<std::ptrdiff_t>(at), slices.begin() + static_cast<std::ptrdiff_t>(at + size)}));
            at += size;
        }
        EXPECT_EQ(read().slices(), expected) << "round " << round;
    }
}

TEST_F(PerfettoPacketsOf, WhatOverlapsLiesOnATrackBesideItsThreads) {
    blocks = {packetBlock(ofStream(), {{.start = 0, .duration = 100, .name = 1, .kind = SliceKind::Kernel},
                                       {.start = 50, .duration = 100, .name = 2, .kind = SliceKind::Kernel},
                                       {.start = 60, .duration = 10, .name = 2, .kind = SliceKind::Kernel}})};
    const PerfettoRead trace = read();
    const auto all = begins(trace);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(trace.tracks.at(all[0].track), "stream 7");
    EXPECT_EQ(trace.tracks.at(all[1].track), "stream 7 (overlapping)");
    EXPECT_EQ(all[2].track, all[0].track) << "what nests again is back on its own";
    EXPECT_EQ(trace.parents.at(all[0].track), trace.parents.at(all[1].track)) << "both of one GPU";
}

TEST_F(PerfettoPacketsOf, WhatRoundingBroughtBeyondItsHolderEndsWithIt) {
    // As the importer counts them: a child that ends 200 ns late, its own that ends as late again, and one that begins before its neighbour has
    // ended.
    blocks = {packetBlock(ofHost(), {{.start = 0, .duration = 10'000, .called = 9'000, .name = 1},
                                     {.start = 1'000, .duration = 4'200, .called = 200, .name = 2, .depth = 1},
                                     {.start = 5'000, .duration = 5'200, .called = 3'000, .name = 2, .depth = 2},
                                     {.start = 7'200, .duration = 3'200, .name = 1, .depth = 3}})};
    PerfettoRead trace = read();
    for (const auto& event : begins(trace)) EXPECT_EQ(trace.tracks.at(event.track), trace.tracks.at(begins(trace)[0].track)) << event.at;
    EXPECT_EQ(trace.tracks.size(), 2U) << "the process and the thread, and nothing that overlaps";
    EXPECT_EQ(trace.slices(), (std::multiset<std::tuple<std::string, std::uint64_t, std::uint64_t>>{
                                  {"one", 0, 10'000}, {"two", 1'000, 4'000}, {"two", 5'000, 5'000}, {"one", 7'200, 2'800}}));
}

TEST_F(PerfettoPacketsOf, WhatOverlapsByAsLittleAndWasNotCountedWithinStaysApart) {
    const auto tracks = [&](std::int64_t called, std::int32_t depth, std::int64_t beyond) {
        blocks = {packetBlock(ofStream(), {{.start = 0, .duration = 5'000, .called = called, .name = 1, .kind = SliceKind::Kernel},
                                           {.start = 2'000, .duration = 3'000 + beyond, .name = 2, .depth = depth, .kind = SliceKind::Kernel}})};
        const auto all = begins(read());
        return std::set<std::uint64_t>{all.at(0).track, all.at(1).track}.size();
    };
    EXPECT_EQ(tracks(3'000, 1, 1'000), 1U) << "nests: a clock of microseconds makes as much of it";
    EXPECT_EQ(tracks(3'000, 1, 1'001), 2U);
    EXPECT_EQ(tracks(3'000, 0, 200), 2U) << "it is no deeper";
    EXPECT_EQ(tracks(2'999, 1, 200), 2U) << "the first has not called it";
}

TEST_F(PerfettoPacketsOf, TimesBeforeTheBeginningMoveAllOthers) {
    blocks = {packetBlock(ofHost(), {{.start = -500, .duration = 100, .name = 1}, {.start = 20, .duration = 5, .name = 2}})};
    EXPECT_EQ(read().slices(), (std::multiset<std::tuple<std::string, std::uint64_t, std::uint64_t>>{{"one", 0, 100}, {"two", 520, 5}}));
}

TEST_F(PerfettoPacketsOf, NoTimeOfAFileIsTooEarlyOrTooLate) {
    constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(), kMost = std::numeric_limits<std::int64_t>::max();
    blocks = {packetBlock(ofHost(), {{.start = kLeast, .duration = 5, .name = 1}, {.start = 0, .duration = kMost, .name = 2}})};
    const auto all = begins(read());
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].at, 0U);
    EXPECT_EQ(all[1].at, std::uint64_t{1} << 62) << "moved no further than a number holds";
}

TEST_F(PerfettoPacketsOf, ANameIsWrittenOnceHoweverOftenItIsUsed) {
    const std::string name(1000, 'n');
    blocks = {packetBlock(ofHost(), {})};
    blocks[0].strings[1] = name;
    for (int i = 0; i < 500; ++i)
        blocks[0].slices.push_back({.start = std::int64_t{10} * i, .duration = 5, .name = 1, .phase = 3, .role = 4, .step = 7});
    const PerfettoRead trace = read();
    EXPECT_LT(bytes, 500 * 100U);
    for (const auto& event : begins(trace)) {
        EXPECT_EQ(event.name, name);
        EXPECT_EQ(event.said, (std::map<std::string, std::string>{{"phase", "forward"}, {"role", "mlp"}, {"step", "7"}}));
    }
}

TEST_F(PerfettoPacketsOf, EverythingThatIsKnownOfASliceIsSaidAndNothingThatIsNot) {
    blocks = {packetBlock(ofStream(), {{.start = 1,
                                        .duration = 2,
                                        .name = 1,
                                        .arguments = 1,
                                        .layer = 0,
                                        .kind = SliceKind::Kernel,
                                        .recomputed = true,
                                        .sequence = 0,
                                        .correlation = -4,
                                        .external = 9},
                                       {.start = 5, .duration = 2, .name = 2, .kind = SliceKind::Memset}})};
    blocks[0].arguments = {{},
                           {.text = "Float[3]", .flops = 6, .bytes = 12, .grid = {1, 2, 3}, .block = {4, 5, 6}, .registers = 8, .sharedBytes = 0}};
    const auto all = begins(read());
    EXPECT_EQ(all[0].said, (std::map<std::string, std::string>{{"layer", "0"},
                                                               {"recomputed", "1"},
                                                               {"sequence", "0"},
                                                               {"correlation", "-4"},
                                                               {"external id", "9"},
                                                               {"gpu", "0"},
                                                               {"stream", "7"},
                                                               {"inputs", "Float[3]"},
                                                               {"flops", "6"},
                                                               {"bytes", "12"},
                                                               {"grid", "1, 2, 3"},
                                                               {"block", "4, 5, 6"},
                                                               {"shared memory", "0"},
                                                               {"registers per thread", "8"}}));
    EXPECT_EQ(all[1].said, (std::map<std::string, std::string>{{"gpu", "0"}, {"stream", "7"}}));
}

TEST_F(PerfettoPacketsOf, WhatATraceSaidBesidesKeepsItsNumbersHoweverLarge) {
    const auto said = [&](const std::string& extra) {
        blocks = {packetBlock(ofHost(), {{.start = 1, .duration = 2, .name = 1, .arguments = 1}})};
        blocks[0].arguments = {{}, {.extra = extra}};
        return begins(read()).at(0).said;
    };
    EXPECT_EQ(said(R"({"address": 18446744073709551615, "least": -9223372036854775808, "most": 9223372036854775807, "half": 0.5, "on": true,
                       "none": null, "list": [1, {"a": 2}], "text": "a\"b"})"),
              (std::map<std::string, std::string>{{"address", "18446744073709551615"},
                                                  {"least", "-9223372036854775808"},
                                                  {"most", "9223372036854775807"},
                                                  {"half", "0.5"},
                                                  {"on", "true"},
                                                  {"none", "null"},
                                                  {"list", R"([1,{"a":2}])"},
                                                  {"text", "a\"b"}}));
    for (const char* broken : {"{", "[1]", "7", "}{", "{\"a\": 99999999999999999999999}x"}) EXPECT_TRUE(said(broken).empty()) << broken;
}

TEST_F(PerfettoPacketsOf, AnArrowLeadsFromALaunchThroughAllThatItLaunched) {
    blocks = {packetBlock(ofHost(), {{.start = 1, .duration = 2, .name = 1, .kind = SliceKind::Runtime, .correlation = 5},
                                     {.start = 4, .duration = 2, .name = 1, .kind = SliceKind::Runtime, .correlation = 6},
                                     {.start = 8, .duration = 2, .name = 1, .kind = SliceKind::Annotation, .correlation = 5}}),
              packetBlock(ofStream(), {{.start = 20, .duration = 2, .name = 2, .kind = SliceKind::Kernel, .correlation = 5},
                                       {.start = 30, .duration = 2, .name = 2, .kind = SliceKind::Memcpy, .correlation = 5},
                                       {.start = 40, .duration = 2, .name = 2, .kind = SliceKind::Kernel, .correlation = 7}}),
              packetBlock(ofStream(1), {{.start = 50, .duration = 2, .name = 2, .kind = SliceKind::Kernel, .correlation = 6}})};
    std::vector<std::uint64_t> at;
    std::set<std::uint64_t> ids;
    for (const auto& event : begins(read()))
        for (const auto id : event.flows) {
            at.push_back(event.at);
            ids.insert(id);
        }
    EXPECT_THAT(at, UnorderedElementsAre(1, 20, 30)) << "not to another worker's, nor to what nobody launched";
    EXPECT_EQ(ids.size(), 1U);
}

TEST_F(PerfettoPacketsOf, AForwardOperationHasAnArrowForEachOfItsBackwardFunctions) {
    SliceThread autograd = ofHost();
    autograd.thread = 12;
    autograd.lane = 3;
    autograd.number = 2;
    const auto backward = [](std::int64_t start) {
        return Slice{.start = start, .duration = 5, .name = 2, .kind = SliceKind::Backward, .sequence = 4, .forwardThread = 1, .forwardStart = 100};
    };
    // Two slices begin where the forward operation does: the arrows begin in one of them.
    blocks = {
        packetBlock(ofHost(), {{.start = 100, .duration = 50, .name = 1, .sequence = 4}, {.start = 100, .duration = 20, .name = 1, .depth = 1}}),
        packetBlock(autograd, {backward(300), backward(400), backward(500)})};
    std::multiset<std::uint64_t> begun, ended;
    for (const auto& event : begins(read())) {
        begun.insert(event.flows.begin(), event.flows.end());
        ended.insert(event.last.begin(), event.last.end());
    }
    EXPECT_EQ(begun, ended);
    EXPECT_EQ(std::set(begun.begin(), begun.end()).size(), 3U);
}

TEST_F(PerfettoPacketsOf, AForwardOperationThatBeginsAtZeroHasItsArrowsToo) {
    SliceThread autograd = ofHost();
    autograd.thread = 12;
    autograd.lane = 3;
    autograd.number = 2;
    const auto backward = [](std::int64_t start, std::int64_t sequence, SliceKind kind = SliceKind::Backward) {
        return Slice{.start = start, .duration = 5, .name = 2, .kind = kind, .sequence = sequence, .forwardThread = 1};
    };
    // Of the second nobody saw the forward operation; and the step of autograd's engine that a function lies in has no arrow.
    blocks = {
        packetBlock(ofHost(), {{.start = 0, .duration = 50, .name = 1, .sequence = 4}, {.start = 60, .duration = 20, .name = 1, .sequence = 6}}),
        packetBlock(autograd, {backward(300, 4, SliceKind::Operation), backward(301, 4), backward(400, 5)})};
    std::multiset<std::uint64_t> begun, ended;
    std::vector<std::uint64_t> at;
    for (const auto& event : begins(read())) {
        begun.insert(event.flows.begin(), event.flows.end());
        ended.insert(event.last.begin(), event.last.end());
        if (!event.flows.empty() || !event.last.empty()) at.push_back(event.at);
    }
    EXPECT_EQ(begun, ended);
    EXPECT_EQ(begun.size(), 1U);
    EXPECT_THAT(at, UnorderedElementsAre(0, 301));
}

TEST_F(PerfettoPacketsOf, WorkersOfOneNumberAreProcessesOfTheirOwn) {
    for (const std::int64_t rank : {0, 1, 25}) blocks.push_back(packetBlock(ofHost(rank), {{.start = 1, .duration = 2, .name = 1}}));
    const PerfettoRead trace = read();
    std::set<std::uint64_t> parents, numbers;
    for (const auto& event : begins(trace)) parents.insert(trace.parents.at(event.track));
    EXPECT_EQ(parents.size(), 3U);
    for (const auto& [track, number] : trace.processes) numbers.insert(number);
    EXPECT_THAT(numbers, ElementsAre(10, 100'000'010)) << "the third does not fit into a number of 32 bits and has a name instead";
    bool named = false;
    for (const auto& [track, name] : trace.tracks) named = named || name == "stepscope (rank 25)";
    EXPECT_TRUE(named);
}

TEST_F(PerfettoPacketsOf, NumbersThatNoSystemHasAreNamesInstead) {
    for (const std::int64_t number : {std::int64_t{0}, std::int64_t{-7}, std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::min(),
                                      std::numeric_limits<std::int64_t>::max()}) {
        SliceThread odd{.process = number, .thread = number, .lane = 9, .processName = "odd"};
        blocks = {packetBlock(odd, {{.start = 1, .duration = 2, .name = 1}})};
        const PerfettoRead trace = read();
        const auto all = begins(trace);
        ASSERT_EQ(all.size(), 1U);
        EXPECT_EQ(trace.tracks.at(all[0].track), fmt::format("thread {}", number));
        EXPECT_EQ(trace.tracks.at(trace.parents.at(all[0].track)), "odd");
        EXPECT_TRUE(trace.processes.empty());
    }
}

TEST_F(PerfettoPacketsOf, TwoThreadsOfOneNumberHaveTwoTracks) {
    SliceThread again = ofHost();
    again.lane = 77;
    blocks = {packetBlock(ofHost(), {{.start = 1, .duration = 9, .name = 1}}), packetBlock(again, {{.start = 5, .duration = 9, .name = 1}})};
    const auto all = begins(read());
    ASSERT_EQ(all.size(), 2U);
    EXPECT_NE(all[0].track, all[1].track) << "else the one would lie in the other";
}

TEST_F(PerfettoPacketsOf, CountersHaveOneTrackASeriesAndLane) {
    for (const std::int64_t lane : {1, 2, 1}) {
        SampleBlock block{.lane = lane, .name = "GPU"};
        block.series = {{}, {"power", "W"}, {"used", "B"}};
        block.samples = {{10, 1, 1.5}, {20, 2, 1e300}};
        samples.push_back(block);
    }
    const PerfettoRead trace = read();
    EXPECT_EQ(trace.tracks.size(), 4U);
    EXPECT_EQ(trace.events.size(), 6U);
    for (const auto& event : trace.events) EXPECT_EQ(event.value, trace.tracks.at(event.track) == "power" ? 1.5 : 1e300);
}

TEST_F(PerfettoPacketsOf, AllocationsAreThemselvesAndTotalsWhereThoseAreKnown) {
    AllocationBlock block{.lane = 1};
    block.strings = {"", "activations", "aten::mm"};
    block.allocations = {{.at = 1, .address = 77, .bytes = 512, .device = 0, .totalAllocated = 512, .totalReserved = 1024},
                         {.at = 2, .bytes = -512, .device = 0, .totalAllocated = 0},
                         {.at = 3, .bytes = 64, .device = -1, .kind = 1, .owner = 2},
                         {.at = 4, .bytes = -64, .device = -1}};
    allocations = {block};
    const PerfettoRead trace = read();
    std::vector<std::string> totals;
    for (const auto& event : trace.events)
        if (event.type == 4) totals.push_back(fmt::format("{} {}", trace.tracks.at(event.track), event.value));
    EXPECT_THAT(totals, ElementsAre("memory allocated of GPU 0 512", "memory reserved of GPU 0 1024", "memory allocated of GPU 0 0"))
        << "nothing in use is a number too";
    std::vector<PerfettoRead::Event> themselves;
    for (const auto& event : trace.events)
        if (event.type == 3) themselves.push_back(event);
    ASSERT_EQ(themselves.size(), 4U);
    EXPECT_EQ(trace.tracks.at(themselves[0].track), "allocations of GPU 0");
    EXPECT_EQ(themselves[0].said,
              (std::map<std::string, std::string>{{"bytes", "512"}, {"address", "77"}, {"total allocated", "512"}, {"total reserved", "1024"}}));
    EXPECT_EQ(themselves[2].name, "activations");
    EXPECT_EQ(themselves[2].said, (std::map<std::string, std::string>{{"bytes", "64"}, {"owner", "aten::mm"}}));
    EXPECT_EQ(themselves[3].name, "allocation");
    EXPECT_EQ(trace.tracks.at(themselves[3].track), "allocations of the host");
}

TEST_F(PerfettoPacketsOf, CountersAndMemoryOfWorkersHaveTheirRankInTheirNames) {
    for (const std::int64_t rank : {0, 2}) {
        SampleBlock counter{.lane = 1 + rank, .rank = rank, .series = {{}, {"power", "W"}}, .samples = {{10, 1, 1.5}}};
        samples.push_back(counter);
        AllocationBlock memory{.lane = 10 + rank, .rank = rank};
        memory.allocations = {{.at = 1, .bytes = 64, .device = 0, .totalAllocated = 64}};
        allocations.push_back(memory);
    }
    const PerfettoRead trace = read();
    std::set<std::string> names;
    for (const auto& [track, name] : trace.tracks) names.insert(name);
    EXPECT_THAT(names, ElementsAre("allocations of GPU 0", "allocations of GPU 0 (rank 2)", "memory allocated of GPU 0",
                                   "memory allocated of GPU 0 (rank 2)", "power", "power (rank 2)"));
}

TEST_F(PerfettoPacketsOf, ALaneThatComesAgainLaterIsEndedBetween) {
    blocks = {packetBlock(ofHost(), {{.start = 1, .duration = 1000, .name = 1}}), packetBlock(ofStream(), {{.start = 5, .duration = 9, .name = 2}}),
              packetBlock(ofHost(), {{.start = 2000, .duration = 9, .name = 1}})};
    EXPECT_EQ(read().slices().size(), 3U) << "and every begin has its end";
}

TEST_F(PerfettoPacketsOf, AStreamThatTakesNothingMoreIsASentence) {
    PerfettoLinks links;
    std::ostringstream full;
    full.setstate(std::ios::badbit);
    PerfettoPackets packets(full, links);
    (void)packets.add(packetBlock(ofHost(), {{.start = 1, .duration = 2, .name = 1}}));
    const Status done = packets.finish();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::Io);
}

}  // namespace
}  // namespace stepscope::perfetto
