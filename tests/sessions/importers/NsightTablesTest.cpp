// What Nsight Systems records beside kernels and calls: copies, memsets, waits, its own overhead, allocations and NVTX's ranges and marks, in the
// columns that it exports; and what python's sqlite3 counts of a real report.
#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "sessions/Samples.h"
#include "sessions/Slices.h"
#include "sessions/importers/Import.h"
#include "tests/sessions/TestSupport.h"

namespace stepscope::test {
namespace {

// Serialized as Nsight does: process 7 of a machine that is not the first, and two of its threads.
constexpr std::int64_t kNsightProcess = (std::int64_t{1} << 48) + 7 * 0x1000000;
constexpr std::int64_t kNsightThread = kNsightProcess + 70, kNsightOtherThread = kNsightProcess + 71;

struct TableSlice {
    std::string name;
    SliceArguments arguments;
    Slice slice;
    SliceThread thread;
};

struct NsightTables : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");

    // The tables of a report, with the columns that version 2022.2 exports, and a first call, which the session begins with: at 1000 ns.
    ImportSummary imported(const std::vector<std::string>& rows) {
        const std::string name = folder.file("report.sqlite");
        {
            SQLite::Database database(name, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
            for (const char* table :
                 {"EXPORT_META_DATA (name, value)", "StringIds (id INTEGER PRIMARY KEY, value TEXT)", "ThreadNames (nameId, priority, globalTid)",
                  "CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue, callchainId)",
                  "CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, "
                  "deprecatedSrcId, srcKind, dstKind, srcDeviceId, srcContextId, dstDeviceId, dstContextId, migrationCause, graphNodeId, "
                  "virtualAddress)",
                  "CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, streamId, correlationId, globalPid, value, bytes, graphNodeId, "
                  "memKind)",
                  "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, contextId, streamId, correlationId, globalPid, syncType, eventId)",
                  "PROFILER_OVERHEAD (start, end, globalTid, nameId, returnValue)",
                  "CUDA_GPU_MEMORY_USAGE_EVENTS (start, globalPid, deviceId, contextId, address, pc, bytes, memKind, memoryOperationType, name, "
                  "correlationId)",
                  "NVTX_EVENTS (start, end, eventType, rangeId, category, color, text, globalTid, endGlobalTid, textId, domainId)"})
                database.exec(std::string("CREATE TABLE ") + table);
            database.exec(
                "INSERT INTO StringIds VALUES (1, 'cudaMemcpyAsync_v3020'), (2, 'CUPTI: Resource Management'), (3, 'backward'), (4, 'main')");
            database.exec(fmt::format("INSERT INTO ThreadNames VALUES (4, 0, {})", kNsightThread));
            database.exec(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 1500, 0, {}, 11, 1, 0, NULL)", kNsightThread));
            for (const auto& one : rows) database.exec("INSERT INTO " + one);
        }
        auto summary = importFiles({.database = path, .files = {name}, .name = {}, .progress = {}});
        EXPECT_TRUE(summary) << summary.error().sentence;
        return summary ? *summary : ImportSummary{};
    }
    // Of this kind, in order of time.
    std::vector<TableSlice> slices(std::int64_t session, SliceKind kind) {
        std::vector<TableSlice> all;
        auto reader = SessionReader::open(path);
        EXPECT_TRUE(forEachSliceBlock(**reader, session, [&](const SliceBlock& block) -> Status {
            for (const auto& one : block.slices)
                if (one.kind == kind) all.push_back({block.strings.at(one.name), block.arguments.at(one.arguments), one, block.thread});
            return {};
        }));
        std::ranges::sort(all, {}, [](const TableSlice& one) { return std::pair(one.slice.start, -one.slice.duration); });
        return all;
    }
    // "GPU 0, stream 7: Memcpy ..., from 1000 for 400"
    static std::string told(const TableSlice& one) {
        const std::string place = one.thread.device >= 0 ? fmt::format("GPU {}, {}", one.thread.device, one.thread.name)
                                                         : fmt::format("{} of {}, {}", one.thread.thread, one.thread.process, one.thread.name);
        return fmt::format("{}: {}, from {} for {}", place, one.name, one.slice.start, one.slice.duration);
    }
    std::vector<std::string> told(std::int64_t session, SliceKind kind) {
        std::vector<std::string> all;
        for (const auto& one : slices(session, kind)) all.push_back(told(one));
        return all;
    }
};

TEST_F(NsightTables, CopiesHaveTheirTimesBytesAndTheStreamThatTheyRanOn) {
    const auto done = imported(
        {fmt::format("CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, srcKind, "
                     "dstKind) VALUES (3000, 3400, 0, 1, 7, 11, {0}, 4096, 1, 0, 2), (3500, 3600, 0, 1, 20, 12, {0}, 8192, 2, 2, 1), "
                     "(3700, 3800, 1, 2, 7, 13, {0}, 512, 8, 2, 2), (3900, 3950, 0, 1, 7, 14, {0}, 16, 10, 2, NULL), "
                     "(4000, 4001, 0, 1, 7, 15, {0}, 1, 99, NULL, NULL)",
                     kNsightProcess)});
    EXPECT_EQ(done.copies, 5);
    EXPECT_EQ(done.skipped, 0);
    EXPECT_EQ(done.flows, 1) << "one of them has its call";
    EXPECT_THAT(told(done.session, SliceKind::Memcpy), testing::ElementsAre("GPU 0, stream 7: Memcpy HtoD (Pageable -> Device), from 2000 for 400",
                                                                            "GPU 0, stream 20: Memcpy DtoH (Device -> Pinned), from 2500 for 100",
                                                                            "GPU 1, stream 7: Memcpy DtoD (Device -> Device), from 2700 for 100",
                                                                            "GPU 0, stream 7: Memcpy PtoP (Device -> Unknown), from 2900 for 50",
                                                                            "GPU 0, stream 7: Memcpy Unknown, from 3000 for 1"));
    std::vector<std::int64_t> bytes, correlations, streams;
    for (const auto& one : slices(done.session, SliceKind::Memcpy)) {
        bytes.push_back(one.arguments.bytes);
        correlations.push_back(one.slice.correlation);
        streams.push_back(one.thread.thread);
    }
    EXPECT_THAT(bytes, testing::ElementsAre(4096, 8192, 512, 16, 1));
    EXPECT_THAT(correlations, testing::ElementsAre(11, 12, 13, 14, 15));
    EXPECT_THAT(streams, testing::ElementsAre(7, 20, 7, 7, 7));
}

TEST_F(NsightTables, MemsetsHaveTheirTimesBytesAndTheKindOfMemory) {
    const auto done =
        imported({fmt::format("CUPTI_ACTIVITY_KIND_MEMSET VALUES (3000, 3050, 0, 1, 7, 14, {0}, 0, 1024, NULL, 2), "
                              "(3100, 3170, 0, 1, 20, 15, {0}, 255, 64, NULL, 4)",
                              kNsightProcess)});
    EXPECT_EQ(done.memsets, 2);
    EXPECT_EQ(done.skipped, 0);
    EXPECT_THAT(told(done.session, SliceKind::Memset),
                testing::ElementsAre("GPU 0, stream 7: Memset (Device), from 2000 for 50", "GPU 0, stream 20: Memset (Managed), from 2100 for 70"));
    const auto all = slices(done.session, SliceKind::Memset);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].arguments.bytes, 1024);
    EXPECT_EQ(all[1].arguments.bytes, 64);
    EXPECT_EQ(all[1].slice.correlation, 15);
}

