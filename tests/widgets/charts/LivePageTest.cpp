// The page as a person uses it: mouse, keyboard, buttons, theme, hiding; on a run without a trainer.
#include <QApplication>
#include <QComboBox>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>

#include "ShownPage.h"
#include "core/events/Event.h"
#include "widgets/charts/ChartView.h"
#include "widgets/charts/LivePage.h"
#include "widgets/charts/ViewRange.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"

namespace stepscope {

class LivePageTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init() { applyStyle(*qApp, Theme::Light); }

    void aNarrowStepTimeChartStillNamesEveryPhase() {
        for (const int width : {560, 700, 1340}) {
            Shown shown;
            shown.page.resize(width, 560);
            shown.settle();
            const ChartView& chart = shown.page.chart(3);
            const QImage head = shown.page.chart(3).grab().toImage().copy(0, 0, chart.width(), static_cast<int>(chart.plot().top()) - 1);
            for (const Phase phase : {Phase::Batch, Phase::Forward, Phase::Backward, Phase::Clip, Phase::Optimizer}) {
                int swatch = 0;
                for (int y = 0; y < head.height(); ++y)
                    for (int x = 0; x < head.width(); ++x) swatch += head.pixelColor(x, y) == seriesColour(roleOf(phase), false) ? 1 : 0;
                QVERIFY2(swatch >= 36, qPrintable(QString("%1 at %2 px: %3 pixels").arg(toString(phase)).arg(width).arg(swatch)));
            }
            int other = 0;
            for (int y = 0; y < head.height(); ++y)
                for (int x = 0; x < head.width(); ++x) other += head.pixelColor(x, y) == seriesColour(SeriesRole::Idle, false) ? 1 : 0;
            QVERIFY2(other >= 36, qPrintable(QString("other at %1 px: %2 pixels").arg(width).arg(other)));
        }
    }

    void theWheelZoomsEveryChartAroundTheMouse() {
        Shown shown;
        const double before = shown.width(), place = shown.page.range().scale().fromShare(0.25);
        shown.wheel(3, 2, 0.25);
        QVERIFY(shown.width() < before * 0.7);
        QVERIFY(std::abs(shown.page.range().scale().fromShare(0.25) - place) < before * 0.01);
        for (std::size_t i = 0; i < LivePage::kCharts; ++i) QVERIFY(shown.page.chart(i).stale());
        shown.settle();
    }

    void draggingPansAndDoubleClickFits() {
        Shown shown;
        shown.wheel(0, 4);
        const Scale before = shown.page.range().scale();
        ChartView& chart = shown.page.chart(0);
        QTest::mousePress(&chart, Qt::LeftButton, {}, shown.middle(0, 0.5));
        QMouseEvent move(QEvent::MouseMove, shown.middle(0, 0.8), chart.mapToGlobal(shown.middle(0, 0.8)), Qt::NoButton, Qt::LeftButton,
                         Qt::NoModifier);
        QCoreApplication::sendEvent(&chart, &move);
        QTest::mouseRelease(&chart, Qt::LeftButton, {}, shown.middle(0, 0.8));
        QVERIFY(shown.page.range().scale().low < before.low);
        QVERIFY(std::abs((shown.page.range().scale().high - shown.page.range().scale().low) - (before.high - before.low)) < 1e-6);
        QTest::mouseDClick(&chart, Qt::LeftButton, {}, shown.middle(0));
        QVERIFY(shown.page.range().following());
        QCOMPARE(shown.page.range().scale().low, 0.0);
    }

    void hoveringOneChartShowsTheValuesOfAllAtThatStep() {
        Shown shown;
        QSignalSpy steps(&shown.page, &LivePage::cursorStepChanged);
        QTest::mouseMove(&shown.page.chart(0), shown.middle(0, 0.2));
        const double x = shown.page.range().scale().fromShare(0.2);
        QMouseEvent move(QEvent::MouseMove, shown.middle(0, 0.2), shown.page.chart(0).mapToGlobal(shown.middle(0, 0.2)), Qt::NoButton, Qt::NoButton,
                         Qt::NoModifier);
        QCoreApplication::sendEvent(&shown.page.chart(0), &move);
        QVERIFY(shown.page.range().cursor().has_value());
        const std::size_t row = shown.history->rowAt(XAxis::Step, *shown.page.range().cursor());
        QVERIFY(std::abs(static_cast<double>(shown.history->steps().step[row]) - x) < 12);
        const QString step = readOut(static_cast<double>(shown.history->steps().step[row]), Quantity::Count);
        for (std::size_t i = 0; i < LivePage::kCharts; ++i)
            QVERIFY2(shown.page.chart(i).readOutText().contains(step), qPrintable(shown.page.chart(i).readOutText()));
        QVERIFY(shown.page.chart(0).readOutText().contains(readOut(shown.history->steps().loss[row], Quantity::Number)));
        QVERIFY(!steps.isEmpty());
        QCOMPARE(steps.last().at(0).toLongLong(), shown.history->steps().step[row]);

        QEvent leave(QEvent::Leave);
        QCoreApplication::sendEvent(&shown.page.chart(0), &leave);
        QVERIFY(!shown.page.range().cursor());
        QCOMPARE(steps.last().at(0).toLongLong(), -1);
    }

