// The pictures among the panes below a timeline by themselves: a flame graph that zooms and searches, a heat map of layers, what memory held at its
// peak, and a roofline.
#include <QComboBox>
#include <QFile>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "PanesFixture.h"
#include "core/trace/AllocationCodec.h"
#include "widgets/style/WidgetPicture.h"
#include "widgets/timeline/panes/FlameView.h"
#include "widgets/timeline/panes/LayersPane.h"
#include "widgets/timeline/panes/MemoryPane.h"
#include "widgets/timeline/panes/PaneTable.h"
#include "widgets/timeline/panes/RooflinePane.h"

namespace stepscope {
namespace {

TEST(PanePictures, AFlameGraphZoomsSearchesAndTurns) {
    FlamePane pane;
    pane.resize(900, 300);
    pane.setView(paneView(true));
    pane.show();
    FlameView& flame = pane.flame();
    EXPECT_TRUE(flame.asCsv().startsWith("Row,Name,Caller,Calls,Total (ms),Self (ms)\n0,all,,")) << flame.asCsv().toStdString();
    const auto names = [&] {
        QStringList all;
        for (const auto& box : flame.boxes()) all << flame.facts(box.node).section('\n', 0, 0);
        return all;
    };
    // What is narrower than a pixel, a copy and a launch, has no box.
    EXPECT_EQ(names(), (QStringList{"all", "trainer", "stream 7 of GPU 0", "step", "gemm, \"wide\"", "aten::mm", "aten::gelu"}))
        << names().join('|').toStdString();
    const auto step = std::ranges::find_if(flame.boxes(), [&](const FlameBox& box) { return flame.facts(box.node).startsWith("step"); });
    ASSERT_NE(step, flame.boxes().end());
    const std::uint32_t node = step->node;
    QTest::mouseClick(&flame, Qt::LeftButton, {}, flame.rectOf(*step).center());
    EXPECT_EQ(flame.shown(), node);
    EXPECT_TRUE(flame.facts(node).contains("30.0")) << flame.facts(node).toStdString();
    QTest::keyClick(&flame, Qt::Key_Backspace);
    EXPECT_NE(flame.shown(), node);
    QTest::keyClick(&flame, Qt::Key_Escape);
    EXPECT_EQ(flame.shown(), 0u);
    pane.search()->setText("aten");
    EXPECT_EQ(flame.matching(), 9'200'000) << "once, with what it called";
    pane.search()->clear();
    pane.order()->setCurrentIndex(1);
    EXPECT_EQ(names().value(1), "step") << "18 ms of its own are most";
    QSignalSpy wanted(&pane, &Pane::nameWanted);
    QTest::mouseDClick(&flame, Qt::LeftButton, {}, flame.rectOf(flame.boxes().at(1)).center());
    ASSERT_EQ(wanted.count(), 1);
}

TEST(PanePictures, AFlameGraphIsGoneThroughByKeys) {
    FlamePane pane;
    pane.resize(900, 300);
    pane.setView(paneView(true));
    pane.show();
    FlameView& flame = pane.flame();
    const auto at = [&] { return flame.chosen() ? flame.facts(*flame.chosen()).section('\n', 0, 0) : QString(); };
    EXPECT_TRUE(flame.accessibleDescription().contains("arrow keys"));
    const std::vector<std::pair<Qt::Key, const char*>> ways{
        {Qt::Key_Down, "all"},     {Qt::Key_Down, "trainer"}, {Qt::Key_Right, "stream 7 of GPU 0"}, {Qt::Key_Right, "stream 7 of GPU 0"},
        {Qt::Key_Left, "trainer"}, {Qt::Key_Down, "step"},    {Qt::Key_Down, "aten::mm"},           {Qt::Key_Right, "aten::gelu"},
        {Qt::Key_Up, "step"}};
    for (const auto& [key, name] : ways) {
        QTest::keyClick(&flame, key);
        EXPECT_EQ(at(), name);
        EXPECT_TRUE(flame.accessibleDescription().startsWith(name)) << flame.accessibleDescription().toStdString();
    }
    QSignalSpy wanted(&pane, &Pane::nameWanted);
    QTest::keyClick(&flame, Qt::Key_Return, Qt::ShiftModifier);
    ASSERT_EQ(wanted.count(), 1);
    EXPECT_EQ(wanted.at(0).at(0).toString(), "step");
    QTest::keyClick(&flame, Qt::Key_Return);
    EXPECT_EQ(flame.shown(), *flame.chosen());
    QTest::keyClick(&flame, Qt::Key_Escape);
    EXPECT_EQ(flame.shown(), 0u);
    EXPECT_EQ(at(), "step") << "the keys stay where they were";
    pane.setView(paneView(false));
    EXPECT_FALSE(flame.chosen());
}

TEST(PanePictures, AFlameGraphCountsTheCallsOfWhatWasCalledAlone) {
    FlamePane pane;
    pane.resize(900, 300);
    pane.setView(paneView(true));
    pane.show();
    for (const FlameBox& box : pane.flame().boxes()) {
        const QString facts = pane.flame().facts(box.node);
        EXPECT_EQ(facts.contains("call"), box.row > 1) << facts.toStdString();
        EXPECT_FALSE(facts.contains("0 calls")) << facts.toStdString();
    }
}

TEST(PanePictures, BottomUpShowsWhatTheReaderTurned) {
    const PanesView view = paneView(true);
    RangePanes panes = *view.panes;
    panes.turned = FlameTree();
    NestedSlice one{.start = 0, .end = 1000, .text = 0, .self = 1000};
    panes.turned.add("turned before", {one}, {"by the reader"});
    PanesView other = view;
    other.panes = std::make_shared<const RangePanes>(std::move(panes));
    FlamePane pane;
    pane.resize(900, 300);
    pane.setView(other);
    pane.show();
    pane.order()->setCurrentIndex(1);
    EXPECT_TRUE(pane.asText().contains("by the reader")) << pane.asText().toStdString();
}

TEST(PanePictures, AFlameGraphThatNobodyTurnedIsAskedForOnceItIsDrawnBottomUp) {
    PanesView view = paneView(true);
    RangePanes panes = *view.panes;
    panes.turned = FlameTree();
    view.panes = std::make_shared<const RangePanes>(std::move(panes));
    FlamePane pane;
    QSignalSpy asked(&pane, &FlamePane::turnWanted);
    pane.resize(900, 300);
    pane.setView(view);
    pane.show();
    pane.order()->setCurrentIndex(2);
    EXPECT_EQ(asked.count(), 0) << "neither of these is turned";
    EXPECT_FALSE(pane.flame().boxes().empty());
    pane.order()->setCurrentIndex(1);
    EXPECT_EQ(asked.count(), 1);
    EXPECT_TRUE(pane.flame().boxes().empty()) << "until it is there";
    pane.setView(paneView(true));
    EXPECT_EQ(asked.count(), 1);
    EXPECT_FALSE(pane.flame().boxes().empty());
}

TEST(PanePictures, LayersOfACaptureWithoutAGpuAreThoseOfOperationsWhateverWasChosenBefore) {
    LayersPane pane;
    pane.setView(paneView(true));
    pane.where()->setCurrentIndex(1);
    pane.setView(paneView(false));
    EXPECT_FALSE(pane.map().grid().layers.empty());
    EXPECT_TRUE(pane.asText().contains("layer 1\tmlp/up")) << pane.asText().toStdString();
    EXPECT_EQ(pane.where()->currentIndex(), 0);
    EXPECT_FALSE(pane.where()->isVisibleTo(&pane)) << "there is nothing to choose";
    pane.setView(paneView(true));
    EXPECT_TRUE(pane.where()->isVisibleTo(&pane));
    EXPECT_FALSE(pane.map().grid().layers.empty()) << "of kernels without a place operations are shown";
    pane.where()->setCurrentIndex(1);
    pane.setView(paneView(true));
    EXPECT_EQ(pane.where()->currentIndex(), 1) << "what a person chose stays for another range";
}

TEST(PanePictures, TheHeatMapIsGoneThroughByKeys) {
    LayersPane pane;
    pane.resize(500, 200);
    pane.setView(paneView(false));
    pane.show();
    HeatMap& map = pane.map();
    EXPECT_NE(map.focusPolicy() & Qt::TabFocus, 0);
    EXPECT_TRUE(map.accessibleDescription().startsWith("2 rows, 2 parts of the model")) << map.accessibleDescription().toStdString();
    QTest::keyClick(&map, Qt::Key_Right);
    EXPECT_EQ(map.chosen(), std::pair(0, 0));
    EXPECT_TRUE(map.accessibleDescription().startsWith("layer 1, mlp/up, 9.00")) << map.accessibleDescription().toStdString();
    QTest::keyClick(&map, Qt::Key_Right);
    QTest::keyClick(&map, Qt::Key_Down);
    EXPECT_EQ(map.chosen(), std::pair(1, 1));
    EXPECT_TRUE(map.accessibleDescription().startsWith("outside, head/loss")) << map.accessibleDescription().toStdString();
    QTest::keyClick(&map, Qt::Key_Home);
    EXPECT_EQ(map.chosen(), std::pair(1, 0));
    QTest::keyClick(&map, Qt::Key_Up);
    QTest::keyClick(&map, Qt::Key_Up);
    EXPECT_EQ(map.chosen(), std::pair(0, 0));
    EXPECT_FALSE(map.grab().isNull());
}

TEST(PanePictures, LayersShowFiguresAndSayWhyThereAreNone) {
    LayersPane pane;
    pane.setView(paneView(false));
    EXPECT_TRUE(pane.asText().contains("layer 1\tmlp/up")) << pane.asText().toStdString();
    EXPECT_TRUE(pane.asText().contains("outside\thead/loss"));
    EXPECT_EQ(pane.phase()->count(), 2) << "all phases, forward";
    EXPECT_TRUE(pane.map().cellFacts(0, 0).contains("1 calls"));
    SliceBlock block;
    block.strings = {"", "aten::mm"};
    block.slices = {{.start = 0, .duration = 10, .name = 1}};
    MemoryTrace trace;
    trace.add(encodeSlices(block));
    trace.finish();
    PanesReader reader(trace, {}, [] { return true; });
    ASSERT_TRUE(reader.open());
    pane.setView({.panes = std::make_shared<const RangePanes>(reader.read(0, 0).value()), .range = "all of it", .note = {}});
    EXPECT_TRUE(pane.asText().contains("none says which layer")) << pane.asText().toStdString();
}

TEST(PanePictures, MemoryShowsWhatWasAliveAtThePeakOrSaysWhatWouldFillIt) {
    MemoryPane pane;
    pane.setView(paneView(true));
    EXPECT_TRUE(pane.table().sentence().contains("profile_memory=True")) << pane.table().sentence().toStdString();
    RangePanes panes;
    panes.to = 100;
    panes.allocations = true;
    AllocationBlock block;
    block.strings = {"", "activations", "aten::mm", "weights"};
    block.allocations = {{.at = 1, .address = 1, .bytes = 4000, .kind = 3},
                         {.at = 2, .address = 2, .bytes = 2'000'000, .kind = 1, .owner = 2},
                         {.at = 3, .address = 2, .bytes = -2'000'000}};
    MemoryCurve curve;
    ASSERT_TRUE(curve.add(block));
    panes.memory = curve.result(0, 100);
    pane.resize(800, 200);
    pane.setView({.panes = std::make_shared<const RangePanes>(std::move(panes)), .range = "all of it", .note = {}});
    EXPECT_TRUE(pane.table().sentence().contains("at most 2.00")) << pane.table().sentence().toStdString();
    EXPECT_TRUE(pane.table().asCsv().split('\n').at(1).startsWith("activations,aten::mm,2000000,")) << pane.table().asCsv().toStdString();
    pane.rowsOf()->setCurrentIndex(2);
    Q_EMIT pane.rowsOf()->activated(2);
    const QStringList pieces = pane.table().asCsv().split('\n');
    EXPECT_EQ(pieces.at(0), "Kind,Owner,Bytes (B),Taken (ms),Held (ms)");
    EXPECT_EQ(pieces.at(1), "activations,aten::mm,2000000,2e-06,0") << "taken at the very peak, and given back behind it";
    EXPECT_EQ(pieces.at(2), "weights,unknown,4000,1e-06,1e-06");
    pane.show();
    QTest::mouseMove(&pane, {100, 100});
}

TEST(PanePictures, MemorySaysHowManyAllocationsItIsWithout) {
    RangePanes panes;
    panes.to = 100;
    panes.allocations = true;
    AllocationBlock block;
    block.allocations = {{.at = 1, .address = 1, .bytes = 4000}};
    MemoryCurve curve;
    ASSERT_TRUE(curve.add(block));
    panes.memory = curve.result(0, 100);
    MemoryPane pane;
    pane.resize(1600, 200);
    const auto shown = [&](std::int64_t missing) {
        panes.memoryMissing = missing;
        if (!panes.memory.empty()) panes.memory.front().missing = missing;
        pane.setView({.panes = std::make_shared<const RangePanes>(panes), .range = "all of it", .note = {}});
        return pane.table().sentence();
    };
    EXPECT_FALSE(shown(0).contains("incomplete"));
    auto* view = pane.findChild<MemoryView*>();
    ASSERT_NE(view, nullptr);
    EXPECT_TRUE(view->accessibleDescription().isEmpty());
    EXPECT_TRUE(shown(1234).contains("at most 4.00")) << pane.table().sentence().toStdString();
    EXPECT_TRUE(pane.table().sentence().contains("allocations could not be kept: the curve is incomplete")) << pane.table().sentence().toStdString();
    EXPECT_TRUE(pane.table().sentence().contains(paneCount(1234)));
    EXPECT_TRUE(view->accessibleDescription().contains("the curve is incomplete"));
    MemoryView alone;
    alone.resize(700, 120);
    alone.setMemory(&panes.memory.front(), 0, 100, 1234);
    const QTemporaryDir folder;
    ASSERT_TRUE(saveWidgetPicture(alone, folder.filePath("memory.svg")));
    QFile file(folder.filePath("memory.svg"));
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    EXPECT_TRUE(QString::fromUtf8(file.readAll()).contains("the curve is incomplete")) << "over the curve, in its picture too";
    EXPECT_TRUE(shown(1).contains(" · 1 allocation could not be kept")) << pane.table().sentence().toStdString();
    panes.memory.clear();
    EXPECT_TRUE(shown(7).contains("7 allocations could not be kept")) << pane.table().sentence().toStdString();
    panes.allocations = false;
    EXPECT_FALSE(shown(7).contains("No allocations were recorded")) << "they were, and were lost";
}

TEST(PanePictures, TheCurveOfMemoryIsBrokenBetweenCaptures) {
    AllocationBlock block;
    block.allocations = {{.at = 10, .address = 1, .bytes = 1000},
                         {.at = 20, .address = 2, .bytes = 4000},
                         {.at = 120, .address = 3, .bytes = 500},
                         {.at = 900, .address = 4, .bytes = 1000}};
    MemoryCurve curve;
    ASSERT_TRUE(curve.add(block));
    const auto memory = curve.result(0, 1000);
    ASSERT_EQ(memory.size(), 1u);
    MemoryView view;
    view.resize(704, 120);
    const auto drawn = [&](int at) {
        const QImage picture = view.grab().toImage();
        return QColor(picture.pixel(2 + 700 * at / 1000, 112)) != view.palette().color(QPalette::Base);
    };
    view.setMemory(&memory.front(), 0, 1000, 0);
    EXPECT_TRUE(view.gaps().empty());
    EXPECT_TRUE(drawn(500)) << "it is not told that there was a gap";
    view.setMemory(&memory.front(), 0, 1000, 0, {{850, 1000}, {0, 100}});
    ASSERT_EQ(view.gaps(), (CaptureSpans{{120, 850}})) << "what was taken behind the last slice is of that capture";
    EXPECT_TRUE(drawn(60));
    EXPECT_TRUE(drawn(110));
    EXPECT_FALSE(drawn(200));
    EXPECT_FALSE(drawn(500));
    EXPECT_FALSE(drawn(800));
    EXPECT_TRUE(drawn(870)) << "what was in use before, until something is taken again";
    EXPECT_TRUE(drawn(950));
    const auto behind = curve.result(500, 1000);  // a range that begins where nothing was recorded
    ASSERT_EQ(behind.size(), 1u);
    view.setMemory(&behind.front(), 500, 1000, 0, {{0, 100}, {850, 1000}});
    EXPECT_EQ(view.gaps(), (CaptureSpans{{100, 850}}));
    EXPECT_FALSE(drawn(300));
    EXPECT_TRUE(drawn(950));
}

TEST(PanePictures, OnlyTheMemoryThatLostSomethingIsSaidToBeIncomplete) {
    RangePanes panes;
    panes.to = 100;
    panes.allocations = true;
    AllocationBlock block;
    block.allocations = {{.at = 1, .address = 1, .bytes = 4000}, {.at = 2, .address = 1, .bytes = 8000, .device = 0}};
    MemoryCurve curve;
    ASSERT_TRUE(curve.add(block));
    panes.memory = curve.result(0, 100);
    ASSERT_EQ(panes.memory.size(), 2u);
    panes.memoryMissing = panes.memory[1].missing = 3;
    MemoryPane pane;
    pane.resize(1600, 200);
    pane.setView({.panes = std::make_shared<const RangePanes>(panes), .range = "all of it", .note = {}});
    auto* view = pane.findChild<MemoryView*>();
    ASSERT_NE(view, nullptr);
    pane.device()->setCurrentIndex(1);
    EXPECT_TRUE(view->accessibleDescription().contains("3 allocations could not be kept")) << view->accessibleDescription().toStdString();
    EXPECT_EQ(view->asCsv(), "Time (ms),In use (B)\n2e-06,8000\n") << "what is drawn, as values";
    pane.device()->setCurrentIndex(0);
    EXPECT_EQ(view->accessibleDescription(), "") << "the host's is whole";
    EXPECT_FALSE(pane.table().sentence().contains("incomplete")) << pane.table().sentence().toStdString();
}

TEST(PanePictures, MemoryOfARunStandsBesideWhatWasPredictedOfEachKind) {
    RangePanes panes;
    panes.to = 100;
    panes.allocations = true;
    AllocationBlock block;
    block.strings = {"", "weights", "MLP", "aten::mm", "aten::gelu"};
    block.allocations = {{.at = 1, .address = 1, .bytes = 4'000'000, .totalAllocated = 4'000'000, .kind = 1},
                         {.at = 2, .address = 2, .bytes = 2'000'000, .totalAllocated = 6'000'000, .kind = 2, .owner = 3},
                         {.at = 3, .address = 3, .bytes = 1'000'000, .totalAllocated = 7'000'000, .kind = 2, .owner = 4}};
    MemoryCurve curve;
    ASSERT_TRUE(curve.add(block));
    panes.memory = curve.result(0, 100);
    MemoryPane pane;
    pane.resize(900, 200);
    PanesView view{.panes = std::make_shared<const RangePanes>(std::move(panes)), .range = "all of it", .note = {}};
    view.predictedMemory = {{"weights", 4'000'000}, {"MLP", 3'200'000}, {"batches", 8'000}};
    pane.setView(view);
    EXPECT_TRUE(pane.table().sentence().contains("at most 7.00 MB in use on the host, 7.21 MB predicted") || pane.table().sentence().contains("7.21"))
        << pane.table().sentence().toStdString();
    const QStringList lines = pane.table().asCsv().split('\n');
    EXPECT_TRUE(lines.contains("weights,57.1428571429,4000000,4000000,1")) << pane.table().asCsv().toStdString();
    EXPECT_TRUE(std::ranges::any_of(lines, [](const QString& line) { return line.startsWith("MLP,42.85") && line.endsWith(",3000000,3200000,2"); }))
        << pane.table().asCsv().toStdString();
    EXPECT_TRUE(lines.contains("batches,0,0,8000,0")) << "predicted, and not there: " << pane.table().asCsv().toStdString();
    pane.rowsOf()->setCurrentIndex(1);
    Q_EMIT pane.rowsOf()->activated(1);
    EXPECT_TRUE(pane.table().asCsv().contains("MLP,aten::gelu,1000000")) << pane.table().asCsv().toStdString();
    view.predictedOnDevice = true;
    pane.setView(view);
    EXPECT_FALSE(pane.table().sentence().contains("predicted")) << "of a GPU, and this is the host: " << pane.table().sentence().toStdString();
}

TEST(PanePictures, ARooflineHasADotForEachOperationWhoseWorkIsKnown) {
    RooflinePane pane;
    pane.resize(900, 260);
    pane.setView(rooflineView());
    pane.show();
    RooflineView& chart = pane.view();
    ASSERT_EQ(chart.dots().size(), 2u) << "an addition has no FLOP";
    EXPECT_TRUE(pane.asText().contains("aten::mm\t80.0 FLOP/B")) << pane.asText().toStdString();
    EXPECT_TRUE(pane.asText().contains("compute"));
    EXPECT_TRUE(pane.asText().contains("memory"));
    EXPECT_TRUE(pane.asText().contains("52.4")) << "their share of the time: 1.1 of 2.1 ms";
    const QPointF product = chart.positionOf(chart.dots()[0]), batch = chart.positionOf(chart.dots()[1]);
    EXPECT_GT(product.x(), batch.x()) << "more FLOP a byte";
    EXPECT_LT(product.y(), batch.y()) << "and more FLOP a second";
    EXPECT_TRUE(chart.facts(0).contains("80.0\u202F% of the roof above it; bound by compute")) << chart.facts(0).toStdString();
    QSignalSpy wanted(&pane, &Pane::sliceWanted);
    QTest::mouseClick(&chart, Qt::LeftButton, {}, product.toPoint());
    ASSERT_EQ(wanted.count(), 1);
    EXPECT_EQ(wanted.at(0).at(2).toLongLong(), 1'000'000);
    EXPECT_EQ(chart.selected(), 0);
    pane.setSelected(QString("aten::bmm"), false);
    EXPECT_EQ(chart.selected(), 1);
    pane.setSelected({}, false);
    EXPECT_EQ(chart.selected(), -1);
    EXPECT_TRUE(chart.accessibleDescription().startsWith("2 dots")) << chart.accessibleDescription().toStdString();
    QTest::keyClick(&chart, Qt::Key_Right);
    EXPECT_TRUE(chart.accessibleDescription().startsWith("aten::mm, ")) << chart.accessibleDescription().toStdString();
    QTest::keyClick(&chart, Qt::Key_Return);
    ASSERT_EQ(wanted.count(), 2);
    EXPECT_EQ(chart.dotAt({1, 1}), -1);
}

TEST(PanePictures, ARooflineWithoutARoofOrADotSaysWhy) {
    RooflinePane pane;
    PanesView view = rooflineView();
    view.roof = {.whyNone = "no roof yet: look first"};
    pane.setView(view);
    EXPECT_TRUE(pane.asText().contains("no roof yet: look first")) << pane.asText().toStdString();
    EXPECT_FALSE(pane.view().facts(0).contains("bound by"));
    pane.setView(paneView(false));
    EXPECT_TRUE(pane.asText().contains("both the FLOP and the bytes were recorded")) << pane.asText().toStdString();
    pane.setView(paneView(true, 2));
    EXPECT_TRUE(pane.asText().contains("zoom in")) << pane.asText().toStdString();
}

TEST(PanePictures, AnAxisOfTheRooflineHasAtLeastThreeNumbers) {
    const auto words = [](double from, double to) {
        QStringList all;
        for (const auto& mark : RooflineView::marksOf({from, to})) all << mark.text;
        return all;
    };
    EXPECT_EQ(words(0.5, 4.5), (QStringList{"10", "100", "1 K", "10 K"}));
    EXPECT_EQ(words(1.2, 2.9), (QStringList{"20", "50", "100", "200", "500"})) << "between two powers of ten";
    EXPECT_EQ(words(-1.1, 0.4), (QStringList{"0.1", "0.2", "0.5", "1", "2"}));
    EXPECT_GE(words(9.9, 11.4).size(), 3);
}

TEST(PanePictures, EachDotOfARooflineHasItsNameWhereThereIsRoom) {
    RooflineView view;
    view.resize(600, 190);
    std::vector<RooflineDot> dots(8);
    for (std::size_t i = 0; i < dots.size(); ++i) {
        dots[i].name = "projection + MLP " + std::to_string(i);
        dots[i].share = 0.12;
        dots[i].intensity = 20 + static_cast<double>(i % 3);
        dots[i].flopsPerSecond = 1e11 * (1 + 0.03 * static_cast<double>(i));
    }
    view.setDots(dots, {});
    view.grab();
    EXPECT_EQ(view.named().size(), dots.size());
}

TEST(PanePictures, AnUnderscoreInTheNameOfADotIsDrawnWhereverTheDotLies) {
    const auto drawn = [](int height, const char* name) {
        RooflineView view;
        view.resize(600, height);
        RooflineDot dot{.name = name};
        dot.share = 0.5;
        dot.intensity = 20;
        dot.flopsPerSecond = 1e11;
        view.setDots({dot}, {});
        return view.grab().toImage();
    };
    for (int height = 180; height < 200; ++height) EXPECT_NE(drawn(height, "____"), drawn(height, "    ")) << height;
}

TEST(PanePictures, AHeadingOfTheHeatMapIsWholeOrEndsWithAnEllipsis) {
    HeatMap map;
    LayerGrid grid;
    grid.layers = {0};
    grid.roles = {"norm1 + attention/qkv", "attention/out + norm2 + mlp", "embedding", "averyverylongwordthatnocolumnholds"};
    grid.cells.assign(1, std::vector<LayerCell>(grid.roles.size()));
    map.setGrid(grid, 1);
    for (const int width : {300, 700, 1200}) {
        map.resize(width, 200);
        EXPECT_EQ(map.heading(0).join(' ').replace("/ ", "/"), "norm1 + attention/qkv") << width;
        EXPECT_EQ(map.heading(1).join(' ').replace("/ ", "/"), "attention/out + norm2 + mlp") << width;
        EXPECT_EQ(map.heading(2).join(' '), "embedding") << width;
    }
    EXPECT_TRUE(map.heading(3).back().endsWith(QChar(0x2026))) << map.heading(3).join('|').toStdString();
}

}  // namespace
}  // namespace stepscope
