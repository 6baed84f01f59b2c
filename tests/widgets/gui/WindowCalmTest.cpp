// What must not happen under a person's hands: a value that changes by the wheel, a row that moves while it is being aimed at, a bar that goes on
// saying what is over.
#include <gtest/gtest.h>

#include <QAbstractScrollArea>
#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QTabBar>
#include <QWheelEvent>
#include <map>

#include "WindowFixture.h"
#include "widgets/charts/LivePage.h"
#include "widgets/panels/FoldSection.h"
#include "widgets/panels/LogModel.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/experiment/NumberEdit.h"
#include "widgets/panels/experiment/ValueRow.h"
#include "widgets/panels/experiment/WheelGuard.h"
#include "widgets/panels/run/FlipStrip.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/panels/run/TransportBar.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {
namespace {

class WindowCalmTest : public WindowTest {
protected:
    ~WindowCalmTest() override { setFakeRefusal({}); }
    // Everything of the window that holds a value which a wheel could change, in every page and every section.
    std::vector<QWidget*> editors() {
        for (auto* section : window().findChildren<FoldSection*>()) section->setOpen(true);
        std::vector<QWidget*> all;
        for (auto* widget : window().findChildren<QWidget*>())
            if (WheelGuard::holdsValue(widget)) all.push_back(widget);
        return all;
    }
    static QString valueOf(const QWidget* widget) {
        if (const auto* list = qobject_cast<const QComboBox*>(widget)) return list->currentText();
        if (const auto* tabs = qobject_cast<const QTabBar*>(widget)) return QString::number(tabs->currentIndex());
        if (const auto* slider = qobject_cast<const QAbstractSlider*>(widget)) return QString::number(slider->value());
        return qobject_cast<const QAbstractSpinBox*>(widget)->text();
    }
    // As Qt hands a wheel of the window system on: to the widget under the pointer, and to its parents until one of them takes it.
    static void wheel(QWidget* over, int delta) {
        const QPointF global = over->mapToGlobal(QRectF(over->rect()).center());
        for (QWidget* widget = over; widget != nullptr; widget = widget->isWindow() ? nullptr : widget->parentWidget()) {
            QWheelEvent event(widget->mapFromGlobal(global), global, {}, QPoint(0, delta), Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
            event.ignore();
            QApplication::sendEvent(widget, &event);
            if (event.isAccepted()) return;
        }
    }
    std::map<QString, QPoint> rows() {
        QCoreApplication::processEvents();
        std::map<QString, QPoint> places;
        for (const auto* row : window().experiment().findChildren<ValueRow*>())
            if (row->isVisible()) places["row " + row->id()] = row->mapTo(&window(), QPoint());
        places["sessions"] = window().sessions().mapTo(&window(), QPoint());
        places["pages"] = window().livePage().mapTo(&window(), QPoint());
        return places;
    }
};

TEST_F(WindowCalmTest, TheWheelChangesNoValueWhateverItIsTurnedOver) {
    open();
    press("Run");
    ASSERT_TRUE(reaches(5));
    const auto all = editors();
    ASSERT_GT(all.size(), 20u) << "the experiment alone has more";
    const RunConfig before = window().experiment().config();
    for (QWidget* editor : all) {
        const QString value = valueOf(editor);
        for (const bool focused : {false, true}) {
            if (focused) editor->setFocus();
            for (const int delta : {120, -120, 1200}) {
                wheel(editor, delta);
                for (QWidget* inside : editor->findChildren<QLineEdit*>()) wheel(inside, delta);
            }
        }
        EXPECT_EQ(valueOf(editor), value) << editor->metaObject()->className() << " " << editor->accessibleName().toStdString();
    }
    QTest::qWait(500);  // a held arrow commits late
    EXPECT_EQ(window().experiment().config(), before);
    for (const Marker& marker : live().markers()) EXPECT_NE(marker.kind, Marker::Kind::Switch) << marker.detail;
}

TEST_F(WindowCalmTest, TheWheelOverAListScrollsThePanelThatHoldsIt) {
    options.size = {1280, 800};
    open();
    (void)editors();
    QCoreApplication::processEvents();
    QWidget* list = window().experiment().row("attention")->findChild<QComboBox*>();
    QScrollBar* bar = nullptr;
    for (QWidget* up = list; up != nullptr && bar == nullptr; up = up->parentWidget())
        if (auto* area = qobject_cast<QAbstractScrollArea*>(up)) bar = area->verticalScrollBar();
    ASSERT_NE(bar, nullptr);
    ASSERT_GT(bar->maximum(), 0);
    bar->setValue(0);
    wheel(list, -240);
    EXPECT_GT(bar->value(), 0);
}

TEST_F(WindowCalmTest, NoNoticeVerdictOrMistakeMovesARow) {
    setFakeStepMs(2);
    options.size = {1280, 800};
    open();
    (void)editors();
    press("Run");
    ASSERT_TRUE(reaches(40));
    QTest::qWait(50);
    const auto before = rows();
    window().notice().say(NoticeBar::Kind::Error, QString("A sentence that goes on and on. ").repeated(12), "Do something");
    EXPECT_EQ(rows(), before) << "a notice";
    Q_EMIT window().experiment().row("layers")->committed("layers", "-3");
    EXPECT_EQ(rows(), before) << "a mistake";
    Q_EMIT window().experiment().row("layers")->committed("layers", "4");
    window().notice().hide();
    Q_EMIT window().experiment().row("amp")->committed("amp", "bf16");
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().flipStrip().isVisible(); }, 5000));
    EXPECT_EQ(rows(), before) << "a flip that is being measured";
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().flipStrip().reading().note.contains("comparisons without a flip"); }, 5000));
    EXPECT_EQ(rows(), before) << "a verdict";
    picture(window(), "flip-inconclusive");
    Q_EMIT window().experiment().row("amp")->committed("amp", "fp16");
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().experiment().row("amp")->problem().contains("float16"); }, 5000));
    EXPECT_EQ(rows(), before) << "a refusal";
    Q_EMIT window().experiment().row("context")->committed("context", "256");
    EXPECT_EQ(rows(), before) << "what waits for the next run";
    window().sessions().offerUndo(7, "a name");
    EXPECT_EQ(rows(), before) << "what can be undone";
}

