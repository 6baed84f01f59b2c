// The replay's transport bar: play, pause, speed, scrubbing and its markers.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <algorithm>

#include "widgets/panels/run/ScrubBar.h"
#include "widgets/panels/run/TransportBar.h"

namespace stepscope {
namespace {

class TransportBarTest : public testing::Test {
protected:
    TransportBarTest() {
        bar.resize(900, 32);
        bar.show();
        bar.setPlace({TimeNs::fromSeconds(25), TimeNs::fromSeconds(100), 250, 1000, false, false});
        QObject::connect(&bar, &TransportBar::seekRequested, &bar, [this](TimeNs at) { sought.push_back(at.seconds()); });
    }
    QToolButton* button(const QString& name) const {
        for (auto* found : bar.findChildren<QToolButton*>())
            if (found->accessibleName() == name) return found;
        return nullptr;
    }
    QLabel* label(const QString& text) const {
        for (auto* found : bar.findChildren<QLabel*>())
            if (found->text() == text) return found;
        return nullptr;
    }
    TransportBar bar;
    std::vector<double> sought;
};

TEST_F(TransportBarTest, PlaysPausesAndGoesToEitherEnd) {
    QSignalSpy play(&bar, &TransportBar::playRequested), pause(&bar, &TransportBar::pauseRequested), end(&bar, &TransportBar::endRequested);
    QTest::mouseClick(button("Play"), Qt::LeftButton);
    EXPECT_EQ(play.size(), 1);
    bar.setPlace({TimeNs::fromSeconds(26), TimeNs::fromSeconds(100), 260, 1000, true, false});
    QTest::mouseClick(button("Pause"), Qt::LeftButton);
    EXPECT_EQ(pause.size(), 1);
    QTest::mouseClick(button("To the end"), Qt::LeftButton);
    EXPECT_EQ(end.size(), 1);
    QTest::mouseClick(button("To the start"), Qt::LeftButton);
    EXPECT_EQ(sought, std::vector<double>{0.0});
}

TEST_F(TransportBarTest, TheWholeNameOfTheSessionIsSaidLetterByLetter) {
    bar.setName("<b>theirs</b>");
    const auto labels = bar.findChildren<QLabel*>();
    EXPECT_TRUE(std::ranges::any_of(labels, [](const QLabel* one) { return one->toolTip() == "<p>&lt;b&gt;theirs&lt;/b&gt;</p>"; }));
}

TEST_F(TransportBarTest, SeeksWhereTheScrubberIsLetGo) {
    auto* scrub = bar.findChild<ScrubBar*>();
    const QPoint middle = scrub->rect().center();
    QTest::mousePress(scrub, Qt::LeftButton, {}, QPoint(20, middle.y()));
    EXPECT_TRUE(sought.empty());
    QTest::mouseMove(scrub, middle);
    QTest::mouseRelease(scrub, Qt::LeftButton, {}, middle);
    ASSERT_EQ(sought.size(), 1u);
    EXPECT_NEAR(sought[0], 50, 2);
}

TEST_F(TransportBarTest, IsNotPulledAwayWhileItIsDragged) {
    auto* scrub = bar.findChild<ScrubBar*>();
    QTest::mousePress(scrub, Qt::LeftButton, {}, scrub->rect().center());
    bar.setPlace({TimeNs::fromSeconds(99), TimeNs::fromSeconds(100), 990, 1000, true, false});
    EXPECT_NEAR(scrub->position(), 0.5, 0.02);
    QTest::mouseRelease(scrub, Qt::LeftButton, {}, scrub->rect().center());
}

TEST_F(TransportBarTest, MovesByTheKeyboardToo) {
    auto* scrub = bar.findChild<ScrubBar*>();
    QTest::keyClick(scrub, Qt::Key_Right);
    QTest::keyClick(scrub, Qt::Key_End);
    ASSERT_EQ(sought.size(), 2u);
    EXPECT_NEAR(sought[0], 26, 0.1);
    EXPECT_NEAR(sought[1], 100, 0.1);
}

TEST(ScrubBar, OfStopsStandsAtThemAloneAndAKeyGoesToTheNext) {
    ScrubBar bar;
    bar.resize(200, 26);
    bar.setStops(4);
    std::vector<double> sought;
    QObject::connect(&bar, &ScrubBar::released, [&](double fraction) { sought.push_back(fraction); });
    QTest::keyClick(&bar, Qt::Key_Right);
    QTest::keyClick(&bar, Qt::Key_PageDown);
    QTest::mouseClick(&bar, Qt::LeftButton, {}, QPoint(8 + 184 * 7 / 10, 13));
    QTest::keyClick(&bar, Qt::Key_End);
    QTest::keyClick(&bar, Qt::Key_Right);
    EXPECT_EQ(sought, (std::vector<double>{0.25, 0.5, 0.75, 1, 1}));
}

TEST_F(TransportBarTest, OffersSpeedsFromOneToAThousand) {
    auto* speeds = bar.findChild<QComboBox*>();
    EXPECT_EQ(speeds->itemData(0).toInt(), 1);
    EXPECT_EQ(speeds->itemData(speeds->count() - 1).toInt(), 1000);
    QSignalSpy changed(&bar, &TransportBar::speedChanged);
    QTest::keyClick(speeds, Qt::Key_End);
    ASSERT_GE(changed.size(), 1);
    EXPECT_EQ(bar.speed(), 1000);
}

TEST_F(TransportBarTest, ShowsTheStepAndTheTime) {
    EXPECT_NE(label("step 250 / 1\u202F000"), nullptr);
    EXPECT_NE(label("00:25 / 01:40"), nullptr);
}

TEST_F(TransportBarTest, TheNameGivesWayToTheSliderAndTheTimeIsNeverCut) {
    QWidget centre;  // which may be narrower than its parts want
    centre.setMinimumWidth(1);
    auto* narrow = new TransportBar(&centre);
    narrow->setName("tiny-cpu amp=bf16 fusion=kernels batch-size=24 context=256");
    narrow->setPlace({TimeNs::fromSeconds(33), TimeNs::fromSeconds(35), 1800, 1909, false, false});
    centre.show();
    for (const int width : {1200, 700, 560, 480}) {
        centre.resize(width, 40);
        narrow->setGeometry(0, 0, width, 34);
        QCoreApplication::processEvents();
        EXPECT_GE(narrow->findChild<ScrubBar*>()->width(), TransportBar::kLeastSlider) << width;
        for (const auto* part : narrow->findChildren<QLabel*>()) {
            if (!part->isVisible()) continue;
            EXPECT_LE(part->fontMetrics().horizontalAdvance(part->text()), part->width()) << width << ": " << part->text().toStdString();
            EXPECT_LE(part->geometry().right(), width) << part->text().toStdString();
            if (width > 700 || !part->text().startsWith("replay")) continue;
            EXPECT_TRUE(part->text().endsWith("…")) << part->text().toStdString();
        }
        bool time = false;
        for (const auto* part : narrow->findChildren<QLabel*>()) time = time || (part->isVisible() && part->text() == "00:33 / 00:35");
        EXPECT_TRUE(time) << width;
        EXPECT_LE(narrow->findChildren<QToolButton*>().last()->geometry().right(), width) << "the way back is whole";
    }
}

// At 1024x640 the row of tabs leaves no more.
TEST_F(TransportBarTest, BesideTheTabsOfASmallWindowTheEndGoesAndTheSliderStaysUsable) {
    QWidget centre;
    centre.setMinimumWidth(1);
    auto* narrow = new TransportBar(&centre);
    narrow->setName("tiny-cpu");
    narrow->setPlace({TimeNs::fromSeconds(33), TimeNs::fromSeconds(35), 1800, 1909, false, false});
    centre.show();
    centre.resize(300, 40);
    narrow->setGeometry(0, 0, 300, 30);
    QCoreApplication::processEvents();
    EXPECT_GE(narrow->findChild<ScrubBar*>()->width(), 64);
    const auto* speed = narrow->findChild<QComboBox*>();
    EXPECT_GE(speed->width(), speed->sizeHint().width()) << "its number is read whole";
    int shown = 0;
    for (const auto* part : narrow->findChildren<QLabel*>()) {
        if (!part->isVisible()) continue;
        EXPECT_EQ(part->text(), "00:33");
        EXPECT_EQ(part->toolTip(), "00:33 of 00:35");
        ++shown;
    }
    EXPECT_EQ(shown, 1);
    for (const auto* part : narrow->findChildren<QToolButton*>()) {
        if (!part->isVisible()) continue;
        EXPECT_LE(part->geometry().right(), 300) << part->accessibleName().toStdString();
        EXPECT_GE(part->width(), part->minimumSizeHint().width() - 4) << part->accessibleName().toStdString();
    }
}

TEST_F(TransportBarTest, TheSliderStandsStillWhileDigitsChange) {
    QCoreApplication::processEvents();
    const QRect before = bar.findChild<ScrubBar*>()->geometry();
    bar.setPlace({TimeNs::fromSeconds(1), TimeNs::fromSeconds(100), 1, 1000, true, false});
    QCoreApplication::processEvents();
    EXPECT_EQ(bar.findChild<ScrubBar*>()->geometry(), before);
}

}  // namespace
}  // namespace stepscope
