// A capture that a person asks for in the window: for so many steps, answered in the dialog that asked.
#include <gtest/gtest.h>

#include <QCheckBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTableWidget>
#include <optional>
#include <tuple>

#include "WindowFixture.h"
#include "core/events/ProfileSchedule.h"
#include "widgets/panels/LogModel.h"
#include "widgets/panels/run/CaptureDialog.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

class WindowCaptureTest : public WindowTest {
protected:
    CaptureDialog& dialog() { return place->capture().dialog(); }
    QPushButton* capture() { return dialog().findChild<QPushButton*>(); }
    void ask() {
        QAction* found = entry("Capture steps…");
        ASSERT_NE(found, nullptr);
        EXPECT_EQ(found->shortcut(), QKeySequence("Ctrl+Shift+C"));
        found->trigger();
        ASSERT_TRUE(dialog().isVisible());
    }
};

TEST_F(WindowCaptureTest, IsAskedForStepsAndAnsweredWithWhatRan) {
    open();
    press("Run");
    ASSERT_TRUE(reaches(10));
    ask();
    dialog().findChild<QSpinBox*>()->setValue(4);
    ASSERT_TRUE(capture()->isEnabled());
    QTest::mouseClick(capture(), Qt::LeftButton);
    ASSERT_TRUE(QTest::qWaitFor([&] { return dialog().sentence().contains("are captured"); }, 5000)) << dialog().sentence().toStdString();
    EXPECT_TRUE(dialog().sentence().contains("41 operations a step")) << dialog().sentence().toStdString();
    EXPECT_FALSE(dialog().isWaiting());
    EXPECT_TRUE(capture()->isEnabled()) << "once more";
    dialog().close();
    EXPECT_TRUE(window().isVisible());
}

