// `train --profile`, `profile` with its report, and `sessions export-trace`: from a schedule in words to rows, to a page and to a trace, and a
// sentence for everything else.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "core/events/Event.h"
#include "core/trace/AllocationCodec.h"
#include "core/trace/SampleCodec.h"
#include "core/trace/SliceCodec.h"
#include "sessions/record/Recorder.h"
#include "tests/app/CliFixture.h"

using namespace stepscope::test;
using testing::HasSubstr, testing::Not;

struct Profile : CliFixture {
    Json rows(const Words& more = {}) {
        Words words{"profile", "1", "--json", "--db", database()};
        words.insert(words.end(), more.begin(), more.end());
        const auto printed = cli(words);
        EXPECT_EQ(printed.exitCode, 0) << printed.err;
        return Json::parse(printed.out);
    }
    Json trace() {
        const auto done = cli({"sessions", "export-trace", "1", path("x.pt.trace.json"), "--force", "--db", database()});
        EXPECT_EQ(done.exitCode, 0) << done.err;
        return Json::parse(read(path("x.pt.trace.json")));
    }
    static std::set<std::string> steps(const Json& trace) {
        std::set<std::string> found;
        for (const auto& row : trace["traceEvents"])
            if (row["name"].get<std::string>().starts_with("ProfilerStep#")) found.insert(row["name"]);
        return found;
    }
};

TEST_F(Profile, RecordsTheStepsOfTheScheduleAndPrintsRows) {
    train({"--profile", "wait=2,warmup=1,active=2"});
    const Json all = rows();
    EXPECT_EQ(all["steps"], 2);
    EXPECT_EQ(all["lost"], 0);
    ASSERT_FALSE(all["rows"].empty());
    double before = 1e300;
    for (const auto& row : all["rows"]) {
        for (const char* key : {"name", "calls", "self_ms", "total_ms", "mean_us", "layer", "role"}) EXPECT_TRUE(row.contains(key)) << row;
        EXPECT_LE(row["self_ms"].get<double>(), before) << "most time of its own first";
        EXPECT_LE(row["self_ms"].get<double>(), row["total_ms"].get<double>() + 1e-9);
        before = row["self_ms"];
    }
    EXPECT_EQ(steps(trace()), (std::set<std::string>{"ProfilerStep#4", "ProfilerStep#5"}));
    EXPECT_EQ(trace()["profile_memory"], 1);
    EXPECT_EQ(rows({"--limit", "2"})["rows"].size(), 2u);
    std::set<std::string> layers;
    const Json byLayer = rows({"--by", "layer"});
    for (const auto& row : byLayer["rows"]) layers.insert(row["name"]);
    EXPECT_TRUE(layers.contains("layer 0"));
    EXPECT_FALSE(rows({"--by", "role", "--sort", "total"})["rows"].empty());
    EXPECT_FALSE(rows({"--sort", "memory"})["rows"].empty());
    EXPECT_THAT(cli({"profile", "1", "--sort", "memory", "--db", database()}).out, HasSubstr("Sorted by the bytes that were allocated"));
    const auto table = cli({"profile", "1", "--db", database()});
    EXPECT_THAT(table.out, HasSubstr("OPERATION"));
    EXPECT_THAT(table.out, HasSubstr("in 2 captured steps"));
}

TEST_F(Profile, SaysWhatRowsAreSortedByWhereMemoryIsAskedFor) {
    train({"--profile", "wait=2,warmup=1,active=2"});
    const auto words = [&](const Words& more) {
        Words all{"profile", "1", "--sort", "memory", "--db", database()};
        all.insert(all.end(), more.begin(), more.end());
        return cli(all).out;
    };
    EXPECT_THAT(words({}), HasSubstr("ALLOCATED"));
    EXPECT_THAT(cli({"profile", "1", "--db", database()}).out, Not(HasSubstr("ALLOCATED"))) << "where nobody asks for it";
    EXPECT_EQ(rows({"--sort", "memory"})["sorted_by"], "allocated");
    EXPECT_TRUE(rows()["sorted_by"].is_null());
    for (const char* by : {"layer", "role"}) {
        EXPECT_THAT(words({"--by", by}), HasSubstr("who allocated how much is known of operations only (--by op)")) << by;
        EXPECT_THAT(words({"--by", by}), Not(HasSubstr("no allocations"))) << by;
        EXPECT_EQ(rows({"--by", by, "--sort", "memory"})["sorted_by"], "moved") << by;
    }
}

