// The window by the keyboard: what single keys do, and where they are typed instead.
#include <gtest/gtest.h>

#include <QLineEdit>
#include <QListView>
#include <QPlainTextEdit>
#include <QTabWidget>

#include "WindowFixture.h"
#include "widgets/panels/GuidePanel.h"
#include "widgets/panels/SessionsPanel.h"
#include "widgets/panels/TextPage.h"

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
