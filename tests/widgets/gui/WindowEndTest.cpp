// What is left when a run has ended: it is summed up, it can still write text, and how long the next one takes is known.
#include <gtest/gtest.h>

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTabWidget>
#include <algorithm>

#include "WindowFixture.h"
#include "app/gui/wiring/EndWords.h"
#include "core/events/Event.h"
#include "sessions/record/Recorder.h"
#include "widgets/panels/LogModel.h"
#include "widgets/panels/TextPage.h"
#include "widgets/panels/compare/CompareForm.h"
#include "widgets/panels/compare/ComparePage.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/experiment/ForecastFoot.h"
#include "widgets/panels/experiment/ValueRow.h"
#include "widgets/panels/run/FlipStrip.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsPage.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {
namespace {

class WindowEndTest : public WindowTest {
protected:
    WindowEndTest() { setFakeCheckpoints(false); }
    ~WindowEndTest() override {
        setFakeCheckpoints(false);
        setFakeLostCheckpoints(false);
    }
    QPushButton* generate() {
        for (auto* found : window().textPage().findChildren<QPushButton*>())
            if (found->text() == "Generate") return found;
        return nullptr;
    }
    QString written() { return window().textPage().findChildren<QPlainTextEdit*>()[1]->toPlainText(); }
    QString foot() {
        for (const auto* label : window().experiment().findChild<ForecastFoot*>()->findChildren<QLabel*>())
            if (label->accessibleName() == "Predicted time") return label->text();
        return {};
    }
    // The first session is looked at while the run of the second goes on.
    void runBehindAStoredSession() {
        runAndStop(10);
        ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 5000));
        press("Run");
        ASSERT_TRUE(QTest::qWaitFor([&] { return live().session() == 2; }, 5000));
        ASSERT_TRUE(reaches(10));
        Q_EMIT window().sessions().replayRequested(1);
        ASSERT_TRUE(QTest::qWaitFor([&] { return place->stage().replaying(); }, 5000));
    }
};

TEST(EndWords, SayHowLongItTookWhateverTheHeadingSays) {
    RunEnd end;
    EXPECT_TRUE(sentenceOf(end).isEmpty()) << "no step, nothing to sum up";
    end.strip.heading = "Stopped in the middle: 5 steps in 00:02";
    end.strip.note = "no switch was flipped";
    end.took = "00:02";
    EXPECT_EQ(sentenceOf(end).toStdString(), "In 00:02. No switch was flipped.");
}

TEST(EndWords, TellEveryFlipOfTheRunAndWhatTurnsFoundWhereItBelongs) {
    RunHistory history;
    auto info = std::make_shared<SessionInfo>();
    info->config = presetConfig("tiny-cpu").value();
    history.append(SessionStarted{1, info, false});
    std::int64_t step = 0;
    const auto train = [&](int steps) {
        for (int i = 0; i < steps; ++i) {
            StepDone done;
            done.step = ++step;
            done.at = TimeNs{step * 10'000'000};
            done.duration = TimeNs{10'000'000};
            done.loss = 3;
            done.tokens = 1000;
            history.append(done);
        }
    };
    const auto flip = [&](const char* from, const char* to) {
        history.append(SwitchApplied{step, {step * 10'000'000}, "amp", std::string(from), std::string(to), ""});
    };
    train(30);
    flip("off", "bf16");
    train(40);
    flip("bf16", "off");
    train(2);
    flip("off", "bf16");
    train(30);
    const auto verdicts =
        verdictsOf(history, {{1, "turns of one"}, {3, "turns at the end"}}, [](const std::string&) { return QString("Precision"); });
    ASSERT_EQ(verdicts.size(), 4) << verdicts.join("; ").toStdString();
    EXPECT_TRUE(verdicts[0].startsWith("Precision off → bf16 at step 31: ")) << verdicts[0].toStdString();
    EXPECT_EQ(verdicts[1], "turns of one");
    EXPECT_EQ(verdicts[2].toStdString(), "Precision at step 73: back where it was within a few steps");
    EXPECT_EQ(verdicts[3], "turns at the end");
    EXPECT_TRUE(verdictsOf(RunHistory(), {}, [](const std::string&) { return QString(); }).isEmpty());
}