TEST_F(WindowCalmTest, AReplayThatComesAndGoesMovesNothing) {
    for (const QSize size : {QSize(1024, 640), QSize(1280, 800)}) {
        options.size = size;
        open();
        runAndStop(20);
        const auto before = rows();
        const QRect charts = window().livePage().geometry();
        Q_EMIT window().sessions().replayRequested(1);
        ASSERT_TRUE(QTest::qWaitFor([&] { return place->stage().replay().history()->rows() > 0 && window().transport().isVisible(); }, 5000));
        QTest::qWait(200);
        const QWidget& bar = window().transport();
        auto now = rows();
        EXPECT_EQ(now["pages"].y(), before.at("pages").y() + bar.height()) << "the pages begin below it";
        now["pages"] = before.at("pages");
        EXPECT_EQ(now, before) << size.width() << ": nothing else moves";
        EXPECT_EQ(window().livePage().width(), charts.width());
        const QTabBar* tabs = window().pages().tabBar();
        const QPoint corner = bar.mapTo(&window(), QPoint());
        EXPECT_GE(corner.y(), tabs->mapTo(&window(), QPoint(0, tabs->height())).y()) << "under the tabs, not over them";
        EXPECT_LE(corner.y() + bar.height(), window().livePage().mapTo(&window(), QPoint()).y() + 1) << "above the page, not over it";
        EXPECT_EQ(bar.width(), window().livePage().width()) << "a row of its own";
        for (const auto* part : bar.findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
            if (!part->isVisible()) continue;
            EXPECT_TRUE(bar.rect().contains(part->geometry())) << size.width() << " " << part->metaObject()->className();
        }
        picture(window(), QString("replay-%1").arg(size.width()));
        key(Qt::Key_Escape);
        EXPECT_FALSE(window().transport().isVisible());
        EXPECT_TRUE(QTest::qWaitFor([&] { return rows() == before && window().livePage().geometry() == charts; }, 2000)) << size.width();
        place.reset();
        QFile::remove(options.database);
    }
}