TEST_F(Profile, CountsAllocationsAndSamplesThatCouldNotBeKept) {
    {
        auto recorder = stepscope::Recorder::open({.path = database()}, stepscope::SessionInfo());
        ASSERT_TRUE(recorder) << recorder.error().sentence;
        stepscope::SliceBlock operations{.thread = {.process = 1, .thread = 2}, .lost = 1, .strings = {"", "aten::mm"}};
        operations.slices = {{.start = 10, .duration = 5, .name = 1}};
        stepscope::AllocationBlock memory{.lane = 1, .lost = 20, .strings = {"", "MLP", "aten::mm"}};
        memory.allocations = {{.at = 11, .address = 64, .bytes = 512, .kind = 1, .owner = 2}};
        const stepscope::SampleBlock counter{.lane = 2, .name = "GPU 0", .lost = 300, .series = {{}, {"power", "W"}}, .samples = {{12, 1, 55.5}}};
        for (const auto& chunk : {stepscope::encodeSlices(operations), stepscope::encodeAllocations(memory), stepscope::encodeSamples(counter)})
            (*recorder)->publishChunk(std::make_shared<const stepscope::Chunk>(chunk));
        ASSERT_TRUE((*recorder)->finish());
    }
    for (const char* by : {"op", "layer"}) {
        const Json told = rows({"--by", by});
        EXPECT_EQ(told["lost"], 321) << by;
        EXPECT_EQ(told["lost_allocations"], 20) << by;
        EXPECT_EQ(told["lost_samples"], 300) << by;
    }
    const std::string table = cli({"profile", "1", "--db", database()}).out;
    EXPECT_THAT(table, HasSubstr("1 slices were lost"));
    EXPECT_THAT(table, HasSubstr("20 allocations were lost or invalid"));
    EXPECT_THAT(table, HasSubstr("300 samples of counters were lost or invalid"));
}

TEST_F(Profile, SaysWhatIsNotRecordedOfStepsThatWereKeptAsTheSlowest) {
    {
        auto recorder = stepscope::Recorder::open({.path = database()}, stepscope::SessionInfo());
        ASSERT_TRUE(recorder) << recorder.error().sentence;
        stepscope::SliceBlock operations{.thread = {.process = 1, .thread = 2}, .strings = {"", "aten::mm"}};
        operations.slices = {{.start = 10, .duration = 5, .name = 1}};
        (*recorder)->publishChunk(std::make_shared<const stepscope::Chunk>(stepscope::encodeSlices(operations)));
        (*recorder)->publish(stepscope::CaptureDone{.step = 3, .at = {20}, .firstStep = 3, .steps = 1});
        ASSERT_TRUE((*recorder)->finish());
    }
    EXPECT_THAT(rows()["notes"].dump(), HasSubstr("These steps were kept as the slowest"));
    EXPECT_THAT(cli({"profile", "1", "--db", database()}).out, HasSubstr("operations alone are recorded: memory"));
    EXPECT_THAT(cli({"profile", "1", "--by", "kernel", "--db", database()}).out, HasSubstr("kept as the slowest"));
}

TEST_F(Profile, SaysWhatOlderVersionsDidNotRecordOfOtherWorkers) {
    for (const bool older : {true, false}) {
        auto recorder = stepscope::Recorder::open({.path = database()}, stepscope::SessionInfo());
        ASSERT_TRUE(recorder) << recorder.error().sentence;
        for (const std::int64_t rank : {0, 1}) {
            stepscope::SliceBlock operations{.thread = {.process = 1, .thread = 2, .lane = 10 + rank, .rank = rank}, .strings = {"", "aten::mm"}};
            operations.slices = {{.start = 10, .duration = 5, .name = 1}};
            (*recorder)->publishChunk(std::make_shared<const stepscope::Chunk>(stepscope::encodeSlices(operations)));
            stepscope::AllocationBlock memory{.lane = 10 + rank, .rank = rank};
            memory.allocations = {{.at = 11, .address = 1, .bytes = 100}};
            if (rank == 0 || !older) (*recorder)->publishChunk(std::make_shared<const stepscope::Chunk>(stepscope::encodeAllocations(memory)));
        }
        (*recorder)->publish(stepscope::CaptureDone{.step = 3, .at = {20}, .firstStep = 3, .steps = 1, .operations = 1});
        ASSERT_TRUE((*recorder)->finish());
    }
    const std::string sentence = "memory and the processor's counters are of the first alone";
    EXPECT_THAT(cli({"profile", "1", "--db", database()}).out, HasSubstr(sentence));
    EXPECT_THAT(cli({"profile", "2", "--db", database()}).out, testing::Not(HasSubstr(sentence)));
}