TEST_F(WindowEndTest, ARunIsSummedUpWithItsFlips) {
    setFakeStepMs(0.3);
    open();
    runPastShams();
    Q_EMIT window().experiment().row("amp")->committed("amp", "bf16");
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().flipStrip().reading().note.contains("20 after"); }, 5000));
    press("Stop");
    ASSERT_TRUE(idle());
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().flipStrip().reading().heading.startsWith("Stopped: "); }, 5000))
        << window().flipStrip().reading().heading.toStdString();
    const FlipStripReading end = window().flipStrip().reading();
    EXPECT_TRUE(end.heading.contains(" steps in 00:0")) << end.heading.toStdString();
    QStringList names;
    for (const auto& figure : end.figures) names << figure.name;
    for (const char* name : {"loss", "validation", "step time", "throughput", "peak process memory"}) EXPECT_TRUE(names.contains(name)) << name;
    EXPECT_TRUE(end.figures.back().hint.contains("The chart Memory")) << "and how it is told from what tensors hold";
    EXPECT_TRUE(end.note.contains("Mixed precision off → bf16 at step ")) << end.note.toStdString();
    EXPECT_TRUE(end.note.contains("% a step")) << end.note.toStdString();
    const LogModel& log = place->stage().live().log();
    bool logged = false;
    for (int i = 0; i < log.rowCount(); ++i) logged = logged || log.index(i).data().toString().contains("peak process memory 412");
    EXPECT_TRUE(logged);
}

TEST_F(WindowEndTest, AFlipThatWasMadeWhileAReplayWasLookedAtIsSummedUpToo) {
    setFakeStepMs(0.3);
    open();
    runAndStop(10);
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 5000));
    runPastShams();
    Q_EMIT window().sessions().replayRequested(1);
    ASSERT_TRUE(QTest::qWaitFor([&] { return place->stage().replaying(); }, 5000));
    place->runs().send(Flip{"amp", std::string("bf16")});
    ASSERT_TRUE(QTest::qWaitFor([&] { return !live().flips().empty(); }, 5000));
    ASSERT_TRUE(reaches(live().flips().front().flip.step + 60));
    place->runs().stop();
    ASSERT_TRUE(idle());
    const auto summed = [&](const QString& said) {
        const LogModel& log = place->stage().live().log();
        for (int i = 0; i < log.rowCount(); ++i)
            if (log.index(i).data().toString().contains(said)) return true;
        return false;
    };
    EXPECT_TRUE(QTest::qWaitFor([&] { return summed("Mixed precision off → bf16 at step "); }, 5000));
    ASSERT_TRUE(QTest::qWaitFor([&] { return summed("peak process memory 412"); }, 5000));
}

// Closed again it goes; that ends this process's event loop, so it is left out here.
TEST_F(WindowEndTest, AWindowWhoseLastCheckpointIsLostStaysOnceAndSaysSo) {
    setFakeLostCheckpoints(true);
    open();
    press("Run");
    ASSERT_TRUE(reaches(10));
    window().close();
    EXPECT_TRUE(QTest::qWaitFor([&] { return window().notice().sentence().contains("The weights of this run are lost"); }, 5000))
        << window().notice().sentence().toStdString();
    EXPECT_TRUE(window().notice().sentence().endsWith("Close the window again to leave."));
    EXPECT_FALSE(place->runs().busy());
    EXPECT_TRUE(window().isVisible());
}

