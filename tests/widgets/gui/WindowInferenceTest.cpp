// The page Inference in the window: whose weights are measured, the live run that holds still for it, how it is stopped, and what stands there.
#include <gtest/gtest.h>

#include <QPushButton>
#include <QScrollBar>
#include <QTabWidget>

#include "WindowFixture.h"
#include "app/gui/measuring/InferenceWords.h"
#include "fake/FakeLooks.h"
#include "widgets/panels/compare/CompareForm.h"
#include "widgets/panels/compare/ComparePage.h"
#include "widgets/panels/inference/InferencePage.h"
#include "widgets/panels/ladder/LadderPage.h"
#include "widgets/style/Theme.h"

namespace stepscope {
namespace {

class WindowInferenceTest : public WindowTest {
protected:
    ~WindowInferenceTest() override {
        setFakeLook({});
        setFakeCheckpoints(false);
    }
    void openPage(const FakeLook& look = {}) {
        setFakeLook(look);
        setFakeCheckpoints(true);
        open();
        window().resize(1280, 800);
        window().pages().setCurrentWidget(&page());
    }
    InferencePage& page() { return window().inferencePage(); }
    bool ready() {
        return QTest::qWaitFor([&] { return page().measureButton()->isEnabled(); }, 5000);
    }
    void measure() {
        ASSERT_TRUE(ready()) << page().source().toStdString();
        QTest::mouseClick(page().measureButton(), Qt::LeftButton);
    }
    bool says(const QString& text) {
        return QTest::qWaitFor([&] { return page().state().contains(text); }, 5000);
    }
};

TEST_F(WindowInferenceTest, SaysWhatToDoWhereThereAreNoWeights) {
    openPage();
    EXPECT_TRUE(QTest::qWaitFor([&] { return page().source().contains("press Run"); }, 5000)) << page().source().toStdString();
    EXPECT_FALSE(page().measureButton()->isEnabled());
    EXPECT_EQ(page().cell("f32", "weights"), "");
}

TEST_F(WindowInferenceTest, MeasuresTheNewestCheckpointOfTheSessionInView) {
    openPage();
    runAndStop(5);
    ASSERT_TRUE(QTest::qWaitFor([&] { return page().source().contains("step 42"); }, 5000)) << page().source().toStdString();
    measure();
    ASSERT_TRUE(says("24 rounds of turns")) << page().state().toStdString();
    EXPECT_EQ(fakeForms().from, "checkpoint-1");
    EXPECT_FALSE(fakeForms().besideAPausedRun);
    EXPECT_FALSE(fakeLookWasHere()) << "the window's thread waits for nothing";
    EXPECT_TRUE(page().cell("int8", "text").contains("times as fast [")) << page().cell("int8", "text").toStdString();
    EXPECT_TRUE(page().cell("int8", "prompt").contains("inconclusive"));
    EXPECT_TRUE(page().cell("f32", "text").endsWith("\nbeside itself within 1.20 %")) << page().cell("f32", "text").toStdString();
    EXPECT_TRUE(page().cell("f32", "prompt").endsWith("\nbeside itself within 0.80 %"));
    EXPECT_TRUE(page().cell("int4", "perplexity").endsWith(" %]\nworse")) << page().cell("int4", "perplexity").toStdString();
    EXPECT_TRUE(page().cell("bf16", "perplexity").endsWith(" %]\nno difference of more than 1 %"));
    for (const QSize size : {QSize(1920, 1080), QSize(1280, 800), QSize(1024, 640)})
        for (const Theme theme : {Theme::Light, Theme::Dark}) {
            applyStyle(*qApp, theme);
            window().resize(size);
            QTest::qWait(80);
            const QString name = QString("inference-%1x%2-%3").arg(size.width()).arg(size.height()).arg(theme == Theme::Dark ? "dark" : "light");
            picture(window(), name);
            page().verticalScrollBar()->setValue(page().verticalScrollBar()->maximum());
            QTest::qWait(30);
            picture(window(), name + "-below");
            page().verticalScrollBar()->setValue(0);
        }
    applyStyle(*qApp, Theme::Light);
}

TEST_F(WindowInferenceTest, HoldsTheLiveRunStillAndLetsItGoOn) {
    openPage();
    Q_EMIT window().experiment().row("steps")->committed("steps", "100000");
    press("Run");
    ASSERT_TRUE(reaches(5));
    measure();
    ASSERT_TRUE(QTest::qWaitFor([&] { return fakeForms().from == "checkpoint"; }, 5000)) << page().state().toStdString();
    EXPECT_TRUE(fakeForms().besideAPausedRun);
    ASSERT_TRUE(says("24 rounds of turns")) << page().state().toStdString();
    EXPECT_TRUE(becomes(RunState::Running)) << "it goes on by itself";
}

TEST_F(WindowInferenceTest, LeavesARunPausedThatAPersonPaused) {
    openPage();
    Q_EMIT window().experiment().row("steps")->committed("steps", "100000");
    press("Run");
    ASSERT_TRUE(reaches(5));
    press("Pause");
    ASSERT_TRUE(becomes(RunState::Paused));
    measure();
    ASSERT_TRUE(says("24 rounds of turns")) << page().state().toStdString();
    QTest::qWait(100);
    EXPECT_EQ(live().state()->state, RunState::Paused);
    // Its step is kept already: no checkpoint is written, and it is measured all the same.
    fakeForms().from.clear();
    measure();
    ASSERT_TRUE(QTest::qWaitFor([&] { return fakeForms().from == "checkpoint"; }, 5000)) << page().state().toStdString();
    ASSERT_TRUE(says("24 rounds of turns")) << page().state().toStdString();
    EXPECT_EQ(live().state()->state, RunState::Paused);
}

TEST_F(WindowInferenceTest, MeasuresAFileThatWasChosenAndTheSessionsAgain) {
    openPage();
    Q_EMIT page().weightsRequested("/weights/gpt2");
    EXPECT_TRUE(page().source().contains("/weights/gpt2"));
    measure();
    ASSERT_TRUE(says("24 rounds of turns")) << page().state().toStdString();
    EXPECT_EQ(fakeForms().from, "/weights/gpt2");
    Q_EMIT page().weightsRequested({});
    EXPECT_FALSE(page().source().contains("/weights/gpt2"));
}

TEST_F(WindowInferenceTest, IsStoppedAndKeepsWhatIsKnown) {
    openPage({.ms = 60'000});
    Q_EMIT page().weightsRequested("/weights/gpt2");
    measure();
    ASSERT_TRUE(says("reading the text in int8"));
    QTest::mouseClick(page().stopButton(), Qt::LeftButton);
    ASSERT_TRUE(says("Stopped before everything")) << page().state().toStdString();
    EXPECT_TRUE(page().cell("f32", "perplexity").startsWith("29.4"));
    EXPECT_TRUE(page().cell("int8", "text").startsWith("not measured"));
    EXPECT_TRUE(ready());
}

TEST_F(WindowInferenceTest, WritesThePruningThatIsChosenAndKeepsTheFigures) {
    openPage();
    Q_EMIT page().weightsRequested("/weights/gpt2");
    measure();
    ASSERT_TRUE(says("24 rounds of turns")) << page().state().toStdString();
    PruneWish wish;
    wish.point.name = "50 % of the heads";
    wish.point.scope = "heads";
    wish.point.share = 0.5;
    wish.out = "/weights/half";
    wish.tokens = 4096;
    Q_EMIT page().pruneRequested(wish);
    ASSERT_TRUE(says("Wrote /weights/half")) << page().state().toStdString();
    EXPECT_TRUE(page().state().contains("29.410 -> 31.200")) << page().state().toStdString();
    EXPECT_EQ(fakePruned().from, "/weights/gpt2");
    EXPECT_EQ(fakePruned().scope, "heads");
    EXPECT_DOUBLE_EQ(fakePruned().sparsity, 0.5);
    EXPECT_EQ(fakePruned().pattern, "");
    EXPECT_TRUE(page().cell("int8", "text").contains("times as fast [")) << "what was measured stays";
    EXPECT_TRUE(ready());
    wish.point = {};
    wish.point.name = "two of four";
    wish.point.pattern = true;
    Q_EMIT page().pruneRequested(wish);
    ASSERT_TRUE(QTest::qWaitFor([&] { return fakePruned().pattern == "2:4"; }, 5000));
}

TEST_F(WindowInferenceTest, SaysWhyItCouldNotMeasure) {
    openPage({.failure = "gpt2 is of no run of Stepscope, so it has no data of its own; give data to read (--data)."});
    Q_EMIT page().weightsRequested("/weights/gpt2");
    measure();
    ASSERT_TRUE(says("no data of its own"));
    EXPECT_TRUE(ready());
}

TEST_F(WindowInferenceTest, ARefusedQuestionKeepsWhatWasMeasuredBefore) {
    openPage();
    Q_EMIT page().weightsRequested("/weights/gpt2");
    measure();
    ASSERT_TRUE(says("24 rounds of turns")) << page().state().toStdString();
    const QString whose = page().whose(), figure = page().cell("int8", "text");
    setFakeLook({.failure = "There is no file /nowhere.txt; check the path."});
    Q_EMIT page().weightsRequested("/weights/other");
    measure();
    ASSERT_TRUE(says("no file /nowhere.txt")) << page().state().toStdString();
    EXPECT_EQ(page().cell("int8", "text"), figure);
    EXPECT_EQ(page().whose(), whose) << "of the weights that were measured, not of those that could not be";
    EXPECT_TRUE(whose.contains("/weights/gpt2")) << whose.toStdString();
}

TEST_F(WindowInferenceTest, IsReachedByTheKeyZero) {
    open();
    window().activateWindow();
    key(Qt::Key_0);
    EXPECT_EQ(window().pages().currentWidget(), &page());
    key(Qt::Key_1);
    EXPECT_EQ(window().pages().currentIndex(), 0);
}

TEST_F(WindowInferenceTest, NoRunEndsItWithoutAWord) {
    openPage({.ms = 60'000});
    runAndStop(5);
    measure();
    ASSERT_TRUE(says("reading the text in int8")) << page().state().toStdString();
    const QString whose = page().whose();
    EXPECT_TRUE(whose.contains("step 42 of session 1")) << whose.toStdString();
    EXPECT_FALSE(WindowTest::button("Run")->isEnabled());
    EXPECT_TRUE(WindowTest::button("Run")->toolTip().contains("page Inference")) << WindowTest::button("Run")->toolTip().toStdString();
    Q_EMIT window().runBar().runRequested();  // as the key does
    EXPECT_FALSE(place->runs().busy());
    EXPECT_TRUE(says("reading the text in int8")) << "it goes on";
    // Nor an experiment or a ladder.
    CompareForm& form = window().comparePage().form();
    EXPECT_FALSE(form.measureButton()->isEnabled());
    EXPECT_TRUE(form.said().contains("page Inference")) << form.said().toStdString();
    EXPECT_TRUE(window().ladderPage().forecast().contains("page Inference")) << window().ladderPage().forecast().toStdString();
    QString refused;
    QObject::connect(&place->runs(), &RunController::measureFailed, &window(), [&refused](const QString& why) { refused = why; });
    place->runs().measure({}, place->stage().live());
    EXPECT_TRUE(refused.contains("page Inference")) << refused.toStdString();
    QTest::mouseClick(page().stopButton(), Qt::LeftButton);
    ASSERT_TRUE(says("Stopped before everything")) << page().state().toStdString();
    press("Run");
    ASSERT_TRUE(reaches(3));
    EXPECT_TRUE(QTest::qWaitFor([&] { return page().source().contains("run in progress"); }, 5000)) << page().source().toStdString();
    EXPECT_EQ(page().whose(), whose) << "the table is still of the checkpoint";
}

TEST(InferenceWords, WhereTheTimeWasTooShortForSpeedsThePageSaysSo) {
    InferenceView view = emptyInference();
    view.stage = InferenceView::Stage::Found;
    FormsAnswer answer;
    showForms(answer, view);
    EXPECT_FALSE(view.doing.contains("Speeds were not measured")) << view.doing.toStdString();
    answer.whyNoSpeed = noSpeedWords(8);
    showForms(answer, view);
    EXPECT_TRUE(view.doing.contains("Speeds were not measured") && view.doing.contains("8.00") && view.doing.contains("more seconds"))
        << view.doing.toStdString();
}

TEST(InferenceWords, WhereNoSpeedWasAskedForNoPromptWasRead) {
    InferenceView view = emptyInference();
    view.stage = InferenceView::Stage::Found;
    FormsAnswer answer;
    answer.prompt = answer.text = 16;
    showForms(answer, view);
    EXPECT_FALSE(view.doing.contains("prompts")) << view.doing.toStdString();
    answer.rounds = 4;
    showForms(answer, view);
    EXPECT_TRUE(view.doing.contains("prompts of 16 and texts of 16 tokens")) << view.doing.toStdString();
}

TEST(InferenceWords, APruningFindsItsRowByWhatWasPrunedWhateverItIsCalled) {
    const auto all = prunedPoints();
    InferenceView view = emptyInference();
    ASSERT_EQ(view.pruned.size(), all.size());
    FormsAnswer answer;
    answer.pruned = {{.name = "in other words", .scope = all[1].scope, .share = all[1].share, .perplexity = 31.2},
                     {.name = "four by two", .scope = all.back().scope, .share = all.back().share, .perplexity = 33.5}};
    showForms(answer, view);
    for (std::size_t i = 0; i < all.size(); ++i)
        EXPECT_EQ(view.pruned[i].perplexity, i == 1 ? "31.200" : i + 1 == all.size() ? "33.500" : "") << all[i].name;
}

}  // namespace
}  // namespace stepscope
