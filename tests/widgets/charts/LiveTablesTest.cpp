// The tables over the charts: statistics of a selected range from every step of it, and the list of flips; numbered flags where labels have no room.
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHelpEvent>
#include <QSignalSpy>
#include <QTableWidget>
#include <QTest>
#include <QToolTip>
#include <algorithm>

#include "ShownPage.h"
#include "core/analysis/Statistics.h"
#include "core/events/ConfigJson.h"
#include "core/events/Event.h"
#include "widgets/charts/MarkerLayout.h"
#include "widgets/charts/overlay/OverlayTable.h"
#include "widgets/style/Theme.h"

namespace stepscope {

class LiveTablesTest : public QObject {
    Q_OBJECT

    static QString cell(OverlayTable& table, int row, int column) { return table.findChild<QTableWidget*>()->item(row, column)->text(); }
    static bool measured(Shown& shown) {
        return QTest::qWaitFor([&] { return shown.page.statistics().rows() == 9; });
    }

    static void append(RunHistory& history, int steps, double ms, std::int64_t tokens, double othersPct) {
        for (int i = 1; i <= steps; ++i) {
            StepDone done;
            done.step = static_cast<std::int64_t>(history.rows()) + 1;
            done.duration = TimeNs::fromSeconds(ms / 1000);
            done.at = TimeNs::fromSeconds(history.last().seconds + ms / 1000);
            done.tokens = tokens;
            done.residentBytes = 300'000'000;
            history.append(done);
            if (i % 25 > 0) continue;
            DeviceSample sample;
            sample.at = done.at;
            sample.cpuPct = 50;
            sample.othersPct = othersPct;
            history.append(sample);
        }
    }
    // A run that trains 1 000 tokens in steps of 20 ms, and is flipped once.
    static std::shared_ptr<RunHistory> flippedRun(int before, double msAfter, std::int64_t tokensAfter, double othersAfter = 1) {
        auto history = std::make_shared<RunHistory>();
        history->append(SessionStarted{1, std::make_shared<SessionInfo>(), false});
        history->append(StateChanged{{}, 0, RunState::Running, ""});
        append(*history, before, 20, 1000, 1);
        history->append(SwitchApplied{before, TimeNs::fromSeconds(history->last().seconds), "amp", std::string("off"), std::string("bf16"), ""});
        append(*history, 75, msAfter, tokensAfter, othersAfter);
        return history;
    }
    static constexpr int kEnough = 5 + 39 * 45 + 20;  // steps before a flip: warm-up, places to compare it with, its own

private Q_SLOTS:
    void init() { applyStyle(*qApp, Theme::Light); }

    void aSelectedRangeSaysWhatItsStepsWereLike() {
        SyntheticRun run;
        run.steps = run.planned = 100'000;
        Shown shown(run);
        shown.drag(3, shown.inPlot(3, 0.3, 0.5), shown.inPlot(3, 0.7, 0.5), Qt::ControlModifier);
        QVERIFY(shown.page.range().selection().has_value());
        QVERIFY(shown.page.statistics().isVisible());
        QVERIFY(measured(shown));
        const auto begin = static_cast<std::size_t>(shown.page.range().selection()->from) - 1,
                   end = static_cast<std::size_t>(shown.page.range().selection()->to);
        QVERIFY2(end - begin > 39'000 && end - begin < 41'000, "every step of it, not one a pixel");
        std::vector<double> ms;
        for (std::size_t row = begin; row < end; ++row) ms.push_back(shown.history->steps().stepMs[row]);
        const Summary expected = summarise(ms);
        OverlayTable& table = shown.page.statistics();
        QCOMPARE(cell(table, 0, 0), QString("step time"));
        const double numbers[] = {expected.mean, expected.median, expected.lowerQuartile, expected.upperQuartile, expected.low, expected.high};
        for (int i = 0; i < 6; ++i) QCOMPARE(cell(table, 0, 2 + i), readOut(numbers[i], Quantity::Milliseconds));
        QVERIFY2(table.text().startsWith("Steps 29\u202F920 to 70\u202F080: 40\u202F161 in"), qPrintable(table.text()));
        table.findChild<QToolButton*>()->click();
        QCOMPARE(QApplication::clipboard()->text(), table.text());
        QTest::keyClick(&table, Qt::Key_Escape);
        QVERIFY(!table.isVisible());
        QTest::keyClick(&shown.page, Qt::Key_Escape);
        QVERIFY(!shown.page.range().selection());
    }