// Beside the work of their stream, which goes on meanwhile.
TEST_F(NsightTables, WaitsHaveLanesOfTheirOwnAndTheWordsOfTheirKinds) {
    const auto done = imported(
        {fmt::format("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (3000, 3100, 0, 1, 7, 21, {0}, 1, 5), (3200, 3210, 0, 1, 7, 22, {0}, 2, 5), "
                     "(3300, 3400, 0, 1, 20, 23, {0}, 3, 0), (3500, 3900, 0, 1, 0, 24, {0}, 4, 0), (4000, 4010, 0, 1, 7, 25, {0}, 9, 0)",
                     kNsightProcess),
         fmt::format("CUPTI_ACTIVITY_KIND_MEMSET VALUES (3000, 3090, 0, 1, 7, 14, {}, 0, 1024, NULL, 2)", kNsightProcess)});
    EXPECT_EQ(done.synchronisations, 5);
    EXPECT_EQ(done.skipped, 0);
    EXPECT_THAT(
        told(done.session, SliceKind::Synchronisation),
        testing::ElementsAre("GPU 0, stream 7 (sync): Event Sync, from 2000 for 100", "GPU 0, stream 7 (sync): Stream Wait Event, from 2200 for 10",
                             "GPU 0, stream 20 (sync): Stream Sync, from 2300 for 100", "GPU 0, stream 0 (sync): Context Sync, from 2500 for 400",
                             "GPU 0, stream 7 (sync): Synchronisation, from 3000 for 10"));
    const auto waits = slices(done.session, SliceKind::Synchronisation), work = slices(done.session, SliceKind::Memset);
    ASSERT_EQ(waits.size(), 5u);
    ASSERT_EQ(work.size(), 1u);
    EXPECT_NE(waits[0].thread.lane, work[0].thread.lane);
    EXPECT_EQ(waits[0].slice.depth, 0) << "neither lies in the other";
    EXPECT_EQ(work[0].slice.depth, 0);
    EXPECT_EQ(waits[2].slice.correlation, 23);
}

