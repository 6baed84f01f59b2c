// The page Timeline of the whole window, with real mouse and keys: empty with a reason, filled by a capture of the live run and by a stored session,
// zoomed, panned, searched and selected, and pictures of it in the sizes and themes that people have.
#include <gtest/gtest.h>

#include <QClipboard>
#include <QGuiApplication>
#include <QLineEdit>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>
#include <QTextBrowser>
#include <QToolButton>
#include <QWheelEvent>
#include <algorithm>

#include "WindowFixture.h"
#include "core/events/Event.h"
#include "core/trace/SampleCodec.h"
#include "core/trace/SliceCodec.h"
#include "sessions/record/Recorder.h"
#include "widgets/panels/guide/ShortcutsOverlay.h"
#include "widgets/panels/operations/OperationsPage.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsPanel.h"
#include "widgets/style/Theme.h"
#include "widgets/timeline/TimelinePage.h"

namespace stepscope {
namespace {

class WindowTimelineTest : public WindowTest {
protected:
    TimelinePage& page() { return window().timelinePage(); }
    TimelineView& view() { return page().view(); }
    void look() { window().pages().setCurrentWidget(&page()); }
    bool shows(const QString& words) {
        return QTest::qWaitFor([&] { return page().sentence().contains(words); }, 6000);
    }
    bool filled() {
        return QTest::qWaitFor([&] { return !view().content().lanes.lanes.empty() && page().sentence().isEmpty() && view().styles() > 0; }, 8000);
    }
    void capture() {
        press("Run");
        ASSERT_TRUE(reaches(10));
        QTest::mouseClick(page().captureButton(), Qt::LeftButton);
        ASSERT_TRUE(filled()) << page().sentence().toStdString();
    }
    void settle() {
        EXPECT_TRUE(QTest::qWaitFor([&] { return view().sharp(); }, 5000));
        QTest::qWait(150);
    }
    // Where the first slice of a lane's depth lies, from what the index told of it: the middle of the lanes, zoomed out.
    QPoint onRow(int depth) {
        return {static_cast<int>(view().lanesRect().center().x()), view().yOf(view().content().lanes.lanes.front().lane, depth)};
    }
};

TEST_F(WindowTimelineTest, SaysWhatWouldFillItAndIsFilledByACaptureOfTheRun) {
    options.size = {1280, 800};
    open();
    look();
    EXPECT_TRUE(shows("start a run")) << page().sentence().toStdString();
    EXPECT_FALSE(page().captureButton()->isEnabled());
    press("Run");
    ASSERT_TRUE(reaches(10));
    EXPECT_TRUE(shows("No step of session 1 was captured")) << page().sentence().toStdString();
    QTest::mouseClick(page().captureButton(), Qt::LeftButton);
    ASSERT_TRUE(filled()) << page().sentence().toStdString();
    settle();
    picture(window(), "timeline");
    applyStyle(*qApp, Theme::Dark);
    settle();
    picture(window(), "timeline-dark");
    applyStyle(*qApp, Theme::Light);
}

TEST_F(WindowTimelineTest, SaysWhichSamplesOfCountersACaptureLost) {
    SessionInfo info;
    info.kind = SessionKind::Trace;
    info.name = "a trace";
    info.config.reset();
    info.machine.reset();
    {
        auto recorder = Recorder::open({.path = options.database.toStdString()}, info);
        ASSERT_TRUE(recorder.ok());
        SliceBlock slices{.thread = {.process = 1, .thread = 2, .name = "t", .lane = 3}, .strings = {"", "aten::mm"}};
        slices.slices = {{.start = 1000, .duration = 500, .name = 1}};
        const auto keep = [&](Chunk chunk) { (*recorder)->publishChunk(std::make_shared<const Chunk>(std::move(chunk))); };
        keep(encodeSlices(slices));
        keep(encodeSamples(
            {.lane = 7, .device = 0, .lost = 40, .invalid = 2, .series = {{}, {"power", "W"}}, .samples = {{1000, 1, 100}, {1400, 1, 150}}}));
        keep(encodeSamples({.lane = 8, .device = 1, .series = {{}, {"clock", "MHz"}}, .samples = {{1100, 1, 900}}}));
        (*recorder)->publish(StateChanged{{}, 0, RunState::Finished, ""});
        ASSERT_TRUE((*recorder)->finish().ok());
    }
    open();
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 8000));
    Q_EMIT window().sessions().replayRequested(1);
    look();
    ASSERT_TRUE(shows("42 samples of counters were lost or invalid")) << page().sentence().toStdString();
    const auto& counters = view().content().counters;
    const auto rangeOf = [&](const QString& name) {
        const auto found = std::ranges::find(counters, name, &CounterSeries::name);
        return found == counters.end() ? QString() : found->range();
    };
    EXPECT_EQ(rangeOf("power"), "to 150 W, 42 missing");
    EXPECT_EQ(rangeOf("clock"), "to 900 MHz") << "of the other nothing is missing";
}