    void theBracketsSelectAtTheCursor() {
        Shown shown;
        shown.page.setFocus();
        shown.page.showStep(300);
        QTest::keyClick(&shown.page, Qt::Key_BracketLeft);
        shown.page.showStep(350);
        QTest::keyClick(&shown.page, Qt::Key_BracketRight);
        QCOMPARE(shown.page.range().selection()->from, 300.0);
        QCOMPARE(shown.page.range().selection()->to, 350.0);
        QVERIFY(measured(shown));
        QCOMPARE(cell(shown.page.statistics(), 0, 1), QString("51"));
    }

    void aSelectionStaysTheSameStepsOnAnotherAxisAndGoesWithTheRun() {
        Shown shown;
        shown.page.select(100, 200);
        QVERIFY(measured(shown));
        const QString before = shown.page.statistics().text();
        shown.page.findChild<QComboBox*>()->setCurrentIndex(1);
        QCOMPARE(shown.page.range().selection()->from, shown.history->x(XAxis::Tokens, 100));
        QVERIFY(measured(shown));
        QCOMPARE(shown.page.statistics().text(), before);
        auto info = std::make_shared<SessionInfo>();
        info->config = SyntheticRun().config();
        shown.history->append(SessionStarted{2, info, false});
        shown.page.historyChanged();
        QVERIFY(!shown.page.range().selection());
        QVERIFY(!shown.page.statistics().isVisible());
    }

    void growingDataLeaveTheSelectedStepsAsTheyAre() {
        Shown shown;
        shown.page.select(100, 200);
        QVERIFY(measured(shown));
        const QString before = shown.page.statistics().text();
        Shown::defaultRun().appendSteps(*shown.history, 1000, 1200);
        shown.page.historyChanged();
        shown.settle();
        QTest::qWait(30);
        QCOMPARE(shown.page.statistics().text(), before);
    }

    void theListOfFlipsSaysWhatEachDidAndGoesThere() {
        SyntheticRun run = Shown::defaultRun();
        run.planned = 6000;  // with 39 places and more where nothing was flipped
        run.steps = 5000;
        Shown shown(run);
        QVERIFY(shown.button("Flips")->isEnabled());
        QCOMPARE(shown.button("Flips")->text(), QString("Flips (3)"));
        QTest::mouseClick(shown.button("Flips"), Qt::LeftButton);
        OverlayTable& table = shown.page.flips();
        QCOMPARE(table.rows(), 3);
        QCOMPARE(cell(table, 0, 0), QString("1  amp bf16"));
        QCOMPARE(cell(table, 0, 1), QString("1\u202F321"));
        QVERIFY2(cell(table, 0, 2).contains(" → "), qPrintable(cell(table, 0, 2)));
        QVERIFY2(cell(table, 0, 3).startsWith("−2"), qPrintable(cell(table, 0, 3)));
        QCOMPARE(cell(table, 0, 7), QString("faster"));
        QVERIFY2(cell(table, 1, 7).contains("2 to 3 together"), qPrintable(cell(table, 1, 7)));
        Q_EMIT table.rowActivated(0);
        QCOMPARE(shown.page.range().cursor(), std::optional<double>(1321));
        SyntheticRun quiet = Shown::defaultRun();
        quiet.events = false;
        Shown none(quiet);
        QVERIFY(!none.button("Flips")->isEnabled());
    }

    void aFlipOfTheBatchIsJudgedByItsThroughput() {
        LivePage page;
        page.resize(700, 560);
        page.setHistory(flippedRun(kEnough, 40, 4000));
        page.show();
        page.showFlips();
        OverlayTable& table = page.flips();
        QCOMPARE(table.rows(), 1);
        QCOMPARE(cell(table, 0, 2), readOut(20, Quantity::Milliseconds) + " → " + readOut(40, Quantity::Milliseconds));
        QCOMPARE(cell(table, 0, 3), QString());
        QCOMPARE(cell(table, 0, 4), QString("+100\u202F%"));
        QCOMPARE(cell(table, 0, 7), QString("faster"));
        QCOMPARE(cell(table, 0, 6), QString());
    }

