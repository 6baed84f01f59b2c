// The chart of the rows of a ladder or a race: where its axis reaches, what a row without a figure does to it, and what is drawn of each kind of row.
#include <gtest/gtest.h>

#include <QImage>
#include <QPixmap>
#include <cmath>
#include <limits>

#include "widgets/charts/experiment/StudyChart.h"

namespace stepscope {
namespace {

using StudyKind = StudyBar::Kind;
constexpr double kNoFigure = std::numeric_limits<double>::quiet_NaN();

StudyBar studyBar(double ratio, double low = 0, double high = 0, StudyKind kind = StudyKind::Measured) {
    return {"row", ratio, low, high, kind, "not yet"};
}

double widthOfFactor(const StudyChart& chart, double from, double to) {
    return chart.placeOf(to) - chart.placeOf(from);
}

// Pixels of a row's own colour in the column through its dot.
int inkAt(StudyChart& chart, double ratio) {
    const QImage image = chart.grab().toImage();
    const QRgb ink = chart.palette().color(QPalette::WindowText).rgb();
    const int x = static_cast<int>(chart.placeOf(ratio));
    int count = 0;
    for (int y = 2; y < image.height() - 2; ++y) count += image.pixel(x, y) == ink ? 1 : 0;
    return count;
}

TEST(StudyChart, OneIsAlwaysInSightWithRoomOnEitherSide) {
    StudyChart chart;
    chart.resize(600, 300);
    for (const double ratio : {1.0, 0.5, 1.001, 3.0}) {
        chart.setBars({studyBar(ratio, ratio * 0.99, ratio * 1.01)}, "times as fast");
        EXPECT_LT(chart.scale().low, 1) << ratio;
        EXPECT_GT(chart.scale().high, 1) << ratio;
        EXPECT_LT(chart.scale().low, ratio * 0.99) << ratio;
        EXPECT_GT(chart.scale().high, ratio * 1.01) << ratio;
        EXPECT_TRUE(chart.scale().logarithmic);
    }
    chart.setBars({studyBar(0.5), studyBar(2)}, "times as fast");
    EXPECT_NEAR(widthOfFactor(chart, 0.5, 1), widthOfFactor(chart, 1, 2), 1e-6) << "half as fast is as far as twice as fast";
}

TEST(StudyChart, SaysThatNothingIsMeasuredWhereThereIsNoRow) {
    StudyChart chart;
    const QString empty = chart.accessibleDescription();
    EXPECT_EQ(empty, "Nothing has been measured yet.");
    chart.setBars({studyBar(2), studyBar(kNoFigure)}, "times as fast");
    EXPECT_EQ(chart.accessibleDescription(), "2 rows, 1 of them with a figure. The table has them all.");
    chart.setBars({}, {});
    EXPECT_EQ(chart.accessibleDescription(), empty);
}

TEST(StudyChart, AnIntervalThatSaysNothingYetDoesNotSqueezeTheOthers) {
    StudyChart chart;
    chart.resize(600, 300);
    chart.setBars({studyBar(1.2, 1.1, 1.3), studyBar(1.1, 0.001, 900)}, "times as fast");
    EXPECT_GT(widthOfFactor(chart, 1.1, 1.3), 20);
    EXPECT_EQ(chart.placeOf(900), chart.placeOf(1e300)) << "what is further stands at the edge";
    EXPECT_EQ(chart.placeOf(0.001), chart.placeOf(1e-300));
    EXPECT_LE(chart.placeOf(900), chart.width());
}

TEST(StudyChart, RowsWithoutAFigureDecideNothingAndAreCountedApart) {
    StudyChart chart;
    chart.resize(600, 300);
    EXPECT_EQ(chart.accessibleDescription(), "Nothing has been measured yet.");
    chart.setBars({studyBar(1.2, 1.1, 1.3)}, "times as fast");
    const Scale alone = chart.scale();
    std::vector<StudyBar> bars{studyBar(1.2, 1.1, 1.3)};
    for (const double none : {0.0, -3.0, kNoFigure, std::numeric_limits<double>::infinity()}) bars.push_back(studyBar(none, 0.001, 1000));
    chart.setBars(bars, "times as fast");
    EXPECT_EQ(chart.scale().low, alone.low);
    EXPECT_EQ(chart.scale().high, alone.high);
    EXPECT_TRUE(chart.accessibleDescription().startsWith("5 rows, 1 of them with a figure")) << chart.accessibleDescription().toStdString();
    EXPECT_FALSE(chart.grab().isNull());
}

TEST(StudyChart, ADotIsFullOnceItIsMeasuredAndHollowWhileItRuns) {
    StudyChart chart;
    chart.resize(600, 300);
    chart.setBars({studyBar(1.5)}, "times as fast");
    const int full = inkAt(chart, 1.5);
    chart.setBars({studyBar(1.5, 0, 0, StudyKind::Running)}, "times as fast");
    const int hollow = inkAt(chart, 1.5);
    EXPECT_GE(full, 6);
    EXPECT_LT(hollow, full - 3);
    chart.setBars({studyBar(1.5, 0, 0, StudyKind::Out)}, "times as fast");
    EXPECT_EQ(inkAt(chart, 1.5), 0) << "what is out is quieter";
}

TEST(StudyChart, ANoteStandsWhereThereIsNoDot) {
    StudyChart chart;
    chart.resize(600, 300);
    chart.setBars({studyBar(kNoFigure)}, "times as fast");
    const QImage noted = chart.grab().toImage();
    StudyBar silent = studyBar(kNoFigure);
    silent.note.clear();
    chart.setBars({silent}, "times as fast");
    EXPECT_TRUE(chart.grab().toImage() != noted);
    StudyBar measured = studyBar(1.3);
    chart.setBars({measured}, "times as fast");
    const QImage dot = chart.grab().toImage();
    measured.note = "something else";
    chart.setBars({measured}, "times as fast");
    EXPECT_TRUE(chart.grab().toImage() == dot) << "where there is a dot there is no note";
}

TEST(StudyChart, LongNamesLeaveMostOfTheWidthToTheFigures) {
    StudyChart chart;
    chart.resize(600, 300);
    StudyBar bar = studyBar(1.2);
    bar.name = QString(400, 'w');
    chart.setBars({bar}, "times as fast");
    EXPECT_LT(chart.placeOf(chart.scale().low), 0.45 * chart.width());
    EXPECT_GT(chart.placeOf(chart.scale().high), 0.9 * chart.width());
}

TEST(StudyChart, IsDrawnAtAnySizeWithNoneOneOrManyRows) {
    StudyChart chart;
    for (const std::size_t many : {std::size_t{0}, std::size_t{1}, std::size_t{200}}) {
        chart.setBars(std::vector<StudyBar>(many, studyBar(1.1, 1.0, 1.2, StudyKind::Chosen)), "times as fast");
        for (const QSize size : {QSize(1, 1), QSize(30, 20), QSize(220, 100), QSize(1600, 900)}) {
            chart.resize(size);
            EXPECT_FALSE(chart.grab().isNull()) << many;
            EXPECT_TRUE(std::isfinite(chart.placeOf(1))) << many;
        }
    }
    EXPECT_GE(chart.minimumSizeHint().height(), 200 * 15) << "all rows, one below the other";
    EXPECT_GE(chart.sizeHint().height(), chart.minimumSizeHint().height());
}

TEST(StudyChart, SettingsThatBeginAndEndAlikeAreToldFromEachOther) {
    StudyChart chart;
    std::vector<StudyBar> bars(3, studyBar(1.2));
    bars[0].name = "the present settings";
    bars[1].name = "fusion=off amp=bf16 attention=manual";
    bars[2].name = "fusion=off amp=fp16 attention=manual";
    for (const int width : {360, 600, 1200}) {
        chart.setBars(bars, "times as fast");
        chart.resize(width, 300);
        for (std::size_t row = 0; row < bars.size(); ++row)
            EXPECT_EQ(chart.nameLines(row).join(' '), bars[row].name) << width << ": broken between settings, and nothing left out";
    }
    chart.resize(360, 300);
    EXPECT_GT(chart.nameLines(1).size(), 1);
    const int narrow = chart.minimumSizeHint().height();
    chart.resize(1200, 300);
    EXPECT_EQ(chart.nameLines(1).size(), 1);
    EXPECT_LT(chart.minimumSizeHint().height(), narrow) << "lines have their room";
    chart.setBars({studyBar(kNoFigure), studyBar(1.1)}, "times as fast");
    EXPECT_EQ(chart.readOut({10, chart.height() - 2}), "");
    EXPECT_EQ(chart.readOut({10, 60}), "row\nnot yet") << "all of it where the pointer is";
}

TEST(StudyChart, ItsNumbersStayInSightWhereThePageScrolls) {
    QWidget page;
    StudyChart chart(&page);
    chart.resize(600, 900);
    chart.setBars(std::vector<StudyBar>(40, studyBar(2, 1.8, 2.2)), "times as fast");
    const auto numbers = [&](int top) {
        const QRgb ground = chart.palette().color(QPalette::Base).rgb();
        const QImage image = chart.grab().toImage();
        int drawn = 0;
        for (int y = top + 20; y < top + 34; ++y)
            for (int x = static_cast<int>(chart.placeOf(1)) - 12; x < static_cast<int>(chart.placeOf(1)) - 2; ++x)
                drawn += image.pixel(x, y) != ground ? 1 : 0;
        return drawn;
    };
    EXPECT_GT(numbers(0), 3);
    chart.move(0, -400);
    EXPECT_GT(numbers(400), 3) << "the head is where the page is";
    EXPECT_EQ(numbers(0), 0);
}

}  // namespace
}  // namespace stepscope