TEST_F(WindowTimelineTest, NamesWhoseCountersAreWhereSeveralWorkersWereCaptured) {
    SessionInfo info;
    info.kind = SessionKind::Trace;
    info.name = "two workers";
    info.config.reset();
    info.machine.reset();
    {
        auto recorder = Recorder::open({.path = options.database.toStdString()}, info);
        ASSERT_TRUE(recorder.ok());
        const auto keep = [&](Chunk chunk) { (*recorder)->publishChunk(std::make_shared<const Chunk>(std::move(chunk))); };
        for (const std::int64_t rank : {0, 1}) {
            SliceBlock slices{.thread = {.process = 1, .thread = 2, .name = "t", .lane = 3 + rank, .rank = rank}, .strings = {"", "aten::mm"}};
            slices.slices = {{.start = 1000, .duration = 500, .name = 1}};
            keep(encodeSlices(slices));
            const double value = rank == 0 ? 100 : 200;
            keep(encodeSamples({.lane = 7 + rank, .rank = rank, .series = {{}, {"power", "W"}}, .samples = {{1000, 1, value}, {1400, 1, value}}}));
        }
        (*recorder)->publish(StateChanged{{}, 0, RunState::Finished, ""});
        ASSERT_TRUE((*recorder)->finish().ok());
    }
    open();
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 8000));
    Q_EMIT window().sessions().replayRequested(1);
    look();
    const auto there = [&](const QString& name) {
        return std::ranges::find(view().content().counters, name, &CounterSeries::name) != view().content().counters.end();
    };
    EXPECT_TRUE(QTest::qWaitFor([&] { return there("power, rank 0") && there("power, rank 1"); }, 8000));
    EXPECT_FALSE(there("power"));
}

TEST_F(WindowTimelineTest, TurnsMouseAndKeysIntoWhatIsSeen) {
    options.size = {1280, 800};
    open();
    look();
    capture();
    view().setFocus();
    view().fit();
    settle();
    const double fit = view().nsPerPixel();
    QTest::keyClick(&view(), Qt::Key_W);
    EXPECT_LT(view().nsPerPixel(), fit);
    const double from = view().from();
    QTest::keyClick(&view(), Qt::Key_D);
    EXPECT_GT(view().from(), from);
    QTest::keyClick(&view(), Qt::Key_A);
    QTest::keyClick(&view(), Qt::Key_S);
    QTest::keyClick(&view(), Qt::Key_F);
    EXPECT_DOUBLE_EQ(view().nsPerPixel(), fit);
    // The time under the pointer stays where it is.
    const QPointF at(view().lanesRect().left() + 100, view().lanesRect().center().y());
    const double under = view().from() + 100 * fit;
    QWheelEvent wheel(at, view().mapToGlobal(at), {}, {0, 480}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&view(), &wheel);
    EXPECT_LT(view().nsPerPixel(), fit);
    EXPECT_NEAR(view().from() + 100 * view().nsPerPixel(), under, view().nsPerPixel());
    const double before = view().from();
    QTest::mousePress(&view(), Qt::LeftButton, {}, QPoint(500, 300));
    QTest::mouseMove(&view(), QPoint(440, 300));
    QTest::mouseRelease(&view(), Qt::LeftButton, {}, QPoint(440, 300));
    EXPECT_GT(view().from(), before);
    QTest::keyClick(&view(), Qt::Key_M);
    EXPECT_EQ(view().marks().size(), 1u);
    QTest::keyClick(&view(), Qt::Key_M);
    EXPECT_TRUE(view().marks().empty());
    const qint64 lane = view().content().lanes.lanes.front().lane;
    if (view().content().lanes.lanes.front().depths > 1) {
        QTest::mouseClick(&view(), Qt::LeftButton, {}, QPoint(30, view().yOf(lane, 0)));
        EXPECT_TRUE(view().isFolded(lane));
        QTest::mouseClick(&view(), Qt::LeftButton, {}, QPoint(30, view().yOf(lane, 0)));
    }
    EXPECT_FALSE(view().isFolded(lane));
}