    void hoveringNeedsNoRedrawOfAnyChart() {
        Shown shown;
        shown.page.range().setCursor(300);
        QVERIFY(!shown.anyStale());
    }

    void itFollowsTheLiveEdgeUntilAPersonZoomsAndTheButtonBringsItBack() {
        Shown shown;
        QVERIFY(!shown.button("Follow")->isVisible());
        shown.wheel(0, 2);
        QVERIFY(shown.button("Follow")->isVisible());
        const double high = shown.page.range().scale().high;
        Shown::defaultRun().appendSteps(*shown.history, 1000, 1900);
        shown.page.historyChanged();
        QCOMPARE(shown.page.range().scale().high, high);
        QTest::mouseClick(shown.button("Follow"), Qt::LeftButton);
        QVERIFY(shown.page.range().scale().high >= 1900);
        QVERIFY(!shown.button("Follow")->isVisible());
    }

    void theKeyboardFitsZoomsPansAndMovesTheCursor() {
        Shown shown;
        const double before = shown.width();
        QTest::keyClick(&shown.page, Qt::Key_Plus);
        QVERIFY(shown.width() < before);
        const double low = shown.page.range().scale().low;
        QTest::keyClick(&shown.page, Qt::Key_Right);
        QVERIFY(shown.page.range().scale().low > low);
        QTest::keyClick(&shown.page, Qt::Key_Left);
        QTest::keyClick(&shown.page, Qt::Key_Minus);
        QTest::keyClick(&shown.page, Qt::Key_F);
        QCOMPARE(shown.width(), before);
        QTest::keyClick(&shown.page, Qt::Key_Left, Qt::ShiftModifier);
        QCOMPARE(shown.page.range().cursor(), std::optional<double>(1000));
        QTest::keyClick(&shown.page, Qt::Key_Left, Qt::ShiftModifier);
        QCOMPARE(shown.page.range().cursor(), std::optional<double>(999));
        QTest::keyClick(&shown.page, Qt::Key_Escape);
        QVERIFY(!shown.page.range().cursor());
    }

    void theGradientNormIsLogarithmicAndItsClipThresholdIsDrawn() {
        Shown shown;
        const ChartView& chart = shown.page.chart(2);
        QCOMPARE(chart.content().title(), QString("Gradient norm"));
        QVERIFY(chart.yScale().logarithmic);
        QVERIFY(chart.yScale().low < 0.7 && chart.yScale().high > 4);
        QVERIFY2(shown.pixelsOf(2, seriesColour(SeriesRole::GradientNorm, false), 60) > 50, "the norm");
        QVERIFY2(shown.pixelsOf(2, seriesColour(SeriesRole::Threshold, false), 60) > 20, "where it clips");
        QVERIFY2(chart.readOutText().contains("clips at 1"), qPrintable(chart.readOutText()));
        QVERIFY2(!chart.readOutText().contains("scale") && chart.rightTicks().ticks.empty(), "only fp16 has a loss scale");
    }

    void inFp16TheLossScaleAndEveryStepItLeftOutAreDrawn() {
        SyntheticRun run = Shown::defaultRun();
        run.fp16 = true;
        Shown shown(run);
        const ChartView& chart = shown.page.chart(2);
        QVERIFY2(shown.pixelsOf(2, seriesColour(SeriesRole::LossScale, false), 60) > 30, "the loss scale");
        QVERIFY(chart.rightTicks().ticks.size() >= 2);
        QCOMPARE(chart.rightTicks().unit, QString("loss scale"));
        QVERIFY2(chart.readOutText().contains("skipped 3"), qPrintable(chart.readOutText()));
        shown.page.showStep(400);
        QVERIFY2(chart.readOutText().contains("skipped 1"), qPrintable(chart.readOutText()));
        run.clips = false;
        Shown without(run);
        QVERIFY(without.page.chart(2).whyEmpty().isEmpty());
    }

    void aRunWithoutClippingSaysWhyThereIsNoNorm() {
        SyntheticRun run = Shown::defaultRun();
        run.clips = false;
        Shown shown(run);
        QVERIFY2(shown.page.chart(2).whyEmpty().contains("grad-clip is 0"), qPrintable(shown.page.chart(2).whyEmpty()));
    }

