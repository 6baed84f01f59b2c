// kill -9 at 50 random moments of a real process: the file opens, the session is interrupted, no more than 250 ms is missing.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <thread>

#include "sessions/SessionStore.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

namespace {

pid_t start(const std::string& database, const std::string& log) {
    const std::string program = besideThis("record_steps");
    const pid_t child = ::fork();
    if (child == 0) {
        ::execl(program.c_str(), program.c_str(), database.c_str(), log.c_str(), nullptr);
        ::_exit(127);
    }
    return child;
}

// The last step that happened more than 250 ms before the last one in the log, which is the last sign of life.
std::int64_t stepThatMustBeThere(const std::string& log) {
    std::vector<std::pair<std::int64_t, std::int64_t>> lines;
    std::istringstream all(contentOf(log));
    for (std::string line; std::getline(all, line) && !all.eof();) {
        const auto parsed = nlohmann::json::parse(line);
        lines.emplace_back(parsed["step"].get<std::int64_t>(), parsed["t_ns"].get<std::int64_t>());
    }
    std::int64_t must = 0;
    for (const auto& [step, at] : lines)
        if (at < lines.back().second - 250'000'000) must = step;
    return must;
}

}  // namespace

TEST(Kill, AFileWhoseMakerDiedInsideItsFirstTransactionIsMadeAnew) {
    // What such a kill leaves (found by the test below, once in some hundred rounds): the first page is written, with our name in it, the others are
    // not, and the rollback journal says that the file was empty before (https://www.sqlite.org/fileformat2.html, section 3).
    const TempFolder folder;
    const auto path = folder.file("s.db");
    ASSERT_TRUE(Recorder::open({.path = path}, sampleInfo("whole")));
    std::string page = contentOf(path).substr(0, 4096);
    ASSERT_EQ(page.size(), 4096u);
    page[18] = page[19] = 1;  // not yet in WAL mode
    const std::string header(
        "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
        "\0\0\0\0"
        "\1\2\3\4"
        "\0\0\0\0"
        "\0\0\2\0"
        "\0\0\x10\0",
        28);
    const auto half = folder.file("half.db");
    std::ofstream(half, std::ios::binary) << page;
    std::ofstream(half + "-journal", std::ios::binary) << header + std::string(512 - header.size(), '\0');

    auto reader = SessionReader::open(half);
    ASSERT_TRUE(reader) << reader.error().sentence << " " << reader.error().cause;
    const auto list = (*reader)->list();
    ASSERT_TRUE(list);
    EXPECT_TRUE(list->empty());
    EXPECT_TRUE(Recorder::open({.path = half}, sampleInfo("the next")));
}

TEST(Kill, LosesNoMoreThanAQuarterOfASecondAtFiftyRandomMoments) {
    std::mt19937 random(std::random_device{}());
    int withSteps = 0, early = 0;
    for (int round = 0; round < 50; ++round) {
        const TempFolder folder;
        const auto path = folder.file("s.db"), log = folder.file("steps");
        // Every fifth dies while it makes the file, the others while they record.
        const bool whileMaking = round % 5 == 0;
        const int ms = whileMaking ? std::uniform_int_distribution(0, 25)(random) : std::uniform_int_distribution(150, 800)(random);
        const pid_t child = start(path, log);
        // From the first step on, however slow the start was.
        if (!whileMaking) {
            ASSERT_TRUE(eventually([&] { return !contentOf(log).empty(); }));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(ms));
        ASSERT_EQ(::kill(child, SIGKILL), 0);
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status)) << "the recording process ended by itself";
        early += whileMaking;
        const auto where = fmt::format("round {}, killed after {} ms", round, ms);

        if (std::filesystem::exists(path)) {
            auto reader = SessionReader::open(path);
            ASSERT_TRUE(reader) << where << ": " << reader.error().sentence << " " << reader.error().cause;
            const auto list = (*reader)->list();
            ASSERT_TRUE(list) << where;
            ASSERT_LE(list->size(), 1u);
            const std::int64_t must = stepThatMustBeThere(log);
            if (list->empty()) {
                ASSERT_EQ(must, 0) << where;
            } else {
                EXPECT_EQ(list->at(0).state, RunState::Interrupted) << where;
                EXPECT_GE(list->at(0).steps, must) << where;
                const auto steps = stepsOf(storedEvents(path, list->at(0).id));
                EXPECT_EQ(static_cast<std::int64_t>(steps.size()), list->at(0).steps) << where << ": a gap";
                // Every tenth step brought a block of bulk data, in the same transactions.
                const auto blocks = (*reader)->chunks(list->at(0).id, {"noise/1", 0, {0}, {std::numeric_limits<std::int64_t>::max()}});
                ASSERT_TRUE(blocks) << where << ": " << blocks.error().sentence << " " << blocks.error().cause;
                EXPECT_GE(static_cast<std::int64_t>(blocks->chunks.size()), must / 10) << where;
                for (std::size_t i = 0; i < blocks->chunks.size(); ++i)
                    ASSERT_EQ(blocks->chunks[i]->count, static_cast<std::int64_t>(10 * (i + 1))) << where << ": a gap among the blocks";
                withSteps += must > 0;
            }
        }
        // The next run simply goes on in the same file.
        auto recorder = Recorder::open({.path = path}, sampleInfo("the next"));
        ASSERT_TRUE(recorder) << where << ": " << recorder.error().sentence << " " << recorder.error().cause;
        ASSERT_TRUE((*recorder)->finish());
        EXPECT_EQ(pragma(path, "integrity_check"), "ok") << where;
    }
    EXPECT_EQ(early, 10);
    EXPECT_GE(withSteps, 20) << "too few of the kills came while steps were being recorded";
}
