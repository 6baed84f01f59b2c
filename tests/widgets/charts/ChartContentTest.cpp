// What the charts say of a run, without drawing it: names and numbers of their heads, dots under the cursor, the values that are copied, sentences
// where there is nothing, and how numbers that are none are kept from an axis.
#include <gtest/gtest.h>

#include <QApplication>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <set>

#include "core/events/Event.h"
#include "widgets/charts/ChartContent.h"

namespace stepscope {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

SessionStarted chartedSession(int cores = 2, double clip = 1) {
    auto info = std::make_shared<SessionInfo>();
    info->machine->cores = cores;
    info->config->switches["grad-clip"] = clip;
    return {1, info, false};
}

StepDone chartedStep(std::int64_t number, double seconds) {
    StepDone step;
    step.step = number;
    step.at = TimeNs::fromSeconds(seconds);
    step.duration = {10'000'000};
    step.loss = 3;
    step.gradientNorm = 0.5;
    step.tokens = 100;
    step.phaseNs = {1'000'000, 0, 3'000'000, 4'000'000, 0, 1'500'000};
    step.pageFaults = 1000 * number;
    return step;
}

DeviceSample chartedSample(double seconds, double cpuPct) {
    DeviceSample sample;
    sample.at = TimeNs::fromSeconds(seconds);
    sample.cpuPct = cpuPct;
    sample.residentBytes = 600'000'000;
    sample.availableBytes = 6'000'000'000;
    return sample;
}

// Steps that end at 0.2, 0.6, 1.2 and 1.4 s, samples at 0.5, 1 and 1.5 s.
void chart(RunHistory& history) {
    history.append(chartedSession());
    history.append(chartedStep(1, 0.2));
    history.append(chartedSample(0.5, 50));
    history.append(chartedStep(2, 0.6));
    history.append(chartedSample(1, 60));
    history.append(chartedStep(3, 1.2));
    history.append(chartedStep(4, 1.4));
    history.append(chartedSample(1.5, 70));
}

DrawRequest requestOf(const RunHistory& history) {
    DrawRequest request;
    request.history = &history;
    request.x = {0, 10, false};
    request.pixels = 400;
    request.ground = Qt::white;
    request.ink = Qt::black;
    return request;
}

const LegendItem* itemOf(const std::vector<LegendItem>& items, const QString& series) {
    for (const LegendItem& item : items)
        if (item.series == series) return &item;
    return nullptr;
}

TEST(ChartContent, TheSampleOfAStepIsTheNearestInTimeAndOfTheLastStepTheLast) {
    RunHistory history;
    EXPECT_FALSE(deviceRow(history, std::nullopt).has_value());
    chart(history);
    EXPECT_EQ(deviceRow(history, 0), std::optional<std::size_t>(0));
    EXPECT_EQ(deviceRow(history, 1), std::optional<std::size_t>(0)) << "0.1 s beside it, not 0.4";
    EXPECT_EQ(deviceRow(history, 2), std::optional<std::size_t>(1));
    EXPECT_EQ(deviceRow(history, 3), std::optional<std::size_t>(2));
    EXPECT_EQ(deviceRow(history, std::nullopt), std::optional<std::size_t>(2));
    history.append(chartedStep(5, 9));
    history.append(chartedStep(6, 9.1));
    EXPECT_EQ(deviceRow(history, 4), std::optional<std::size_t>(2)) << "long after the last sample";
}

TEST(ChartContent, UtilisationNamesTheCoresAndOnlyWhatWasSeen) {
    RunHistory history;
    chart(history);
    const auto content = makeUtilisationContent();
    const DrawRequest request = requestOf(history);
    auto items = content->legend(request, 0);
    ASSERT_EQ(items.size(), 1u) << "no GPU, no other process, no host that takes time";
    EXPECT_EQ(items[0].name, "CPU, 2 cores");
    EXPECT_EQ(items[0].series, "CPU") << "by which it is hidden, whatever it is called";
    EXPECT_EQ(items[0].value, "50\u202F%");
    EXPECT_EQ(content->legend(request, std::nullopt)[0].value, "70\u202F%") << "the latest";
    RunHistory one;
    one.append(chartedSession(1));
    EXPECT_EQ(content->legend(requestOf(one), std::nullopt)[0].name, "CPU, 1 core");
    DeviceSample sample = chartedSample(2, 40);
    sample.stealPct = 0.9;
    history.append(sample);
    EXPECT_EQ(itemOf(content->legend(request, 0), "host"), nullptr) << "less than one per cent is not worth a line";
    sample.at = TimeNs::fromSeconds(2.5);
    sample.stealPct = 12;
    sample.gpuPct = 80;
    sample.othersPct = 5;
    history.append(sample);
    items = content->legend(request, 0);
    ASSERT_EQ(items.size(), 4u);
    ASSERT_NE(itemOf(items, "host"), nullptr);
    EXPECT_EQ(itemOf(items, "host")->value, "–") << "not known at that time";
    EXPECT_EQ(itemOf(content->legend(request, 3), "host")->value, "12\u202F%");
    EXPECT_EQ(itemOf(content->legend(request, 3), "GPU")->value, "80\u202F%");
    EXPECT_EQ(itemOf(content->legend(request, 3), "quota"), nullptr) << "no quota ever held it up";
    sample.at = TimeNs::fromSeconds(3);
    sample.throttledPct = 25;
    history.append(sample);
    ASSERT_NE(itemOf(content->legend(request, std::nullopt), "quota"), nullptr);
    EXPECT_EQ(itemOf(content->legend(request, std::nullopt), "quota")->value, "25\u202F%");
}

TEST(ChartContent, PowerStandsOnTheRightAxisOrTheHelpSaysWhyThereIsNone) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    int words = 1;
    std::array<char, 2> name{"t"};
    char* named = name.data();
    const QApplication forTheCanvas(words, &named);
    RunHistory history;
    history.append(chartedSession());
    history.append(chartedStep(1, 0.2));
    const auto content = makeUtilisationContent();
    DrawRequest request = requestOf(history);
    EXPECT_EQ(content->helpHere(request), "") << "nothing is known yet";
    history.append(chartedSample(0.5, 50));
    EXPECT_TRUE(content->helpHere(request).contains("not recorded in this session"));
    auto info = std::make_shared<SessionInfo>(*history.info());
    info->machine->whyNoProcessorEnergy = "This machine exposes no energy counters.";
    RunHistory hidden;
    hidden.append(SessionStarted{1, info, false});
    hidden.append(chartedSample(0.5, 50));
    EXPECT_TRUE(content->helpHere(requestOf(hidden)).endsWith("This machine exposes no energy counters."));
    ChartCanvas canvas;
    request.x = {0, 3, false};
    request.pixels = 100;
    content->fill(canvas, request);
    EXPECT_FALSE(content->rightAxis());
    DeviceSample sample = chartedSample(1, 60);
    sample.cpuPowerW = 80;
    sample.gpuPowerW = 300;
    history.append(sample);
    history.append(chartedStep(2, 1.2));
    EXPECT_EQ(content->helpHere(request), "");
    content->fill(canvas, request);
    ASSERT_TRUE(content->rightAxis());
    EXPECT_EQ(content->rightAxis()->quantity, Quantity::Watts);
    EXPECT_GE(content->rightAxis()->scale.high, 300);
    const auto items = content->legend(request, 1);
    ASSERT_NE(itemOf(items, "CPU power"), nullptr);
    EXPECT_EQ(itemOf(items, "CPU power")->value, "80.0\u202FW");
    EXPECT_EQ(itemOf(items, "CPU power")->mark, LegendItem::Mark::Dotted);
    EXPECT_EQ(itemOf(items, "GPU power")->value, "300\u202FW");
    const std::set<QString> off{"GPU power"};
    request.hidden = &off;
    content->fill(canvas, request);
    ASSERT_TRUE(content->rightAxis());
    EXPECT_LT(content->rightAxis()->scale.high, 200) << "what is hidden does not press the other flat";
    const ValueTable values = content->values(history);
    ASSERT_EQ(values.names.size(), 7);
    EXPECT_EQ(values.names[4], "cpu_power_w");
    EXPECT_EQ(values.at(4, 1), 80);
    EXPECT_TRUE(std::isnan(values.at(5, 0)));
}