TEST_F(WindowEndTest, AWindowThatMeasuresStaysOnceAndClosedAgainKeepsWhatIsMeasured) {
    setFakeExperiment({.pairs = 4000});
    open();
    window().pages().setCurrentWidget(&window().comparePage());
    CompareForm& form = window().comparePage().form();
    const auto measures = [&] {
        ASSERT_TRUE(QTest::qWaitFor([&] { return form.canMeasure(); }, 5000));
        QTest::mouseClick(form.measureButton(), Qt::LeftButton);
        ASSERT_TRUE(QTest::qWaitFor([&] { return place->runs().phase() == RunController::Phase::Live; }, 5000));
        window().close();
        EXPECT_TRUE(window().notice().sentence().startsWith("Something is being measured on page Compare."))
            << window().notice().sentence().toStdString();
        EXPECT_EQ(place->runs().phase(), RunController::Phase::Live) << "it goes on";
    };
    measures();
    place->runs().stop();
    ASSERT_TRUE(idle());
    EXPECT_TRUE(window().notice().isHidden()) << "there is nothing to say any more";
    EXPECT_TRUE(window().isVisible());
    window().comparePage().ask();
    measures();
    window().close();
    EXPECT_TRUE(QTest::qWaitFor([&] { return !window().isVisible(); }, 5000));
    place.reset();
    setFakeExperiment({});
    const auto sessions = stored();
    ASSERT_EQ(sessions.size(), 2u);
    for (const SessionSummary& session : sessions) EXPECT_EQ(session.state, RunState::Stopped);
}

TEST_F(WindowEndTest, StopEndsTheRunThatGoesOnBehindAStoredSession) {
    open();
    runBehindAStoredSession();
    press("Stop");
    EXPECT_TRUE(idle());
    EXPECT_TRUE(place->stage().replaying()) << "what is looked at stays";
}

TEST_F(WindowEndTest, TextIsWrittenFromTheCheckpointOfARunThatHasEnded) {
    setFakeCheckpoints(true);
    open();
    runAndStop(10);
    window().pages().setCurrentWidget(&window().textPage());
    ASSERT_TRUE(QTest::qWaitFor([&] { return generate()->isEnabled(); }, 5000));
    QTest::mouseClick(generate(), Qt::LeftButton);
    EXPECT_TRUE(QTest::qWaitFor([&] { return written() == "In the beginning out of checkpoint-1."; }, 5000)) << written().toStdString();
    // The text comes first, what it was written with when it is whole.
    const auto told = [&] {
        return std::ranges::any_of(window().textPage().findChildren<QLabel*>(),
                                   [](const QLabel* label) { return label->text() == "Written with the checkpoint of step 42."; });
    };
    EXPECT_TRUE(QTest::qWaitFor(told, 5000));
}

TEST_F(WindowEndTest, AndFromThatOfAnySessionThatIsLookedAt) {
    setFakeCheckpoints(true);
    open();
    runAndStop(10);
    press("Run");
    ASSERT_TRUE(QTest::qWaitFor([&] { return live().session() == 2; }, 5000));
    ASSERT_TRUE(reaches(10));
    press("Stop");
    ASSERT_TRUE(idle());
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 2; }));
    Q_EMIT window().sessions().replayRequested(1);
    window().pages().setCurrentWidget(&window().textPage());
    ASSERT_TRUE(QTest::qWaitFor([&] { return place->stage().replaying() && generate()->isEnabled(); }, 5000));
    QTest::mouseClick(generate(), Qt::LeftButton);
    EXPECT_TRUE(QTest::qWaitFor([&] { return written() == "In the beginning out of checkpoint-1."; }, 5000)) << written().toStdString();
}

TEST_F(WindowEndTest, TextIsWrittenFromWeightsThatWereChosenAndFromTheSessionsAgain) {
    setFakeCheckpoints(true);
    open();
    window().pages().setCurrentWidget(&window().textPage());
    Q_EMIT window().textPage().weightsRequested("/weights/gpt2");
    ASSERT_TRUE(QTest::qWaitFor([&] { return generate()->isEnabled(); }, 5000)) << "no session is needed";
    auto* type = window().textPage().findChild<QComboBox*>();
    EXPECT_TRUE(type->isEnabled());
    type->setCurrentIndex(type->findData("int8"));
    QTest::mouseClick(generate(), Qt::LeftButton);
    EXPECT_TRUE(QTest::qWaitFor([&] { return written() == "In the beginning out of /weights/gpt2 as int8."; }, 5000)) << written().toStdString();
    runAndStop(10);
    EXPECT_TRUE(QTest::qWaitFor([&] { return generate() != nullptr && generate()->isEnabled(); }, 5000));
    Q_EMIT window().textPage().weightsRequested({});
    type->setCurrentIndex(0);
    ASSERT_TRUE(QTest::qWaitFor([&] { return generate()->isEnabled(); }, 5000));
    QTest::mouseClick(generate(), Qt::LeftButton);
    EXPECT_TRUE(QTest::qWaitFor([&] { return written() == "In the beginning out of checkpoint-1."; }, 5000)) << written().toStdString();
}

