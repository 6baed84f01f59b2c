// The panes below the timeline of the whole window: filled by a capture of the live run and by a trace of a GPU that is dropped on it, following the
// range and the selection, folded, dragged, and pictures of them in the sizes and themes that people have.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QFile>
#include <QPushButton>
#include <QSignalSpy>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QTableView>
#include <algorithm>

#include "WindowFixture.h"
#include "app/gui/captured/TraceCounters.h"
#include "fake/FakeLooks.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/panels/sessions/SessionsPanel.h"
#include "widgets/style/Theme.h"
#include "widgets/timeline/TimelinePage.h"
#include "widgets/timeline/panes/FlameView.h"
#include "widgets/timeline/panes/LayersPane.h"
#include "widgets/timeline/panes/PaneStrip.h"
#include "widgets/timeline/panes/PaneTable.h"
#include "widgets/timeline/panes/RooflinePane.h"
#include "widgets/timeline/panes/TablePanes.h"

namespace stepscope {
namespace {

class WindowPanesTest : public WindowTest {
protected:
    TimelinePage& page() { return window().timelinePage(); }
    TimelineView& view() { return page().view(); }
    PaneStrip& panes() { return page().panes(); }
    void capture() {
        window().pages().setCurrentWidget(&page());
        press("Run");
        ASSERT_TRUE(reaches(10));
        QTest::mouseClick(page().captureButton(), Qt::LeftButton);
        ASSERT_TRUE(QTest::qWaitFor([&] { return !view().content().lanes.lanes.empty() && page().sentence().isEmpty(); }, 8000));
    }
    bool filled() {
        return QTest::qWaitFor([&] { return panes().view().panes != nullptr; }, 8000);
    }
    // A GPU with two streams; the host launches late now and then. waits: for the first of them, which the trace tells of, too.
    QString gpuTrace(const QString& name = "gpu", bool waits = false) {
        QFile file(folder.filePath(name + ".pt.trace.json"));
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        QStringList events;
        const auto add = [&](const char* cat, const QString& name, int pid, int tid, double ts, double dur, const QString& args) {
            events << QString(R"({"ph": "X", "cat": "%1", "name": "%2", "pid": %3, "tid": %4, "ts": %5, "dur": %6, "args": {%7}})")
                          .arg(cat, name)
                          .arg(pid)
                          .arg(tid)
                          .arg(ts, 0, 'f', 3)
                          .arg(dur, 0, 'f', 3)
                          .arg(args);
        };
        for (int step = 0; step < 4; ++step) {
            const double at = step * 2000.0;
            add("user_annotation", QString("ProfilerStep#%1").arg(step), 100, 100, at, 1990, "");
            if (waits) add("cuda_sync", "Stream Sync", 0, 7, at + 100, 50, R"("device": 0, "stream": 7)");
            for (int i = 0; i < 12; ++i) {
                const int number = step * 12 + i + 1;
                const double start = at + 20 + i * 150;
                const QString join = QString(R"("External id": %1, "correlation": %1)").arg(number);
                add("cpu_op", i % 3 == 0 ? "aten::mm" : "aten::add", 100, 100, start, 90, QString(R"("External id": %1)").arg(number));
                add("cuda_runtime", "cudaLaunchKernel", 100, 100, start + 20, 10, join);
                add("kernel", i % 3 == 0 ? "sgemm_128x64" : "vectorized_elementwise_kernel", 0, 7 + i % 2, start + 60, i % 3 == 0 ? 180 : 40,
                    join +
                        QString(
                            R"(, "device": 0, "stream": %1, "grid": [160, 1, 1], "block": [256, 1, 1], "registers per thread": 32, "shared memory": 0)")
                            .arg(7 + i % 2));
            }
        }
        file.write(
            R"({"deviceProperties": [{"id": 0, "name": "Test GPU", "numSms": 80, "maxThreadsPerMultiprocessor": 2048, "regsPerMultiprocessor": 65536, "sharedMemPerMultiprocessor": 98304}], "traceEvents": [)");
        file.write(events.join(",\n").toUtf8());
        file.write("]}");
        return file.fileName();
    }
    void everyPane(const QString& name) {
        for (int tab = 0; tab < PaneStrip::Tabs; ++tab) {
            panes().showTab(static_cast<PaneStrip::Tab>(tab));
            QTest::qWait(60);
            picture(window(), QString("%1-%2").arg(name).arg(tab));
        }
    }
};

TEST_F(WindowPanesTest, WhatWasCapturedIsWrittenAsAPageFromTheMenuOfSessionsAndByANameAlone) {
    open();
    capture();
    ASSERT_TRUE(filled());
    const QString page = folder.filePath("captured.html"), text = folder.filePath("captured.md");
    place->exports().write(1, page, "report");
    place->exports().write(1, text, {});
    const auto read = [](const QString& path) {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    };
    ASSERT_TRUE(QTest::qWaitFor([&] { return !read(page).isEmpty() && !read(text).isEmpty(); }, 8000)) << window().notice().sentence().toStdString();
    EXPECT_TRUE(read(page).startsWith("<!DOCTYPE html>"));
    EXPECT_TRUE(read(text).startsWith("# Where did the time of captured steps go?"));
}

TEST_F(WindowPanesTest, FollowTheRangeAndTheSelectionOfALiveCapture) {
    options.size = {1280, 800};
    setFakeLook({.knowsPeaks = true});
    open();
    capture();
    panes().showTab(PaneStrip::Operations);
    ASSERT_TRUE(filled());
    const auto whole = panes().view();
    EXPECT_TRUE(whole.range.startsWith("all of it")) << whole.range.toStdString();
    EXPECT_EQ(whole.panes->totals.operations, 120) << "40 of each of three steps";
    EXPECT_EQ(panes().operations().table().table()->model()->rowCount(), 4);
    // A selected range is what counts.
    view().setFocus();
    const QRect lanes = view().lanesRect();
    const QPoint from(lanes.left() + lanes.width() / 3, lanes.top() + 60), to(lanes.left() + lanes.width() * 2 / 3, lanes.top() + 60);
    QTest::mousePress(&view(), Qt::LeftButton, Qt::ShiftModifier, from);
    QTest::mouseMove(&view(), to);
    QTest::mouseRelease(&view(), Qt::LeftButton, Qt::ShiftModifier, to);
    ASSERT_TRUE(QTest::qWaitFor([&] { return panes().view().range.startsWith("what is selected"); }, 5000)) << panes().view().range.toStdString();
    EXPECT_LT(panes().view().panes->totals.operations, 120);
    EXPECT_GT(panes().view().panes->totals.operations, 0);
    QTest::keyClick(&view(), Qt::Key_Escape);
    ASSERT_TRUE(QTest::qWaitFor([&] { return panes().view().range.startsWith("all of it"); }, 5000));
    // A row that is clicked is found, and the panes stay with their range.
    auto* table = panes().operations().table().table();
    const QString name = table->model()->index(0, 0).data().toString();
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(table->model()->index(0, 0)).center());
    ASSERT_TRUE(QTest::qWaitFor([&] { return view().selected().has_value(); }, 5000));
    EXPECT_EQ(QString::fromStdString(view().selected()->name), name);
    QTest::qWait(400);
    EXPECT_TRUE(panes().view().range.startsWith("all of it"));
    // Where a person moves the timeline, what is seen counts.
    view().setFocus();
    view().fit();
    for (int i = 0; i < 6; ++i) QTest::keyClick(&view(), Qt::Key_W);
    ASSERT_TRUE(QTest::qWaitFor([&] { return panes().view().range.startsWith("what is seen"); }, 5000));
    view().fit();
    ASSERT_TRUE(QTest::qWaitFor([&] { return panes().view().range.startsWith("all of it"); }, 5000));
    // The flame graph is turned for who draws it bottom-up, and then it is read once more.
    EXPECT_TRUE(panes().view().panes->turned.empty());
    panes().showTab(PaneStrip::Flame);
    panes().flame().order()->setCurrentIndex(1);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !panes().view().panes->turned.empty(); }, 5000));
    EXPECT_FALSE(panes().flame().flame().boxes().empty());
    panes().flame().order()->setCurrentIndex(0);
    everyPane("panes");
    EXPECT_TRUE(panes().layers().asText().contains("layer 1")) << panes().layers().asText().toStdString();
    EXPECT_TRUE(panes().kernels().asText().contains("no GPU in it"));
    EXPECT_TRUE(panes().roofline().asText().contains("roof measured on this machine")) << panes().roofline().asText().toStdString();
    EXPECT_TRUE(panes().operations().asText().contains("this machine exposes no counters")) << panes().operations().asText().toStdString();
    applyStyle(*qApp, Theme::Dark);
    everyPane("panes-dark");
    applyStyle(*qApp, Theme::Light);
    setFakeLook({});
}

