// The page Diagnose in the window: looked at, advised, tested on the page Compare, stopped, in the way of nothing; and the forecast at the panel's
// foot.
#include <QHelpEvent>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QTabWidget>
#include <QToolTip>

#include "WindowFixture.h"
#include "core/analysis/ExperimentHistory.h"
#include "fake/FakeLooks.h"
#include "sessions/SessionStore.h"
#include "sessions/findings/Forecasts.h"
#include "widgets/panels/compare/CompareForm.h"
#include "widgets/panels/compare/ComparePage.h"
#include "widgets/panels/compare/CompareResult.h"
#include "widgets/panels/diagnose/AdviceCard.h"
#include "widgets/panels/diagnose/DiagnosePage.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsPanel.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

class WindowDiagnoseTest : public WindowTest {
protected:
    ~WindowDiagnoseTest() override {
        setFakeLook({});
        setFakeExperiment({});
    }
    void openPage(const FakeLook& look = {}) {
        setFakeLook(look);
        open();
        window().resize(1280, 800);
        window().pages().setCurrentWidget(&page());
        ASSERT_TRUE(QTest::qWaitFor([&] { return page().lookButton()->isEnabled(); }, 5000));
    }
    DiagnosePage& page() { return window().diagnosePage(); }
    static void click(QAbstractButton* button) {
        ASSERT_TRUE(button->isEnabled()) << button->text().toStdString();
        QTest::mouseClick(button, Qt::LeftButton);
    }
    void look() {
        click(page().lookButton());
        ASSERT_TRUE(QTest::qWaitFor([&] { return !page().factText("Time").isEmpty(); }, 5000)) << page().state().toStdString();
    }
    QAbstractButton* timeIt() { return window().experiment().foot()->timeButton(); }
    QString foot() {
        for (const auto* label : window().experiment().foot()->findChildren<QLabel*>())
            if (label->accessibleName() == "Predicted time") return label->text();
        return {};
    }
};

TEST_F(WindowDiagnoseTest, IsEmptyWithAReasonUntilSomebodyLooks) {
    openPage();
    EXPECT_TRUE(page().cards().empty());
    EXPECT_TRUE(page().state().contains("nothing is recorded")) << page().state().toStdString();
    EXPECT_FALSE(page().stopButton()->isEnabled());
    EXPECT_EQ(fakeLooks(), 0);
}

TEST_F(WindowDiagnoseTest, TellsWhatWasFoundOfTheSettingsAtTheLeft) {
    openPage();
    Q_EMIT window().experiment().row("layers")->committed("layers", "6");
    look();
    EXPECT_EQ(fakeLookedAt("layers"), "6");
    EXPECT_FALSE(fakeLookWasHere()) << "the window's thread waits for nothing";
    EXPECT_TRUE(page().factText("Time").startsWith("about 02:50 for 2\u202F000 steps")) << page().factText("Time").toStdString();
    EXPECT_TRUE(page().factText("Time").contains("20 validations"));
    EXPECT_TRUE(page().factText("Memory").contains("predicted of 23.0")) << page().factText("Memory").toStdString();
    EXPECT_TRUE(page().factText("Fits").contains("4\u202F370"));
    EXPECT_TRUE(page().factText("Switches").contains("device: No NVIDIA driver"));
    ASSERT_EQ(page().cards().size(), 2u);
}

// Steps that were timed beside other programs are not stored; what is known from earlier says another time.
TEST_F(WindowDiagnoseTest, ThePanelAtTheLeftForetellsTheSameTime) {
    openPage({.knowsTime = true, .disturbed = "other programs took 48 % of the processors"});
    ASSERT_TRUE(QTest::qWaitFor([&] { return foot().startsWith("about "); }, 5000)) << foot().toStdString();
    look();
    const QString found = page().factText("Time").section(' ', 0, 1);
    EXPECT_TRUE(foot().startsWith(found)) << foot().toStdString() << " beside " << found.toStdString();
    EXPECT_TRUE(foot().contains("busy")) << foot().toStdString();
    QTest::qWait(400);  // what was being looked up meanwhile
    EXPECT_TRUE(foot().startsWith(found)) << foot().toStdString();
}