TEST_F(Profile, KnowsOfEveryOperationOfOurOwnWhatItMovesAndInWhatTypeItMultiplies) {
    for (const char* fusion : {"kernels", "step"})
        for (const char* amp : {"off", "bf16"}) {
            const std::string what = std::string(fusion) + ", amp=" + amp;
            std::filesystem::remove(database());
            train({"--profile", "wait=1,warmup=1,active=2", "--set", std::string("fusion=") + fusion, "--set", std::string("amp=") + amp});
            const auto unknown = cli({"query", "1", "SELECT DISTINCT name FROM op WHERE kind='own' AND bytes IS NULL", "--json", "--db", database()});
            ASSERT_EQ(unknown.exitCode, 0) << unknown.err;
            EXPECT_EQ(Json::parse(unknown.out)["rows"], Json::array()) << what;
            int products = 0;
            const Json all = rows();
            for (const auto& row : all["rows"]) {
                if (!row["own"].get<bool>() || row["flops"].is_null() || row["flops"] == 0) continue;
                EXPECT_EQ(row["dtype"], std::string(amp) == "bf16" ? "BFloat16" : "Float") << what << ": " << row["name"];
                ++products;
            }
            EXPECT_GT(products, 1) << what;
        }
}

TEST_F(Profile, WritesAReportOfAllThatWasCaptured) {
    train({"--profile", "wait=2,warmup=1,active=2"});
    write("r.html", "an older one");
    const auto done = cli({"profile", "1", "--limit", "1", "--report", path("r.html"), "--report", path("r.md"), "--db", database()});
    ASSERT_EQ(done.exitCode, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("OPERATION")) << "the table is printed all the same";
    const std::string page = read(path("r.html")), text = read(path("r.md"));
    EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
    EXPECT_THAT(page, HasSubstr("<svg"));
    EXPECT_THAT(page, Not(HasSubstr("<script")));
    EXPECT_TRUE(text.starts_with("# Where did the time of captured steps go?"));
    EXPECT_THAT(text, HasSubstr("**2 captured steps took"));
    EXPECT_THAT(text, HasSubstr("| 1 | 2 from step 4 on |"));
    EXPECT_THAT(text, HasSubstr("| matrix products |"));
    EXPECT_THAT(text, HasSubstr("| layer 0 |"));
    EXPECT_THAT(text, HasSubstr("| preset | tiny-cpu |"));
    EXPECT_THAT(text, HasSubstr("| width | 16 |"));
    EXPECT_THAT(text, HasSubstr("stepscope-cli train --preset tiny-cpu"));
    EXPECT_THAT(text, HasSubstr("--profile wait=2,warmup=1,active=2"));
}

TEST_F(Profile, RefusesAReportThatItCannotWrite) {
    train({"--profile", "active=1"});
    for (const char* bad : {"r.pdf", "r.json", "r"})
        expectRefused(cli({"profile", "1", "--report", path(bad), "--db", database()}), {bad, ".html or .md", "--json"}, kBadInput);
    expectRefused(cli({"profile", "77", "--report", path("r.md"), "--db", database()}), {"77"}, kNotFound);
    expectRefused(cli({"profile", "1", "--report", path("no/such/r.md"), "--db", database()}), {"r.md"}, kIo);
    EXPECT_FALSE(std::filesystem::exists(path("r.md")));
    train();
    expectRefused(cli({"profile", "2", "--report", path("r.md"), "--db", database()}), {"Session 2 holds no capture"}, kNotFound);
    EXPECT_FALSE(std::filesystem::exists(path("r.md")));
}

