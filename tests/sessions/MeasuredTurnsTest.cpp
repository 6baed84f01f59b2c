// What runs measured in turns, read back for the chips of the switches.
#include <gtest/gtest.h>

#include <functional>

#include "core/analysis/flips/FlipContext.h"
#include "core/events/ConfigJson.h"
#include "sessions/SessionStore.h"
#include "sessions/findings/MeasuredTurns.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

namespace stepscope::test {
namespace {

SessionInfo runOnDay(int day) {
    auto info = sampleInfo("day " + std::to_string(day));
    info.startedUnixMs = day * 86'400'000LL;
    info.config->switches["amp"] = std::string("off");
    return info;
}

ExperimentJudged judgedAt(std::int64_t at, const std::string& outcome, double ratio) {
    ExperimentJudged judged;
    judged.step = 40;
    judged.at = {at};
    judged.over = true;
    judged.outcome = outcome;
    judged.ratio = ratio;
    judged.low = ratio / 1.02;
    judged.high = ratio * 1.02;
    judged.pairs = 12;
    return judged;
}

RunConfig with(RunConfig config, const std::string& id, const std::string& value) {
    config.switches[id] = value;
    return config;
}

struct TurnsStory {
    TempFolder folder;
    std::string database = folder.file("s.db");

    std::int64_t run(const SessionInfo& info, const std::function<void(Recorder&)>& publish) {
        auto recorder = Recorder::open({.path = database}, info).value();
        publish(*recorder);
        const std::int64_t session = recorder->session();
        EXPECT_TRUE(recorder->finish());
        return session;
    }
    // One measurement of amp: bf16 beside off.
    std::int64_t measured(const SessionInfo& info, const ExperimentJudged& judged) {
        return run(info, [&](Recorder& recorder) {
            recorder.publish(ExperimentBegan{.at = {1000},
                                             .configA = configToJson(*info.config),
                                             .configB = configToJson(with(*info.config, "amp", "bf16")),
                                             .question = "q",
                                             .delta = 0.02});
            recorder.publish(judged);
        });
    }
    std::vector<MeasuredTurns> read() { return measuredTurns(database, *sampleInfo().machine).value(); }
};

TEST(MeasuredTurns, AreReadWithTheirSwitchItsValuesAndTheContext) {
    TurnsStory story;
    const auto info = runOnDay(1);
    const auto session = story.measured(info, judgedAt(2000, "faster", 1.25));
    const auto found = story.read();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].session, session);
    EXPECT_EQ(found[0].sessionName, "day 1");
    EXPECT_EQ(found[0].id, "amp");
    EXPECT_EQ(toString(found[0].from), "off");
    EXPECT_EQ(toString(found[0].to), "bf16");
    EXPECT_EQ(found[0].context, flipContext(*info.config, "amp"));
    EXPECT_EQ(found[0].judged.ratio, 1.25);
    EXPECT_EQ(found[0].delta, 0.02);
    EXPECT_FALSE(found[0].afterFlip);
}

TEST(MeasuredTurns, OfAnotherShapeStandApartAndOfOtherMachinesAndDeletedSessionsAreNone) {
    TurnsStory story;
    auto deeper = runOnDay(2), elsewhere = runOnDay(3);
    deeper.config->layers += 1;
    elsewhere.machine->cpu = "another processor";
    story.measured(runOnDay(1), judgedAt(2000, "faster", 1.25));
    const auto second = story.measured(deeper, judgedAt(2000, "slower", 0.8));
    story.measured(elsewhere, judgedAt(2000, "faster", 9));
    const auto found = story.read();
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].context, flipContext(*deeper.config, "amp"));
    EXPECT_NE(found[0].context, found[1].context);
    ASSERT_TRUE(deleteSession(story.database, second));
    EXPECT_EQ(story.read().size(), 1u);
}

TEST(MeasuredTurns, TakeTheNewestThatSaysSomething) {
    TurnsStory story;
    story.measured(runOnDay(1), judgedAt(2000, "faster", 1.25));
    story.measured(runOnDay(2), judgedAt(2000, "faster", 1.5));
    story.measured(runOnDay(3), judgedAt(2000, "inconclusive", 1.01));
    const auto found = story.read();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].sessionName, "day 2");
}

