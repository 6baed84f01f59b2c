// The axes of the live charts: which there are, how they are labelled, what of them is remembered.
#include <QApplication>
#include <QComboBox>
#include <QDataStream>
#include <QImage>
#include <QSlider>
#include <QStandardItemModel>
#include <QTest>
#include <cmath>

#include "ShownPage.h"
#include "core/events/Event.h"
#include "core/events/Schedule.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"

namespace stepscope {

class LiveAxesTest : public QObject {
    Q_OBJECT

    // `steps` of a range test over 200 steps.
    static void sweep(RunHistory& history, std::int64_t session, std::int64_t steps) {
        auto info = std::make_shared<SessionInfo>();
        info->config = SyntheticRun().config();
        info->config->schedule = "range-test";
        info->config->minLr = 1e-6;
        info->config->lr = 1;
        info->config->steps = 200;
        history.append(SessionStarted{session, info, false});
        for (std::int64_t i = 1; i <= steps; ++i)
            history.append(StepDone{.step = i,
                                    .at = TimeNs::fromSeconds(0.02 * static_cast<double>(i)),
                                    .duration = TimeNs::fromSeconds(0.02),
                                    .loss = 5 - 2 / (1 + std::exp(-0.1 * static_cast<double>(i - 120))),
                                    .learningRate = learningRate(*info->config, i),
                                    .tokens = 100});
    }
    static bool offersRates(LivePage& page) {
        return static_cast<QStandardItemModel*>(page.findChild<QComboBox*>()->model())->item(static_cast<int>(XAxis::LearningRate))->isEnabled();
    }

private Q_SLOTS:
    void init() { applyStyle(*qApp, Theme::Light); }

    void aRangeTestIsDrawnAgainstTheRateUntilAnotherRunBegins() {
        Shown shown;
        QVERIFY(!offersRates(shown.page));
        sweep(*shown.history, 7, 150);
        shown.page.historyChanged();
        QVERIFY(offersRates(shown.page));
        QCOMPARE(shown.page.range().axis(), XAxis::LearningRate);
        QVERIFY(shown.page.range().logarithmic());
        QVERIFY(std::abs(shown.page.range().scale().low / 1e-6 - 1) < 1e-6);
        QVERIFY(shown.page.range().scale().high >= shown.history->steps().learningRate[149]);
        QVERIFY2(shown.page.range().scale().high <= 1, "not beyond the highest rate");
        shown.history->append(StateChanged{TimeNs::fromSeconds(4), 150, RunState::Stopped, ""});
        shown.page.historyChanged();
        shown.settle();
        QVERIFY(!shown.history->markers().empty());
        const double suggested = shown.history->markers()[0].place.on(XAxis::LearningRate);
        QVERIFY2(shown.page.range().scale().toShare(suggested) > 0.5 && suggested < 0.01, "the mark stands at its rate");
        QVERIFY2(LivePage().saveLayout() == shown.page.saveLayout(), "one run's axis is nobody's habit");

        auto info = std::make_shared<SessionInfo>();
        info->config = SyntheticRun().config();
        shown.history->append(SessionStarted{8, info, false});
        shown.page.historyChanged();
        QCOMPARE(shown.page.range().axis(), XAxis::Step);
        QVERIFY(!shown.page.range().logarithmic());
        QVERIFY(!offersRates(shown.page));
    }

    void aPersonMaySeeARangeTestAlongItsStepsToo() {
        Shown shown;
        sweep(*shown.history, 7, 150);
        shown.page.historyChanged();
        shown.page.findChild<QComboBox*>()->setCurrentIndex(0);
        shown.page.historyChanged();
        QCOMPARE(shown.page.range().axis(), XAxis::Step);
    }

