// What the views over bulk data say, column by column: what is unknown is NULL and never a number that stands for it, a range of time or a join gives
// what going through everything gives, and what a stranger wrote into the tables is a value or a sentence.
#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "core/trace/WorkerClocks.h"
#include "core/trace/WorkerTimes.h"
#include "tests/sessions/query/QueryFixture.h"

namespace stepscope::test {
namespace {

struct QuerySources : QueryFixture {
    void damaged(const std::string& sql) const { SQLite::Database(path, SQLite::OPEN_READWRITE, 5000).exec(sql); }
    // "column=value" of the first row, those that are NULL left out.
    std::string known(const std::string& sql) {
        const auto result = run(sql);
        if (!result) return result.error().sentence;
        std::string all;
        if (result->rows.empty()) return "no row";
        for (std::size_t i = 0; i < result->columns.size(); ++i)
            if (const auto value = asText(result->rows[0][i]); value != "NULL") all += (all.empty() ? "" : " ") + result->columns[i] + "=" + value;
        return all;
    }
};

TEST_F(QuerySources, OfASliceOfWhichNothingIsKnownAllElseIsNull) {
    SliceBlock host{.thread = {.process = 1, .thread = 2}, .strings = {"", "x"}};
    SliceBlock stream{.thread = {.process = 0, .thread = 7, .lane = 9, .device = 3}, .strings = {"", "x"}};
    host.slices = {{.start = 5, .duration = 0, .name = 1}};
    stream.slices = {{.start = 6, .duration = 0, .name = 1, .kind = SliceKind::Kernel}};
    record({encodeSlices(host), encodeSlices(stream)});
    EXPECT_EQ(known("SELECT * FROM op"),
              "start_ns=5 dur_ns=0 name=x thread=2 depth=0 self_ns=0 end_ns=5 kind=operation recomputed=0 process=1 "
              "lane=2 capture=1 rank=0");
    EXPECT_EQ(known("SELECT * FROM kernel"), "start_ns=6 dur_ns=0 name=x device=3 stream=7 end_ns=6 lane=9 capture=1 rank=0");
}

TEST_F(QuerySources, ZeroIsANumberWhereUnknownHasAnother) {
    SliceBlock host{.thread = {.process = 0, .thread = 0, .rank = 2}, .strings = {"", "x"}};
    host.slices = {{.start = 0, .duration = 4, .called = 4, .name = 1, .layer = 0, .recomputed = true, .step = 0, .sequence = 0},
                   {.start = 5, .duration = 4, .name = 1, .kind = SliceKind::Step, .step = 0}};
    record({encodeSlices(host)});
    EXPECT_EQ(known("SELECT start_ns, self_ns, thread, process, layer, step, sequence, recomputed, rank FROM op"),
              "start_ns=0 self_ns=0 thread=0 process=0 layer=0 step=0 sequence=0 recomputed=1 rank=2");
    EXPECT_EQ(text("SELECT number, slice.step FROM step JOIN slice ON kind = 'step'"), "0|0\n");
}

// A capture ends with the first worker's last step; another worker, or a GPU, may still be at it.
TEST_F(QuerySources, WhatIsDoneLateOfACapturedStepIsOfThatCapture) {
    const auto capture = [](std::int64_t first, std::int64_t last, std::int64_t at) {
        CaptureDone done;
        done.step = last;
        done.at = {at};
        done.firstStep = first;
        done.steps = last - first + 1;
        return done;
    };
    SliceBlock host{.thread = {.thread = 2}, .strings = {"", "first", "second", "of no step"}},
        other{.thread = {.thread = 3, .lane = 9, .rank = 1}, .strings = {"", "late", "next", "last"}};
    host.slices = {{.start = 900, .duration = 50, .name = 1, .step = 5},
                   {.start = 1010, .duration = 5, .name = 3},
                   {.start = 1900, .duration = 50, .name = 2, .step = 7}};
    other.slices = {{.start = 1020, .duration = 40, .name = 1, .step = 5},
                    {.start = 1100, .duration = 40, .name = 2, .step = 6},
                    {.start = 2050, .duration = 10, .name = 3, .step = 7}};
    record({encodeSlices(host), encodeSlices(other)}, {capture(4, 5, 1000), capture(6, 7, 2000)});
    EXPECT_EQ(text("SELECT name, capture FROM op ORDER BY start_ns"), "first|1\nof no step|2\nlate|1\nnext|2\nsecond|2\nlast|2\n");
}

TEST_F(QuerySources, EachViewHasItsKindsAndSliceHasAll) {
    SliceBlock host{.thread = {.thread = 2}, .strings = {"", "x"}};
    for (int kind = 0; kind < kSliceKinds; ++kind)
        host.slices.push_back({.start = std::int64_t{kind} * 10, .duration = 5, .name = 1, .kind = static_cast<SliceKind>(kind), .step = 4});
    record({encodeSlices(host)});
    EXPECT_EQ(text("SELECT group_concat(kind) FROM slice"),
              "operation,own,backward,step,phase,evaluation,annotation,python,runtime,driver,kernel,memcpy,memset,synchronisation,device annotation,"
              "overhead,other\n");
    EXPECT_EQ(
        text("SELECT (SELECT group_concat(kind) FROM op), (SELECT group_concat(kind) FROM runtime), (SELECT group_concat(kind) FROM annotation)"),
        "operation,own,backward|runtime,driver|annotation,device annotation\n");
    EXPECT_EQ(text("SELECT (SELECT count(*) FROM kernel), (SELECT count(*) FROM memcpy), (SELECT count(*) FROM memset), (SELECT count(*) FROM step)"),
              "1|1|1|1\n");
}

TEST_F(QuerySources, TheDirectionOfACopyIsReadFromWhateverItsProfilerCallsIt) {
    const std::vector<std::pair<const char*, const char*>> names{{"Memcpy HtoD (Pageable -> Device)", "HtoD"},
                                                                 {"Memcpy DtoD (Device -> Device)", "DtoD"},
                                                                 {"CopyDeviceToHost", "DtoH"},
                                                                 {"CopyHostToDevice", "HtoD"},
                                                                 {"hipMemcpyDeviceToDevice", "DtoD"},
                                                                 {"HostToHost", "HtoH"},
                                                                 {"Memcpy PtoP", "PtoP"},
                                                                 {"copy of something", "copy of something"},
                                                                 {"htod", "htod"}};
    SliceBlock stream{.thread = {.thread = 7, .lane = 9, .device = 0}, .strings = {""}};
    for (std::size_t i = 0; i < names.size(); ++i) {
        stream.strings.emplace_back(names[i].first);
        stream.slices.push_back({.start = static_cast<std::int64_t>(i), .name = static_cast<std::uint32_t>(i + 1), .kind = SliceKind::Memcpy});
    }
    record({encodeSlices(stream)});
    for (std::size_t i = 0; i < names.size(); ++i)
        EXPECT_EQ(text(fmt::format("SELECT kind FROM memcpy WHERE start_ns = {}", i)), std::string(names[i].second) + "\n") << names[i].first;
}

TEST_F(QuerySources, PhasesOfEveryWorkerAreRows) {
    record({encodeWorkerTimes({.phases = {"forward", "waiting"}, .workers = 2, .steps = {{7, 1000}, {8, 5000}}, .ns = {9, 0, 5, 4, 8, 1, 6, 3}})});
    EXPECT_EQ(text("SELECT * FROM worker_phase"),
              "1000|7|0|forward|9\n1000|7|0|waiting|0\n1000|7|1|forward|5\n1000|7|1|waiting|4\n"
              "5000|8|0|forward|8\n5000|8|0|waiting|1\n5000|8|1|forward|6\n5000|8|1|waiting|3\n");
    EXPECT_EQ(text("SELECT rank, sum(dur_ns) FROM worker_phase WHERE phase = 'waiting' AND at_ns > 1000 GROUP BY rank"), "0|1\n1|3\n");
    EXPECT_EQ(text("SELECT count(*) FROM sample"), "0\n") << "no capture is made of it";
}

TEST_F(QuerySources, WhatComparingTheirClocksFoundIsARowAWorker) {
    record({encodeWorkerClocks({.at = 70, .readings = {{60, 0, 0}, {5, 55, 12}}})});
    EXPECT_EQ(text("SELECT * FROM worker_clock"), "70|0|0|0\n70|1|55|12\n");
    EXPECT_EQ(text("SELECT count(*) FROM worker_clock WHERE at_ns > 70"), "0\n");
}

TEST_F(QuerySources, ARangeOfTimeGivesWhatGoingThroughEverythingGives) {
    std::mt19937 random(5);
    auto chunks = cutAtRandom(randomSlices(random, 600, 1), random);
    for (auto& chunk : cutAtRandom(randomSlices(random, 300, 2), random)) chunks.push_back(std::move(chunk));
    for (std::int64_t part = 0; part < 4; ++part) {
        SampleBlock counter{.lane = 50};
        counter.series = {{}, {"power", "W"}};
        for (std::int64_t i = 0; i < 50; ++i) counter.samples.push_back({part * 20'000 + i * 300, 1, static_cast<double>(i)});
        chunks.push_back(encodeSamples(counter));
    }
    record(chunks);
    for (int round = 0; round < 60; ++round) {
        const auto a = static_cast<std::int64_t>(random() % 100'000), b = a + static_cast<std::int64_t>(random() % 30'000);
        for (const auto& [view, time] : {std::pair("op", "start_ns"), std::pair("slice", "start_ns"), std::pair("sample", "at_ns")}) {
            const auto bounded = [&, view = view, time = time](const std::string& column) {
                return text(
                    fmt::format("SELECT count(*), min({0}), max({0}), sum({0}) FROM {1} WHERE {2} >= {3} AND {2} < {4}", time, view, column, a, b));
            };
            EXPECT_EQ(bounded(time), bounded(std::string("+") + time)) << view << " from " << a << " to " << b;
        }
    }
}

TEST_F(QuerySources, AJoinByANumberGivesWhatComparingAllWithAllGives) {
    std::mt19937 random(6);
    auto chunks = cutAtRandom(randomSlices(random, 300, 1), random);
    for (auto& chunk : cutAtRandom(randomSlices(random, 200, 2), random)) chunks.push_back(std::move(chunk));
    record(chunks);
    for (const char* key : {"correlation", "sequence", "external"}) {
        const std::string pairs = "SELECT count(*), sum(a.start_ns), sum(b.dur_ns) FROM ";
        EXPECT_EQ(text(fmt::format("{0}op a JOIN op b ON a.{1} = b.{1}", pairs, key)),
                  text(fmt::format("{0}op a JOIN op b ON +a.{1} = +b.{1}", pairs, key)))
            << key;
        EXPECT_EQ(text(fmt::format("{0}op a LEFT JOIN slice b ON a.{1} = b.{1} AND b.depth = 0", pairs, key)),
                  text(fmt::format("{0}op a LEFT JOIN slice b ON +a.{1} = +b.{1} AND b.depth = 0", pairs, key)))
            << key;
    }
}

TEST_F(QuerySources, StepsAreThoseThatWereCapturedOrElseThoseThatTheRunStored) {
    record(everything(), {sampleStep(1), sampleStep(2)});
    EXPECT_EQ(text("SELECT number, start_ns, dur_ns, end_ns, capture, rank FROM step"), "5|1000|900|1900|1|0\n");
    record({}, {sampleStep(1, {1'000'000'000}), sampleStep(2, {2'000'000'000})}, "uncaptured");
    const auto stored = run("SELECT number, end_ns, end_ns - start_ns = dur_ns, capture FROM step", {}, 2);
    ASSERT_TRUE(stored) << stored.error().sentence;
    EXPECT_EQ(asText(*stored), "1|1000000000|1|NULL\n2|2000000000|1|NULL\n");
    const auto bounded = run("SELECT number FROM step WHERE start_ns > 1000000000", {}, 2);
    ASSERT_TRUE(bounded);
    EXPECT_EQ(asText(*bounded), "2\n");
}

TEST_F(QuerySources, StoredReadingsAreARowAValueAndThoseThatAreUnknownNone) {
    DeviceSample one{{1000}, 50.0, 1, 2}, other = one;
    other.at = {2000};
    record({}, {one, other});
    damaged(
        "UPDATE device_samples SET gpu_pct = NULL, gpu_memory_bytes = NULL, gpu_power_w = 300.5, gpu_temperature_c = NULL, gpu_clock_mhz = NULL, "
        "others_pct = NULL, steal_pct = NULL, throttled_pct = NULL, cpu_clock_mhz = NULL, cpu_temperature_c = NULL, cpu_power_w = 41.5, cpu_energy_j "
        "= NULL, gpu_other_processes = 2, gpu_others_busy_pct = NULL WHERE at_ns = "
        "1000");
    EXPECT_EQ(text("SELECT name, value, unit, device FROM sample WHERE at_ns = 1000"),
              "cpu_pct|50r|%|NULL\nresident_bytes|1|B|NULL\navailable_bytes|2|B|NULL\ncpu_power_w|41.5r|W|NULL\ngpu_power_w|300.5r|W|0\n"
              "gpu_other_processes|2r||0\n");
    damaged("UPDATE device_samples SET cpu_pct = 'hot', gpu_power_w = x'00ff' WHERE at_ns = 1000");
    EXPECT_EQ(text("SELECT name, typeof(value), value FROM sample WHERE at_ns = 1000"),
              "cpu_pct|text|hot\nresident_bytes|integer|1\navailable_bytes|integer|2\ncpu_power_w|real|41.5r\ngpu_power_w|text|00FF\n"
              "gpu_other_processes|real|2r\n");
    EXPECT_EQ(text("SELECT count(*) FROM sample WHERE at_ns > 2000"), "0\n");
}

TEST_F(QuerySources, StoredBytesAreWholeNumbers) {
    StepDone step = sampleStep(1);
    step.peakBytes = 5'000'000'001;
    DeviceSample sample{{2'000'000}, 50.0, 1, 2};
    sample.gpuMemoryBytes = 3'000'000'001;
    record({}, {step, sample});
    EXPECT_EQ(text("SELECT peak_bytes FROM steps"), "5000000001\n");
    EXPECT_EQ(text("SELECT gpu_memory_bytes FROM device_samples"), "3000000001\n");
    EXPECT_EQ(text("SELECT count(*) FROM steps WHERE peak_bytes = 5000000001"), "1\n");
    damaged("UPDATE steps SET peak_bytes = NULL");
    damaged("UPDATE device_samples SET gpu_memory_bytes = 'much'");
    EXPECT_EQ(text("SELECT peak_bytes FROM steps"), "NULL\n");
    EXPECT_EQ(text("SELECT gpu_memory_bytes FROM device_samples"), "much\n");
}

TEST_F(QuerySources, OfAnAllocationOfWhichNothingIsKnownAllElseIsNull) {
    AllocationBlock block{.lane = 1};
    block.allocations = {{.at = 3, .bytes = -4}};
    AllocationBlock other{.lane = 2, .thread = 6, .rank = 1};
    other.strings = {"", "weights", "aten::mm"};
    other.allocations = {{.at = 9, .address = 1ULL << 40, .bytes = 8, .device = 0, .totalAllocated = 0, .totalReserved = 0, .kind = 1, .owner = 2}};
    record({encodeAllocations(block), encodeAllocations(other)});
    EXPECT_EQ(known("SELECT * FROM alloc WHERE at_ns = 3"), "at_ns=3 bytes=-4 capture=1 rank=0");
    EXPECT_EQ(
        known("SELECT * FROM alloc WHERE at_ns = 9"),
        "at_ns=9 bytes=8 kind=weights owner=aten::mm device=0 address=1099511627776 total_allocated=0 total_reserved=0 thread=6 capture=1 rank=1");
}

TEST_F(QuerySources, WhatLanesSayOfTheirSizeIsBelievedForPlanningOnly) {
    record(everything());
    for (const char* lie : {"9223372036854775807", "-9223372036854775808", "0"}) {
        damaged(fmt::format("UPDATE chunk_lanes SET records = {}", lie));
        EXPECT_EQ(text("SELECT count(*) FROM op JOIN kernel USING (external)"), "1\n") << lie;
        EXPECT_EQ(text("SELECT count(*) FROM slice a JOIN slice b ON a.correlation = b.correlation WHERE a.start_ns > 0"), "5\n") << lie;
    }
}

TEST_F(QuerySources, EveryColumnOfEveryViewIsDeclaredOnceAndCanBeRead) {
    record(everything(), oneOfEachKind());
    for (const auto& view : queryViews()) {
        std::set<std::string> names;
        EXPECT_FALSE(view.about.empty()) << view.name;
        for (const auto& column : view.columns) {
            EXPECT_TRUE(names.insert(column.name).second) << view.name << "." << column.name;
            EXPECT_THAT(column.type, testing::AnyOf("integer", "real", "text", "any")) << view.name << "." << column.name;
            const auto read = run(fmt::format("SELECT \"{}\", typeof(\"{}\") FROM \"{}\"", column.name, column.name, view.name));
            ASSERT_TRUE(read) << read.error().sentence;
            for (const auto& row : read->rows)
                if (column.type == "integer" || column.type == "text") {
                    EXPECT_THAT(asText(row[1]), testing::AnyOf(column.type, "null")) << view.name << "." << column.name;
                }
        }
    }
}

}  // namespace
}  // namespace stepscope::test