TEST(ChartContent, LinesOfOneChartAreToldApartWithoutTheirColours) {
    RunHistory history;
    chart(history);
    DeviceSample sample = chartedSample(2, 40);
    sample.stealPct = 12;
    sample.gpuPct = 80;
    history.append(sample);
    const auto devices = makeUtilisationContent()->legend(requestOf(history), std::nullopt);
    ASSERT_NE(itemOf(devices, "host"), nullptr);
    ASSERT_NE(itemOf(devices, "GPU"), nullptr);
    EXPECT_EQ(itemOf(devices, "GPU")->mark, LegendItem::Mark::Dashed);
    EXPECT_EQ(itemOf(devices, "host")->mark, LegendItem::Mark::Dotted) << "as its line is drawn";
    StepDone step = chartedStep(5, 3);
    step.lossScale = 1024;
    history.append(step);
    const auto gradients = makeGradientNormContent()->legend(requestOf(history), 4);
    ASSERT_NE(itemOf(gradients, "clips at"), nullptr);
    ASSERT_NE(itemOf(gradients, "loss scale"), nullptr);
    EXPECT_EQ(itemOf(gradients, "clips at")->mark, LegendItem::Mark::Dotted) << "as the help of the chart says";
    EXPECT_EQ(itemOf(gradients, "loss scale")->mark, LegendItem::Mark::Dashed);
}

