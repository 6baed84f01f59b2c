// One chart as a person uses it: y zoom and box zoom, lines hidden by their legend, a chart alone, copies and files; and what its axis shows.
#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QFileDialog>
#include <QMenu>
#include <QMimeData>
#include <QSignalSpy>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include "ShownPage.h"
#include "core/analysis/overlay/RunsOverlay.h"
#include "widgets/charts/ChartExport.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"

namespace stepscope {

class ChartToolsTest : public QObject {
    Q_OBJECT

    static constexpr std::size_t kLoss = 0, kStepTime = 3, kUtilisation = 5;

    static QString read(const QString& path) {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
    }

    static std::shared_ptr<const OverlaidRun> overlaid(std::int64_t session) {
        auto info = std::make_shared<SessionInfo>();
        info->name = "run " + std::to_string(session);
        info->config->layers = session;
        OverlaidRunBuilder builder(session, info);
        for (std::int64_t step = 1; step <= 50; ++step)
            builder.add({.step = step, .seconds = 0.25 * static_cast<double>(step), .ms = 250, .tokens = 100, .loss = static_cast<double>(session)});
        return builder.finish();
    }

private Q_SLOTS:
    void init() { applyStyle(*qApp, Theme::Light); }

    void aFewSlowStepsDoNotPressTheOthersFlat() {
        SyntheticRun run = Shown::defaultRun();
        run.slowSteps = 3;
        Shown shown(run);
        ChartView& chart = shown.page.chart(kStepTime);
        QVERIFY2(chart.yScale().high < 60, qPrintable(QString("axis up to %1 ms for steps of 24 ms").arg(chart.yScale().high)));
        QVERIFY(chart.beyond().has_value());
        QVERIFY2(*chart.beyond() > 250, "and it says how far they reach");
        Shown even;
        QVERIFY(!even.page.chart(kStepTime).beyond());
    }

    void theAxisOfStepTimeIsNeverZeroAlone() {
        for (const double ms : {0.9, 4.3, 9.0, 24.0, 45.0, 61.0, 99.0, 480.0, 4100.0, 45000.0}) {
            SyntheticRun run = Shown::defaultRun();
            run.msPerStep = ms;
            Shown shown(run);
            for (const QSize size : {QSize(700, 440), QSize(700, 560), QSize(456, 300)}) {
                shown.page.resize(size);
                shown.settle();
                const auto& ticks = shown.page.chart(kStepTime).yTicks().ticks;
                QVERIFY2(ticks.size() >= 2, qPrintable(QString("%1 ms at %2 x %3").arg(ms).arg(size.width()).arg(size.height())));
            }
        }
    }

    void onALogarithmicAxisStepTimeIsLinesWithAtLeastThreeLabels() {
        Shown shown;
        ChartView& chart = shown.page.chart(kStepTime);
        chart.setFocus();
        QTest::keyClick(&chart, Qt::Key_L);
        shown.settle();
        QVERIFY(chart.yScale().logarithmic);
        QVERIFY(!shown.page.chart(kLoss).yScale().logarithmic);
        QVERIFY(chart.yTicks().ticks.size() >= 3);
        QVERIFY2(chart.yScale().high < 60 && chart.yScale().low > 0.2, "the phases that matter fill it");
        QVERIFY2(shown.pixelsOf(kStepTime, seriesColour(SeriesRole::Backward, false)) < 1500, "lines, no areas");
    }

    void theTotalOfALogarithmicAxisIsThatOfTheStepAlsoWhereAPhaseIsHidden() {
        Shown shown;
        ChartView& chart = shown.page.chart(kStepTime);
        chart.setFocus();
        QTest::keyClick(&chart, Qt::Key_L);
        shown.settle();
        const double high = chart.yScale().high;
        chart.setHidden("backward", true);
        shown.settle();
        QCOMPARE(chart.yScale().high, high);
        chart.setHidden("total", true);
        shown.settle();
        QVERIFY2(chart.yScale().high < high * 0.75, "without it the axis holds the phases alone");
    }

