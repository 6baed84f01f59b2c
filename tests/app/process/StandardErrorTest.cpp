// Descriptor 2 of a real process: what a library writes there is told as sentences, the program's own words and the last words of a crash reach the
// stream that it was started with, and nobody waits for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <sstream>

#include "tests/app/Process.h"

namespace stepscope::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kProbe = STEPSCOPE_STANDARD_ERROR_PROBE;

Finished probe(const std::string& word, Process::Options options = {}) {
    return Process({kProbe, word}, options).wait(std::chrono::seconds(60));
}

// By a shell, which can close a stream or lead it elsewhere.
Finished byShell(const std::string& command) {
    return Process({"/bin/sh", "-c", std::string(kProbe) + " " + command}, {}).wait(std::chrono::seconds(60));
}

TEST(StandardError, OfALibraryIsToldInSentencesAndTheProgramsOwnWordsStayAsTheyAre) {
    const auto finished = probe("say");
    EXPECT_EQ(finished.exitCode, 7);
    EXPECT_EQ(finished.err,
              "told: A library says: before main\n"
              "told: A library says: red and \uFFFD a bell\n"
              "told: A library says: a line without an end\n"
              "own: the end\n");
    EXPECT_EQ(finished.out, "");
}

TEST(StandardError, IsTheSameOnATerminalInAFileAndWhereItLeadsNowhere) {
    const auto terminal = probe("say", {.environment = {}, .terminal = true});
    EXPECT_EQ(terminal.exitCode, 7);
    EXPECT_THAT(terminal.err, AllOf(HasSubstr("told: A library says: a line without an end"), HasSubstr("own: the end"), Not(HasSubstr("\x1b"))));
    const auto file = byShell("say 2>&1");
    EXPECT_EQ(file.exitCode, 7);
    EXPECT_THAT(file.out, AllOf(HasSubstr("told: A library says: before main\n"), HasSubstr("own: the end\n")));
    for (const char* elsewhere : {"say 2>/dev/null", "say 2>&-", "say 0<&- 1>&- 2>&-"}) {
        const auto finished = byShell(elsewhere);
        EXPECT_EQ(finished.exitCode, 7) << elsewhere;
        EXPECT_EQ(finished.err + finished.out, "") << elsewhere;
    }
    const auto aborted = byShell("abort 2>&-");
    EXPECT_TRUE(aborted.signal == SIGABRT || aborted.exitCode == 128 + SIGABRT) << aborted.exitCode;
}

TEST(StandardError, IsLeftAloneWhereAPersonWantsToSeeItRaw) {
    const auto finished = probe("say", {.environment = {{"STEPSCOPE_RAW_STDERR", "1"}}, .terminal = false});
    EXPECT_EQ(finished.exitCode, 7);
    EXPECT_EQ(finished.err, "before main\n\x1b[31mred\x1b[0m and \a a bell\n  \na line without an endown: the end\n");
}

TEST(StandardError, OfALibraryThatNeverStopsIsBoundedAndCounted) {
    const auto finished = probe("flood");
    EXPECT_EQ(finished.exitCode, 0);
    EXPECT_LT(finished.err.size(), 20'000u);
    std::istringstream lines(finished.err);
    int told = 0;
    std::string last;
    for (std::string line; std::getline(lines, line); last = line)
        told += line.find("line") != std::string::npos || line.find("before") != std::string::npos ? 1 : 0;
    EXPECT_EQ(told, 100);
    EXPECT_EQ(last, "told: Libraries said 99\u202F901 more things; they are left out here.") << "100 000 lines, one before main, and 100 told";
}

TEST(StandardError, ALineOfAnyLengthIsCut) {
    const auto finished = probe("long");
    EXPECT_EQ(finished.exitCode, 0) << "all of it was taken";
    EXPECT_THAT(finished.err, HasSubstr("xxx…\n"));
    EXPECT_LT(finished.err.size(), 3000u);
}

TEST(StandardError, NeverMakesAWriterWaitForALogThatCannotBeWrittenNorForAReaderThatIsNotThereYet) {
    const auto blocked = probe("blocked");
    EXPECT_FALSE(blocked.timedOut);
    EXPECT_EQ(blocked.exitCode, 0);
    EXPECT_THAT(blocked.err, HasSubstr("told\n"));
    const auto early = probe("early");
    EXPECT_FALSE(early.timedOut);
    EXPECT_THAT(early.err, HasSubstr("own: goes on\n"));
}

TEST(StandardError, LastWordsOfACrashReachTheRealStreamHoweverItComes) {
    struct Crash {
        const char* word;
        int signal;
        const char* alsoSays;
    };
    for (const auto& [word, signal, alsoSays] :
         {Crash{"abort", SIGABRT, ""}, Crash{"free", SIGABRT, "free(): invalid pointer"}, Crash{"terminate", SIGABRT, "nobody catches this"},
          Crash{"fault", SIGSEGV, ""}, Crash{"two-aborts", SIGABRT, ""}, Crash{"told-then-abort", SIGABRT, ""}}) {
        for (int again = 0; again < 20; ++again) {  // the reader may have it, or the teller, or the pipe
            const auto finished = probe(word);
            EXPECT_EQ(finished.signal, signal) << word << ": " << finished.err;
            EXPECT_THAT(finished.err, AllOf(HasSubstr("last words\n"), HasSubstr(alsoSays))) << word;
        }
    }
}

TEST(StandardError, OfAnExitInTheMiddleAndOfDestructorsIsToldToo) {
    const auto middle = probe("exit");
    EXPECT_EQ(middle.exitCode, 3);
    EXPECT_THAT(middle.err, HasSubstr("A library says: last words\n"));
    const auto late = probe("late");
    EXPECT_EQ(late.exitCode, 0);
    EXPECT_EQ(late.err, "told: A library says: before main\nstepscope: A library says: goodbye\n");
}

TEST(StandardError, OfAForkedChildIsTheRealOneAndOfAShellALine) {
    const auto forked = probe("fork");
    EXPECT_EQ(forked.exitCode, 0);
    EXPECT_THAT(forked.err, AllOf(HasSubstr("the child speaks\n"), Not(HasSubstr("says: the child speaks")),
                                  HasSubstr("told: A library says: the parent speaks\n")));
    const auto shell = probe("shell");
    EXPECT_EQ(shell.exitCode, 0);
    EXPECT_THAT(shell.err, HasSubstr("the shell speaks\n"));
}

TEST(StandardError, CostsNothingWhileNobodyWrites) {
    EXPECT_THAT(probe("idle").err, HasSubstr("own: 0\n")) << "no thread of it wakes";
}

}  // namespace
}  // namespace stepscope::test
