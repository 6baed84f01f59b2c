// Databases of Nsight Systems that somebody bent: what cannot be read is left out and counted, the rest is kept.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include <set>

#include "core/trace/SliceCodec.h"
#include "sessions/Slices.h"
#include "sessions/importers/Import.h"
#include "tests/sessions/TestSupport.h"

namespace stepscope::test {
namespace {

struct BentNsight : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");

    // Beside these statements one call that is whole, at 100 ns.
    ImportSummary imported(const std::vector<std::string>& statements) {
        const std::string name = folder.file("bent.sqlite");
        {
            SQLite::Database database(name, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
            database.exec("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId)");
            database.exec("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 110, 16777218, 7, 1)");
            for (const auto& statement : statements) database.exec(statement);
        }
        auto summary = importFiles({.database = path, .files = {name}, .name = {}, .progress = {}});
        EXPECT_TRUE(summary) << summary.error().sentence;
        return summary ? *summary : ImportSummary{};
    }
    std::multiset<std::string> names(std::int64_t session) {
        std::multiset<std::string> all;
        auto reader = SessionReader::open(path);
        EXPECT_TRUE(forEachSliceBlock(**reader, session, [&](const SliceBlock& block) -> Status {
            for (const auto& one : block.slices) all.insert(block.strings.at(one.name));
            return {};
        }));
        return all;
    }
    static std::int64_t count(const ImportSummary& done, const std::string& reason) {
        const auto found = done.reasons.find(reason);
        return found == done.reasons.end() ? 0 : found->second;
    }
};

constexpr const char* kStrings = "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value)";

TEST_F(BentNsight, NamesThatAreMissingOrNoTextAreTold) {
    const auto done = imported({kStrings, "INSERT INTO StringIds VALUES (1, 'cudaMalloc'), (2, x'00ff')",
                                "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (200, 210, 16777218, 8, 2), (300, 310, 16777218, 9, 3)"});
    EXPECT_EQ(count(done, "names that the file's table of names does not have as text"), 2);
    EXPECT_EQ(names(done.session), (std::multiset<std::string>{"", "", "cudaMalloc"}));
}

TEST_F(BentNsight, NamesThatAreCutAreTold) {
    const auto done = imported({"CREATE TABLE StringIds (id, value)", "INSERT INTO StringIds VALUES (1, printf('%.70000c', 'x'))"});
    EXPECT_EQ(count(done, "names that were cut: longer than 65536 bytes"), 1);
    EXPECT_EQ(names(done.session), (std::multiset<std::string>{std::string(kLongestSliceName, 'x')}));
}

TEST_F(BentNsight, TimesThatAreNoWholeNumbersAreSkippedAndCounted) {
    const auto done = imported({kStrings, "INSERT INTO StringIds VALUES (1, 'cudaMalloc')",
                                "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ('soon', 210, 16777218, 8, 1), (300, 310.5, 16777218, 9, 1)"});
    EXPECT_EQ(count(done, "a time that is no whole number"), 2);
    EXPECT_EQ(done.skipped, 2);
    EXPECT_EQ(names(done.session), (std::multiset<std::string>{"cudaMalloc"}));
}

TEST_F(BentNsight, TablesThatLackTheirColumnsAreLeftOutAndTheRestIsKept) {
    const auto done =
        imported({"CREATE TABLE StringIds (number, word)", "CREATE TABLE ThreadNames (thread, name)", "INSERT INTO ThreadNames VALUES (1, 1)",
                  "CREATE TABLE META_DATA_EXPORT (key)", "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION')",
                  "CREATE TABLE TARGET_INFO_SESSION_START_TIME (began)", "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (5)"});
    EXPECT_EQ(names(done.session).size(), 1U);
}

}  // namespace
}  // namespace stepscope::test
