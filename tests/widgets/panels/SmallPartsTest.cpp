// Hints, notices, the shortcuts overlay, icons, folding sections, labels with colours in their line.
#include <gtest/gtest.h>

#include <QApplication>
#include <QCheckBox>
#include <QDir>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QStyleOption>
#include <QTest>
#include <QToolButton>
#include <cmath>
#include <set>

#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/FlowLayout.h"
#include "widgets/panels/FoldSection.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/diagnose/DiagnosePage.h"
#include "widgets/panels/guide/ShortcutsOverlay.h"
#include "widgets/panels/run/HintStrip.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/SeriesColours.h"
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

double contrastOf(const QColor& a, const QColor& b) {
    const auto light = [](const QColor& colour) {
        const auto part = [](double share) { return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4); };
        return 0.2126 * part(colour.redF()) + 0.7152 * part(colour.greenF()) + 0.0722 * part(colour.blueF());
    };
    const double one = light(a) + 0.05, other = light(b) + 0.05;
    return std::max(one, other) / std::min(one, other);
}

TEST(Theme, UncheckedBoxesAndTheValueOfADisabledToggleAreSeen) {
    for (const Theme theme : {Theme::Dark, Theme::Light}) {
        applyStyle(*qApp, theme);
        const QPalette palette = QApplication::palette();
        EXPECT_GE(contrastOf(palette.color(QPalette::Disabled, QPalette::HighlightedText), palette.color(QPalette::Disabled, QPalette::Highlight)),
                  3);
        QCheckBox box("unchecked");
        box.show();
        QCoreApplication::processEvents();
        QStyleOptionButton option;
        option.initFrom(&box);
        const QRect indicator = box.style()->subElementRect(QStyle::SE_CheckBoxIndicator, &option, &box);
        const QImage image = box.grab().toImage();
        double best = 1;
        for (int y = indicator.top(); y <= indicator.top() + 2; ++y)
            best = std::max(best, contrastOf(image.pixelColor(indicator.center().x(), y), palette.color(QPalette::Window)));
        EXPECT_GE(best, theme == Theme::Dark ? 3 : 1.5) << (theme == Theme::Dark ? "dark" : "light");
    }
    applyStyle(*qApp, Theme::Light);
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

TEST(NoticeBar, TellsApartTwoThingsThatItSaysInTheSameWords) {
    QWidget area;
    area.show();
    NoticeBar bar(&area, Qt::TopEdge);
    EXPECT_EQ(bar.saying(), 0);
    bar.say(NoticeBar::Kind::Error, "The file is gone.");
    const int first = bar.saying();
    EXPECT_NE(first, 0);
    bar.say(NoticeBar::Kind::Error, "The file is gone.");
    EXPECT_NE(bar.saying(), first);
    bar.hide();
    EXPECT_EQ(bar.saying(), 0);
}

TEST(ShortcutsOverlay, KeepsAGapBehindLongKeys) {
    QWidget window;
    window.resize(800, 600);
    const QString keys = "Up, Down, Ctrl+wheel and more of them";
    const ShortcutsOverlay overlay({{keys, "other lanes"}}, &window);
    EXPECT_GE(overlay.keysColumn(), QFontMetrics(headFont(overlay.font())).horizontalAdvance(keys) + 8);
}

TEST(ShortcutsOverlay, CoversTheWindowAndGoesWithAnyKey) {
    QWidget window;
    window.resize(800, 600);
    QPushButton first("first", &window), second("second", &window);
    ShortcutsOverlay overlay({{"Space", "run"}}, &window);
    window.show();
    window.activateWindow();
    second.setFocus();
    ASSERT_TRUE(QTest::qWaitFor([&] { return second.hasFocus(); }));
    overlay.open();
    EXPECT_TRUE(overlay.isVisible());
    EXPECT_EQ(overlay.geometry(), window.rect());
    EXPECT_TRUE(overlay.hasFocus());
    QTest::keyClick(&overlay, Qt::Key_A);
    EXPECT_FALSE(overlay.isVisible());
    EXPECT_TRUE(second.hasFocus()) << "the keyboard is where it was";
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

TEST(FlowLayout, BeginsARowWhereTheNextHasNoRoom) {
    QWidget page;
    auto* flow = new FlowLayout(&page);
    std::vector<QWidget*> parts;
    for (int i = 0; i < 4; ++i) {
        parts.push_back(new QWidget);
        parts.back()->setFixedSize(100, 20);
        flow->addWidget(parts.back());
    }
    parts[1]->hide();
    page.show();
    const auto rows = [&](int width) {
        page.resize(width, 200);
        QCoreApplication::processEvents();
        std::set<int> tops;
        for (const QWidget* part : parts) {
            if (part->isHidden()) continue;
            tops.insert(part->y());
            EXPECT_LE(part->geometry().right(), width) << width;
        }
        EXPECT_EQ(flow->heightForWidth(width), static_cast<int>(tops.size()) * 20 + (static_cast<int>(tops.size()) - 1) * flow->spacing());
        return tops.size();
    };
    EXPECT_EQ(rows(400), 1u) << "what is hidden takes no room";
    EXPECT_EQ(rows(250), 2u);
    EXPECT_EQ(rows(110), 3u);
    EXPECT_EQ(flow->minimumSize().width(), 100) << "of the widest alone";
}

TEST(DiagnosePageParts, GreyButtonsHaveTheirReasonInSight) {
    DiagnosePage page;
    page.setBusy(DiagnoseBusy::NoEngine);
    EXPECT_FALSE(page.lookButton()->isEnabled());
    EXPECT_EQ(page.state(), "The engine is starting.");
    page.setBusy(DiagnoseBusy::Training);
    EXPECT_TRUE(page.state().contains("stop it first, or wait for its end")) << "no look waits by itself: " << page.state().toStdString();
    page.setBusy(DiagnoseBusy::Free);
    EXPECT_TRUE(page.state().contains("nothing is recorded")) << page.state().toStdString();
}

// Letters as large as these have a middle that nothing softens.
TEST(ElidedLabel, DrawsEachPartInItsColourOnOneLineAndOnTwo) {
    for (const int lines : {1, 2}) {
        ElidedLabel label(Tone::Muted, lines);
        QFont large = label.font();
        large.setPixelSize(48);
        large.setBold(true);
        label.setFont(large);
        label.setText("HHHH HHHH HHHH");
        label.setTints({{0, 4, SeriesRole::A}, {5, 4, SeriesRole::B}});
        label.resize(lines == 1 ? label.sizeHint().width() + 20 : label.fontMetrics().horizontalAdvance("HHHH HHHH") + 10, label.sizeHint().height());
        const QImage drawn = label.grab().toImage();
        const bool dark = isDark(label.palette());
        const auto boxOf = [&](const QColor& ink) {  // of what is drawn in it
            QRect box;
            for (int y = 0; y < drawn.height(); ++y)
                for (int x = 0; x < drawn.width(); ++x)
                    if (drawn.pixelColor(x, y).rgb() == ink.rgb()) box |= QRect(x, y, 1, 1);
            return box;
        };
        const QRect a = boxOf(seriesColour(SeriesRole::A, dark)), b = boxOf(seriesColour(SeriesRole::B, dark)),
                    rest = boxOf(label.palette().color(QPalette::WindowText));
        ASSERT_FALSE(a.isEmpty() || b.isEmpty() || rest.isEmpty()) << lines;
        EXPECT_LT(a.right(), b.left()) << lines << ": side by side";
        if (lines == 1) {
            EXPECT_LT(b.right(), rest.left());
        } else {
            EXPECT_LT(b.bottom(), rest.top()) << "what did not fit stands below, in the label's tone";
        }
    }
}

}  // namespace
}  // namespace stepscope