TEST_F(Profile, SaysWhatBoundsEachOperationWhereThePeaksOfTheMachineAreKnown) {
    train({"--profile", "wait=2,warmup=1,active=2"});
    const auto before = cli({"profile", "1", "--db", database()});
    EXPECT_THAT(before.out, HasSubstr("What bounds each is not said: no roof yet"));
    EXPECT_THAT(before.out, Not(HasSubstr("BOUND BY")));
    EXPECT_TRUE(rows()["rows"][0]["bound_by"].is_null());
    ASSERT_EQ(cli(measuring("bench", {"--steps", "3"})).exitCode, 0);
    const auto after = cli({"profile", "1", "--db", database()});
    // Peaks that were measured while other programs had the processors are not kept.
    if (!std::filesystem::exists(path("cache/stepscope/peaks")) || std::filesystem::is_empty(path("cache/stepscope/peaks"))) {
        EXPECT_THAT(after.out, HasSubstr("no roof yet"));
        return;
    }
    EXPECT_THAT(after.out, HasSubstr("measured on this machine"));
    EXPECT_THAT(after.out, HasSubstr("BOUND BY"));
    const Json all = rows({"--limit", "0"});
    EXPECT_EQ(all["roof"], "measured on this machine");
    std::set<std::string> bounds;
    for (const auto& row : all["rows"]) {
        if (row["bound_by"].is_null()) continue;
        bounds.insert(row["bound_by"]);
        EXPECT_GT(row["roof_share"].get<double>(), 0) << row;
        EXPECT_EQ(row["bound_by"] == "neither", row["roof_share"].get<double>() < 0.5) << row;
    }
    EXPECT_FALSE(bounds.empty());
}

TEST_F(Profile, SaysWhichOperationsStayedInFloat32UnderAutocast) {
    train({"--profile", "wait=2,warmup=1,active=2", "--set", "amp=bf16", "--set", "fusion=off"});
    std::set<std::string> half, whole;
    const Json all = rows({"--limit", "0"});
    for (const auto& row : all["rows"]) {
        if (row["dtype"].is_null()) continue;
        const std::string type = row["dtype"];
        if (type.starts_with("BFloat16")) half.insert(row["name"]);
        if (type == "Float") whole.insert(row["name"]);
    }
    EXPECT_TRUE(std::ranges::any_of(half, [](const std::string& name) { return name.find("mm") != std::string::npos; })) << "matrix products";
    EXPECT_TRUE(std::ranges::any_of(whole, [](const std::string& name) { return name.find("norm") != std::string::npos; })) << "norms";
    EXPECT_THAT(cli({"profile", "1", "--db", database()}).out, HasSubstr("TYPE"));
}

TEST_F(Profile, RepeatsItsRounds) {
    train({"--profile", "wait=1,active=1,repeat=3"});
    EXPECT_EQ(steps(trace()), (std::set<std::string>{"ProfilerStep#2", "ProfilerStep#4", "ProfilerStep#6"}));
}

TEST_F(Profile, CountsFromWhereARunGoesOn) {
    train({"--steps", "6", "--checkpoint-every", "3"});
    const auto more = cli({"train", "--resume", "1", "--steps", "12", "--profile", "wait=1,active=2", "--db", database(), "--json"});
    ASSERT_EQ(more.exitCode, 0) << more.err;
    const auto done = cli({"sessions", "export-trace", "2", path("y.json"), "--db", database()});
    ASSERT_EQ(done.exitCode, 0) << done.err;
    EXPECT_EQ(steps(Json::parse(read(path("y.json")))), (std::set<std::string>{"ProfilerStep#8", "ProfilerStep#9"}));
}

TEST_F(Profile, SaysWhichFileItWroteAsJson) {
    train({"--profile", "wait=1,active=1"});
    const auto trace = cli({"sessions", "export-trace", "1", path("x.pt.trace.json"), "--db", database(), "--json"});
    ASSERT_EQ(trace.exitCode, 0) << trace.err;
    EXPECT_EQ(Json::parse(trace.out), (Json{{"file", path("x.pt.trace.json")}, {"format", "kineto"}}));
    const auto alone = cli({"sessions", "export-trace", "1", path("y.pt.trace.json"), "--rank", "0", "--db", database(), "--json"});
    ASSERT_EQ(alone.exitCode, 0) << alone.err;
    EXPECT_EQ(Json::parse(alone.out), (Json{{"file", path("y.pt.trace.json")}, {"format", "kineto"}, {"rank", 0}}));
    expectRefused(cli({"sessions", "export-trace", "1", path("z.json"), "--rank", "1", "--db", database()}), {"nothing of rank 1", "rank 0."}, 4);
    expectRefused(cli({"sessions", "export", "1", path("z.csv"), "--rank", "0", "--db", database()}), {"--rank", "csv"}, kBadInput);
    const auto csv = cli({"sessions", "export", "1", path("x.wide.csv"), "--db", database(), "--json"});
    ASSERT_EQ(csv.exitCode, 0) << csv.err;
    EXPECT_EQ(Json::parse(csv.out)["file"], path("x.wide.csv"));
    expectRefused(cli({"sessions", "export-trace", "1", "-", "--db", database(), "--json"}), {"stdout"}, kBadInput);
}

