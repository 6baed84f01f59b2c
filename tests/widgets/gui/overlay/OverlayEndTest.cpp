// What goes on beside sessions that are laid over each other, and how that ends: some that cannot be read, one that is deleted, a run behind them, a
// replay, a window that is closed while they are read.
#include <gtest/gtest.h>

#include "tests/widgets/gui/overlay/OverlayFixture.h"
#include "widgets/panels/run/TransportBar.h"

namespace stepscope {
namespace {

TEST_F(WindowOverlayTest, ShowsTheRestWhereSomeAreMissingEmptyOrHostile) {
    store(200, 4);
    store(0, 4);
    store(200, 6);
    store(200, 5);
    change("UPDATE steps SET step = 9223372036854775807 WHERE session = 4 AND step = 50");
    open();
    layOver({1, 2, 3, 4, 99});
    ASSERT_TRUE(allRead());
    EXPECT_EQ(overlay()->read(), 2U);
    EXPECT_EQ(overlay()->slots().size(), 2U);
    EXPECT_FALSE(notice().isEmpty());
    EXPECT_EQ(page().overlayPane().title(), "2 sessions laid over each other");
    EXPECT_TRUE(hasColour(0, 0) && hasColour(0, 2));
    layOver({2, 99});
    ASSERT_TRUE(QTest::qWaitFor([&] { return overlay() == nullptr; }, 10'000)) << "nothing is left of it";
    EXPECT_TRUE(page().chart(0).content().help().contains("Diamonds"));
}

TEST_F(WindowOverlayTest, TakesASessionOutThatIsDeletedMeanwhile) {
    for (int i = 0; i < 3; ++i) store(150, 4 + i);
    open();
    ASSERT_TRUE(listed(3));
    layOver({1, 2, 3});
    ASSERT_TRUE(allRead());
    Q_EMIT window().sessions().deleteRequested(2, "stored");
    ASSERT_TRUE(QTest::qWaitFor([&] { return overlay() != nullptr && overlay()->slots().size() == 2; }, 10'000));
    EXPECT_TRUE(notice().contains("Session 2 was deleted")) << notice().toStdString();
    ASSERT_TRUE(drawn());
    EXPECT_EQ(overlay()->lineOf(3)->colour, 2U);
    EXPECT_EQ(table().rowCount(), 2);
}

TEST_F(WindowOverlayTest, LeavesARunThatGoesOnAlone) {
    store(150, 4);
    store(150, 6);
    open();
    press("Run");
    ASSERT_TRUE(reaches(20));
    layOver({1, 2});
    ASSERT_TRUE(allRead());
    const auto before = live().rows();
    EXPECT_EQ(place->runs().phase(), RunController::Phase::Live);
    ASSERT_TRUE(QTest::qWaitFor([&] { return live().rows() > before + 50; }, 10'000));
    EXPECT_NE(overlay(), nullptr) << "what the run publishes does not take it away";
    EXPECT_NEAR(page().range().scale().high, 150, 10);
    Q_EMIT page().overlayPane().closeRequested();
    EXPECT_EQ(overlay(), nullptr);
    EXPECT_EQ(place->runs().phase(), RunController::Phase::Live);
    ASSERT_TRUE(drawn());
    EXPECT_EQ(page().chart(0).history(), &live());
}

TEST_F(WindowOverlayTest, GivesWayToAReplayAndToANewRun) {
    store(150, 4);
    store(150, 6);
    open();
    ASSERT_TRUE(listed(2));
    layOver({1, 2});
    ASSERT_TRUE(allRead());
    Q_EMIT table().replayRequested(2);
    ASSERT_TRUE(QTest::qWaitFor([&] { return place->stage().replaying(); }, 5'000));
    EXPECT_EQ(overlay(), nullptr);
    ASSERT_TRUE(QTest::qWaitFor([&] { return place->stage().replay().history()->rows() == 150; }, 5'000));
    layOver({1, 2});
    EXPECT_FALSE(place->stage().replaying());
    EXPECT_FALSE(window().transport().isVisible());
    ASSERT_TRUE(allRead());
    press("Run");
    ASSERT_TRUE(becomes(RunState::Running));
    EXPECT_EQ(overlay(), nullptr);
}

TEST_F(WindowOverlayTest, IsClosedWhileItIsStillBeingRead) {
    for (int i = 0; i < 4; ++i) store(20'000, 4, i);
    open();
    for (int round = 0; round < 5; ++round) {
        layOver({1, 2, 3, 4});
        if (round % 2 == 0) QTest::qWait(5 * round);
        Q_EMIT page().overlayPane().closeRequested();
        EXPECT_EQ(overlay(), nullptr);
    }
    layOver({1, 2, 3, 4});
    ASSERT_TRUE(allRead());
    EXPECT_EQ(overlay()->read(), 4U);
    layOver({1, 2});
    place.reset();  // the window goes while they are read
}

}  // namespace
}  // namespace stepscope
