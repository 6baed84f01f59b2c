// What stored sessions say about the switches of this machine.
#include <gtest/gtest.h>

#include <set>

#include "core/analysis/flips/FlipContext.h"
#include "core/analysis/flips/FlipSentence.h"
#include "core/analysis/flips/FlipsOfRun.h"
#include "sessions/SessionStore.h"
#include "sessions/findings/MeasuredFlips.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

namespace {

// A recorded run: so many steps of so many ms, then a flip, and so on.
class Story {
public:
    Story(const std::string& path, SessionInfo info) : m_recorder(std::move(*Recorder::open({.path = path}, info))) {}
    ~Story() { EXPECT_TRUE(m_recorder->finish()); }
    Story& steps(int count, std::int64_t ms, bool disturbed = false) {
        for (int i = 0; i < count; ++i) {
            auto done = sampleStep(++m_step, {m_at += ms * 1'000'000});
            done.duration = {ms * 1'000'000};
            done.tokens = 1000;
            done.disturbed = disturbed;
            done.skipped = false;
            m_recorder->publish(done);
        }
        return *this;
    }
    Story& machine(const DeviceSample& sample) {
        m_recorder->publish(sample);
        return *this;
    }
    Story& flip(const std::string& id, const std::string& from, const std::string& to) {
        m_recorder->publish(SwitchApplied{m_step, {m_at}, id, from, to, ""});
        return *this;
    }

private:
    std::unique_ptr<Recorder> m_recorder;
    std::int64_t m_step = 0, m_at = 0;
};

SessionInfo onDay(int day) {
    auto info = sampleInfo("day " + std::to_string(day));
    info.startedUnixMs = day * 86'400'000LL;
    info.firstStep = 0;
    return info;
}

}  // namespace