TEST_F(WindowDiagnoseTest, InANarrowWindowNothingOfItIsCut) {
    openPage();
    look();
    for (const QSize size : {QSize(1024, 640), QSize(960, 508)}) {
        window().resize(size);
        QTest::qWait(100);
        EXPECT_LE(page().widget()->width(), page().viewport()->width()) << size.width();
        for (const auto* button : page().findChildren<QPushButton*>()) {
            if (!button->isVisible()) continue;
            const QRect lies(button->mapTo(page().widget(), QPoint()), button->size());
            EXPECT_LE(lies.right(), page().viewport()->width()) << button->text().toStdString();
            EXPECT_GE(button->width(), button->minimumSizeHint().width()) << button->text().toStdString();
        }
        picture(window(), QString("diagnose-narrow-%1").arg(size.width()));
    }
}

TEST_F(WindowDiagnoseTest, ChangedSettingsMakeItStaleAndAreTestedNoMore) {
    openPage();
    look();
    EXPECT_TRUE(page().cards()[0]->testButton()->isEnabled());
    Q_EMIT window().experiment().row("layers")->committed("layers", "6");
    EXPECT_TRUE(page().state().contains("have changed")) << page().state().toStdString();
    EXPECT_FALSE(page().cards()[0]->testButton()->isEnabled());
    Q_EMIT window().experiment().row("layers")->committed("layers", "4");
    EXPECT_FALSE(page().state().contains("have changed"));
    EXPECT_TRUE(page().cards()[0]->testButton()->isEnabled());
}

TEST_F(WindowDiagnoseTest, WhyItFailedGoesWithTheSettingsThatItWasOf) {
    openPage({.failure = "essay.txt is empty."});
    click(page().lookButton());
    ASSERT_TRUE(QTest::qWaitFor([&] { return page().state() == "essay.txt is empty."; }, 5000)) << page().state().toStdString();
    Q_EMIT window().experiment().row("layers")->committed("layers", "6");
    EXPECT_FALSE(page().state().contains("essay.txt")) << page().state().toStdString();
}

TEST_F(WindowDiagnoseTest, OneClickTestsAnAdviceOnThePageCompare) {
    openPage();
    look();
    click(page().cards()[0]->testButton());
    ASSERT_TRUE(QTest::qWaitFor([&] { return place->runs().measuring(); }, 5000));
    EXPECT_EQ(window().pages().currentWidget(), &window().comparePage());
    const CompareQuestion asked = window().comparePage().form().question();
    ASSERT_EQ(asked.differences.size(), 1u);
    EXPECT_EQ(asked.differences[0], (Difference{"grad-clip", "1", "2"}));
    EXPECT_FALSE(asked.same);
}

// The page Compare looks at its own question a moment after each edit, on a thread; what it finds then is not what is asked for here.
TEST_F(WindowDiagnoseTest, TheAdviceIsTestedAndNotWhatThePageCompareWasLookingAtJustThen) {
    openPage();
    look();
    CompareForm& form = window().comparePage().form();
    for (int delay = 0; delay < 400; delay += 25) {
        Q_EMIT form.edited();
        QTest::qWait(delay);
        click(page().cards()[0]->testButton());
        ASSERT_TRUE(QTest::qWaitFor([&] { return place->runs().measuring(); }, 5000)) << delay;
        const CompareQuestion asked = form.question();
        ASSERT_EQ(asked.differences.size(), 1u);
        ASSERT_EQ(asked.differences[0], (Difference{"grad-clip", "1", "2"})) << delay;
        place->runs().stop();
        ASSERT_TRUE(idle());
        CompareQuestion other = asked;
        other.differences = {{"amp", "off", "bf16"}};
        form.setQuestion(other);
        window().pages().setCurrentWidget(&page());
        ASSERT_TRUE(QTest::qWaitFor([&] { return page().cards()[0]->testButton()->isEnabled(); }, 5000));
    }
}