    void theWheelBesideTheAxisOrWithControlZoomsThatChartsYOnly() {
        Shown shown;
        const Scale x = shown.page.range().scale(), other = shown.page.chart(kLoss).yScale();
        ChartView& chart = shown.page.chart(kStepTime);
        const Scale before = chart.yScale();
        shown.wheelAt(kStepTime, 2, QPoint(8, static_cast<int>(chart.plot().bottom()) - 1));
        shown.settle();
        QVERIFY(chart.yScale().high < before.high * 0.8);
        QVERIFY2(std::abs(chart.yScale().low) < before.high * 0.02, "around the pointer");
        shown.wheelAt(kStepTime, -2, shown.middle(kStepTime), Qt::ControlModifier);
        shown.settle();
        QVERIFY(chart.yScale().high - chart.yScale().low > (before.high - before.low) * 0.95);
        QCOMPARE(shown.page.range().scale().high, x.high);
        QCOMPARE(shown.page.chart(kLoss).yScale().high, other.high);
        const double low = chart.yScale().low;
        shown.drag(kStepTime, QPoint(8, 100), QPoint(8, 140));
        shown.settle();
        QVERIFY2(chart.yScale().low > low, "dragging beside the axis moves it");
        QTest::mouseDClick(&chart, Qt::LeftButton, {}, QPoint(8, 100));
        shown.settle();
        QCOMPARE(chart.yScale().high, before.high);
    }

    void theKeysUpAndDownZoomAndMoveYOfTheChartWithTheFocus() {
        Shown shown;
        ChartView& chart = shown.page.chart(kLoss);
        const Scale before = chart.yScale();
        chart.setFocus();
        QTest::keyClick(&chart, Qt::Key_Up);
        shown.settle();
        QVERIFY(chart.yScale().high < before.high && chart.yScale().low > before.low);
        const Scale closer = chart.yScale();
        QTest::keyClick(&chart, Qt::Key_Up, Qt::ShiftModifier);
        shown.settle();
        QVERIFY(chart.yScale().low > closer.low);
        QTest::keyClick(&chart, Qt::Key_F);
        shown.settle();
        QCOMPARE(chart.yScale().high, before.high);
        for (int i = 0; i < 500; ++i) QTest::keyClick(&chart, Qt::Key_Up);
        shown.settle();
        QVERIFY2(chart.yScale().high > chart.yScale().low, "never closer than numbers can tell apart");
    }

    void aLogarithmicAxisIsNeverMovedToWhereThereAreNoNumbers() {
        Shown shown;
        ChartView& chart = shown.page.chart(kStepTime);
        chart.setFocus();
        QTest::keyClick(&chart, Qt::Key_L);
        shown.settle();
        for (const auto key : {Qt::Key_Up, Qt::Key_Down}) {
            for (int i = 0; i < 12; ++i) QTest::keyClick(&chart, Qt::Key_Down);
            for (int i = 0; i < 400; ++i) QTest::keyClick(&chart, key, Qt::ShiftModifier);
            shown.settle();
            const Scale scale = chart.yScale();
            QVERIFY2(std::isfinite(scale.low) && std::isfinite(scale.high) && scale.low > 0 && scale.low < scale.high,
                     qPrintable(QString("%1 to %2").arg(scale.low).arg(scale.high)));
            chart.fitY();
        }
        for (int i = 0; i < 40; ++i) {
            shown.drag(kStepTime, shown.inPlot(kStepTime, 0.2, 0.40), shown.inPlot(kStepTime, 0.8, 0.60), Qt::ShiftModifier);
            shown.settle();
        }
        QVERIFY2(chart.yScale().high > chart.yScale().low, "nor by a box within a box");
    }

    void aBoxShowsWhatIsInIt() {
        Shown shown;
        ChartView& chart = shown.page.chart(kLoss);
        const Scale x = chart.xScale(), y = chart.yScale();
        shown.drag(kLoss, shown.inPlot(kLoss, 0.2, 0.25), shown.inPlot(kLoss, 0.6, 0.75), Qt::ShiftModifier);
        shown.settle();
        QVERIFY(std::abs(chart.xScale().low - x.fromShare(0.2)) < 0.02 * (x.high - x.low));
        QVERIFY(std::abs(chart.xScale().high - x.fromShare(0.6)) < 0.02 * (x.high - x.low));
        QVERIFY(std::abs(chart.yScale().high - y.fromShare(0.75)) < 0.03 * (y.high - y.low));
        QVERIFY(std::abs(chart.yScale().low - y.fromShare(0.25)) < 0.03 * (y.high - y.low));
        QCOMPARE(shown.page.chart(kStepTime).xScale().low, chart.xScale().low);
        QTest::mouseDClick(&chart, Qt::LeftButton, {}, shown.middle(kLoss));
        shown.settle();
        QCOMPARE(chart.xScale().high, x.high);
        QCOMPARE(chart.yScale().high, y.high);
        // With the tool no key is needed.
        QTest::mouseClick(shown.button("Box"), Qt::LeftButton);
        shown.drag(kLoss, shown.inPlot(kLoss, 0.2, 0.5), shown.inPlot(kLoss, 0.6, 0.51));
        shown.settle();
        QVERIFY(chart.xScale().high < x.high);
        QVERIFY2(!chart.zoomedY(), "a flat box asks for its steps only");
    }

