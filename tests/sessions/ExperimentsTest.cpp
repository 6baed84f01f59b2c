// Experiments found again by what they asked.
#include <gtest/gtest.h>

#include "sessions/Experiments.h"
#include "sessions/SessionStore.h"
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

TEST(EarlierAnswers, OfADeletedSessionAreGoneUntilItIsRestored) {
    const TempFolder folder;
    const std::string database = folder.file("sessions.db");
    const auto session = recorded(database, "q", 1000, {2});
    ASSERT_TRUE(deleteSession(database, session));
    EXPECT_TRUE(earlierAnswers(database, "q").value().empty());
    ASSERT_TRUE(restoreSession(database, session));
    EXPECT_EQ(earlierAnswers(database, "q").value().size(), 1u);
}

TEST(EarlierAnswers, OfAFileThatIsNotThereAreAnError) {
    const TempFolder folder;
    EXPECT_EQ(earlierAnswers(folder.file("none.db"), "q").error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace stepscope::test