TEST(ChartContent, GradientsNameAThresholdOnlyWhereTheyAreClippedAndCountWhatWasSkipped) {
    RunHistory history;
    history.append(chartedSession(2, 0));
    StepDone step = chartedStep(1, 0.1);
    history.append(step);
    const auto content = makeGradientNormContent();
    EXPECT_EQ(itemOf(content->legend(requestOf(history), 0), "clips at"), nullptr);
    EXPECT_EQ(itemOf(content->legend(requestOf(history), 0), "skipped"), nullptr) << "nothing has a loss scale";
    step.lossScale = 1024;
    for (std::int64_t i = 2; i <= 5; ++i) {
        step.step = i;
        step.skipped = i == 3 || i == 5;
        history.append(step);
    }
    EXPECT_EQ(itemOf(content->legend(requestOf(history), 2), "skipped")->value, "1") << "up to the cursor";
    EXPECT_EQ(itemOf(content->legend(requestOf(history), 4), "skipped")->value, "2");
}

TEST(ChartContent, DotsOfWhatIsHiddenAreHiddenToo) {
    RunHistory history;
    chart(history);
    const auto content = makeUtilisationContent();
    DrawRequest request = requestOf(history);
    const auto finite = [&](const std::vector<CursorDot>& dots) {
        return std::ranges::count_if(dots, [](const CursorDot& dot) { return std::isfinite(dot.y); });
    };
    ASSERT_EQ(finite(content->dots(request, 2)), 1);
    EXPECT_DOUBLE_EQ(content->dots(request, 2)[0].y, 60);
    EXPECT_DOUBLE_EQ(content->dots(request, 2)[0].x, 2) << "where the sample stands: two steps were done";
    const std::set<QString> hidden{"CPU"};
    request.hidden = &hidden;
    EXPECT_EQ(finite(content->dots(request, 2)), 0);
}