    void aDoubleClickOnTheTitleShowsThatChartAlone() {
        Shown shown;
        ChartView& chart = shown.page.chart(kStepTime);
        const int before = chart.height();
        QTest::mouseDClick(&chart, Qt::LeftButton, {}, chart.titleArea().center().toPoint());
        shown.settle();
        QCOMPARE(shown.page.enlarged(), std::optional<std::size_t>(kStepTime));
        QVERIFY2(chart.height() > 2 * before && chart.width() > 690, "it has the page");
        for (std::size_t i = 0; i < LivePage::kCharts; ++i) QCOMPARE(shown.page.chart(i).isVisible(), i == kStepTime);
        QTest::keyClick(&chart, Qt::Key_Escape);
        shown.settle();
        QCOMPARE(chart.height(), before);
        shown.page.chart(6).setFocus();
        QTest::keyClick(&shown.page.chart(6), Qt::Key_Return);
        QCOMPARE(shown.page.enlarged(), std::optional<std::size_t>(6));
        QTest::keyClick(&shown.page.chart(6), Qt::Key_Return);
        QVERIFY(!shown.page.enlarged());
        QVERIFY2(shown.page.chart(6).hasFocus(), "where the keyboard was");
    }

    void aClickInTheLegendHidesThatLineAndTheAxisFollowsTheRest() {
        Shown shown;
        ChartView& chart = shown.page.chart(kStepTime);
        const double before = chart.yScale().high;
        QVERIFY(shown.pixelsOf(kStepTime, seriesColour(SeriesRole::Backward, false)) > 500);
        QTest::mouseClick(&chart, Qt::LeftButton, {}, chart.legendBox("backward").center().toPoint());
        shown.settle();
        QCOMPARE(shown.pixelsOf(kStepTime, seriesColour(SeriesRole::Backward, false)), 0);
        QVERIFY2(chart.yScale().high < before * 0.75, "the rest of the stack");
        QVERIFY(!chart.readOutText().contains("backward"));
        QVERIFY2(!chart.legendBox("backward").isEmpty(), "its name stays, to bring it back");
        QTest::mouseClick(&chart, Qt::LeftButton, {}, chart.legendBox("backward").center().toPoint());
        shown.settle();
        QCOMPARE(chart.yScale().high, before);
    }

    void aLineOfSeveralRunsThatWasHiddenComesBackByItsNameOrTheMenu() {
        Shown shown;
        auto overlay = std::make_shared<RunsOverlay>(std::vector<std::int64_t>{7, 8});
        for (const std::int64_t session : {7, 8}) overlay->put(overlaid(session));
        shown.page.setOverlay(overlay);
        shown.settle();
        ChartView& chart = shown.page.chart(kLoss);
        const QString series = QString::fromStdString(overlay->lines()[0].series);
        const QString name = QString::fromStdString(overlay->lines()[0].label);
        const auto hidden = [&] { return overlay->line(series.toStdString())->hidden; };
        const auto click = [&] {
            QTest::mouseClick(&chart, Qt::LeftButton, {}, chart.legendBox(series).center().toPoint());
            shown.settle();
        };
        QTemporaryDir folder;
        const auto drawing = [&] { return saveChart(chart, folder.filePath("chart.svg")).ok() ? read(folder.filePath("chart.svg")) : QString(); };
        QVERIFY(drawing().contains(name));
        click();
        QVERIFY(hidden());
        QVERIFY(!chart.readOutText().contains(name));
        QVERIFY2(!drawing().contains(name), "a picture names only what is in it");
        click();
        QVERIFY2(!hidden(), "the same click again");
        for (const bool expected : {true, false}) {
            const auto menu = shown.page.menuOf(chart);
            for (QAction* action : menu->actions())
                if (action->text() == name) action->trigger();
            shown.settle();
            QCOMPARE(hidden(), expected);
        }
        shown.page.setOverlay(nullptr);
        shown.settle();
    }

