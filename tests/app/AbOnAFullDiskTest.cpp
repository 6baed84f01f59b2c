// `ab` while its disk is full: a limit to the size of the program's files, which is a disk for users who may not mount one. SQLite's writes really
// fail, in the middle of a measurement.
#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

#include "tests/app/CliFixture.h"
#include "tests/sessions/FileSizeLimit.h"

namespace stepscope::test {
namespace {

class AbOnAFullDisk : public CliFixture {
protected:
    Words command(const Words& more) const {
        Words all{STEPSCOPE_CLI};
        for (const auto& word : measuring("ab", more)) all.push_back(word);
        return all;
    }
    // Pairs that the first session holds, those that were left out with them; nothing while there is no experiment in it.
    std::optional<int> storedPairs() const {
        const Finished shown = cli({"sessions", "show", "1", "--db", database(), "--json"});
        if (shown.exitCode != 0) return std::nullopt;
        const Json kept = Json::parse(shown.out);
        return kept["experiment"].is_object() ? std::optional(pairsOf(kept["experiment"])) : std::nullopt;
    }
    static int pairsOf(const Json& experiment) { return experiment["pairs"].get<int>() + experiment["discarded"].get<int>(); }

    // Once a pair is stored the log takes a few more pages, and no file more than the log has then.
    void fillWhenAPairIsStored(const Process& process) {
        for (int look = 0; look < 240 && storedPairs().value_or(0) < 1; ++look) std::this_thread::sleep_for(std::chrono::milliseconds(250));
        ASSERT_GT(storedPairs().value_or(0), 0);
        ASSERT_EQ(::prlimit(process.id(), RLIMIT_FSIZE, nullptr, &m_before), 0);
        const rlimit full{std::max<rlim_t>(std::filesystem::file_size(database() + "-wal") + 8'192, 65'536), m_before.rlim_max};
        ASSERT_EQ(::prlimit(process.id(), RLIMIT_FSIZE, &full, nullptr), 0);
    }
    void makeRoom(const Process& process) const { EXPECT_EQ(::prlimit(process.id(), RLIMIT_FSIZE, &m_before, nullptr), 0); }

    static std::ptrdiff_t times(const std::string& text, const std::string& words) {
        std::ptrdiff_t count = 0;
        for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
        return count;
    }
    std::string integrity() const {
        SQLite::Database file(database(), SQLite::OPEN_READWRITE);
        return file.execAndGet("PRAGMA integrity_check").getString();
    }

private:
    rlimit m_before{};
};

TEST_F(AbOnAFullDisk, MeasuresOnAndStoresAllOfItWhenThereIsRoomAgain) {
    Process process(command({"--aa", "--budget", "15", "--delta", "0.05", "--json"}), options());
    ASSERT_NO_FATAL_FAILURE(fillWhenAPairIsStored(process));
    std::this_thread::sleep_for(std::chrono::seconds(4));
    makeRoom(process);
    const Finished finished = process.wait();
    EXPECT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_EQ(times(finished.err, "could not be read or written"), 1) << finished.err;
    EXPECT_THAT(finished.err, testing::HasSubstr("it measures on"));
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
    const Json said = lastLine(finished);
    EXPECT_EQ(newest()["state"], "finished");
    EXPECT_EQ(session(1)["experiment"]["pairs"], said["pairs"]) << "those of the time without room too";
    EXPECT_EQ(session(1)["experiment"]["verdict"], said["verdict"]);
    EXPECT_EQ(integrity(), "ok");
}

TEST_F(AbOnAFullDisk, AtItsEndSaysThatMeasuringIsOverAndThatItWaitsForRoom) {
    Process process(command({"--aa", "--budget", "12", "--delta", "0.05", "--no-why", "--json"}), options());
    ASSERT_NO_FATAL_FAILURE(fillWhenAPairIsStored(process));
    std::this_thread::sleep_for(std::chrono::seconds(20));  // the budget is long spent
    makeRoom(process);
    const Finished finished = process.wait();
    EXPECT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_EQ(times(finished.err, "it measures on"), 1) << finished.err;
    EXPECT_EQ(times(finished.err, "Measuring is over; waiting for room to store what it found."), 1) << finished.err;
    EXPECT_EQ(newest()["state"], "finished");
    EXPECT_EQ(session(1)["experiment"]["pairs"], lastLine(finished)["pairs"]);
}

TEST_F(AbOnAFullDisk, StoppedThenSaysWhatItFoundAndKeepsWhatWasStored) {
    Process process(command({"--aa", "--budget", "90", "--delta", "0.05", "--json"}), options());
    ASSERT_NO_FATAL_FAILURE(fillWhenAPairIsStored(process));
    std::this_thread::sleep_for(std::chrono::seconds(5));
    process.send(SIGTERM);
    const Finished finished = process.wait();
    EXPECT_FALSE(finished.timedOut);
    EXPECT_EQ(finished.signal, 0);
    EXPECT_EQ(finished.exitCode, kIo) << finished.err;
    EXPECT_EQ(times(finished.err, "stopping it gives up what is not stored yet."), 1) << finished.err;
    EXPECT_EQ(times(finished.err, "are not stored, and it counts as interrupted."), 1) << finished.err;
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 2) << finished.err;
    const Json said = lastLine(finished);
    EXPECT_THAT(said["verdict"], testing::AnyOf("inconclusive", "equivalent")) << "what was found is said all the same";
    EXPECT_EQ(said["experiment"], 1);
    EXPECT_EQ(newest()["state"], "interrupted");
    EXPECT_GT(storedPairs().value_or(0), 0) << "what was stored before is there";
    EXPECT_LE(storedPairs().value_or(0), pairsOf(said));
    EXPECT_EQ(integrity(), "ok");
    const Finished report = cli({"report", "1", "--db", database()});
    EXPECT_EQ(report.exitCode, 0) << report.err;
    EXPECT_THAT(report.out, testing::HasSubstr("cut off before it was over"));
}

TEST_F(AbOnAFullDisk, WhereNoSessionCanBeBegunMeasuresNothingAndSaysWhy) {
    std::optional<Process> process;
    {
        const FileSizeLimit full(20'000);  // is the program's too
        process.emplace(command({"--aa", "--budget", "60"}), options());
    }
    const Finished finished = process->wait();
    EXPECT_FALSE(finished.timedOut);
    EXPECT_EQ(finished.signal, 0);
    EXPECT_EQ(finished.exitCode, kIo) << finished.err;
    EXPECT_EQ(times(finished.err, "The session database "), 1) << finished.err;
    EXPECT_EQ(finished.out, "") << "nothing was measured";
}

TEST_F(AbOnAFullDisk, AReportThatFindsNoRoomLeavesTheOthersAndTheAnswer) {
    std::filesystem::create_symlink("/dev/full", path("full.html"));
    const Finished finished =
        cli(measuring("ab", {"--aa", "--budget", "5", "--no-why", "--json", "--report", path("full.html"), "--report", path("r.json")}));
    EXPECT_EQ(finished.exitCode, kIo) << finished.err;
    EXPECT_THAT(finished.err, testing::HasSubstr("full.html cannot be written: No space left on device"));
    EXPECT_EQ(Json::parse(read(path("r.json")))["verdict"], lastLine(finished)["verdict"]);
}

}  // namespace
}  // namespace stepscope::test