TEST_F(Profile, WritesOverAFileOnlyWhereThatIsWanted) {
    train({"--profile", "wait=1,active=1"});
    const Words words{"sessions", "export-trace", "1", path("x.pt.trace.json"), "--db", database()};
    ASSERT_EQ(cli(words).exitCode, 0);
    const std::string first = read(path("x.pt.trace.json"));
    write("x.pt.trace.json", "mine");
    expectRefused(cli(words), {"x.pt.trace.json", "there already", "--force"}, kBadInput);
    EXPECT_EQ(read(path("x.pt.trace.json")), "mine");
    Words forced = words;
    forced.push_back("--force");
    ASSERT_EQ(cli(forced).exitCode, 0);
    EXPECT_EQ(read(path("x.pt.trace.json")).size(), first.size());
    for (const char* command : {"export", "export-csv"}) {
        write("x.csv", "mine");
        expectRefused(cli({"sessions", command, "1", path("x.csv"), "--db", database()}), {"x.csv", "there already"}, kBadInput);
        EXPECT_EQ(read(path("x.csv")), "mine");
        EXPECT_EQ(cli({"sessions", command, "1", path("x.csv"), "--force", "--db", database()}).exitCode, 0);
    }
    EXPECT_EQ(cli({"sessions", "export", "1", "/dev/null", "--format", "csv", "--db", database()}).exitCode, 0) << "nothing is lost there";
}

TEST_F(Profile, RefusesAScheduleThatIsNoneInOneSentence) {
    for (const char* bad : {"", "x", "active", "active=", "active=0", "active=-1", "active=1.5", "wait=1", "active=3,active=4", "active=3,,wait=1",
                            "active=3,turns=2", "active=99999999999999999999", "active=1001", "repeat=0,active=1", "wait=-1,active=1", "active=3,"})
        expectRefused(cli(tiny({"--profile", bad})), {"--profile"}, 2);
    expectRefused(cli(tiny({"--profile", "active=2", "--capture-at", "3"})), {"--profile"}, 2);
    expectRefused(cli({"train", "--no-record", "--steps", "2", "--profile", "active=1"}), {"--no-record", "--profile"});
}

TEST_F(Profile, SaysWhyItIsEmpty) {
    train();
    const Json none = rows();
    EXPECT_TRUE(none["rows"].empty());
    EXPECT_THAT(none["why"].get<std::string>(), HasSubstr("train --profile"));
    EXPECT_THAT(cli({"profile", "1", "--db", database()}).out, HasSubstr("Session 1 holds no capture"));
    EXPECT_THAT(cli({"profile", "1", "--by", "kernel", "--db", database()}).out, HasSubstr("Session 1 holds no capture"));
    expectRefused(cli({"profile", "77", "--db", database()}), {"77"}, 4);
    expectRefused(cli({"profile", "x", "--db", database()}), {"x"});
    expectRefused(cli({"profile", "1", "--sort", "size", "--db", database()}), {"--sort"}, 2);
    expectRefused(cli({"profile", "1", "--by", "thread", "--db", database()}), {"--by"}, 2);
    expectRefused(cli({"sessions", "export-trace", "1", path("z.json"), "--db", database()}), {"Session 1"}, 4);
    expectRefused(cli({"sessions", "export-trace", "1", path("z.txt"), "--db", database()}), {});
}

