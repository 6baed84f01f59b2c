// The medians of a session's steps: those that the summary of the run says, in memory that does not grow with the run. The limit is the system's own,
// in a process apart.
#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "core/analysis/Statistics.h"
#include "core/analysis/Thinned.h"
#include "sessions/record/StepSummary.h"
#include "tests/sessions/TestSupport.h"
#include "tests/support/HeldMemory.h"
#include "tests/support/Sanitized.h"

namespace stepscope::test {
namespace {

// A table of the steps of session 1, of the columns that are summed up; `duration` is an expression in the step's number i.
void makeSteps(SQLite::Database& database, std::int64_t steps, const std::string& duration) {
    database.exec(
        "CREATE TABLE steps (session INTEGER, at_ns INTEGER, seq INTEGER, duration_ns INTEGER, tokens INTEGER, PRIMARY KEY (session, at_ns, seq)) "
        "WITHOUT ROWID");
    database.exec(
        fmt::format("INSERT INTO steps SELECT 1, i * 1000000, i, {}, 64 FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
                    "i < {}) SELECT i FROM n)",
                    duration, steps));
}

TEST(StepSummary, IsOverEveryStepOfAShortRunAndOverThoseThatTheRunsOwnSummaryHoldsOfALongOne) {
    for (const std::int64_t steps : {9, 10'000, 200'000}) {
        SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        makeSteps(database, steps, "(i * 7919) % 100003");
        Thinned<double> thinned;
        std::vector<double> all;
        for (std::int64_t i = 1; i <= steps; ++i) {
            all.push_back(static_cast<double>(i * 7919 % 100003));
            thinned.add(all.back());
        }
        const StepMedians medians = stepMedians(database, 1);
        EXPECT_DOUBLE_EQ(medians.durationNs, median(withoutWarmUp(thinned.values()))) << steps;
        EXPECT_DOUBLE_EQ(medians.tokens, 64) << steps;
        EXPECT_NEAR(medians.durationNs, median(withoutWarmUp(all)), steps > 10'000 ? 1'000 : 0) << steps;
    }
    SQLite::Database empty(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    makeSteps(empty, 9, "1");
    EXPECT_TRUE(std::isnan(stepMedians(empty, 2).durationNs)) << "a session without steps";
}

// Ends this process: with 0 where `body` is true and took at most 12 MB, with 1 where it is false, with 2 where it wanted more.
void endAfter(const std::function<bool()>& body) {
    const rlim_t most = stepscope::testing::heldMemory() + (rlim_t{12} << 20);
    const rlimit limit{most, most};
    if (::setrlimit(RLIMIT_DATA, &limit) != 0) std::_Exit(3);
    bool right = false;
    try {
        right = body();
    } catch (const std::bad_alloc&) {
        std::_Exit(2);
    } catch (const std::exception&) {
        std::_Exit(4);
    }
    std::_Exit(right ? 0 : 1);
}

TEST(StepSummary, OfTwoMillionStepsTakesNoMoreMemoryThanOfAHundredThousand) {
    if (underSanitizer()) GTEST_SKIP() << "sanitizers take terabytes of address space themselves";
    const TempFolder folder;
    const std::string path = folder.file("steps.db");
    {
        SQLite::Database database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        database.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
        makeSteps(database, 2'000'000, "1000 * (i % 1000)");
    }
    const auto sumUp = [&] {
        SQLite::Database database(path, SQLite::OPEN_READONLY);
        const StepMedians medians = stepMedians(database, 1);
        return std::abs(medians.durationNs - 499'500) < 5'000 && medians.tokens == 64;
    };
    EXPECT_EXIT(endAfter(sumUp), ::testing::ExitedWithCode(0), "") << "two numbers a step would be 32 MB";
    const auto takeMore = [] { return median(std::vector<double>(4'000'000, 1.0)) == 1; };
    EXPECT_EXIT(endAfter(takeMore), ::testing::ExitedWithCode(2), "") << "the limit is a limit";
}

}  // namespace
}  // namespace stepscope::test
