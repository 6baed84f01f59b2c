// What a person does in the window with a run, and what must come of it.
#include <gtest/gtest.h>

#include <QCheckBox>
#include <QElapsedTimer>
#include <QFile>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTabWidget>

#include "WindowFixture.h"
#include "widgets/panels/LogModel.h"
#include "widgets/panels/TextPage.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/experiment/ToggleSwitch.h"
#include "widgets/panels/experiment/ValueEdit.h"
#include "widgets/panels/experiment/ValueRow.h"
#include "widgets/panels/run/FlipStrip.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {
namespace {

TEST_F(WindowTest, RunsAndStopsAndKeepsTheSession) {
    open();
    runAndStop(50);
    const auto sessions = stored();
    ASSERT_EQ(sessions.size(), 1u);
    EXPECT_EQ(sessions[0].state, RunState::Stopped);
    EXPECT_GE(sessions[0].steps, 50);
    EXPECT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }));
}

TEST_F(WindowTest, FlipsASwitchOfTheLiveRunAndCarriesAMarker) {
    open();
    press("Run");
    ASSERT_TRUE(reaches(20));
    auto* toggle = window().experiment().row("host-memory")->findChild<ToggleSwitch*>();
    QTest::mouseClick(toggle, Qt::LeftButton);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !live().markers().empty(); }));
    EXPECT_EQ(live().config().word("host-memory"), "system");
    EXPECT_EQ(window().experiment().config().word("host-memory"), "system");
}

TEST_F(WindowTest, PutsARefusedSwitchBackAndSaysWhy) {
    open();
    press("Run");
    ASSERT_TRUE(reaches(20));
    ValueRow* amp = window().experiment().row("amp");
    Q_EMIT amp->committed("amp", "fp16");
    ASSERT_TRUE(QTest::qWaitFor([&] { return amp->problem().contains("float16"); }));
    EXPECT_EQ(amp->editor()->text(), "off");
}

TEST_F(WindowTest, TheMenuValidatesSavesAndReseedsOnlyDuringARun) {
    setFakeStepMs(20);
    open();
    const QStringList names{"Validate now", "Save checkpoint", "Draw other batches"};
    for (const QString& name : names) {
        ASSERT_NE(entry(name), nullptr) << name.toStdString();
        EXPECT_FALSE(entry(name)->isEnabled()) << name.toStdString();
        EXPECT_FALSE(entry(name)->shortcut().isEmpty()) << name.toStdString();
    }
    press("Run");
    ASSERT_TRUE(reaches(2));
    const std::int64_t seed = live().config().seed;
    for (const QString& name : names) {
        ASSERT_TRUE(entry(name)->isEnabled()) << name.toStdString();
        entry(name)->trigger();
    }
    const auto has = [&](Marker::Kind kind) {
        return std::ranges::any_of(live().markers(), [&](const Marker& marker) { return marker.kind == kind; });
    };
    EXPECT_TRUE(QTest::qWaitFor([&] { return has(Marker::Kind::Validation) && has(Marker::Kind::Checkpoint); }));
    const LogModel& log = place->stage().live().log();
    const auto saysSeed = [&] {
        for (int i = 0; i < log.rowCount(); ++i)
            if (log.index(i, 0).data(LogModel::SentenceRole).toString().endsWith(QString("seed %1.").arg(seed + 1))) return true;
        return false;
    };
    EXPECT_TRUE(QTest::qWaitFor(saysSeed));
    press("Stop");
    ASSERT_TRUE(idle());
    for (const QString& name : names) EXPECT_FALSE(entry(name)->isEnabled()) << name.toStdString();
}

TEST_F(WindowTest, StopInTheMenuIsAsItIsInTheBar) {
    open();
    ASSERT_NE(entry("Stop"), nullptr);
    const auto both = [&](bool enabled) { return entry("Stop")->isEnabled() == enabled && button("Stop")->isEnabled() == enabled; };
    EXPECT_TRUE(both(false)) << "nothing runs";
    press("Run");
    ASSERT_TRUE(reaches(2));
    EXPECT_TRUE(both(true));
    press("Pause");
    ASSERT_TRUE(becomes(RunState::Paused));
    EXPECT_TRUE(both(true));
    entry("Stop")->trigger();
    EXPECT_TRUE(both(false)) << "once is enough";
    ASSERT_TRUE(idle());
    EXPECT_TRUE(both(false));
}

