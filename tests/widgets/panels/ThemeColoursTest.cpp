// What a person reads can be read in either theme: contrasts of texts on every ground, lines that are told from it, phases that are told apart, and
// fonts that stay readable.
#include <gtest/gtest.h>

#include <QApplication>
#include <QFontMetrics>
#include <set>

#include "widgets/style/Metrics.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

constexpr QPalette::ColorRole kGrounds[] = {QPalette::Window, QPalette::Base, QPalette::AlternateBase, QPalette::Button};

class ThemeColours : public testing::TestWithParam<Theme> {
protected:
    void SetUp() override { applyStyle(*qApp, GetParam()); }
    void TearDown() override { applyStyle(*qApp, Theme::Light); }
    static QPalette palette() { return QApplication::palette(); }
    static bool dark() { return GetParam() == Theme::Dark; }
};

TEST_P(ThemeColours, TheThemeIsWhatWasAskedFor) {
    EXPECT_EQ(isDark(palette()), dark());
    EXPECT_EQ(currentTheme(), GetParam());
}

TEST_P(ThemeColours, WordsAreReadableOnEveryGround) {
    for (const auto ground : kGrounds) {
        const QColor under = palette().color(ground);
        EXPECT_GE(contrast(palette().color(QPalette::WindowText), under), 7) << ground;
        EXPECT_GE(contrast(palette().color(QPalette::Text), under), 7) << ground;
        for (const QColor& quiet : {mutedText(palette()), palette().color(QPalette::PlaceholderText), palette().color(QPalette::Link),
                                    warningColour(dark()), errorColour(dark())})
            EXPECT_GE(contrast(quiet, under), 4.5) << ground << ' ' << quiet.name().toStdString();
        EXPECT_LT(contrast(mutedText(palette()), under), contrast(palette().color(QPalette::Text), under)) << "quieter than the rest";
        EXPECT_LT(contrast(palette().color(QPalette::Disabled, QPalette::Text), under), contrast(mutedText(palette()), under)) << "what is off";
    }
    EXPECT_GE(contrast(palette().color(QPalette::ToolTipText), palette().color(QPalette::ToolTipBase)), 7);
}

TEST_P(ThemeColours, WhatIsSelectedIsReadableAlsoWhereItIsSwitchedOff) {
    for (const auto group : {QPalette::Active, QPalette::Inactive, QPalette::Disabled})
        EXPECT_GE(contrast(palette().color(group, QPalette::HighlightedText), palette().color(group, QPalette::Highlight)), 4.5) << group;
    EXPECT_EQ(palette().color(QPalette::Highlight), accentColour(dark()));
}

TEST_P(ThemeColours, TheGridIsQuieterThanAnyLine) {
    const QColor base = palette().color(QPalette::Base);
    for (const SeriesRole role : {SeriesRole::Train, SeriesRole::Validation, SeriesRole::Cpu, SeriesRole::Gpu, SeriesRole::GradientNorm,
                                  SeriesRole::LearningRate, SeriesRole::Memory, SeriesRole::Throughput})
        EXPECT_GT(contrast(seriesColour(role, dark()), base), 2 * contrast(gridColour(palette()), base)) << static_cast<int>(role);
}

TEST_P(ThemeColours, PhasesOfAStepHaveColoursOfTheirOwn) {
    std::set<QRgb> colours{seriesColour(SeriesRole::Idle, dark()).rgb()};
    for (std::size_t phase = 0; phase < kPhases; ++phase) colours.insert(seriesColour(roleOf(static_cast<Phase>(phase)), dark()).rgb());
    EXPECT_EQ(colours.size(), kPhases + 1) << "and so has what belongs to none";
}

TEST_P(ThemeColours, AFaintLineIsStillSeenWhereTheFullOneIs) {
    const QColor base = palette().color(QPalette::Base), train = seriesColour(SeriesRole::Train, dark());
    EXPECT_GE(contrast(faintButReadable(train, base), base), 3);
    EXPECT_LT(contrast(faintButReadable(train, base), base), contrast(train, base)) << "and fainter than it";
    const QColor grid = gridColour(palette());
    EXPECT_EQ(faintButReadable(grid, base), grid) << "never stronger than the colour itself";
}

INSTANTIATE_TEST_SUITE_P(Themes, ThemeColours, testing::Values(Theme::Light, Theme::Dark));

TEST(Colours, ContrastIsThatOfTheStandardWhicheverIsFirst) {
    EXPECT_NEAR(contrast(Qt::black, Qt::white), 21, 1e-3);
    EXPECT_DOUBLE_EQ(contrast(Qt::white, Qt::black), contrast(Qt::black, Qt::white));
    EXPECT_DOUBLE_EQ(contrast(Qt::red, Qt::red), 1);
    EXPECT_NEAR(contrast(QColor(0x767676), Qt::white), 4.54, 0.01) << "the grey that is just enough on white";
    EXPECT_EQ(faint(Qt::black, Qt::white, 0).rgb(), QColor(Qt::white).rgb());
    EXPECT_EQ(faint(Qt::black, Qt::white, 1).rgb(), QColor(Qt::black).rgb());
    EXPECT_NEAR(faint(Qt::black, Qt::white, 0.25).red(), 191, 1);
    EXPECT_EQ(faint(QColor(0x0072b2), Qt::white, 0.5).alpha(), 255) << "opaque: beads where lines overlap else";
}

TEST(Fonts, DigitsStandUnderEachOtherAndSmallIsSmallerThanTheHead) {
    const QFont base = QApplication::font();
    const QFontMetricsF tabular(tabularFont(base));
    for (char digit = '0'; digit <= '9'; ++digit)
        EXPECT_NEAR(tabular.horizontalAdvance(QChar::fromLatin1(digit)), tabular.horizontalAdvance(QChar::fromLatin1('0')), 0.01) << digit;
    EXPECT_LT(QFontMetricsF(smallFont(base)).height(), QFontMetricsF(headFont(base)).height() + 0.01);
    EXPECT_LE(QFontMetricsF(smallFont(base)).height(), QFontMetricsF(base).height());
    EXPECT_GT(QFontMetricsF(smallFont(base)).height(), 8) << "still readable";
}

}  // namespace
}  // namespace stepscope
