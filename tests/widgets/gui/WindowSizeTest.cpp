// The window in little room: it fits the screen it is opened on, can be made small, and nothing of it is cut off.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QGuiApplication>
#include <QLabel>
#include <QScreen>
#include <QTabBar>
#include <QTabWidget>

#include "WindowFixture.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/compare/ComparePage.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/ladder/LadderPage.h"
#include "widgets/panels/operations/OperationsPage.h"
#include "widgets/panels/query/QueryPage.h"
#include "widgets/panels/sessions/SessionsPanel.h"
#include "widgets/timeline/TimelinePage.h"

namespace stepscope {
namespace {

class WindowSizeTest : public WindowTest {
protected:
    // A plain label or a button that is narrower than its text is cut without a sign; other labels elide or wrap.
    void noTextIsCut(const std::string& where) {
        for (const auto* label : window().findChildren<QLabel*>()) {
            if (!label->isVisible() || label->text().isEmpty() || label->wordWrap() || qobject_cast<const ElidedLabel*>(label) != nullptr) continue;
            if (label->inherits("stepscope::ToneLabel") && label->sizePolicy().horizontalPolicy() == QSizePolicy::Ignored)
                continue;  // draws an ellipsis itself
            EXPECT_GE(label->width() + 1, label->fontMetrics().horizontalAdvance(label->text().section('\n', 0, 0)))
                << where << ": " << label->text().toStdString();
        }
        for (const auto* button : window().findChildren<QAbstractButton*>()) {
            if (!button->isVisible() || button->text().isEmpty() || button->objectName().startsWith("qt_")) continue;
            EXPECT_GE(button->width(), button->minimumSizeHint().width()) << where << ": " << button->text().toStdString();
        }
    }
};

TEST_F(WindowSizeTest, TheFirstWindowLiesWithinTheScreen) {
    open();
    const QRect screen = QGuiApplication::primaryScreen()->availableGeometry();
    // The screen of a test may be smaller than the smallest window: then that is what it is.
    const QRect room = screen | QRect(window().pos(), QSize(960, 508));
    EXPECT_TRUE(room.contains(window().geometry()))
        << window().geometry().width() << "x" << window().geometry().height() << " at " << window().geometry().x() << "," << window().geometry().y()
        << " of " << screen.width() << "x" << screen.height();
}

TEST_F(WindowSizeTest, AllPagesAreNamedInAWindow1280Wide) {
    options.size = {1280, 800};
    open();
    const QTabBar& tabs = *window().pages().tabBar();
    for (int page = 0; page < tabs.count(); ++page)
        EXPECT_TRUE(tabs.rect().contains(tabs.tabRect(page))) << tabs.tabText(page).toStdString() << " is scrolled out of sight";
}

// Half of 1920x1080, as a desktop with a factor of 2 has it, less a title bar.
TEST_F(WindowSizeTest, ItCanBeMadeAsSmallAsALargeFactorNeeds) {
    open();
    press("Run");
    ASSERT_TRUE(reaches(5));
    for (int page = 0; page < window().pages().count(); ++page) {
        window().pages().setCurrentIndex(page);
        QCoreApplication::processEvents();
        EXPECT_LE(window().minimumSizeHint().width(), 960) << page;
        EXPECT_LE(window().minimumSizeHint().height(), 508) << page;
    }
}

TEST_F(WindowSizeTest, AtASmallSizeEveryPartLiesWithinItsParentAndTextsEndWithAnEllipsis) {
    options.size = {1024, 640};
    open();
    press("Run");
    ASSERT_TRUE(reaches(20));
    QTest::qWait(300);
    for (const QWidget* panel : {static_cast<QWidget*>(&window().runBar()), static_cast<QWidget*>(&window().sessions())})
        for (const auto* child : panel->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
            if (!child->isVisible() || child->isWindow()) continue;
            EXPECT_TRUE(panel->rect().contains(child->geometry()))
                << child->metaObject()->className() << " " << child->accessibleName().toStdString();
        }
    noTextIsCut("live");
}

// Every page, beside the panel of the experiment, at the smallest size that is promised and at that of a laptop.
TEST_F(WindowSizeTest, AtNoSmallSizeIsATextOfAnyPageOrOfThePanelBesideItCut) {
    open();
    press("Run");
    ASSERT_TRUE(reaches(5));
    for (const QSize size : {QSize(960, 508), QSize(1024, 640)}) {
        window().resize(size);
        for (int page = 0; page < window().pages().count(); ++page) {
            window().pages().setCurrentIndex(page);
            QTest::qWait(100);
            noTextIsCut(fmt::format("{} at {}x{}", window().pages().tabText(page).toStdString(), size.width(), size.height()));
            picture(window(), QString("small-%1-%2").arg(size.width()).arg(page));
        }
    }
}

// Where a page is too narrow for its tools in a row, they take two.
TEST_F(WindowSizeTest, AtASmallSizeNoToolOfAPageIsCutOrLiesOverAnother) {
    options.size = {1024, 640};
    open();
    for (QWidget* page : {static_cast<QWidget*>(&window().comparePage()), static_cast<QWidget*>(&window().ladderPage()),
                          static_cast<QWidget*>(&window().timelinePage()), static_cast<QWidget*>(&window().operationsPage()),
                          static_cast<QWidget*>(&window().queryPage())}) {
        window().pages().setCurrentWidget(page);
        QTest::qWait(100);
        picture(window(), "small-" + page->accessibleName());
        std::vector<std::pair<QRect, QString>> tools;
        for (const auto* tool : page->findChildren<QWidget*>()) {
            const auto* button = qobject_cast<const QAbstractButton*>(tool);
            const bool spin = qobject_cast<const QAbstractSpinBox*>(tool) != nullptr;
            if (!tool->isVisible() || (button == nullptr && !spin) || tool->objectName().startsWith("qt_")) continue;
            const QRect place(tool->mapTo(page, QPoint()), tool->size());
            const QString name = tool->accessibleName().isEmpty() && button != nullptr ? button->text() : tool->accessibleName();
            if (button != nullptr && !button->text().isEmpty()) {
                EXPECT_GE(tool->width(), tool->minimumSizeHint().width()) << name.toStdString();
            }
            EXPECT_LE(place.right(), page->width()) << name.toStdString();
            for (const auto& [other, what] : tools) EXPECT_FALSE(place.intersects(other)) << name.toStdString() << " and " << what.toStdString();
            tools.emplace_back(place, name);
        }
        EXPECT_GE(tools.size(), 3u) << page->accessibleName().toStdString();
    }
}

}  // namespace
}  // namespace stepscope