TEST_F(WindowTest, ClosesWhileTrainingWithoutFreezingAndKeepsTheSession) {
    open();
    press("Run");
    ASSERT_TRUE(reaches(30));
    window().close();
    EXPECT_TRUE(window().isVisible()) << "it says stopping… until the run has ended";
    ASSERT_TRUE(QTest::qWaitFor([&] { return !window().isVisible(); }, 5000));
    place.reset();
    const auto sessions = stored();
    ASSERT_EQ(sessions.size(), 1u);
    EXPECT_EQ(sessions[0].state, RunState::Stopped);
}

TEST_F(WindowTest, WritesTextWithTheLiveWeights) {
    open();
    window().activateWindow();
    key(Qt::Key_2);
    EXPECT_EQ(window().pages().currentIndex(), 1);
    auto* generate = window().textPage().findChild<QPushButton*>();
    EXPECT_FALSE(generate->isEnabled());
    press("Run");
    ASSERT_TRUE(QTest::qWaitFor([&] { return generate->isEnabled(); }, 5000));
    auto* output = window().textPage().findChildren<QPlainTextEdit*>()[1];
    const auto labels = window().textPage().findChildren<QLabel*>();
    EXPECT_TRUE(std::ranges::any_of(labels, [](const QLabel* label) { return label->isVisible() && label->text().contains("the run's weights"); }))
        << "a sentence stands above the text all the time, so that one that is being written does not move it";
    QTest::qWait(1);
    const int top = output->y();
    QTest::mouseClick(generate, Qt::LeftButton);
    QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
    EXPECT_EQ(output->y(), top);
    ASSERT_TRUE(QTest::qWaitFor([&] { return output->toPlainText() == "In the beginning was the word."; }, 5000));
    QTest::qWait(1);
    EXPECT_EQ(output->y(), top);
}

TEST_F(WindowTest, WritesBehindSeveralPromptsBesideEachOtherWithTheLiveWeights) {
    open();
    TextPage& page = window().textPage();
    auto* generate = page.findChild<QPushButton*>();
    press("Run");
    ASSERT_TRUE(QTest::qWaitFor([&] { return generate->isEnabled(); }, 5000));
    page.findChild<QCheckBox*>()->setChecked(true);
    page.findChild<QPlainTextEdit*>()->setPlainText("In the\nIn the\nA");
    QTest::mouseClick(generate, Qt::LeftButton);
    auto* output = page.findChildren<QPlainTextEdit*>()[1];
    const QString all = "--- 1 of 3\nIn the was the word.\n\n--- 2 of 3\nIn the was the word 2.\n\n--- 3 of 3\nA was the word 3.";
    ASSERT_TRUE(QTest::qWaitFor([&] { return output->toPlainText() == all; }, 5000)) << output->toPlainText().toStdString();
    EXPECT_EQ(generate->text(), "Generate") << "all of them are there";
    page.findChild<QCheckBox*>()->setChecked(false);
    page.findChild<QPlainTextEdit*>()->setPlainText("In the end");
    QTest::mouseClick(generate, Qt::LeftButton);
    ASSERT_TRUE(QTest::qWaitFor([&] { return output->toPlainText() == "In the end was the word."; }, 5000)) << output->toPlainText().toStdString();
}

TEST_F(WindowTest, SaysWhatIsWrongWithADatabaseAndOffersToRunWithoutRecording) {
    QFile file(options.database);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(QByteArray(5000, 'x'));
    file.close();
    open();
    QString shown;
    ASSERT_TRUE(QTest::qWaitFor([&] {
        for (const auto* label : window().sessions().findChildren<QLabel*>())
            if (label->isVisible() && label->text().contains("s.db")) shown = label->text();
        return !shown.isEmpty();
    }));
    EXPECT_TRUE(shown.endsWith('.')) << shown.toStdString();
    press("Run");
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().notice().sentence().contains("nothing would be recorded"); }, 5000));
    EXPECT_FALSE(place->runs().busy());
    for (auto* action : window().notice().findChildren<QToolButton*>())
        if (action->text() == "Run without recording") QTest::mouseClick(action, Qt::LeftButton);
    ASSERT_TRUE(reaches(10));
    EXPECT_EQ(live().session(), 0);
}

TEST_F(WindowTest, AnswersRunWithTheSentenceWhenTheSettingsCannotWork) {
    open();
    ValueRow* heads = window().experiment().row("heads");
    Q_EMIT heads->committed("heads", "3");
    press("Run");
    EXPECT_TRUE(window().notice().sentence().contains("heads")) << window().notice().sentence().toStdString();
    EXPECT_FALSE(place->runs().busy());
}

