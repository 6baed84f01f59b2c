// The bar on top: what its buttons say and do in each state, and its numbers.
#include <gtest/gtest.h>

#include <QLabel>
#include <QProgressBar>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include "widgets/panels/run/RunBar.h"

namespace stepscope {
namespace {

class RunBarTest : public testing::Test {
protected:
    RunBarTest() {
        ready.engine = RunReading::Engine::Ready;
        live = ready;
        live.hasRun = live.live = true;
        live.state = RunState::Running;
        live.step = 1240;
        live.steps = 5000;
        bar.resize(1200, 40);
        bar.show();
    }
    QToolButton* button(const QString& name) const {
        for (auto* found : bar.findChildren<QToolButton*>())
            if (found->text() == name) return found;
        return nullptr;
    }
    bool says(const QString& text) const {
        for (const auto* label : bar.findChildren<QLabel*>())
            if (!label->isHidden() && label->text().contains(text)) return true;
        return false;
    }

    RunBar bar;
    RunReading ready, live;
};

TEST_F(RunBarTest, OffersNothingBeforeTheEngineIsThereAndRunAfterwards) {
    bar.setReading({});
    EXPECT_FALSE(button("Run")->isEnabled());
    EXPECT_TRUE(says("looking at this machine"));
    bar.setReading(ready);
    EXPECT_TRUE(button("Run")->isEnabled());
    EXPECT_FALSE(button("Pause")->isEnabled());
    EXPECT_FALSE(button("Stop")->isEnabled());
}

TEST_F(RunBarTest, SaysNoTotalWhereNobodySaidHowManyStepsThereAreToBe) {
    bar.setReading(live);
    EXPECT_TRUE(says(QString("step 1\u202F240 / 5\u202F000")));
    EXPECT_FALSE(bar.findChild<QProgressBar*>()->isHidden());
    RunReading imported = live;
    imported.live = false;
    imported.replay = true;
    imported.state = RunState::Finished;
    imported.steps = 0;
    bar.setReading(imported);
    EXPECT_TRUE(says(QString("step 1\u202F240")));
    EXPECT_FALSE(says(" / "));
    EXPECT_TRUE(says("– tok/s"));
    EXPECT_TRUE(bar.findChild<QProgressBar*>()->isHidden());
}

TEST_F(RunBarTest, OffersPauseAndStopWhileARunGoesOn) {
    bar.setReading(live);
    EXPECT_FALSE(button("Run")->isEnabled());
    QSignalSpy paused(&bar, &RunBar::pauseRequested), stopped(&bar, &RunBar::stopRequested);
    QTest::mouseClick(button("Pause"), Qt::LeftButton);
    QTest::mouseClick(button("Stop"), Qt::LeftButton);
    EXPECT_EQ(paused.size(), 1);
    EXPECT_EQ(stopped.size(), 1);
}

TEST_F(RunBarTest, OffersToGoOnWhilePaused) {
    live.state = RunState::Paused;
    bar.setReading(live);
    ASSERT_NE(button("Resume"), nullptr);
    QSignalSpy run(&bar, &RunBar::runRequested);
    QTest::mouseClick(button("Resume"), Qt::LeftButton);
    EXPECT_EQ(run.size(), 1);
}

TEST_F(RunBarTest, ItsButtonsKeepTheirPlacesWhateverRunIsCalled) {
    bar.setReading(live);
    const auto places = [this] {
        QTest::qWait(1);
        return QList<QRect>{button("Pause")->geometry(), button("Stop")->geometry()};
    };
    const auto before = places();
    live.state = RunState::Paused;
    bar.setReading(live);
    ASSERT_NE(button("Resume"), nullptr);
    EXPECT_EQ(places(), before);
    live.replay = true;
    bar.setReading(live);
    ASSERT_NE(button("Back to live"), nullptr);
    EXPECT_EQ(places(), before);
}

TEST_F(RunBarTest, TakesAPauseWhileAFullDiskHoldsTheRun) {
    live.state = RunState::Paused;
    bar.setReading(live);
    EXPECT_FALSE(button("Pause")->isEnabled());
    live.heldUp = true;
    bar.setReading(live);
    EXPECT_TRUE(button("Pause")->isEnabled());
}

TEST_F(RunBarTest, LeadsBackToTheLiveRunWhileASessionIsReplayed) {
    live.replay = true;
    bar.setReading(live);
    ASSERT_NE(button("Back to live"), nullptr);
    EXPECT_TRUE(button("Back to live")->isEnabled());
    EXPECT_FALSE(button("Pause")->isEnabled());
}

TEST_F(RunBarTest, StopEndsTheRunBehindAStoredSessionAndSaysWhyWhereItCannot) {
    live.replay = true;
    bar.setReading(live);
    EXPECT_TRUE(button("Stop")->isEnabled());
    EXPECT_TRUE(button("Stop")->toolTip().contains("not the stored session that is shown")) << button("Stop")->toolTip().toStdString();
    EXPECT_TRUE(button("Pause")->toolTip().contains("go back to live")) << button("Pause")->toolTip().toStdString();
    live.live = false;
    bar.setReading(live);
    EXPECT_FALSE(button("Stop")->isEnabled());
    EXPECT_TRUE(button("Stop")->toolTip().contains("Another program trains")) << "it is stored as running";
    live.state = RunState::Finished;
    bar.setReading(live);
    EXPECT_TRUE(button("Stop")->toolTip().startsWith("Nothing goes on")) << button("Stop")->toolTip().toStdString();
    live.replay = false;
    live.live = live.stopping = true;
    bar.setReading(live);
    EXPECT_FALSE(button("Stop")->isEnabled());
    EXPECT_TRUE(button("Stop")->toolTip().contains("being stopped"));
}

TEST_F(RunBarTest, ShowsProgressWithTheTimeLeftAndFiguresWithTheirUnits) {
    live.secondsLeft = 131;
    live.tokens = 1'904'640;
    live.msPerStep = 24.4;
    live.tokensPerSecond = 62800;
    live.loss = 2.913;
    live.overSteps = 100;
    live.cpuPct = 97;
    bar.setReading(live);
    for (const QString& text : {QString("step 1\u202F240 / 5\u202F000 · 1.90\u202FM tokens"), QString("02:11 left"), QString("62.8\u202FK tok/s"),
                                QString("24.4\u202Fms/step"), QString("loss 2.913"), QString("CPU 97\u202F%")})
        EXPECT_TRUE(says(text)) << text.toStdString();
    EXPECT_EQ(bar.findChild<QProgressBar*>()->value(), 248);
}

TEST_F(RunBarTest, ItsTipsSayWhatIsAMedianAndWhatIsSmoothed) {
    live.msPerStep = 24.4;
    live.tokensPerSecond = 62800;
    live.overSteps = 100;
    live.loss = 2.913;
    live.smoothedLoss = 2.8614;
    bar.setReading(live);
    QStringList tips;
    for (const auto* label : bar.findChildren<QLabel*>()) tips << label->toolTip();
    EXPECT_TRUE(tips.contains("Tokens per second, median of the last 100 steps"));
    EXPECT_TRUE(tips.contains("Time of a step, median of the last 100 steps"));
    EXPECT_TRUE(tips.contains("Training loss of the last step; smoothed, as the bold line of its chart: 2.8614"));
}

TEST_F(RunBarTest, SaysHowAReplayedSessionEndedAndNeverATimeLeft) {
    live.live = false;
    live.replay = true;
    live.secondsLeft = 291;
    live.state = RunState::Interrupted;
    bar.setReading(live);
    EXPECT_TRUE(says("interrupted"));
    live.state = RunState::Running;
    bar.setReading(live);
    EXPECT_TRUE(says("running"));
    EXPECT_FALSE(says("left"));
}

TEST_F(RunBarTest, SaysThatItIsStopping) {
    live.stopping = true;
    bar.setReading(live);
    EXPECT_TRUE(says("stopping…"));
    EXPECT_FALSE(button("Stop")->isEnabled());
}

TEST_F(RunBarTest, MovesTheFocusFromRunToPauseForThoseWhoUseTheKeyboard) {
    bar.setReading(ready);
    bar.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&bar));
    button("Run")->setFocus();
    RunReading starting = ready;
    starting.starting = true;
    bar.setReading(starting);
    bar.setReading(live);
    EXPECT_TRUE(button("Pause")->hasFocus());
}

TEST_F(RunBarTest, NamesThePageOfWhatIsMeasured) {
    live.measuring = true;
    live.measuredOn = "Ladder";
    bar.setReading(live);
    EXPECT_TRUE(says("measuring, see page Ladder"));
}

TEST_F(RunBarTest, KeepsItsFiguresInPlaceWhileDigitsChange) {
    bar.setReading(live);
    QTest::qWait(1);
    std::vector<int> before, after;
    for (const auto* label : bar.findChildren<QLabel*>()) before.push_back(label->x());
    live.msPerStep = 8.1;
    live.tokensPerSecond = 999'000;
    live.loss = 10.5;
    live.cpuPct = 100;
    bar.setReading(live);
    QTest::qWait(1);
    for (const auto* label : bar.findChildren<QLabel*>()) after.push_back(label->x());
    EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace stepscope
