// What testers found with traces that somebody bent, and with what real profilers write beside the rule: each is kept as far as it goes, in bounded
// time and memory, and can be read and exported again; or it is one sentence.
#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/analysis/captures/DeviceSummary.h"
#include "core/analysis/captures/KernelSummary.h"
#include "core/analysis/why/WorkClass.h"
#include "core/base/KeyedHash.h"
#include "sessions/DeviceShapes.h"
#include "sessions/SessionStore.h"
#include "sessions/Slices.h"
#include "sessions/exporters/KinetoTrace.h"
#include "sessions/importers/Import.h"
#include "tests/sessions/TestSupport.h"

namespace stepscope::test {
namespace {

using ImportedJson = nlohmann::json;

struct ReadSlice {
    std::string name;
    SliceArguments arguments;
    Slice slice;
    SliceThread thread;
};

struct HostileImport : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");

    std::string trace(const std::string& events) {
        const std::string name = folder.file(fmt::format("t{}.json", ++m_files));
        writeFile(name, "{\"traceEvents\": [" + events + "]}");
        return name;
    }
    // As Nsight Systems exports it, in as few columns as are read.
    std::string nsight(const std::vector<std::string>& statements) {
        const std::string name = folder.file(fmt::format("n{}.sqlite", ++m_files));
        SQLite::Database database(name, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        database.exec("CREATE TABLE META_DATA_EXPORT (name, value)");
        for (const auto& statement : statements) database.exec(statement);
        return name;
    }
    Result<ImportSummary> run(const std::string& file) { return importFiles({.database = path, .files = {file}, .name = {}, .progress = {}}); }
    ImportSummary good(const std::string& file) {
        auto summary = run(file);
        EXPECT_TRUE(summary) << summary.error().sentence;
        if (!summary) return {};
        EXPECT_FALSE(storedEvents(path, summary->session).empty());
        return *summary;
    }
    std::vector<ReadSlice> slices(std::int64_t session) {
        auto reader = SessionReader::open(path);
        std::vector<ReadSlice> all;
        const Status read = forEachSliceBlock(**reader, session, [&](const SliceBlock& block) -> Status {
            for (const auto& one : block.slices) all.push_back({block.strings.at(one.name), block.arguments.at(one.arguments), one, block.thread});
            return {};
        });
        EXPECT_TRUE(read) << read.error().sentence;
        return all;
    }
    ReadSlice named(std::int64_t session, const std::string& name) {
        for (auto& one : slices(session))
            if (one.name == name) return one;
        ADD_FAILURE() << name;
        return {};
    }
    ImportedJson exported(std::int64_t session) {
        std::ostringstream out;
        EXPECT_TRUE(exportKinetoTrace(path, session, out, "again"));
        return ImportedJson::parse(out.str())["traceEvents"];
    }
    int m_files = 0;
};

std::string event(const std::string& cat, const std::string& name, const std::string& ts, const std::string& dur, const std::string& args = "",
                  const std::string& place = R"("pid": 7, "tid": 8)") {
    return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", {}, "ts": {}, "dur": {}, "args": {{{}}}}})", cat, name, place, ts, dur, args);
}

std::string gzipMember(const std::string& plain) {
    std::string out(plain.size() + 100, '\0');
    z_stream zlib{};
    deflateInit2(&zlib, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
    zlib.avail_in = static_cast<uInt>(plain.size());
    zlib.next_out = reinterpret_cast<Bytef*>(out.data());
    zlib.avail_out = static_cast<uInt>(out.size());
    deflate(&zlib, Z_FINISH);
    out.resize(zlib.total_out);
    deflateEnd(&zlib);
    return out;
}

constexpr const char* kCalls = "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId)";

TEST_F(HostileImport, NumbersThatNoReaderTakesAreLeftOutAndTheSliceKept) {
    const std::string most = "9223372036854775807";
    const auto done = good(trace(
        event("cpu_op", "o", "1", "1", "\"flops\": " + most + ", \"bytes\": 5, \"Step\": " + most) + "," +
        event(
            "kernel", "k", "1", "1",
            fmt::format(
                R"("bytes": {0}, "grid": [{0}, 2, 1], "block": [1, {0}, 1], "registers per thread": {0}, "shared memory": {0}, "correlation": {0}, "device": 0)",
                most),
            R"("pid": 0, "tid": 7)") +
        "," + event("user_annotation", "ProfilerStep#" + most, "1", "1")));
    EXPECT_EQ(done.reasons.at("numbers of arguments that were left out: larger than they can be"), 2);
    EXPECT_EQ(named(done.session, "o").arguments.flops, 0);
    EXPECT_EQ(named(done.session, "o").arguments.bytes, 5);
    EXPECT_EQ(named(done.session, "k").arguments.grid, (std::array<std::int64_t, 3>{0, 2, 1}));
}

TEST_F(HostileImport, StepsOfATraceAreShownWithTheirTime) {
    std::string events = event("cpu_op", "a", "5", "1");
    for (int i = 1; i <= 4; ++i) events += "," + event("user_annotation", fmt::format("ProfilerStep#{}", i), std::to_string(i * 1000), "900");
    const auto done = good(trace(events));
    EXPECT_EQ(done.steps, 4);
    auto reader = SessionReader::open(path);
    const auto summary = (*reader)->summary(done.session);
    EXPECT_EQ(summary->steps, 4);
    EXPECT_EQ(summary->msPerStepMedian, 0.9);
    EXPECT_TRUE(std::isnan(summary->lossLast));
    EXPECT_TRUE(std::isnan(summary->tokensPerSecond)) << "nobody said how many tokens a step has";
}

TEST_F(HostileImport, AParentThatRoundingEndsTooEarlyStillCallsItsChild) {
    const auto done = good(trace(event("cpu_op", "parent", "100.25", "50", "") + "," + event("cpu_op", "child", "120.5", "30.0") + "," +
                                 event("cpu_op", "inner", "130.75", "10") + "," +
                                 event("user_annotation", "ProfilerStep#1", "200.25", "100.25", "", R"("pid": 7, "tid": 9)") + "," +
                                 event("user_annotation", "ProfilerStep#2", "300.25", "100.25", "", R"("pid": 7, "tid": 9)")));
    EXPECT_EQ(named(done.session, "parent").slice.called, 29'750);
    EXPECT_EQ(named(done.session, "child").slice.depth, 1);
    EXPECT_EQ(named(done.session, "child").slice.called, 10'000);
    EXPECT_EQ(named(done.session, "inner").slice.depth, 2);
    EXPECT_EQ(named(done.session, "ProfilerStep#1").slice.called, 250) << "what two steps share is the second one's";
    const auto exact = good(trace(event("cpu_op", "parent", "100.250", "50.001") + "," + event("cpu_op", "child", "120.501", "30.000")));
    EXPECT_EQ(named(exact.session, "parent").slice.called, 0) << "nothing is rounded there";
}

TEST_F(HostileImport, ACallThatIsToldTwiceLaunchesOnce) {
    const auto done =
        good(nsight({"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)",
                     "INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (2, 'cudaLaunchKernel_v7000'), (3, 'saxpy'), (4, 'cuLaunch')", kCalls,
                     "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (101, 109, 5, 9, 2), (100, 110, 5, 9, 1), (102, 105, 5, 9, 4)",
                     "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, shortName)",
                     "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (120, 130, 0, 1, 7, 9, 3)"}));
    EXPECT_EQ(done.runtimeCalls, 3) << "the rows of the list";
    EXPECT_EQ(done.skipped, 0);
    int begins = 0, ends = 0;
    for (const auto& row : exported(done.session)) {
        if (row["ph"] == "s") ++begins;
        if (row["ph"] == "f") ++ends;
    }
    EXPECT_EQ(begins, 1);
    EXPECT_EQ(ends, 1);
}

TEST_F(HostileImport, OnlyCallsLoseTheirVersionAndOnlyOneOfFourDigits) {
    const auto done = good(nsight(
        {"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)",
         "INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'cuMemAlloc_v2'), (3, 'attn_fwd_v1'), (4, 'attn_fwd_v2'), "
         "(5, 'mlp_v20240'), (6, 'phase_v1000')",
         kCalls,
         "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 110, 5, 9, 1), (120, 130, 5, 10, 2), (140, 150, 5, 11, 1), (160, 170, 5, 12, 5)",
         "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, shortName)",
         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (200, 230, 0, 1, 7, 9, 3), (240, 250, 0, 1, 7, 11, 4), (260, 270, 0, 1, 7, 12, 5)",
         "CREATE TABLE NVTX_EVENTS (start, end, eventType, globalTid, text, textId)",
         "INSERT INTO NVTX_EVENTS VALUES (90, 300, 59, 6, NULL, 6), (91, 92, 59, 6, 'range_v1234', NULL)"}));
    std::multiset<std::string> calls, others;
    for (const auto& one : slices(done.session)) (one.slice.kind == SliceKind::Runtime ? calls : others).insert(one.name);
    EXPECT_THAT(calls, testing::ElementsAre("cuMemAlloc_v2", "cudaLaunchKernel", "cudaLaunchKernel", "mlp"));
    EXPECT_THAT(others, testing::ElementsAre("attn_fwd_v1", "attn_fwd_v2", "mlp_v20240", "phase_v1000", "range_v1234"))
        << "one text is a call's name and a kernel's, each as it is due";
    KernelSummary kernels;
    auto reader = SessionReader::open(path);
    ASSERT_TRUE(forEachSliceBlock(**reader, done.session, [&](const SliceBlock& block) -> Status {
        kernels.add(block);
        return {};
    }));
    EXPECT_EQ(kernels.rows(SummarySort::Total).size(), 3U) << "two versions of a kernel are two kernels";
}

TEST_F(HostileImport, ALaunchThatTheDriverTellsTooStartsOneArrow) {
    const auto done = good(trace(event("cuda_runtime", "cudaLaunchKernel", "10", "8", R"("correlation": 6)") + "," +
                                 event("cuda_driver", "cuLaunchKernel", "11", "5", R"("correlation": 6)") + "," +
                                 event("cuda_driver", "cuLaunchKernelEx", "20", "5", R"("correlation": 7)") + "," +
                                 event("kernel", "a", "40", "5", R"("correlation": 6, "device": 0, "stream": 7)", R"("pid": 0, "tid": 7)") + "," +
                                 event("kernel", "b", "50", "5", R"("correlation": 7, "device": 0, "stream": 7)", R"("pid": 0, "tid": 7)")));
    EXPECT_EQ(done.driverCalls, 2);
    EXPECT_EQ(named(done.session, "cuLaunchKernel").slice.correlation, 0);
    EXPECT_EQ(named(done.session, "cuLaunchKernelEx").slice.correlation, 7) << "nobody but the driver launched that";
    std::vector<std::string> ends;
    for (const auto& row : exported(done.session))
        if (row["ph"] == "s" || row["ph"] == "f") ends.push_back(row["ph"].get<std::string>() + row["id"].dump());
    EXPECT_THAT(ends, testing::UnorderedElementsAre("s6", "f6", "s7", "f7"));
}

TEST_F(HostileImport, AGraphThatIsOneWorkIsAWorkOfItsStreamAndSaidToBeOne) {
    const auto done = good(nsight({kCalls, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (5, 9, 16777218, 7, 1)",
                                   "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, graphId, graphExecId, contextId, streamId, "
                                   "correlationId, globalPid)",
                                   "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (10, 110, 0, 3, 4, 1, 7, 7, 16777216),"
                                   " (200, 300, 0, 3, 4, 1, 7, 8, 16777216)"}));
    EXPECT_EQ(done.kernels, 2);
    EXPECT_EQ(done.flows, 1);
    EXPECT_EQ(done.skipped, 0);
    std::int64_t told = 0;
    for (const auto& [reason, count] : done.reasons) told += reason.find("CUDA graphs that were recorded as one work") == 0 ? count : 0;
    EXPECT_EQ(told, 2);
    std::int64_t busy = 0;
    for (const auto& slice : slices(done.session))
        if (slice.name == "CUDA graph 3") busy += slice.slice.duration;
    EXPECT_EQ(busy, 200);
}

TEST_F(HostileImport, TheGpuOfANsightReportIsExportedInTheWordsOfKineto) {
    const auto done = good(nsight({kCalls, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (5, 9, 16777218, 7, 1)",
                                   "CREATE TABLE TARGET_INFO_GPU (id, name, totalMemory, smCount, threadsPerWarp, maxWarpsPerSm, computeMajor, uuid)",
                                   "INSERT INTO TARGET_INFO_GPU VALUES (1, 'One GPU', 42297524224, 108, 32, 64, 8, 'u')"}));
    std::ostringstream out;
    ASSERT_TRUE(exportKinetoTrace(path, done.session, out, "again"));
    EXPECT_EQ(nlohmann::json::parse(out.str())["deviceProperties"],
              nlohmann::json::parse(R"([{"id": 1, "name": "One GPU", "totalGlobalMem": 42297524224, "numSms": 108, "warpSize": 32,
                                         "maxThreadsPerMultiprocessor": 2048, "computeMajor": 8}])"));
}

// Process 7 and process 9: both number their calls from 1, and call the GPU that they see the first.
TEST_F(HostileImport, ProcessesOfOneReportThatCountAlikeAreWorkersOfTheirOwn) {
    const auto done =
        good(nsight({"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)",
                     "INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (2, 'early'), (3, 'late')", kCalls,
                     "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 110, 7 * 16777216 + 70, 1, 1),"
                     " (500, 510, 9 * 16777216 + 90, 1, 1)",
                     "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, shortName, globalPid)",
                     "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (120, 520, 0, 1, 7, 1, 2, 7 * 16777216),"
                     " (600, 630, 0, 1, 7, 1, 3, 9 * 16777216)"}));
    ASSERT_EQ(done.notes.size(), 1U);
    EXPECT_THAT(done.notes[0], testing::HasSubstr("2 processes"));
    std::map<std::int64_t, DeviceSummary> workers;
    for (const auto& one : slices(done.session)) {
        if (one.thread.device >= 0) {
            EXPECT_EQ(one.thread.process, 0) << one.name;
        }
    }
    auto reader = SessionReader::open(path);
    ASSERT_TRUE(forEachSliceBlock(**reader, done.session, [&](const SliceBlock& block) -> Status {
        workers[block.thread.rank].add(block);
        return {};
    }));
    std::vector<std::int64_t> delays, busy;
    for (const auto& [rank, worker] : workers) {
        for (const auto& one : worker.launches()) delays.push_back(one.total.ns);
        for (const auto& one : worker.devices()) busy.push_back(one.busy.ns);
    }
    EXPECT_THAT(delays, testing::ElementsAre(20, 100)) << "each from its own process's call";
    EXPECT_THAT(busy, testing::ElementsAre(400, 30)) << "two GPUs, though both are called 0";
    std::set<std::string> begins, ends;
    for (const auto& row : exported(done.session)) {
        if (row["ph"] == "s") begins.insert(row["id"].dump());
        if (row["ph"] == "f") ends.insert(row["id"].dump());
    }
    EXPECT_EQ(begins.size(), 2U) << "an arrow each";
    EXPECT_EQ(begins, ends);
}

TEST_F(HostileImport, AFileThatSaysNoRankIsNotToldToSayOne) {
    const auto report = [&](std::int64_t process) {
        return nsight({"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)", "INSERT INTO StringIds VALUES (1, 'one'), (2, 'two')",
                       "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, shortName, globalPid)",
                       fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 110, 0, 1, 7, 1, 1, {0} * 16777216),"
                                   " (120, 130, 0, 1, 7, 1, 2, ({0} + 1) * 16777216)",
                                   process)});
    };
    const std::string first = report(7), second = report(9), unsaid = trace(event("cpu_op", "a", "1", "1"));
    const std::string saying = folder.file("saying.json");
    writeFile(saying, R"({"distributedInfo": {"rank": 0}, "traceEvents": [)" + event("cpu_op", "b", "1", "1") + "]}");
    const auto notes = [&](const std::vector<std::string>& files) {
        const auto done = importFiles({.database = path, .files = files, .name = {}, .progress = {}});
        EXPECT_TRUE(done) << done.error().sentence;
        std::vector<std::string> ranks;
        for (const auto& note : done ? done->notes : std::vector<std::string>())
            if (note.find("as rank ") != std::string::npos || note.find("as ranks ") != std::string::npos) ranks.push_back(note);
        return ranks;
    };
    EXPECT_THAT(notes({first, second}), testing::ElementsAre("\"" + second +
                                                             "\" does not say of which ranks its processes are: they are shown as "
                                                             "ranks 2, 3, which no other file has."));
    EXPECT_THAT(notes({saying, unsaid}),
                testing::ElementsAre("\"" + unsaid + "\" does not say of which rank it is: it is shown as rank 1, which no other file has."));
    EXPECT_THAT(notes({unsaid, saying}),
                testing::ElementsAre("\"" + saying + "\" says that it is of rank 0, which another of the files has: it is shown as rank 1."));
}

TEST_F(HostileImport, WhatLiesInTheStepOfAnOptimizerIsOfTheOptimizer) {
    const char* other = R"("pid": 7, "tid": 9)";
    const auto done =
        good(trace(event("user_annotation", "Optimizer.step#SGD.step", "10", "100") + "," + event("python_function", "sgd.py", "12", "90") + "," +
                   event("cpu_op", "aten::_foreach_add_", "20", "10") + "," + event("cpu_op", "aten::mm", "22", "5") + "," +
                   event("cpu_op", "aten::view", "40", "5") + "," + event("user_annotation", "inner", "50", "30") + "," +
                   event("cpu_op", "aten::mul_", "55", "5") + "," + event("cuda_runtime", "cudaLaunchKernel", "56", "1") + "," +
                   event("cpu_op", "aten::add", "120", "5") + "," + event("user_annotation", "Optimizer.zero_grad#SGD.zero_grad", "130", "20") + "," +
                   event("cpu_op", "aten::zero_", "135", "5") + "," + event("cpu_op", "aten::addmm", "20", "10", "", other)));
    std::map<std::string, std::string> classes, phases;
    auto reader = SessionReader::open(path);
    ASSERT_TRUE(forEachSliceBlock(**reader, done.session, [&](const SliceBlock& block) -> Status {
        for (const auto& one : block.slices) {
            const std::string& name = block.strings.at(one.name);
            phases[name] = block.strings.at(one.phase);
            classes[name] = toString(workClass(one.kind, name, phases[name], block.strings.at(one.role)));
        }
        return {};
    }));
    for (const char* name : {"aten::_foreach_add_", "aten::mm", "aten::mul_"}) {
        EXPECT_EQ(classes.at(name), "optimizer step") << name;
        EXPECT_EQ(phases.at(name), "optimizer") << name;
    }
    EXPECT_EQ(classes.at("aten::view"), "host and waiting") << "nothing is computed there";
    EXPECT_EQ(classes.at("aten::add"), "pointwise") << "behind it";
    EXPECT_EQ(classes.at("aten::addmm"), "matrix products") << "of another thread";
    for (const char* name : {"sgd.py", "cudaLaunchKernel", "inner", "aten::zero_"}) EXPECT_EQ(phases.at(name), "") << name;
}

TEST_F(HostileImport, NegativeThreadsStayNumbersAndTextsTexts) {
    const auto done = good(trace(event("cpu_op", "minus", "1", "1", "", R"("pid": -3, "tid": -5)") + "," +
                                 event("cpu_op", "words", "1", "1", "", R"("pid": "a program", "tid": "a thread")")));
    for (const auto& row : exported(done.session)) {
        if (row["name"] == "minus") {
            EXPECT_EQ(row["pid"], -3);
            EXPECT_EQ(row["tid"], -5);
        }
        if (row["name"] == "words") {
            EXPECT_EQ(row["pid"], "a program");
            EXPECT_EQ(row["tid"], "a thread");
        }
    }
}

TEST_F(HostileImport, ArrowsToWhatWaitsAreExportedAgain) {
    const auto done =
        good(trace(event("cuda_runtime", "cudaStreamWaitEvent", "10", "2", R"("correlation": 4)") + "," +
                   event("cuda_sync", "Stream Wait Event", "11", "3", R"("correlation": 4, "device": 0, "stream": 7)", R"("pid": 0, "tid": 7)")));
    std::vector<std::string> ends;
    for (const auto& row : exported(done.session))
        if (row["ph"] == "s" || row["ph"] == "f") ends.push_back(row["ph"].get<std::string>() + row["id"].dump());
    EXPECT_THAT(ends, testing::UnorderedElementsAre("s4", "f4"));
}

TEST_F(HostileImport, AKernelBelongsToTheOperationAroundItsCallWhereNoIdSaysSo) {
    const auto done = good(trace(event("cpu_op", "outer", "1", "100") + "," + event("cpu_op", "aten::add", "10", "20") + "," +
                                 event("cuda_runtime", "cudaLaunchKernel", "12", "3", R"("correlation": 6)") + "," +
                                 event("kernel", "add", "40", "5", R"("correlation": 6, "device": 0, "stream": 7)", R"("pid": 0, "tid": 7)")));
    KernelSummary kernels;
    auto reader = SessionReader::open(path);
    ASSERT_TRUE(forEachSliceBlock(**reader, done.session, [&](const SliceBlock& block) -> Status {
        kernels.add(block);
        return {};
    }));
    ASSERT_EQ(kernels.rows(SummarySort::Total).size(), 1u);
    EXPECT_EQ(kernels.rows(SummarySort::Total)[0].operation, "aten::add");
}

TEST_F(HostileImport, ViewsOfADatabaseAreNoTables) {
    const auto endless =
        run(nsight({"CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) "
                    "SELECT x AS start, x AS end, 1 AS globalTid, x AS correlationId, 1 AS nameId FROM c"}));
    ASSERT_FALSE(endless);
    EXPECT_THAT(endless.error().sentence, testing::HasSubstr("no event"));
}

TEST_F(HostileImport, NamesAreFoundWhereTheirTableHasNoKeyAndNothingIsLeftBesideIt) {
    const std::string file = nsight(
        {"PRAGMA journal_mode = WAL", "CREATE TABLE StringIds (id, value)",
         "WITH RECURSIVE c(x) AS (SELECT 0 UNION ALL SELECT x+1 FROM c WHERE x < 20000) INSERT INTO StringIds SELECT x, 'n' || x FROM c", kCalls,
         "WITH RECURSIVE c(x) AS (SELECT 0 UNION ALL SELECT x+1 FROM c WHERE x < 20000) INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME "
         "SELECT x * 10, x * 10 + 5, 1, x, x FROM c"});
    const auto done = good(file);
    EXPECT_EQ(done.runtimeCalls, 20'001);
    EXPECT_EQ(named(done.session, "n17").slice.start, 170);
    EXPECT_FALSE(std::filesystem::exists(file + "-wal"));
    EXPECT_FALSE(std::filesystem::exists(file + "-shm"));
}

TEST_F(HostileImport, SlicesThatAllOverlapEndInTimeAndCanBeStopped) {
    std::string events;
    for (int i = 0; i < 12'000; ++i)
        events += fmt::format(R"({}{{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":{},"dur":{}}})", i > 0 ? "," : "", i, 1'000'000'000 + i);
    const std::string file = trace(events);
    const auto done = good(file);
    EXPECT_GT(done.reasons.at("slices that overlap too many others of their lane"), 0);
    EXPECT_EQ(static_cast<std::int64_t>(slices(done.session).size()) + done.skipped, 12'000);
}

TEST_F(HostileImport, AMillionWitnessesAndArrowsAreJoinedBySearching) {
    std::string events;
    for (int i = 0; i < 20'000; ++i)
        events += fmt::format(
            R"({0}{{"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":{1},"dur":1,"args":{{"Fwd thread id":{2},"Sequence number":{3}}}}},{{"ph":"s","cat":"fwdbwd","id":{3},"pid":1,"tid":2,"ts":{1}}},{{"ph":"f","cat":"fwdbwd","id":{3},"pid":1,"tid":1,"ts":{1}}})",
            i > 0 ? "," : "", 2 * i, i + 1, i);
    EXPECT_EQ(good(trace(events)).flows, 20'000);
}

TEST_F(HostileImport, WorkersThatNobodyCanBeAreTheFirst) {
    int files = 0;
    const auto ranksOf = [&](const std::string& said, const std::string& pid) {
        const std::string file = folder.file(fmt::format("ranks-{}.json", ++files));
        writeFile(file, fmt::format(R"({{"stepscopeRanks": {}, "traceEvents": [{}]}})", said,
                                    event("cpu_op", "a", "1", "1", "", fmt::format(R"("pid": {}, "tid": 1)", pid))));
        const auto all = slices(good(file).session);
        return all.empty() ? std::string("nothing") : fmt::format("{} of {}", all[0].thread.rank, all[0].thread.process);
    };
    EXPECT_EQ(ranksOf(R"({"ranks": [0, 2], "apart": 1000})", "2007"), "2 of 7");
    EXPECT_EQ(ranksOf(R"({"ranks": [0, 2], "apart": 1000})", "1007"), "0 of 1007");
    EXPECT_EQ(ranksOf(R"({"ranks": [0, 2], "apart": 1000})", "-5"), "0 of -5");
    EXPECT_EQ(ranksOf(R"({"ranks": [0, 2], "apart": 1})", "9223372036854775807"), "0 of 9223372036854775807");
    for (const char* said : {"7", "[]", "{}", R"({"ranks": [0, 1], "apart": 0})", R"({"ranks": [0, 1], "apart": -1})",
                             R"({"ranks": [1], "apart": 10})", R"({"ranks": [-1, "x", 1e9, 99999999], "apart": 10})"})
        EXPECT_EQ(ranksOf(said, "7"), "0 of 7") << said;
}

TEST_F(HostileImport, EmptyMembersOfAPackedFileTakeNoTime) {
    std::string packed = gzipMember("{\"traceEvents\": [");
    const std::string nothing = gzipMember("");
    for (int i = 0; i < 20'000; ++i) packed += nothing;
    packed += gzipMember(event("cpu_op", "a", "1", "1") + "]}");
    writeFile(folder.file("members.json.gz"), packed);
    EXPECT_EQ(good(folder.file("members.json.gz")).operations, 1);
}

TEST_F(HostileImport, LongIdsAndShapesAreBounded) {
    const std::string lengthy(1'000'000, 'x');
    std::string events;
    for (int i = 0; i < 3; ++i)
        events += (i > 0 ? "," : "") + event("cpu_op", "a", "1", "1", fmt::format(R"("Input type": ["float"], "Input Dims": ["{}{}"])", i, lengthy),
                                             fmt::format(R"("pid": "{}{}", "tid": 1)", i, lengthy));
    const auto done = good(trace(events));
    EXPECT_EQ(done.reasons.at("arguments that were left out: longer than 65536 bytes"), 3);
    for (const auto& one : slices(done.session)) EXPECT_LE(one.thread.processName.size(), 256u);
}

TEST_F(HostileImport, HashesDifferWithTheTextAndStayWithinAProcess) {
    EXPECT_EQ(keyedHash("aten::mm"), keyedHash(std::string("aten::") + "mm"));
    std::set<std::uint64_t> different;
    for (int i = 0; i < 10'000; ++i) different.insert(keyedHash(std::string(static_cast<std::size_t>(i % 40), '\0') + std::to_string(i)));
    EXPECT_EQ(different.size(), 10'000u);
}

TEST_F(HostileImport, WhatFollowsATraceOrCannotBeReadIsASentence) {
    writeFile(folder.file("more.json"), R"({"traceEvents": [)" + event("cpu_op", "a", "1", "1") + "]} and [[[");
    const auto more = run(folder.file("more.json"));
    ASSERT_FALSE(more);
    EXPECT_THAT(more.error().sentence, testing::HasSubstr("more follows behind its end at byte"));
    const auto unreadable = run("/proc/self/mem");  // its first page is nobody's
    ASSERT_FALSE(unreadable);
    EXPECT_EQ(unreadable.error().code, ErrorCode::Io);
    EXPECT_THAT(unreadable.error().sentence, testing::HasSubstr("cannot be read: "));
}

// CUDA_VISIBLE_DEVICES=3,1: what the process calls GPU 0 is the machine's GPU 3.
TEST_F(HostileImport, GpusHaveTheNumbersOfTheProcessWhereTheDatabaseTellsThem) {
    const auto shapesOf = [&](const std::vector<std::string>& devices) {
        std::vector<std::string> all{"CREATE TABLE TARGET_INFO_GPU (id, name, smCount)",
                                     "INSERT INTO TARGET_INFO_GPU VALUES (0, 'a', 80), (1, 'b', 108), (3, 'c', 132)", kCalls,
                                     "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 16777217, 1, 1)"};
        all.insert(all.end(), devices.begin(), devices.end());
        const auto done = good(nsight(all));
        auto reader = SessionReader::open(path);
        return deviceShapes(**reader, done.session).value().first;
    };
    EXPECT_EQ(shapesOf({}).at(0).multiprocessors, 80);
    const std::string table = "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid)";
    const auto mapped = shapesOf({table, "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3, 0, 7), (1, 1, 7), ('x', NULL, 7), (-1, 2, 7), (9, 4, 7)"});
    ASSERT_EQ(mapped.size(), 2U);
    EXPECT_EQ(mapped.at(0).multiprocessors, 132);
    EXPECT_EQ(mapped.at(1).multiprocessors, 108);
    EXPECT_TRUE(shapesOf({table, "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3, 0, 7), (1, 0, 8)"}).empty()) << "two processes call unlike GPUs 0";
    EXPECT_EQ(shapesOf({"CREATE TABLE TARGET_INFO_CUDA_DEVICE (other)"}).at(0).multiprocessors, 80);
}

}  // namespace
}  // namespace stepscope::test
