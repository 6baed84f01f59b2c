// overlay_bench [SESSIONS] [STEPS] [DATABASE]: 20 sessions of 100 000 steps, stored in a real file, laid over each other in the real window over the
// engine of the tests. Prints how long it takes until the first line and until all of them are painted, until they hold every step, the longest time
// the window's thread did not answer meanwhile, and what a redraw of each chart costs that thread. A DATABASE that is there already is read as it is.
// Exit status 1: all of them took a second or more, or a redraw's median over 10 ms.
#include <QApplication>
#include <QElapsedTimer>
#include <QSettings>
#include <QTemporaryDir>
#include <QTimer>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "app/gui/Workplace.h"
#include "core/analysis/Statistics.h"
#include "core/analysis/overlay/RunsOverlay.h"
#include "core/events/Event.h"
#include "sessions/record/Recorder.h"
#include "widgets/charts/LivePage.h"
#include "widgets/charts/RedrawBudget.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsPanel.h"
#include "widgets/style/Theme.h"

using namespace stepscope;

namespace {

bool store(const std::string& path, std::int64_t number, std::int64_t steps) {
    SessionInfo info;
    info.name = "run " + std::to_string(number);
    info.startedUnixMs = 1'700'000'000'000 + 1000 * number;
    info.config = presetConfig("tiny-cpu").value();
    info.config->steps = steps;
    info.config->seed = number;
    info.config->layers = 2 + number % 4;
    auto recorder = Recorder::open({.path = path}, info);
    if (!recorder) return false;
    const auto n = static_cast<double>(number);
    for (std::int64_t step = 1; step <= steps; ++step) {
        const auto at = static_cast<double>(step);
        StepDone done;
        done.step = step;
        const double ms = 10 + n + 0.5 * std::sin(at * 1.7 + n) + (step % 5'000 == 0 ? 200 : 0);
        done.at = TimeNs{static_cast<std::int64_t>(at * (10 + n) * 1e6)};
        done.duration = TimeNs{static_cast<std::int64_t>(ms * 1e6)};
        done.loss = 1.2 + 0.05 * n + 4 * std::exp(-at / 9'000) + 0.1 * std::sin(at * 12.9 + 5 * n);
        done.learningRate = 1e-3 * std::min(1.0, at / 2'000);
        done.gradientNorm = 0.6 + 0.3 * std::abs(std::sin(at * 7 + n));
        done.tokens = 1536;
        done.phaseNs = {30'000, 0, 3'400'000, 5'000'000, 400'000, 800'000};
        done.residentBytes = 300'000'000 + 10'000'000 * number;
        done.peakBytes = 67e6 + 1e6 * n;
        (*recorder)->publish(done);
        if (step % 50 == 0) {
            DeviceSample sample;
            sample.at = done.at;
            sample.cpuPct = 80 + n / 2 + std::sin(at);
            (*recorder)->publish(sample);
        }
    }
    (*recorder)->publish(StateChanged{{static_cast<std::int64_t>(static_cast<double>(steps + 1) * (10 + n) * 1e6)}, steps, RunState::Finished, ""});
    return (*recorder)->finish().ok();
}

bool allFresh(LivePage& page) {
    for (std::size_t i = 0; i < LivePage::kCharts; ++i)
        if (!page.chart(i).visibleRegion().isEmpty() && (page.chart(i).stale() || !page.chart(i).isDrawnFor(page.range().view()))) return false;
    return page.range().shown() == page.range().view();
}

struct Times {
    double first = 0, all = 0, whole = 0, longest = 0, cpu = 0, gui = 0;
};

double processMs() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

Times open(Workplace& place, const std::vector<std::int64_t>& sessions) {
    LivePage& page = place.window().livePage();
    Times times;
    QElapsedTimer clock, gap;
    QTimer beat;
    beat.setTimerType(Qt::PreciseTimer);
    QObject::connect(&beat, &QTimer::timeout, &beat, [&] {
        times.longest = std::max(times.longest, static_cast<double>(gap.nsecsElapsed()) / 1e6);
        gap.start();
    });
    const auto now = [&] { return static_cast<double>(clock.nsecsElapsed()) / 1e6; };
    const double cpu = processMs(), gui = threadTime().milliseconds();
    clock.start();
    gap.start();
    beat.start(1);
    Q_EMIT place.window().sessions().overlayRequested(sessions);
    while (now() < 60'000) {
        QCoreApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
        const RunsOverlay* overlay = page.overlay();
        if (overlay == nullptr) continue;
        if (times.first == 0 && overlay->read() > 0 && page.chart(0).whyEmpty().isEmpty()) times.first = now();
        if (overlay->read() != sessions.size() || !allFresh(page)) continue;
        if (times.all == 0) times.all = now();
        if (std::ranges::none_of(overlay->slots(), [](const OverlaidSlot& slot) { return slot.run->sketch; })) break;
    }
    times.whole = now();
    times.cpu = processMs() - cpu;
    times.gui = threadTime().milliseconds() - gui;
    return times;
}

bool measureRedraws(LivePage& page) {
    bool within = true;
    std::printf("page %d x %d, %zu lines\n", page.width(), page.height(), page.overlay()->lines().size());
    for (std::size_t i = 0; i < LivePage::kCharts; ++i) {
        ChartView& chart = page.chart(i);
        std::vector<double> redraw, paint;
        chart.takePaintCost();
        for (int round = 0; round < 30; ++round) {
            const double begin = threadTime().seconds();
            chart.redraw();
            redraw.push_back(1000 * (threadTime().seconds() - begin));
            chart.repaint();
            paint.push_back(chart.takePaintCost().milliseconds());
        }
        std::printf("  %-14s redraw median %5.2f ms, p99 %5.2f ms; paint median %5.2f ms\n", qPrintable(chart.content().title()), median(redraw),
                    quantile(redraw, 0.99), median(paint));
        within = within && median(redraw) <= RedrawBudget::kLongestPaint.milliseconds();
    }
    return within;
}

}  // namespace

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    QCoreApplication::setOrganizationName("stepscope-bench");
    QSettings().clear();
    applyStyle(application, Theme::Light);
    const std::int64_t sessions = argc > 1 ? std::atoll(argv[1]) : 20, steps = argc > 2 ? std::atoll(argv[2]) : 100'000;
    const QTemporaryDir folder;
    Options options;
    options.database = argc > 3 ? QString::fromLocal8Bit(argv[3]) : folder.filePath("s.db");
    std::vector<std::int64_t> chosen;
    const bool there = QFile::exists(options.database);
    for (std::int64_t number = 1; number <= sessions; ++number) {
        chosen.push_back(number);
        if (!there && !store(options.database.toStdString(), number, steps))
            return std::fprintf(stderr, "session %lld could not be stored\n", static_cast<long long>(number)), 2;
    }
    bool within = true;
    for (const QSize size : {QSize(1280, 800), QSize(1920, 1080)}) {
        options.size = size;
        Workplace place(options);
        place.open();
        QElapsedTimer wait;
        for (wait.start(); wait.elapsed() < 30'000 && place.window().sessions().model().rowCount() < sessions;)
            QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
        for (int round = 0; round < 3; ++round) {
            const Times times = open(place, chosen);
            std::printf(
                "window %d x %d: first line painted after %.0f ms, all %zu after %.0f ms, all their steps after %.0f ms, window silent for at most "
                "%.0f ms; CPU %.0f ms, of it the "
                "window's thread %.0f ms\n",
                size.width(), size.height(), times.first, chosen.size(), times.all, times.whole, times.longest, times.cpu, times.gui);
            within = within && times.all < 1'000;
        }
        within = measureRedraws(place.window().livePage()) && within;
        place.window().allowClosing();
    }
    return within ? 0 : 1;
}