TEST_F(WindowEndTest, WeightsThatWereChosenDoNotWriteBesideARunWhoseStepsTheyWouldDisturb) {
    setFakeCheckpoints(true);
    open();
    window().pages().setCurrentWidget(&window().textPage());
    Q_EMIT window().textPage().weightsRequested("/weights/gpt2");
    press("Run");
    ASSERT_TRUE(reaches(5));
    EXPECT_FALSE(generate()->isEnabled());
    Q_EMIT window().textPage().weightsRequested({});
    EXPECT_TRUE(QTest::qWaitFor([&] { return generate()->isEnabled(); }, 5000)) << "the run writes";
    EXPECT_FALSE(window().textPage().findChild<QComboBox*>()->isEnabled()) << "with its weights as they are";
}

TEST_F(WindowEndTest, APromptInEachLineIsWrittenByACheckpointAndByARunBesideEachOther) {
    setFakeCheckpoints(true);
    open();
    window().pages().setCurrentWidget(&window().textPage());
    window().textPage().findChild<QCheckBox*>()->setChecked(true);
    window().textPage().findChild<QPlainTextEdit*>()->setPlainText("One\nAnother");
    press("Run");
    ASSERT_TRUE(QTest::qWaitFor([&] { return generate()->isEnabled(); }, 5000));
    QTest::mouseClick(generate(), Qt::LeftButton);
    const QString live = "--- 1 of 2\nOne was the word.\n\n--- 2 of 2\nAnother was the word 2.";
    EXPECT_TRUE(QTest::qWaitFor([&] { return written() == live; }, 5000)) << written().toStdString();
    EXPECT_TRUE(QTest::qWaitFor([&] { return generate() != nullptr; }, 5000)) << "that is all";
    press("Stop");
    ASSERT_TRUE(idle());
    ASSERT_TRUE(QTest::qWaitFor([&] { return generate() != nullptr && generate()->isEnabled(); }, 5000));
    QTest::mouseClick(generate(), Qt::LeftButton);
    const QString kept = "--- 1 of 2\nOne out of checkpoint-1.\n\n--- 2 of 2\nAnother out of checkpoint-1.";
    EXPECT_TRUE(QTest::qWaitFor([&] { return written() == kept; }, 5000)) << written().toStdString();
}

TEST_F(WindowEndTest, NoCheckpointWritesBesideARunWhoseStepsItWouldDisturb) {
    setFakeCheckpoints(true);
    open();
    runBehindAStoredSession();
    window().pages().setCurrentWidget(&window().textPage());
    const auto says = [&] {
        for (const auto* label : window().textPage().findChildren<QLabel*>())
            if (label->text().contains("would disturb its steps")) return true;
        return false;
    };
    EXPECT_TRUE(QTest::qWaitFor(says, 5000));
    EXPECT_FALSE(generate()->isEnabled());
    place->runs().stop();
    ASSERT_TRUE(idle());
    EXPECT_TRUE(QTest::qWaitFor([&] { return generate()->isEnabled(); }, 5000));
}

TEST_F(WindowEndTest, WithoutACheckpointThePageSaysSo) {
    open();
    runAndStop(10);
    const auto says = [&] {
        for (const auto* label : window().textPage().findChildren<QLabel*>())
            if (label->text().contains("has no checkpoint")) return true;
        return false;
    };
    EXPECT_TRUE(QTest::qWaitFor(says, 5000));
    EXPECT_FALSE(generate()->isEnabled());
}

