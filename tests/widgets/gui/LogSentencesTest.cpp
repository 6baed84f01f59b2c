#include "app/gui/LogSentences.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

std::string said(const Event& event) {
    const auto entry = logSentence(event, 1'700'000'000'000);
    return entry ? entry->text.toStdString() : std::string();
}

TEST(LogSentences, TellsAFlipWithItsStepAndNote) {
    EXPECT_EQ(said(SwitchApplied{610, {}, "amp", std::string("off"), std::string("bf16"), "sdpa-flash ran."}), "amp: off → bf16 after step 610. sdpa-flash ran.");
}

TEST(LogSentences, MarksRefusalsAsWarningsAndFailuresAsErrors) {
    const auto refused = logSentence(SwitchRefused{5, {}, "amp", std::string("fp16"), "No float16 here."}, 0);
    EXPECT_EQ(refused->level, LogLevel::Warning);
    const auto failed = logSentence(StateChanged{{}, 7, RunState::Failed, "The loss is not a number."}, 0);
    EXPECT_EQ(failed->level, LogLevel::Error);
    EXPECT_TRUE(failed->text.contains("The loss is not a number."));
}

TEST(LogSentences, SaysNothingOfOrdinaryStepsAndSamples) {
    EXPECT_EQ(said(StepDone{}), "");
    EXPECT_EQ(said(DeviceSample{}), "");
    EXPECT_EQ(said(RecorderWaited{{}, TimeNs{1'000'000}}), "");
    EXPECT_NE(said(RecorderWaited{{}, TimeNs{900'000'000}}), "");
}

TEST(LogSentences, CarriesTheTimeOfDayAndTheStepToJumpTo) {
    const auto entry = logSentence(ValidationDone{400, TimeNs::fromSeconds(2), {}, 2.5}, 1'700'000'000'000);
    ASSERT_TRUE(entry.has_value());
    EXPECT_EQ(entry->when.toMSecsSinceEpoch(), 1'700'000'002'000);
    EXPECT_EQ(entry->step, 400);
}

}  // namespace
}  // namespace stepscope
