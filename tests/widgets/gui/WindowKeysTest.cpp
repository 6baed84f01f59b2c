// The window by the keyboard: what single keys do, and where they are typed instead.
#include <gtest/gtest.h>

#include <QAccessible>
#include <QComboBox>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QPlainTextEdit>
#include <QTabWidget>

#include "WindowFixture.h"
#include "widgets/charts/LivePage.h"
#include "widgets/panels/LogPanel.h"
#include "widgets/panels/TextPage.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/guide/GuidePanel.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {
namespace {

using WindowKeysTest = WindowTest;

TEST_F(WindowKeysTest, PausesAndGoesOnWithTheSpaceBarButNotWhileTyping) {
    open();
    window().activateWindow();
    EXPECT_FALSE(qobject_cast<QAbstractButton*>(QApplication::focusWidget())) << "Space would press it";
    key(Qt::Key_Space);
    ASSERT_TRUE(reaches(20));
    auto* search = window().sessions().findChild<QLineEdit*>();
    search->setFocus();
    QTest::keyClick(search, Qt::Key_Space);
    QTest::qWait(100);
    EXPECT_EQ(live().state()->state, RunState::Running);
    EXPECT_EQ(search->text(), " ");
    search->clear();
    window().sessions().view().setFocus();
    QTest::keyClick(&window().sessions().view(), Qt::Key_Space);
    ASSERT_TRUE(becomes(RunState::Paused));
    EXPECT_NE(button("Resume"), nullptr);
    QTest::keyClick(&window().sessions().view(), Qt::Key_Space);
    ASSERT_TRUE(becomes(RunState::Running));
}

TEST_F(WindowKeysTest, TheKeysOfThePagesAreNotTypedIntoThePrompt) {
    open();
    window().activateWindow();
    auto* prompt = window().textPage().findChild<QPlainTextEdit*>();
    const QString before = prompt->toPlainText();
    key(Qt::Key_2);
    EXPECT_TRUE(window().textPage().hasFocus());
    key(Qt::Key_1);
    EXPECT_EQ(window().pages().currentIndex(), 0);
    key(Qt::Key_2);
    QTest::mouseClick(prompt->viewport(), Qt::LeftButton);
    ASSERT_TRUE(prompt->hasFocus()) << "who clicks into it writes";
    QTest::keyClicks(prompt, "1");
    EXPECT_EQ(window().pages().currentIndex(), 1);
    EXPECT_NE(prompt->toPlainText(), before);
    key(Qt::Key_Escape);
    EXPECT_FALSE(prompt->hasFocus());
    key(Qt::Key_1);
    EXPECT_EQ(window().pages().currentIndex(), 0);
    key(Qt::Key_2);
    EXPECT_TRUE(window().textPage().hasFocus()) << "not the field that had it last";
}

TEST_F(WindowKeysTest, WhatHadTheKeyboardAndGoesLeavesItToNoField) {
    open();
    window().activateWindow();
    window().pages().setCurrentIndex(3);
    auto* field = window().pages().currentWidget()->findChild<QComboBox*>();
    ASSERT_NE(field, nullptr);
    field->setFocus();
    window().pages().setCurrentIndex(0);
    QApplication::processEvents();
    auto* search = window().sessions().findChild<QLineEdit*>();
    EXPECT_FALSE(search->hasFocus());
    key(Qt::Key_2);
    EXPECT_TRUE(search->text().isEmpty()) << search->text().toStdString();
    EXPECT_EQ(window().pages().currentIndex(), 1);
}

TEST_F(WindowKeysTest, F6JumpsFromPanelToPanelAndBack) {
    open();
    window().activateWindow();
    window().livePage().setFocus();
    const auto inside = [&](const QWidget& panel) {
        const QWidget* focus = QApplication::focusWidget();
        return focus != nullptr && (focus == &panel || panel.isAncestorOf(focus));
    };
    const auto f6 = [&](Qt::KeyboardModifiers with = Qt::NoModifier) { QTest::keyClick(QApplication::focusWidget(), Qt::Key_F6, with); };
    f6();
    EXPECT_TRUE(inside(window().sessions()));
    f6();
    f6();
    EXPECT_TRUE(inside(window().runBar()) || inside(window().log()) || inside(window().experiment()));
    for (int i = 0; i < 5 && !inside(window().experiment()); ++i) f6();
    EXPECT_TRUE(inside(window().experiment()));
    f6();
    EXPECT_TRUE(inside(window().livePage()));
    f6(Qt::ShiftModifier);
    EXPECT_TRUE(inside(window().experiment()));
}

TEST_F(WindowKeysTest, F10AndAltAloneOpenTheMenuWhoseEntriesHaveLetters) {
    open();
    window().activateWindow();
    window().livePage().setFocus();
    const auto opened = [] {
        const bool open = QTest::qWaitFor([] { return qobject_cast<QMenu*>(QApplication::activePopupWidget()) != nullptr; }, 1000);
        if (auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget())) {
            for (const QAction* action : menu->actions()) {
                if (action->isSeparator()) continue;
                EXPECT_TRUE(action->text().contains('&')) << action->text().toStdString();
            }
            menu->close();
        }
        return open;
    };
    // showMenu() has an event loop of its own: whoever looks does so from within.
    const auto whileOpen = [&](const auto& press) {
        bool seen = false;
        QTimer::singleShot(200, &window(), [&] { seen = opened(); });
        press();
        QTest::qWait(600);
        return seen;
    };
    EXPECT_TRUE(whileOpen([] { QTest::keyClick(QApplication::focusWidget(), Qt::Key_F10); }));
    EXPECT_TRUE(whileOpen([] {
        QTest::keyPress(QApplication::focusWidget(), Qt::Key_Alt, Qt::AltModifier);
        QTest::keyRelease(QApplication::focusWidget(), Qt::Key_Alt, Qt::NoModifier);
    }));
    EXPECT_FALSE(whileOpen([] {
        QTest::keyPress(QApplication::focusWidget(), Qt::Key_Alt, Qt::AltModifier);
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Left, Qt::AltModifier);
        QTest::keyRelease(QApplication::focusWidget(), Qt::Key_Alt, Qt::NoModifier);
    })) << "Alt was for something else";
}

