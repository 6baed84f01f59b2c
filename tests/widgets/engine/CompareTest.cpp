// The page Compare over the real engine: two configurations that really take turns, and what the page says of them.
#include <QPushButton>
#include <QTabWidget>

#include "core/analysis/ExperimentHistory.h"
#include "tests/widgets/engine/EngineFixture.h"
#include "widgets/charts/experiment/RatioChart.h"
#include "widgets/panels/compare/CompareForm.h"
#include "widgets/panels/compare/ComparePage.h"
#include "widgets/panels/compare/CompareResult.h"
#include "widgets/panels/experiment/ExperimentPanel.h"

namespace stepscope {
namespace {

class CompareTest : public EngineFixture {
protected:
    ComparePage& page() { return place->window().comparePage(); }
    CompareResult& result() { return page().result(); }
};

TEST_F(CompareTest, AsksTwoConfigurationsAndAnswersWithVerdictIntervalAndFloor) {
    open({"steps=10"});
    ASSERT_TRUE(reaches(1, 10));
    ASSERT_TRUE(idle());
    place->window().resize(1280, 800);
    place->window().pages().setCurrentWidget(&page());
    page().ask();
    // Four times the width: so much of a difference is told in seconds, on any machine.
    page().form().setQuestion({.differences = {{"width", "32", "128"}}, .budgetSeconds = 40});
    Q_EMIT page().form().edited();
    ASSERT_TRUE(QTest::qWaitFor([&] { return page().form().canMeasure(); }, 15'000)) << page().form().said().toStdString();
    ASSERT_EQ(page().form().question().differences.front().key, "width");
    QTest::mouseClick(page().form().measureButton(), Qt::LeftButton);
    ASSERT_TRUE(QTest::qWaitFor([&] { return place->runs().measuring(); }, 10'000));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !place->runs().busy() && !result().verdict().isEmpty(); }, 150'000)) << result().why().toStdString();
    ASSERT_FALSE(result().chart()->pairs().empty()) << result().why().toStdString();
    // Beside other programs it may stay open, and says why, with figures where a pair counts; what it says otherwise is known.
    if (result().verdict().startsWith("width=128 is ")) {
        EXPECT_TRUE(result().verdict().contains("slower") && result().verdict().contains('[')) << result().verdict().toStdString();
        EXPECT_GE(result().chart()->pairs().size(), 8u);
        EXPECT_TRUE(result().basis().contains("time of A ÷ time of B 0.")) << result().basis().toStdString();
        EXPECT_TRUE(result().basis().contains("floor, a side beside itself: ")) << result().basis().toStdString();
    } else {
        EXPECT_TRUE(result().verdict().startsWith("Inconclusive")) << result().verdict().toStdString();
        EXPECT_FALSE(result().why().isEmpty());
    }
    EXPECT_TRUE(QTest::qWaitFor([&] { return place->window().sessions().model().rowCount() == 2; }, 10'000)) << "it is kept beside the run";
    if (const QString pictures = qEnvironmentVariable("STEPSCOPE_PICTURES"); !pictures.isEmpty()) {
        QTest::qWait(200);
        EXPECT_TRUE(place->window().grab().save(pictures + "/compare-real.png"));
    }
}

}  // namespace
}  // namespace stepscope