TEST_F(WindowCalmTest, ARefusedRunLeavesNoPreparingBehind) {
    open();
    const auto barSays = [&](const QString& text) {
        for (const auto* label : window().runBar().findChildren<QLabel*>())
            if (label->isVisible() && label->text().contains(text)) return true;
        return false;
    };
    setFakeRefusal("essay.txt is empty.");
    for (const bool afterARun : {false, true}) {
        if (afterARun) {
            setFakeRefusal({});
            runAndStop(10);
            setFakeRefusal("essay.txt is empty.");
        }
        press("Run");
        ASSERT_TRUE(QTest::qWaitFor([&] { return !place->runs().busy() && barSays("not started") && !window().notice().sentence().isEmpty(); }, 5000))
            << afterARun;
        EXPECT_FALSE(barSays("preparing"));
        EXPECT_TRUE(barSays("loss –")) << "the figures of the run before it are not its own";
        EXPECT_TRUE(barSays("– tok/s"));
        EXPECT_EQ(window().notice().sentence(), "essay.txt is empty.");
        const LogModel& log = place->stage().live().log();
        for (int row = 0; row < log.rowCount(); ++row)
            EXPECT_FALSE(log.index(row).data().toString().contains("The run ended")) << log.index(row).data().toString().toStdString();
    }
    setFakeRefusal({});
    press("Run");
    ASSERT_TRUE(reaches(10));
    EXPECT_FALSE(barSays("not started"));
}

TEST_F(WindowCalmTest, AStoppedRunLeavesNoMeasuringBehind) {
    setFakeStepMs(20);
    open();
    press("Run");
    ASSERT_TRUE(reaches(30));
    Q_EMIT window().experiment().row("amp")->committed("amp", "bf16");
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().flipStrip().reading().note.contains("measuring: 0 of 20"); }, 5000));
    press("Stop");
    ASSERT_TRUE(idle());
    EXPECT_TRUE(QTest::qWaitFor([&] { return !window().flipStrip().reading().note.contains("measuring"); }, 2000))
        << window().flipStrip().reading().note.toStdString();
}

TEST_F(WindowCalmTest, ABadgeGoesWithTheContextItWasMeasuredIn) {
    setFakeStepMs(0.3);
    open();
    runPastShams();
    Q_EMIT window().experiment().row("amp")->committed("amp", "bf16");
    const auto badge = [&] {
        for (const auto* label : window().experiment().row("amp")->findChildren<QLabel*>())
            if (!label->isHidden() && label->text().startsWith("bf16 ×")) return true;
        return false;
    };
    ASSERT_TRUE(QTest::qWaitFor(badge, 5000));
    press("Stop");
    ASSERT_TRUE(idle());
    const auto with = [&](const char* key, const char* text) {
        Q_EMIT window().experiment().row(key)->committed(key, text);
        return badge();
    };
    EXPECT_TRUE(with("amp", "off")) << "its own value is not its context";
    EXPECT_TRUE(with("lr", "0.002")) << "what does not change the time of a step is none";
    EXPECT_FALSE(with("layers", "6")) << "another shape";
    EXPECT_TRUE(with("layers", "4"));
    EXPECT_FALSE(with("attention", "manual")) << "another switch";
    EXPECT_TRUE(with("attention", "auto"));
}

}  // namespace
}  // namespace stepscope
