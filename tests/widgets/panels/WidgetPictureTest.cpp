// What a widget draws, as a picture and as a drawing in a file, from the menu that it has for that.
#include <gtest/gtest.h>

#include <QAction>
#include <QClipboard>
#include <QFile>
#include <QFileDialog>
#include <QGuiApplication>
#include <QImage>
#include <QMimeData>
#include <QPainter>
#include <QTemporaryDir>
#include <QTest>
#include <QWidget>
#include <cmath>
#include <memory>

#include "widgets/charts/experiment/RatioChart.h"
#include "widgets/charts/experiment/StudyChart.h"
#include "widgets/charts/query/QueryChart.h"
#include "widgets/panels/compare/MemoryBars.h"
#include "widgets/panels/compare/WaterfallChart.h"
#include "widgets/panels/experiment/SchedulePreview.h"
#include "widgets/panels/inference/PruningCurve.h"
#include "widgets/panels/workers/WorkersMap.h"
#include "widgets/style/CsvText.h"
#include "widgets/style/WidgetPicture.h"
#include "widgets/timeline/TimelineView.h"
#include "widgets/timeline/panes/FlameView.h"
#include "widgets/timeline/panes/LayersPane.h"
#include "widgets/timeline/panes/RooflinePane.h"

namespace stepscope {
namespace {

QAction* actionOf(const QWidget& widget, const QString& words) {
    for (QAction* action : widget.actions())
        if (action->text() == words) return action;
    return nullptr;
}

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
    EXPECT_EQ(timeline.actions().size(), 3);
    EXPECT_EQ(flame.actions().size(), 5);
    offerPicture(widget, "square");
    ASSERT_EQ(widget.actions().size(), 3);
    widget.show();
    actionOf(widget, "Save as PNG…")->trigger();
    auto* dialog = widget.findChild<QFileDialog*>();
    ASSERT_NE(dialog, nullptr);
    dialog->close();
    Q_EMIT dialog->fileSelected(folder.filePath("square.png"));
    EXPECT_EQ(QImage(folder.filePath("square.png")).size(), QSize(120, 80));
}

TEST_F(WidgetPicture, IsCopiedAsAPictureAndAsADrawing) {
    offerPicture(widget, "square");
    ASSERT_NE(actionOf(widget, "Copy the picture"), nullptr);
    actionOf(widget, "Copy the picture")->trigger();
    const QMimeData* copied = QGuiApplication::clipboard()->mimeData();
    ASSERT_NE(copied, nullptr);
    const auto image = copied->imageData().value<QImage>();
    EXPECT_EQ(image.size(), QSize(120, 80));
    EXPECT_EQ(image.pixelColor(40, 40), QColor(Qt::red));
    EXPECT_TRUE(copied->data("image/svg+xml").contains("#ff0000"));
    EXPECT_EQ(actionOf(widget, "Save as CSV…"), nullptr) << "there are no values";
}

TEST_F(WidgetPicture, ItsValuesAreCopiedAndSavedAsTheyAreThen) {
    QString values = "before\n";
    offerPicture(widget, "square", [&values] { return values; });
    values = "side\n30\n";
    ASSERT_NE(actionOf(widget, "Copy the values"), nullptr);
    actionOf(widget, "Copy the values")->trigger();
    EXPECT_EQ(QGuiApplication::clipboard()->text(), values);
    widget.show();
    ASSERT_NE(actionOf(widget, "Save as CSV…"), nullptr);
    actionOf(widget, "Save as CSV…")->trigger();
    auto* dialog = widget.findChild<QFileDialog*>();
    ASSERT_NE(dialog, nullptr);
    dialog->close();
    Q_EMIT dialog->fileSelected(folder.filePath("square.csv"));
    EXPECT_EQ(contentOf("square.csv"), values.toUtf8());
}

TEST(CsvText, QuotesWhatHasToBeAndLeavesOutWhatIsNoNumber) {
    CsvText csv({"name", "a, b"});
    csv.row({"say \"so\"", csvNumber(std::nan(""))});
    csv.row({"1.5 µs", csvMilliseconds(1'500)});
    EXPECT_EQ(csv.text(), QString("name,\"a, b\"\n\"say \"\"so\"\"\",\n1.5 µs,0.0015\n"));
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

std::unique_ptr<QWidget> picturedWorkers() {
    WorkerGrid grid{.workers = 2, .columns = {{.first = 5, .last = 8}}, .mean = {2e6, kUnknown}, .most = {3e6, kUnknown}};
    auto map = std::make_unique<WorkersMap>();
    map->setGrid(grid);
    return map;
}
std::unique_ptr<QWidget> picturedQuery() {
    QueryPicture picture{.kind = QueryPicture::Kind::Line, .xName = "step", .x = {1, 2, 3}};
    picture.lines = {{.name = "loss", .values = {3.5, kUnknown, 3}}};
    picture.low = 3;
    picture.high = 3.5;
    auto chart = std::make_unique<QueryChart>();
    chart->setPicture(picture);
    return chart;
}
std::unique_ptr<QWidget> picturedRoofline() {
    RooflineDot dot{.name = "aten::mm", .role = "mlp/up", .phase = "forward", .type = "Float", .layer = 2, .calls = 4, .time = {2'000'000}};
    dot.intensity = 10;
    dot.flopsPerSecond = 1e9;
    dot.bytesPerSecond = 1e8;
    dot.share = 0.25;
    auto view = std::make_unique<RooflineView>();
    view->setDots({dot}, {});
    return view;
}
std::unique_ptr<QWidget> picturedLayers() {
    LayerGrid grid{.layers = {0, -1}, .roles = {"mlp/up", "mlp/down"}};
    grid.cells = {{{.time = 1'500'000, .calls = 3}, {}}, {{}, {}}};
    auto map = std::make_unique<HeatMap>();
    map->setGrid(grid, 1);
    return map;
}

struct PicturedChart {
    const char* name;
    std::unique_ptr<QWidget> (*made)();
    const char* drawn;   // words that are painted, and are not its accessible name
    const char* values;  // the first two lines of its CSV
};

struct PictureOfAChart : ::testing::TestWithParam<PicturedChart> {};

TEST_P(PictureOfAChart, IsSavedFromItsMenuWithTheWordsThatStandInIt) {
    const std::unique_ptr<QWidget> chart = GetParam().made();
    chart->resize(900, 300);
    EXPECT_EQ(chart->contextMenuPolicy(), Qt::ActionsContextMenu);
    QStringList offered;
    for (const QAction* action : chart->actions()) offered << action->text();
    EXPECT_EQ(offered, (QStringList{"Copy the picture", "Copy the values", "Save as PNG…", "Save as SVG…", "Save as CSV…"}));
    actionOf(*chart, "Copy the values")->trigger();
    const QString values = QGuiApplication::clipboard()->text();
    EXPECT_TRUE(values.startsWith(GetParam().values)) << values.toStdString();
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

INSTANTIATE_TEST_SUITE_P(
    All, PictureOfAChart,
    ::testing::Values(
        PicturedChart{"Pairs", picturedPairs, "above 1, B is faster", "Pair,A / B,Low,High,Left out,Made anew\n1,1.1,,,0,0\n"},
        PicturedChart{"Rows", picturedRows, "times as fast as the bottom", "Name,Times as fast,Low,High,State,Note\nfusion,1.3,1.2,1.4,measured,\n"},
        PicturedChart{"Reasons", picturedReasons, "matrix products",
                      "Name,From (ms),To (ms),Low (ms),High (ms)\nA,0,100,,\nmatrix products,100,82,,\n"},
        PicturedChart{"Memory", picturedMemory, "Memory at its highest point", "Side,Kind,Bytes,Known by\nA,weights,3000000000,prediction\n"},
        PicturedChart{"Pruning", picturedPruning, "zeros among the blocks", "Name,Zeros,Perplexity grows by,Low,High\n50 %,0.5,0.2,,\n"},
        PicturedChart{"Schedule", picturedSchedule, ">steps<", "Step,Learning rate\n1,"},
        PicturedChart{"Workers", picturedWorkers, "worker 1", "Worker,First step,Last step,Mean (ms),Slowest (ms)\n0,5,8,2,3\n1,5,8,,\n"},
        PicturedChart{"Query", picturedQuery, "loss", "step,loss\n1,3.5\n2,\n"},
        PicturedChart{"Roofline", picturedRoofline, "FLOP a byte",
                      "Name,Layer,Role,Phase,Type,Calls,Time (ms),FLOP a byte,FLOP/s,B/s,Share (%),Bound by\n"
                      "aten::mm,2,mlp/up,forward,Float,4,2,10,1000000000,100000000,25,\n"},
        PicturedChart{"Layers", picturedLayers, "layer 0", "Layer,Part of the model,Time (ms),Calls\nlayer 0,mlp/up,1.5,3\n"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace stepscope