TEST_F(NsightTables, TheProfilersOwnTimeIsOverheadOfTheThreadThatItTook) {
    const auto done =
        imported({fmt::format("PROFILER_OVERHEAD VALUES (2000, 2600, {}, 2, 0), (2700, 2800, {}, 2, 3)", kNsightThread, kNsightOtherThread)});
    EXPECT_EQ(done.others, 2);
    EXPECT_EQ(done.skipped, 0);
    EXPECT_THAT(told(done.session, SliceKind::Overhead), testing::ElementsAre("70 of 7, main: CUPTI: Resource Management, from 1000 for 600",
                                                                              "71 of 7, : CUPTI: Resource Management, from 1700 for 100"));
    const auto all = slices(done.session, SliceKind::Overhead);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].arguments.extra, "");
    EXPECT_EQ(all[1].arguments.extra, R"({"return":3})");
}

// The host's memory that is allocated by CUDA is none of a GPU, whichever device its row names.
TEST_F(NsightTables, AllocationsAreOfTheGpuOrOfTheHostByTheKindOfTheirMemory) {
    const auto done =
        imported({fmt::format("CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (3000, {0}, 0, 1, 4096, 0, 1048576, 2, 0, NULL, 31), "
                              "(3100, {0}, 1, 2, 8192, 0, 512, 4, 0, NULL, 32), (3200, {0}, 0, 1, 12288, 0, 2048, 1, 0, NULL, 33), "
                              "(3300, {0}, 4294967295, 1, 16384, 0, 128, 0, 0, NULL, 34), "
                              "(3900, {0}, 0, 1, 4096, 0, 1048576, 2, 1, NULL, 35), (4000, {0}, 0, 1, 12288, 0, 2048, 1, 1, NULL, 36)",
                              kNsightProcess)});
    EXPECT_EQ(done.allocations, 6);
    EXPECT_EQ(done.skipped, 0);
    EXPECT_TRUE(done.reasons.empty()) << done.reasons.begin()->first;
    std::vector<std::string> all;
    auto reader = SessionReader::open(path);
    ASSERT_TRUE(forEachAllocationBlock(**reader, done.session, [&](const AllocationBlock& block) -> Status {
        EXPECT_EQ(block.process, 7);
        for (const auto& one : block.allocations)
            all.push_back(fmt::format("{} B {} at {} of device {}, from {}", one.bytes, block.strings.at(one.kind), one.address, one.device, one.at));
        return {};
    }));
    EXPECT_THAT(all, testing::ElementsAre("1048576 B Device at 4096 of device 0, from 2000", "512 B Managed at 8192 of device 1, from 2100",
                                          "2048 B Pinned at 12288 of device -1, from 2200", "128 B Pageable at 16384 of device -1, from 2300",
                                          "-1048576 B Device at 4096 of device 0, from 2900", "-2048 B Pinned at 12288 of device -1, from 3000"));
}

