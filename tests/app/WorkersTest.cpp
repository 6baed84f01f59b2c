// Several workers that train one model, as torchrun or a script starts them: real processes that meet at a file or a port, the first of which
// records.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "tests/app/CliFixture.h"
#include "tests/support/FreePort.h"

namespace stepscope::test {
namespace {

class Workers : public CliFixture {
protected:
    // `train` of the fixture's model; words: of every worker, then of one alone. folder: where it is started, if not here.
    std::unique_ptr<Process> start(int rank, const Words& words, int size = 2, const Words& own = {}, const std::string& folder = {}) const {
        Words command;
        if (!folder.empty()) command = {"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", folder};
        command.push_back(STEPSCOPE_CLI);
        for (const Words& part : {tiny(words), own}) command.insert(command.end(), part.begin(), part.end());
        Process::Options with = options();
        with.environment["RANK"] = std::to_string(rank);
        with.environment["WORLD_SIZE"] = std::to_string(size);
        if (m_port > 0) {
            with.environment["MASTER_ADDR"] = "127.0.0.1";
            with.environment["MASTER_PORT"] = std::to_string(m_port);
        } else {
            with.environment["STEPSCOPE_WORKERS_FILE"] = path("meet");
        }
        return std::make_unique<Process>(command, with);
    }
    std::vector<Finished> run(const Words& words, int size = 2) {
        std::vector<std::unique_ptr<Process>> workers;
        for (int rank = 0; rank < size; ++rank) workers.push_back(start(rank, words, size));
        std::vector<Finished> finished;
        for (const auto& worker : workers) finished.push_back(worker->wait());
        std::filesystem::remove(path("meet"));
        return finished;
    }
    void expectDone(const std::vector<Finished>& finished) const {
        for (std::size_t rank = 0; rank < finished.size(); ++rank) {
            EXPECT_EQ(finished[rank].exitCode, 0) << finished[rank].err;
            EXPECT_EQ(finished[rank].err, "");
            if (rank > 0) {
                EXPECT_EQ(finished[rank].out, "") << "the first one alone tells";
            }
        }
    }
    // That was written last.
    std::string checkpoint() const {
        std::filesystem::path last;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(database() + ".checkpoints"))
            if (entry.path().filename() == "model.safetensors" &&
                (last.empty() || std::filesystem::last_write_time(entry) > std::filesystem::last_write_time(last)))
                last = entry.path();
        return last.parent_path().string();
    }
    std::string weights() const { return read(checkpoint() + "/model.safetensors"); }
    int logLines(const std::string& like) const {
        SQLite::Database stored(database(), SQLite::OPEN_READONLY);
        SQLite::Statement lines(stored, "SELECT count(*) FROM log_lines WHERE text LIKE ?");
        lines.bind(1, like);
        lines.executeStep();
        return lines.getColumn(0).getInt();
    }
    bool comes(const std::string& name) const {
        for (int look = 0; look < 6000 && !std::filesystem::exists(path(name)); ++look) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        return std::filesystem::exists(path(name));
    }
    void meetAtAPort(int port = freePort()) { m_port = port; }

private:
    int m_port = 0;
};

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
    std::unique_ptr<Process> startAll(const Words& words) const {
        std::filesystem::create_directory(path("tmp"));
        Words command{STEPSCOPE_CLI};
        for (const Words& part : {tiny(words), Words{"--workers", "2"}}) command.insert(command.end(), part.begin(), part.end());
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
    EXPECT_THAT(finished.err, testing::HasSubstr("orker 1"));
    EXPECT_GE(newest()["steps"].get<int>(), 3);
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
    for (const char* none : {"0", "-1", "257", "two"}) expectRefused(cli(tiny({"--workers", none})), {"--workers"}, kBadInput);
    expectRefused(cli(tiny({"--workers", "2", "--measure", "5:zero-grad=zero"})), {"--measure", "--workers"}, kBadInput);
}

TEST_F(Workers, WhatEachTookIsToldOfTheirSession) {
    expectDone(run({"--steps", "70"}, 3));
    const Finished text = cli({"sessions", "workers", "1", "--db", database()});
    EXPECT_EQ(text.exitCode, 0) << text.err;
    EXPECT_THAT(text.out, testing::HasSubstr("Means of 70 steps"));
    EXPECT_THAT(text.out, testing::HasSubstr("backward"));
    const Json json = Json::parse(cli({"sessions", "workers", "1", "--db", database(), "--json"}).out);
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

    // What other numbers of workers would make of it, from what was measured before the first step.
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
        Json::parse(cli({"sessions", "workers", "1", "--db", database(), "--json", "--for", "4", "--latency-us", "1000000", "--gbit", "8"}).out);
    EXPECT_EQ(over["forecast"]["assumed"], true);
    EXPECT_GT(over["forecast"]["predictions"][0]["waiting_ms"].get<double>(), 6'000);
    for (const char* bad : {"1", "8,", "eight", "8,5000"})
        expectRefused(cli({"sessions", "workers", "1", "--db", database(), "--for", bad}), {"--for"}, kBadInput);
    expectRefused(cli({"sessions", "workers", "1", "--db", database(), "--gbit", "0"}), {"--gbit"}, kBadInput);

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

// Another program takes connections at MASTER_PORT and never says a word.
TEST_F(Workers, OneThatNobodyAnswersEndsWhenItIsTold) {
    const int silent = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(silent, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(::listen(silent, 5), 0);
    ASSERT_EQ(::getsockname(silent, reinterpret_cast<sockaddr*>(&address), &size), 0);
    meetAtAPort(ntohs(address.sin_port));
    const auto worker = start(1, {"--patience", "600"});
    pollfd comes{.fd = silent, .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&comes, 1, 60'000), 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // it looks whether somebody listens, and connects then
    worker->send(SIGTERM);
    const Finished finished = worker->wait(std::chrono::seconds(30));
    EXPECT_FALSE(finished.timedOut);
    EXPECT_EQ(finished.exitCode, kStopped) << finished.err;
    expectRefused(start(0, {"--patience", "600"})->wait(), {"MASTER_PORT", "is taken by another program"}, kIo);
    ::close(silent);
}

TEST_F(Workers, OneThatCannotBeginTellsTheOthersWhy) {
    const std::string text = write("some.txt", std::string(20'000, 'x'));
    const auto first = start(0, {"--data", text});
    const auto other = start(1, {"--data", text}, 2, {"--init", path("nothing")});
    EXPECT_THAT(other->wait().err, testing::HasSubstr("worker 1: "));
    expectRefused(first->wait(), {"Worker 1 of 2 has given up", "nothing"}, kTraining);
}

// Of a checkpoint, before they have met: the others wait for it.
TEST_F(Workers, AFileThatOneOfThemLacksIsToldByAllInItsWords) {
    expectDone(run({"--steps", "6"}));
    const std::string kept = checkpoint();
    std::filesystem::copy(kept, path("lacking"), std::filesystem::copy_options::recursive);
    std::filesystem::remove(path("lacking/optimizer.safetensors"));
    for (const std::string& lacking : {path("lacking"), path("nowhere")}) {
        std::vector<std::unique_ptr<Process>> workers;
        for (int rank = 0; rank < 3; ++rank) workers.push_back(start(rank, {"--steps", "9", "--resume", rank == 1 ? lacking : kept}, 3));
        std::vector<Finished> finished;
        for (const auto& worker : workers) finished.push_back(worker->wait());
        const std::string& own = finished[1].err;
        EXPECT_THAT(own, testing::HasSubstr(lacking));
        EXPECT_EQ(finished[1].exitCode, lacking == path("lacking") ? kDamaged : kNotFound) << own;
        const std::string why = own.substr(own.find(": ") + 2, own.find_last_not_of('\n') - own.find(": ") - 1);
        for (const std::size_t other : {std::size_t{0}, std::size_t{2}}) {
            EXPECT_EQ(finished[other].exitCode, kTraining) << finished[other].err;
            EXPECT_THAT(finished[other].err, testing::HasSubstr("Worker 1 of 3 has given up: " + why));
        }
    }
    EXPECT_EQ(newest()["steps"], 6) << "nothing has begun anew";
}

TEST_F(Workers, OneThatIsKilledIsNamedByTheOtherWhichKeepsACheckpoint) {
    const auto first = start(0, {"--steps", "100000000", "--step-log", path("log")}), other = start(1, {"--steps", "100000000"});
    ASSERT_TRUE(waitForSteps(path("log"), 20));
    other->send(SIGKILL);
    const auto killed = std::chrono::steady_clock::now();
    const auto finished = first->wait();
    EXPECT_LT(std::chrono::steady_clock::now() - killed, std::chrono::seconds(30)) << "of 300 that it may wait for one that hangs";
    EXPECT_EQ(finished.exitCode, kTraining);
    EXPECT_THAT(finished.err, testing::HasSubstr("Worker 1 of 2 has ended while worker 0 waited to"));
    EXPECT_THAT(finished.err, testing::HasSubstr("is kept; resume from"));
    EXPECT_EQ(newest()["state"], "failed");
}

TEST_F(Workers, OneThatIsKilledTakesItsPartOfTheMomentsWithIt) {
    const Words words{"--steps", "100000000", "--checkpoint-every", "10", "--keep", "1", "--set", "zero=1"};
    const auto first = start(0, words, 2, {"--step-log", path("log")}), other = start(1, words);
    ASSERT_TRUE(waitForSteps(path("log"), 25));
    other->send(SIGKILL);
    const auto finished = first->wait();
    EXPECT_EQ(finished.exitCode, kTraining);
    EXPECT_THAT(finished.err, testing::HasSubstr("Worker 1 of 2 has ended while worker 0 waited to"));
    EXPECT_THAT(finished.err, testing::ContainsRegex("Step [0-9]*0 is kept; resume from")) << "the newest one that was due";
}

TEST_F(Workers, TheOthersNameTheFirstWhenItIsKilled) {
    meetAtAPort();
    const auto first = start(0, {"--steps", "100000000", "--step-log", path("log")}), other = start(1, {"--steps", "100000000"});
    ASSERT_TRUE(waitForSteps(path("log"), 20));
    first->send(SIGKILL);
    const auto killed = std::chrono::steady_clock::now();
    expectRefused(other->wait(), {"worker 1: Worker 0 of 2 has ended while worker 1 waited to"}, kTraining);
    EXPECT_LT(std::chrono::steady_clock::now() - killed, std::chrono::seconds(30));
}

TEST_F(Workers, OneThatHangsEndsTheOthersAfterThePatience) {
    const Words words{"--steps", "100000000", "--step-log", path("log"), "--patience", "6"};
    const auto first = start(0, words), other = start(1, words);
    ASSERT_TRUE(waitForSteps(path("log"), 20));
    other->send(SIGSTOP);
    const auto finished = first->wait();
    EXPECT_EQ(finished.exitCode, kTraining);
    EXPECT_THAT(finished.err, testing::HasSubstr("Worker 1 of 2 does not answer, while worker 0 waited to"));
}

TEST_F(Workers, AStopAskedOfOneStopsAllAfterTheSameStep) {
    const auto first = start(0, {"--steps", "100000000", "--step-log", path("log")}), other = start(1, {"--steps", "100000000"});
    ASSERT_TRUE(waitForSteps(path("log"), 20));
    other->send(SIGTERM);
    EXPECT_EQ(other->wait().exitCode, kStopped);
    EXPECT_EQ(first->wait().exitCode, kStopped);
    EXPECT_EQ(newest()["state"], "stopped");
}

TEST_F(Workers, OneThatIsStoppedBeforeTheOthersComeEndsAtOnce) {
    for (const int rank : {0, 1}) {
        const auto worker = start(rank, {"--patience", "600"});
        ASSERT_TRUE(comes("meet"));
        worker->send(SIGTERM);
        const auto finished = worker->wait();
        EXPECT_EQ(finished.exitCode, kStopped) << rank << ": " << finished.err;
        EXPECT_FALSE(std::filesystem::exists(database())) << "nothing has begun";
        std::filesystem::remove(path("meet"));
    }
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
