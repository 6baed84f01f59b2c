// Several workers that a person starts from the window: real processes beside this one, whose run is seen, changed, paused and stopped as any other,
// and of whom nobody is left.
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/widgets/engine/EngineFixture.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/experiment/ValueRow.h"
#include "widgets/panels/run/NoticeBar.h"

namespace stepscope {
namespace {

class WorkersInTheWindow : public EngineFixture {
protected:
    // A first run of one worker, stopped; then Workers is 2 and Run is pressed.
    void runWithTwo(const QString& program) {
        options.commandLine = program;
        open({"steps=1000000", "checkpoint-at-end=off"});
        ASSERT_TRUE(reaches(1, 1));
        press("Stop");
        ASSERT_TRUE(idle());
        panel().setCores(2);  // whatever this machine has
        Q_EMIT panel().row("workers")->committed("workers", "2");
        press("Run");
    }
    ExperimentPanel& panel() { return place->window().experiment(); }
    bool becomes(RunState state) {
        return QTest::qWaitFor([&] { return live().state() && live().state()->state == state; }, 30'000);
    }
};

TEST_F(WorkersInTheWindow, AreSeenChangedPausedAndStoppedAsOneRunAndNobodyIsLeft) {
    runWithTwo(STEPSCOPE_CLI);
    ASSERT_TRUE(reaches(2, 5)) << place->window().notice().sentence().toStdString();
    EXPECT_EQ(children().size(), 1u);
    EXPECT_TRUE(QString::fromStdString(live().info()->name).endsWith("2 workers")) << live().info()->name;
    EXPECT_TRUE(QTest::qWaitFor([&] { return logged("2 workers train together"); }, 10'000));
    place->runs().send(Flip{"amp", std::string("bf16")});
    ASSERT_TRUE(QTest::qWaitFor([&] { return live().config().word("amp") == "bf16"; }, 10'000));
    place->runs().send(Reseed{77});
    ASSERT_TRUE(QTest::qWaitFor([&] { return logged("Batches are drawn with seed 77 from step"); }, 10'000));
    place->runs().send(Pause{});
    ASSERT_TRUE(becomes(RunState::Paused));
    place->runs().send(Resume{});
    ASSERT_TRUE(becomes(RunState::Running));
    ASSERT_TRUE(reaches(2, live().numbers(1).step + 10));
    press("Stop");
    ASSERT_TRUE(idle());
    EXPECT_EQ(live().state()->state, RunState::Stopped);
    EXPECT_TRUE(children().empty());
}

TEST_F(WorkersInTheWindow, OneThatIsEndedIsNamedInTheWindow) {
    runWithTwo(STEPSCOPE_CLI);
    ASSERT_TRUE(reaches(2, 3));
    ASSERT_EQ(children().size(), 1u);
    ::kill(children()[0], SIGKILL);
    ASSERT_TRUE(idle());
    EXPECT_EQ(live().state()->state, RunState::Failed);
    EXPECT_TRUE(says("orker 1")) << place->window().notice().sentence().toStdString();
    EXPECT_TRUE(QTest::qWaitFor([&] { return logged("Worker 1 was ended by signal 9"); }, 10'000));
    EXPECT_TRUE(children().empty());
}

TEST_F(WorkersInTheWindow, OneThatEndsBeforeTheRunHasBegunIsToldAtOnce) {
    runWithTwo("/bin/false");
    EXPECT_TRUE(says("Worker 1 ended with status 1 and said nothing.")) << place->window().notice().sentence().toStdString();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !place->runs().busy(); }, 30'000));
    EXPECT_EQ(live().session(), 1) << "nothing was recorded";
    EXPECT_TRUE(children().empty());
}

TEST_F(WorkersInTheWindow, WithoutTheirProgramTheRunIsRefusedWithASentence) {
    runWithTwo(folder.filePath("stepscope-cli"));
    EXPECT_TRUE(says("is not there; install it beside this program")) << place->window().notice().sentence().toStdString();
    EXPECT_FALSE(place->runs().busy());
}

TEST_F(WorkersInTheWindow, EndWithTheWindow) {
    runWithTwo(STEPSCOPE_CLI);
    ASSERT_TRUE(reaches(2, 3));
    ASSERT_EQ(children().size(), 1u);
    place.reset();
    EXPECT_TRUE(children().empty());
}

}  // namespace
}  // namespace stepscope