    void whereTheMachineChangedNoPerCentIsShown() {
        LivePage page;
        page.resize(700, 560);
        page.setHistory(flippedRun(kEnough, 30, 1000, 46));
        page.show();
        page.showFlips();
        OverlayTable& table = page.flips();
        QVERIFY2(cell(table, 0, 7).startsWith("the machine changed: other processes"), qPrintable(cell(table, 0, 7)));
        QVERIFY(!cell(table, 0, 2).isEmpty());
        for (const int column : {3, 4}) QCOMPARE(cell(table, 0, column), QString());
        QCOMPARE(cell(table, 0, 6), QString("Measure properly"));
    }

    void anInconclusiveFlipIsMeasuredFromItsRowByClickAndKey() {
        const auto history = flippedRun(600, 10, 1000);
        LivePage page;
        page.resize(1000, 560);
        page.setHistory(history);
        page.show();
        QVERIFY(QTest::qWaitForWindowExposed(&page));
        page.showFlips();
        QCoreApplication::processEvents();
        OverlayTable& table = page.flips();
        QVERIFY2(cell(table, 0, 7).startsWith("inconclusive: "), qPrintable(cell(table, 0, 7)));
        QCOMPARE(cell(table, 0, 4), QString());
        QCOMPARE(cell(table, 0, 6), QString("Measure properly"));
        QVERIFY2(!table.text().contains("Measure properly"), "what is copied is what was measured");
        QSignalSpy asked(&page, &LivePage::flipMeasureRequested), moved(&page.range(), &ViewRange::cursorChanged);
        auto* rows = table.findChild<QTableWidget*>();
        rows->scrollToItem(rows->item(0, 6));
        QTest::mouseClick(rows->viewport(), Qt::LeftButton, {}, rows->visualItemRect(rows->item(0, 6)).center());
        QCOMPARE(asked.size(), 1);
        QCOMPARE(asked.at(0).at(0).toInt(), 0);
        QCOMPARE(moved.size(), 0);
        QTest::keyClick(rows, Qt::Key_M);
        QCOMPARE(asked.size(), 2);
        history->append(StateChanged{TimeNs::fromSeconds(history->last().seconds), 675, RunState::Stopped, ""});
        page.showFlips();
        QCOMPARE(cell(table, 0, 6), QString("Ask on the page Compare"));
    }

    void theListOfFlipsKnowsWhatWasMeasuredInTurns() {
        Shown shown;
        RunConfig before, after;
        before.switches["amp"] = std::string("off");
        after.switches["amp"] = std::string("bf16");
        const TimeNs at = TimeNs::fromSeconds(shown.history->last().seconds);
        shown.history->append(SwitchApplied{1000, at, "amp", std::string("off"), std::string("bf16"), ""});
        const int row = static_cast<int>(std::ranges::count(shown.history->markers(), Marker::Kind::Switch, &Marker::kind)) - 1;
        shown.page.showFlips();
        QVERIFY2(cell(shown.page.flips(), row, 7).startsWith("too few steps"), qPrintable(cell(shown.page.flips(), row, 7)));
        shown.history->append(ExperimentBegan{.step = 1000, .at = at, .configA = configToJson(after), .configB = configToJson(before)});
        shown.history->append(
            ExperimentJudged{.step = 1000, .at = at, .over = true, .outcome = "slower", .ratio = 0.8, .low = 0.75, .high = 0.85, .pairs = 12});
        shown.page.historyChanged();
        QVERIFY2(cell(shown.page.flips(), row, 7).startsWith("measured in turns: faster by 25.0"), qPrintable(cell(shown.page.flips(), row, 7)));
        QCOMPARE(cell(shown.page.flips(), row, 6), QString());
    }

