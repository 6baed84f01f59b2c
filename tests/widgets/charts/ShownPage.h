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
        for (int i = 0; i < 200 && (i < 2 || anyStale()); ++i) {  // twice at least: a layout that was asked for comes first
            QCoreApplication::processEvents();
            page.tick();
            QTest::qWait(1);
        }
        QVERIFY2(!anyStale(), "every chart is drawn after some ticks");
    }
    bool isSeen(std::size_t chart) { return !page.chart(chart).visibleRegion().isEmpty(); }
    bool anyStale() {
        for (std::size_t i = 0; i < LivePage::kCharts; ++i)
            if (isSeen(i) && (page.chart(i).stale() || !page.chart(i).isDrawnFor(page.range().view()))) return true;
        return page.range().shown() != page.range().view();
    }
    QPoint middle(std::size_t chart, double share = 0.5) {
        const QRectF plot = page.chart(chart).plot();
        return QPointF(plot.left() + share * plot.width(), plot.center().y()).toPoint();
    }
    void wheel(std::size_t chart, int notches, double share = 0.5) { wheelAt(chart, notches, middle(chart, share)); }
    void wheelAt(std::size_t chart, int notches, QPoint at, Qt::KeyboardModifiers modifiers = {}) {
        QWheelEvent event(at, page.chart(chart).mapToGlobal(at), {}, {0, 120 * notches}, Qt::NoButton, modifiers, Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(&page.chart(chart), &event);
    }
    void drag(std::size_t chart, QPoint from, QPoint to, Qt::KeyboardModifiers modifiers = {}) {
        ChartView& view = page.chart(chart);
        QTest::mousePress(&view, Qt::LeftButton, modifiers, from);
        for (const QPoint at : {(from + to) / 2, to}) {
            QMouseEvent move(QEvent::MouseMove, at, view.mapToGlobal(at), Qt::NoButton, Qt::LeftButton, modifiers);
            QCoreApplication::sendEvent(&view, &move);
        }
        QTest::mouseRelease(&view, Qt::LeftButton, modifiers, to);
    }
    // A place in the plot, as shares from its left and its top.
    QPoint inPlot(std::size_t chart, double x, double y) {
        const QRectF plot = page.chart(chart).plot();
        return QPointF(plot.left() + x * plot.width(), plot.top() + y * plot.height()).toPoint();
    }
    QToolButton* button(const QString& text) {
        for (auto* found : page.findChildren<QToolButton*>())
            if (found->accessibleName() == text) return found;
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
