// Sessions whose stored settings no run could have had, as a damaged or foreign file holds them: the window says which key cannot stand, and a run
// that is in progress, or the next one, is none the worse.
#include "app/gui/process/Application.h"
#include "app/gui/process/BackThread.h"
#include "core/events/Event.h"
#include "sessions/record/Recorder.h"
#include "tests/widgets/engine/EngineFixture.h"
#include "widgets/panels/run/NoticeBar.h"

namespace stepscope {
namespace {

class StoredSettingsTest : public EngineFixture {
protected:
    const QString again = "Run again with these settings";

    // A session that ended before this window opened.
    void record(const RunConfig& config) const {
        SessionInfo info;
        info.name = "as a stranger wrote it";
        info.config = config;
        Recorder::Options into;
        into.path = folder.filePath("s.db").toStdString();
        auto recorder = Recorder::open(into, info);
        ASSERT_TRUE(recorder.ok()) << recorder.error().sentence;
        (*recorder)->publish(StateChanged{TimeNs{1}, 0, RunState::Stopped, {}});
        ASSERT_TRUE((*recorder)->finish().ok());
    }
    bool says(const QString& words) {
        return QTest::qWaitFor([&] { return place->window().notice().sentence().contains(words); }, 10'000);
    }
    // A run of its own first, so that there is one to lose: the session of the fixture's demo is number 2.
    void openAfter(const RunConfig& config) {
        record(config);
        open({"steps=20"});
        ASSERT_TRUE(reaches(2, 20));
        ASSERT_TRUE(idle());
    }
};

TEST_F(StoredSettingsTest, ASwitchOfTheWrongKindIsNamedAndNothingRuns) {
    RunConfig config;
    config.switches["fused-qkv"] = std::int64_t{5};
    openAfter(config);
    choose(1, again);
    EXPECT_TRUE(says("fused-qkv")) << place->window().notice().sentence().toStdString();
    EXPECT_TRUE(place->window().notice().sentence().contains("s.db"));
    EXPECT_FALSE(place->runs().busy());
}

TEST_F(StoredSettingsTest, EveryValueThatSetWouldRefuseIsNamed) {
    RunConfig layers, heads, threads, amp;
    layers.layers = -1;
    heads.heads = 0;
    threads.threads = 1'000'000'000;
    amp.switches["amp"] = std::int64_t{7};
    for (const auto& config : {layers, heads, threads, amp}) record(config);
    open({"steps=20"});
    ASSERT_TRUE(reaches(5, 20));
    ASSERT_TRUE(idle());
    for (const auto& [session, key] : {std::pair{1, "layers"}, {2, "heads"}, {3, "threads"}, {4, "amp"}}) {
        choose(session, again);
        EXPECT_TRUE(says(key)) << key << ": " << place->window().notice().sentence().toStdString();
        EXPECT_FALSE(place->runs().busy());
    }
}

// What a slot throws.
class Thrower : public QObject {
public:
    bool event(QEvent*) override { throw std::runtime_error("a slot has thrown"); }
};

TEST_F(StoredSettingsTest, WhatASlotThrowsIsSaidAndTheRunGoesOn) {
    open({"steps=100000"});
    ASSERT_TRUE(reaches(1, 5));
    Thrower thrower;
    for (int i = 0; i < 3; ++i) QCoreApplication::postEvent(&thrower, new QEvent(QEvent::User));
    EXPECT_TRUE(says("a slot has thrown")) << place->window().notice().sentence().toStdString();
    BackThread behind;
    behind.post([] { throw std::runtime_error("a task has thrown"); });
    EXPECT_TRUE(says("a task has thrown"));
    EXPECT_TRUE(place->runs().busy());
    EXPECT_TRUE(reaches(1, live().numbers(1).step + 5));
}

}  // namespace
}  // namespace stepscope
