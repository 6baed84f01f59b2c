// Several workers that train one model, as torchrun or a script starts them: real processes that meet at a file or a port, the first of which
// records. How they end when one of them is lost: WorkersEndTest.
#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "tests/app/WorkersFixture.h"

namespace stepscope::test {
namespace {

TEST_F(Workers, TwoAreOneWithTwoMicroBatchesBitForBitAndTheFirstAloneRecords) {
    const Words words{"--steps", "50", "--set", "dropout=0.1", "--set", "grad-clip=0.5"};
    const auto with = [&](const Words& more) {
        Words all = words;
        all.insert(all.end(), more.begin(), more.end());
        return all;
    };
    expectDone(run(with({"--step-log", path("together")})));
    EXPECT_EQ(newest()["state"], "finished");
    EXPECT_EQ(newest()["steps"], 50);
    EXPECT_THAT(newest()["name"].get<std::string>(), testing::EndsWith("2 workers"));
    const std::string together = weights();
    ASSERT_FALSE(together.empty());

    expectDone(run(with({"--step-log", path("again")})));
    EXPECT_EQ(losses(path("again")), losses(path("together")));
    EXPECT_EQ(weights(), together);

    train(with({"--step-log", path("alone"), "--set", "grad-accumulation=2"}));
    EXPECT_EQ(weights(), together);
    EXPECT_EQ(losses(path("alone")), losses(path("together")));
    EXPECT_EQ(Json::parse(cli({"sessions", "list", "--db", database(), "--json"}).out).size(), 3u);
}

class LocalWorkersCli : public Workers {
protected:
    // One command that starts the others itself.
    std::unique_ptr<Process> startAll(const Words& words, int workers = 2) const {
        std::filesystem::create_directory(path("tmp"));
        Words command{STEPSCOPE_CLI};
        for (const Words& part : {tiny(words), Words{"--workers", std::to_string(workers)}}) command.insert(command.end(), part.begin(), part.end());
        Process::Options with = options();
        with.environment["TMPDIR"] = path("tmp");
        return std::make_unique<Process>(command, with);
    }
    bool nothingIsLeft() const { return std::filesystem::is_empty(path("tmp")); }
    static std::vector<pid_t> childrenOf(pid_t parent) {
        std::vector<pid_t> all;
        for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(parent) + "/task")) {
            std::ifstream file(thread.path() / "children");
            for (pid_t child = 0; file >> child;) all.push_back(child);
        }
        return all;
    }
};

TEST_F(LocalWorkersCli, TrainAsThoseThatAScriptStarts) {
    expectDone(run({"--steps", "30", "--step-log", path("each")}));
    const std::string each = weights();
    const Finished finished = startAll({"--steps", "30", "--step-log", path("together")})->wait();
    EXPECT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_EQ(finished.err, "");
    EXPECT_EQ(losses(path("together")), losses(path("each")));
    EXPECT_EQ(weights(), each);
    EXPECT_THAT(newest()["name"].get<std::string>(), testing::EndsWith("2 workers"));
    EXPECT_TRUE(nothingIsLeft());
}

TEST_F(LocalWorkersCli, OneThatIsEndedIsNamedAndTheirStepsAreKept) {
    const auto first = startAll({"--steps", "1000000", "--step-log", path("log")});
    ASSERT_TRUE(waitForSteps(path("log"), 3));
    const auto others = childrenOf(first->id());
    ASSERT_EQ(others.size(), 1u);
    ::kill(others[0], SIGKILL);
    const Finished finished = first->wait();
    EXPECT_EQ(finished.exitCode, kTraining) << finished.err;
    EXPECT_THAT(finished.err, testing::HasSubstr("Worker 1 was ended by signal 9 (Killed)."));
    EXPECT_GE(newest()["steps"].get<int>(), 3);
    EXPECT_TRUE(nothingIsLeft());
}

// The one between says that it missed the last one, which is no reason.
TEST_F(LocalWorkersCli, OfSeveralThatEndedWhatTheFirstOfThemSaidIsTold) {
    const auto first = startAll({"--steps", "1000000", "--step-log", path("log")}, 3);
    ASSERT_TRUE(waitForSteps(path("log"), 3));
    const auto others = childrenOf(first->id());
    ASSERT_EQ(others.size(), 2u);
    ::kill(others[1], SIGKILL);
    const Finished finished = first->wait();
    EXPECT_EQ(finished.exitCode, kTraining) << finished.err;
    EXPECT_THAT(finished.err, testing::HasSubstr("Worker 2 was ended by signal 9 (Killed)."));
    EXPECT_THAT(finished.err, testing::Not(testing::HasSubstr("while worker 1 waited")));
    EXPECT_TRUE(nothingIsLeft());
}