    void everyLineOfEveryChartCanBeHiddenFromItsMenu() {
        SyntheticRun run = Shown::defaultRun();
        run.gpu = run.fp16 = true;
        Shown shown(run);
        for (std::size_t i = 0; i < LivePage::kCharts; ++i) {
            ChartView& chart = shown.page.chart(i);
            const auto menu = shown.page.menuOf(chart);
            for (const LegendItem& item : chart.legend()) {
                if (item.series.isEmpty()) continue;
                QAction* entry = nullptr;
                for (QAction* action : menu->actions())
                    if (action->text() == item.name) entry = action;
                QVERIFY2(entry != nullptr, qPrintable(item.name));
                entry->trigger();
                QVERIFY(chart.hidden().contains(item.series));
            }
            chart.redraw();
            DrawRequest request;
            request.history = shown.history.get();
            request.hidden = &chart.hidden();
            for (const CursorDot& dot : chart.content().dots(request, 500)) {
                if (!std::isfinite(dot.y)) continue;  // never drawn
                QVERIFY2(chart.content().title() == "Learning rate" || chart.content().title() == "Step time",
                         qPrintable(QString("%1 %2").arg(i).arg(dot.y)));
            }
        }
    }

    void theSliderSmoothsFromNothingToAThousandSteps() {
        Shown shown;
        auto* slider = shown.page.findChild<QSlider*>();
        const auto roughness = [&] {  // how far the bold line goes up and down
            double sum = 0, before = std::nan("");
            for (std::int64_t step = 400; step < 460; ++step) {
                shown.page.showStep(step);
                for (const LegendItem& item : shown.page.chart(kLoss).legend()) {
                    if (item.series != "smoothed") continue;
                    if (!std::isnan(before)) sum += std::abs(item.value.toDouble() - before);
                    before = item.value.toDouble();
                }
            }
            return sum;
        };
        slider->setValue(1);
        const double little = roughness();
        slider->setValue(8);
        const double much = roughness();
        QVERIFY2(much > 0 && much < little / 3, qPrintable(QString("%1, %2").arg(little).arg(much)));
        slider->setValue(0);
        shown.settle();
        QVERIFY2(!shown.page.chart(kLoss).readOutText().contains("smoothed"), qPrintable(shown.page.chart(kLoss).readOutText()));
        slider->setFocus();
        QTest::keyClick(slider, Qt::Key_Right);
        QVERIFY(shown.page.chart(kLoss).readOutText().contains("smoothed"));
        QVERIFY2(slider->accessibleDescription().contains("1 before"), qPrintable(slider->accessibleDescription()));
    }

    void theRawLossHasAContrastOfThreeInLightAndDark() {
        for (const Theme theme : {Theme::Light, Theme::Dark}) {
            applyStyle(*qApp, theme);
            Shown shown;
            const bool dark = theme == Theme::Dark;
            const QColor ground = qApp->palette().color(QPalette::Base), train = seriesColour(SeriesRole::Train, dark);
            const QColor raw = shown.page.chart(kLoss).legend().front().colour;
            QCOMPARE(shown.page.chart(kLoss).legend().front().name, QString("train"));
            QVERIFY2(contrast(raw, ground) >= 3, qPrintable(QString::number(contrast(raw, ground))));
            QVERIFY2(contrast(raw, ground) < contrast(train, ground) - 1, "and is still fainter than the bold line");
            QVERIFY2(shown.pixelsOf(kLoss, raw, 60) > 100, "drawn with it");
        }
        QVERIFY(std::abs(contrast(Qt::black, Qt::white) - 21) < 1e-9);
    }

    void aChartIsSavedAsPictureDrawingAndValues() {
        QTemporaryDir folder;
        Shown shown;
        ChartView& chart = shown.page.chart(kStepTime);
        for (const char* ending : {"png", "svg", "csv"}) {
            const auto saved = saveChart(chart, folder.filePath(QString("chart.") + ending));
            QVERIFY2(saved.ok(), saved.ok() ? "" : saved.error().sentence.c_str());
        }
        const QImage picture(folder.filePath("chart.png"));
        QCOMPARE(picture.size(), chart.size() * 2);
        int backward = 0;
        for (int y = 0; y < picture.height(); y += 2)
            for (int x = 0; x < picture.width(); x += 2) backward += picture.pixelColor(x, y) == seriesColour(SeriesRole::Backward, false) ? 1 : 0;
        QVERIFY(backward > 300);
        const QString drawing = read(folder.filePath("chart.svg"));
        QVERIFY2(drawing.contains("<svg") && drawing.contains("Step time") && drawing.contains("<path"), "text stays text, lines stay lines");
        QVERIFY2(!drawing.contains("<image"), "nothing of it is pixels");
        const QStringList lines = read(folder.filePath("chart.csv")).split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.front(), QString("step,tokens,seconds,step_ms,batch_ms,copy_ms,forward_ms,backward_ms,clip_ms,optimizer_ms,other_ms"));
        QCOMPARE(lines.size(), 1001);
        QVERIFY(std::abs(lines[500].split(',')[3].toDouble() - shown.history->steps().stepMs[499]) < 1e-4);
        shown.settle();
    }

