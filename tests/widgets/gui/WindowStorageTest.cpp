// What is recorded cannot be stored, because its disk is full or its file away: the window says so on every page, and what to do, until it works
// again.
#include <QPushButton>
#include <QTabWidget>
#include <fstream>

#include "WindowFixture.h"
#include "core/events/Event.h"
#include "tests/sessions/FileSizeLimit.h"
#include "widgets/panels/LogPanel.h"
#include "widgets/panels/compare/CompareForm.h"
#include "widgets/panels/compare/ComparePage.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/ladder/LadderForm.h"
#include "widgets/panels/ladder/LadderPage.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/panels/run/RunBar.h"

namespace stepscope {
namespace {

constexpr const char* kFull = "The disk that holds the session database is full; free some room there. Until then the run waits.";
constexpr const char* kHeldUp = "Nothing can be stored at the moment; the run goes on when it can.";

class WindowStorageTest : public WindowTest {
protected:
    ~WindowStorageTest() override { setFakeExperiment({}); }
    QString notice() { return window().notice().sentence(); }
    bool says(const QString& part) {
        return QTest::qWaitFor([&] { return notice().contains(part); }, 10'000);
    }
    bool saysNothing() {
        return QTest::qWaitFor([&] { return notice().isEmpty(); }, 10'000);
    }
    void publish(Event event) { place->stage().live().publish(std::move(event)); }
    void full() { publish(LogLine{{}, 0, LogLevel::Error, kFull, ErrorCode::Io, {Subject::Kind::Database, "s.db"}}); }
    void works() { publish(LogLine{{}, 0, LogLevel::Info, "Storing works again.", {}, {Subject::Kind::Database, "s.db"}}); }
    void becomesHeldUp(bool heldUp) {
        if (heldUp)
            publish(StateChanged{{}, 3, RunState::Paused, kHeldUp, ErrorCode::Io});
        else
            publish(StateChanged{{}, 3, RunState::Running, ""});
        ASSERT_TRUE(becomes(heldUp ? RunState::Paused : RunState::Running));
        QTest::qWait(2 * LiveFeed::kTickMs);
    }
    void startRun() {
        setFakeStepMs(20);
        open();
        press("Run");
        ASSERT_TRUE(reaches(2));
    }
};

TEST_F(WindowStorageTest, OfARunItSaysWhatToDoAndGoesAwayWhenStoringWorksAgain) {
    startRun();
    const QRect pages = window().pages().geometry(), log = window().log().geometry(), bar = window().runBar().geometry();
    full();
    ASSERT_TRUE(says("free some room"));
    EXPECT_TRUE(window().notice().isVisible());
    becomesHeldUp(true);
    EXPECT_TRUE(notice().contains("free some room")) << "the run's own sentence, which comes next, knows no file: " << notice().toStdString();
    EXPECT_EQ(window().pages().geometry(), pages) << "nothing moves";
    EXPECT_EQ(window().log().geometry(), log);
    EXPECT_EQ(window().runBar().geometry(), bar);
    picture(window(), "storage-run");
    works();
    EXPECT_TRUE(saysNothing());
    becomesHeldUp(false);
    EXPECT_EQ(notice(), "");
}

TEST_F(WindowStorageTest, WhatSomebodyElseHasSaidMeanwhileStays) {
    startRun();
    full();
    ASSERT_TRUE(says("free some room"));
    window().notice().say(NoticeBar::Kind::Error, "Something else.");
    works();
    QTest::qWait(3 * LiveFeed::kTickMs);
    EXPECT_EQ(notice(), "Something else.");
    becomesHeldUp(true);
    EXPECT_EQ(notice(), kHeldUp) << "where the recorder says nothing, an engine elsewhere";
    window().notice().say(NoticeBar::Kind::Error, "Something else.");
    becomesHeldUp(false);
    EXPECT_EQ(notice(), "Something else.");
}

TEST_F(WindowStorageTest, OfARecordingThatHasEndedItStays) {
    startRun();
    full();
    publish(LogLine{{},
                    0,
                    LogLevel::Error,
                    "Recording of session 1 ends here; the run goes on without it.",
                    ErrorCode::Damaged,
                    {Subject::Kind::Database, "s.db"}});
    ASSERT_TRUE(says("goes on without it"));
    publish(LogLine{{}, 0, LogLevel::Info, "Something that is no answer to it.", {}, {}});
    QTest::qWait(3 * LiveFeed::kTickMs);
    EXPECT_TRUE(notice().contains("goes on without it"));
}

TEST_F(WindowStorageTest, OfAnExperimentThatMeasuresOnItIsSaidToo) {
    setFakeExperiment({.pairs = 2000, .usAPair = 10'000, .fullFrom = 5, .fullTo = 400});
    open();
    window().pages().setCurrentWidget(&window().comparePage());
    CompareForm& form = window().comparePage().form();
    ASSERT_TRUE(QTest::qWaitFor([&] { return form.canMeasure(); }, 5000));
    QTest::mouseClick(form.measureButton(), Qt::LeftButton);
    ASSERT_TRUE(says("free some room"));
    EXPECT_TRUE(place->runs().measuring());
    EXPECT_TRUE(saysNothing());
    EXPECT_TRUE(place->runs().measuring()) << "it is over because there is room, not because the experiment is";
    place->runs().stop();
    ASSERT_TRUE(idle());
}

// The real recorder, whose writes really fail.
TEST_F(WindowStorageTest, OfALadderOnAFullDiskItIsSaidUntilThereIsRoom) {
    setFakeExperiment({.pairs = 2000, .usAPair = 10'000});
    open();
    LadderPage& page = window().ladderPage();
    window().pages().setCurrentWidget(&page);
    const QString file = folder.filePath("ladder.yaml");
    std::ofstream(file.toStdString()) << "- amp=bf16\n- zero-grad=zero\n";
    page.form().setQuestion({.search = false, .ladder = file.toStdString(), .minutes = 1});
    QPushButton* measure = nullptr;
    for (auto* found : page.findChildren<QPushButton*>())
        if (found->text() == "Measure") measure = found;
    ASSERT_NE(measure, nullptr);
    ASSERT_TRUE(QTest::qWaitFor([&] { return measure->isEnabled(); }, 8000));
    QTest::mouseClick(measure, Qt::LeftButton);
    ASSERT_TRUE(QTest::qWaitFor([&] { return stored().size() == 1; }, 8000));
    {
        const test::FileSizeLimit full(1'000);
        ASSERT_TRUE(says("session database")) << "its disk has no room";
        EXPECT_TRUE(notice().contains("Until then it measures on")) << notice().toStdString();
        EXPECT_TRUE(place->runs().measuring());
    }
    EXPECT_TRUE(saysNothing());
    EXPECT_TRUE(place->runs().measuring());
    place->runs().stop();
    ASSERT_TRUE(idle());
    EXPECT_EQ(stored()[0].state, RunState::Stopped) << "all of it was stored";
}

}  // namespace
}  // namespace stepscope
