// Our own Kineto export comes in again as what it was of: kinds, places, threads and allocations, whose ranks they are, and the same Overview; and
// the backward functions of other people's traces are those that autograd's nodes are.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>

#include "core/analysis/panes/RangePanes.h"
#include "sessions/Samples.h"
#include "sessions/SessionTrace.h"
#include "sessions/Slices.h"
#include "sessions/exporters/ExportSession.h"
#include "sessions/importers/Import.h"
#include "tests/sessions/exporters/PickleRead.h"
#include "tests/sessions/query/QueryFixture.h"

namespace stepscope::test {
namespace {

using ToldSlices =
    std::map<std::tuple<std::int64_t, std::string, std::string, SliceKind, std::int32_t, std::string, std::string>, std::array<std::int64_t, 3>>;

struct KinetoRoundTrip : QueryFixture {
    // Exports session `from` and imports it again; the new session.
    std::int64_t again(std::int64_t from = 1, ExportFormat format = ExportFormat::Kineto, const OneRank& rank = {}) {
        const std::string file = folder.file(format == ExportFormat::Kineto ? "again.pt.trace.json" : "again.perfetto-trace");
        const auto written = exportSession(path, from, file, format, Existing::Replace, {}, rank);
        EXPECT_TRUE(written) << written.error().sentence;
        const auto back = importFiles({.database = path, .files = {file}, .name = {}, .progress = {}});
        EXPECT_TRUE(back) << back.error().sentence;
        return back ? back->session : 0;
    }
    // By rank, thread, name, kind and place: how many, their time, their own time.
    ToldSlices slicesOf(std::int64_t session) {
        auto reader = SessionReader::open(path);
        ToldSlices all;
        const Status read = forEachSliceBlock(**reader, session, [&](const SliceBlock& block) -> Status {
            for (const Slice& slice : block.slices) {
                const std::string name = slice.kind == SliceKind::Step ? std::string("a step") : block.strings[slice.name];
                auto& of =
                    all[{block.thread.rank, block.thread.name, name, slice.kind, slice.layer, block.strings[slice.role], block.strings[slice.phase]}];
                of[0] += 1;
                of[1] += slice.duration;
                of[2] += slice.self();
            }
            return {};
        });
        EXPECT_TRUE(read) << read.error().sentence;
        return all;
    }
    std::string allocationsOf(std::int64_t session) {
        auto reader = SessionReader::open(path);
        std::string all;
        const Status read = forEachAllocationBlock(**reader, session, [&](const AllocationBlock& block) -> Status {
            for (const Allocation& one : block.allocations)
                all += fmt::format("{} {} {} of {}: {}\n", block.rank, one.bytes, block.strings[one.kind], block.strings[one.owner], one.device);
            return {};
        });
        EXPECT_TRUE(read) << read.error().sentence;
        return all;
    }
    std::string overviewOf(std::int64_t session) {
        auto trace = SessionTrace::open(path, session);
        EXPECT_TRUE(trace) << trace.error().sentence;
        EXPECT_TRUE((*trace)->complete([] { return true; }));
        PanesReader panes(**trace, {}, [] { return true; });
        EXPECT_TRUE(panes.open());
        const auto read = panes.read(0, 0);
        EXPECT_TRUE(read) << read.error().sentence;
        std::string all;
        for (const DividedSteps& steps : read->steps) {
            all += fmt::format("rank {}, {} steps of {} threads, {} ns\n", steps.rank, steps.steps, steps.mostThreads, steps.window.ns);
            for (const ClassTime& one : steps.classes) all += fmt::format("  {} {}\n", one.name, one.time.ns);
        }
        return all;
    }
    std::map<SliceKind, int> kindsOf(std::int64_t session) {
        std::map<SliceKind, int> kinds;
        for (const auto& [place, sums] : slicesOf(session)) kinds[std::get<3>(place)] += static_cast<int>(sums[0]);
        return kinds;
    }
};

// A step that is planned ahead and shared by two threads, and one of autograd's.
std::vector<Chunk> sharedStep(std::int64_t rank = 0) {
    SliceBlock trainer{.thread = {.process = 100, .thread = 101, .number = 1, .name = "trainer", .lane = 1 + 10 * rank, .rank = rank}};
    trainer.strings = {"",          "step 5",       "forward",           "backward",  "norm + QKV", "attention/qkv",
                       "aten::mul", "MulBackward0", "FusedNodeBackward", "evaluation"};
    trainer.slices = {{.start = 1000, .duration = 9000, .called = 8000, .name = 1, .kind = SliceKind::Step, .step = 5},
                      {.start = 1000, .duration = 4000, .called = 2900, .name = 2, .phase = 2, .depth = 1, .kind = SliceKind::Phase, .step = 5},
                      {.start = 1100, .duration = 2500, .name = 4, .phase = 2, .role = 5, .depth = 2, .layer = 3, .kind = SliceKind::Own, .step = 5},
                      {.start = 4000, .duration = 400, .name = 6, .phase = 2, .depth = 2, .step = 5, .sequence = 17},
                      {.start = 5000, .duration = 4000, .called = 700, .name = 3, .phase = 3, .depth = 1, .kind = SliceKind::Phase, .step = 5},
                      {.start = 6000,
                       .duration = 500,
                       .name = 7,
                       .phase = 3,
                       .depth = 2,
                       .kind = SliceKind::Backward,
                       .step = 5,
                       .sequence = 17,
                       .forwardThread = 1,
                       .forwardStart = 4000},
                      {.start = 7000, .duration = 200, .name = 8, .phase = 3, .depth = 2, .kind = SliceKind::Backward, .step = 5},
                      {.start = 11'000, .duration = 100, .name = 9, .phase = 9, .kind = SliceKind::Evaluation}};
    SliceBlock worker{.thread = {.process = 100, .thread = 102, .name = "worker 1", .lane = 2 + 10 * rank, .rank = rank}};
    worker.strings = {"", "norm + QKV", "forward", "attention/qkv"};
    worker.slices = {{.start = 1150, .duration = 1800, .name = 1, .phase = 2, .role = 3, .layer = 3, .kind = SliceKind::Own, .step = 5}};
    AllocationBlock memory{.lane = 5 + rank, .process = 100, .thread = 101, .rank = rank};
    memory.strings = {"", "weights", "MLP", "bias + GELU"};
    memory.allocations = {{.at = 1000, .address = 64, .bytes = 512 + rank, .totalAllocated = 512, .kind = 1},
                          {.at = 2000, .address = 128, .bytes = 100, .totalAllocated = 612, .kind = 2, .owner = 3},
                          {.at = 3000, .address = 128, .bytes = -100, .totalAllocated = 512},
                          {.at = 10'000, .address = 64, .bytes = -512 - rank, .totalAllocated = 512}};
    return {encodeSlices(trainer), encodeSlices(worker), encodeAllocations(memory)};
}

TEST_F(KinetoRoundTrip, KeepsKindsPlacesThreadsAllocationsAndTheOverview) {
    record(sharedStep());
    const std::int64_t back = again();
    EXPECT_EQ(slicesOf(back), slicesOf(1));
    EXPECT_EQ(allocationsOf(back), allocationsOf(1));
    EXPECT_EQ(overviewOf(back), overviewOf(1));
    EXPECT_THAT(overviewOf(back), testing::HasSubstr("of 2 threads")) << "the team is one again";
    EXPECT_THAT(overviewOf(back), testing::HasSubstr(kTeamWaits));
    const std::int64_t twice = again(back);
    EXPECT_EQ(slicesOf(twice), slicesOf(1)) << "and once more";
}

TEST_F(KinetoRoundTrip, WorkersAreWorkersAgainAndGetOtherRanksWhereTheirsAreTaken) {
    std::vector<Chunk> chunks = sharedStep(0);
    for (Chunk& chunk : sharedStep(3)) chunks.push_back(std::move(chunk));
    record(chunks);
    const std::int64_t back = again();
    EXPECT_EQ(slicesOf(back), slicesOf(1));
    EXPECT_EQ(allocationsOf(back), allocationsOf(1));
    EXPECT_EQ(overviewOf(back), overviewOf(1));
    const std::string file = folder.file("again.pt.trace.json");
    std::filesystem::copy_file(file, folder.file("more.pt.trace.json"));
    const auto both = importFiles({.database = path, .files = {file, folder.file("more.pt.trace.json")}, .name = {}, .progress = {}});
    ASSERT_TRUE(both) << both.error().sentence;
    std::set<std::int64_t> ranks;
    for (const auto& [place, sums] : slicesOf(both->session)) ranks.insert(std::get<0>(place));
    EXPECT_THAT(ranks, testing::ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(both->notes.size(), 2u) << "one for each that says the rank of another";
}

TEST_F(KinetoRoundTrip, APerfettoTraceBringsWorkersBackAsWorkers) {
    std::vector<Chunk> chunks = sharedStep(0);
    for (const std::int64_t rank : {3, 25})  // the last one's process has no number there that the system could have
        for (Chunk& chunk : sharedStep(rank)) chunks.push_back(std::move(chunk));
    record(chunks);
    const std::int64_t back = again(1, ExportFormat::Perfetto);
    EXPECT_EQ(slicesOf(back), slicesOf(1));
    EXPECT_EQ(allocationsOf(back), allocationsOf(1));
    EXPECT_EQ(overviewOf(back), overviewOf(1));
    const std::int64_t twice = again(back, ExportFormat::Perfetto);
    EXPECT_EQ(slicesOf(twice), slicesOf(1)) << "and once more";
    const std::string file = folder.file("again.perfetto-trace");
    std::filesystem::copy_file(file, folder.file("more.perfetto-trace"));
    const auto both = importFiles({.database = path, .files = {file, folder.file("more.perfetto-trace")}, .name = {}, .progress = {}});
    ASSERT_TRUE(both) << both.error().sentence;
    std::set<std::int64_t> ranks;
    for (const auto& [place, sums] : slicesOf(both->session)) ranks.insert(std::get<0>(place));
    EXPECT_THAT(ranks, testing::ElementsAre(0, 1, 2, 3, 4, 25)) << "those of the second file have ranks of their own";
}

TEST_F(KinetoRoundTrip, KernelsCountersAndMemoryOfAPerfettoTraceAreThoseOfTheirWorker) {
    std::vector<Chunk> chunks;
    for (const std::int64_t rank : {0, 1}) {
        SliceBlock host{.thread = {.process = 10, .thread = 11, .name = "trainer", .lane = 1 + rank, .rank = rank}};
        host.strings = {"", "operation of " + std::to_string(rank), "cudaLaunchKernel"};
        host.slices = {{.start = 1000 + rank, .duration = 900, .name = 1, .step = 5},
                       {.start = 1500, .duration = 20, .name = 2, .depth = 1, .kind = SliceKind::Runtime, .step = 5, .correlation = 7}};
        SliceBlock stream{.thread = {.process = 0, .thread = 7, .name = "stream 7", .lane = 1007 + rank, .device = 0, .rank = rank}};
        stream.strings = {"", "gemm"};
        stream.slices = {{.start = 1600, .duration = 100, .name = 1, .kind = SliceKind::Kernel, .step = 5, .correlation = 7}};
        SampleBlock counter{.lane = 2000 + rank, .device = 0, .rank = rank, .series = {{}, {"power", "W"}}};
        counter.samples = {{1500, 1, 50.0 + static_cast<double>(rank)}};
        AllocationBlock memory{.lane = 3000 + rank, .rank = rank};
        memory.allocations = {{.at = 1550, .address = 64, .bytes = 512 + rank, .device = 0}};
        for (Chunk chunk : {encodeSlices(host), encodeSlices(stream), encodeSamples(counter), encodeAllocations(memory)})
            chunks.push_back(std::move(chunk));
    }
    record(chunks);
    const std::int64_t back = again(1, ExportFormat::Perfetto);
    const auto told = [&](const char* sql) {
        const auto rows = run(sql, {}, back);
        return rows ? asText(*rows) : rows.error().sentence;
    };
    EXPECT_EQ(told("SELECT kernel.rank, device, stream, op.name FROM kernel JOIN runtime ON runtime.correlation = kernel.correlation AND "
                   "runtime.rank = kernel.rank JOIN op ON op.rank = runtime.rank AND op.start_ns <= runtime.start_ns AND op.end_ns >= "
                   "runtime.end_ns ORDER BY 1"),
              "0|0|7|operation of 0\n1|0|7|operation of 1\n");
    EXPECT_EQ(told("SELECT DISTINCT process, rank FROM op ORDER BY 2"), "10|0\n10|1\n") << "each with the number that it had";
    EXPECT_EQ(told("SELECT rank, name, value FROM sample ORDER BY 1"), "0|power|50r\n1|power|51r\n");
    EXPECT_EQ(told("SELECT rank, bytes, device FROM alloc ORDER BY 1"), "0|512|0\n1|513|0\n");
}

TEST_F(KinetoRoundTrip, OneWorkerIsExportedAloneAsItsOwnProfilerWouldHave) {
    std::vector<Chunk> chunks = sharedStep(0);
    for (Chunk& chunk : sharedStep(3)) chunks.push_back(std::move(chunk));
    record(chunks);
    ToldSlices wanted;
    for (const auto& [place, sums] : slicesOf(1))
        if (std::get<0>(place) == 3) wanted[place] = sums;
    ASSERT_FALSE(wanted.empty());
    for (const ExportFormat format : {ExportFormat::Kineto, ExportFormat::Perfetto}) {
        const std::int64_t back = again(1, format, 3);
        EXPECT_EQ(slicesOf(back), wanted) << infoOf(format).word << ": its rank comes back too";
        EXPECT_THAT(allocationsOf(back), testing::StartsWith("3 515 weights of ")) << infoOf(format).word;
        EXPECT_THAT(allocationsOf(back), testing::Not(testing::HasSubstr("0 512 weights"))) << infoOf(format).word;
    }
    const auto trace = nlohmann::json::parse(contentOf(folder.file("again.pt.trace.json")));
    EXPECT_EQ(trace["distributedInfo"]["rank"], 3) << "HTA takes a file for the rank that it says";
    EXPECT_GE(trace["distributedInfo"]["world_size"], 2);
    EXPECT_FALSE(trace.contains("stepscopeRanks"));
    for (const auto& row : trace["traceEvents"]) {
        EXPECT_EQ(row["pid"], 100) << row;
    }
    const std::string pickle = folder.file("x.pickle");
    ASSERT_TRUE(exportSession(path, 1, pickle, ExportFormat::MemorySnapshot, Existing::Replace, {}, 3));
    const auto snapshot = pickleRead(contentOf(pickle));
    ASSERT_EQ(snapshot["device_traces"].size(), 1u);
    EXPECT_EQ(snapshot["device_traces"][0][0]["size"], 515);
    const std::string none = folder.file("refused.json");
    const auto refusal = [&](ExportFormat format, std::int64_t rank) {
        const auto written = exportSession(path, 1, none, format, Existing::Replace, {}, rank);
        return written ? std::string() : written.error().sentence;
    };
    for (const ExportFormat format : {ExportFormat::Kineto, ExportFormat::Perfetto, ExportFormat::MemorySnapshot})
        EXPECT_EQ(refusal(format, 2), "Session 1 has captured nothing of rank 2; it has ranks 0, 3.");
    EXPECT_THAT(refusal(ExportFormat::CsvLong, 0), testing::HasSubstr("--rank is of what was captured"));
    EXPECT_FALSE(std::filesystem::exists(none));
}

TEST_F(KinetoRoundTrip, OneOfSeveralImportedTracesSaysWhatItsOwnFileSaid) {
    const auto file = [&](const char* name, int rank) {
        writeFile(folder.file(name),
                  fmt::format(R"({{"deviceProperties": [{{"id": 0, "name": "GPU of {0}"}}], "distributedInfo": {{"backend": "nccl", "rank": {0}, )"
                              R"("world_size": 8}}, "traceEvents": [{{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 1, )"
                              R"("dur": 2, "args": {{"External id": 1}}}}]}})",
                              rank));
        return folder.file(name);
    };
    const auto both = importFiles({.database = path, .files = {file("four.json", 4), file("six.json", 6)}, .name = {}, .progress = {}});
    ASSERT_TRUE(both) << both.error().sentence;
    const auto exported = [&](const OneRank& rank) {
        EXPECT_TRUE(exportSession(path, both->session, folder.file("out.json"), ExportFormat::Kineto, Existing::Replace, {}, rank));
        return nlohmann::json::parse(contentOf(folder.file("out.json")));
    };
    EXPECT_EQ(exported(6)["distributedInfo"], nlohmann::json({{"backend", "nccl"}, {"rank", 6}, {"world_size", 8}}));
    EXPECT_EQ(exported(6)["deviceProperties"][0]["name"], "GPU of 6");
    EXPECT_EQ(exported({})["distributedInfo"]["rank"], 4) << "all of them together as the first";
}

TEST_F(KinetoRoundTrip, SaysWhatAnOperationComputesAndMovesOnceHoweverOftenItComesIn) {
    auto chunks = everything();
    SliceBlock python{.thread = {.process = 10, .thread = 11, .number = 1, .name = "trainer"}, .strings = {"", "train.py(3): step"}};
    python.slices = {{.start = 2000, .duration = 5, .name = 1, .kind = SliceKind::Python}};
    chunks.push_back(encodeSlices(python));
    record(chunks);
    const std::int64_t back = again(again());
    const std::string file = folder.file("thrice.json");
    ASSERT_TRUE(exportSession(path, back, file, ExportFormat::Kineto));
    const auto trace = nlohmann::json::parse(contentOf(file));
    EXPECT_EQ(trace["with_stack"], 1) << "functions of Python are in it";
    const auto row = std::ranges::find_if(trace["traceEvents"], [](const auto& one) { return one["name"] == "aten::addmm" && one["ph"] == "X"; });
    ASSERT_NE(row, trace["traceEvents"].end());
    EXPECT_EQ((*row)["args"]["kernel_flop"], 96);
    const std::string all = contentOf(file);
    std::size_t times = 0;
    for (auto at = all.find("kernel_flop"); at != std::string::npos; at = all.find("kernel_flop", at + 1)) ++times;
    EXPECT_EQ(times, 1u);
}

TEST_F(KinetoRoundTrip, CallsOfWorkersThatAreAtDifferentStepsBelongToTheirOwn) {
    std::vector<Chunk> chunks;
    for (const std::int64_t rank : {0, 1}) {
        SliceBlock host{.thread = {.process = 10, .thread = 11, .name = "trainer", .lane = 1 + rank, .rank = rank}};
        host.strings = {"", "a step", "cudaLaunchKernel"};
        const std::int64_t step = 5 + rank;
        host.slices = {{.start = 1000 + 10 * rank, .duration = 900, .name = 1, .kind = SliceKind::Step, .step = step},
                       {.start = 1500, .duration = 20, .name = 2, .depth = 1, .kind = SliceKind::Runtime, .step = step, .correlation = 7}};
        chunks.push_back(encodeSlices(host));
    }
    record(chunks);
    const std::int64_t back = again();
    const auto steps = run("SELECT rank, step FROM runtime ORDER BY rank", {}, back);
    ASSERT_TRUE(steps) << steps.error().sentence;
    EXPECT_EQ(asText(*steps), "0|5\n1|6\n");
}

TEST_F(KinetoRoundTrip, CountersKeepTheirUnits) {
    auto chunks = everything();
    SampleBlock more{.lane = 9, .process = 10, .name = "python", .series = {{}, {"clock", "Hz"}, {"length", ""}, {"unclear", "W"}}};
    more.samples = {{1300, 1, 2e9}, {1300, 2, 4}, {1300, 3, 5}};
    SampleBlock other{.lane = 10, .process = 11, .name = "python", .series = {{}, {"unclear", "J"}}, .samples = {{1300, 1, 6}}};
    chunks.push_back(encodeSamples(more));
    chunks.push_back(encodeSamples(other));
    record(chunks);
    const std::int64_t back = again();
    for (int round = 0; round < 2; ++round) {
        const auto told = run("SELECT DISTINCT name, unit FROM sample ORDER BY name", {}, round == 0 ? back : again(back));
        ASSERT_TRUE(told) << told.error().sentence;
        EXPECT_EQ(asText(*told), "clock|Hz\nlength|NULL\npower|W\nunclear|NULL\n") << "the last one is in two units in one trace";
    }
    EXPECT_EQ(text("SELECT DISTINCT unit FROM sample WHERE name = 'power'"), "W\n");
}

TEST_F(KinetoRoundTrip, SumsOfAProcessorsCountersAreNoCurves) {
    auto chunks = everything();
    SampleBlock sums{.lane = 9, .name = kCountedOperations, .series = {{}, {"aten::addmm", "instructions"}}, .samples = {{1000, 1, 5e6}}};
    chunks.push_back(encodeSamples(sums));
    record(chunks);
    for (const ExportFormat format : {ExportFormat::Kineto, ExportFormat::Perfetto}) {
        const std::string file = folder.file(format == ExportFormat::Kineto ? "sums.json" : "sums.pftrace");
        const auto done = exportSession(path, 1, file, format, Existing::Replace);
        ASSERT_TRUE(done) << done.error().sentence;
        EXPECT_THAT(contentOf(file), testing::HasSubstr("power"));
        EXPECT_THAT(contentOf(file), testing::Not(testing::HasSubstr("instructions")));
        if (format == ExportFormat::Kineto) {
            EXPECT_THAT(contentOf(file), testing::Not(testing::HasSubstr("5000000.0")));
        }
    }
}

TEST_F(KinetoRoundTrip, APerfettoTraceBringsAllocationsBackWithKindOwnerAndTotals) {
    SliceBlock slices{.thread = {.process = 100, .thread = 101, .name = "trainer", .lane = 1}, .strings = {"", "aten::mm"}};
    slices.slices = {{.start = 1000, .duration = 9000, .name = 1}};
    AllocationBlock memory{.lane = 2, .process = 100, .strings = {"", "weights", "MLP", "aten::mm"}};
    memory.allocations = {
        {.at = 1100, .address = 64, .bytes = 512, .totalAllocated = 512, .kind = 1},
        {.at = 1200, .address = 128, .bytes = 256, .device = 0, .totalAllocated = 256, .totalReserved = 1024, .kind = 2, .owner = 3},
        {.at = 1300, .address = 192, .bytes = 8, .device = 0},
        {.at = 1400, .address = 128, .bytes = -256, .device = 0, .totalAllocated = 0}};
    SampleBlock counter{.lane = 3, .device = 0, .series = {{}, {"power", "W"}}, .samples = {{1500, 1, 55.5}}};
    record({encodeSlices(slices), encodeAllocations(memory), encodeSamples(counter)});
    const auto told = [&](std::int64_t session) {
        auto reader = SessionReader::open(path);
        std::string all;
        EXPECT_TRUE(forEachAllocationBlock(**reader, session, [&](const AllocationBlock& block) -> Status {
            for (const Allocation& one : block.allocations)
                all += fmt::format("{} {} {} {} {} {} {} of {}\n", one.at, one.address, one.bytes, one.device, one.totalAllocated, one.totalReserved,
                                   block.strings[one.kind], block.strings[one.owner]);
            return {};
        }));
        EXPECT_TRUE(forEachSampleBlock(**reader, session, [&](const SampleBlock& block) -> Status {
            for (const Sample& one : block.samples) all += fmt::format("{} {}\n", block.series[one.series].name, one.value);
            return {};
        }));
        return all;
    };
    const std::string before = told(1);
    // Times begin anew with an import: at the first record.
    std::string moved;
    for (const auto& one : memory.allocations)
        moved += fmt::format("{} {} {} {} {} {} {} of {}\n", one.at - 1000, one.address, one.bytes, one.device, one.totalAllocated, one.totalReserved,
                             memory.strings[one.kind], memory.strings[one.owner]);
    moved += "power 55.5\n";
    EXPECT_EQ(told(again(1, ExportFormat::Perfetto)), moved) << "and no counter beside them that says the same:\n" << before;
}

TEST_F(KinetoRoundTrip, ASnapshotOfAnOwnRunHasWhatWasInUseBehindItsLastStep) {
    record(sharedStep());
    const std::string file = folder.file("x.pickle");
    ASSERT_TRUE(exportSession(path, 1, file, ExportFormat::MemorySnapshot));
    const auto snapshot = pickleRead(contentOf(file));
    ASSERT_EQ(snapshot["segments"].size(), 1u) << "nobody gave the weights back: the capture only ended";
    EXPECT_EQ(snapshot["segments"][0]["total_size"], 512);
    EXPECT_EQ(snapshot["segments"][0]["frames"][0]["filename"], "weights");
    EXPECT_EQ(snapshot["device_traces"][0].size(), 4u) << "two that were taken, one that was given back";
}

constexpr const char* kEachWithItsBackward =
    "SELECT f.name, b.name, count(*) FROM op b JOIN op f ON f.sequence = b.sequence AND f.rank = b.rank AND f.capture = b.capture "
    "AND +f.start_ns = b.forward_start_ns WHERE b.kind = 'backward' AND f.kind <> 'backward' GROUP BY 1, 2 ORDER BY 1, 2";

TEST_F(KinetoRoundTrip, BackwardFunctionsOfRealTracesAreAutogradsNodes) {
    const auto real = [](const char* name) { return std::string(STEPSCOPE_REAL_TRACES "/") + name; };
    if (!std::filesystem::exists(real("v100-kineto.pt.trace.json.gz"))) GTEST_SKIP() << "needs the traces of real GPUs in " STEPSCOPE_REAL_TRACES;
    struct Trace {
        const char* file;
        int nodes, gradients;  // with a forward operation, and those that add a gradient to a weight's; counted with Python's json
        const char* pair;
    };
    for (const Trace& one : {Trace{"v100-kineto.pt.trace.json.gz", 905, 805, "aten::addmm|AddmmBackward0|5\n"},
                             Trace{"mi250-minitoy.json.gz", 4, 2, "aten::addmm|AddmmBackward0|1\n"}}) {
        const auto done = importFiles({.database = path, .files = {real(one.file)}, .name = {}, .progress = {}});
        ASSERT_TRUE(done) << done.error().sentence;
        EXPECT_EQ(kindsOf(done->session)[SliceKind::Backward], one.nodes + one.gradients) << one.file;
        const auto pairs = run(kEachWithItsBackward, {}, done->session);
        ASSERT_TRUE(pairs) << pairs.error().sentence;
        const std::string told = asText(*pairs);
        EXPECT_THAT(told, testing::HasSubstr(one.pair)) << one.file;
        EXPECT_THAT(told, testing::Not(testing::HasSubstr("evaluate_function"))) << one.file;
        std::int64_t joined = 0;
        for (const auto& row : pairs->rows) joined += std::get<std::int64_t>(row[2]);
        EXPECT_EQ(joined, one.nodes) << one.file << ": each has one forward operation";
        const std::int64_t back = again(done->session);
        EXPECT_EQ(kindsOf(back), kindsOf(done->session)) << one.file;
        EXPECT_EQ(asText(*run(kEachWithItsBackward, {}, back)), told) << one.file;

        // Along the arrow, there and back.
        auto trace = SessionTrace::open(path, done->session);
        ASSERT_TRUE((*trace)->complete([] { return true; }));
        TraceIndex index(**trace);
        ASSERT_TRUE(index.lanes());
        const auto node = index.find("AddmmBackward0", {}, true);
        ASSERT_TRUE(node && *node) << one.file;
        const auto wrapped = (*node)->name.starts_with("autograd::") ? index.find("AddmmBackward0", (*node)->place(), true) : node;
        ASSERT_TRUE(wrapped && *wrapped);
        EXPECT_EQ((*wrapped)->name, "AddmmBackward0");
        const auto from = index.flows(**wrapped);
        ASSERT_TRUE(from) << from.error().sentence;
        ASSERT_EQ(from->size(), 1u) << one.file;
        EXPECT_EQ((*from)[0].name, "aten::addmm");
        const auto to = index.flows((*from)[0]);
        ASSERT_TRUE(to);
        ASSERT_EQ(to->size(), 1u) << one.file;
        EXPECT_EQ((*to)[0].name, "AddmmBackward0");
    }
}

TEST_F(KinetoRoundTrip, AForwardOperationHasItsBackwardFunctionsInOurOwnExportToo) {
    record(sharedStep());
    const std::string told = text(kEachWithItsBackward);
    EXPECT_EQ(told, "aten::mul|MulBackward0|1\n");
    EXPECT_EQ(asText(*run(kEachWithItsBackward, {}, again())), told);
}

}  // namespace
}  // namespace stepscope::test