TEST(MeasuredFlips, ComparesTheStepsBeforeAndAfterWithoutWarmUp) {
    const TempFolder folder;
    Story(folder.file("s.db"), onDay(1)).steps(40, 20).flip("amp", "off", "bf16").steps(5, 900).steps(30, 10);
    const auto found = measuredFlips(folder.file("s.db"), *sampleInfo().machine);
    ASSERT_TRUE(found) << found.error().sentence;
    ASSERT_EQ(found->size(), 1u);
    const auto& measured = found->front();
    EXPECT_EQ(measured.flip.id, "amp");
    EXPECT_EQ(toString(measured.flip.to), "bf16");
    EXPECT_EQ(measured.flip.step, 40);
    EXPECT_EQ(measured.sessionName, "day 1");
    EXPECT_EQ(measured.effect.stepsBefore, 20u);
    EXPECT_EQ(measured.effect.stepsAfter, 20u);
    EXPECT_DOUBLE_EQ(measured.effect.ms.before.median, 20);
    EXPECT_DOUBLE_EQ(measured.effect.ms.after.median, 10);
    EXPECT_DOUBLE_EQ(measured.effect.tokensPerSecond.after.median, 100'000);
}

TEST(MeasuredFlips, TakesTheNewestFlipOfEachSwitchThatHasEnoughSteps) {
    const TempFolder folder;
    Story(folder.file("s.db"), onDay(1)).steps(40, 20).flip("amp", "off", "bf16").steps(40, 10).flip("attention", "auto", "manual").steps(40, 30);
    Story(folder.file("s.db"), onDay(2)).steps(40, 20).flip("amp", "off", "bf16").steps(40, 16);
    Story(folder.file("s.db"), onDay(3)).steps(40, 20).flip("amp", "off", "bf16").steps(12, 1);  // 7 after its warm-up: too few
    const auto found = measuredFlips(folder.file("s.db"), *sampleInfo().machine);
    ASSERT_EQ(found->size(), 2u);
    for (const auto& measured : *found) EXPECT_DOUBLE_EQ(measured.effect.ms.after.median, measured.flip.id == "amp" ? 16 : 30);
}

TEST(MeasuredFlips, KeepsNeighbouringFlipsAndDisturbedStepsApart) {
    const TempFolder folder;
    Story(folder.file("s.db"), onDay(1))
        .steps(40, 20)
        .flip("amp", "off", "bf16")
        .steps(18, 10)
        .flip("attention", "auto", "manual")
        .steps(30, 50)
        .steps(20, 500, true)
        .flip("zero-grad", "zero", "set-to-none")
        .steps(40, 50);
    const auto found = measuredFlips(folder.file("s.db"), *sampleInfo().machine);
    ASSERT_EQ(found->size(), 3u);
    for (const auto& measured : *found) {
        if (measured.flip.id == "amp") {
            EXPECT_EQ(measured.effect.stepsAfter, 13u) << "only up to the next flip";
        }
        if (measured.flip.id == "attention") {
            EXPECT_EQ(measured.effect.stepsBefore, 13u);
            EXPECT_DOUBLE_EQ(measured.effect.ms.before.median, 10);
        }
        if (measured.flip.id == "zero-grad") {
            EXPECT_DOUBLE_EQ(measured.effect.ms.before.high, 50) << "disturbed steps are left out";
        }
    }
}

TEST(MeasuredFlips, KeepsOneOfEachContextAndNamesIt) {
    const TempFolder folder;
    auto deeper = onDay(2);
    deeper.config->layers += 1;
    Story(folder.file("s.db"), onDay(1))
        .steps(40, 20)
        .flip("amp", "off", "bf16")
        .steps(40, 10)
        .flip("attention", "auto", "manual")
        .steps(40, 30)
        .flip("amp", "bf16", "off")
        .steps(40, 60);
    Story(folder.file("s.db"), deeper).steps(40, 20).flip("amp", "off", "bf16").steps(40, 16);
    const auto found = measuredFlips(folder.file("s.db"), *sampleInfo().machine);
    ASSERT_TRUE(found) << found.error().sentence;
    std::set<std::string> ofAmp;
    for (const auto& measured : *found)
        if (measured.flip.id == "amp") ofAmp.insert(measured.context);
    EXPECT_EQ(ofAmp.size(), 3u) << "beside auto, beside manual, in a deeper model";
    RunConfig asked = *onDay(1).config;
    asked.switches["amp"] = std::string("anything");
    EXPECT_TRUE(ofAmp.contains(flipContext(asked, "amp"))) << "of the configuration that the session began with";
    asked.switches["attention"] = std::string("manual");
    EXPECT_TRUE(ofAmp.contains(flipContext(asked, "amp"))) << "with the flip in between played";
}

TEST(MeasuredFlips, SaysOfAStoredFlipWhatTheWindowSaidOfTheLiveOne) {
    const TempFolder folder;
    Story(folder.file("s.db"), onDay(1))
        .steps(17 * 45, 20)
        .flip("attention", "auto", "auto")
        .steps(300, 21)
        .steps(20, 900, true)
        .flip("amp", "off", "bf16")
        .steps(5 + 8 * 45, 10)
        .flip("attention", "auto", "manual")
        .steps(25 + 30 * 45, 30)
        .flip("zero-grad", "zero", "set-to-none")
        .steps(40, 31);
    const auto found = measuredFlips(folder.file("s.db"), *sampleInfo().machine);
    ASSERT_TRUE(found) << found.error().sentence;
    ASSERT_EQ(found->size(), 3u);
    RunHistory history;
    for (const Event& event : storedEvents(folder.file("s.db"), 1)) history.append(event);
    for (const RunFlip& live : flipsOf(history)) {
        const std::string id = history.detailOf(history.markers()[live.marker]);
        for (const MeasuredFlip& stored : *found) {
            if (!id.starts_with(stored.flip.id + ":")) continue;
            EXPECT_EQ(stored.effect.shams, live.effect.shams) << id;
            EXPECT_EQ(stored.effect.ms.conclusive(), live.effect.ms.conclusive()) << id;
            EXPECT_EQ(stored.effect.doubt(stored.effect.ms), live.effect.doubt(live.effect.ms)) << id;
            EXPECT_TRUE(stored.effect.decided()) << id;
        }
    }
}

TEST(MeasuredFlips, SaysOfEveryFlipOfOneSessionWhatItDidOrWhyThatIsNotKnown) {
    const TempFolder folder;
    Story(folder.file("s.db"), onDay(1))
        .steps(5 + 40 * 45 + 20, 20)
        .flip("amp", "off", "bf16")
        .steps(60, 10)
        .flip("attention", "auto", "auto")
        .flip("attention", "auto", "manual")
        .steps(8, 10);
    Story(folder.file("s.db"), onDay(2)).steps(5 + 2 * 45 + 20, 20).flip("amp", "off", "bf16").steps(30, 10);
    const auto found = measuredFlipsOf(folder.file("s.db"), 1);
    ASSERT_TRUE(found) << found.error().sentence;
    ASSERT_EQ(found->size(), 2u) << "one that changed nothing is none";
    EXPECT_EQ(flipSentence((*found)[0].effect), "step time 20.0\u202Fms → 10.0\u202Fms, −50 %");
    EXPECT_EQ(flipSentence((*found)[1].effect), "not measured: 20 steps before it and 3 after, 10 are needed");
    EXPECT_EQ(flipSentence(measuredFlipsOf(folder.file("s.db"), 2)->front().effect),
              "step time 20.0\u202Fms → 10.0\u202Fms, inconclusive: 2 of 39 comparisons without a flip so far");
    EXPECT_TRUE(measuredFlipsOf(folder.file("s.db"), 77)->empty());
    EXPECT_FALSE(measuredFlipsOf(folder.file("none.db"), 1).ok());
}

TEST(MeasuredFlips, PrefersAnOlderFlipOfWhichSomethingCanBeSaid) {
    const TempFolder folder;
    Story(folder.file("s.db"), onDay(1)).steps(5 + 40 * 45 + 20, 20).flip("amp", "off", "bf16").steps(25, 10);
    Story(folder.file("s.db"), onDay(2)).steps(60, 20).flip("amp", "off", "bf16").steps(40, 16);
    const auto found = measuredFlips(folder.file("s.db"), *sampleInfo().machine);
    ASSERT_EQ(found->size(), 1u);
    EXPECT_EQ(found->front().sessionName, "day 1") << "the newer one has too few places to compare it with";
    EXPECT_TRUE(found->front().effect.ms.conclusive());
}

TEST(MeasuredFlips, ReadsWhatTheMachineDidMeanwhile) {
    const TempFolder folder;
    const auto sample = [](double seconds, double others) {
        DeviceSample taken;
        taken.at = TimeNs::fromSeconds(seconds);
        taken.othersPct = others;
        taken.stealPct = 0;
        return taken;
    };
    {
        Story story(folder.file("s.db"), onDay(1));
        story.steps(40, 100)
            .machine(sample(4, 1))
            .flip("amp", "off", "bf16")
            .steps(20, 100)
            .machine(sample(6, 60))
            .steps(20, 130)
            .machine(sample(8.6, 60));
    }
    const auto found = measuredFlips(folder.file("s.db"), *sampleInfo().machine);
    ASSERT_EQ(found->size(), 1u);
    EXPECT_NE(found->front().effect.machineChange.find("other processes took 1 %"), std::string::npos) << found->front().effect.machineChange;
}

TEST(MeasuredFlips, LeavesOtherMachinesAndDeletedSessionsOut) {
    const TempFolder folder;
    auto elsewhere = onDay(2);
    elsewhere.machine->cpu = "another processor";
    Story(folder.file("s.db"), elsewhere).steps(40, 20).flip("amp", "off", "bf16").steps(40, 1);
    Story(folder.file("s.db"), onDay(1)).steps(40, 20).flip("amp", "off", "bf16").steps(40, 10);
    const auto found = measuredFlips(folder.file("s.db"), *sampleInfo().machine);
    ASSERT_EQ(found->size(), 1u);
    EXPECT_DOUBLE_EQ(found->front().effect.ms.after.median, 10);
    ASSERT_TRUE(deleteSession(folder.file("s.db"), 2));
    EXPECT_TRUE(measuredFlips(folder.file("s.db"), *sampleInfo().machine)->empty());
}

TEST(MeasuredFlips, AnswersADatabaseThatIsNotThereWithNothingAndADamagedOneWithASentence) {
    const TempFolder folder;
    const auto none = measuredFlips(folder.file("none.db"), {});
    ASSERT_TRUE(none);
    EXPECT_TRUE(none->empty());
    writeFile(folder.file("bad.db"), std::string(5000, 'x'));
    const auto bad = measuredFlips(folder.file("bad.db"), {});
    ASSERT_FALSE(bad);
    EXPECT_TRUE(bad.error().sentence.ends_with('.'));
}