TEST_F(WindowTimelineTest, SelectsSearchesAndSumsUp) {
    options.size = {1280, 800};
    open();
    look();
    capture();
    view().setFocus();
    view().fit();
    settle();
    QTest::keyClick(&view(), '/');
    EXPECT_TRUE(page().search()->hasFocus());
    const auto sums = [&] { return page().details(); };
    QTest::mousePress(&view(), Qt::LeftButton, Qt::ShiftModifier, QPoint(view().lanesRect().left() + 2, 200));
    QTest::mouseMove(&view(), QPoint(view().lanesRect().right() - 2, 200));
    QTest::mouseRelease(&view(), Qt::LeftButton, Qt::ShiftModifier, QPoint(view().lanesRect().right() - 2, 200));
    ASSERT_TRUE(QTest::qWaitFor([&] { return sums().contains("selected"); }, 5000)) << sums().toStdString();
    EXPECT_TRUE(sums().contains("slices begin in it"));
    settle();
    picture(window(), "timeline-sums");
    page().search()->setFocus();
    QTest::keyClicks(page().search(), "a");
    QTest::keyClick(page().search(), Qt::Key_Return);
    ASSERT_TRUE(QTest::qWaitFor([&] { return view().selected().has_value(); }, 5000)) << sums().toStdString();
    EXPECT_TRUE(view().hasFocus());
    EXPECT_TRUE(sums().contains("p50, p95")) << sums().toStdString();
    settle();
    picture(window(), "timeline-selected");
    const qint64 first = view().selected()->slice.start;
    QTest::keyClick(&view(), Qt::Key_N);
    EXPECT_TRUE(QTest::qWaitFor([&] { return view().selected()->slice.start > first || sums().contains("No slice"); }, 5000));
    for (auto* button : page().findChildren<QToolButton*>())
        if (button->text() == "Copy") QTest::mouseClick(button, Qt::LeftButton);
    EXPECT_FALSE(QGuiApplication::clipboard()->text().isEmpty());
    QTest::keyClick(&view(), Qt::Key_Escape);
    EXPECT_FALSE(view().selected().has_value());
    EXPECT_FALSE(view().range().has_value());
}