    void theValuesAreThoseOfTheVisiblePartAllOfThem() {
        SyntheticRun run;
        run.steps = run.planned = 100'000;
        Shown shown(run);
        shown.page.range().showOnly(20'000, 60'000);
        const QString csv = QString::fromStdString(valuesOf(shown.page.chart(kLoss)));
        QVERIFY2(std::abs(csv.count('\n') - 40'001) <= 1, qPrintable(QString::number(csv.count('\n'))));
        QVERIFY2(csv.section('\n', 1, 1).startsWith("2000"), qPrintable(csv.section('\n', 1, 1)));
        for (std::size_t i = 0; i < LivePage::kCharts; ++i) {
            const QString head = QString::fromStdString(valuesOf(shown.page.chart(i))).section('\n', 0, 0);
            QVERIFY2(head.startsWith("step,tokens,seconds,"), qPrintable(head));
        }
    }

    void aFileThatCannotBeWrittenIsSaidInASentence() {
        QTemporaryDir folder;
        Shown shown;
        const auto nowhere = saveChart(shown.page.chart(kLoss), folder.filePath("no/such/folder/loss.png"));
        QVERIFY(!nowhere.ok());
        QVERIFY2(nowhere.error().sentence.find("could not be written") != std::string::npos, nowhere.error().sentence.c_str());
        const auto what = saveChart(shown.page.chart(kLoss), folder.filePath("loss.bmp"));
        QVERIFY(!what.ok() && what.error().code == ErrorCode::BadInput);
        QVERIFY(!QFile::exists(folder.filePath("loss.bmp")));
    }

    void theKeyboardCopiesThePictureOfTheChartWithTheFocus() {
        Shown shown;
        QSignalSpy said(&shown.page, &LivePage::said);
        QApplication::clipboard()->clear();
        shown.page.chart(kLoss).setFocus();
        QTest::keyClick(&shown.page.chart(kLoss), Qt::Key_C, Qt::ControlModifier);
        QCOMPARE(QApplication::clipboard()->image().size(), shown.page.chart(kLoss).size() * 2);
        QCOMPARE(said.size(), 1);
        const QByteArray drawing = QApplication::clipboard()->mimeData()->data("image/svg+xml");
        QVERIFY2(drawing.contains("<svg") && drawing.contains("Loss"), "who can paste a drawing has one");
        const auto menu = shown.page.menuOf(shown.page.chart(kLoss));
        for (QAction* action : menu->actions())
            if (action->text() == "Copy the values") action->trigger();
        QVERIFY(QApplication::clipboard()->text().startsWith("step,tokens,seconds,loss,"));
    }

    void theDialogCompletesTheNameItselfAndAsksBeforeAFileIsWrittenOver() {
        QTemporaryDir folder;
        Shown shown;
        QSignalSpy said(&shown.page, &LivePage::said);
        for (const char* ending : {"png", "svg", "csv"}) {
            const QString kind(ending);
            const auto menu = shown.page.menuOf(shown.page.chart(kLoss));
            for (QAction* action : menu->actions())
                if (action->text() == QString("Save as %1…").arg(kind.toUpper())) action->trigger();
            auto* dialog = shown.page.findChild<QFileDialog*>();
            QVERIFY(dialog != nullptr);
            QCOMPARE(dialog->acceptMode(), QFileDialog::AcceptSave);
            QCOMPARE(dialog->defaultSuffix(), kind);
            QVERIFY2(!dialog->testOption(QFileDialog::DontConfirmOverwrite), "and so it asks about the name that is written");
            const QString path = folder.filePath("loss." + kind);
            Q_EMIT dialog->fileSelected(path);
            QVERIFY(QFile::exists(path));
            QCOMPARE(said.back().at(0).toString(), QString("Saved %1.").arg(path));
            delete dialog;
        }
    }
};

}  // namespace stepscope

QTEST_MAIN(stepscope::ChartToolsTest)
#include "ChartToolsTest.moc"
