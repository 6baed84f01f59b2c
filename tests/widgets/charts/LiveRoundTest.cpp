// The page's own clock: all charts show the same part of the run at every moment, however little time they get, and nothing moves that the
// person did not move.
#include <QApplication>
#include <QComboBox>
#include <QElapsedTimer>
#include <QSet>
#include <QSignalSpy>
#include <QSlider>
#include <QTest>

#include "ShownPage.h"
#include "core/events/Event.h"
#include "widgets/style/Theme.h"

namespace stepscope {

class LiveRoundTest : public QObject {
    Q_OBJECT

    static bool allShowTheSame(Shown& shown) {
        std::optional<Scale> first;
        for (std::size_t i = 0; i < LivePage::kCharts; ++i) {
            if (!shown.isSeen(i)) continue;
            const Scale& x = shown.page.chart(i).xScale();
            if (!first) first = x;
            if (x.low != first->low || x.high != first->high || x.logarithmic != first->logarithmic) return false;
        }
        return true;
    }

private Q_SLOTS:
    void init() { applyStyle(*qApp, Theme::Light); }

    void underLoadEveryChartShowsTheSamePartOfTheRunAtEveryTick() {
        SyntheticRun run = Shown::defaultRun();
        run.steps = 100;
        Shown shown(run);
        QTest::qWait(800);  // no hurry any more: the share of a training run
        int views = 0, between = 0;
        double high = shown.page.chart(0).xScale().high;
        QElapsedTimer clock;
        clock.start();
        for (std::int64_t step = 100; step < 1900 && views < 3 && clock.elapsed() < 30'000; ++step) {
            run.appendSteps(*shown.history, step, step + 1);
            shown.page.historyChanged();
            QTest::qWait(5);
            QVERIFY2(allShowTheSame(shown), qPrintable(QString("at step %1").arg(step)));
            if (shown.page.range().shown() != shown.page.range().view()) ++between;
            if (shown.page.chart(0).xScale().high != high) ++views;
            high = shown.page.chart(0).xScale().high;
        }
        QVERIFY2(views >= 3, qPrintable(QString("%1 parts of the run were shown").arg(views)));
        QVERIFY2(between >= 20, "the charts were drawn one after the other, and each round took its time");
    }

    void aHandThatKeepsMovingStillSeesCharts() {
        Shown shown;
        int changes = 0;
        Scale before = shown.page.chart(0).xScale();
        for (int i = 0; i < 60; ++i) {
            shown.wheel(3, i % 2 == 0 ? 3 : -3, 0.3 + 0.005 * i);
            shown.page.tick();
            QVERIFY(allShowTheSame(shown));
            if (shown.page.chart(0).xScale().low != before.low || shown.page.chart(0).xScale().high != before.high) ++changes;
            before = shown.page.chart(0).xScale();
        }
        QVERIFY2(changes >= 4, qPrintable(QString::number(changes)));
    }

    void anotherAxisComesOnAllChartsAtOnce() {
        Shown shown;
        shown.page.findChild<QComboBox*>()->setCurrentIndex(1);
        for (int i = 0; i < 30 && shown.page.range().shown() != shown.page.range().view(); ++i) {
            QVERIFY(allShowTheSame(shown));
            shown.page.tick();
        }
        for (std::size_t i = 0; i < LivePage::kCharts; ++i) QVERIFY(shown.page.chart(i).xTicks().unit.contains("tokens"));
    }

    void theCursorStandsAtOnePlaceOnEveryChart() {
        Shown shown;
        shown.wheel(0, 3, 0.4);
        // The pictures are still those before the zoom: the pointer means what the person sees under it.
        const double seen = shown.page.chart(0).xScale().fromShare(0.5);
        const QPoint at = shown.middle(0, 0.5);
        QMouseEvent move(QEvent::MouseMove, at, shown.page.chart(0).mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&shown.page.chart(0), &move);
        QVERIFY(std::abs(*shown.page.range().cursor() - seen) < 6);
    }

