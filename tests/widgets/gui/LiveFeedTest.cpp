// The feed between the engine's threads and the window: nothing lost, nothing blocking, samples coalesced.
#include <gtest/gtest.h>

#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTest>
#include <thread>

#include "app/gui/wiring/LiveFeed.h"
#include "core/events/Event.h"
#include "widgets/panels/LogModel.h"

namespace stepscope {
namespace {

Event start(const std::string& name, bool replay = false) {
    auto info = std::make_shared<SessionInfo>();
    info->name = name;
    info->config->steps = 1000;
    info->startedUnixMs = 1'700'000'000'000;
    return SessionStarted{1, info, replay};
}

StepDone step(std::int64_t number) {
    StepDone done;
    done.step = number;
    done.at = TimeNs{number * 1'000'000};
    done.duration = TimeNs{1'000'000};
    done.loss = 3;
    done.tokens = 100;
    return done;
}

TEST(LiveFeed, TakesEventsFromAnyThreadIntoOneHistory) {
    LiveFeed feed;
    feed.publish(start("one"));
    std::thread other([&] {
        for (int i = 1; i <= 500; ++i) feed.publish(step(i));
    });
    other.join();
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.history()->rows() == 500; }));
    EXPECT_EQ(feed.history()->numbers().step, 500);
}

TEST(LiveFeed, AMeasurementThatWaitsForAgreementIsNoWarningInTheLog) {
    LiveFeed feed;
    feed.publish(start("one"));
    SwitchRefused refused{12, {}, "amp", std::string("bf16"), "bf16 is other arithmetic than off: the loss may move."};
    refused.subject.kind = Subject::Kind::Loss;
    feed.publish(refused);
    feed.publish(LogLine{{}, 12, LogLevel::Warning, "amp stays as it is: " + refused.why, refused.code, refused.subject});
    feed.publish(LogLine{{}, 12, LogLevel::Warning, "amp stays as it is: This CPU has no float16."});
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.log().rowCount() == 2; }));
    EXPECT_TRUE(feed.log().index(1).data().toString().contains("float16")) << feed.log().index(1).data().toString().toStdString();
}

TEST(LiveFeed, TellsOfGrowthOncePerTickAndOfEveryStateChange) {
    LiveFeed feed;
    QSignalSpy grew(&feed, &LiveFeed::grew);
    int states = 0;
    QObject::connect(&feed, &LiveFeed::stateChanged, &feed, [&] { ++states; });
    feed.publish(start("one"));
    for (int i = 1; i <= 300; ++i) {
        feed.publish(step(i));
        if (i % 100 == 0) feed.publish(StateChanged{TimeNs{i}, i, i == 200 ? RunState::Paused : RunState::Running, ""});
    }
    ASSERT_TRUE(QTest::qWaitFor([&] { return states == 3 && feed.history()->rows() == 300; }));
    EXPECT_GE(grew.size(), 1) << "it did grow";
    EXPECT_LE(grew.size(), 3);
}

TEST(LiveFeed, SleepsWhenNothingArrivesAndWakesAgain) {
    LiveFeed feed;
    feed.publish(start("one"));
    QTest::qWait(150);
    EXPECT_FALSE(feed.isAwake());
    QSignalSpy grew(&feed, &LiveFeed::grew);
    QTest::qWait(200);
    EXPECT_EQ(grew.size(), 0) << "no work while nothing arrives";
    feed.publish(step(1));
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.history()->rows() == 1; }, 200));
}

TEST(LiveFeed, LosesNothingBetweenFallingAsleepAndWaking) {
    LiveFeed feed;
    feed.publish(start("one"));
    std::thread other([&] {
        for (int i = 1; i <= 60; ++i) {
            feed.publish(step(i));
            std::this_thread::sleep_for(std::chrono::milliseconds(i % 7 == 0 ? 40 : 3));
        }
    });
    EXPECT_TRUE(QTest::qWaitFor([&] { return feed.history()->rows() == 60; }));
    other.join();
}

