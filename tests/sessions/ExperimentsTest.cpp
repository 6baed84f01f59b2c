// Experiments found again by what they asked.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include <string>

#include "core/events/Event.h"
#include "sessions/SessionStore.h"
#include "sessions/findings/Experiments.h"
#include "sessions/findings/Studies.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

namespace stepscope::test {
namespace {

std::int64_t recorded(const std::string& database, const std::string& question, std::int64_t startedUnixMs, const std::vector<double>& ratios) {
    SessionInfo info;
    info.kind = SessionKind::Experiment;
    info.name = "an experiment";
    info.startedUnixMs = startedUnixMs;
    auto recorder = Recorder::open({.path = database}, info).value();
    recorder->publish(ExperimentBegan{.at = {1}, .configA = "{}", .configB = "{}", .question = question, .delta = 0.02});
    std::int64_t at = 2;
    for (const double ratio : ratios) recorder->publish(ExperimentJudged{.at = {at++}, .outcome = "inconclusive", .ratio = ratio});
    const std::int64_t session = recorder->session();
    EXPECT_TRUE(recorder->finish());
    return session;
}

TEST(EarlierAnswers, AreThoseOfTheSameQuestionNewestFirstByTheirLastJudgement) {
    const TempFolder folder;
    const std::string database = folder.file("sessions.db");
    const auto first = recorded(database, "q", 1000, {1.5, 1.25});
    recorded(database, "another", 1500, {9});
    recorded(database, "q", 1700, {});  // killed before it said anything
    const auto second = recorded(database, "q", 2000, {1.125});
    const auto answers = earlierAnswers(database, "q").value();
    ASSERT_EQ(answers.size(), 2u);
    EXPECT_EQ(answers[0].session, second);
    EXPECT_EQ(answers[0].judged.ratio, 1.125);
    EXPECT_EQ(answers[1].session, first);
    EXPECT_EQ(answers[1].judged.ratio, 1.25);
    EXPECT_EQ(answers[1].delta, 0.02);
    EXPECT_EQ(answers[0].number, 1);
    EXPECT_EQ(earlierAnswers(database, "q", second).value().size(), 1u);
    EXPECT_TRUE(earlierAnswers(database, "never asked").value().empty());
}

TEST(EarlierAnswers, OfTheQuestionWithItsSidesSwappedCountTurnedRound) {
    const TempFolder folder;
    const std::string database = folder.file("sessions.db");
    const auto straight = recorded(database, "q", 1000, {1.25}), swapped = recorded(database, "q the other way", 2000, {0.5});
    const auto answers = earlierAnswers(database, "q", 0, "q the other way").value();
    ASSERT_EQ(answers.size(), 2u);
    EXPECT_EQ(answers[0].session, swapped);
    EXPECT_TRUE(answers[0].turned);
    EXPECT_EQ(answers[0].judged.ratio, 2) << "of B beside A as they are asked now";
    EXPECT_EQ(earlierWords(answers[0]), "inconclusive (asked the other way round)");
    EXPECT_EQ(answers[1].session, straight);
    EXPECT_FALSE(answers[1].turned);
    EXPECT_EQ(answers[1].judged.ratio, 1.25);
    EXPECT_EQ(earlierWords(answers[1]), "inconclusive");
    EXPECT_EQ(earlierAnswers(database, "q", swapped, "q the other way").value().size(), 1u);
    EXPECT_EQ(earlierAnswers(database, "q").value().size(), 1u) << "where the other question is not known";
}

// A stranger's row is that session's own matter; what else was asked the same is still found.
TEST(EarlierAnswers, OneThatCannotBeIsLeftOutAndTheOthersStay) {
    const TempFolder folder;
    const std::string database = folder.file("sessions.db");
    const auto good = recorded(database, "q", 1000, {1.25});
    const auto bad = recorded(database, "q", 2000, {1.5}), asked = recorded(database, "q", 3000, {1.5});
    SQLite::Database file(database, SQLite::OPEN_READWRITE);
    file.exec("UPDATE judgements SET ratio = -1 WHERE session = " + std::to_string(bad));
    file.exec("UPDATE experiments SET delta = 9e999 WHERE session = " + std::to_string(asked));
    const auto answers = earlierAnswers(database, "q");
    ASSERT_TRUE(answers.ok()) << answers.error().sentence;
    ASSERT_EQ(answers->size(), 1u);
    EXPECT_EQ(answers->front().session, good);
}

TEST(EarlierAnswers, OfADeletedSessionAreGoneUntilItIsRestored) {
    const TempFolder folder;
    const std::string database = folder.file("sessions.db");
    const auto session = recorded(database, "q", 1000, {2});
    ASSERT_TRUE(deleteSession(database, session));
    EXPECT_TRUE(earlierAnswers(database, "q").value().empty());
    ASSERT_TRUE(restoreSession(database, session));
    EXPECT_EQ(earlierAnswers(database, "q").value().size(), 1u);
}

TEST(Measurements, OfARunAreReadWithoutItsSteps) {
    const TempFolder folder;
    const std::string database = folder.file("sessions.db");
    SessionInfo info;
    info.name = "a run";
    auto recorder = Recorder::open({.path = database}, info).value();
    std::int64_t at = 0;
    const auto steps = [&](std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
            ++at;
            recorder->publish(StepDone{.step = at, .at = {at}});
        }
    };
    steps(300);
    recorder->publish(ExperimentBegan{.step = 300, .at = {++at}, .configA = "{}", .configB = "{}", .question = "q"});
    recorder->publish(BlockDone{.step = 301, .at = {++at}, .pair = 0, .arm = Arm::B, .steps = 5, .tokens = 50});
    steps(200);
    recorder->publish(ExperimentJudged{.at = {++at}, .over = true, .outcome = "inconclusive"});
    recorder->publish(CaptureDone{.step = at, .at = {++at}, .firstStep = 1, .steps = 1});
    const std::int64_t session = recorder->session();
    ASSERT_TRUE(recorder->finish());
    const auto reader = SessionReader::open(database).value();
    const auto found = reader->measurements(session).value();
    ASSERT_EQ(found.size(), 3u);
    EXPECT_TRUE(std::holds_alternative<ExperimentBegan>(found[0]));
    EXPECT_EQ(std::get<BlockDone>(found[1]).arm, Arm::B);
    EXPECT_TRUE(std::get<ExperimentJudged>(found[2]).over);
    EXPECT_EQ(reader->eventCount(session).value(), 1 + 500 + 4);
    EXPECT_EQ(reader->measurements(session + 1).error().code, ErrorCode::NotFound);
}

TEST(EarlierAnswers, OfAFileThatIsNotThereAreAnError) {
    const TempFolder folder;
    EXPECT_EQ(earlierAnswers(folder.file("none.db"), "q").error().code, ErrorCode::NotFound);
}

// A ladder whose rung is told while it is measured and when it is; 0: it came to nothing.
std::int64_t recordedLadder(const std::string& database, const std::string& question, std::int64_t startedUnixMs, double total,
                            std::int64_t goesOnWith = 0) {
    SessionInfo info;
    info.kind = SessionKind::Ladder;
    info.name = "a ladder";
    info.startedUnixMs = startedUnixMs;
    info.goesOnWith = goesOnWith;
    auto recorder = Recorder::open({.path = database}, info).value();
    recorder->publish(StudyBegan{.at = {1}, .kind = "ladder", .config = "{}", .question = question});
    StudyRow row{.at = {2}, .row = 1, .role = study::kRung, .state = study::kRunning, .name = "a rung", .ratio = 9};
    recorder->publish(row);
    if (total > 0) {
        row.at = {3};
        row.state = study::kMeasured;
        row.ratio = row.total = total;
        row.low = row.totalLow = total * 0.9;
        row.high = row.totalHigh = total * 1.1;
        recorder->publish(row);
    }
    const std::int64_t session = recorder->session();
    EXPECT_TRUE(recorder->finish());
    return session;
}

TEST(EarlierStudies, AreThoseOfTheSameQuestionThatBeganBeforeNewestFirst) {
    const TempFolder folder;
    const std::string database = folder.file("sessions.db");
    const auto first = recordedLadder(database, "q", 1000, 1.5);
    recordedLadder(database, "another", 1500, 9);
    recordedLadder(database, "q", 1700, 0);  // killed before it said anything
    const auto second = recordedLadder(database, "q", 2000, 2);
    const auto studies = earlierStudies(database, "q").value();
    ASSERT_EQ(studies.size(), 2u);
    EXPECT_EQ(studies[0].session, second);
    EXPECT_EQ(studies[1].session, first);
    EXPECT_EQ(studyHeadline(studies[1].history), "up to a rung: ×1.50 [1.35, 1.65] as fast as the bottom") << "by the newest of its row";
    ASSERT_EQ(earlierStudies(database, "q", second).value().size(), 1u);
    EXPECT_TRUE(earlierStudies(database, "q", first).value().empty()) << "what was asked again later was not before";
    EXPECT_TRUE(earlierStudies(database, "never asked").value().empty());
    ASSERT_TRUE(deleteSession(database, second));
    EXPECT_EQ(earlierStudies(database, "q").value().size(), 1u);
}

TEST(EarlierStudies, OneThatCannotBeIsLeftOutAndTheOthersStay) {
    const TempFolder folder;
    const std::string database = folder.file("sessions.db");
    const auto good = recordedLadder(database, "q", 1000, 1.5);
    const auto row = recordedLadder(database, "q", 2000, 2), asked = recordedLadder(database, "q", 3000, 2);
    SQLite::Database file(database, SQLite::OPEN_READWRITE);
    file.exec("UPDATE study_rows SET total = -1 WHERE session = " + std::to_string(row));
    file.exec("UPDATE studies SET alpha = 7 WHERE session = " + std::to_string(asked));
    const auto studies = earlierStudies(database, "q");
    ASSERT_TRUE(studies.ok()) << studies.error().sentence;
    ASSERT_EQ(studies->size(), 1u);
    EXPECT_EQ(studies->front().session, good);
}

TEST(EarlierStudies, OneThatAnotherWentOnWithIsNotCountedBesideIt) {
    const TempFolder folder;
    const std::string database = folder.file("sessions.db");
    const auto begun = recordedLadder(database, "q", 1000, 1.5);
    const auto whole = recordedLadder(database, "q", 2000, 2, begun);
    EXPECT_TRUE(earlierStudies(database, "q", whole).value().empty()) << "its rows are the whole one's own";
    const auto studies = earlierStudies(database, "q").value();
    ASSERT_EQ(studies.size(), 1u);
    EXPECT_EQ(studies[0].session, whole);
}

}  // namespace
}  // namespace stepscope::test
