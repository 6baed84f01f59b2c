// Hints, notices, the shortcuts overlay, icons, folding sections.
#include <gtest/gtest.h>

#include <QApplication>
#include <QDir>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include "widgets/panels/FoldSection.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/guide/ShortcutsOverlay.h"
#include "widgets/panels/run/HintStrip.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

TEST(HintStrip, ShowsThreeHintsThatGoAwayForGood) {
    QSettings().remove("hints");
    {
        HintStrip strip;
        strip.show();
        EXPECT_EQ(strip.shown(), 3);
        QTest::mouseClick(strip.findChild<QToolButton*>(), Qt::LeftButton);
        EXPECT_EQ(strip.shown(), 2);
    }
    HintStrip next;
    EXPECT_EQ(next.shown(), 2);
    next.learnt(HintStrip::Flip);
    next.learnt(HintStrip::Replay);
    EXPECT_EQ(next.shown(), 0);
    EXPECT_TRUE(next.isHidden());
    EXPECT_TRUE(HintStrip().isHidden());
}

TEST(NoticeBar, StaysUntilItIsClosedAndOffersOneAction) {
    QWidget area;
    area.resize(600, 300);
    area.show();
    NoticeBar bar(&area, Qt::TopEdge);
    bar.say(NoticeBar::Kind::Error, "The file is gone.", "Choose another");
    EXPECT_EQ(bar.sentence(), "The file is gone.");
    QSignalSpy acted(&bar, &NoticeBar::acted);
    for (auto* button : bar.findChildren<QToolButton*>())
        if (button->text() == "Choose another") QTest::mouseClick(button, Qt::LeftButton);
    EXPECT_EQ(acted.size(), 1);
    EXPECT_TRUE(bar.isHidden());
}

TEST(ShortcutsOverlay, CoversTheWindowAndGoesWithAnyKey) {
    QWidget window;
    window.resize(800, 600);
    ShortcutsOverlay overlay({{"Space", "run"}}, &window);
    window.show();
    overlay.open();
    EXPECT_TRUE(overlay.isVisible());
    EXPECT_EQ(overlay.geometry(), window.rect());
    QTest::keyClick(&overlay, Qt::Key_A);
    EXPECT_FALSE(overlay.isVisible());
}

TEST(LineIcon, DrawsEveryIconOfTheProgramInTheColourOfTheText) {
    int seen = 0;
    for (const QString& name : QDir(":/icons").entryList({"*.svg"})) {
        if (name == "stepscope.svg") continue;
        ++seen;
        for (const Theme theme : {Theme::Light, Theme::Dark}) {
            applyStyle(*qApp, theme);
            const QColor ink = QApplication::palette().color(QPalette::ButtonText);
            const QImage drawn = lineIcon(name.chopped(4)).pixmap(32, 32).toImage();
            bool inked = false;
            for (int y = 0; y < drawn.height(); ++y)
                for (int x = 0; x < drawn.width(); ++x) inked = inked || drawn.pixelColor(x, y).rgb() == ink.rgb();
            EXPECT_TRUE(inked) << name.toStdString();
        }
    }
    EXPECT_GT(seen, 20);
    applyStyle(*qApp, Theme::Light);
}

TEST(LineIcon, HasAnApplicationIconThatIsNotBlankAtSixteenPixels) {
    const QImage icon = applicationIcon().pixmap(16, 16).toImage();
    ASSERT_FALSE(icon.isNull());
    QSet<QRgb> colours;
    for (int y = 0; y < icon.height(); ++y)
        for (int x = 0; x < icon.width(); ++x) colours.insert(icon.pixel(x, y));
    EXPECT_GT(colours.size(), 8);
}

TEST(ToneLabel, FollowsASwitchFromLightToDark) {
    ToneLabel label(Tone::Error, "wrong");
    const QColor light = label.palette().color(QPalette::WindowText);
    applyStyle(*qApp, Theme::Dark);
    QTest::qWait(1);
    EXPECT_NE(label.palette().color(QPalette::WindowText), light);
    applyStyle(*qApp, Theme::Light);
    QTest::qWait(1);
    EXPECT_EQ(label.palette().color(QPalette::WindowText), light);
}

TEST(FoldSection, RemembersWhetherItWasOpen) {
    QSettings().remove("fold");
    {
        FoldSection section("Model", false);
        section.show();
        EXPECT_FALSE(section.isOpen());
        QTest::mouseClick(section.findChild<QToolButton*>(), Qt::LeftButton);
        EXPECT_TRUE(section.isOpen());
    }
    EXPECT_TRUE(FoldSection("Model", false).isOpen());
    QSettings().remove("fold");
}

}  // namespace
}  // namespace stepscope
