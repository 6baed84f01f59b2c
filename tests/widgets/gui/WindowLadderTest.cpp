// The page Ladder in the window: a ladder and a search measured live, used, stopped, gone on with, and shown again from the list.
#include <QLabel>
#include <QPushButton>
#include <QTabWidget>
#include <fstream>

#include "WindowFixture.h"
#include "core/analysis/StudyHistory.h"
#include "core/events/Event.h"
#include "sessions/record/Recorder.h"
#include "widgets/charts/experiment/StudyChart.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/inference/InferencePage.h"
#include "widgets/panels/ladder/LadderForm.h"
#include "widgets/panels/ladder/LadderPage.h"
#include "widgets/panels/ladder/LadderTable.h"
#include "widgets/panels/run/RunBar.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {
namespace {

class WindowLadderTest : public WindowTest {
protected:
    ~WindowLadderTest() override { setFakeExperiment({}); }
    void openPage(const FakeExperimentPlan& plan = {}) {
        setFakeExperiment(plan);
        open();
        window().pages().setCurrentWidget(&page());
        window().resize(1280, 800);
    }
    LadderPage& page() { return window().ladderPage(); }
    QPushButton* button(const QString& text) {
        for (auto* found : page().findChildren<QPushButton*>())
            if (found->text() == text) return found;
        return nullptr;
    }
    QString write(const std::string& text) {
        const QString path = folder.filePath("ladder.yaml");
        std::ofstream(path.toStdString()) << text;
        return path;
    }
    void ask(const LadderQuestion& question) {
        page().form().setQuestion(question);
        ASSERT_TRUE(QTest::qWaitFor([&] { return button("Measure")->isEnabled(); }, 8000)) << page().forecast().toStdString();
    }
    void measure() {
        QTest::mouseClick(button("Measure"), Qt::LeftButton);
        ASSERT_TRUE(QTest::qWaitFor([&] { return place->runs().measuring(); }, 8000));
    }
    // Seconds that each of the studies of a session was given.
    std::vector<double> budgetsOf(std::int64_t session) {
        std::vector<double> all;
        const auto reader = SessionReader::open(options.database.toStdString()).value();
        const auto events = reader->measurements(session).value();
        for (const Event& event : events)
            if (const auto* began = std::get_if<StudyBegan>(&event)) all.push_back(began->budgetSeconds);
        return all;
    }
    // Shows session 2, a ladder as it is stored whose rungs took all of its time. budgetSeconds: that it had; 0: none was given.
    void openWithoutTime(const QString& file, double budgetSeconds) {
        ask({.search = false, .ladder = file.toStdString(), .minutes = 1, .delta = 0.02, .seed = 5});
        measure();
        ASSERT_TRUE(idle());
        ASSERT_TRUE(QTest::qWaitFor([&] { return page().answer().startsWith("The top is ×"); }, 5000));
        EXPECT_FALSE(button("Go on")->isEnabled()) << "all of it was measured";
        {
            auto reader = SessionReader::open(options.database.toStdString()).value();
            auto events = reader->measurements(1).value();
            auto info = reader->info(1).value();
            auto recorder = Recorder::open({.path = options.database.toStdString()}, info).value();
            for (Event& event : events) {
                if (auto* began = std::get_if<StudyBegan>(&event)) {
                    EXPECT_EQ(began->seed, 5) << "as it was set on the page";
                    EXPECT_DOUBLE_EQ(began->delta, 0.02);
                    began->budgetSeconds = budgetSeconds;
                }
                if (auto* row = std::get_if<StudyRow>(&event); row != nullptr && row->role == study::kWithout) {
                    row->state = study::kSkipped;
                    row->why = "Not measured: the 290 s of this ladder were spent on its rungs. A larger budget measures it.";
                    row->waits = true;
                }
                recorder->publish(event);
            }
            recorder->publish(StateChanged{{}, 0, RunState::Finished, {}});
            ASSERT_TRUE(recorder->finish());
        }
        place.reset();
        open();
        window().pages().setCurrentWidget(&page());
        ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 2; }, 8000));
        Q_EMIT window().sessions().replayRequested(2);
        ASSERT_TRUE(QTest::qWaitFor([&] { return button("Go on")->isVisible() && button("Go on")->isEnabled(); }, 8000));
        EXPECT_TRUE(page().earlier().startsWith("Asked once before here, in session 1")) << page().earlier().toStdString();
    }
};

