// The page Diagnose and the foot of the panel over the real engine: what they say rests on steps that were really timed.
#include <QLabel>
#include <QPushButton>
#include <QTabWidget>

#include "tests/widgets/engine/EngineFixture.h"
#include "widgets/panels/diagnose/AdviceCard.h"
#include "widgets/panels/diagnose/DiagnosePage.h"
#include "widgets/panels/experiment/ExperimentPanel.h"

namespace stepscope {
namespace {

class DiagnoseTest : public EngineFixture {
protected:
    DiagnosePage& page() { return place->window().diagnosePage(); }
    QString foot() {
        for (const auto* label : place->window().experiment().foot()->findChildren<QLabel*>())
            if (label->accessibleName() == "Predicted time") return label->text();
        return {};
    }
};

TEST_F(DiagnoseTest, LooksAtTheSettingsAfterARunOfThemAndTestsWhatItAdvises) {
    open({"steps=60"});
    ASSERT_TRUE(reaches(1, 60));
    ASSERT_TRUE(idle());
    place->window().pages().setCurrentWidget(&page());
    QTest::mouseClick(page().lookButton(), Qt::LeftButton);
    ASSERT_TRUE(QTest::qWaitFor([&] { return page().factText("Time").contains("5 timed steps"); }, 90'000)) << page().state().toStdString();
    EXPECT_TRUE(page().factText("Data").contains("tokens to train on"));
    EXPECT_TRUE(page().factText("Peaks").contains("GFLOP/s in float32"));
    if (const QString folder = qEnvironmentVariable("STEPSCOPE_PICTURES"); !folder.isEmpty()) {
        place->window().resize(1280, 800);
        QTest::qWait(50);
        EXPECT_TRUE(place->window().grab().save(folder + "/diagnose-real.png"));
    }
    // One thread on a machine of more, where there are more: the one piece of advice that does not depend on times.
    for (AdviceCard* card : page().cards()) {
        if (card->advice().rule != "threads") continue;
        QTest::mouseClick(card->testButton(), Qt::LeftButton);
        ASSERT_TRUE(QTest::qWaitFor([&] { return place->runs().measuring(); }, 10'000));
        EXPECT_FALSE(page().lookButton()->isEnabled());
        place->runs().stop();
        ASSERT_TRUE(QTest::qWaitFor([&] { return !place->runs().busy(); }, 30'000));
        break;
    }
}

TEST_F(DiagnoseTest, TheFootTimesSettingsThatNobodyRanAndTheNextRunIsHeldAgainstThat) {
    open({"steps=12"});
    ASSERT_TRUE(reaches(1, 12));
    ASSERT_TRUE(idle());
    ExperimentPanel& panel = place->window().experiment();
    RunConfig other = panel.config();
    other.width = 64;
    panel.adopt(other);
    ASSERT_TRUE(QTest::qWaitFor([&] { return panel.foot()->timeButton()->isVisible(); }, 10'000)) << foot().toStdString();
    QTest::mouseClick(panel.foot()->timeButton(), Qt::LeftButton);
    ASSERT_TRUE(QTest::qWaitFor([&] { return foot().startsWith("about"); }, 30'000)) << foot().toStdString();
    press("Run");
    ASSERT_TRUE(reaches(2, 12));
    ASSERT_TRUE(idle());
    EXPECT_TRUE(logged("Expected to take about")) << "when it begins";
    EXPECT_TRUE(QTest::qWaitFor([&] { return logged("Foretold: about"); }, 5000)) << "and at its end";
}

}  // namespace
}  // namespace stepscope