TEST_F(WindowDiagnoseTest, ShowsWhatWasPredictedHereBesideWhatWasMeasured) {
    openPage();
    look();
    EXPECT_TRUE(page().factText("Predicted").isEmpty()) << "nothing was";
    click(page().cards()[0]->testButton());
    ASSERT_TRUE(QTest::qWaitFor([&] { return place->runs().measuring(); }, 5000));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !place->runs().busy(); }, 20'000));
    const std::string database = options.database.toStdString();
    std::string question;
    {
        auto reader = SessionReader::open(database);
        ASSERT_TRUE(reader.ok());
        const auto events = (*reader)->measurements(1);
        ASSERT_TRUE(events.ok());
        question = chosenExperiment(*events).history.began().value().question;
    }
    ASSERT_TRUE(
        storePredictions(database, {{.question = question, .atUnixMs = 1, .setting = "grad-clip=2", .ratio = 1.5, .ms = 20, .basis = "products"}}));
    window().pages().setCurrentWidget(&page());
    ASSERT_TRUE(QTest::qWaitFor([&] { return page().lookButton()->isEnabled(); }, 5000));
    click(page().lookButton());
    ASSERT_TRUE(QTest::qWaitFor([&] { return page().factText("Predicted").startsWith("grad-clip=2: predicted ×1.50, measured ×"); }, 5000))
        << page().factText("Predicted").toStdString();
    EXPECT_TRUE(page().factText("Predicted").endsWith(", session 1")) << page().factText("Predicted").toStdString();
    place.reset();
    open();
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 8000));
    Q_EMIT window().sessions().replayRequested(1);
    const auto notes = [&] {
        for (const auto* label : window().comparePage().result().findChildren<QLabel*>())
            if (label->accessibleName() == "What is compared") return label->text();
        return QString();
    };
    EXPECT_TRUE(QTest::qWaitFor([&] { return notes().contains("Foretold before it was measured: B 1.50 times as fast as A"); }, 5000))
        << notes().toStdString();
}

TEST_F(WindowDiagnoseTest, ANoisyMachineIsMeasuredBesideItself) {
    openPage();
    look();
    click(page().cards()[1]->testButton());
    ASSERT_TRUE(QTest::qWaitFor([&] { return place->runs().measuring(); }, 5000));
    EXPECT_TRUE(window().comparePage().form().question().same);
}