    void theCursorIsOnOneStepOnEveryChartAlsoAsNewOnesArrive() {
        SyntheticRun run = Shown::defaultRun();
        run.steps = 100;
        Shown shown(run);
        QTest::qWait(800);  // no hurry any more: charts are drawn one after the other
        QSignalSpy told(&shown.page, &LivePage::cursorStepChanged);
        const auto steps = [&] {
            QSet<QString> all;
            for (std::size_t i = 0; i < LivePage::kCharts; ++i) all.insert(shown.page.chart(i).readOutText().section(" at ", 1).section(":", 0, 0));
            return all;
        };
        // The pointer is ahead of the live edge: the newest step is the nearest.
        shown.page.range().setCursor(105);
        QCOMPARE(steps(), QSet<QString>{"step 100"});
        for (std::int64_t step = 100; step < 400; ++step) {
            run.appendSteps(*shown.history, step, step + 1);
            shown.page.historyChanged();
            shown.page.chart(0).redraw();  // one of them is newer than the others
            QVERIFY2(steps().size() == 1, qPrintable(QStringList(steps().values()).join(" and ")));
            QTest::qWait(2);
            QVERIFY2(steps().size() == 1, qPrintable(QStringList(steps().values()).join(" and ")));
        }
        QTRY_COMPARE(steps(), QSet<QString>{"step 105"});
        QCOMPARE(told.last().at(0).toLongLong(), 105);
        shown.page.range().setCursor(300);
        QCOMPARE(steps(), QSet<QString>{"step 300"});
    }

    void thePageDrawsByItselfAndRestsWhenEverythingIsFresh() {
        Shown shown;
        QTRY_VERIFY(!shown.page.isAwake());
        Shown::defaultRun().appendSteps(*shown.history, 1000, 1001);
        shown.page.historyChanged();
        QVERIFY(shown.page.isAwake());
        QTRY_VERIFY(!shown.page.isAwake());
        QVERIFY(!shown.anyStale());
        shown.page.hide();
        shown.page.historyChanged();
        QVERIFY2(!shown.page.isAwake(), "nobody looks");
        shown.page.show();
        QTRY_VERIFY(!shown.anyStale());
    }

    void nothingMovesWhenTheFirstFlipComes() {
        SyntheticRun run = Shown::defaultRun();
        run.events = false;
        Shown shown(run);
        std::array<QRectF, LivePage::kCharts> before;
        for (std::size_t i = 0; i < LivePage::kCharts; ++i) before[i] = shown.page.chart(i).plot();
        shown.history->append(SwitchApplied{1000, TimeNs::fromSeconds(30), "amp", std::string("off"), std::string("bf16"), ""});
        shown.page.historyChanged();
        shown.settle();
        for (std::size_t i = 0; i < LivePage::kCharts; ++i) QCOMPARE(shown.page.chart(i).plot(), before[i]);
    }

    void aSmallPageKeepsEveryChartReadableAndWithinReach() {
        for (const QSize size : {QSize(392, 240), QSize(456, 300), QSize(640, 260), QSize(700, 400)}) {
            Shown shown;
            shown.page.resize(size);
            shown.settle();
            QVERIFY2(shown.page.minimumSizeHint().width() <= 360, qPrintable(QString::number(shown.page.minimumSizeHint().width())));
            for (std::size_t i = 0; i < LivePage::kCharts; ++i) {
                ChartView& chart = shown.page.chart(i);
                QVERIFY2(chart.plot().height() >= 36 && chart.plot().width() >= 120, qPrintable(QString("%1 at %2 x %3: plot %4 x %5")
                                                                                                    .arg(chart.content().title())
                                                                                                    .arg(size.width())
                                                                                                    .arg(size.height())
                                                                                                    .arg(chart.plot().width())
                                                                                                    .arg(chart.plot().height())));
                QVERIFY(chart.mapTo(&shown.page, QPoint(chart.width(), 0)).x() <= shown.page.width());
            }
            for (auto* button : shown.page.findChildren<QToolButton*>())
                if (button->isVisible()) QVERIFY2(button->geometry().right() <= shown.page.width(), qPrintable(button->accessibleName()));
            // By the keyboard down to the last chart.
            for (int i = 0; i < 10; ++i) QTest::keyClick(&shown.page, Qt::Key_PageDown);
            QVERIFY(shown.isSeen(6));
        }
    }
};

}  // namespace stepscope

QTEST_MAIN(stepscope::LiveRoundTest)
#include "LiveRoundTest.moc"
