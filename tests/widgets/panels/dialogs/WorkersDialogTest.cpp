// The dialog of a run's workers by itself: who is slow, what the map shows and says under the pointer, and a sentence for each state.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QTableWidget>
#include <QTest>

#include "core/analysis/panes/WorkerMap.h"
#include "widgets/panels/workers/WorkersDialog.h"
#include "widgets/panels/workers/WorkersMap.h"

namespace stepscope {
namespace {

std::shared_ptr<const WorkerMap> twoWorkers(std::int64_t steps) {
    auto map = std::make_shared<WorkerMap>();
    WorkerTimes block{.phases = {"forward", "backward", "waiting"}, .workers = 2, .steps = {}, .ns = {}};
    for (std::int64_t step = 1; step <= steps; ++step) {
        block.steps.push_back({step, step * 100'000'000});
        for (const std::int64_t ms : {30, 40, 30, 30, 70, 0}) block.ns.push_back(ms * 1'000'000 + step * 1000);
    }
    map->add(block);
    return map;
}

class WorkersDialogTest : public testing::Test {
protected:
    WorkersDialogTest() { dialog.ask(7, "two workers"); }
    QString cell(int row, int column) { return dialog.table()->item(row, column)->text(); }
    WorkersDialog dialog;
};

TEST_F(WorkersDialogTest, NamesTheSlowOneAndShowsWhoWorkedHowLong) {
    EXPECT_EQ(dialog.sentence(), "Reading what they took.");
    dialog.setView({7, twoWorkers(50), {}});
    EXPECT_TRUE(dialog.sentence().contains("Worker 1 is the slow one")) << dialog.sentence().toStdString();
    EXPECT_TRUE(dialog.sentence().startsWith("50 steps.")) << dialog.sentence().toStdString();
    ASSERT_EQ(dialog.table()->rowCount(), 2);
    EXPECT_EQ(cell(0, 2), QString("70.1\u202Fms"));
    EXPECT_EQ(cell(1, 5), QString("25.5\u202Fµs"));
    // What tells them apart is shown first: a whole step takes all of them equally long.
    EXPECT_EQ(dialog.phase()->currentText(), "work: all but waiting");
    EXPECT_NEAR(dialog.map().high(), 100.1e6, 0.1e6);
    EXPECT_TRUE(dialog.map().cellFacts(1, 4).startsWith("worker 1, step 5\n100")) << dialog.map().cellFacts(1, 4).toStdString();
    dialog.phase()->setCurrentIndex(dialog.phase()->findText("waiting"));
    EXPECT_NEAR(dialog.map().high(), 30.05e6, 0.1e6);
    EXPECT_LT(dialog.map().low(), 1e6);
}

TEST_F(WorkersDialogTest, SaysWhatOtherNumbersOfWorkersAreForetoldToMake) {
    dialog.setView({7, twoWorkers(50), {}, "Predicted, not measured: 8 workers 6.9 times."});
    EXPECT_EQ(dialog.forecast(), "Predicted, not measured: 8 workers 6.9 times.");
    dialog.ask(8, "another");
    EXPECT_TRUE(dialog.forecast().isEmpty());
}

TEST_F(WorkersDialogTest, SaysHowWellTheirClocksAreKnownWhereTheyWereCompared) {
    dialog.setView({7, twoWorkers(50), {}});
    EXPECT_TRUE(dialog.clocks().isEmpty());
    auto map = std::make_shared<WorkerMap>(*twoWorkers(50));
    map->add(WorkerClocks{.at = 5000, .readings = {{5000, 0, 0}, {100, 4900, 23'000}}});
    dialog.setView({7, map, {}});
    EXPECT_TRUE(dialog.clocks().contains(QString("within 23.0\u202Fµs of the first one's (worker 1's least well)"))) << dialog.clocks().toStdString();
    dialog.ask(8, "another");
    EXPECT_TRUE(dialog.clocks().isEmpty());
}

TEST_F(WorkersDialogTest, DrawsTheSlowOneDarker) {
    dialog.setView({7, twoWorkers(4000), {}});
    dialog.resize(700, 400);
    const QImage image = dialog.map().grab().toImage();
    const double factor = image.devicePixelRatio();
    const int row = dialog.map().fontMetrics().height() + 6;
    const auto at = [&](int worker) {
        return image.pixelColor(QPoint(static_cast<int>(300 * factor), static_cast<int>((worker * row + row / 2) * factor)));
    };
    EXPECT_NE(at(0), at(1));
    const QColor ground = dialog.map().palette().color(QPalette::Base);
    const auto distance = [&](const QColor& colour) {
        return std::abs(colour.red() - ground.red()) + std::abs(colour.green() - ground.green()) + std::abs(colour.blue() - ground.blue());
    };
    EXPECT_GT(distance(at(1)), distance(at(0)));
    EXPECT_TRUE(dialog.map().cellFacts(0, 0).contains("at most")) << "a column of several steps says the slowest of them";
}

TEST_F(WorkersDialogTest, SaysWhyThereIsNothing) {
    dialog.setView({7, std::make_shared<WorkerMap>(), {}});
    EXPECT_TRUE(dialog.sentence().contains("was trained by one")) << dialog.sentence().toStdString();
    EXPECT_FALSE(dialog.table()->isVisibleTo(&dialog));
    dialog.setView({7, nullptr, "It cannot be read."});
    EXPECT_EQ(dialog.sentence(), "It cannot be read.");
    dialog.setView({8, twoWorkers(3), {}});
    EXPECT_EQ(dialog.sentence(), "It cannot be read.") << "an answer that comes late is nobody's";
}

}  // namespace
}  // namespace stepscope
