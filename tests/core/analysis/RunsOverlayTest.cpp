// Which runs lie over each other: names from the keys that differ, groups, what is hidden, and what is said where they share nothing.
#include <gmock/gmock.h>

#include "core/analysis/overlay/RunsOverlay.h"

namespace stepscope {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::shared_ptr<const OverlaidRun> overlaidOf(std::int64_t session, std::int64_t layers = 4, std::int64_t seed = 1, std::int64_t steps = 50) {
    auto info = std::make_shared<SessionInfo>();
    info->name = "run " + std::to_string(session);
    info->config->layers = layers;
    info->config->seed = seed;
    OverlaidRunBuilder builder(session, info);
    for (std::int64_t step = 1; step <= steps; ++step)
        builder.add({.step = step, .seconds = 0.01 * static_cast<double>(step), .ms = 10, .tokens = 100, .loss = 3});
    builder.addFlip({.step = 20, .at = TimeNs::fromSeconds(0.2), .id = "amp", .from = std::string("off"), .to = std::string("bf16")});
    return builder.finish();
}

// As an imported log is stored: steps with losses and times, nothing of settings, machine and tokens.
// ms: of a step, 0 where the log has no times.
std::shared_ptr<const OverlaidRun> foreignRun(std::int64_t session, double ms = 10) {
    auto info = std::make_shared<SessionInfo>();
    info->kind = SessionKind::Trace;
    info->name = "theirs";
    info->config.reset();
    info->machine.reset();
    OverlaidRunBuilder builder(session, info);
    const double apart = ms > 0 ? ms / 1000 : 0.001;
    for (std::int64_t step = 1; step <= 30; ++step) builder.add({.step = step, .seconds = static_cast<double>(step) * apart, .ms = ms, .loss = 4});
    return builder.finish();
}

std::vector<std::string> labels(const RunsOverlay& overlay) {
    std::vector<std::string> all;
    for (const OverlayLine& line : overlay.lines()) all.push_back(line.label);
    return all;
}

TEST(RunsOverlay, TakesTwoToTwentyAndSaysSoOtherwise) {
    for (const std::size_t many : {2, 5, 20}) EXPECT_THAT(whyNotOverlaid(many), IsEmpty());
    EXPECT_THAT(whyNotOverlaid(1), HasSubstr("1 is chosen; choose more"));
    EXPECT_THAT(whyNotOverlaid(0), HasSubstr("0 are chosen"));
    EXPECT_THAT(whyNotOverlaid(21), HasSubstr("21 are chosen; choose fewer"));
}

TEST(RunsOverlay, NamesRunsByTheKeysThatDifferAlone) {
    RunsOverlay overlay({7, 8, 9});
    overlay.put(overlaidOf(7, 4));
    EXPECT_THAT(labels(overlay), ElementsAre("run 7")) << "of one, no key differs";
    overlay.put(overlaidOf(8, 6));
    EXPECT_THAT(labels(overlay), ElementsAre("layers=4", "layers=6"));
    overlay.put(overlaidOf(9, 6));
    EXPECT_THAT(labels(overlay), ElementsAre("layers=4", "layers=6 #8", "layers=6 #9")) << "two of one name have their numbers";
    EXPECT_EQ(overlay.read(), 3U);
}

// A run that began as another one did and was flipped in the middle is not named as that one.
TEST(RunsOverlay, NamesARunThatWasFlippedByAllTheValuesThatItHad) {
    const auto flipped = [](std::int64_t session, const std::vector<const char*>& values) {
        auto info = std::make_shared<SessionInfo>();
        info->config->switches["amp"] = std::string("off");
        OverlaidRunBuilder builder(session, info);
        std::string from = "off";
        for (std::int64_t step = 1; const char* to : values) {
            builder.add({.step = step, .seconds = static_cast<double>(step), .ms = 10, .tokens = 100, .loss = 3});
            builder.addFlip({.step = step, .at = TimeNs::fromSeconds(static_cast<double>(step)), .id = "amp", .from = from, .to = std::string(to)});
            from = to;
            ++step;
        }
        return builder.finish();
    };
    RunsOverlay overlay({1, 2, 3, 4, 5});
    overlay.put(flipped(1, {}));
    overlay.put(flipped(2, {"bf16"}));
    overlay.put(flipped(3, {"bf16", "off"}));
    overlay.put(flipped(4, {"bf16", "off", "fp16", "bf16"}));
    overlay.put(flipped(5, {"off"}));
    EXPECT_THAT(labels(overlay), ElementsAre("amp=off #1", "amp=off → bf16", "amp=off → bf16 → off", "amp=off → … → bf16", "amp=off #5"));
    overlay.groupBy("amp");
    EXPECT_EQ(overlay.lines().size(), 4U);
}

TEST(RunsOverlay, KeepsTheColourOfARunWhateverComesAndGoes) {
    RunsOverlay overlay({1, 2, 3});
    for (const std::int64_t session : {3, 1, 2}) overlay.put(overlaidOf(session, session));
    EXPECT_EQ(overlay.lineOf(3)->colour, 2U);
    EXPECT_TRUE(overlay.remove(1));
    EXPECT_FALSE(overlay.remove(1));
    EXPECT_EQ(overlay.lineOf(3)->colour, 2U);
    EXPECT_EQ(overlay.lineOf(1), nullptr);
    overlay.put(overlaidOf(77));
    EXPECT_EQ(overlay.slots().size(), 2U) << "what nobody chose is not added";
}

TEST(RunsOverlay, GroupsByAKeyAndForgetsItWhereItNoLongerDiffers) {
    RunsOverlay overlay({1, 2, 3, 4});
    overlay.put(overlaidOf(1, 4, 1));
    overlay.put(overlaidOf(2, 4, 2));
    overlay.put(overlaidOf(3, 6, 1));
    overlay.put(overlaidOf(4, 6, 2));
    overlay.groupBy("layers");
    EXPECT_THAT(labels(overlay), ElementsAre("layers=4 (2)", "layers=6 (2)"));
    EXPECT_EQ(overlay.lines()[1].runs.size(), 2U);
    EXPECT_EQ(overlay.lineOf(4)->series, overlay.lineOf(3)->series);
    EXPECT_EQ(overlay.lineOf(4)->colour, 2U) << "that of the first of them";
    overlay.remove(3);
    overlay.remove(4);
    EXPECT_EQ(overlay.groupKey(), "");
    EXPECT_THAT(labels(overlay), ElementsAre("seed=1", "seed=2"));
}

TEST(RunsOverlay, HidesARunAndAWholeGroup) {
    RunsOverlay overlay({1, 2, 3});
    for (const std::int64_t session : {1, 2, 3}) overlay.put(overlaidOf(session, session == 3 ? 6 : 4, session));
    overlay.groupBy("layers");
    overlay.setHidden(1, true);
    EXPECT_FALSE(overlay.lineOf(1)->hidden) << "one of it is still shown";
    EXPECT_EQ(overlay.lineOf(1)->runs.size(), 1U);
    overlay.setLineHidden("layers=4", true);
    EXPECT_TRUE(overlay.lineOf(1)->hidden);
    EXPECT_TRUE(overlay.find(2)->hidden);
    EXPECT_FALSE(overlay.find(3)->hidden);
    overlay.setLineHidden("layers=4", false);
    EXPECT_FALSE(overlay.find(1)->hidden);
    EXPECT_EQ(overlay.lineOf(1)->runs.size(), 2U);
}

TEST(RunsOverlay, MarksTheFlipsOfTheLineThatIsPointedAtAndOfNoOther) {
    RunsOverlay overlay({1, 2});
    overlay.put(overlaidOf(1, 4));
    overlay.put(overlaidOf(2, 6));
    EXPECT_TRUE(overlay.marks().empty());
    overlay.choose("#1");
    ASSERT_EQ(overlay.marks().size(), 1U);
    EXPECT_EQ(overlay.marks()[0].place.step, 20);
    EXPECT_THAT(overlay.marks()[0].detail, HasSubstr("Session 1: amp: off"));
    overlay.point("#2");
    EXPECT_EQ(overlay.emphasised()->series, "#2") << "who points asks now";
    overlay.setHidden(2, true);
    EXPECT_EQ(overlay.emphasised(), nullptr);
    overlay.point("");
    EXPECT_EQ(overlay.emphasised()->series, "#1");
}

TEST(RunsOverlay, KnowsHowFarTheyReachAndHowFarAllOfThemDo) {
    RunsOverlay overlay({1, 2});
    EXPECT_TRUE(std::isnan(overlay.common(XAxis::Tokens)));
    EXPECT_EQ(overlay.last(XAxis::Step), 0);
    overlay.put(overlaidOf(1, 4, 1, 50));
    overlay.put(overlaidOf(2, 6, 1, 200));
    EXPECT_EQ(overlay.last(XAxis::Step), 200);
    EXPECT_EQ(overlay.common(XAxis::Tokens), 5'000);
    EXPECT_EQ(overlay.stepLength(XAxis::Tokens), 100);
    EXPECT_NEAR(overlay.stepLength(XAxis::WallTime), 0.01, 1e-9);
}

TEST(RunsOverlay, SaysWhereTheirLossesCannotBeCompared) {
    RunsOverlay overlay({1, 2, 3});
    overlay.put(overlaidOf(1, 4));
    EXPECT_THAT(overlay.remark(), IsEmpty());
    overlay.put(overlaidOf(2, 6));
    EXPECT_THAT(overlay.remark(), HasSubstr("No two of them trained the same model"));
    overlay.put(overlaidOf(3, 6, 5));
    EXPECT_THAT(overlay.remark(), IsEmpty());
    RunsOverlay strangers({1, 2});
    for (const std::int64_t session : {1, 2}) {
        auto info = std::make_shared<SessionInfo>();
        info->config.reset();
        OverlaidRunBuilder builder(session, info);
        builder.add({.step = 1, .seconds = 1, .ms = 1, .tokens = 1, .loss = 1});
        strangers.put(builder.finish());
    }
    EXPECT_THAT(strangers.remark(), HasSubstr("None of them was run by Stepscope"));
    RunsOverlay mixed({1, 2});
    mixed.put(overlaidOf(1, 4));
    mixed.put(foreignRun(2));
    EXPECT_THAT(mixed.remark(), AllOf(HasSubstr("Stepscope did not run 1 of them"), Not(HasSubstr("No two of them trained"))))
        << "of a log nobody knows what was trained";
}

// A log of another program, in which nobody wrote how many tokens a step had.
TEST(RunsOverlay, WhoTellsNoTokensDoesNotDecideHowFarTheOthersGo) {
    RunsOverlay overlay({1, 2, 3});
    overlay.put(overlaidOf(1, 4, 1, 50));
    overlay.put(foreignRun(2));
    overlay.put(overlaidOf(3, 6, 1, 200));
    EXPECT_EQ(overlay.common(XAxis::Tokens), 5'000);
    EXPECT_EQ(overlay.common(XAxis::WallTime), 0.3) << "of time it is one of them";
    RunsOverlay strangers({1, 2});
    strangers.put(foreignRun(1));
    strangers.put(foreignRun(2));
    EXPECT_TRUE(std::isnan(strangers.common(XAxis::Tokens)));
}

// Its steps are put one millisecond apart, so that it would end before all others.
TEST(RunsOverlay, WhoTellsNoTimesDoesNotDecideHowLongTheOthersGo) {
    RunsOverlay overlay({1, 2});
    overlay.put(overlaidOf(1, 4, 1, 50));
    overlay.put(foreignRun(2, 0));
    EXPECT_EQ(overlay.common(XAxis::WallTime), 0.5);
    EXPECT_EQ(overlay.first(XAxis::WallTime), 0.01) << "nor where the axis begins: its first step is put at one millisecond";
    RunsOverlay alone({2, 3});
    for (const std::int64_t session : {2, 3}) alone.put(foreignRun(session, 0));
    EXPECT_EQ(alone.last(XAxis::WallTime), 0);
    EXPECT_TRUE(std::isnan(alone.common(XAxis::WallTime)));
}

}  // namespace
}  // namespace stepscope