TEST(ChartContent, StepTimeNamesEachPhaseAndWhatBelongsToNone) {
    RunHistory history;
    chart(history);
    const auto content = makeStepTimeContent();
    DrawRequest request = requestOf(history);
    QStringList words;
    for (const LegendItem& item : content->legend(request, 0)) words += item.name + ' ' + item.value;
    EXPECT_EQ(words.join('|'), "total 10.0|batch 1.00|forward 3.00|backward 4.00|clip 0.00|optimizer 1.50|other 0.50");
    EXPECT_TRUE(content->legend(request, 0)[0].series.isEmpty()) << "stacked, the total is the upper edge and cannot be hidden";
    for (const LegendItem& item : content->legend(request, std::nullopt)) EXPECT_TRUE(item.value.isEmpty() && item.shortValue.isEmpty());
    EXPECT_NEAR(content->dots(request, 0)[0].y, 10, 1e-6);
    const std::set<QString> hidden{"backward", "other"};
    request.hidden = &hidden;
    EXPECT_NEAR(content->dots(request, 0)[0].y, 5.5, 1e-6) << "on the top of what is stacked";
    request.logarithmicY = true;
    EXPECT_NEAR(content->dots(request, 0)[0].y, 10, 1e-6) << "on the line of the total";
    EXPECT_EQ(content->legend(request, 0)[0].series, "total");
}

TEST(ChartContent, WaitingForOtherWorkersIsAColumnWhereThereAreSome) {
    RunHistory alone, together;
    chart(alone);
    chart(together);
    StepDone waited = chartedStep(5, 1.6);
    waited.phaseNs[static_cast<std::size_t>(Phase::Waiting)] = 400'000;
    together.append(waited);
    for (const bool several : {false, true}) {
        const RunHistory& history = several ? together : alone;
        const ValueTable table = makeStepTimeContent()->values(history);
        EXPECT_EQ(table.names.contains("waiting_ms"), several);
        double sum = 0;
        for (std::size_t column = 1; column < static_cast<std::size_t>(table.names.size()); ++column) sum += table.at(column, table.rows - 1);
        EXPECT_NEAR(sum, table.at(0, table.rows - 1), 1e-6) << "phases still add up to the step";
    }
}

TEST(ChartContent, CopiedPhasesAddUpToTheStep) {
    RunHistory history;
    chart(history);
    const ValueTable table = makeStepTimeContent()->values(history);
    ASSERT_EQ(table.rows, 4u);
    EXPECT_EQ(table.names.join(','), "step_ms,batch_ms,copy_ms,forward_ms,backward_ms,clip_ms,optimizer_ms,other_ms");
    double sum = 0;
    for (std::size_t column = 1; column < static_cast<std::size_t>(table.names.size()); ++column) sum += table.at(column, 3);
    EXPECT_NEAR(sum, table.at(0, 3), 1e-6);
    EXPECT_EQ(table.place(3).step, 4);
}

TEST(ChartContent, CopiedMemoryIsByTheSampleWithTheFaultsOfTheStepAtItsTime) {
    RunHistory history;
    const auto content = makeMemoryContent();
    history.append(chartedSession());
    history.append(chartedSample(0.1, 50));
    EXPECT_TRUE(std::isnan(content->values(history).at(3, 0))) << "no step, no faults";
    chart(history);
    const ValueTable table = content->values(history);
    ASSERT_EQ(table.rows, 3u) << "a row a sample, not a step";
    ASSERT_EQ(table.names.size(), 4);
    EXPECT_DOUBLE_EQ(table.at(0, 0), 600e6);
    EXPECT_TRUE(std::isnan(table.at(2, 0))) << "no GPU";
    EXPECT_DOUBLE_EQ(table.at(3, 0), 2000) << "0.5 s is next to the step that ended at 0.6 s";
    EXPECT_DOUBLE_EQ(table.at(3, 2), 4000);
}

