// timeline_bench FILE [SLICES]: a session of that many slices (100 million where none is said), recorded as chunks where FILE is not there yet, and
// on it the bars of the timeline: time from opening to the first picture and to the sharp one, memory, 500 scripted frames of pan and zoom at 3840 x
// 2160, and the sums of a range that holds ten million slices. Run by hand, with QT_QPA_PLATFORM=offscreen; the file takes about 1 GB and is left
// where it is.
#include <fmt/format.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QImage>
#include <QTest>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "app/gui/process/BackThread.h"
#include "core/trace/SliceCodec.h"
#include "sessions/SessionTrace.h"
#include "sessions/record/Recorder.h"
#include "widgets/style/Theme.h"
#include "widgets/timeline/TimelineView.h"

namespace stepscope {
namespace {

constexpr int kLanes = 16;

double residentMb() {
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word)
        if (word == "VmRSS:") {
            double kb = 0;
            status >> kb;
            return kb / 1024;
        }
    return 0;
}

template <class T>
T good(Result<T> result) {
    if (result) return std::move(*result);
    fmt::print(stderr, "{} {}\n", result.error().sentence, result.error().cause);
    std::_Exit(1);
}

// Processor time of this thread.
double threadMs() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Steps with phases with operations with calls, as a training run nests them; on the other lanes work without steps. Every lane the same number.
void record(const std::string& path, std::int64_t slices) {
    SessionInfo info;
    info.name = "bench";
    info.kind = SessionKind::Trace;
    auto recorder = Recorder::open({.path = path, .durable = false}, info);
    if (!recorder) throw std::runtime_error(recorder.error().sentence);
    QElapsedTimer timer;
    timer.start();
    std::mt19937_64 random(1);
    const std::int64_t each = slices / kLanes;
    std::vector<std::int64_t> at(kLanes, 0);
    std::int64_t step = 0;
    for (std::int64_t done = 0; done < each; done += 4096)
        for (int lane = 0; lane < kLanes; ++lane) {
            SliceBlock block{
                .thread = {.process = 1, .thread = lane + 1, .number = lane + 1, .name = lane == 0 ? "trainer" : fmt::format("worker {}", lane)}};
            for (int i = 1; i < 60; ++i) block.strings.push_back(fmt::format("aten::operation_{}", i));
            for (const char* role : {"attention/qkv", "mlp/up", "norm1", "optimizer", "head/loss"}) block.strings.emplace_back(role);
            std::int64_t& now = at[static_cast<std::size_t>(lane)];
            const auto take = [&](std::int64_t start, std::int64_t length, int depth, SliceKind kind) {
                block.slices.push_back({.start = start,
                                        .duration = length,
                                        .called = length / 2,
                                        .name = static_cast<std::uint32_t>(1 + random() % 59),
                                        .role = static_cast<std::uint32_t>(60 + random() % 5),
                                        .depth = depth,
                                        .kind = kind,
                                        .step = step});
            };
            while (block.slices.size() < 4096) {
                const auto length = static_cast<std::int64_t>(4'000 + random() % 60'000);
                take(now, length, 2, SliceKind::Operation);
                for (std::int64_t inner = now; inner + 2000 < now + length && block.slices.size() < 4096;) {
                    const auto small = static_cast<std::int64_t>(400 + random() % 3'000);
                    take(inner, std::min(small, now + length - inner), 3, SliceKind::Operation);
                    inner += small + 300;
                }
                now += length + static_cast<std::int64_t>(random() % 2'000);
            }
            if (lane == 0) {
                block.strings.emplace_back("step");
                const auto begin = block.slices.front().start;
                ++step;
                block.slices.push_back({.start = begin,
                                        .duration = now - begin,
                                        .name = static_cast<std::uint32_t>(block.strings.size() - 1),
                                        .depth = 0,
                                        .kind = SliceKind::Step,
                                        .step = step});
                block.slices.push_back({.start = begin,
                                        .duration = (now - begin) / 3,
                                        .name = static_cast<std::uint32_t>(block.strings.size() - 1),
                                        .depth = 1,
                                        .kind = SliceKind::Phase,
                                        .step = step});
            }
            (*recorder)->publishChunk(std::make_shared<const Chunk>(encodeSlices(std::move(block))));
        }
    (void)(*recorder)->finish();
    fmt::print("recorded in {:.0f} s\n", timer.elapsed() / 1e3);
}

void bench(const std::string& path) {
    QElapsedTimer timer;
    timer.start();
    TimelineView view;
    view.resize(3840, 2160);
    view.show();
    BackThread thread;
    std::unique_ptr<SessionTrace> trace;
    std::unique_ptr<TraceIndex> index;
    std::optional<TimelineContent> content;
    thread.post([&] {
        trace = good(SessionTrace::open(path, 1));
        if (const auto done = trace->complete([] { return true; }); !done) throw std::runtime_error(done.error().sentence);
        index = std::make_unique<TraceIndex>(*trace);
        auto lanes = good(index->lanes());
        answer(&view, [&, lanes = std::move(lanes)] { content = TimelineContent{.session = 1, .lanes = lanes, .counters = {}}; });
    });
    std::vector<TilePlace> wanted;
    bool reading = false;
    std::optional<qint64> coarse;  // when each lane had something to be drawn from: coarse tiles come first
    std::function<void()> next = [&] {
        if (reading || wanted.empty()) return;
        reading = true;
        const std::size_t count = std::min<std::size_t>(24, wanted.size());
        std::vector<TilePlace> some(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(count));
        wanted.erase(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(count));
        thread.post([&, some, known = view.styles()] {
            std::vector<LodTilePtr> tiles;
            for (const auto& place : some) tiles.push_back(good(index->tiles(place.lane, place.level, place.index, place.index)).front());
            answer(&view, [&, tiles, styles = index->stylesFrom(known)] {
                reading = false;
                view.addStyles(styles);
                view.addTiles(tiles);
                if (!coarse) coarse = timer.elapsed();
                next();
            });
        });
    };
    QObject::connect(&view, &TimelineView::tilesWanted, [&](const std::vector<TilePlace>& places) {
        wanted = places;
        next();
    });
    while (!content) QTest::qWait(1);
    std::int64_t slices = 0;
    for (const auto& lane : content->lanes.lanes) slices += lane.slices;
    view.setContent(std::move(*content));
    view.repaint();
    fmt::print("{} slices in {} lanes, {:.0f} s; first paint after {} ms\n", slices, view.content().lanes.lanes.size(),
               static_cast<double>(view.content().lanes.end) / 1e9, timer.elapsed());
    do QTest::qWait(1);
    while (!view.sharp() || reading);
    view.repaint();
    fmt::print("first slices of every lane, coarse, after {} ms; all of them as sharp as they get after {} ms, {:.0f} MB resident\n",
               coarse.value_or(0), timer.elapsed(), residentMb());

    const double all = static_cast<double>(view.content().lanes.end), fit = view.nsPerPixel();
    std::vector<double> frames, own;
    double worst = 0;
    for (int i = 0; i < 500; ++i) {
        // In and out between all of it and a hundred microseconds a screen, gliding along meanwhile.
        const double depth = 0.5 - 0.5 * std::cos(i * 2 * 3.14159265 / 125);
        const double zoom = fit * std::pow(30.0 / fit, depth);
        const double place = all * (0.1 + 0.8 * i / 500.0);
        view.setView(place - zoom * view.lanesRect().width() / 2, zoom);
        QElapsedTimer frame;
        frame.start();
        const double before = threadMs();
        view.repaint();
        own.push_back(threadMs() - before);
        frames.push_back(static_cast<double>(frame.nsecsElapsed()) / 1e6);
        worst = std::max(worst, residentMb());
        QTest::qWait(5);  // as a screen would: tiles arrive meanwhile
    }
    std::ranges::sort(frames);
    fmt::print("500 frames of 3840 x 2160: p50 {:.1f} ms, p99 {:.1f} ms, worst {:.1f} ms; {:.0f} MB resident at most\n", frames[250], frames[495],
               frames.back(), worst);
    std::ranges::sort(own);
    fmt::print("of it on the processor, whatever else runs on the machine: p50 {:.1f} ms, p99 {:.1f} ms, worst {:.1f} ms\n", own[250], own[495],
               own.back());
    // A range of ten million of them.
    QObject::disconnect(&view, nullptr, nullptr, nullptr);
    wanted.clear();
    while (reading) QTest::qWait(1);  // one thread at a time asks the index
    const double share = std::min(0.9, 1e7 / static_cast<double>(slices));
    const auto from = static_cast<std::int64_t>(all * 0.05 + 12'345), to = from + static_cast<std::int64_t>(all * share);
    std::vector<double> times, busy;
    std::int64_t inside = 0;
    for (int i = 0; i < 9; ++i) {
        QElapsedTimer one;
        one.start();
        const double before = threadMs();
        inside = good(index->sums(from, to)).slices;
        busy.push_back(threadMs() - before);
        times.push_back(static_cast<double>(one.nsecsElapsed()) / 1e6);
    }
    std::ranges::sort(times);
    std::ranges::sort(busy);
    fmt::print("sums over {} slices: median {:.1f} ms of {} runs, {:.1f} ms of the processor\n", inside, times[4], times.size(), busy[4]);
}

}  // namespace
}  // namespace stepscope

int main(int argc, char** argv) {
    using namespace stepscope;
    QApplication application(argc, argv);
    if (argc < 2) {
        fmt::print("timeline_bench FILE [SLICES]\n");
        return 2;
    }
    applyStyle(application, Theme::Light);
    const std::string path = argv[1];
    if (!std::filesystem::exists(path)) record(path, argc > 2 ? std::atoll(argv[2]) : 100'000'000);
    fmt::print("{}: {:.2f} GB\n", path, static_cast<double>(std::filesystem::file_size(path)) / 1e9);
    bench(path);
    return 0;
}