TEST_F(WindowPanesTest, TheRooflineIsReadableInEverySizeOfWindow) {
    setFakeLook({.knowsPeaks = true});
    for (const QSize size : {QSize(1024, 640), QSize(1280, 800), QSize(1920, 1080)}) {
        options.size = size;
        open();
        capture();
        panes().showTab(PaneStrip::Roofline);
        ASSERT_TRUE(filled());
        EXPECT_EQ(panes().roofline().view().dots().size(), 2u);
        EXPECT_GE(panes().roofline().view().height(), panes().roofline().view().minimumSizeHint().height());
        QTest::qWait(100);
        picture(window(), QString("roofline-%1").arg(size.width()));
        applyStyle(*qApp, Theme::Dark);
        QTest::qWait(60);
        picture(window(), QString("roofline-dark-%1").arg(size.width()));
        applyStyle(*qApp, Theme::Light);
        press("Stop");
        ASSERT_TRUE(idle());
        place = nullptr;
        QSettings().clear();
    }
    setFakeLook({});
}

TEST_F(WindowPanesTest, ATraceOfAGpuThatIsImportedShowsItsIdleTimeAndTopKernels) {
    options.size = {1280, 800};
    open();
    QSignalSpy imported(&place->import(), &ImportWiring::imported);
    std::vector<std::pair<std::size_t, std::size_t>> seen;  // lanes and counters, whenever there are others
    QObject here;
    QObject::connect(&page(), &TimelinePage::contentChanged, &here,
                     [&] { seen.emplace_back(view().content().lanes.lanes.size(), view().content().counters.size()); });
    place->import().import({gpuTrace()});
    ASSERT_TRUE(QTest::qWaitFor([&] { return imported.count() == 1; }, 10'000));
    EXPECT_EQ(window().pages().currentWidget(), &page());
    panes().setOpen(true);
    ASSERT_TRUE(filled());
    panes().showTab(PaneStrip::Kernels);
    EXPECT_EQ(panes().kernels().table().table()->model()->index(0, 0).data().toString(), "sgemm_128x64");
    EXPECT_EQ(panes().view().panes->kernels.size(), 2u);
    EXPECT_EQ(panes().view().panes->kernels[0].row.operation, "aten::mm");
    EXPECT_DOUBLE_EQ(panes().view().panes->kernels[0].blocksPerMultiprocessor, 2) << "the trace says what its GPU is";
    panes().showTab(PaneStrip::Idle);
    EXPECT_EQ(panes().idle().table().table()->model()->rowCount(), 2);
    EXPECT_GT(panes().view().panes->streams[0].time.hostWait.ns, 0);
    panes().showTab(PaneStrip::Roofline);
    EXPECT_TRUE(panes().roofline().asText().contains("record_shapes and with_flops")) << panes().roofline().asText().toStdString();
    panes().showTab(PaneStrip::Layers);
    EXPECT_TRUE(panes().layers().asText().contains("none says which layer")) << panes().layers().asText().toStdString();
    QTest::qWait(200);
    everyPane("panes-gpu");
    ASSERT_FALSE(seen.empty());
    EXPECT_GT(seen.front().first, 0u);
    EXPECT_EQ(seen.front().second, 0u) << "lanes do not wait for counters, which are told by every slice";
    ASSERT_TRUE(QTest::qWaitFor([&] { return !view().content().counters.empty(); }, 10'000));
    const auto& counters = view().content().counters;
    const auto queue = std::ranges::find(counters, QString("queue of stream 7 of GPU 0"), &CounterSeries::name);
    ASSERT_NE(queue, counters.end());
    EXPECT_TRUE(queue->ofCaptures) << "between captures nobody knows it";
    EXPECT_EQ(std::ranges::max(queue->points, {}, [](const auto& point) { return point.second; }).second, 1);
    // Of a capture that is too large for each of its changes the same is told by means.
    TraceCounters folded;
    const auto always = [] { return true; };
    ASSERT_TRUE(traceCounters(options.database.toStdString(), view().content().session, view().content().lanes, always, folded, 0));
    const auto mean = std::ranges::find(folded.series, queue->name, &CounterSeries::name);
    ASSERT_NE(mean, folded.series.end());
    EXPECT_TRUE(mean->range().endsWith("waiting on average")) << mean->range().toStdString();
    const auto area = [](const CounterSeries& series) {
        double sum = 0;
        for (std::size_t i = 0; i + 1 < series.points.size(); ++i)
            sum += series.points[i].second * static_cast<double>(series.points[i + 1].first - series.points[i].first);
        return sum;
    };
    EXPECT_GT(area(*queue), 0);
    EXPECT_NEAR(area(*mean), area(*queue), 1e-6 * area(*queue));
    EXPECT_LT(mean->points.size(), queue->points.size());
}

TEST_F(WindowPanesTest, AStreamWhoseWaitsHaveALaneOfTheirOwnHasOneQueue) {
    open();
    place->import().import({gpuTrace("waits", true)});
    ASSERT_TRUE(QTest::qWaitFor([&] { return !view().content().counters.empty(); }, 10'000));
    const TimelineContent& content = view().content();
    EXPECT_EQ(std::ranges::count_if(content.lanes.lanes, [](const TraceLane& lane) { return lane.thread.device == 0 && lane.thread.thread == 7; }),
              2);
    const auto queues = [](const std::vector<CounterSeries>& all) {
        return std::ranges::count(all, QString("queue of stream 7 of GPU 0"), &CounterSeries::name);
    };
    EXPECT_EQ(queues(content.counters), 1);
    TraceCounters folded;
    ASSERT_TRUE(traceCounters(
        options.database.toStdString(), content.session, content.lanes, [] { return true; }, folded, 0));
    EXPECT_EQ(queues(folded.series), 1);
}

TEST_F(WindowPanesTest, FiguresOfOneSessionNeverStandBelowTheLanesOfAnother) {
    options.size = {1280, 800};
    open();
    place->import().import({gpuTrace()});
    panes().setOpen(true);
    ASSERT_TRUE(filled());
    const qint64 first = view().content().session;
    std::vector<bool> known;  // whether the panes had figures when the lanes of another session came
    QObject here;
    QObject::connect(&page(), &TimelinePage::contentChanged, &here, [&] {
        if (view().content().session != first && known.empty()) known.push_back(panes().view().panes != nullptr);
    });
    place->import().import({gpuTrace("another")});
    ASSERT_TRUE(QTest::qWaitFor([&] { return !known.empty(); }, 10'000));
    EXPECT_FALSE(known.front());
    ASSERT_TRUE(filled()) << "and its own follow";
}

// How long that takes is printed by tests/bench/importing/window_import_bench.
TEST_F(WindowPanesTest, ATraceOfARealGpuThatIsDroppedFillsThePanes) {
    const QString real = QString(STEPSCOPE_REAL_TRACES) + "/v100-kineto.pt.trace.json.gz";
    if (!QFile::exists(real)) GTEST_SKIP() << "not run: the recordings of real GPUs are not in " << STEPSCOPE_REAL_TRACES;
    options.size = {1280, 800};
    open();
    place->import().import({real});
    ASSERT_TRUE(QTest::qWaitFor([&] { return panes().view().panes != nullptr; }, 60'000));
    const RangePanes& all = *panes().view().panes;
    EXPECT_EQ(all.totals.kernels, 4350 + 1600 + 145);
    ASSERT_EQ(all.streams.size(), 1u);
    EXPECT_EQ(all.streams[0].time.stream, 7);
    EXPECT_FALSE(all.kernels.empty());
    EXPECT_GE(all.kernels[0].occupancy, 0) << "the trace says what its GPU is";
    QTest::qWait(300);
    everyPane("panes-v100");
}

TEST_F(WindowPanesTest, AreUsableInASmallWindow) {
    options.size = {1024, 640};
    open();
    capture();
    EXPECT_FALSE(panes().isOpen()) << "there is no room for both at first";
    picture(window(), "panes-small-folded");
    QTest::mouseClick(panes().tabs(), Qt::LeftButton, {}, panes().tabs()->tabRect(0).center());
    EXPECT_TRUE(panes().isOpen());
    ASSERT_TRUE(filled());
    EXPECT_EQ(panes().tabs()->tabText(0), "Selection") << "what is selected is a pane where there is no room beside the lanes";
    EXPECT_GE(view().height(), 100);
    EXPECT_GE(panes().height(), 100);
    everyPane("panes-small");
    QTest::mouseClick(panes().foldButton(), Qt::LeftButton);
    EXPECT_FALSE(panes().isOpen());
    EXPECT_GT(view().height(), 200);
    press("Stop");
    ASSERT_TRUE(idle());
    place = nullptr;
    // The next window remembers it.
    open();
    EXPECT_FALSE(panes().isOpen());
}

}  // namespace
}  // namespace stepscope