    void ofTwoHundredThousandFlipsTheListHasTheNewestAndSaysHowManyMore() {
        auto history = std::make_shared<RunHistory>();
        history->append(SessionStarted{7, std::make_shared<SessionInfo>(), false});
        for (std::int64_t i = 0; i < 200'000; ++i) history->append(SwitchApplied{i, {}, "amp", std::string("off"), std::string("bf16"), ""});
        LivePage page;
        page.resize(700, 560);
        page.setHistory(history);
        page.show();  // no event is handled in between: this is of the list alone
        page.showFlips();
        OverlayTable& table = page.flips();
        QCOMPARE(table.rows(), static_cast<int>(LivePage::kMostFlips));
        QCOMPARE(cell(table, 0, 0), QString("199001  amp bf16"));
        QCOMPARE(cell(table, 999, 0), QString("200000  amp bf16"));
        QVERIFY2(table.text().contains("the newest 1\u202F000; 199\u202F000 older ones"), qPrintable(table.text().section('\n', 0, 0)));
        QSignalSpy moved(&page.range(), &ViewRange::cursorChanged);
        Q_EMIT table.rowActivated(1000);
        QCOMPARE(moved.size(), 0);
    }

    void twoHundredThousandFlipsAmongStepsAreDrawnAsFlagsWithTheirNumbers() {
        SyntheticRun run = Shown::defaultRun();
        run.events = false;
        Shown shown(run);
        const TimeNs at = TimeNs::fromSeconds(shown.history->last().seconds);
        for (std::int64_t i = 0; i < 200'000; ++i) shown.history->append(SwitchApplied{1000, at, "amp", std::string("off"), std::string("bf16"), ""});
        shown.page.historyChanged();
        shown.settle();
        QCOMPARE(shown.button("Flips")->text(), QString("Flips (200\u202F000)"));
        const ChartView& chart = shown.page.chart(0);
        const double share = chart.view().x.toShare(1000);
        QVERIFY(share > 0 && share < 1);
        const QPoint there(static_cast<int>(chart.plot().left() + share * chart.plot().width()), static_cast<int>(chart.plot().top()) - 7);
        QHelpEvent help(QEvent::ToolTip, there, chart.mapToGlobal(there));
        QCoreApplication::sendEvent(&shown.page.chart(0), &help);
        QVERIFY2(QToolTip::text().contains("from step 1001 on.") && QToolTip::text().contains("and 199994 more"), qPrintable(QToolTip::text()));
    }

    void flipsWithoutRoomForTheirNamesGetNumbersThatNameTheirRows() {
        SyntheticRun run = Shown::defaultRun();
        run.steps = run.planned;
        run.flips = 40;
        Shown shown(run);
        const QRectF plot = shown.page.chart(0).plot();
        const QImage lane = shown.page.chart(0).grab().toImage().copy(plot.left(), plot.top() - 14, plot.width(), 13);
        int boxes = 0;
        for (int x = 0; x < lane.width(); ++x) boxes += lane.pixelColor(x, 6).lightness() < 120 ? 1 : 0;
        QVERIFY2(boxes > 100, qPrintable(QString("%1 dark pixels: flags").arg(boxes)));
        QTest::mouseClick(&shown.page.chart(0), Qt::LeftButton, {}, QPoint(static_cast<int>(plot.center().x()), static_cast<int>(plot.top()) - 7));
        QVERIFY2(shown.page.flips().isVisible(), "a click on the flags opens the list");
        QCOMPARE(shown.page.flips().rows(), 3 + 40);
        QVERIFY(shown.page.flips().geometry().right() <= shown.page.width() && shown.page.flips().geometry().bottom() <= shown.page.height());
    }

    void flagsNeverTouchAndNoFlipIsWithoutOne() {
        for (const double distance : {0.5, 3.0, 11.0, 40.0}) {
            std::vector<double> places;
            for (double at = 2; at < 400; at += distance) places.push_back(at);
            const auto flags = placeFlags(
                places, [](std::size_t first, std::size_t last) { return first == last ? 12.0 : 30.0; }, 400);
            std::size_t next = 0;
            double right = -1;
            for (const PlacedFlag& flag : flags) {
                QCOMPARE(flag.first, next);
                next = flag.last + 1;
                QVERIFY(flag.left > right && flag.left >= 0 && flag.left + flag.width <= 400);
                right = flag.left + flag.width;
            }
            QCOMPARE(next, places.size());
            if (distance == 40.0) QCOMPARE(flags.size(), places.size());
        }
    }

    void theTablesAreReachedAndLeftByTheKeyboard() {
        Shown shown;
        shown.page.activateWindow();
        shown.button("Flips")->setFocus();
        QTest::keyClick(shown.button("Flips"), Qt::Key_Space);
        QVERIFY(shown.page.flips().isVisible());
        auto* table = shown.page.flips().findChild<QTableWidget*>();
        QVERIFY(!table->accessibleName().isEmpty());
        QTest::keyClick(table, Qt::Key_Down);
        QTest::keyClick(table, Qt::Key_Escape);
        QVERIFY(!shown.page.flips().isVisible());
    }
};

}  // namespace stepscope

QTEST_MAIN(stepscope::LiveTablesTest)
#include "LiveTablesTest.moc"