TEST(MeasuredTurns, OfOneRunAreToldApart) {
    TurnsStory story;
    const auto info = runOnDay(1);
    story.run(info, [&](Recorder& recorder) {
        const auto asks = [&](std::int64_t at, const std::string& id, const std::string& value) {
            recorder.publish(ExperimentBegan{
                .at = {at}, .configA = configToJson(*info.config), .configB = configToJson(with(*info.config, id, value)), .question = id});
        };
        recorder.publish(SwitchApplied{1, {500}, "amp", std::string("bf16"), std::string("off"), ""});
        asks(1000, "amp", "bf16");
        recorder.publish(judgedAt(2000, "slower", 0.8));
        asks(3000, "amp", "fp16");  // killed in the middle
        asks(5000, "attention", "manual");
        recorder.publish(judgedAt(6000, "faster", 2));
    });
    // Its settings know no switch "attention": both sides are not of one form.
    const auto found = story.read();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].judged.outcome, "slower");
    EXPECT_EQ(toString(found[0].to), "bf16");
    EXPECT_TRUE(found[0].afterFlip) << "the run had just been flipped from bf16 to off";
}

TEST(MeasuredTurns, ThatCannotBeAreLeftOutAndTheOthersStay) {
    TurnsStory story;
    story.measured(runOnDay(1), judgedAt(2000, "faster", 1.25));
    auto lie = judgedAt(2000, "faster", 2);
    lie.low = 0.5;  // an interval that holds "equal"
    auto deeper = runOnDay(2);
    deeper.config->layers += 1;
    story.measured(deeper, lie);
    story.run(runOnDay(3), [](Recorder& recorder) {
        recorder.publish(ExperimentBegan{.at = {1000}, .configA = "no JSON", .configB = "{}", .question = "q"});
        recorder.publish(judgedAt(2000, "faster", 3));
    });
    const auto found = story.read();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].sessionName, "day 1");
}

TEST(MeasuredPairs, CountEveryMeasurementOfTheSameTwoValuesAndTellTheNewestThatIsDecided) {
    TurnsStory story;
    story.measured(runOnDay(1), judgedAt(2000, "faster", 1.5));
    story.measured(runOnDay(2), judgedAt(2000, "faster", 1.25));
    // The other way round, and in an experiment of its own.
    auto alone = runOnDay(3);
    alone.kind = SessionKind::Experiment;
    alone.config = with(*alone.config, "amp", "bf16");
    story.run(alone, [&](Recorder& recorder) {
        recorder.publish(ExperimentBegan{.at = {1000},
                                         .configA = configToJson(*alone.config),
                                         .configB = configToJson(with(*alone.config, "amp", "off")),
                                         .question = "q",
                                         .delta = 0.01});
        recorder.publish(judgedAt(2000, "slower", 0.75));
    });
    story.measured(runOnDay(4), judgedAt(2000, "inconclusive", 1.01));
    auto deeper = runOnDay(5);
    deeper.config->layers += 1;
    story.measured(deeper, judgedAt(2000, "faster", 3));
    const auto pairs = measuredPairs(story.database, *sampleInfo().machine).value();
    ASSERT_EQ(pairs.size(), 2u) << "another shape stands apart";
    EXPECT_EQ(pairs[0].context, flipContext(*deeper.config, "amp"));
    const MeasuredPair& pair = pairs[1];
    EXPECT_EQ(pair.times, 4);
    EXPECT_EQ(pair.decided, 3);
    EXPECT_EQ(toString(pair.from), "bf16");
    EXPECT_EQ(toString(pair.to), "off");
    EXPECT_EQ(pair.judged.outcome, "slower");
    EXPECT_EQ(pair.judged.ratio, 0.75);
    EXPECT_TRUE(pair.of("amp", flipContext(*alone.config, "amp"), std::string("off"), std::string("bf16")));
    EXPECT_TRUE(pair.of("amp", flipContext(*alone.config, "amp"), std::string("bf16"), std::string("off")));
    EXPECT_FALSE(pair.of("amp", flipContext(*alone.config, "amp"), std::string("off"), std::string("fp16")));
    EXPECT_FALSE(pair.of("amp", flipContext(*deeper.config, "amp"), std::string("off"), std::string("bf16")));
    EXPECT_EQ(story.read().size(), 2u) << "the switches' chips are of runs alone";
    for (const MeasuredTurns& turns : story.read()) EXPECT_NE(turns.sessionName, "day 3");
}

TEST(MeasuredPairs, OfADatabaseThatIsNotThereAreNone) {
    const TempFolder folder;
    EXPECT_TRUE(measuredPairs(folder.file("none.db"), {}).value().empty());
}

TEST(MeasuredTurns, OfADatabaseThatIsNotThereAreNoneAndOfADamagedOneASentence) {
    const TempFolder folder;
    EXPECT_TRUE(measuredTurns(folder.file("none.db"), {}).value().empty());
    writeFile(folder.file("bad.db"), std::string(5000, 'x'));
    const auto bad = measuredTurns(folder.file("bad.db"), {});
    ASSERT_FALSE(bad);
    EXPECT_TRUE(bad.error().sentence.ends_with('.'));
}

}  // namespace
}  // namespace stepscope::test