TEST_F(NsightTables, RangesAndMarksOfNvtxAreAnnotationsOfTheirThread) {
    const auto row = [](std::int64_t start, const std::string& end, int type, const std::string& text, const std::string& textId,
                        std::int64_t thread) {
        return fmt::format("NVTX_EVENTS (start, end, eventType, text, textId, globalTid) VALUES ({}, {}, {}, {}, {}, {})", start, end, type, text,
                           textId, thread);
    };
    const auto done = imported({row(3000, "3500", 59, "'forward'", "NULL", kNsightThread), row(3100, "3200", 59, "NULL", "3", kNsightThread),
                                row(3150, "NULL", 34, "'here'", "NULL", kNsightThread), row(3400, "3700", 60, "'copy ahead'", "NULL", kNsightThread),
                                row(3050, "3060", 60, "'other'", "NULL", kNsightOtherThread),
                                // A domain, a category, a thread's name, and a range that was never popped.
                                row(2000, "NULL", 75, "'MPI'", "NULL", kNsightThread), row(2000, "NULL", 33, "'io'", "NULL", kNsightThread),
                                row(2000, "NULL", 39, "'rank 0'", "NULL", kNsightThread), row(3800, "NULL", 59, "'open'", "NULL", kNsightThread)});
    EXPECT_EQ(done.annotations, 5);
    EXPECT_EQ(done.skipped, 1);
    EXPECT_EQ(done.reasons.at("ranges that have no end"), 1);
    EXPECT_THAT(told(done.session, SliceKind::Annotation),
                testing::ElementsAre("70 of 7, main: forward, from 2000 for 500", "71 of 7, : other, from 2050 for 10",
                                     "70 of 7, main: backward, from 2100 for 100", "70 of 7, main: here, from 2150 for 0",
                                     "70 of 7, main: copy ahead, from 2400 for 300"));
    std::map<std::string, std::int32_t> depths;
    for (const auto& one : slices(done.session, SliceKind::Annotation)) depths[one.name] = one.slice.depth;
    EXPECT_EQ(depths, (std::map<std::string, std::int32_t>{{"forward", 0}, {"backward", 1}, {"here", 2}, {"copy ahead", 1}, {"other", 0}}));
}

// Counted with python's sqlite3: SELECT count(*), sum(bytes), sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY, and of NVTX_EVENTS those of type 59.
TEST_F(NsightTables, OfARealReportCopiesAndRangesAreWhatPythonCounts) {
    const std::string real = STEPSCOPE_REAL_TRACES "/a100-saxpy-nsys.sqlite";
    if (!std::filesystem::exists(real)) GTEST_SKIP() << "needs the traces of real GPUs in " STEPSCOPE_REAL_TRACES;
    const auto done = importFiles({.database = path, .files = {real}, .name = {}, .progress = {}});
    ASSERT_TRUE(done) << done.error().sentence;
    const auto copies = slices(done->session, SliceKind::Memcpy), ranges = slices(done->session, SliceKind::Annotation);
    std::map<std::string, std::int64_t> byName;
    std::int64_t bytes = 0, time = 0;
    for (const auto& one : copies) {
        ++byName[one.name];
        bytes += one.arguments.bytes;
        time += one.slice.duration;
        EXPECT_EQ(one.thread.device, 0);
        EXPECT_EQ(one.thread.thread, 7);
    }
    EXPECT_EQ(copies.size(), 15u);
    EXPECT_EQ(bytes, 3'932'160'000);
    EXPECT_EQ(time, 284'699'600);
    EXPECT_EQ(byName, (std::map<std::string, std::int64_t>{{"Memcpy HtoD (Pageable -> Device)", 10}, {"Memcpy DtoH (Device -> Pageable)", 5}}));
    byName.clear();
    time = 0;
    for (const auto& one : ranges) {
        ++byName[one.name];
        time += one.slice.duration;
        EXPECT_LT(one.thread.device, 0);
    }
    EXPECT_EQ(ranges.size(), 22u);
    EXPECT_EQ(time, 896'325'758);
    EXPECT_EQ(byName, (std::map<std::string, std::int64_t>{{"MPI_Init", 1}, {"MPI_Send", 10}, {"saxpy", 5}, {"MPI_Recv", 5}, {"MPI_Finalize", 1}}));
    EXPECT_EQ(copies.front().slice.start - ranges.front().slice.start, 887'857'742 - 65'117'824) << "on one clock";
    EXPECT_EQ(slices(done->session, SliceKind::Overhead).size(), 16u);
}

}  // namespace
}  // namespace stepscope::test