TEST_F(WindowDiagnoseTest, LooksAtNothingBesideARunAndGivesWayToOne) {
    openPage({.ms = 60'000});
    click(page().lookButton());
    EXPECT_TRUE(QTest::qWaitFor([&] { return page().state() == "timing steps"; }, 5000)) << page().state().toStdString();
    EXPECT_TRUE(page().stopButton()->isEnabled());
    press("Run");
    ASSERT_TRUE(reaches(5));
    EXPECT_TRUE(QTest::qWaitFor([&] { return page().state().contains("goes on"); }, 5000)) << page().state().toStdString();
    for (QPushButton* button : {page().lookButton(), page().batchButton(), page().rateButton(), page().stopButton()})
        EXPECT_FALSE(button->isEnabled());
    press("Stop");
    ASSERT_TRUE(idle());
    EXPECT_TRUE(QTest::qWaitFor([&] { return page().lookButton()->isEnabled(); }, 5000));
}

TEST_F(WindowDiagnoseTest, IsStopped) {
    openPage({.ms = 60'000});
    click(page().lookButton());
    ASSERT_TRUE(QTest::qWaitFor([&] { return page().stopButton()->isEnabled(); }, 5000));
    click(page().stopButton());
    EXPECT_TRUE(QTest::qWaitFor([&] { return page().lookButton()->isEnabled(); }, 5000));
}

TEST_F(WindowDiagnoseTest, SaysWhyItFoundNothing) {
    openPage({.failure = "There is no text in \"/nowhere\"; choose another."});
    click(page().lookButton());
    EXPECT_TRUE(QTest::qWaitFor([&] { return page().state().contains("There is no text"); }, 5000)) << page().state().toStdString();
    EXPECT_TRUE(page().lookButton()->isEnabled());
}

TEST_F(WindowDiagnoseTest, FindsABatchSizeAndPutsItIntoThePanel) {
    openPage();
    click(page().batchButton());
    ASSERT_TRUE(QTest::qWaitFor([&] { return page().useButton()->isEnabled(); }, 5000));
    click(page().useButton());
    EXPECT_TRUE(QTest::qWaitFor([&] { return toString(window().experiment().config().switches.at("grad-clip")) == "3"; }, 5000));
}

TEST_F(WindowDiagnoseTest, ARangeTestRunsOnThePageLive) {
    openPage();
    click(page().rateButton());
    ASSERT_TRUE(reaches(1));
    EXPECT_EQ(window().pages().currentIndex(), 0);
    EXPECT_EQ(live().config().schedule, "range-test");
    EXPECT_EQ(live().config().steps, 200);
    EXPECT_NE(window().experiment().config().schedule, "range-test") << "the settings stay";
}

TEST_F(WindowDiagnoseTest, TheRateThatARangeTestSuggestsIsTakenOverByOneClick) {
    openPage();
    EXPECT_FALSE(page().useRateButton()->isVisible());
    const double before = window().experiment().config().lr;
    click(page().rateButton());
    ASSERT_TRUE(reaches(1));
    ASSERT_TRUE(idle());
    ASSERT_TRUE(QTest::qWaitFor([&] { return page().rateSentence().contains("suggested lr"); }, 5000)) << page().rateSentence().toStdString();
    window().pages().setCurrentWidget(&page());
    ASSERT_TRUE(QTest::qWaitFor([&] { return page().useRateButton()->isEnabled(); }, 5000));
    QTest::qWait(50);
    picture(window(), "diagnose-rate-1280x800");
    window().resize(1024, 640);
    applyStyle(*qApp, Theme::Dark);
    QTest::qWait(50);
    picture(window(), "diagnose-rate-dark-1024x640");
    applyStyle(*qApp, Theme::Light);
    click(page().useRateButton());
    EXPECT_TRUE(QTest::qWaitFor([&] { return window().experiment().config().lr != before; }, 5000));
    EXPECT_TRUE(page().rateSentence().contains(QString::number(window().experiment().config().lr, 'g', 2))) << page().rateSentence().toStdString();
    EXPECT_NE(window().experiment().config().schedule, "range-test") << "the schedule stays";
}

TEST_F(WindowDiagnoseTest, TheFootTimesAFewStepsWhenAsked) {
    openPage();
    ASSERT_TRUE(QTest::qWaitFor([&] { return timeIt()->isVisible(); }, 5000));
    EXPECT_EQ(foot(), "time: not known yet");
    click(timeIt());
    EXPECT_TRUE(QTest::qWaitFor([&] { return foot() == "about 02:11 for 2\u202F000 steps"; }, 5000)) << foot().toStdString();
    EXPECT_FALSE(timeIt()->isVisible());
    EXPECT_FALSE(fakeLookWasHere());
    setFakeLook({});
    Q_EMIT window().experiment().row("layers")->committed("layers", "6");
    EXPECT_TRUE(QTest::qWaitFor([&] { return foot() == "time: not known yet"; }, 5000)) << "another model: " << foot().toStdString();
}

TEST_F(WindowDiagnoseTest, WhatOthersDisturbedIsNotToldAsOfAQuietMachine) {
    const FakeLook busy{.disturbed = "other programs took 48 % of the processors"};
    openPage(busy);
    ASSERT_TRUE(QTest::qWaitFor([&] { return timeIt()->isVisible(); }, 5000));
    click(timeIt());
    EXPECT_TRUE(QTest::qWaitFor([&] { return foot() == "about 02:11, machine busy"; }, 5000)) << foot().toStdString();
    QString tip;
    for (auto* label : window().experiment().foot()->findChildren<QLabel*>())
        if (label->accessibleName() == "Predicted time") {
            QHelpEvent help(QEvent::ToolTip, QPoint(5, 5), label->mapToGlobal(QPoint(5, 5)));
            QCoreApplication::sendEvent(label, &help);
            tip = QToolTip::text();
        }
    EXPECT_TRUE(tip.contains("other programs took 48 % of the processors")) << tip.toStdString();
    EXPECT_TRUE(timeIt()->isVisible()) << "it may be asked again";
    picture(window(), "forecast-disturbed");
    window().resize(1024, 640);
    QTest::qWait(50);
    picture(window(), "forecast-disturbed-1024");
    look();
    EXPECT_TRUE(page().factText("Time").contains("other programs took 48 % of the processors")) << page().factText("Time").toStdString();
}

TEST_F(WindowDiagnoseTest, TheFootKnowsWhatWasTimedEarlier) {
    openPage({.knowsTime = true});
    EXPECT_TRUE(QTest::qWaitFor([&] { return foot() == "about 02:11 for 2\u202F000 steps"; }, 5000)) << foot().toStdString();
    EXPECT_FALSE(timeIt()->isVisible());
}

// The list has a run of these settings too, and its steps say another time: that is never seen beside or before the better one.
TEST_F(WindowDiagnoseTest, TheFootSaysOneTimeAndNeverTwoOfOneRunAfterEachOther) {
    setFakeStepMs(2);
    openPage();
    runAndStop(60);
    ASSERT_TRUE(QTest::qWaitFor([&] { return foot().contains(" steps of "); }, 5000)) << "from the list: " << foot().toStdString();
    setFakeLook({.knowsTime = true});
    QStringList said;
    const auto note = [&] {
        if (said.isEmpty() || said.back() != foot()) said << foot();
    };
    Q_EMIT window().experiment().row("steps")->committed("steps", "2001");
    note();
    ASSERT_TRUE(QTest::qWaitFor([&] {
        note();
        return foot().startsWith("about 02:11 for");
    }));
    for (int i = 0; i < 40; ++i) {
        QTest::qWait(10);
        note();
    }
    EXPECT_EQ(said, (QStringList{"time: …", "about 02:11 for 2\u202F001 steps"})) << said.join(" | ").toStdString();
}

TEST_F(WindowDiagnoseTest, TheFootOffersNothingBesideARunAndGivesWayToOne) {
    openPage({.ms = 60'000});
    ASSERT_TRUE(QTest::qWaitFor([&] { return timeIt()->isVisible(); }, 5000));
    click(timeIt());
    EXPECT_TRUE(foot().startsWith("timing"));
    press("Run");
    ASSERT_TRUE(reaches(5));
    EXPECT_FALSE(timeIt()->isVisible());
}

TEST_F(WindowDiagnoseTest, CanBeLookedAt) {
    openPage();
    look();
    click(page().batchButton());
    ASSERT_TRUE(QTest::qWaitFor([&] { return page().useButton()->isVisible(); }, 5000));
    QTest::qWait(50);
    picture(window(), "diagnose-1280x800");
    page().verticalScrollBar()->setValue(page().verticalScrollBar()->maximum());
    applyStyle(*qApp, Theme::Dark);
    QTest::qWait(50);
    picture(window(), "diagnose-dark-1280x800");
    window().resize(1024, 640);
    QTest::qWait(50);
    picture(window(), "diagnose-1024x640");
    EXPECT_LE(page().widget()->width(), page().viewport()->width());
    applyStyle(*qApp, Theme::Light);
}

}  // namespace
}  // namespace stepscope