// From the forward operation to its backward function, from the call to its kernel, and back: where a slice is the end of no arrow nothing moves.
TEST_F(WindowTimelineTest, TheBracketsFollowArrowsToWhereTheyLeadAndToWhereTheyComeFrom) {
    SessionInfo info;
    info.kind = SessionKind::Trace;
    info.name = "arrows";
    info.config.reset();
    info.machine.reset();
    {
        auto recorder = Recorder::open({.path = options.database.toStdString()}, info);
        ASSERT_TRUE(recorder.ok());
        const auto keep = [&](Chunk chunk) { (*recorder)->publishChunk(std::make_shared<const Chunk>(std::move(chunk))); };
        SliceBlock host{.thread = {.process = 1, .thread = 2, .number = 1, .name = "trainer", .lane = 3},
                        .strings = {"", "aten::gelu", "GeluBackward0", "cudaLaunchKernel", "aten::add"}};
        host.slices = {{.start = 100'000, .duration = 40'000, .called = 10'000, .name = 1, .sequence = 7},
                       {.start = 110'000, .duration = 10'000, .name = 3, .depth = 1, .kind = SliceKind::Runtime, .correlation = 5},
                       {.start = 300'000, .duration = 50'000, .name = 4},
                       {.start = 600'000,
                        .duration = 80'000,
                        .name = 2,
                        .kind = SliceKind::Backward,
                        .sequence = 7,
                        .forwardThread = 1,
                        .forwardStart = 100'000}};
        SliceBlock stream{.thread = {.thread = 7, .name = "stream 7", .lane = 77, .device = 0}, .strings = {"", "gelu_kernel"}};
        stream.slices = {{.start = 200'000, .duration = 60'000, .name = 1, .kind = SliceKind::Kernel, .correlation = 5}};
        keep(encodeSlices(host));
        keep(encodeSlices(stream));
        (*recorder)->publish(StateChanged{{}, 0, RunState::Finished, ""});
        ASSERT_TRUE((*recorder)->finish().ok());
    }
    options.size = {1280, 800};
    open();
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 8000));
    Q_EMIT window().sessions().replayRequested(1);
    look();
    ASSERT_TRUE(filled()) << page().sentence().toStdString();
    settle();
    const auto selected = [&] { return view().selected() ? view().selected()->name : std::string(); };
    const auto becomesSelected = [&](const std::string& name) { return QTest::qWaitFor([&] { return selected() == name; }, 5000); };
    const auto follow = [&](char bracket, const std::string& name) {
        QTest::keyClick(&view(), bracket);
        EXPECT_TRUE(becomesSelected(name)) << bracket << ": " << selected();
    };
    const auto stays = [&](char bracket) {
        const std::string before = selected();
        QTest::keyClick(&view(), bracket);
        QTest::qWait(150);
        EXPECT_EQ(selected(), before) << bracket;
    };
    view().setFocus();
    stays(']');  // nothing is selected that an arrow could begin at
    page().searchFor("aten::gelu");
    ASSERT_TRUE(becomesSelected("aten::gelu")) << selected();
    EXPECT_TRUE(page().details().contains("leads to")) << page().details().toStdString();
    stays('[');
    follow(']', "GeluBackward0");
    EXPECT_TRUE(page().details().contains("comes from")) << page().details().toStdString();
    follow('[', "aten::gelu");
    page().searchFor("cudaLaunchKernel");
    ASSERT_TRUE(becomesSelected("cudaLaunchKernel")) << selected();
    follow(']', "gelu_kernel");
    EXPECT_EQ(view().selected()->lane, 77);
    stays(']');
    follow('[', "cudaLaunchKernel");
    EXPECT_EQ(view().selected()->lane, 3);
    page().searchFor("aten::add");
    ASSERT_TRUE(becomesSelected("aten::add")) << selected();
    stays(']');
    stays('[');
}

TEST_F(WindowTimelineTest, AQuestionMarkShowsTheKeysOfTheTimelineAndAnyKeyTakesThemAway) {
    options.size = {1280, 800};
    open();
    look();
    capture();
    view().fit();
    settle();
    auto* keys = page().findChild<ShortcutsOverlay*>();
    ASSERT_NE(keys, nullptr);
    for (const Qt::Key closing : {Qt::Key_Escape, Qt::Key_W}) {
        view().setFocus();
        const double scale = view().nsPerPixel();
        QTest::keyClick(&view(), '?');
        ASSERT_TRUE(keys->isVisible());
        EXPECT_EQ(keys->geometry(), page().rect());
        for (const auto* other : window().findChildren<ShortcutsOverlay*>())
            EXPECT_EQ(other->isVisible(), other == keys) << "those of the window are others";
        EXPECT_TRUE(keys->accessibleName().contains("[  ]: where its arrow comes from, where it leads")) << keys->accessibleName().toStdString();
        key(closing);
        EXPECT_FALSE(keys->isVisible());
        EXPECT_DOUBLE_EQ(view().nsPerPixel(), scale) << "the key was the list's";
        key(Qt::Key_W);
        EXPECT_LT(view().nsPerPixel(), scale) << "and the next is the timeline's again";
        view().fit();
    }
}

TEST_F(WindowTimelineTest, TheCaptureThatWasAskedForLastIsWhatIsSeen) {
    open();
    look();
    capture();
    ASSERT_TRUE(QTest::qWaitFor([&] { return page().captureButton()->isEnabled(); }, 5000));
    const qint64 first = view().content().lanes.end;
    ASSERT_TRUE(reaches(live().numbers(1).step + 60));
    QTest::mouseClick(page().captureButton(), Qt::LeftButton);
    EXPECT_TRUE(QTest::qWaitFor([&] { return view().from() > static_cast<double>(first); }, 8000)) << view().from();
    EXPECT_LE(view().xOf(view().content().lanes.end), view().width());
    view().fit();
    EXPECT_LT(view().from(), static_cast<double>(first));
}

TEST_F(WindowTimelineTest, ThePaneOfWhatIsSelectedStaysAndIsFilledAgainAfterEscape) {
    for (const QSize size : {QSize(1024, 640), QSize(1280, 800), QSize(1920, 1080)}) {
        options.size = size;
        open();
        look();
        capture();
        view().setFocus();
        view().fit();
        settle();
        auto* pane = page().findChild<QTextBrowser*>();
        ASSERT_NE(pane, nullptr);
        const auto select = [&] {
            page().searchFor("a");
            EXPECT_TRUE(QTest::qWaitFor([&] { return page().details().contains("p50, p95"); }, 5000)) << size.width();
            EXPECT_TRUE(pane->isVisible()) << size.width();
            EXPECT_GT(pane->width(), 100);
            EXPECT_GT(pane->height(), 40);
        };
        for (int i = 0; i < 3; ++i) {
            select();
            // Also while somebody reads the facts.
            QWidget* reader = i == 1 ? static_cast<QWidget*>(pane) : &view();
            reader->setFocus();
            QTest::keyClick(reader, Qt::Key_Escape);
            EXPECT_FALSE(view().selected().has_value());
            EXPECT_TRUE(page().details().isEmpty()) << "nothing is told of what is not selected";
            EXPECT_TRUE(pane->isVisible());
            EXPECT_TRUE(pane->toPlainText().contains("Nothing is selected")) << pane->toPlainText().toStdString();
        }
        picture(window(), QString("timeline-escaped-%1").arg(size.width()));
        press("Stop");
        ASSERT_TRUE(idle());
        place = nullptr;
    }
}

TEST_F(WindowTimelineTest, TheOverviewIsDrawnAlsoWhereItsTilesComeWhileTheViewMoves) {
    options.size = {1280, 800};
    open();
    look();
    capture();
    const auto drawn = [&] {
        const QImage image = view().grab().toImage();
        const double ratio = view().devicePixelRatioF();
        int coloured = 0;
        for (int y = 9; y < 22; ++y)
            for (int x = view().lanesRect().left() + 12; x < view().lanesRect().right() - 12; ++x)
                coloured += image.pixelColor(static_cast<int>(x * ratio), static_cast<int>(y * ratio)).saturation() > 40 ? 1 : 0;
        return coloured > 50;
    };
    view().fit();
    settle();
    ASSERT_TRUE(drawn());
    for (int i = 0; i < 10; ++i) {
        view().forgetStyles();  // as when the session has grown
        view().update();
        QTest::qWait(i * 7);
        view().fit();
        QTest::qWait(700);                                             // no mouse, no key
        EXPECT_TRUE(view().sharp() && view().overviewIsFresh()) << i;  // before it is drawn once more for the picture
        EXPECT_TRUE(drawn()) << i;
    }
}

TEST_F(WindowTimelineTest, ShowsARowOfThePageOperations) {
    options.size = {1280, 800};
    open();
    look();
    capture();
    window().pages().setCurrentWidget(&window().operationsPage());
    auto* table = window().operationsPage().table();
    ASSERT_TRUE(QTest::qWaitFor([&] { return table->isVisible() && table->model()->rowCount() > 0; }, 6000));
    table->setCurrentIndex(table->model()->index(0, 0));
    const QString name = table->model()->index(0, 0).data().toString();
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Return);
    EXPECT_EQ(window().pages().currentWidget(), &page());
    ASSERT_TRUE(QTest::qWaitFor([&] { return view().selected().has_value(); }, 6000)) << page().details().toStdString();
    EXPECT_EQ(QString::fromStdString(view().selected()->name), name);
}

TEST_F(WindowTimelineTest, IsReadableInASmallWindowAndInALargeOne) {
    for (const QSize size : {QSize(1024, 640), QSize(1920, 1080)}) {
        options.size = size;
        open();
        look();
        if (size.width() == 1024) picture(window(), "timeline-small-empty");
        capture();
        settle();
        picture(window(), QString("timeline-%1x%2").arg(size.width()).arg(size.height()));
        EXPECT_GT(view().height(), 200);
        press("Stop");
        ASSERT_TRUE(idle());
        place = nullptr;
    }
}

}  // namespace
}  // namespace stepscope
