// window_import_bench FILE [TIMES] [SECONDS]: a trace is handed to the window, over the engine of the tests, as somebody drops it there. Prints how
// long it takes until its lanes are on the page Timeline and until the panes say what its range comes to: idle time, top kernels. Run by hand with
// QT_QPA_PLATFORM=offscreen; each time with a window and a file of sessions of its own. Exit status 1: the slowest was over SECONDS (10), the bar.
#include <QApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QSettings>
#include <QTemporaryDir>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "app/gui/Workplace.h"
#include "core/analysis/Statistics.h"
#include "core/analysis/panes/RangePanes.h"
#include "widgets/style/Theme.h"
#include "widgets/timeline/TimelinePage.h"
#include "widgets/timeline/panes/PaneStrip.h"

using namespace stepscope;

namespace {

constexpr qint64 kMostMs = 600'000;

template <class Ready>
bool wait(const Ready& ready) {
    QElapsedTimer clock;
    for (clock.start(); clock.elapsed() < kMostMs;) {
        QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
        if (ready()) return true;
    }
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    QCoreApplication::setOrganizationName("stepscope-bench");
    applyStyle(application, Theme::Light);
    const QString file = argc > 1 ? QString::fromLocal8Bit(argv[1]) : QString();
    const int times = argc > 2 ? std::atoi(argv[2]) : 5;
    const double bar = argc > 3 ? std::atof(argv[3]) : 10;
    if (file.isEmpty() || times < 1 || !QFile::exists(file)) return std::fprintf(stderr, "window_import_bench FILE [TIMES] [SECONDS]\n"), 2;
    std::vector<double> lanes, panes;
    for (int round = 0; round < times; ++round) {
        QSettings().clear();
        const QTemporaryDir folder;
        Options options;
        options.database = folder.filePath("s.db");
        options.size = {1280, 800};
        Workplace place(options);
        place.open();
        if (!wait([&] { return place.runs().workbench() != nullptr; })) return std::fprintf(stderr, "the engine did not open\n"), 2;
        TimelinePage& page = place.window().timelinePage();
        QElapsedTimer clock;
        clock.start();
        place.import().import({file});
        if (!wait([&] { return !page.view().content().lanes.lanes.empty(); })) return std::fprintf(stderr, "%s: no lane came\n", qPrintable(file)), 2;
        lanes.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e9);
        if (!wait([&] { return page.panes().view().panes != nullptr; })) return std::fprintf(stderr, "%s: no pane was filled\n", qPrintable(file)), 2;
        panes.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e9);
        const RangePanes& all = *page.panes().view().panes;
        std::printf("lanes after %.2f s, panes after %.2f s: %lld kernels of %zu names, %zu streams\n", lanes.back(), panes.back(),
                    static_cast<long long>(all.totals.kernels), all.kernels.size(), all.streams.size());
        place.window().allowClosing();
    }
    const double slowest = *std::ranges::max_element(panes);
    std::printf("%s, %.1f MB: lanes after %.2f s, panes after %.2f s, medians of %d; slowest %.2f s, bar %.0f s\n",
                qPrintable(QFileInfo(file).fileName()), static_cast<double>(QFileInfo(file).size()) / 1e6, median(lanes), median(panes), times,
                slowest, bar);
    return slowest <= bar ? 0 : 1;
}