TEST_F(WindowKeysTest, AScreenReaderIsToldTheNameOfEveryList) {
    open();
    for (auto* list : window().findChildren<QComboBox*>()) {
        if (list->window() != &window() && list->accessibleName().isEmpty()) continue;  // inside a dialog of Qt's
        EXPECT_FALSE(list->accessibleName().isEmpty()) << list->toolTip().toStdString();
        QString name;
        if (auto* reader = QAccessible::queryAccessibleInterface(list))
            for (const auto& relation : reader->relations(QAccessible::Label)) name = relation.first->text(QAccessible::Name);
        EXPECT_EQ(name, list->accessibleName());
    }
}

TEST_F(WindowKeysTest, FoldsTheSidePanelsAwayAndBringsThemBackAsWideAsTheyWere) {
    options.size = {1280, 800};
    open();
    window().activateWindow();
    for (const auto& [name, panel] :
         {std::pair<QString, QWidget*>{"Experiment panel", &window().experiment()}, {"Sessions panel", &window().sessions()}}) {
        QToolButton* fold = nullptr;
        for (auto* found : window().findChildren<QToolButton*>())
            if (found->accessibleName() == name) fold = found;
        ASSERT_NE(fold, nullptr) << name.toStdString();
        EXPECT_FALSE(fold->shortcut().isEmpty());
        ASSERT_TRUE(QTest::qWaitFor([&] { return fold->isChecked(); }));
        const int panelWidth = panel->width(), chartsWidth = window().livePage().width();
        QTest::mouseClick(fold, Qt::LeftButton);
        EXPECT_TRUE(QTest::qWaitFor([&] { return window().livePage().width() >= chartsWidth + panelWidth - 8; })) << name.toStdString();
        EXPECT_FALSE(fold->isChecked());
        QTest::mouseClick(fold, Qt::LeftButton);
        EXPECT_TRUE(QTest::qWaitFor([&] { return panel->width() == panelWidth; })) << panel->width() << " of " << panelWidth;
    }
}

TEST_F(WindowKeysTest, OpensTheGuideWithF1BesideTheRun) {
    open();
    window().activateWindow();
    key(Qt::Key_F1);
    auto* guide = window().findChild<GuidePanel*>();
    ASSERT_NE(guide, nullptr);
    EXPECT_TRUE(guide->isVisible());
    EXPECT_TRUE(guide->isWindow());
}

}  // namespace
}  // namespace stepscope