TEST_F(WindowTest, RemembersItsLayoutAndSettings) {
    open();
    Q_EMIT window().experiment().row("layers")->committed("layers", "7");
    window().pages().setCurrentIndex(1);
    window().close();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !window().isVisible(); }));
    place.reset();
    open();
    EXPECT_EQ(window().experiment().config().layers, 7);
    EXPECT_EQ(window().pages().currentIndex(), 1);
}

TEST_F(WindowTest, AnswersWithinATickWhileTrainingFlatOut) {
    setFakeStepMs(0.2);
    open();
    press("Run");
    ASSERT_TRUE(reaches(50));
    // The delay of a timer that should fire every 5 ms is what a person feels as stutter.
    std::vector<qint64> delays;
    QElapsedTimer since;
    QTimer probe;
    probe.setTimerType(Qt::PreciseTimer);
    QObject::connect(&probe, &QTimer::timeout, &probe, [&] { delays.push_back(since.restart()); });
    since.start();
    probe.start(5);
    QTest::qWait(1500);
    std::ranges::sort(delays);
    ASSERT_GT(delays.size(), 100u);
    EXPECT_LT(delays[delays.size() * 95 / 100], 40) << "median " << delays[delays.size() / 2];
}

TEST_F(WindowTest, DemoTrainsTheTinyPresetAtOnce) {
    options.demo = true;
    open();
    ASSERT_TRUE(reaches(10));
    EXPECT_EQ(live().info()->config->preset, "tiny-cpu");
}

TEST_F(WindowTest, TheDemoTakesSettingsAndSaysWhichOneIsWrong) {
    options.demo = true;
    options.settings = {"steps=100000", "layers=2"};
    open();
    ASSERT_TRUE(reaches(10));
    EXPECT_EQ(live().info()->config->layers, 2);
    EXPECT_EQ(live().info()->config->steps, 100000);
    place.reset();
    options.settings = {"layers=many"};
    open();
    EXPECT_TRUE(window().notice().sentence().contains("layers")) << window().notice().sentence().toStdString();
    EXPECT_FALSE(place->runs().busy());
}

TEST_F(WindowTest, ShowsWhatAFlipDidBelowTheChartsAndOnTheSwitchsCard) {
    setFakeStepMs(0.3);
    open();
    EXPECT_TRUE(window().flipStrip().isHidden());
    runPastShams();
    Q_EMIT window().experiment().row("amp")->committed("amp", "bf16");
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().flipStrip().isVisible(); }, 5000));
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().flipStrip().reading().note.contains("20 after"); }, 5000));
    const FlipStripReading shown = window().flipStrip().reading();
    QTest::qWait(100);
    picture(window(), "flip");
    EXPECT_EQ(shown.heading, "Mixed precision: off → bf16");
    ASSERT_EQ(shown.figures.size(), 4u);
    EXPECT_EQ(shown.figures[0].verdict, FlipStripReading::Verdict::Better) << shown.figures[0].spread.toStdString();
    EXPECT_TRUE(shown.figures[0].change.startsWith("−")) << shown.figures[0].change.toStdString();
    EXPECT_EQ(shown.figures[2].change, "the same") << "the fake run's memory does not move";
    const auto card = [&] {
        for (const auto* label : window().experiment().row("amp")->findChildren<QLabel*>())
            if (label->text().contains("Measured here, off → bf16")) return true;
        return false;
    };
    EXPECT_TRUE(card());
    press("Stop");
    ASSERT_TRUE(idle());
    place.reset();
    open();
    EXPECT_TRUE(QTest::qWaitFor(card, 5000)) << "read from the stored session";
}

TEST_F(WindowTest, GivesEveryReachableControlAnAccessibleName) {
    open();
    for (const auto* widget : window().findChildren<QWidget*>()) {
        if (!widget->isVisible() || (widget->focusPolicy() & Qt::TabFocus) == 0 || widget->focusProxy() != nullptr) continue;
        if (widget->inherits("QTabBar") || widget->objectName().startsWith("qt_")) continue;
        const auto* button = qobject_cast<const QAbstractButton*>(widget);
        const bool named = !widget->accessibleName().isEmpty() || (button != nullptr && !button->text().isEmpty());
        EXPECT_TRUE(named) << widget->metaObject()->className() << " in " << widget->parentWidget()->metaObject()->className();
    }
}

}  // namespace
}  // namespace stepscope