TEST_F(LocalWorkersCli, EndWithTheFirstHoweverItEnds) {
    const auto first = startAll({"--steps", "1000000", "--step-log", path("log")});
    ASSERT_TRUE(waitForSteps(path("log"), 3));
    const auto others = childrenOf(first->id());
    ASSERT_EQ(others.size(), 1u);
    first->send(SIGKILL);
    EXPECT_EQ(first->wait().signal, SIGKILL);
    const std::string there = "/proc/" + std::to_string(others[0]) + "/exe";
    std::error_code gone;
    for (int look = 0; look < 3000 && !std::filesystem::read_symlink(there, gone).empty(); ++look)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(std::filesystem::read_symlink(there, gone).empty()) << "it trains on alone";
}

TEST_F(LocalWorkersCli, StopTogether) {
    const auto first = startAll({"--steps", "1000000", "--step-log", path("log")});
    ASSERT_TRUE(waitForSteps(path("log"), 3));
    first->send(SIGTERM);
    const Finished finished = first->wait();
    EXPECT_EQ(finished.exitCode, kStopped) << finished.err;
    EXPECT_EQ(newest()["state"], "stopped");
    EXPECT_TRUE(nothingIsLeft());
}

TEST_F(LocalWorkersCli, AreRefusedBesideAnotherNumberAndWhereTheirNumberIsNone) {
    Process::Options with = options();
    with.environment["RANK"] = "0";
    with.environment["WORLD_SIZE"] = "3";
    with.environment["STEPSCOPE_WORKERS_FILE"] = path("meet");
    expectRefused(cli(tiny({"--workers", "2"}), with), {"--workers 2", "3"}, kBadInput);
    // Left over of another starter, and of the same number: it would wait for one that nobody starts.
    with.environment["WORLD_SIZE"] = "2";
    expectRefused(cli(tiny({"--workers", "2"}), with), {"--workers 2", "worker 0 of 2", "RANK", "unset"}, kBadInput);
    for (const char* none : {"0", "-1", "257", "two"}) expectRefused(cli(tiny({"--workers", none})), {"--workers"}, kBadInput);
    expectRefused(cli(tiny({"--workers", "2", "--measure", "5:zero-grad=zero"})), {"--measure", "--workers"}, kBadInput);
}

