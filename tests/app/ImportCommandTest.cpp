// `import`: traces of other programs as sessions, with one object of JSON at the end, and a sentence for what is none.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "tests/app/CliFixture.h"

using namespace stepscope::test;
using testing::HasSubstr;

struct ImportCommand : CliFixture {
    std::string trace() {
        const std::string file = path("run.pt.trace.json");
        std::ofstream(file) << R"({"deviceProperties": [{"id": 0, "name": "A GPU"}], "traceEvents": [
            {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 7, "tid": 7, "ts": 1.5, "dur": 100},
            {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 2.001, "dur": 50.25, "args": {"External id": 5}},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": 10, "dur": 5, "args": {"correlation": 9, "External id": 5}},
            {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": 9, "pid": 7, "tid": 7, "ts": 10},
            {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20, "dur": 30, "args": {"device": 0, "stream": 7, "correlation": 9, "External id": 5, "grid": [4, 2, 1], "block": [64, 1, 1]}},
            {"ph": "f", "bp": "e", "cat": "ac2g", "name": "ac2g", "id": 9, "pid": 0, "tid": 7, "ts": 20},
            {"ph": "X", "cat": "cpu_op", "name": "backwards", "pid": 7, "tid": 7, "ts": 200, "dur": -1}]})";
        return file;
    }
};

TEST_F(ImportCommand, EndsWithOneObjectAndIsProfiledAndExported) {
    const auto done = cli({"import", trace(), "--db", database(), "--name", "from elsewhere", "--json"});
    ASSERT_EQ(done.exitCode, 0) << done.err;
    const Json json = Json::parse(done.out);
    EXPECT_EQ(json["session"], 1);
    EXPECT_EQ(json["steps"], 1);
    EXPECT_EQ(json["operations"], 1);
    EXPECT_EQ(json["kernels"], 1);
    EXPECT_EQ(json["copies"], 0);
    EXPECT_EQ(json["runtime_calls"], 1);
    EXPECT_EQ(json["flows"], 1);
    EXPECT_EQ(json["skipped"], 1);
    EXPECT_GE(json["seconds"].get<double>(), 0);
    const auto shown = cli({"sessions", "show", "1", "--db", database(), "--json"});
    EXPECT_EQ(Json::parse(shown.out)["kind"], "imported");
    const Json rows = Json::parse(cli({"profile", "1", "--by", "kernel", "--db", database(), "--json"}).out)["rows"];
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]["name"], "gemm");
    EXPECT_EQ(rows[0]["calls"], 1);
    EXPECT_EQ(rows[0]["total_ms"], 0.03);
    EXPECT_EQ(rows[0]["operation"], "aten::mm");
    EXPECT_EQ(rows[0]["grid"], Json::parse("[4, 2, 1]"));
    for (const char* key : {"dtype", "flops_per_second", "bytes_per_second", "blocks_per_sm", "occupancy", "phase", "launch_delay_us"})
        EXPECT_TRUE(rows[0].contains(key)) << key;
    EXPECT_EQ(rows[0]["launch_delay_us"], 10);
    EXPECT_THAT(cli({"profile", "1", "--sort", "memory", "--db", database()}).out, HasSubstr("Sorted by their own time: no bytes are known"));
    EXPECT_THAT(cli({"profile", "1", "--by", "kernel", "--sort", "memory", "--db", database()}).out, HasSubstr("Sorted by their time: no bytes"));
    EXPECT_THAT(cli({"profile", "1", "--by", "kernel", "--db", database()}).out, HasSubstr("4x2x1"));
    EXPECT_THAT(cli({"profile", "1", "--db", database(), "--report", path("r.md")}).out, HasSubstr("aten::mm"));
    const std::string report = read(path("r.md"));
    EXPECT_THAT(report, HasSubstr("Session 1, from elsewhere"));
    EXPECT_THAT(report, HasSubstr("An imported trace"));
    EXPECT_THAT(report, HasSubstr("| gemm | aten::mm |"));
    EXPECT_THAT(report, HasSubstr("| stream 7 of GPU 0 | 1 |"));
    EXPECT_THAT(report,
                HasSubstr("stepscope-cli profile 1 --db " + std::filesystem::path(database()).filename().string() + " --report capture.html"));
    EXPECT_EQ(report.find(database()), std::string::npos) << "a page that may be sent tells no folders";
    ASSERT_EQ(cli({"sessions", "export-trace", "1", path("again.json"), "--db", database()}).exitCode, 0);
    const Json again = Json::parse(read(path("again.json")));
    EXPECT_EQ(again["deviceProperties"][0]["name"], "A GPU");
    std::int64_t kernels = 0, flows = 0;
    for (const auto& row : again["traceEvents"]) {
        if (row.value("cat", "") == "kernel") {
            ++kernels;
            EXPECT_EQ(row["dur"], 30);
            EXPECT_EQ(row["tid"], 7);
            EXPECT_EQ(row["args"]["stream"], 7);
            EXPECT_EQ(row["args"]["correlation"], 9);
        }
        if (row["ph"] == "s" || row["ph"] == "f") ++flows;
    }
    EXPECT_EQ(kernels, 1);
    EXPECT_EQ(flows, 2);
    const auto once = cli({"import", path("again.json"), "--db", database(), "--json"});
    EXPECT_EQ(Json::parse(once.out)["kernels"], 1) << "our own export comes in again";
}