    void logButtonsChangeTheAxesThatCanBeLogarithmic() {
        Shown shown;
        QTest::mouseClick(shown.button("log y"), Qt::LeftButton);
        QTest::mouseClick(shown.button("log x"), Qt::LeftButton);
        shown.settle();
        QVERIFY(shown.page.chart(0).yScale().logarithmic);
        QVERIFY(shown.page.chart(1).yScale().logarithmic);
        QVERIFY(shown.page.chart(3).yScale().logarithmic);
        QVERIFY2(!shown.page.chart(5).yScale().logarithmic, "a share of the cores is not");
        for (const std::size_t chart : {0, 1, 3, 4})
            QVERIFY2(shown.page.chart(chart).yTicks().ticks.size() >= 3, qPrintable(shown.page.chart(chart).content().title()));
        QVERIFY(shown.page.range().scale().logarithmic);
        QCOMPARE(shown.page.range().scale().low, 1.0);
        QTest::mouseClick(shown.button("log y"), Qt::LeftButton);
        shown.settle();
        QVERIFY(!shown.page.chart(0).yScale().logarithmic);
    }

    void everyXAxisShowsTheWholeRunAndNamesItsUnit() {
        Shown shown;
        auto* axis = shown.page.findChild<QComboBox*>();
        const char* units[] = {"step", "tokens", "m:s"};
        for (int i = 0; i < 3; ++i) {
            axis->setCurrentIndex(i);
            shown.settle();
            const auto kind = static_cast<XAxis>(i);
            QVERIFY(shown.page.range().scale().high >= shown.history->last().on(kind));
            QVERIFY(shown.page.range().scale().low <= shown.history->x(kind, 0));
            QVERIFY2(shown.page.chart(0).xTicks().unit.contains(units[i]), qPrintable(shown.page.chart(0).xTicks().unit));
        }
    }

    void theEnergyIsAnAxisWhereTheMachineTellsIt() {
        Shown shown;
        auto* axis = shown.page.findChild<QComboBox*>();
        constexpr int kEnergy = static_cast<int>(XAxis::Energy);
        const auto* item = static_cast<QStandardItemModel*>(axis->model())->item(kEnergy);
        QVERIFY(!item->isEnabled());
        QVERIFY2(item->toolTip().contains("No sample of this session"), qPrintable(item->toolTip()));
        auto told = std::make_shared<SessionInfo>(*shown.history->info());
        told->machine->whyNoProcessorEnergy = "This is a virtual machine.";
        shown.history->append(SessionStarted{8, told, false});
        shown.page.historyChanged();
        QVERIFY2(item->toolTip().contains("This is a virtual machine."), qPrintable(item->toolTip()));

        const auto train = [&](std::int64_t from, std::int64_t to, double watts) {
            for (std::int64_t i = from; i < to; ++i) {
                const TimeNs at = TimeNs::fromSeconds(0.1 * static_cast<double>(i));
                shown.history->append(StepDone{.step = i, .at = at, .duration = TimeNs::fromSeconds(0.1), .loss = 3, .tokens = 100});
                if (i % 5 == 0) shown.history->append(DeviceSample{.at = at, .cpuPct = 90, .gpuPowerW = watts});
            }
            shown.page.historyChanged();
            shown.settle();
        };
        train(1, 100, 300);
        QVERIFY(item->isEnabled());
        QVERIFY(item->toolTip().isEmpty());
        axis->setCurrentIndex(kEnergy);
        shown.settle();
        QVERIFY(shown.page.range().scale().high >= shown.history->last().joules);
        QVERIFY2(shown.page.chart(0).xTicks().unit == "kJ", qPrintable(shown.page.chart(0).xTicks().unit));
        QVERIFY2(LivePage().saveLayout() == shown.page.saveLayout(), "one run's axis is nobody's habit");

        shown.history->append(SessionStarted{9, told, false});
        shown.page.historyChanged();
        QCOMPARE(shown.page.range().axis(), XAxis::Energy);  // it may still come
        train(1, 100, kUnknown);
        QCOMPARE(shown.page.range().axis(), XAxis::Step);
        QVERIFY(!item->isEnabled());
    }