TEST_F(Workers, WhatEachTookIsToldOfTheirSession) {
    // What other numbers of workers would make of it is measured before the first step. On a machine that is busy just then more bytes may take less
    // time: nothing is foretold of that run.
    std::string session;
    for (int times = 1; times <= 4; ++times) {
        expectDone(run({"--steps", "70"}, 3));
        session = std::to_string(times);
        const Json told = Json::parse(cli({"sessions", "workers", session, "--db", database(), "--json"}).out)["forecast"]["why_not"];
        if (told.is_null()) break;
        EXPECT_THAT(told.get<std::string>(), testing::HasSubstr("more bytes took less time"));
    }
    const Finished text = cli({"sessions", "workers", session, "--db", database()});
    EXPECT_EQ(text.exitCode, 0) << text.err;
    EXPECT_THAT(text.out, testing::HasSubstr("Means of 70 steps"));
    EXPECT_THAT(text.out, testing::HasSubstr("backward"));
    const Json json = Json::parse(cli({"sessions", "workers", session, "--db", database(), "--json"}).out);
    EXPECT_EQ(json["steps"], 70);
    ASSERT_EQ(json["workers"].size(), 3u);
    for (const auto& worker : json["workers"]) {
        EXPECT_GT(worker["phases_ms"]["forward"].get<double>(), 0);
        EXPECT_LT(worker["work_ms"].get<double>(), worker["ms"].get<double>()) << "some waiting there always is";
    }
    EXPECT_THAT(json["slowest"].get<std::string>(), testing::HasSubstr("orker"));
    // How well their clocks are known; here all of them are one clock.
    ASSERT_EQ(json["clocks"].size(), 3u);
    for (const auto& clock : json["clocks"]) EXPECT_GE(clock["exchanges"].get<int>(), 1);
    EXPECT_EQ(json["clocks"][0]["most_error_us"], 0);
    EXPECT_GT(json["clocks"][2]["most_error_us"].get<double>(), 0);
    EXPECT_THAT(text.out, testing::HasSubstr("Their clocks were compared"));

    EXPECT_THAT(text.out, testing::HasSubstr("Predicted, not measured"));
    const Json& forecast = json["forecast"];
    EXPECT_TRUE(forecast["why_not"].is_null()) << forecast;
    EXPECT_GT(forecast["bytes_per_s"].get<double>(), 0);
    EXPECT_GT(forecast["model_ms"].get<double>(), 0);
    ASSERT_EQ(forecast["predictions"].size(), 2u);
    EXPECT_EQ(forecast["predictions"][1]["workers"], 64);
    EXPECT_LE(forecast["predictions"][1]["times"].get<double>(), 64);
    // Six messages that take a second each are not hidden behind a step of milliseconds.
    const Json over =
        Json::parse(cli({"sessions", "workers", session, "--db", database(), "--json", "--for", "4", "--latency-us", "1000000", "--gbit", "8"}).out);
    EXPECT_EQ(over["forecast"]["assumed"], true);
    EXPECT_GT(over["forecast"]["predictions"][0]["waiting_ms"].get<double>(), 6'000);
    for (const char* bad : {"1", "8,", "eight", "8,5000"})
        expectRefused(cli({"sessions", "workers", session, "--db", database(), "--for", bad}), {"--for"}, kBadInput);
    expectRefused(cli({"sessions", "workers", session, "--db", database(), "--gbit", "0"}), {"--gbit"}, kBadInput);

    train({"--steps", "3"});
    EXPECT_EQ(Json::parse(cli({"sessions", "show", "1", "--db", database(), "--json"}).out)["workers"], 3);
    EXPECT_EQ(Json::parse(cli({"sessions", "show", "2", "--db", database(), "--json"}).out)["workers"], 1);
    const Finished alone = cli({"sessions", "workers", "2", "--db", database()});
    EXPECT_EQ(alone.exitCode, 0);
    EXPECT_THAT(alone.out, testing::HasSubstr("was trained by one"));
    EXPECT_THAT(Json::parse(cli({"sessions", "workers", "2", "--db", database(), "--json"}).out)["forecast"]["why_not"].get<std::string>(),
                testing::HasSubstr("two or more"));
    EXPECT_EQ(cli({"sessions", "workers", "77", "--db", database()}).exitCode, cli({"sessions", "show", "77", "--db", database()}).exitCode);
}

TEST_F(Workers, ACaptureHasTheStepsAndOperationsOfEachWithItsRank) {
    expectDone(run({"--steps", "9", "--profile", "wait=3,warmup=1,active=2"}, 3));
    const auto rows = [&](const std::string& sql) { return Json::parse(cli({"query", "1", sql, "--json", "--db", database()}).out)["rows"]; };
    EXPECT_EQ(rows("SELECT rank, number FROM step ORDER BY rank, number"), Json::parse("[[0,5],[0,6],[1,5],[1,6],[2,5],[2,6]]"));
    EXPECT_EQ(rows("SELECT count(DISTINCT capture), max(capture) FROM slice"), Json::parse("[[1,1]]"));
    // The same work, on lanes of their own.
    EXPECT_EQ(rows("SELECT count(DISTINCT n) FROM (SELECT rank, count(*) AS n FROM slice WHERE kind = 'phase' GROUP BY rank)"), Json::parse("[[1]]"));
    EXPECT_EQ(rows("SELECT count(DISTINCT rank) FROM op WHERE phase = 'backward'"), Json::parse("[[3]]"));
    EXPECT_EQ(rows("SELECT count(*) FROM (SELECT lane FROM slice GROUP BY lane HAVING count(DISTINCT rank) > 1)"), Json::parse("[[0]]"));
    // All of them wait for the sums of the others in each step, so each one's lies over those of the others.
    EXPECT_EQ(rows("SELECT count(*) FROM step a JOIN step b ON a.number = b.number WHERE a.start_ns >= b.end_ns + 2 * (SELECT max(error_ns) FROM "
                   "worker_clock)"),
              Json::parse("[[0]]"));
    EXPECT_EQ(rows("SELECT count(DISTINCT rank) FROM worker_clock"), Json::parse("[[3]]"));
    EXPECT_GE(rows("SELECT count(DISTINCT at_ns) FROM worker_clock")[0][0].get<int>(), 3) << "at the start, before the capture and behind it";
    const auto profile = [&](const Words& more) {
        Words words{"profile", "1", "--json", "--db", database()};
        words.insert(words.end(), more.begin(), more.end());
        return Json::parse(cli(words).out);
    };
    const Json first = profile({}), other = profile({"--rank", "2"}), all = profile({"--rank", "all"});
    EXPECT_EQ(first["rank"], 0);
    EXPECT_EQ(first["ranks"], Json::parse("[0,1,2]"));
    EXPECT_EQ(first["steps"], 2);
    EXPECT_EQ(rows("SELECT rank, max(capture), sum(bytes) FROM alloc GROUP BY 1 ORDER BY 1"), Json::parse("[[0,1,0],[1,1,0],[2,1,0]]"));
    EXPECT_THAT(cli({"profile", "1", "--by", "kernel", "--db", database()}).out, testing::HasSubstr("the run was not on a GPU"));
    EXPECT_TRUE(other["rank"] == 2 && other["steps"] == 2) << other["rank"] << ", " << other["steps"];
    EXPECT_TRUE(all["rank"].is_null() && all["steps"] == 6) << all["rank"] << ", " << all["steps"];
    EXPECT_GT(all["operations"].get<int>(), first["operations"].get<int>());
    EXPECT_THAT(cli({"profile", "1", "--db", database()}).out, testing::HasSubstr("Counted is rank 0 of 3"));
    EXPECT_THAT(cli({"profile", "1", "--rank", "1", "--db", database()}).out, testing::HasSubstr("Their clocks were compared"));
    expectRefused(cli({"profile", "1", "--rank", "7", "--db", database()}), {"rank 7", "0, 1, 2"}, kNotFound);
    expectRefused(cli({"profile", "1", "--rank", "first", "--db", database()}), {"--rank"}, kBadInput);
    EXPECT_EQ(logLines("All 3 workers captured steps 5 to 6; times of the others are told by the first one's clock, within %"), 1);
}

TEST_F(Workers, APlannedStepTogetherIsTheSameEachTime) {
    const Words words{"--steps", "50", "--set", "fusion=step", "--step-log", path("log")};
    expectDone(run(words, 3));
    const auto first = losses(path("log"));
    const std::string trained = weights();
    expectDone(run(words, 3));
    EXPECT_EQ(losses(path("log")), first);
    EXPECT_EQ(weights(), trained);
}

TEST_F(Workers, SumsInBf16AreTheSameEachTimeAndOthersThanThoseInFloat32) {
    const auto trained = [&](const Words& more) {
        Words words{"--steps", "8"};
        words.insert(words.end(), more.begin(), more.end());
        expectDone(run(words));
        return weights();
    };
    const std::string rounded = trained({"--set", "grad-sums=bf16"});
    EXPECT_EQ(logLines("%does nothing in a run of one worker%"), 0);
    EXPECT_EQ(trained({"--set", "grad-sums=bf16"}), rounded);
    EXPECT_NE(trained({}), rounded);
}

TEST_F(Workers, MomentsThatAreDealtOutTrainTheSameAndAnyNumberGoesOn) {
    const auto trained = [&](const Words& more, int size) {
        Words words{"--steps", "30", "--checkpoint-every", "20", "--set", "grad-clip=0.5"};
        words.insert(words.end(), more.begin(), more.end());
        expectDone(run(words, size));
        return checkpoint();
    };
    for (const int size : {2, 3}) {
        const std::string whole = trained({"--step-log", path("whole")}, size),
                          dealt = trained({"--set", "zero=1", "--step-log", path("dealt")}, size);
        EXPECT_EQ(losses(path("dealt")), losses(path("whole")));
        for (const char* file : {"/model.safetensors", "/optimizer.safetensors"}) {
            ASSERT_NE(read(whole + file), "");
            EXPECT_EQ(read(dealt + file), read(whole + file)) << file;
        }
    }
    // From a checkpoint that three made: two, to whom the moments are dealt out anew, and one.
    const std::string kept = checkpoint();
    for (const Words& own : {Words{"--step-log", path("two")}, Words{"--step-log", path("two whole"), "--set", "zero=0"}}) {
        Words words{"--steps", "40", "--resume", kept};
        words.insert(words.end(), own.begin(), own.end());
        for (const Finished& one : run(words)) EXPECT_EQ(one.exitCode, 0) << one.err;
    }
    EXPECT_EQ(losses(path("two")), losses(path("two whole")));
    train({"--steps", "40", "--resume", kept, "--set", "zero=1"});
    EXPECT_EQ(logLines("%does nothing in a run of one worker%"), 1);
    EXPECT_EQ(newest()["steps"], 40);
}

TEST_F(Workers, TheyMeetAtAPortAsAScriptSaysAndAnyNumberGoesOn) {
    meetAtAPort();
    expectDone(run({"--steps", "10"}));
    EXPECT_EQ(logLines("Least of all worker % waited % of a step (%) for the others, most worker %."), 1);
    EXPECT_EQ(logLines("2 workers train together, 2 of them on this machine, with 1 thread each: an update takes 4 sequences, 2 of each worker."), 1);
    const std::string kept = checkpoint();
    meetAtAPort();
    const auto further = run({"--steps", "14", "--resume", kept}, 3);
    for (const Finished& one : further) EXPECT_EQ(one.exitCode, 0) << one.err;
    EXPECT_EQ(newest()["steps"], 14);
    EXPECT_THAT(further[0].err, testing::HasSubstr("The checkpoint was made by 2 workers, this run has 3: an update takes the sequences of 3"));
    EXPECT_THAT(further[0].err, testing::HasSubstr("unless batch-size or grad-accumulation makes up for it")) << "true where it does, too";
    EXPECT_EQ(further[1].err + further[2].err, "") << "the first one alone tells";
}

TEST_F(Workers, WhatOneOfThemHasOtherwiseIsRefusedByNameByAll) {
    const auto first = start(0, {}), other = start(1, {"--set", "weight-decay=0.25"});
    for (Process* worker : {first.get(), other.get()})
        expectRefused(worker->wait(), {"Worker 1 of 2 has another weight-decay than worker 0, 0.25 instead of 0.1"}, kBadInput);
    EXPECT_FALSE(std::filesystem::exists(database())) << "nothing has begun";
}

TEST_F(Workers, OtherThreadsAreRefusedByNameByAll) {
    const auto first = start(0, {"--set", "threads=1"}), other = start(1, {"--set", "threads=2"});
    for (Process* worker : {first.get(), other.get()})
        expectRefused(worker->wait(), {"Worker 1 of 2 has another threads than worker 0, 2 instead of 1"}, kBadInput);
}

// The same words, and a file of the same name and length with each.
TEST_F(Workers, AnotherTextIsRefusedByNameByAll) {
    std::filesystem::create_directories(path("here"));
    std::filesystem::create_directories(path("there"));
    std::string text;
    for (int i = 0; i < 4000; ++i) text += "word" + std::to_string(i % 97) + " ";
    write("here/text.txt", text);
    text[17] = text[17] == 'x' ? 'y' : 'x';
    write("there/text.txt", text);
    const Words words{"--data", "text.txt"};
    const auto first = start(0, words, 2, {}, path("here")), other = start(1, words, 2, {}, path("there"));
    for (Process* worker : {first.get(), other.get()}) expectRefused(worker->wait(), {"Worker 1 of 2 has another text than worker 0"}, kBadInput);
    EXPECT_FALSE(std::filesystem::exists(database())) << "nothing has begun";
}

TEST_F(Workers, WhatIsNoTrainingIsStartedOnceAndAMeasurementIsForOneWorker) {
    Process::Options with = options();
    with.environment = {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"STEPSCOPE_WORKERS_FILE", path("meet")}};
    for (const Words& words : {measuring("ab", {"--aa"}), measuring("tune", {}), Words{"lr-range", "--preset", "tiny-cpu", "--data", "generated"}})
        expectRefused(cli(words, with), {"This is worker 1 of 2, and several workers only train together"}, kBadInput);
    expectRefused(start(0, {"--measure", "5:fusion=kernels"})->wait(), {"--measure", "one worker"}, kBadInput);
}

}  // namespace
}  // namespace stepscope::test