    void pageFaultsAreALineOfTheMemoryChartOnAnAxisOfTheirOwn() {
        Shown shown;
        QVERIFY2(shown.pixelsOf(6, seriesColour(SeriesRole::PageFaults, false), 60) > 50, "the line, its swatch and its labels");
        QVERIFY(shown.page.chart(6).rightTicks().ticks.back().value >= 5000);
        QCOMPARE(shown.page.chart(6).rightTicks().unit, QString("faults/step"));
        shown.page.showStep(100);
        QVERIFY2(shown.page.chart(6).readOutText().contains("page faults a step 8\u202F000"), qPrintable(shown.page.chart(6).readOutText()));
    }

    void aButtonIsAnsweredEvenWhenNobodyTicks() {
        Shown shown;
        QTest::qWait(800);
        QTest::mouseClick(shown.button("log y"), Qt::LeftButton);
        QTRY_VERIFY(!shown.page.chart(0).stale());
        QVERIFY(shown.page.chart(0).yScale().logarithmic);
    }

    void aThemeChangeRecoloursEveryChart() {
        Shown shown;
        const QColor lightBase = qApp->palette().color(QPalette::Base);
        QVERIFY(shown.pixelsOf(0, lightBase) > 10'000);
        applyStyle(*qApp, Theme::Dark);
        QCoreApplication::processEvents();
        shown.settle();
        const QColor darkBase = qApp->palette().color(QPalette::Base);
        QVERIFY(isDark(qApp->palette()));
        for (std::size_t i = 0; i < LivePage::kCharts; ++i) {
            QVERIFY(shown.pixelsOf(i, darkBase) > 5'000);
            QCOMPARE(shown.pixelsOf(i, lightBase), 0);
        }
        QVERIFY2(shown.pixelsOf(0, seriesColour(SeriesRole::Validation, true)) > 20, "validation has its dark colour");
    }

    void theLearningRateShowsTheScheduleBeforeTheRunAndTheOthersSayWhyTheyAreEmpty() {
        LivePage page;
        page.resize(700, 560);
        page.show();
        page.setPlannedConfig(SyntheticRun{}.config());
        for (std::size_t i = 0; i < LivePage::kCharts; ++i) page.chart(i).redraw();
        QCOMPARE(page.range().scale().high, 2000.0);
        for (std::size_t i = 0; i < LivePage::kCharts; ++i) {
            if (i == 1)
                QVERIFY(page.chart(i).whyEmpty().isEmpty());
            else
                QCOMPARE(page.chart(i).whyEmpty(), QString("No steps yet. Press Run."));
        }
        QVERIFY(page.chart(1).yScale().high >= 1e-3);
    }

    void aHistoryWithoutStepsSaysWhatItWaitsFor() {
        auto history = std::make_shared<RunHistory>();
        auto info = std::make_shared<SessionInfo>();
        history->append(SessionStarted{1, info, false});
        history->append(Preparing{{}, "tokenising the text", 0.3});
        Shown shown;
        shown.page.setHistory(history);
        shown.settle();
        QVERIFY(shown.page.chart(0).whyEmpty().contains("tokenising the text"));
        history->append(StateChanged{{}, 0, RunState::Failed, "the file is empty."});
        shown.page.historyChanged();
        shown.settle();
        QVERIFY(shown.page.chart(0).whyEmpty().contains("the file is empty."));
    }

    void atMostOneChartIsDrawnATickAndNoneWhileHidden() {
        Shown shown;
        shown.page.historyChanged();
        shown.page.range().fit();
        const auto stale = [&] {
            int count = 0;
            for (std::size_t i = 0; i < LivePage::kCharts; ++i) count += shown.page.chart(i).stale() ? 1 : 0;
            return count;
        };
        QCOMPARE(stale(), static_cast<int>(LivePage::kCharts));
        shown.page.tick();
        QVERIFY(stale() >= static_cast<int>(LivePage::kCharts) - 1);
        shown.page.hide();
        shown.page.historyChanged();
        for (int i = 0; i < 50; ++i) shown.page.tick();
        QCOMPARE(stale(), static_cast<int>(LivePage::kCharts));
        shown.page.show();
        shown.settle();
    }

    void blocksOfTwoValuesThatTakeTurnsAreMarkedAlongTheFootInTheirColours() {
        struct Block {
            std::int64_t last, steps, pair;
            Arm arm;
        };
        const std::vector<Block> blocks{{430, 100, -1, Arm::A}, {490, 60, -1, Arm::B}, {600, 90, 0, Arm::A}, {700, 90, 0, Arm::B}};
        for (const bool dark : {false, true}) {
            applyStyle(*qApp, dark ? Theme::Dark : Theme::Light);
            Shown plain, measured;
            measured.history = Shown::defaultRun().history();
            for (const Block& one : blocks)
                measured.history->append(BlockDone{.step = one.last, .pair = one.pair, .arm = one.arm, .steps = one.steps});
            measured.page.setHistory(measured.history);
            measured.settle();
            const QColor a = seriesColour(SeriesRole::A, dark), b = seriesColour(SeriesRole::B, dark),
                         ground = plain.page.palette().color(QPalette::Base);
            // In the pixels above the foot, beside a step: how many have the colour, and how high they stand in the middle.
            const auto marked = [](Shown& shown, std::size_t chart, double step, const QColor& colour) {
                const ChartView& view = shown.page.chart(chart);
                const QImage image = shown.page.chart(chart).grab().toImage();
                const int x = static_cast<int>(view.plot().left() + view.xScale().toShare(step) * view.plot().width());
                const int foot = static_cast<int>(view.plot().bottom());
                std::pair<int, double> found{0, 0};
                for (int y = foot - 10; y <= foot + 1; ++y) {
                    const QColor at = image.pixelColor(x, y);
                    const int apart = std::abs(at.red() - colour.red()) + std::abs(at.green() - colour.green()) + std::abs(at.blue() - colour.blue());
                    if (apart > 3) continue;
                    ++found.first;
                    found.second += foot - y;
                }
                if (found.first > 0) found.second /= found.first;
                return found;
            };
            for (const std::size_t chart : {0U, 3U, 4U}) {
                if (!measured.isSeen(chart)) continue;
                const QByteArray where = QString("chart %1, %2").arg(chart).arg(dark ? "dark" : "light").toUtf8();
                const auto ofA = marked(measured, chart, 555, a), ofB = marked(measured, chart, 655, b);
                QVERIFY2(ofA.first >= 2, where.constData());
                QVERIFY2(ofB.first >= 2, where.constData());
                QVERIFY2(ofB.second > ofA.second + 1, "B stands upon A: no meaning by colour alone");
                QVERIFY2(marked(measured, chart, 555, b).first == 0 && marked(measured, chart, 655, a).first == 0, where.constData());
                QVERIFY2(marked(measured, chart, 380, faint(a, ground, 0.4)).first >= 2, "the pilot's are fainter");
                QVERIFY2(marked(measured, chart, 468, faint(b, ground, 0.4)).first >= 2, "the pilot's are fainter");
                for (const double step : {555.0, 655.0})
                    for (const QColor& colour : {a, b}) QVERIFY2(marked(plain, chart, step, colour).first == 0, "of a run that measures nothing");
                QVERIFY2(marked(measured, chart, 250, a).first + marked(measured, chart, 250, b).first == 0, "before the first block");
                QVERIFY2(marked(measured, chart, 850, a).first + marked(measured, chart, 850, b).first == 0, "behind the last block");
            }
            QVERIFY(measured.isSeen(0));
        }
    }

    void aJumpFromTheLogShowsThatStep() {
        Shown shown;
        shown.wheel(0, 10, 0.1);
        shown.page.showStep(900);
        QCOMPARE(shown.page.range().cursor(), std::optional<double>(900));
        QVERIFY(shown.page.range().scale().low < 900 && shown.page.range().scale().high > 900);
    }

    void everythingHasAnAccessibleNameAndIsReachedByTab() {
        Shown shown;
        for (std::size_t i = 0; i < LivePage::kCharts; ++i) {
            QVERIFY(!shown.page.chart(i).accessibleName().isEmpty());
            QVERIFY(shown.page.chart(i).focusPolicy() & Qt::TabFocus);
        }
        for (auto* button : shown.page.findChildren<QToolButton*>()) {
            QVERIFY(!button->accessibleName().isEmpty());
            QVERIFY(button->focusPolicy() & Qt::TabFocus);
        }
        QVERIFY(!shown.page.findChild<QComboBox*>()->accessibleName().isEmpty());
    }

    void aReplayThatJumpsBackKeepsThePlaceThePersonZoomedTo() {
        SyntheticRun run = Shown::defaultRun();
        Shown shown;
        auto info = std::make_shared<SessionInfo>();
        info->config = run.config();
        shown.history->append(SessionStarted{1, info, true});
        run.appendSteps(*shown.history, 0, 1000);
        shown.page.historyChanged();
        shown.wheel(0, 5);
        const Scale zoomed = shown.page.range().scale();
        auto again = std::make_shared<SessionInfo>(*info);
        shown.history->append(SessionStarted{1, again, true});
        run.appendSteps(*shown.history, 0, 500);
        shown.page.historyChanged();
        QCOMPARE(shown.page.range().scale().low, zoomed.low);
        QCOMPARE(shown.page.range().scale().high, zoomed.high);
    }
};

}  // namespace stepscope

QTEST_MAIN(stepscope::LivePageTest)
#include "LivePageTest.moc"
