// The captures of a stored session in the window: listed with their sizes, one removed, and every page that showed it follows.
#include <gtest/gtest.h>

#include <QMessageBox>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>
#include <QTableWidget>

#include "WindowFixture.h"
#include "widgets/panels/operations/OperationsPage.h"
#include "widgets/panels/sessions/CapturesDialog.h"
#include "widgets/panels/sessions/SessionsPanel.h"
#include "widgets/style/Theme.h"
#include "widgets/timeline/TimelinePage.h"

namespace stepscope {
namespace {

class WindowCapturesTest : public WindowTest {
protected:
    CapturesDialog& dialog() { return place->captures().dialog(); }
    bool says(const QString& text) {
        return QTest::qWaitFor([&] { return dialog().sentence().contains(text); }, 8000);
    }
    void captureOnce() {
        bool captured = false;
        QObject until;
        QObject::connect(&place->stage().live(), &LiveFeed::captured, &until, [&] { captured = true; });
        place->runs().send(Capture{.steps = 3});
        ASSERT_TRUE(QTest::qWaitFor([&] { return captured; }, 5000));
    }
    void remove() {
        QTest::mouseClick(dialog().removeButton(), Qt::LeftButton);
        auto* question = dialog().findChild<QMessageBox*>();
        ASSERT_NE(question, nullptr);
        picture(*question, "captures-question");
        for (QAbstractButton* one : question->buttons())
            if (one->text().remove('&') == "Delete") return one->click();
    }
    void captureTwice() {
        options.size = {1280, 800};
        open();
        Q_EMIT window().experiment().row("steps")->committed("steps", "100000");
        press("Run");
        ASSERT_TRUE(reaches(20));
        captureOnce();
        ASSERT_TRUE(reaches(60));
        captureOnce();
        QTest::qWait(500);  // the recorder stores every 100 ms
    }
};

TEST_F(WindowCapturesTest, AreListedAndRemovedAndThePagesFollow) {
    captureTwice();
    Q_EMIT window().sessions().capturesRequested(1, "the live run");
    ASSERT_TRUE(says("2 captures")) << dialog().sentence().toStdString();
    remove();
    EXPECT_TRUE(says("still running")) << dialog().sentence().toStdString();
    press("Stop");
    ASSERT_TRUE(idle());
    window().pages().setCurrentWidget(&window().operationsPage());
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().operationsPage().sentence().contains("240 calls of operations in 6 captured steps"); }, 8000))
        << window().operationsPage().sentence().toStdString();
    Q_EMIT window().sessions().capturesRequested(1, "a run");
    ASSERT_TRUE(says("2 captures"));
    EXPECT_EQ(dialog().table()->item(0, 2)->text(), "L2");
    QTest::qWait(50);
    picture(dialog(), "captures");
    applyStyle(*qApp, Theme::Dark);
    QTest::qWait(50);
    picture(dialog(), "captures-dark");
    applyStyle(*qApp, Theme::Light);
    remove();
    ASSERT_TRUE(says("1 capture,")) << dialog().sentence().toStdString();
    EXPECT_TRUE(QTest::qWaitFor([&] { return window().operationsPage().sentence().contains("120 calls of operations in 3 captured steps"); }, 8000))
        << window().operationsPage().sentence().toStdString();
    remove();
    ASSERT_TRUE(says("Nothing was captured"));
    QTest::qWait(50);
    picture(dialog(), "captures-none");
    EXPECT_TRUE(QTest::qWaitFor([&] { return window().operationsPage().sentence().contains("No step of session 1"); }, 8000))
        << window().operationsPage().sentence().toStdString();
    Q_EMIT window().sessions().capturesRequested(99, "gone");
    EXPECT_TRUE(says("no session 99")) << dialog().sentence().toStdString();
}

TEST_F(WindowCapturesTest, OneIsShownInTheTimelineAndKeysGoToTheOthers) {
    captureTwice();
    press("Stop");
    ASSERT_TRUE(idle());
    Q_EMIT window().sessions().capturesRequested(1, "a run");
    ASSERT_TRUE(says("2 captures")) << dialog().sentence().toStdString();
    dialog().table()->selectRow(1);
    ASSERT_TRUE(dialog().showButton()->isEnabled());
    QTest::mouseClick(dialog().showButton(), Qt::LeftButton);
    EXPECT_FALSE(dialog().isVisible());
    EXPECT_EQ(window().pages().currentWidget(), &window().timelinePage());
    TimelineView& view = window().timelinePage().view();
    const auto& captures = view.content().captures;
    ASSERT_TRUE(QTest::qWaitFor([&] { return captures.size() == 2; }, 8000)) << captures.size();
    ASSERT_LT(captures[0].second, captures[1].first);
    const auto isSeen = [&](std::size_t place) {
        const double to = view.from() + view.nsPerPixel() * view.lanesRect().width();
        return view.from() <= static_cast<double>(captures[place].first) && to >= static_cast<double>(captures[place].second);
    };
    ASSERT_TRUE(QTest::qWaitFor([&] { return isSeen(1) && !isSeen(0); }, 8000));
    QTest::qWait(100);
    picture(window(), "captures-shown");
    QTest::keyClick(&view, Qt::Key_PageUp);
    EXPECT_TRUE(isSeen(0));
    EXPECT_FALSE(isSeen(1));
    QTest::keyClick(&view, Qt::Key_PageDown);
    EXPECT_TRUE(isSeen(1));
    EXPECT_FALSE(isSeen(0));
}

TEST_F(WindowCapturesTest, WhatWentWrongWithAnotherSessionIsNotToldOfTheOneThatIsShown) {
    open();
    runAndStop(10);
    Q_EMIT window().sessions().capturesRequested(1, "a run");
    ASSERT_TRUE(says("Nothing was captured")) << dialog().sentence().toStdString();
    int told = 0;
    QObject::connect(&place->captures(), &CapturesWiring::removed, &dialog(), [&](qint64) { ++told; });
    Q_EMIT dialog().removeRequested(99, 1);  // asked for before the dialog came to show session 1
    ASSERT_TRUE(QTest::qWaitFor([&] { return told == 1; }, 8000));
    EXPECT_TRUE(dialog().sentence().contains("Nothing was captured")) << dialog().sentence().toStdString();
}

}  // namespace
}  // namespace stepscope
