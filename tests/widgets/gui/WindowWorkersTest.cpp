// What the workers of a stored session took, in the window: read from the real database and shown in its dialog.
#include <gtest/gtest.h>

#include <QLabel>

#include "WindowFixture.h"
#include "core/events/Presets.h"
#include "core/trace/WorkerTimes.h"
#include "sessions/record/Recorder.h"
#include "widgets/panels/sessions/SessionsPanel.h"
#include "widgets/panels/workers/WorkersDialog.h"
#include "widgets/panels/workers/WorkersMap.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

class WindowWorkersTest : public WindowTest {
protected:
    // Worker 2 computes longer every now and then; all of them wait for it.
    void recordFour(std::int64_t steps) {
        SessionInfo info;
        info.name = "four workers";
        info.config = *presetConfig("tiny-cpu");
        auto recorder = Recorder::open({.path = options.database.toStdString()}, info);
        ASSERT_TRUE(recorder) << recorder.error().sentence;
        for (std::int64_t step = 1; step <= steps;) {
            WorkerTimes block{.phases = {"forward", "backward", "waiting"}, .workers = 4, .steps = {}, .ns = {}};
            for (int i = 0; i < 64 && step <= steps; ++i, ++step) {
                block.steps.push_back({step, step * 100'000'000});
                const std::int64_t longer = step / 100 % 3 == 1 ? 40 : 4;
                for (std::int64_t worker = 0; worker < 4; ++worker)
                    for (const std::int64_t ms : {std::int64_t{30}, 50 + (worker == 2 ? longer : 0), worker == 2 ? 0 : longer})
                        block.ns.push_back(ms * 1'000'000);
            }
            (*recorder)->publishChunk(std::make_shared<const Chunk>(encodeWorkerTimes(block)));
        }
        ASSERT_TRUE((*recorder)->finish());
    }
};

TEST_F(WindowWorkersTest, TheSlowOneIsNamedAndTheMapHasEveryStep) {
    recordFour(5000);
    options.size = {1280, 800};
    open();
    WorkersDialog& dialog = place->workers().dialog();
    Q_EMIT window().sessions().workersRequested(1, "four workers");
    ASSERT_TRUE(QTest::qWaitFor([&] { return dialog.sentence().contains("Worker 2 is the slow one"); }, 8000)) << dialog.sentence().toStdString();
    const WorkerGrid& grid = dialog.map().grid();
    EXPECT_EQ(grid.workers, 4);
    ASSERT_FALSE(grid.columns.empty());
    EXPECT_EQ(grid.columns.front().first, 1);
    EXPECT_EQ(grid.columns.back().last, 5000);
    // Its sentence takes two lines, and the layout around it settles in a round of the loop or two.
    EXPECT_TRUE(QTest::qWaitFor([&] {
        for (const auto* label : dialog.findChildren<QLabel*>())
            if (label->text() == dialog.sentence()) return label->height() >= label->heightForWidth(label->width());
        return false;
    }));
    picture(dialog, "workers");
    applyStyle(*qApp, Theme::Dark);
    picture(dialog, "workers-dark");
    applyStyle(*qApp, Theme::Light);
    Q_EMIT window().sessions().workersRequested(99, "not there");
    ASSERT_TRUE(QTest::qWaitFor([&] { return !dialog.sentence().startsWith("Reading"); }, 8000));
    EXPECT_FALSE(dialog.sentence().contains("slow one"));
}

}  // namespace
}  // namespace stepscope
