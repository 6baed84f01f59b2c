// charts_bench [STEPS]: what the page Live costs, in time of the GUI thread on a core. Prints the redraw time of each chart
// over STEPS steps (100 000), the time to copy the finished picture, and the share of one core while a run adds a step every 33 ms. Exit status 1:
// a redraw or paint took over 10 ms, or a training run lost over 2 % of a core.
#include <QApplication>
#include <QEventLoop>
#include <QTimer>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "SyntheticRun.h"
#include "core/analysis/Statistics.h"
#include "widgets/charts/ChartView.h"
#include "widgets/charts/LivePage.h"
#include "widgets/charts/ViewRange.h"
#include "widgets/style/Theme.h"

using namespace stepscope;

namespace {

double threadSeconds() {
    return threadTime().seconds();
}

void measureCharts(LivePage& page, QSize size) {
    std::printf("page %d x %d, %s\n", size.width(), size.height(), "redraw: data to picture; paint: picture to window");
    constexpr int kRounds = 50;
    for (std::size_t i = 0; i < LivePage::kCharts; ++i) {
        ChartView& chart = page.chart(i);
        std::vector<double> redraw, paint;
        chart.takePaintCost();
        for (int round = 0; round < kRounds; ++round) {
            const double begin = threadSeconds();
            chart.redraw();
            redraw.push_back(1000 * (threadSeconds() - begin));
            chart.repaint();
            paint.push_back(chart.takePaintCost().milliseconds());
        }
        std::printf("  %-14s redraw median %5.2f ms, p99 %5.2f ms; paint median %5.2f ms\n", qPrintable(chart.content().title()), median(redraw),
                    quantile(redraw, 0.99), median(paint));
    }
}

bool measureShare(LivePage& page, const SyntheticRun& run, const std::shared_ptr<RunHistory>& history, double seconds, double bar, const char* what) {
    std::int64_t step = run.steps;
    int redraws = 0;
    TimeNs drawn = page.budget().total();
    QTimer feed;
    QObject::connect(&feed, &QTimer::timeout, [&] {
        run.appendSteps(*history, step, step + 1);
        ++step;
        page.historyChanged();
        if (page.budget().total() > drawn) ++redraws;
        drawn = page.budget().total();
    });
    feed.start(33);
    const double begin = threadSeconds();
    QEventLoop loop;
    QTimer::singleShot(static_cast<int>(seconds * 1000), &loop, &QEventLoop::quit);
    loop.exec();
    const double used = threadSeconds() - begin;
    const bool within = page.budget().longest().ns <= RedrawBudget::kLongestPaint.ns && used / seconds < bar;
    std::printf("%s: %.2f %% of one core (GUI thread, whole event loop), %.1f ticks that drew a second, longest redraw or paint %.2f ms\n", what,
                100 * used / seconds, redraws / seconds, page.budget().longest().milliseconds());
    return within;
}

}  // namespace

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    applyStyle(application, Theme::Light);
    SyntheticRun run;
    run.steps = argc > 1 ? std::atoll(argv[1]) : 100'000;
    run.planned = run.steps + run.steps / 5;
    const auto history = run.history();
    for (const QSize size : {QSize(700, 560), QSize(1340, 840)}) {
        LivePage page;
        page.resize(size);
        page.show();
        page.setHistory(history);
        QCoreApplication::processEvents();
        measureCharts(page, size);
    }
    LivePage page;
    page.resize(700, 560);
    page.show();
    page.setHistory(history);
    for (int i = 0; i < 40; ++i) {
        QCoreApplication::processEvents();
        page.tick();
    }
    measureShare(page, run, history, 2, 1, "warming up");
    bool within = measureShare(page, run, history, 10, 0.02, "shown, training, 33 ms ticks");
    page.hide();
    within = measureShare(page, run, history, 4, 0.02, "hidden, training, 33 ms ticks") && within;
    return within ? 0 : 1;
}