TEST_F(ImportCommand, OfSeveralWorkersOneIsExportedAloneAndThatIsToldWhereAllAre) {
    for (const int rank : {0, 1})
        std::ofstream(path("rank" + std::to_string(rank) + ".json"))
            << R"({"distributedInfo": {"rank": )" << rank << R"(}, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "of )" << rank
            << R"(", "pid": 1, "tid": 2, "ts": 1, "dur": 2, "args": {"External id": 1}}]})";
    ASSERT_EQ(cli({"import", path("rank0.json"), path("rank1.json"), "--db", database()}).exitCode, 0);
    const auto all = cli({"sessions", "export-trace", "1", path("all.json"), "--db", database()});
    ASSERT_EQ(all.exitCode, 0) << all.err;
    EXPECT_THAT(all.err, HasSubstr("It has ranks 0, 1; stepscope-cli sessions export-trace 1 --rank N"));
    const auto one = cli({"sessions", "export-trace", "1", path("one.json"), "--rank", "1", "--db", database()});
    ASSERT_EQ(one.exitCode, 0) << one.err;
    EXPECT_EQ(one.err, "");
    std::set<std::string> names;
    const Json written = Json::parse(read(path("one.json")));
    for (const auto& row : written["traceEvents"])
        if (row["ph"] == "X") names.insert(row["name"].get<std::string>());
    EXPECT_EQ(names, (std::set<std::string>{"of 1"}));
}

TEST_F(ImportCommand, RefusesWhatIsNoTraceAndStoresNothing) {
    std::ofstream(path("cut.json")) << R"({"traceEvents": [{"ph": "X", "na)";
    expectRefused(cli({"import", path("cut.json"), "--db", database()}), {"cut.json", "at byte "});
    expectRefused(cli({"import", path("none.json"), "--db", database()}), {"none.json"});
    std::ofstream(path("r.nsys-rep")) << "x";
    expectRefused(cli({"import", path("r.nsys-rep"), "--db", database()}), {"nsys export --type sqlite"});
}

// An import of half a million slices that has begun to write, when the signal comes.
struct BrokenOffImport : ImportCommand {
    Finished brokenOff(int signal, std::chrono::milliseconds after) {
        {
            std::ofstream out(path("long.json"));
            out << R"({"traceEvents": [)";
            for (int i = 0; i < 500'000; ++i)
                out << fmt::format(R"({}{{"ph": "X", "cat": "cpu_op", "name": "aten::op{}", "pid": 7, "tid": 7, "ts": {}, "dur": 2}})",
                                   i == 0 ? "" : ",\n", i % 97, 3 * i);
            out << "]}";
        }
        Process process({STEPSCOPE_CLI, "import", path("long.json"), "--db", database()}, options());
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!std::filesystem::exists(database() + "-wal") && std::chrono::steady_clock::now() < end)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::this_thread::sleep_for(after);
        process.send(signal);
        return process.wait();
    }
    // Nothing is listed, no chunk lies about, and the next import begins as on a new file.
    void expectNothingLeft() {
        EXPECT_EQ(Json::parse(cli({"sessions", "list", "--db", database(), "--json"}).out), Json::array());
        const auto after = cli({"import", trace(), "--db", database(), "--json"});
        ASSERT_EQ(after.exitCode, 0) << after.err;
        EXPECT_EQ(Json::parse(after.out)["operations"], 1);
        EXPECT_EQ(Json::parse(cli({"sessions", "list", "--db", database(), "--json"}).out).size(), 1u);
        EXPECT_LT(std::filesystem::file_size(database()), 2'000'000u) << "what the broken import wrote has not come back";
    }
};

TEST_F(BrokenOffImport, KilledLeavesNoSession) {
    ASSERT_EQ(brokenOff(SIGKILL, std::chrono::milliseconds(100)).signal, SIGKILL) << "it ended before it was killed";
    expectNothingLeft();
}

TEST_F(BrokenOffImport, StoppedByCtrlCSaysSoAndLeavesNoSession) {
    const auto stopped = brokenOff(SIGINT, {});
    EXPECT_EQ(stopped.exitCode, kStopped) << stopped.err;
    EXPECT_THAT(stopped.err, HasSubstr("The import was stopped; nothing of it is stored."));
    expectNothingLeft();
}