TEST_F(WindowLadderTest, MeasuresALadderRungByRungAndKeepsItAmongTheSessions) {
    openPage();
    const QString file = write("- amp=bf16\n- device=cuda:0\n- zero-grad=zero\n");
    ask({.search = false, .ladder = file.toStdString(), .minutes = 1});
    EXPECT_TRUE(page().forecast().contains("measurements")) << page().forecast().toStdString();
    measure();
    ASSERT_TRUE(idle());
    ASSERT_TRUE(QTest::qWaitFor([&] { return page().answer().startsWith("The top is ×"); }, 5000)) << page().answer().toStdString();
    EXPECT_TRUE(page().table().cell("amp=bf16", "× below").startsWith("×1.12 ["));
    EXPECT_GE(page().chart().bars().size(), 5u);
    const QString html = folder.filePath("ladder.html");
    EXPECT_TRUE(button("Report…")->isEnabled());
    Q_EMIT page().reportRequested(html);
    const auto written = [&] {
        QFile file(html);
        return file.open(QIODevice::ReadOnly) && QString::fromUtf8(file.readAll()).contains("ladder.yaml");
    };
    EXPECT_TRUE(QTest::qWaitFor(written, 5000)) << "the ladder was somebody's own";
    picture(window(), "ladder-1280x800");
    window().resize(1024, 640);
    QTest::qWait(50);
    picture(window(), "ladder-1024x640");
    window().resize(1280, 800);
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 8000));
    EXPECT_EQ(stored()[0].kind, SessionKind::Ladder);
    QTest::mouseClick(button("Use it"), Qt::LeftButton);
    EXPECT_TRUE(QTest::qWaitFor([&] { return window().experiment().config().word("amp") == "bf16"; }, 5000));
    EXPECT_EQ(window().experiment().config().word("zero-grad"), "zero");

    const QString answer = page().answer();
    place.reset();
    open();
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 8000));
    Q_EMIT window().sessions().replayRequested(1);
    EXPECT_EQ(window().pages().currentWidget(), &page());
    EXPECT_TRUE(QTest::qWaitFor([&] { return page().answer() == answer; }, 5000)) << page().answer().toStdString();
    EXPECT_FALSE(place->stage().replaying()) << "it is no run to replay";
}

TEST_F(WindowLadderTest, FindsWhatIsBestAndPutsItIntoTheSettings) {
    openPage();
    ask({.search = true, .minutes = 1});
    measure();
    ASSERT_TRUE(idle());
    ASSERT_TRUE(QTest::qWaitFor([&] { return page().answer().startsWith("Recommended: amp=bf16, ×1.12"); }, 5000)) << page().answer().toStdString();
    EXPECT_TRUE(page().table().cell("attention=manual", "what came of it").contains("for sure"));
    EXPECT_EQ(page().table().cell("not amp=fp16", "what came of it"), "Slow here.");
    EXPECT_EQ(page().table().cell("attention=manual", "× present"), "×0.80 [0.78, 0.82]");
    EXPECT_EQ(page().table().cell("the present settings", "× present"), "") << "they are what the others stand beside";
    EXPECT_TRUE(page().table().isColumnHidden(1)) << "steps of different moments compare nothing";
    picture(window(), "search-1280x800");
    window().resize(1024, 640);
    QTest::qWait(50);
    picture(window(), "search-1024x640");
    window().resize(1280, 800);
    QTest::mouseClick(button("Use it"), Qt::LeftButton);
    EXPECT_TRUE(QTest::qWaitFor([&] { return window().experiment().config().word("amp") == "bf16"; }, 5000));
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 8000));
    EXPECT_EQ(stored()[0].kind, SessionKind::Tune);
}