TEST_F(WindowEndTest, TheNextRunOfTheSameShapeHasAForecastOfItsTime) {
    setFakeStepMs(2);
    open();
    EXPECT_TRUE(QTest::qWaitFor([&] { return foot() == "time: not known yet"; })) << foot().toStdString();
    press("Run");
    ASSERT_TRUE(reaches(60));
    EXPECT_TRUE(QTest::qWaitFor([&] { return foot().startsWith("next run: about 00:0"); }, 5000))
        << "the run's own time is in the bar: " << foot().toStdString();
    press("Stop");
    ASSERT_TRUE(idle());
    ASSERT_TRUE(QTest::qWaitFor([&] { return foot().startsWith("about 00:0"); }, 5000)) << foot().toStdString();
    EXPECT_TRUE(foot().contains("2\u202F000 steps of ")) << foot().toStdString();
    Q_EMIT window().experiment().row("steps")->committed("steps", "4000");
    EXPECT_TRUE(QTest::qWaitFor([&] { return foot().contains("4\u202F000 steps of "); }, 5000)) << foot().toStdString();
    Q_EMIT window().experiment().row("layers")->committed("layers", "6");
    EXPECT_TRUE(QTest::qWaitFor([&] { return foot() == "time: not known yet"; }, 5000)) << "another model: " << foot().toStdString();
}

TEST_F(WindowEndTest, TheSettingsAreThereAgainAfterAKilledProgram) {
    open();
    Q_EMIT window().experiment().row("layers")->committed("layers", "7");
    press("Run");
    ASSERT_TRUE(reaches(5));
    QSettings disk;  // as another process would read it
    disk.sync();
    EXPECT_EQ(disk.value("experiment/changed/layers").toString(), "7");
}

TEST_F(WindowEndTest, SettingsOfASessionAreLoadedWithoutARun) {
    open();
    Q_EMIT window().experiment().row("layers")->committed("layers", "6");
    runAndStop(5);
    Q_EMIT window().experiment().row("layers")->committed("layers", "2");
    Q_EMIT window().sessions().loadRequested(1);
    EXPECT_TRUE(QTest::qWaitFor([&] { return window().experiment().config().layers == 6; }, 5000));
    EXPECT_FALSE(place->runs().busy());
    EXPECT_EQ(stored().size(), 1u);
}

TEST_F(WindowEndTest, ASessionThatAnotherProcessRecordsIsFollowed) {
    SessionInfo info;
    info.name = "elsewhere";
    info.config = presetConfig("tiny-cpu").value();
    Recorder::Options where;
    where.path = options.database.toStdString();
    auto recorder = Recorder::open(where, info);
    ASSERT_TRUE(recorder.ok());
    std::int64_t step = 0;
    const auto train = [&](int steps) {
        for (int i = 0; i < steps; ++i) {
            StepDone done;
            done.step = ++step;
            done.at = TimeNs{step * 10'000'000};
            done.duration = TimeNs{10'000'000};
            done.loss = 3;
            done.tokens = 1000;
            (*recorder)->publish(done);
        }
    };
    (*recorder)->publish(StateChanged{{}, 0, RunState::Running, ""});
    train(20);
    open();
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 5000));
    Q_EMIT window().sessions().replayRequested(1);
    const auto shown = [&] {
        const RunHistory& history = *place->stage().replay().history();
        return history.rows() > 0 ? history.numbers(1).step : 0;
    };
    ASSERT_TRUE(QTest::qWaitFor([&] { return shown() == 20; }, 5000)) << shown();
    train(15);
    EXPECT_TRUE(QTest::qWaitFor([&] { return shown() == 35; }, 8000)) << shown();
    EXPECT_EQ(place->stage().replay().history()->rows(), 35u) << "each step once";
    // Who goes back is not pulled along, and can come to the end again.
    place->replay().seekStep(10);
    ASSERT_TRUE(QTest::qWaitFor([&] { return shown() == 10; }, 5000)) << shown();
    train(5);
    QTest::qWait(1500);
    EXPECT_EQ(shown(), 10);
    place->replay().seekEnd();
    EXPECT_TRUE(QTest::qWaitFor([&] { return shown() >= 35; }, 5000)) << shown();
    EXPECT_TRUE((*recorder)->finish().ok());
}

}  // namespace
}  // namespace stepscope
