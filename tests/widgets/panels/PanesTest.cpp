// The tables among the panes below a timeline by themselves: rows that sort by what they mean, a filter, CSV, sentences in place of rows, and the
// strip that folds to its tabs.
#include <QLineEdit>
#include <QRegularExpression>
#include <QSettings>
#include <QSignalSpy>
#include <QTabBar>
#include <QTableView>
#include <QTest>
#include <QToolButton>
#include <array>

#include "PanesFixture.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/timeline/panes/FlameView.h"
#include "widgets/timeline/panes/LayersPane.h"
#include "widgets/timeline/panes/MemoryPane.h"
#include "widgets/timeline/panes/PaneStrip.h"
#include "widgets/timeline/panes/PaneTable.h"
#include "widgets/timeline/panes/TablePanes.h"

namespace stepscope {
namespace {

QStringList firstColumn(const PaneTable& table) {
    QStringList all;
    for (int row = 0; row < table.table()->model()->rowCount(); ++row) all << table.table()->model()->index(row, 0).data().toString();
    return all;
}

TEST(Panes, OperationsSortByTheirTimesAndAreNarrowedByWords) {
    OperationsPane pane;
    pane.setView(paneView(false));
    EXPECT_EQ(firstColumn(pane.table()), (QStringList{"aten::mm", "aten::gelu"})) << "9 ms before 200 us";
    pane.table().table()->sortByColumn(1, Qt::AscendingOrder);
    EXPECT_EQ(firstColumn(pane.table()).first(), "aten::gelu");
    pane.table().filter()->setText("LOSS");
    EXPECT_EQ(firstColumn(pane.table()), QStringList{"aten::gelu"});
    pane.table().filter()->setText("nothing like it");
    EXPECT_TRUE(firstColumn(pane.table()).isEmpty());
}

TEST(Panes, ARowThatIsClickedAsksForItsLongestSlice) {
    KernelsPane pane;
    pane.resize(900, 200);
    pane.setView(paneView(true));
    ASSERT_EQ(firstColumn(pane.table()), (QStringList{"gemm, \"wide\"", "Memcpy HtoD"}));
    QSignalSpy wanted(&pane, &Pane::sliceWanted);
    QTableView* table = pane.table().table();
    pane.show();
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(table->model()->index(0, 0)).center());
    ASSERT_EQ(wanted.count(), 1);
    EXPECT_EQ(wanted.at(0).at(0).toLongLong(), 77);
    EXPECT_EQ(wanted.at(0).at(2).toLongLong(), 3'000'000);
    pane.setSelected(QString("Memcpy HtoD"), true);
    EXPECT_EQ(table->selectionModel()->selectedRows().value(0).row(), 1);
}

TEST(Panes, NamesAreCutInTheirMiddleAndTheirTipIsTheWholeOne) {
    PaneTable table("kernels", 0, false);
    const QString name = "void at::native::vectorized_elementwise_kernel<4, " + QString(80, 'x') + ", float>";
    table.setRows({{"Name", "What ran", {}, true, 20}, {"Role", "Where", {}, true}}, {{{name, name}, {"mlp", "mlp"}}});
    const QAbstractItemModel& model = *table.table()->model();
    EXPECT_EQ(table.table()->textElideMode(), Qt::ElideMiddle) << "what tells them apart stands at the end";
    EXPECT_TRUE(model.index(0, 0).data(Qt::ToolTipRole).toString().contains("float&gt;")) << "all of it";
    EXPECT_FALSE(model.index(0, 1).data(Qt::ToolTipRole).isValid());
    // A longer role that comes later is not cut, unless a person chose the width.
    const auto with = [&](const QString& role) {
        table.setRows({{"Name", "What ran", {}, true, 20}, {"Role", "Where", {}, true}}, {{{name, name}, {role, role}}});
    };
    const int before = table.table()->columnWidth(1);
    with("attention/projection of the values");
    const int wide = table.table()->columnWidth(1);
    EXPECT_GT(wide, before);
    EXPECT_GE(wide, table.table()->fontMetrics().horizontalAdvance("attention/projection of the values"));
    with("mlp");
    EXPECT_EQ(table.table()->columnWidth(1), wide) << "nor does it shrink";
    table.table()->setColumnWidth(1, 40);
    with("attention/projection of the values");
    EXPECT_EQ(table.table()->columnWidth(1), 40);
}

TEST(Panes, KernelsAreCopiedAsCsvWithPlainNumbers) {
    KernelsPane pane;
    pane.setView(paneView(true));
    const QStringList lines = pane.table().asCsv().split('\n');
    EXPECT_TRUE(lines.at(0).startsWith("Name,Total (ms),Share (%),Calls,Mean (ms)")) << lines.at(0).toStdString();
    EXPECT_TRUE(lines.at(1).startsWith("\"gemm, \"\"wide\"\"\",0.9,")) << lines.at(1).toStdString();
    EXPECT_TRUE(lines.at(1).contains(",aten::mm,1,mlp/up,2,25,1,")) << lines.at(1).toStdString();
}

TEST(Panes, WhatIsNotKnownIsAnEmptyCellOfTheCsv) {
    KernelsPane kernels;
    kernels.setView(paneView(true));
    const QString copy = kernels.table().asCsv().split('\n').at(2);
    EXPECT_TRUE(copy.startsWith("Memcpy HtoD,0.011,")) << copy.toStdString();
    EXPECT_TRUE(copy.endsWith(",0.011" + QString(14, ','))) << "nobody knows who launched it, nor how: " << copy.toStdString();
    OperationsPane operations;
    operations.setView(paneView(false));
    const QStringList lines = operations.table().asCsv().split('\n');
    ASSERT_TRUE(lines.at(2).startsWith("aten::gelu,")) << lines.at(2).toStdString();
    EXPECT_TRUE(lines.at(2).contains(",1,,head/loss,")) << "of no layer, and not of layer -1: " << lines.at(2).toStdString();
}

TEST(Panes, OperationsAndKernelsSayHowManySlicesOfTheirRangeCouldNotBeKept) {
    PanesView view = paneView(true);
    OperationsPane operations;
    KernelsPane kernels;
    for (const bool some : {false, true}) {
        if (some) {
            RangePanes panes = *view.panes;
            panes.totals.lost = 5;
            panes.totals.invalid = 2;
            view.panes = std::make_shared<const RangePanes>(std::move(panes));
        }
        operations.setView(view);
        kernels.setView(view);
        for (const PaneTable* table : {&operations.table(), &kernels.table()})
            EXPECT_EQ(table->sentence().contains("7 slices could not be kept"), some) << table->sentence().toStdString();
    }
}

TEST(Panes, KernelsSayInWhichNumberFormatTheyRan) {
    PanesView view = paneView(true);
    RangePanes panes = *view.panes;
    ASSERT_EQ(panes.kernels.size(), 2u);
    panes.kernels[0].row.type = "BFloat16";
    view.panes = std::make_shared<const RangePanes>(std::move(panes));
    KernelsPane pane;
    pane.setView(view);
    const QStringList lines = pane.table().asCsv().split('\n');
    EXPECT_TRUE(lines.at(0).endsWith(",Type")) << lines.at(0).toStdString();
    EXPECT_TRUE(lines.at(1).endsWith(",BFloat16")) << lines.at(1).toStdString();
    EXPECT_FALSE(lines.at(2).endsWith(",BFloat16")) << "a copy has none: " << lines.at(2).toStdString();
}

TEST(Panes, WithoutAGpuKernelsAndIdleSayWhyTheyAreEmpty) {
    KernelsPane kernels;
    IdlePane idle;
    PanesView view = paneView(false);
    kernels.setView(view);
    idle.setView(view);
    EXPECT_TRUE(kernels.table().sentence().contains("no GPU in it")) << kernels.table().sentence().toStdString();
    EXPECT_FALSE(kernels.table().table()->isVisibleTo(&kernels));
    EXPECT_TRUE(idle.table().sentence().contains("host and waiting"));
    view.note = "Another profiler has the GPU.";
    kernels.setView(view);
    EXPECT_EQ(kernels.table().sentence(), view.note) << "what the capture said is the better reason";
}

TEST(Panes, SayWhatIsNotRecordedOfStepsThatWereKeptAsTheSlowest) {
    MemoryPane memory;
    KernelsPane kernels;
    OperationsPane operations;
    PanesView view = paneView(false);
    view.slowest = "Of these steps operations alone are recorded.";
    const auto shown = [&](bool only) {
        view.onlySlowest = only;
        memory.setView(view);
        kernels.setView(view);
        operations.setView(view);
        EXPECT_TRUE(operations.table().sentence().endsWith(view.slowest)) << operations.table().sentence().toStdString();
        return QStringList{memory.table().sentence(), kernels.table().sentence()};
    };
    EXPECT_EQ(shown(true), (QStringList{view.slowest, view.slowest}));
    EXPECT_TRUE(shown(false).at(0).contains("No allocations were recorded")) << "others are in the range, which might have them";
    EXPECT_TRUE(shown(false).at(1).contains("no GPU in it"));
    view.slowest.clear();
    memory.setView(view);
    EXPECT_FALSE(memory.table().sentence().contains("slowest"));
}

TEST(Panes, SayWhatIsNotRecordedOfWorkersBesideTheFirst) {
    PanesView view = paneView(true);
    view.others = "Of the others kernels are not recorded.";
    OverviewPane overview;
    KernelsPane kernels;
    IdlePane idle;
    OperationsPane operations;
    const std::array<Pane*, 4> all{&overview, &kernels, &idle, &operations};
    for (Pane* pane : all) {
        pane->setView(view);
        EXPECT_TRUE(pane->asText().contains(view.others)) << pane->asText().toStdString();
    }
    view.others.clear();
    for (Pane* pane : all) {
        pane->setView(view);
        EXPECT_FALSE(pane->asText().contains("recorded")) << pane->asText().toStdString();
    }
}

TEST(Panes, IdleTellsWhatEachStreamWaitedFor) {
    IdlePane pane;
    pane.setView(paneView(true));
    ASSERT_EQ(firstColumn(pane.table()), QStringList{"GPU 0, stream 7"});
    const QString row = pane.table().asCsv().split('\n').at(1);
    // 5.011 ms from first to last; busy 0.911; the copy was launched by nobody known.
    EXPECT_TRUE(row.startsWith("\"GPU 0, stream 7\",0.911,0,0,4.1,")) << row.toStdString();
}

TEST(Panes, OverviewDividesAllOfAStep) {
    for (const bool device : {false, true}) {
        OverviewPane pane;
        pane.setView(paneView(device));
        double share = 0;
        const QStringList lines = pane.table().asCsv().split('\n', Qt::SkipEmptyParts);
        for (int i = 1; i < lines.size(); ++i) share += lines.at(i).split(',').at(1).toDouble();
        EXPECT_NEAR(share, 100, 1e-6) << device;
        EXPECT_EQ(lines.size() - 1, device ? 8 : 9) << pane.table().asCsv().toStdString();
        EXPECT_TRUE(pane.table().sentence().contains("1 step")) << pane.table().sentence().toStdString();
        EXPECT_EQ(pane.table().sentence().contains("GPU 0: busy"), device);
    }
}

TEST(Panes, WhereThereAreTooManySlicesEachPaneSaysSo) {
    const PanesView view = paneView(true, 2);
    ASSERT_TRUE(view.panes->folded);
    FlamePane flame;
    LayersPane layers;
    KernelsPane kernels;
    flame.setView(view);
    layers.setView(view);
    kernels.setView(view);
    EXPECT_TRUE(flame.asText().contains("zoom in"));
    EXPECT_TRUE(layers.asText().contains("zoom in"));
    EXPECT_EQ(firstColumn(kernels.table()).size(), 2) << "sums by name are exact all the same";
}

TEST(Panes, OperationsSayWhatBoundsThemAndWhatTheProcessorCounted) {
    OperationsPane pane;
    PanesView view = rooflineView();
    view.counterNote = "Hardware counters of 1 thread: 8 readings took 5 µs, 1.2 % of the captured steps.";
    SampleBlock block;
    block.name = kCountedOperations;
    block.series = {{}, {"aten::mm", "cycles"}, {"aten::mm", "instructions"}, {"aten::mm", "stalled cycles"}};
    block.samples = {{1, 1, 100}, {1, 2, 250}, {1, 3, 40}};
    view.counters.add(block);
    pane.setView(view);
    const QString csv = pane.table().asCsv();
    EXPECT_TRUE(csv.section('\n', 0, 0).endsWith("Bound by,Type,Instr./cycle,Fetches (B/s),Stalled (%)")) << csv.toStdString();
    const QStringList lines = csv.split('\n');
    const auto lineOf = [&](const QString& name) { return lines.filter(QRegularExpression('^' + name + ',')).value(0); };
    EXPECT_TRUE(lineOf("aten::mm").endsWith(",compute,Float,2.5,,40")) << lineOf("aten::mm").toStdString();
    EXPECT_TRUE(lineOf("aten::bmm").contains(",memory,")) << lineOf("aten::bmm").toStdString();
    EXPECT_TRUE(lineOf("aten::add").contains(",neither,")) << "0.1 of 10 GB/s: " << lineOf("aten::add").toStdString();
    EXPECT_TRUE(pane.table().sentence().contains(view.counterNote)) << pane.table().sentence().toStdString();
    EXPECT_FALSE(pane.table().sentence().contains("could not be kept"));
    SampleBlock lost;
    lost.name = kCountedOperations;
    lost.lost = 2;
    lost.invalid = 1;
    view.counters.add(lost);
    pane.setView(view);
    EXPECT_TRUE(pane.table().sentence().contains("3 sums of hardware counters could not be kept")) << pane.table().sentence().toStdString();
}

TEST(Panes, OverviewSaysWhichShareOfThePeakWasReached) {
    OverviewPane pane;
    PanesView view = rooflineView();
    pane.setView(view);
    // 81 MFLOP in a step of 30 ms, of 100 GFLOP/s.
    EXPECT_TRUE(pane.asText().contains("MFU 2.7")) << pane.asText().toStdString();
    EXPECT_TRUE(pane.asText().contains("measured on this machine"));
    view.roof = {.whyNone = "no roof"};
    pane.setView(view);
    EXPECT_TRUE(pane.asText().contains("MFU not measured")) << pane.asText().toStdString();
    pane.setView(paneView(false));
    EXPECT_FALSE(pane.asText().contains("MFU")) << "nothing says what its operations compute";
    // Of a GPU: 90 MFLOP of its kernels in the 30 ms of the step.
    PanesView device = paneView(true);
    RangePanes panes = *device.panes;
    panes.kernels.front().row.flops = 90e6;
    panes.kernels.front().row.type = "Float";
    device.panes = std::make_shared<const RangePanes>(std::move(panes));
    device.roof = {.float32 = 1e11, .bytesPerSecond = 1e10, .source = "of GPU 0 by its clocks, not measured"};
    pane.setView(device);
    EXPECT_TRUE(pane.asText().contains("MFU 3")) << pane.asText().toStdString();
    EXPECT_TRUE(pane.asText().contains("of GPU 0 by its clocks, not measured"));
}

TEST(Panes, OverviewSaysWhatStandsOutAsFarAsThereIsRoom) {
    QWidget window;  // a pane by itself would be kept as high as all of its parts need
    OverviewPane pane(&window);
    window.resize(900, 400);
    pane.resize(900, 300);
    window.show();
    pane.setView(paneView(true));
    ASSERT_EQ(pane.notes().size(), 2) << pane.notes().join('|').toStdString();
    EXPECT_TRUE(pane.notes().at(0).startsWith("GPU 0 has no work for 97")) << pane.notes().at(0).toStdString();
    EXPECT_TRUE(pane.notes().at(1).startsWith("The kernel gemm, \"wide\" takes 99")) << pane.notes().at(1).toStdString();
    EXPECT_TRUE(pane.asText().contains(pane.notes().at(1)));
    EXPECT_TRUE(pane.noteLine(1).isVisible());
    EXPECT_EQ(pane.noteLine(1).text(), pane.notes().at(1));
    EXPECT_FALSE(pane.noteLine(2).isVisible());
    pane.resize(900, 110);
    EXPECT_FALSE(pane.noteLine(0).isVisible()) << "in a low pane its rows matter more";
    EXPECT_TRUE(pane.asText().contains(pane.notes().at(0)));
    pane.resize(900, 300);
    EXPECT_TRUE(pane.noteLine(0).isVisible());
    pane.setView(paneView(true, 2));
    EXPECT_TRUE(pane.notes().isEmpty()) << "of what cannot be read slice by slice nothing is said";
    EXPECT_FALSE(pane.noteLine(0).isVisible());
}

TEST(Panes, OverviewSaysWhoseTimeItDividesAndWhenNothingStandsOut) {
    OverviewPane pane;
    pane.setView(paneView(false));
    EXPECT_TRUE(pane.table().sentence().contains("time of trainer alone")) << pane.table().sentence().toStdString();
    ASSERT_EQ(pane.notes().size(), 1);
    EXPECT_TRUE(pane.notes().at(0).startsWith("The thread \"trainer\" computes nothing for 69")) << pane.notes().at(0).toStdString();
    pane.setView(paneView(true));
    EXPECT_FALSE(pane.table().sentence().contains("alone")) << "a GPU's classes are of all that goes on at once";
    DividedSteps steps{.steps = 1, .window = {100}};
    steps.thread = "trainer";
    steps.classes = {{"matrix products", {45}}, {"pointwise", {45}}, {"host and waiting", {10}}};
    RangePanes panes;
    panes.steps.push_back(steps);
    pane.setView({.panes = std::make_shared<const RangePanes>(std::move(panes)), .range = "all of it", .note = {}});
    EXPECT_EQ(pane.notes(), QStringList{"Nothing stands out."});
    // Of two threads the other one worked for 25 of 50 and waited for the rest: shares are of 100, times the mean of both.
    DividedSteps team{.steps = 1, .window = {50}};
    team.thread = "trainer";
    team.fewestThreads = team.mostThreads = 2;
    team.shared.ns = 50;
    team.classes = {{"matrix products", {75}}, {"waiting", {25}}};
    EXPECT_EQ(team.divided().ns, 100);
    EXPECT_EQ(team.eachThread({25}).ns, 13) << "12.5";
    RangePanes shared;
    shared.steps.push_back(team);
    pane.setView({.panes = std::make_shared<const RangePanes>(std::move(shared)), .range = "all of it", .note = {}});
    EXPECT_TRUE(pane.table().sentence().contains("time of the team's 2 threads")) << pane.table().sentence().toStdString();
    EXPECT_FALSE(pane.table().sentence().contains("alone"));
    EXPECT_EQ(firstColumn(pane.table()), (QStringList{"matrix products", "waiting"}));
}

TEST(Panes, OverviewSaysOfEachWorkerHowMuchOfItsCommunicationIsHidden) {
    OverviewPane pane;
    const auto said = [&](bool device, std::initializer_list<std::pair<std::int64_t, std::int64_t>> workers) {
        RangePanes panes;
        panes.severalRanks = workers.size() > 1;
        for (const auto& [communication, overlapped] : workers) {
            DividedSteps steps{.rank = static_cast<std::int64_t>(panes.steps.size()), .device = device, .steps = 1};
            steps.window.ns = 100'000'000;
            steps.classes = {{device ? "kernels" : "matrix products", {100'000'000}}};
            steps.communication.ns = communication;
            steps.overlapped.ns = overlapped;
            panes.steps.push_back(steps);
        }
        pane.setView({.panes = std::make_shared<const RangePanes>(std::move(panes)), .range = "all of it", .note = {}});
        return pane.table().sentence();
    };
    const auto words = [](std::int64_t time, double share) {
        return QString("communication %1, %2 of it while ").arg(paneTime(time), panePercent(share));
    };
    const QString gpu = said(true, {{12'000'000, 3'000'000}});
    EXPECT_TRUE(gpu.contains(" · " + words(12'000'000, 0.25) + "kernels computed")) << gpu.toStdString();
    const QString two = said(true, {{12'000'000, 3'000'000}, {20'000'000, 20'000'000}});
    EXPECT_TRUE(two.contains("rank 0: " + words(12'000'000, 0.25) + "kernels computed")) << two.toStdString();
    EXPECT_TRUE(two.contains("rank 1: " + words(20'000'000, 1) + "kernels computed")) << two.toStdString();
    const QString cpu = said(false, {{8'000'000, 0}, {0, 0}});
    EXPECT_TRUE(cpu.contains("rank 0: " + words(8'000'000, 0) + "operations computed")) << cpu.toStdString();
    EXPECT_FALSE(cpu.contains("rank 1: communication")) << "nothing of it was on its way";
}

TEST(Panes, OfPartsOfStepsNothingIsSaidOfAStep) {
    OverviewPane pane;
    LayersPane layers;
    const PanesView whole = paneView(false);
    struct Case {
        std::int64_t steps = 0, cut = 0;
        const char* said = "";
    };
    for (const auto& [steps, cut, said] : {Case{1, 0, "1 step, 30.0"}, Case{1, 1, "part of a step, 30.0"}, Case{2, 2, "parts of 2 steps, 30.0"},
                                           Case{3, 1, "3 steps, 1 of them in part, 30.0"}, Case{3, 0, "3 steps, 10.0"}}) {
        RangePanes panes = *whole.panes;
        ASSERT_EQ(panes.steps.size(), 1u);
        panes.steps[0].steps = steps;
        panes.steps[0].cut = cut;
        PanesView view = whole;
        view.panes = std::make_shared<const RangePanes>(std::move(panes));
        pane.setView(view);
        layers.setView(view);
        EXPECT_TRUE(pane.table().sentence().contains(said)) << pane.table().sentence().toStdString();
        const QStringList lines = pane.table().asCsv().split('\n', Qt::SkipEmptyParts);
        for (int row = 1; row < lines.size(); ++row) EXPECT_EQ(lines.at(row).endsWith(','), cut > 0) << lines.at(row).toStdString();
        EXPECT_EQ(layers.map().cellFacts(0, 0).contains("a step"), cut == 0) << layers.map().cellFacts(0, 0).toStdString();
    }
}

TEST(Panes, NothingOfWhatWasShownStaysWhereNothingIsKnownAnyMore) {
    QSettings().clear();
    PaneStrip strip;
    strip.resize(800, 300);
    strip.show();
    strip.setView(paneView(true));
    for (int tab = 0; tab < PaneStrip::Tabs; ++tab) strip.showTab(static_cast<PaneStrip::Tab>(tab));
    strip.setProblem("The session cannot be read.");
    ASSERT_TRUE(strip.operations().asText().contains("aten::mm"));
    strip.setView({});
    for (int tab = 0; tab < PaneStrip::Tabs; ++tab) {
        const QString text = strip.pane(static_cast<PaneStrip::Tab>(tab)).asText();
        for (const char* figure : {"aten::mm", "gemm", "trainer", "30 ms"}) EXPECT_FALSE(text.contains(figure)) << tab << ": " << text.toStdString();
    }
    EXPECT_TRUE(strip.flame().flame().boxes().empty());
    EXPECT_TRUE(strip.layers().map().grid().layers.empty());
    strip.setView(paneView(false));
    strip.showTab(PaneStrip::Operations);
    EXPECT_TRUE(strip.operations().asText().contains("aten::mm"));
}

TEST(Panes, OperationsSayWhereNestedCallsCountEach) {
    OperationsPane pane;
    for (const bool each : {false, true}) {
        RangePanes panes;
        panes.folded = true;
        panes.nestedEach = each;
        PaneOperation one;
        one.row.name = "aten::x";
        one.row.calls = 2;
        panes.operations.push_back(one);
        pane.setView({.panes = std::make_shared<const RangePanes>(std::move(panes)), .range = "all of it", .note = {}});
        EXPECT_EQ(pane.table().sentence().contains("calls within calls of the same name count each"), each) << pane.table().sentence().toStdString();
    }
}

TEST(Panes, TheStripFoldsToItsTabsAndTakesAGuest) {
    QSettings().clear();
    PaneStrip strip;
    strip.resize(800, 300);
    strip.show();
    strip.setView(paneView(true));
    EXPECT_TRUE(strip.isOpen());
    strip.showTab(PaneStrip::Idle);
    EXPECT_TRUE(strip.idle().isVisible());
    QTest::mouseClick(strip.foldButton(), Qt::LeftButton);
    EXPECT_FALSE(strip.isOpen());
    EXPECT_FALSE(strip.idle().isVisible());
    EXPECT_LE(strip.maximumHeight(), strip.foldedHeight());
    QTest::mouseClick(strip.tabs(), Qt::LeftButton, {}, strip.tabs()->tabRect(PaneStrip::Kernels).center());
    EXPECT_TRUE(strip.isOpen()) << "a click on a tab opens it";
    EXPECT_TRUE(strip.kernels().isVisible());
    QWidget guest;
    strip.setGuest(&guest, "Selection");
    EXPECT_EQ(strip.current(), PaneStrip::Kernels);
    strip.showGuest();
    EXPECT_TRUE(guest.isVisible());
    strip.setGuest(nullptr, {});
    guest.setParent(nullptr);
    EXPECT_EQ(strip.tabs()->count(), PaneStrip::Tabs);
}

}  // namespace
}  // namespace stepscope