TEST(ChartContent, DeviceChartsSayWhyTheyAreEmpty) {
    RunHistory history;
    const auto content = makeMemoryContent();
    EXPECT_EQ(content->whyEmpty(DrawRequest{}), "No steps yet. Press Run.");
    history.append(chartedSession());
    EXPECT_TRUE(content->whyEmpty(requestOf(history)).startsWith("No device samples yet"));
    history.append(StateChanged{{}, 0, RunState::Finished, ""});
    EXPECT_TRUE(content->whyEmpty(requestOf(history)).startsWith("This run was too short"));
    history.append(chartedSample(0.5, 1));
    EXPECT_EQ(content->whyEmpty(requestOf(history)), "");
}

TEST(ChartContent, AChartOfStepsSaysWhetherTheyAreElsewhereOrWillNeverCome) {
    RunHistory history;
    chart(history);
    const auto content = makeLossContent();
    DrawRequest request = requestOf(history);
    EXPECT_EQ(content->whyEmpty(request), "");
    for (const Scale& beside : {Scale{5, 9, false}, Scale{-9, 0.5, false}}) {
        request.x = beside;
        EXPECT_TRUE(content->whyEmpty(request).contains("Press F")) << beside.low;
    }
    RunHistory failed;
    failed.append(chartedSession());
    failed.append(StateChanged{{}, 0, RunState::Failed, "no memory"});
    EXPECT_EQ(content->whyEmpty(requestOf(failed)), "The run failed before its first step: no memory");
    auto info = std::make_shared<SessionInfo>();
    info->kind = SessionKind::Trace;
    RunHistory trace;
    trace.append(SessionStarted{2, info, false});
    EXPECT_TRUE(content->whyEmpty(requestOf(trace)).contains("imported trace"));
}

TEST(ChartContent, TheLearningRateIsThereAlongTheEnergyOnceThatIsKnown) {
    RunHistory history;
    history.append(chartedSession());
    const auto content = makeLearningRateContent();
    DrawRequest request = requestOf(history);
    request.axis = XAxis::Energy;
    EXPECT_TRUE(content->whyEmpty(request).contains("first sample of the power")) << content->whyEmpty(request).toStdString();
    for (std::int64_t step = 1; step <= 6; ++step) {
        const double seconds = 0.4 * static_cast<double>(step);
        DeviceSample sample = chartedSample(seconds, 50);
        sample.cpuPowerW = 10;
        history.append(sample);
        StepDone done = chartedStep(step, seconds + 0.1);
        done.learningRate = 1e-3;
        history.append(done);
    }
    ASSERT_TRUE(history.knowsEnergy());
    request.x = {0, history.last().joules * 0.6, false};  // the past alone, without the schedule that is to come
    EXPECT_EQ(content->whyEmpty(request), "");
    history.append(StateChanged{TimeNs::fromSeconds(3), 6, RunState::Finished, ""});
    EXPECT_EQ(content->whyEmpty(request), "");
    request.x = {0, 1000, false};
    EXPECT_EQ(content->whyEmpty(request), "") << "of a run that has ended none is to come";
}

TEST(ChartContent, OfAnImportedLogWithoutTimesNoChartIsDrawnAlongTime) {
    for (const bool unknown : {false, true}) {
        auto info = std::make_shared<SessionInfo>();
        info->kind = SessionKind::Trace;
        info->timesUnknown = unknown;
        RunHistory history;
        history.append(SessionStarted{1, info, true});
        for (std::int64_t step = 1; step <= 4; ++step) history.append(chartedStep(step, 0.001 * static_cast<double>(step)));
        EXPECT_EQ(history.knowsTimes(), !unknown);
        for (const auto& content : {makeLossContent(), makeGradientNormContent(), makeStepTimeContent(), makeThroughputContent()}) {
            DrawRequest request = requestOf(history);
            request.axis = XAxis::WallTime;
            const QString why = content->whyEmpty(request);
            EXPECT_EQ(why.contains("does not tell when its steps were"), unknown) << content->title().toStdString() << ": " << why.toStdString();
            request.axis = XAxis::Step;
            EXPECT_EQ(content->whyEmpty(request), "") << content->title().toStdString();
        }
    }
}