TEST_F(Profile, EndsACaptureAtItsCapAndKeepsWhatIsThere) {
    const auto finished = cli(tiny({"--steps", "700", "--profile", "wait=1,active=650", "--capture-cap", "200 kB"}));
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("The capture ends after"));
    EXPECT_THAT(finished.err, HasSubstr("200\u202FkB is the most"));
    const Json all = rows();
    EXPECT_GT(all["steps"], 0);
    EXPECT_LT(all["steps"], 650);
    EXPECT_GT(session(1)["captures"][0]["bytes"], 100'000);
    for (const char* bad : {"", "x", "-1", "2 XB", "2GBB", "GB", "1e30", "99999999TB", "1.2.3MB"})
        expectRefused(cli(tiny({"--capture-cap", bad})), {"--capture-cap", "2GB"}, kBadInput);
    EXPECT_EQ(cli(tiny({"--profile", "active=1", "--capture-cap", "0"})).exitCode, 0) << "no cap";
}

TEST_F(Profile, SaysWhatEachLevelOfObservingCost) {
    train({"--steps", "60", "--profile", "wait=35,warmup=1,active=4"});
    const Json levels = rows()["levels"];
    EXPECT_EQ(levels["L0"]["what"], "steps");
    EXPECT_GT(levels["L0"]["ns"].get<double>(), 0);
    EXPECT_GT(levels["L0"]["share"].get<double>(), 0);
    EXPECT_EQ(levels["L1"]["what"], "phases");
    EXPECT_GT(levels["L1"]["ns"].get<double>(), 0);
    EXPECT_EQ(levels["L2"]["what"], "operations and kernels");
    EXPECT_EQ(levels["L2"]["steps"], 4);
    EXPECT_GE(levels["L2"]["beside"].get<int>(), 10);
    EXPECT_LE(levels["L2"]["low"].get<double>(), levels["L2"]["share"].get<double>());
    EXPECT_GE(levels["L2"]["high"].get<double>(), levels["L2"]["share"].get<double>());
    EXPECT_EQ(session(1)["levels"], levels);
    EXPECT_TRUE(session(1)["captures"][0]["cost_low"].is_number());
    for (const Words& words : {Words{"profile", "1"}, Words{"sessions", "show", "1"}}) {
        Words with = words;
        with.insert(with.end(), {"--db", database()});
        EXPECT_THAT(cli(with).out, testing::ContainsRegex("ost of observing, measured in this run: L0 steps: .* L1 phases: .* L2 operations and "
                                                          "kernels: .*4 captured steps beside"));
    }
    train({"--steps", "4", "--profile", "active=1"});
    EXPECT_THAT(cli({"profile", "2", "--db", database()}).out,
                HasSubstr("L0 steps: not measured; L1 phases: not measured; L2 operations and kernels: not measured."));
    EXPECT_TRUE(Json::parse(cli({"profile", "2", "--json", "--db", database()}).out)["levels"]["L2"]["share"].is_null());
}

TEST_F(Profile, AScheduleIsEndedByASignalAndTheRunGoesOn) {
    Words words{STEPSCOPE_CLI};
    for (const auto& word : tiny({"--steps", "100000000", "--step-log", path("log"), "--profile", "wait=90000000,active=1,repeat=3", "--json"}))
        words.push_back(word);
    Process process(words, options());
    ASSERT_TRUE(waitForSteps(path("log"), 5));
    process.send(SIGUSR1);
    const auto told = [&] {
        const Json shown = session(1);
        for (const auto& line : shown["log"])
            if (line["text"].get<std::string>().starts_with("Nothing was captured: it was ended before step 90000001, and so before 2 more rounds."))
                return true;
        return false;
    };
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!told() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(told());
    const auto made = stepLog(path("log")).size();
    EXPECT_TRUE(waitForSteps(path("log"), made + 5)) << "it trains on";
    process.send(SIGINT);
    const auto finished = process.wait();
    EXPECT_EQ(finished.exitCode, kStopped) << finished.err;
}

TEST_F(Profile, SaysThatARoundNeverCame) {
    const auto finished = cli(tiny({"--profile", "wait=100,active=1"}));
    EXPECT_EQ(finished.exitCode, 0);
    EXPECT_THAT(finished.err, HasSubstr("Nothing was captured"));
    EXPECT_THAT(cli(tiny({"--profile", "wait=100,active=1,repeat=3"})).err,
                HasSubstr("Nothing was captured: the run has ended before step 101, and so before 2 more rounds."));
}
