// Who owns the replay of the window: opened, closed and destroyed at any moment, and nothing of it outlives it.
#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "app/gui/wiring/LiveFeed.h"
#include "app/gui/wiring/ReplayController.h"
#include "core/events/Event.h"
#include "core/events/Presets.h"
#include "sessions/record/Recorder.h"

namespace stepscope {
namespace {

struct ReplayControllerTest : testing::Test {
    QTemporaryDir folder;
    std::string database = folder.filePath("s.db").toStdString();
    LiveFeed feed;

    void SetUp() override {
        SessionInfo info;
        info.name = "stored";
        info.config = presetConfig("tiny-cpu").value();
        Recorder::Options into;
        into.path = database;
        auto recorder = Recorder::open(into, info);
        ASSERT_TRUE(recorder.ok()) << recorder.error().sentence;
        for (int i = 1; i <= 50; ++i) {
            StepDone step;
            step.step = i;
            step.at = TimeNs{i * 1'000'000};
            step.duration = TimeNs{1'000'000};
            (*recorder)->publish(step);
        }
        (*recorder)->publish(StateChanged{TimeNs{51'000'000}, 50, RunState::Finished, ""});
        ASSERT_TRUE((*recorder)->finish().ok());
    }
};

TEST_F(ReplayControllerTest, IsDestroyedAtAnyMomentWhileItOpensASession) {
    for (int i = 0; i < 40; ++i) {
        ReplayController replay(database, feed);
        replay.open(1);
        if (i % 4 == 1) replay.close();
        if (i % 4 == 2) QTest::qWait(i / 4);
        if (i % 4 == 3) replay.open(1);
    }
    feed.forget();
    ReplayController replay(database, feed);
    QSignalSpy opened(&replay, &ReplayController::opened);
    replay.open(1);
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.history()->rows() == 50; }));
    EXPECT_EQ(opened.size(), 1);
    EXPECT_EQ(replay.session(), 1);
}

TEST_F(ReplayControllerTest, WhatIsClosedWhileItOpensIsNeverShownAsOpen) {
    ReplayController replay(database, feed);
    QSignalSpy opened(&replay, &ReplayController::opened), moved(&replay, &ReplayController::moved);
    replay.open(1);
    replay.close();
    QTest::qWait(300);
    EXPECT_EQ(opened.size(), 0);
    EXPECT_EQ(moved.size(), 0);
    EXPECT_EQ(replay.session(), 0);
}

TEST_F(ReplayControllerTest, OfASessionThatIsNotThereSaysSoOnce) {
    ReplayController replay(database, feed);
    QSignalSpy failed(&replay, &ReplayController::failed);
    replay.open(77);
    ASSERT_TRUE(failed.wait());
    EXPECT_TRUE(failed[0][0].toString().contains("There is no session 77")) << failed[0][0].toString().toStdString();
    EXPECT_EQ(replay.session(), 0);
}

}  // namespace
}  // namespace stepscope
