// What a chart says of stored runs that lie over each other: names and values under the cursor, what is copied as CSV, and why nothing is seen.
#include <gtest/gtest.h>

#include <cmath>

#include "core/analysis/overlay/RunsOverlay.h"
#include "widgets/charts/overlay/OverlayContent.h"

namespace stepscope {
namespace {

std::shared_ptr<const OverlaidRun> overlaidRun(std::int64_t session, std::int64_t layers, double loss, std::int64_t steps = 50) {
    auto info = std::make_shared<SessionInfo>();
    info->name = "run \"" + std::to_string(session) + '"';
    info->config->layers = layers;
    OverlaidRunBuilder builder(session, info);
    for (std::int64_t step = 1; step <= steps; ++step)
        builder.add({.step = step, .seconds = 0.25 * static_cast<double>(step), .ms = 250, .tokens = 100, .loss = step == 3 ? kUnknown : loss});
    return builder.finish();
}

struct OverlaidPair {
    RunsOverlay overlay{{7, 8}};
    DrawRequest request;

    OverlaidPair() {
        overlay.put(overlaidRun(7, 4, 3));
        overlay.put(overlaidRun(8, 6, 5, 20));
        request.overlay = &overlay;
        request.x = {0, 60, false};
        request.pixels = 400;
        request.smoothing = 0;
    }
};

TEST(OverlayContent, CopiesEveryRowOfTheVisiblePartAndLeavesOutWhatIsNotKnown) {
    OverlaidPair pair;
    pair.request.x = {2, 4, false};
    const auto content = makeOverlayContent(RunMetric::Loss);
    EXPECT_EQ(content->csv(pair.request),
              "session,label,step,tokens,seconds,loss\n"
              "7,\"layers=4\",2,200,0.5,3\n"
              "7,\"layers=4\",3,300,0.75,\n"
              "7,\"layers=4\",4,400,1,3\n"
              "8,\"layers=6\",2,200,0.5,5\n"
              "8,\"layers=6\",3,300,0.75,\n"
              "8,\"layers=6\",4,400,1,5\n");
    pair.overlay.setHidden(7, true);
    pair.request.axis = XAxis::WallTime;
    pair.request.x = {5, 99, false};
    EXPECT_EQ(content->csv(pair.request), "session,label,step,tokens,seconds,loss\n8,\"layers=6\",20,2000,5,5\n") << "along the axis that is shown";
}

TEST(OverlayContent, StepsThatEndedAtOneMomentAreCopiedEachWithItsOwnValue) {
    OverlaidRunBuilder builder(7, std::make_shared<SessionInfo>());
    for (std::int64_t step = 1; step <= 3; ++step) builder.add({.step = step, .ms = 0, .tokens = 1, .loss = static_cast<double>(step)});
    RunsOverlay overlay({7, 8});
    overlay.put(builder.finish());
    DrawRequest request;
    request.overlay = &overlay;
    request.axis = XAxis::WallTime;
    request.x = {-1, 1, false};
    const std::string text = makeOverlayContent(RunMetric::Loss)->csv(request);
    for (const char* end : {",1,1,0,1\n", ",2,2,0,2\n", ",3,3,0,3\n"}) EXPECT_NE(text.find(end), std::string::npos) << text;
}

TEST(OverlayContent, ASessionWithoutTimesIsLeftOutAlongTimeAloneAndThatIsSaid) {
    auto info = std::make_shared<SessionInfo>();
    info->kind = SessionKind::Trace;
    info->name = "theirs";
    info->timesUnknown = true;
    OverlaidRunBuilder builder(8, info);
    for (std::int64_t step = 1; step <= 50; ++step)
        builder.add({.step = step, .seconds = 1e-3 * static_cast<double>(step), .tokens = 100, .loss = 4});
    const auto theirs = builder.finish();
    RunsOverlay overlay({7, 8});
    overlay.put(overlaidRun(7, 4, 3));
    overlay.put(theirs);
    DrawRequest request;
    request.overlay = &overlay;
    request.x = {0, 20, false};
    request.pixels = 200;
    request.smoothing = 0;
    const auto content = makeOverlayContent(RunMetric::Loss);
    const QString name = content->legend(request, std::nullopt).at(1).name;
    EXPECT_FALSE(name.contains("no times")) << name.toStdString();
    EXPECT_NE(content->csv(request).find(",2,200,,4\n"), std::string::npos) << "its times are unknown: " << content->csv(request);
    request.axis = XAxis::WallTime;
    const auto items = content->legend(request, std::nullopt);
    EXPECT_EQ(items.at(1).name, name + " (no times)");
    EXPECT_FALSE(items.at(0).name.contains("no times")) << items.at(0).name.toStdString();
    EXPECT_TRUE(std::isnan(content->valuesAt(request, 0.03).at(1).value));
    EXPECT_DOUBLE_EQ(content->valuesAt(request, 1).at(0).value, 3);
    EXPECT_EQ(content->csv(request).find("\n8,"), std::string::npos);
    EXPECT_FALSE(content->whyEmpty(request).contains("tells when")) << "one of them does";
    overlay.setHidden(7, true);
    EXPECT_TRUE(content->whyEmpty(request).contains("None of these sessions tells when its steps were")) << content->whyEmpty(request).toStdString();
}

TEST(OverlayContent, ANameWithQuotesStaysOneColumn) {
    RunsOverlay overlay({7, 8});
    overlay.put(overlaidRun(7, 4, 3, 1));
    DrawRequest request;
    request.overlay = &overlay;
    request.x = {0, 9, false};
    EXPECT_EQ(makeOverlayContent(RunMetric::Loss)->csv(request), "session,label,step,tokens,seconds,loss\n7,\"run '7'\",1,100,0.25,3\n");
}

TEST(OverlayContent, SaysTheValueOfEachLineUnderTheCursorAndNoneWhereARunHasEnded) {
    OverlaidPair pair;
    const auto content = makeOverlayContent(RunMetric::Loss);
    for (const LegendItem& item : content->legend(pair.request, std::nullopt)) EXPECT_TRUE(item.value.isEmpty()) << "no cursor, no value";
    pair.request.cursor = 10;
    auto items = content->legend(pair.request, std::nullopt);
    ASSERT_EQ(items.size(), 2u);
    EXPECT_EQ(items[0].name, "layers=4");
    EXPECT_EQ(items[0].value, readOut(3, Quantity::Number));
    EXPECT_EQ(items[1].value, readOut(5, Quantity::Number));
    EXPECT_NE(items[0].colour, items[1].colour);
    pair.request.cursor = 40;
    items = content->legend(pair.request, std::nullopt);
    EXPECT_EQ(items[0].value, readOut(3, Quantity::Number));
    EXPECT_TRUE(items[1].value.isEmpty()) << "its last step was the twentieth";
    pair.overlay.setHidden(7, true);
    items = content->legend(pair.request, std::nullopt);
    ASSERT_EQ(items.size(), 2u) << "a hidden one can be clicked to be seen again";
    EXPECT_TRUE(items[0].hidden);
    EXPECT_TRUE(items[0].value.isEmpty());
    const auto values = content->valuesAt(pair.request, 10);
    ASSERT_EQ(values.size(), 1u);
    EXPECT_EQ(values[0].name, "layers=6");
    EXPECT_DOUBLE_EQ(values[0].value, 5);
}

TEST(OverlayContent, AGroupHasTheMedianOfItsRuns) {
    RunsOverlay overlay({1, 2, 3, 4});
    overlay.put(overlaidRun(1, 4, 2));
    overlay.put(overlaidRun(2, 4, 3));
    overlay.put(overlaidRun(3, 4, 9));
    overlay.put(overlaidRun(4, 6, 5));
    overlay.groupBy("layers");
    DrawRequest request;
    request.overlay = &overlay;
    request.x = {0, 60, false};
    request.smoothing = 0;
    const auto values = makeOverlayContent(RunMetric::Loss)->valuesAt(request, 10);
    ASSERT_EQ(values.size(), 2u);
    EXPECT_DOUBLE_EQ(values[0].value, 3) << "neither the mean nor the last";
    EXPECT_DOUBLE_EQ(values[1].value, 5);
}

TEST(OverlayContent, SaysWhyNothingIsSeen) {
    OverlaidPair pair;
    const auto content = makeOverlayContent(RunMetric::Loss);
    RunsOverlay unread({1, 2});
    DrawRequest request = pair.request;
    request.overlay = &unread;
    EXPECT_TRUE(content->whyEmpty(request).startsWith("Reading"));
    pair.request.x = {70, 90, false};
    EXPECT_TRUE(content->whyEmpty(pair.request).contains("Press F"));
    pair.request.x = {0, 60, false};
    EXPECT_TRUE(makeOverlayContent(RunMetric::Memory)->whyEmpty(pair.request).contains("None of these sessions stored this"));
    pair.overlay.setHidden(7, true);
    EXPECT_FALSE(content->whyEmpty(pair.request).contains("hidden")) << "one is still there";
    pair.overlay.setHidden(8, true);
    EXPECT_TRUE(content->whyEmpty(pair.request).startsWith("All lines are hidden"));
}

TEST(OverlayContent, TheMarkInTheHeadIsDashedAsTheLineIs) {
    for (std::size_t place = 0; place < RunsOverlay::kMost; ++place) {
        const LegendItem::Mark expected = overlayDash(place) == Qt::DashLine  ? LegendItem::Mark::Dashed
                                          : overlayDash(place) == Qt::DotLine ? LegendItem::Mark::Dotted
                                                                              : LegendItem::Mark::Line;
        EXPECT_EQ(overlayMark(place), expected) << place;
    }
    EXPECT_EQ(overlayMark(7), LegendItem::Mark::Dashed);
    EXPECT_EQ(overlayMark(14), LegendItem::Mark::Dotted);
}

TEST(OverlayContent, EachMetricHasATitleAndAColumnOfItsOwn) {
    std::set<QString> titles;
    std::set<std::string> columns;
    OverlaidPair pair;
    for (const RunMetric metric : {RunMetric::Loss, RunMetric::LearningRate, RunMetric::GradientNorm, RunMetric::StepTime, RunMetric::Throughput,
                                   RunMetric::Utilisation, RunMetric::Memory}) {
        const auto content = makeOverlayContent(metric);
        titles.insert(content->title());
        EXPECT_FALSE(content->help().isEmpty());
        const std::string text = content->csv(pair.request);
        columns.insert(text.substr(0, text.find('\n')));
    }
    EXPECT_EQ(titles.size(), 7u);
    EXPECT_EQ(columns.size(), 7u);
}

}  // namespace
}  // namespace stepscope