TEST_F(WindowCaptureTest, IsAskedForRoundsOfAScheduleAndMakesThemAll) {
    open();
    press("Run");
    ASSERT_TRUE(reaches(10));
    ask();
    QPushButton* bySchedule = dialog().findChildren<QPushButton*>().at(1);
    ASSERT_EQ(bySchedule->text(), "Capture by schedule");
    ASSERT_TRUE(QTest::qWaitFor([&] { return bySchedule->isEnabled(); }));
    const auto fields = dialog().findChildren<QSpinBox*>();
    ASSERT_EQ(fields.size(), 5);
    const auto set = [&](const std::array<int, 4>& values) {
        for (int i = 0; i < 4; ++i) fields[i + 1]->setValue(values[static_cast<std::size_t>(i)]);
    };
    set({1'000'000'000, 0, 1, 1});
    QTest::mouseClick(bySchedule, Qt::LeftButton);
    EXPECT_TRUE(dialog().sentence().contains("the run ends at step")) << dialog().sentence().toStdString();
    EXPECT_FALSE(dialog().isWaiting());
    QTest::qWait(20);
    picture(dialog(), "capture-schedule-refused");
    int done = 0;
    std::vector<std::int64_t> first;
    QObject::connect(&place->stage().live(), &LiveFeed::captured, &dialog(), [&](const CaptureDone& capture) {
        ++done;
        first.push_back(capture.firstStep);
        EXPECT_EQ(capture.steps, 2);
    });
    set({100, 1, 2, 3});
    QTest::mouseClick(bySchedule, Qt::LeftButton);
    EXPECT_TRUE(dialog().isWaiting());
    EXPECT_TRUE(dialog().sentence().startsWith("3 rounds to come: steps ")) << dialog().sentence().toStdString();
    EXPECT_FALSE(bySchedule->isEnabled());
    EXPECT_FALSE(capture()->isEnabled());
    ASSERT_TRUE(QTest::qWaitFor([&] { return done == 3; }, 8000)) << done;
    EXPECT_EQ(first[1] - first[0], 103);
    EXPECT_EQ(first[2] - first[1], 103);
    EXPECT_FALSE(dialog().isWaiting());
    EXPECT_TRUE(bySchedule->isEnabled()) << "once more";
}

TEST_F(WindowCaptureTest, AScheduleThatWaitsIsEndedAndTheRunGoesOn) {
    open();
    press("Run");
    ASSERT_TRUE(reaches(10));
    ask();
    auto* bySchedule = dialog().findChildren<QPushButton*>().at(1);
    auto* end = dialog().findChildren<QPushButton*>().at(2);
    ASSERT_EQ(end->text(), "End capture");
    ASSERT_TRUE(QTest::qWaitFor([&] { return bySchedule->isEnabled(); }));
    EXPECT_FALSE(end->isEnabled()) << "nothing is asked for";
    EXPECT_TRUE(dialog().levels().contains("L2 operations and kernels: not measured yet")) << dialog().levels().toStdString();
    const auto fields = dialog().findChildren<QSpinBox*>();
    for (const auto& [field, value] : {std::pair(1, 300), std::pair(2, 1), std::pair(3, 2), std::pair(4, 2)}) fields[field]->setValue(value);
    QTest::mouseClick(bySchedule, Qt::LeftButton);
    ASSERT_TRUE(dialog().isWaiting());
    picture(dialog(), "capture-waiting");
    QTest::mouseClick(end, Qt::LeftButton);
    EXPECT_FALSE(dialog().isWaiting());
    EXPECT_FALSE(end->isEnabled());
    EXPECT_TRUE(bySchedule->isEnabled());
    const auto said = [&] {
        LogModel& log = place->stage().live().log();
        for (int row = 0; row < log.rowCount(); ++row)
            if (log.index(row).data(LogModel::SentenceRole).toString().contains("Nothing was captured: it was ended")) return true;
        return false;
    };
    EXPECT_TRUE(QTest::qWaitFor(said, 5000));
    int captured = 0;
    QObject::connect(&place->stage().live(), &LiveFeed::captured, &dialog(), [&] { ++captured; });
    ASSERT_TRUE(reaches(700)) << "beyond all rounds";
    EXPECT_EQ(captured, 0);
    EXPECT_EQ(dialog().sentence(), "Ended: no more of these steps are captured, and what was captured of them is kept.");
}

TEST_F(WindowCaptureTest, SaysThatThereIsNoRunAndWhenItsRunHasEnded) {
    open();
    ask();
    EXPECT_FALSE(capture()->isEnabled());
    EXPECT_TRUE(dialog().sentence().contains("no run")) << dialog().sentence().toStdString();
    press("Run");
    ASSERT_TRUE(reaches(10));
    ASSERT_TRUE(QTest::qWaitFor([&] { return capture()->isEnabled(); }));
    press("Stop");
    ASSERT_TRUE(idle());
    EXPECT_TRUE(QTest::qWaitFor([&] { return !capture()->isEnabled(); }));
}

TEST_F(WindowCaptureTest, KeepsTheSlowestStepsUntilItIsSwitchedOffOrTheRunEnds) {
    open();
    ask();
    auto* slowest = dialog().findChild<QCheckBox*>();
    ASSERT_NE(slowest, nullptr);
    EXPECT_FALSE(slowest->isEnabled()) << "no run";
    press("Run");
    ASSERT_TRUE(reaches(10));
    ASSERT_TRUE(QTest::qWaitFor([&] { return slowest->isEnabled(); }));
    EXPECT_FALSE(slowest->isChecked()) << "off by default";
    const auto said = [&](const QString& text) {
        LogModel& log = place->stage().live().log();
        for (int row = 0; row < log.rowCount(); ++row)
            if (log.index(row).data(LogModel::SentenceRole).toString() == text) return true;
        return false;
    };
    slowest->click();
    EXPECT_TRUE(QTest::qWaitFor([&] { return said("The slowest are kept."); }, 5000));
    slowest->click();
    EXPECT_TRUE(QTest::qWaitFor([&] { return said("The slowest are no longer kept."); }, 5000));
    slowest->click();
    picture(dialog(), "capture-slowest");
    press("Stop");
    ASSERT_TRUE(idle());
    EXPECT_TRUE(QTest::qWaitFor([&] { return !slowest->isEnabled() && !slowest->isChecked(); }));
}

TEST(CaptureDialog, ShowsEveryKindOfOperationWithItsShare) {
    CaptureDialog dialog;
    dialog.setReady(true);
    int asked = 0;
    QObject::connect(&dialog, &CaptureDialog::captureRequested, &dialog, [&](qint64 steps) { asked = static_cast<int>(steps); });
    dialog.findChild<QSpinBox*>()->setValue(3);
    QTest::mouseClick(dialog.findChild<QPushButton*>(), Qt::LeftButton);
    EXPECT_EQ(asked, 3);
    EXPECT_TRUE(dialog.isWaiting());
    EXPECT_FALSE(dialog.findChild<QPushButton*>()->isEnabled()) << "one at a time";
    const auto rows = std::make_shared<const std::vector<CapturedOperation>>(
        std::vector<CapturedOperation>{{"aten::addmm", "matrix product", "forward", "mlp/up", false, 12, 12, {9'000'000}, {9'000'000}},
                                       {"norm + QKV", "norm", "forward", "attention/qkv", true, 6, 3, {6'000'000}, {3'000'000}}});
    dialog.setResult(CaptureDone{.step = 12, .firstStep = 10, .steps = 3, .operations = 5, .leftOut = 2, .rows = rows});
    auto* table = dialog.findChild<QTableWidget*>();
    ASSERT_EQ(table->rowCount(), 2);
    const auto text = [&](int row) {
        QStringList cells;
        for (int column = 0; column < table->columnCount(); ++column) cells << table->item(row, column)->text();
        return cells;
    };
    EXPECT_EQ(text(0), (QStringList{"aten::addmm", "matrix product", "forward", "mlp/up", "4.00", "3.00\u202Fms", "75.0 %"}))
        << text(0).join('|').toStdString();
    EXPECT_EQ(text(1), (QStringList{"norm + QKV", "norm", "forward", "attention/qkv", "2.00", "1.00\u202Fms", "25.0 %"}))
        << "calls, of which half are a way into others: " << text(1).join('|').toStdString();
    dialog.show();
    QCoreApplication::processEvents();
    WindowTest::picture(dialog, "capture");
    EXPECT_TRUE(dialog.sentence().endsWith("2 more kinds with less time are left out.")) << dialog.sentence().toStdString();
    dialog.setResult(CaptureDone{.step = 10, .firstStep = 10, .steps = 1});
    EXPECT_EQ(table->rowCount(), 0);
    EXPECT_EQ(dialog.sentence(), "Step 10 is captured.");
    QTest::mouseClick(dialog.findChild<QPushButton*>(), Qt::LeftButton);
    dialog.setReady(false);
    EXPECT_EQ(dialog.sentence(), "The run has ended before a step was captured.");
}

TEST(CaptureDialog, ALongNameLeavesWhatItTookInSight) {
    CaptureDialog dialog;
    const std::string name = "aten::_scaled_dot_product_flash_attention_for_cpu_backward_of_a_name_that_goes_on_and_on_and_on";
    const auto rows = std::make_shared<const std::vector<CapturedOperation>>(
        std::vector<CapturedOperation>{{name, "attention", "backward", "attention/core", false, 12, 12, {9'000'000}, {9'000'000}}});
    dialog.setResult(CaptureDone{.step = 12, .firstStep = 10, .steps = 3, .operations = 5, .rows = rows});
    dialog.show();
    QCoreApplication::processEvents();
    auto* table = dialog.findChild<QTableWidget*>();
    EXPECT_LE(table->horizontalHeader()->length(), table->viewport()->width());
    EXPECT_TRUE(table->item(0, 0)->toolTip().contains(QString::fromStdString(name))) << "all of it is in the tooltip";
}

TEST(CaptureDialog, SaysWhatEachLevelCostsWhereAPersonChooses) {
    CaptureDialog dialog;
    EXPECT_EQ(dialog.levels(),
              "What observing costs, measured in this run:\nL0 steps: not measured yet\nL1 phases: not measured yet\nL2 operations and kernels: not "
              "measured yet");
    const auto slowest = [&] {
        for (const QLabel* label : dialog.findChildren<QLabel*>())
            if (label->accessibleName() == "What keeping the slowest costs") return label->text();
        return QString();
    };
    EXPECT_EQ(slowest(), "L2 at every step: not measured yet, a capture measures it");
    dialog.setLevels({.stepNs = 1e7,
                      .always = {.recordNs = 2'000, .phasesNs = 300},
                      .capture = {.share = 0.031, .low = 0.012, .high = 0.05, .steps = 6, .beside = 50}});
    EXPECT_EQ(dialog.levels(),
              "What observing costs, measured in this run:\nL0 steps: 0.020 % of a step (2.00\u202Fµs)\nL1 phases: 0.003 % of a step "
              "(0.300\u202Fµs)\nL2 operations and kernels: +3.1 % (95 %: +1.2 % to +5.0 %), 6 captured steps beside 50");
    EXPECT_EQ(slowest(), "L2 at every step: +3.1 % (95 %: +1.2 % to +5.0 %)");
    dialog.setReady(true);
    dialog.show();
    for (const Theme theme : {Theme::Dark, Theme::Light}) {
        applyStyle(*qApp, theme);
        QCoreApplication::processEvents();
        WindowTest::picture(dialog, theme == Theme::Dark ? "capture-levels-dark" : "capture-levels");
    }
}

TEST(CaptureDialog, CountsTheRoundsOfAScheduleThatAreStillToCome) {
    CaptureDialog dialog;
    EXPECT_FALSE(dialog.findChildren<QPushButton*>().at(1)->isEnabled()) << "no run";
    dialog.setReady(true);
    std::optional<ProfileSchedule> asked;
    QObject::connect(&dialog, &CaptureDialog::scheduleRequested, &dialog, [&](const ProfileSchedule& schedule) { asked = schedule; });
    const auto fields = dialog.findChildren<QSpinBox*>();
    for (const auto& [field, value] : {std::pair(1, 40), std::pair(2, 1), std::pair(3, 5), std::pair(4, 3)}) fields[field]->setValue(value);
    QTest::mouseClick(dialog.findChildren<QPushButton*>().at(1), Qt::LeftButton);
    ASSERT_TRUE(asked.has_value());
    EXPECT_EQ(std::tuple(asked->wait, asked->warmup, asked->active, asked->repeat), std::tuple(40, 1, 5, 3));
    EXPECT_TRUE(checkSchedule(dialog.schedule()));
    fields[3]->setValue(0);
    EXPECT_EQ(dialog.schedule().active, 1) << "what cannot be cannot be set";
    dialog.setProblem("The last round would end at step 3,000, and the run ends at step 2,000.");
    EXPECT_FALSE(dialog.isWaiting());
    EXPECT_TRUE(dialog.sentence().contains("3,000"));
    dialog.setRounds(capturesOf(*asked, 1000));
    EXPECT_TRUE(dialog.sentence().startsWith("3 rounds to come: steps 1\u202F042 to 1\u202F046 next, steps 1\u202F134 to 1\u202F138 last."))
        << dialog.sentence().toStdString();
    dialog.show();
    for (const Theme theme : {Theme::Dark, Theme::Light}) {
        applyStyle(*qApp, theme);
        QCoreApplication::processEvents();
        WindowTest::picture(dialog, theme == Theme::Dark ? "capture-schedule-dark" : "capture-schedule");
    }
    dialog.setResult(CaptureDone{.step = 20, .firstStep = 19, .steps = 2});
    EXPECT_TRUE(dialog.sentence().contains("3 rounds to come")) << "one of the slowest, from before";
    dialog.setResult(CaptureDone{.step = 1046, .firstStep = 1042, .steps = 5});
    EXPECT_TRUE(dialog.sentence().contains("2 rounds to come: steps 1\u202F088 to 1\u202F092 next")) << dialog.sentence().toStdString();
    dialog.setResult(CaptureDone{.step = 1138, .firstStep = 1134, .steps = 5});
    EXPECT_FALSE(dialog.isWaiting()) << "one that never came is not waited for";
    dialog.setRounds(capturesOf(*asked, 1200));
    dialog.setRefused("A capture is under way; wait for its end.");
    EXPECT_FALSE(dialog.isWaiting()) << "nothing comes of rounds that the run refuses";
    EXPECT_EQ(dialog.sentence(), "A capture is under way; wait for its end.");
    dialog.setRounds(capturesOf(*asked, 1200));
    dialog.setReady(false);
    EXPECT_EQ(dialog.sentence(), "The run has ended with 3 of the rounds still to come.");
    dialog.setReady(true);
    dialog.setRounds(capturesOf(*asked, 1200));
    int ended = 0;
    QObject::connect(&dialog, &CaptureDialog::endRequested, &dialog, [&] { ++ended; });
    QTest::mouseClick(dialog.findChildren<QPushButton*>().at(2), Qt::LeftButton);
    EXPECT_EQ(ended, 1);
    EXPECT_FALSE(dialog.isWaiting());
    dialog.setResult(CaptureDone{.step = 1243, .firstStep = 1242, .steps = 2});
    EXPECT_EQ(dialog.sentence(), "Steps 1\u202F242 to 1\u202F243 are captured.") << "what the run has of it";
}

}  // namespace
}  // namespace stepscope
