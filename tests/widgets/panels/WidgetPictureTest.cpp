// What a widget draws, as a picture and as a drawing in a file, from the menu that it has for that.
#include <gtest/gtest.h>

#include <QAction>
#include <QFile>
#include <QFileDialog>
#include <QImage>
#include <QPainter>
#include <QTemporaryDir>
#include <QTest>
#include <QWidget>
#include <memory>

#include "widgets/charts/experiment/RatioChart.h"
#include "widgets/charts/experiment/StudyChart.h"
#include "widgets/panels/compare/MemoryBars.h"
#include "widgets/panels/compare/WaterfallChart.h"
#include "widgets/panels/experiment/SchedulePreview.h"
#include "widgets/panels/inference/PruningCurve.h"
#include "widgets/style/WidgetPicture.h"
#include "widgets/timeline/TimelineView.h"
#include "widgets/timeline/panes/FlameView.h"

namespace stepscope {
namespace {

class RedSquare : public QWidget {
protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.fillRect(QRect(10, 10, 20, 20), Qt::red);
    }
};

struct WidgetPicture : ::testing::Test {
    WidgetPicture() { widget.resize(60, 40); }
    QByteArray contentOf(const QString& name) const {
        QFile file(folder.filePath(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    QTemporaryDir folder;
    RedSquare widget;
};

TEST_F(WidgetPicture, IsAPictureOfTwiceThePixelsOrADrawing) {
    ASSERT_TRUE(saveWidgetPicture(widget, folder.filePath("x.png")));
    const QImage image(folder.filePath("x.png"));
    EXPECT_EQ(image.size(), QSize(120, 80));
    EXPECT_EQ(image.pixelColor(40, 40), QColor(Qt::red));
    EXPECT_NE(image.pixelColor(4, 4), QColor(Qt::red));
    ASSERT_TRUE(saveWidgetPicture(widget, folder.filePath("x.SVG")));
    EXPECT_TRUE(contentOf("x.SVG").contains("<svg"));
    EXPECT_TRUE(contentOf("x.SVG").contains("#ff0000"));
}

TEST_F(WidgetPicture, SaysWhatIsWrongWithAName) {
    EXPECT_NE(saveWidgetPicture(widget, folder.filePath("x.gif")).error().sentence.find("neither .png nor .svg"), std::string::npos);
    EXPECT_NE(saveWidgetPicture(widget, folder.filePath("no/x.png")).error().sentence.find("Choose another folder"), std::string::npos);
}

TEST_F(WidgetPicture, IsSavedFromTheMenuOfWhatDrawsItself) {
    TimelineView timeline;
    FlameView flame;
    EXPECT_EQ(timeline.actions().size(), 2);
    EXPECT_EQ(flame.actions().size(), 2);
    offerPicture(widget, "square");
    ASSERT_EQ(widget.actions().size(), 2);
    widget.show();
    widget.actions().front()->trigger();
    auto* dialog = widget.findChild<QFileDialog*>();
    ASSERT_NE(dialog, nullptr);
    dialog->close();
    Q_EMIT dialog->fileSelected(folder.filePath("square.png"));
    EXPECT_EQ(QImage(folder.filePath("square.png")).size(), QSize(120, 80));
}

std::unique_ptr<QWidget> picturedPairs() {
    auto chart = std::make_unique<RatioChart>();
    chart->setPairs({{.ratio = 1.1}, {.ratio = 1.2, .number = 1}}, 0.01);
    return chart;
}
std::unique_ptr<QWidget> picturedRows() {
    auto chart = std::make_unique<StudyChart>();
    chart->setBars({{.name = "fusion", .ratio = 1.3, .low = 1.2, .high = 1.4, .kind = StudyBar::Kind::Measured, .note = {}}},
                   "times as fast as the bottom");
    return chart;
}
std::unique_ptr<QWidget> picturedReasons() {
    WaterfallResult result;
    result.measuredA = 100;
    result.measuredB = 80;
    ClassDifference products;
    products.kind = WorkClass::MatrixProducts;
    products.a = 60;
    products.b = 42;
    result.classes.push_back(products);
    auto chart = std::make_unique<WaterfallChart>();
    chart->setResult(result);
    return chart;
}
std::unique_ptr<QWidget> picturedMemory() {
    SideMemory side;
    side.parts.push_back({"weights", 3e9});
    auto bars = std::make_unique<MemoryBars>();
    bars->setSides(side, side);
    return bars;
}
std::unique_ptr<QWidget> picturedPruning() {
    PrunedPoint point;
    point.name = "50 %";
    point.zeros = 0.5;
    point.change = 0.2;
    auto curve = std::make_unique<PruningCurve>();
    curve->setPoints({point});
    return curve;
}
std::unique_ptr<QWidget> picturedSchedule() {
    auto preview = std::make_unique<SchedulePreview>();
    preview->setConfig({});
    return preview;
}

struct PicturedChart {
    const char* name;
    std::unique_ptr<QWidget> (*made)();
    const char* drawn;  // words that are painted, and are not its accessible name
};

struct PictureOfAChart : ::testing::TestWithParam<PicturedChart> {};

TEST_P(PictureOfAChart, IsSavedFromItsMenuWithTheWordsThatStandInIt) {
    const std::unique_ptr<QWidget> chart = GetParam().made();
    chart->resize(900, 300);
    EXPECT_EQ(chart->contextMenuPolicy(), Qt::ActionsContextMenu);
    QStringList offered;
    for (const QAction* action : chart->actions()) offered << action->text();
    EXPECT_EQ(offered, (QStringList{"Save as PNG…", "Save as SVG…"}));
    const QTemporaryDir folder;
    ASSERT_TRUE(saveWidgetPicture(*chart, folder.filePath("x.svg")));
    QFile file(folder.filePath("x.svg"));
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    const QString drawing = QString::fromUtf8(file.readAll());
    EXPECT_FALSE(chart->accessibleName().isEmpty());
    EXPECT_TRUE(drawing.contains(chart->accessibleName())) << "its title";
    EXPECT_TRUE(drawing.contains(GetParam().drawn)) << drawing.toStdString();
    ASSERT_TRUE(saveWidgetPicture(*chart, folder.filePath("x.png")));
    EXPECT_EQ(QImage(folder.filePath("x.png")).size(), QSize(1800, 600));
}

INSTANTIATE_TEST_SUITE_P(All, PictureOfAChart,
                         ::testing::Values(PicturedChart{"Pairs", picturedPairs, "above 1, B is faster"},
                                           PicturedChart{"Rows", picturedRows, "times as fast as the bottom"},
                                           PicturedChart{"Reasons", picturedReasons, "matrix products"},
                                           PicturedChart{"Memory", picturedMemory, "Memory at its highest point"},
                                           PicturedChart{"Pruning", picturedPruning, "zeros among the blocks"},
                                           PicturedChart{"Schedule", picturedSchedule, ">steps<"}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace stepscope