TEST(LiveFeed, TakesAHundredThousandStepsWithoutFreezingTheWindow) {
    LiveFeed feed;
    feed.publish(start("long", true));
    for (int i = 1; i <= 100'000; ++i) feed.publish(step(i));
    qint64 longest = 0;
    QElapsedTimer all, gap;
    all.start();
    gap.start();
    while (feed.history()->rows() < 100'000 && all.elapsed() < 5'000) {
        gap.restart();
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 50);
        longest = std::max(longest, gap.elapsed());
    }
    RecordProperty("ms", std::to_string(all.elapsed()));
    EXPECT_EQ(feed.history()->rows(), 100'000u);
    EXPECT_LT(all.elapsed(), 1'000) << "the feed leaves a replay to its end its second";
    EXPECT_LT(longest, 120) << "a tick works 8 ms; a busy machine may add to that";
}

TEST(LiveFeed, CoalescesSamplesOfABacklogButNeverStates) {
    LiveFeed feed;
    feed.publish(start("one", true));
    for (std::int64_t i = 0; i < 5000; ++i) {
        DeviceSample sample;
        sample.at = TimeNs{i * 1'000'000};
        sample.cpuPct = 50;
        feed.publish(sample);
        if (i % 1000 == 999) feed.publish(StateChanged{sample.at, i, RunState::Running, ""});
    }
    int states = 0;
    QObject::connect(&feed, &LiveFeed::stateChanged, &feed, [&] { ++states; });
    ASSERT_TRUE(QTest::qWaitFor([&] { return states == 5; }));
    ASSERT_GE(feed.history()->device().place.size(), 1u) << "coalesced, not lost";
    EXPECT_LE(feed.history()->device().place.size(), 6u);
}

TEST(LiveFeed, WhoIsToldMayForgetAllAndTheNextIsToldTheSameWhole) {
    LiveFeed feed;
    const std::string why(200, 'w');
    std::string told;
    QObject::connect(&feed, &LiveFeed::stateChanged, &feed, [&] { feed.forget(); });
    QObject::connect(&feed, &LiveFeed::stateChanged, &feed, [&](const StateChanged& change) { told = change.why; });
    feed.publish(start("one", true));
    feed.publish(StateChanged{{}, 3, RunState::Failed, why});
    feed.publish(step(1));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !told.empty(); }));
    EXPECT_EQ(told, why);
    EXPECT_EQ(feed.history()->rows(), 0u) << "what came before and with it is forgotten";
    EXPECT_EQ(feed.log().rowCount(), 0) << "its line too";
}

TEST(LiveFeed, TellsItsLogAnewWhenAReplayJumpsBackAndGoesOnWhenALiveRunFollows) {
    LiveFeed feed;
    feed.publish(start("one"));
    feed.publish(StateChanged{{}, 0, RunState::Running, ""});
    feed.publish(start("two"));
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.log().rowCount() > 0; }));
    EXPECT_EQ(feed.log().rowCount(), 3) << "both sessions' beginnings and what was said between";
    feed.publish(start("two", true));
    QTest::qWait(100);
    EXPECT_EQ(feed.log().rowCount(), 1);
}

// A run that is refused has no session: the one before it is still what is shown, and began at another time.
TEST(LiveFeed, WhatARefusedRunSaysHasTheTimeAtWhichItWasSaid) {
    LiveFeed feed;
    feed.publish(start("one"));
    feed.publish(StateChanged{{}, 0, RunState::Running, {}});
    feed.publish(StateChanged{TimeNs{5'000'000'000}, 7, RunState::Stopped, {}});
    const QDateTime before = QDateTime::currentDateTime().addSecs(-1);
    feed.publish(StateChanged{TimeNs{1'000'000}, 0, RunState::Preparing, {}});
    feed.publish(LogLine{TimeNs{2'000'000}, 0, LogLevel::Error, "essay.bin holds id 60000, beyond the vocabulary."});
    const auto timeOf = [&](const QString& part) {
        for (int row = 0; row < feed.log().rowCount(); ++row)
            if (feed.log().index(row).data().toString().contains(part)) return feed.log().index(row).data(LogModel::TimeRole).toDateTime();
        return QDateTime();
    };
    ASSERT_TRUE(QTest::qWaitFor([&] { return timeOf("beyond").isValid(); }));
    EXPECT_GE(timeOf("beyond"), before);
    EXPECT_LE(timeOf("beyond"), QDateTime::currentDateTime().addSecs(1));
    EXPECT_EQ(timeOf("Stopped").toMSecsSinceEpoch(), 1'700'000'005'000) << "what the session said keeps its own";
    feed.publish(start("two"));
    feed.publish(LogLine{TimeNs{1'000'000'000}, 0, LogLevel::Info, "again by its session"});
    ASSERT_TRUE(QTest::qWaitFor([&] { return timeOf("again").isValid(); }));
    EXPECT_EQ(timeOf("again").toMSecsSinceEpoch(), 1'700'000'001'000);
}

}  // namespace
}  // namespace stepscope
