// Databases of Nsight Systems that somebody bent: what cannot be read is left out and counted, the rest is kept.
#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/trace/SliceCodec.h"
#include "sessions/Slices.h"
#include "sessions/exporters/KinetoTrace.h"
#include "sessions/importers/Import.h"
#include "tests/sessions/TestSupport.h"

namespace stepscope::test {
namespace {

struct BentNsight : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");

    // Beside these statements one call that is whole, at 100 ns.
    ImportSummary imported(const std::vector<std::string>& statements) {
        const std::string name = folder.file("bent" + std::to_string(++m_files) + ".sqlite");
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
    int m_files = 0;
};

constexpr const char* kStrings = "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value)";

TEST_F(BentNsight, NamesThatAreMissingOrNoTextAreTold) {
    const auto done = imported({kStrings, "INSERT INTO StringIds VALUES (1, 'cudaMalloc'), (2, x'00ff')",
                                "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (200, 210, 16777218, 8, 2), (300, 310, 16777218, 9, 3)"});
    EXPECT_EQ(count(done, "names that the file's table of names does not have as text"), 2);
    EXPECT_EQ(names(done.session), (std::multiset<std::string>{"", "", "cudaMalloc"}));
}

// Of a few bytes of a file it would make gigabytes, and nobody could stop it.
TEST_F(BentNsight, GeneratedColumnsOfAGpuAreNotWorkedOut) {
    std::string columns = "id, name, smCount AS (108)", values = "(0, 'One GPU')";
    for (int i = 0; i < 90; ++i) columns += fmt::format(", dear{} AS (hex(zeroblob(30000000)))", i);
    for (int i = 1; i < 64; ++i) values += fmt::format(", ({}, 'One GPU')", i);
    const auto done = imported({"CREATE TABLE TARGET_INFO_GPU (" + columns + ")", "INSERT INTO TARGET_INFO_GPU (id, name) VALUES " + values});
    std::ostringstream out;
    ASSERT_TRUE(exportKinetoTrace(path, done.session, out, "again"));
    const auto devices = nlohmann::json::parse(out.str())["deviceProperties"];
    ASSERT_EQ(devices.size(), 64U);
    EXPECT_EQ(devices[0]["name"], "One GPU");
    EXPECT_FALSE(devices[0].contains("numSms"));
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

// As 0 it would be on a lane of somebody else's.
TEST_F(BentNsight, WhatDoesNotSayWhoseItIsInAWholeNumberIsSkippedAndCounted) {
    const std::string others = "(200, 210, 'main', 8, 1), (300, 310, 1.5, 9, 1), (400, 410, NULL, 10, 1), (500, 510, x'00', 11, 1)";
    const auto calls =
        imported({kStrings, "INSERT INTO StringIds VALUES (1, 'cudaMalloc')", "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES " + others});
    EXPECT_EQ(count(calls, "a thread that is no whole number"), 4);
    EXPECT_EQ(calls.skipped, 4);
    EXPECT_EQ(names(calls.session), (std::multiset<std::string>{"cudaMalloc"}));
    const auto works =
        imported({kStrings, "INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (2, 'whole'), (3, 'bent')",
                  "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid, shortName)",
                  "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (120, 130, 0, 1, 7, 7, 16777216, 2), (140, 150, 'first', 1, 7, 7, 16777216, 3), "
                  "(160, 170, NULL, 1, 7, 7, 16777216, 3), (180, 190, 0.5, 1, 7, 7, 16777216, 3), (200, 210, 0, 1, 'x', 7, 16777216, 3), "
                  "(220, 230, 0, x'01', 7, 7, 16777216, 3), (240, 250, 0, 1, 7, 7, 'me', 3), (260, 270, 0, 1, 7, 'seven', 16777216, 2)"});
    EXPECT_EQ(count(works, "a device that is no whole number"), 3);
    EXPECT_EQ(count(works, "a stream that is no whole number"), 1);
    EXPECT_EQ(count(works, "a context that is no whole number"), 1);
    EXPECT_EQ(count(works, "a process that is no whole number"), 1);
    EXPECT_EQ(count(works, "events whose correlation is no whole number"), 1) << "it is there, and who launched it is not known";
    EXPECT_EQ(works.skipped, 6);
    EXPECT_EQ(names(works.session), (std::multiset<std::string>{"cudaLaunchKernel", "whole", "whole"}));
}

TEST_F(BentNsight, ATableThatDoesNotSayWhoseItsEventsAreIsTold) {
    const auto done = imported({kStrings, "INSERT INTO StringIds VALUES (1, 'cudaMalloc'), (2, 'read')", "CREATE TABLE OSRT_API (start, end, nameId)",
                                "INSERT INTO OSRT_API VALUES (200, 210, 2), (300, 310, 2)"});
    EXPECT_EQ(count(done, "events of a table that does not say their threads"), 2);
    EXPECT_EQ(done.skipped, 0);
}

TEST_F(BentNsight, WhatNsightWarnsOfIsSaidByTheSeveritiesThatTheFileNames) {
    const std::string events =
        "INSERT INTO DIAGNOSTIC_EVENT VALUES (4, 'Started.'), (7, 'Not all events were collected.'), (7, 'Not all events were "
        "collected.'), (9, 'Buffers were dropped.'), ('x', 'Who knows.'), (7, NULL)";
    const auto done = imported({"CREATE TABLE ENUM_DIAGNOSTIC_SEVERITY_LEVEL (id, name)",
                                "INSERT INTO ENUM_DIAGNOSTIC_SEVERITY_LEVEL VALUES (4, 'Info'), (7, 'Warning'), (9, 'Error')",
                                "CREATE TABLE DIAGNOSTIC_EVENT (timestamp, severity, text)",
                                "INSERT INTO DIAGNOSTIC_EVENT (severity, text)" + events.substr(std::string("INSERT INTO DIAGNOSTIC_EVENT").size())});
    ASSERT_EQ(done.notes.size(), 2U);
    EXPECT_TRUE(done.notes[0].ends_with("Nsight Systems says of its recording: Not all events were collected.")) << done.notes[0];
    EXPECT_TRUE(done.notes[1].ends_with("Buffers were dropped.")) << done.notes[1];
    const std::string unclear = "messages of Nsight Systems of which the file does not say how grave they are";
    EXPECT_EQ(count(done, unclear), 1);
    const auto unnamed = imported({"CREATE TABLE DIAGNOSTIC_EVENT (severity, text)", events});
    EXPECT_TRUE(unnamed.notes.empty()) << "by its own table alone is it known which are warnings";
    EXPECT_EQ(count(unnamed, unclear), 6);
    std::vector<std::string> many{"CREATE TABLE ENUM_DIAGNOSTIC_SEVERITY_LEVEL (id, name)",
                                  "INSERT INTO ENUM_DIAGNOSTIC_SEVERITY_LEVEL VALUES (1, 'Warning')",
                                  "CREATE TABLE DIAGNOSTIC_EVENT (severity, text)"};
    for (int i = 0; i < 20; ++i) many.push_back("INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 'Warning " + std::to_string(i) + "')");
    const auto bounded = imported(many);
    ASSERT_EQ(bounded.notes.size(), 9U);
    EXPECT_TRUE(bounded.notes[8].ends_with("12 more messages")) << bounded.notes[8];
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