TEST(ChartContent, OfAnImportedLogEachChartSaysWhatTheLogDoesNotHold) {
    auto info = std::make_shared<SessionInfo>();
    info->kind = SessionKind::Trace;
    info->config.reset();
    info->machine.reset();
    RunHistory history;
    history.append(SessionStarted{3, info, true});
    for (std::int64_t step = 1; step <= 4; ++step) history.append(StepDone{.step = step, .loss = 3});
    const auto why = [&](std::unique_ptr<ChartContent> content) { return content->whyEmpty(requestOf(history)).toStdString(); };
    for (const bool over : {false, true}) {
        if (over) history.append(StateChanged{{}, 4, RunState::Finished, ""});
        EXPECT_EQ(why(makeLossContent()), "");
        EXPECT_EQ(why(makeLearningRateContent()), "What was imported says nothing of a learning rate.");
        EXPECT_EQ(why(makeGradientNormContent()), "What was imported says nothing of a gradient norm.");
        EXPECT_EQ(why(makeStepTimeContent()), "What was imported says nothing of how long a step took.");
        EXPECT_EQ(why(makeThroughputContent()), "What was imported says nothing of tokens a second.");
        EXPECT_EQ(why(makeUtilisationContent()), "What was imported has no samples of the machine.");
        EXPECT_EQ(why(makeMemoryContent()), "What was imported has no samples of the machine.");
    }
    const auto items = makeStepTimeContent()->legend(requestOf(history), 3);
    ASSERT_FALSE(items.empty());
    EXPECT_EQ(items[0].value, QString("–")) << "no number that nobody measured";
}

TEST(ChartAxes, AFewSlowStepsDoNotDecideWhereAnAxisEndsUnlessTheyAreNotFew) {
    std::vector<double> values(98, 10.0);
    values.push_back(19.5);
    values.push_back(4000);
    EXPECT_DOUBLE_EQ(robustHigh(values), 19.5) << "twice as long is seen, four hundred times as long is not";
    std::vector<double> half(10, 10.0);
    half.resize(20, 4000);
    EXPECT_DOUBLE_EQ(robustHigh(half), 4000);
    EXPECT_DOUBLE_EQ(robustHigh({7}), 7);
    EXPECT_DOUBLE_EQ(robustHigh({0, 0}), 0);
    EXPECT_DOUBLE_EQ(robustHigh({}), 0);
}

TEST(ChartAxes, WhatIsNoNumberNeverWidensAnAxisNorIsDrawn) {
    VisibleValues visible;
    for (const double value : {3.0, kUnknown, kInfinite, -kInfinite, -2.0}) visible.add(value);
    EXPECT_EQ(visible.low, -2);
    EXPECT_EQ(visible.high, 3);
    Column column;
    for (const double value : {kUnknown, -5.0, 4.0, 900.0}) column.append(value);
    VisibleValues some;
    some.add(column, {0, 1}, false);
    EXPECT_FALSE(std::isfinite(some.low)) << "a gap alone";
    some.add(column, {0, 3}, true);
    EXPECT_EQ(some.low, 4);
    EXPECT_EQ(some.high, 4);
    const Scale x{0, 10, false}, y{1, 100, true};
    const Line line = toShares(Line{{0, 10}, {5, 0}, {5, -1}, {5, kUnknown}, {10, 1e300}, {1e300, 100}}, x, y);
    ASSERT_EQ(line.size(), 3u) << "neither nothing nor less than nothing has a place on a logarithmic axis";
    EXPECT_DOUBLE_EQ(line[0].y, 0.5);
    EXPECT_LE(line[1].y, 5) << "far outside is as good as just outside";
    EXPECT_GT(line[1].y, 1);
    EXPECT_LE(line[2].x, 5);
    EXPECT_TRUE(toShares(std::vector<Line>{Line{{5, 0}}, Line{}}, x, y).empty()) << "lines of which nothing is left";
}

}  // namespace
}  // namespace stepscope
