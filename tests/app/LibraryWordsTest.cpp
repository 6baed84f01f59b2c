// What libraries say while the command line is loaded and while it trains is a sentence and a line of the log, and never stands raw on a terminal.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class LibraryWords : public CliFixture {};

// libgomp reads it in its constructor, before main; without GOMP_SPINCOUNT the program has started itself anew by then.
TEST_F(LibraryWords, OfAVariableThatIsWrongAreASentence) {
    Process::Options options = this->options();
    options.environment["OMP_NUM_THREADS"] = "nonsense";
    for (const bool again : {false, true}) {
        Words words{STEPSCOPE_CLI, "--version"};
        if (again) words.insert(words.begin(), {"/usr/bin/env", "-u", "GOMP_SPINCOUNT", "-u", "OMP_WAIT_POLICY"});
        const auto finished = Process(words, options).wait();
        EXPECT_EQ(finished.exitCode, 0);
        EXPECT_THAT(finished.err,
                    AllOf(testing::StartsWith("stepscope-cli: A library says: libgomp: Invalid value for environment variable OMP_NUM_THREADS")));
        EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
    }
}

TEST_F(LibraryWords, DuringARunAreALineOfItsLogAndCleanOnATerminal) {
    for (const bool terminal : {false, true}) {
        std::filesystem::remove(path("log"));
        std::filesystem::remove(path("log.said"));
        std::filesystem::remove(database());
        Process::Options options = this->options();
        options.terminal = terminal;
        options.environment["LD_PRELOAD"] = STEPSCOPE_TALKING_LIBRARY;
        options.environment["TALKING_EARLY"] = "1";
        options.environment["TALKING_AFTER"] = path("log");
        Words words{STEPSCOPE_CLI};
        for (const auto& word : tiny({"--steps", "100000000", "--step-log", path("log")})) words.push_back(word);
        Process process(words, options);
        for (int i = 0; i < 1200 && !std::filesystem::exists(path("log.said")); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        ASSERT_TRUE(std::filesystem::exists(path("log.said")));
        process.send(SIGINT);
        const auto finished = process.wait();
        EXPECT_EQ(finished.exitCode, kStopped) << finished.err;
        for (const char* sentence : {"A library says: talking: it is early", "A library says: talking: the moon is full"}) {
            EXPECT_THAT(finished.err, HasSubstr(sentence));
            SQLite::Database file(database(), SQLite::OPEN_READONLY);
            SQLite::Statement lines(file, "SELECT count(*) FROM log_lines WHERE text = ?");
            lines.bind(1, sentence);
            ASSERT_TRUE(lines.executeStep());
            if (std::string(sentence).find("moon") != std::string::npos) {
                EXPECT_EQ(lines.getColumn(0).getInt(), 1);
            }
        }
        EXPECT_THAT(finished.err, AllOf(Not(HasSubstr("\x1b[35m")), Not(HasSubstr("moon\t"))));
    }
}

}  // namespace
}  // namespace stepscope::test
