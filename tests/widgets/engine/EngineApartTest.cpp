// `stepscope --engine`: the run is trained by a process beside the window, is seen and changed as any other, and if that process is killed the window
// says so and stays. The real window, the real command line. CTest.
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/widgets/engine/EngineFixture.h"
#include "widgets/panels/run/NoticeBar.h"

namespace stepscope {
namespace {

class EngineApartInTheWindow : public EngineFixture {
protected:
    void openApart(const QStringList& more) {
        options.engine = true;
        options.commandLine = STEPSCOPE_CLI;
        open(more);
    }
};

TEST_F(EngineApartInTheWindow, ItsRunIsSeenChangedAndStoppedAsAnyOther) {
    openApart({"steps=1000000", "checkpoint-at-end=off"});
    ASSERT_TRUE(reaches(1, 3)) << place->window().notice().sentence().toStdString();
    EXPECT_EQ(children().size(), 1u);
    place->runs().send(Flip{"amp", std::string("bf16")});
    ASSERT_TRUE(QTest::qWaitFor([&] { return live().config().word("amp") == "bf16"; }, 10'000));
    press("Stop");
    ASSERT_TRUE(idle());
    EXPECT_EQ(live().state()->state, RunState::Stopped);
    EXPECT_TRUE(children().empty());
}

TEST_F(EngineApartInTheWindow, KilledInTheMiddleTheWindowSaysSoAndTheNextRunHasANewOne) {
    openApart({"steps=1000000", "checkpoint-at-end=off"});
    ASSERT_TRUE(reaches(1, 3));
    ASSERT_EQ(children().size(), 1u);
    ::kill(children()[0], SIGKILL);
    ASSERT_TRUE(idle());
    EXPECT_EQ(live().state()->state, RunState::Failed);
    EXPECT_TRUE(says("The engine was ended by signal 9 (Killed)")) << place->window().notice().sentence().toStdString();
    EXPECT_TRUE(says("is kept among the sessions; Run starts a new run.")) << place->window().notice().sentence().toStdString();
    EXPECT_GE(live().numbers(1).step, 3) << "what was seen is still there";
    press("Run");
    ASSERT_TRUE(reaches(2, 3));
    EXPECT_EQ(children().size(), 1u);
    press("Stop");
    ASSERT_TRUE(idle());
}

TEST_F(EngineApartInTheWindow, WithoutItsProgramTheRunIsRefusedWithASentence) {
    options.engine = true;
    options.commandLine = folder.filePath("stepscope-cli");
    open({"steps=5"});
    EXPECT_TRUE(says("The engine cannot be started")) << place->window().notice().sentence().toStdString();
    EXPECT_TRUE(QTest::qWaitFor([&] { return !place->runs().busy(); }, 10'000));
}

TEST_F(EngineApartInTheWindow, EndsWithTheWindow) {
    openApart({"steps=1000000", "checkpoint-at-end=off"});
    ASSERT_TRUE(reaches(1, 2));
    ASSERT_EQ(children().size(), 1u);
    place.reset();
    EXPECT_TRUE(children().empty());
}

}  // namespace
}  // namespace stepscope