    void theScheduleAheadCountsTheTokensOfEveryMicroBatch() {
        RunConfig config = SyntheticRun{}.config();
        config.schedule = "linear";
        config.minLr = 0;
        config.switches["grad-accumulation"] = std::int64_t{4};
        LivePage page;
        page.resize(700, 560);
        page.show();
        page.setPlannedConfig(config);
        page.findChild<QComboBox*>()->setCurrentIndex(static_cast<int>(XAxis::Tokens));
        QCOMPARE(page.range().scale().high, 2000.0 * 12 * 128 * 4);
        QCoreApplication::processEvents();
        page.chart(1).redraw();
        const QImage image = page.chart(1).grab().toImage();
        const QRect plot = page.chart(1).plot().toRect();
        const QColor line = seriesColour(SeriesRole::LearningRate, false);
        int drawn = 0;
        for (int x = plot.right() - plot.width() / 4; x < plot.right(); ++x)
            for (int y = plot.top(); y < plot.bottom(); ++y) {
                const QColor pixel = image.pixelColor(x, y);
                drawn +=
                    std::abs(pixel.red() - line.red()) + std::abs(pixel.green() - line.green()) + std::abs(pixel.blue() - line.blue()) <= 60 ? 1 : 0;
            }
        QVERIFY2(drawn > 5, "it reaches the right end");
    }

    void labelsOfAnAxisNeverOverlapAtAnySizeOrZoom() {
        Shown shown;
        for (const QSize size : {QSize(420, 360), QSize(700, 560), QSize(1340, 840)}) {
            shown.page.resize(size);
            shown.page.range().fit();
            for (int zoom = 0; zoom < 12; ++zoom) {
                shown.settle();
                for (std::size_t i = 0; i < LivePage::kCharts; ++i) {
                    if (!shown.isSeen(i)) continue;
                    ChartView& chart = shown.page.chart(i);
                    const ChartFrame frame = ChartFrame::of(chart.size(), chart.font(), chart.palette(), 2, 0);
                    const QFontMetricsF metrics(frame.labelFont);
                    double right = -1e9;
                    for (const Tick& tick : chart.xTicks().ticks) {
                        const double half = metrics.horizontalAdvance(tick.label) / 2;
                        const double x = shown.page.range().scale().toShare(tick.value) * chart.plot().width();
                        if (x - half > 0 && x + half < chart.plot().width()) {  // at the ends labels move inwards
                            QVERIFY(x - half >= right);
                            right = x + half;
                        }
                    }
                }
                shown.page.range().zoom(0.6, 0.37);
            }
        }
    }

    void choicesOfAxesComeBackAndADamagedLayoutIsIgnored() {
        Shown shown;
        shown.page.findChild<QComboBox*>()->setCurrentIndex(1);
        QTest::mouseClick(shown.button("log y"), Qt::LeftButton);
        shown.page.findChild<QSlider*>()->setValue(11);
        const QByteArray saved = shown.page.saveLayout();
        LivePage other;
        other.restoreLayout(saved);
        QCOMPARE(other.range().axis(), XAxis::Tokens);
        QVERIFY(other.chart(0).logarithmicY());
        QCOMPARE(other.findChild<QSlider*>()->value(), 11);
        QByteArray older;  // of a version without smoothing
        QDataStream(&older, QIODevice::WriteOnly) << quint8(1) << qint32(2) << false << true;
        LivePage second;
        second.restoreLayout(older);
        QCOMPARE(second.range().axis(), XAxis::WallTime);
        LivePage third;
        third.restoreLayout(saved.left(3));
        third.restoreLayout("nonsense");
        QCOMPARE(third.range().axis(), XAxis::Step);
    }
};

}  // namespace stepscope

QTEST_MAIN(stepscope::LiveAxesTest)
#include "LiveAxesTest.moc"