TEST_F(WindowLadderTest, StopKeepsWhatIsKnownAndGoOnMeasuresTheRest) {
    openPage({.pairs = 400, .usAPair = 20'000});
    ask({.search = false, .ladder = write("- amp=bf16\n- zero-grad=zero\n").toStdString(), .minutes = 1});
    measure();
    ASSERT_TRUE(QTest::qWaitFor([&] { return page().table().cell("amp=bf16", "× below").startsWith("×"); }, 10'000));
    EXPECT_TRUE(QTest::qWaitFor([&] { return window().inferencePage().source().contains("stop it first, or wait for its end"); }, 5000));
    const auto barNamesThePage = [&] {
        for (const auto* label : window().runBar().findChildren<QLabel*>())
            if (label->text() == "measuring, see page Ladder") return true;
        return false;
    };
    EXPECT_TRUE(QTest::qWaitFor(barNamesThePage, 5000));
    QTest::mouseClick(button("Stop"), Qt::LeftButton);
    ASSERT_TRUE(idle());
    ASSERT_TRUE(QTest::qWaitFor([&] { return button("Go on")->isVisible() && button("Go on")->isEnabled(); }, 8000));
    setFakeExperiment({});
    QTest::mouseClick(button("Go on"), Qt::LeftButton);
    ASSERT_TRUE(idle());
    EXPECT_TRUE(QTest::qWaitFor([&] { return page().answer().startsWith("The top is ×"); }, 5000)) << page().answer().toStdString();
    EXPECT_EQ(stored().size(), 2u);
}

TEST_F(WindowLadderTest, MeasurePressedBeforeItIsKnownWhatWouldBeMeasuredBeginsThen) {
    openPage();
    const std::string file = write("- amp=bf16\n").toStdString();
    ask({.search = false, .ladder = file, .minutes = 1});
    page().form().setQuestion({.search = false, .ladder = file, .minutes = 2});
    QTest::mouseClick(button("Measure"), Qt::LeftButton);
    EXPECT_TRUE(page().forecast().contains("it begins then")) << page().forecast().toStdString();
    ASSERT_TRUE(QTest::qWaitFor([&] { return place->runs().measuring(); }, 8000));
    ASSERT_TRUE(idle());
}

TEST_F(WindowLadderTest, FollowsWhatAnotherProgramMeasures) {
    openPage({.pairs = 400, .usAPair = 20'000});
    ask({.search = false, .ladder = write("- amp=bf16\n- zero-grad=zero\n").toStdString(), .minutes = 1});
    measure();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !stored().empty(); }, 8000));
    // A second window over the same database.
    Workplace other(options);
    other.open();
    LadderPage& theirs = other.window().ladderPage();
    ASSERT_TRUE(QTest::qWaitFor([&] { return other.window().sessions().model().rowCount() > 0; }, 8000));
    Q_EMIT other.window().sessions().replayRequested(stored().front().id);
    ASSERT_TRUE(QTest::qWaitFor([&] { return theirs.table().cell("amp=bf16", "× below").startsWith("×"); }, 20'000));
    QTest::mouseClick(button("Stop"), Qt::LeftButton);
    ASSERT_TRUE(idle());
    EXPECT_TRUE(QTest::qWaitFor([&] { return theirs.progress().contains("stopped"); }, 8000)) << theirs.progress().toStdString();
}

TEST_F(WindowLadderTest, SaysWhatIsWrongWithAFileBeforeAnythingIsMeasured) {
    openPage();
    page().form().setFile(write("- amp=bf16\n- colour=red\n"));
    EXPECT_TRUE(QTest::qWaitFor([&] { return page().forecast().contains("line 2") && page().forecast().contains("colour"); }, 8000))
        << page().forecast().toStdString();
    EXPECT_FALSE(button("Measure")->isEnabled());
    page().form().setFile(write("- amp=bf16\n"));
    EXPECT_TRUE(QTest::qWaitFor([&] { return button("Measure")->isEnabled(); }, 8000))
        << "mended and chosen again: " << page().forecast().toStdString();
}

TEST_F(WindowLadderTest, SaysOfEachRungThatDoesNothingWhyAndOfManyHowManyMoreThereAre) {
    openPage();
    const std::string reason = "It does nothing here: the same runs as without it.";
    const auto said = [&](const std::string& end) { return page().forecast().contains(QString::fromStdString(end)); };
    page().form().setFile(write("- amp=bf16\n- attention=auto\n- host-memory=caching\n"));
    EXPECT_TRUE(QTest::qWaitFor([&] { return said(" Not measured here: attention=auto: " + reason + " host-memory=caching: " + reason); }, 8000))
        << page().forecast().toStdString();
    EXPECT_FALSE(said(" more."));
    page().form().setFile(
        write("- amp=bf16\n- attention=auto\n- host-memory=caching\n- batch-size=12\n- context=128\n- zero-grad=set-to-none\n"
              "- matmul-precision=highest\n- device=cpu\n"));
    EXPECT_TRUE(QTest::qWaitFor([&] { return said("zero-grad=set-to-none: " + reason + " And 2 more."); }, 8000)) << page().forecast().toStdString();
    EXPECT_FALSE(said("matmul-precision=highest: "));
}

TEST_F(WindowLadderTest, AFinishedLadderWhoseRowsHadNoTimeGoesOnWithTheMinutesThatAreSet) {
    openPage();
    const QString file = write("- amp=bf16\n- zero-grad=zero\n");
    openWithoutTime(file, 0);
    if (HasFatalFailure()) return;
    page().form().setQuestion({.search = false, .ladder = file.toStdString(), .minutes = 2});
    QTest::mouseClick(button("Go on"), Qt::LeftButton);
    ASSERT_TRUE(QTest::qWaitFor([&] { return stored().size() == 3; }, 8000));
    ASSERT_TRUE(idle());
    ASSERT_TRUE(QTest::qWaitFor([&] { return page().table().cell("without amp=bf16", "× below").startsWith("×"); }, 5000));
    EXPECT_TRUE(page().table().cell("amp=bf16", "what to know").startsWith("Measured in session 2."));
    EXPECT_EQ(budgetsOf(3), std::vector<double>{120});
}

TEST_F(WindowLadderTest, ASearchSaysWhatTheSameQuestionCameToBefore) {
    openPage();
    ask({.search = true, .minutes = 1});
    measure();
    ASSERT_TRUE(idle());
    ASSERT_TRUE(QTest::qWaitFor([&] { return page().answer().startsWith("Recommended: amp=bf16"); }, 5000));
    EXPECT_TRUE(page().beside().contains("the loss may move")) << page().beside().toStdString();
    EXPECT_EQ(page().earlier(), "");
    ask({.search = true, .minutes = 2});
    EXPECT_TRUE(QTest::qWaitFor([&] { return page().forecast().contains("Asked once before here, in session 1: recommended: amp=bf16"); }, 8000))
        << page().forecast().toStdString();
    measure();
    ASSERT_TRUE(idle());
    EXPECT_TRUE(QTest::qWaitFor([&] { return page().earlier().startsWith("Asked once before here, in session 1"); }, 5000))
        << page().earlier().toStdString();
}

TEST_F(WindowLadderTest, GoOnWithoutMinutesTakesAsLongAsItNeedsAndNotTheBudgetThatWasTooSmall) {
    openPage();
    const QString file = write("- amp=bf16\n- zero-grad=zero\n");
    openWithoutTime(file, 60);
    if (HasFatalFailure()) return;
    page().form().setQuestion({.search = false, .ladder = file.toStdString(), .minutes = 0});
    QTest::mouseClick(button("Go on"), Qt::LeftButton);
    ASSERT_TRUE(QTest::qWaitFor([&] { return stored().size() == 3; }, 8000));
    ASSERT_TRUE(idle());
    EXPECT_EQ(budgetsOf(3), std::vector<double>{0});
}

TEST_F(WindowLadderTest, ASearchThatHasTooFewMinutesSaysHowManyItTakes) {
    openPage();
    ask({.search = true, .minutes = 0.4});
    page().form().setQuestion({.search = true, .minutes = 0.3});
    EXPECT_TRUE(QTest::qWaitFor([&] { return page().forecast().contains("0.4 min or more"); }, 8000)) << page().forecast().toStdString();
    EXPECT_FALSE(button("Measure")->isEnabled());
}

}  // namespace
}  // namespace stepscope
