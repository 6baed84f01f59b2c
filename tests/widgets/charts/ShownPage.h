// A shown page of live charts over a run without a trainer, for the tests that use it as a person does.
#pragma once
#include <QCoreApplication>
#include <QImage>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>

#include "SyntheticRun.h"
#include "widgets/charts/ChartView.h"
#include "widgets/charts/LivePage.h"
#include "widgets/charts/ViewRange.h"

namespace stepscope {

// A shown page over 1 000 of 2 000 steps, everything drawn.
struct Shown {
    LivePage page;
    std::shared_ptr<RunHistory> history;
    explicit Shown(SyntheticRun run = defaultRun()) : history(run.history()) {
        page.resize(700, 560);
        page.show();
        page.setHistory(history);
        settle();
    }
    static SyntheticRun defaultRun() {
        SyntheticRun run;
        run.steps = 1000;
        return run;
    }
    void settle() {
        for (int i = 0; i < 200 && anyStale(); ++i) {
            QCoreApplication::processEvents();
            page.tick();
            QTest::qWait(1);
        }
        QVERIFY2(!anyStale(), "every chart is drawn after some ticks");
    }
    bool anyStale() {
        for (std::size_t i = 0; i < LivePage::kCharts; ++i)
            if (page.chart(i).stale()) return true;
        return false;
    }
    QPoint middle(std::size_t chart, double share = 0.5) {
        const QRectF plot = page.chart(chart).plot();
        return QPointF(plot.left() + share * plot.width(), plot.center().y()).toPoint();
    }
    void wheel(std::size_t chart, int notches, double share = 0.5) {
        const QPoint at = middle(chart, share);
        QWheelEvent event(at, page.chart(chart).mapToGlobal(at), {}, {0, 120 * notches}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(&page.chart(chart), &event);
    }
    QToolButton* button(const QString& text) {
        for (auto* found : page.findChildren<QToolButton*>())
            if (found->text() == text) return found;
        return nullptr;
    }
    double width() { return page.range().scale().high - page.range().scale().low; }
    // A thin line between two rows of pixels has its very colour nowhere: `tolerance` is the sum over the channels.
    int pixelsOf(std::size_t chart, const QColor& colour, int tolerance = 0) {
        const QImage image = page.chart(chart).grab().toImage();
        int count = 0;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x) {
                const QColor pixel = image.pixelColor(x, y);
                const int apart =
                    std::abs(pixel.red() - colour.red()) + std::abs(pixel.green() - colour.green()) + std::abs(pixel.blue() - colour.blue());
                count += apart <= tolerance ? 1 : 0;
            }
        return count;
    }
};

}  // namespace stepscope
