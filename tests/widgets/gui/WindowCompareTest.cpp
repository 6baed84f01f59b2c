// The page Compare in the window: asked, measured live, stopped, its verdict stored and read again, mistakes, a run that is in the way.
#include <QAbstractItemView>
#include <QCheckBox>
#include <QElapsedTimer>
#include <QFile>
#include <QHeaderView>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QPushButton>
#include <QTabWidget>
#include <array>
#include <cmath>

#include "WindowFixture.h"
#include "core/analysis/ExperimentHistory.h"
#include "core/events/Event.h"
#include "sessions/record/Recorder.h"
#include "widgets/charts/LivePage.h"
#include "widgets/charts/experiment/RatioChart.h"
#include "widgets/panels/LogPanel.h"
#include "widgets/panels/compare/CompareForm.h"
#include "widgets/panels/compare/ComparePage.h"
#include "widgets/panels/compare/CompareResult.h"
#include "widgets/panels/compare/DifferenceRow.h"
#include "widgets/panels/compare/MemoryBars.h"
#include "widgets/panels/compare/PairReplay.h"
#include "widgets/panels/compare/WaterfallChart.h"
#include "widgets/panels/compare/WhyPane.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/experiment/ValueEdit.h"
#include "widgets/panels/experiment/ValueRow.h"
#include "widgets/panels/run/NoticeBar.h"
#include "widgets/panels/run/ScrubBar.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsPanel.h"
#include "widgets/style/Theme.h"
#include "widgets/timeline/LockedTimelines.h"

namespace stepscope {
namespace {

constexpr int kLeastRoom = 342;  // of a page at 1024x640 between panels as wide as they are at 1280x800, less its margins

class WindowCompareTest : public WindowTest {
protected:
    ~WindowCompareTest() override { setFakeExperiment({}); }
    void openPage(const FakeExperimentPlan& plan = {}) {
        setFakeExperiment(plan);
        open();
        window().pages().setCurrentWidget(&page());
        window().resize(1280, 800);
    }
    ComparePage& page() { return window().comparePage(); }
    CompareForm& form() { return page().form(); }
    CompareResult& result() { return page().result(); }
    QPushButton* on(QWidget& where, const QString& text) {
        for (auto* found : where.findChildren<QPushButton*>())
            if (found->text() == text) return found;
        return nullptr;
    }
    bool askable() {
        return QTest::qWaitFor([&] { return form().canMeasure(); }, 5000);
    }
    void measure() {
        ASSERT_TRUE(askable());
        QTest::mouseClick(form().measureButton(), Qt::LeftButton);
        ASSERT_TRUE(place->runs().measuring());
        EXPECT_EQ(place->runs().measuredOn(), "Compare");
    }
    bool says(const QString& verdict) {
        return QTest::qWaitFor([&] { return result().verdict().startsWith(verdict); }, 15'000);
    }
    void choose(const QString& key, const QString& a, const QString& b) {
        DifferenceRow* row = form().rows()[0];
        row->setDifference({key.toStdString(), a.toStdString(), b.toStdString()});
        Q_EMIT row->edited();
    }
    bool mistakeSaid(const QString& part) {
        return QTest::qWaitFor([&] { return form().rows()[0]->problem().contains(part); }, 5000);
    }
};

TEST_F(WindowCompareTest, InANarrowWindowNothingOfItIsCut) {
    openPage();
    for (const bool measured : {false, true}) {
        if (measured) {
            measure();
            ASSERT_TRUE(says("amp=bf16 is faster than"));
            ASSERT_TRUE(idle());
        }
        QScrollArea& area = measured ? static_cast<QScrollArea&>(result()) : form();
        for (const QSize size : {QSize(1024, 640), QSize(960, 508)}) {
            window().resize(size);
            QTest::qWait(100);
            EXPECT_LE(area.widget()->width(), area.viewport()->width()) << measured << " " << size.width();
            // Beside panels that were drawn wider there is less room.
            for (const auto* part : area.widget()->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
                const int asked = part->isVisible() ? part->minimumSizeHint().width() : 0;
                EXPECT_LE(asked, kLeastRoom) << part->metaObject()->className();
            }
            picture(window(), QString("compare-narrow-%1-%2").arg(measured ? "result" : "form").arg(size.width()));
        }
    }
}

TEST_F(WindowCompareTest, AnswersAQuestionAndKeepsItAmongTheSessions) {
    openPage();
    EXPECT_TRUE(page().asking());
    measure();
    EXPECT_FALSE(page().asking());
    ASSERT_TRUE(says("amp=bf16 is faster than"));
    ASSERT_TRUE(idle());
    EXPECT_EQ(result().chart()->pairs().size(), 16u);
    EXPECT_TRUE(result().basis().contains("left out")) << result().basis().toStdString();
    EXPECT_TRUE(result().reasons()->isVisible());
    EXPECT_TRUE(result().reasons()->sentence().contains("less in pointwise")) << result().reasons()->sentence().toStdString();
    const auto& bars = result().reasons()->chart()->bars();
    ASSERT_GE(bars.size(), 4u);
    EXPECT_EQ(bars.front().name, "A");
    EXPECT_EQ(bars[1].name, "pointwise") << "the largest difference comes first";
    EXPECT_EQ(bars.back().name, "B");
    for (std::size_t i = 1; i + 1 < bars.size(); ++i)
        EXPECT_NEAR(bars[i].from, bars[i - 1].to, 1e-9) << bars[i].name.toStdString() << " begins where the one above it ended";
    EXPECT_NEAR(bars[bars.size() - 2].to, bars.back().to, 1e-9) << "and the last one ends at B";
    EXPECT_GT(result().reasons()->places()->rowCount(), 2);
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 8000));
    const auto list = stored();
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].kind, SessionKind::Experiment);
    EXPECT_EQ(list[0].name, "amp=off beside amp=bf16");
    QTest::mouseClick(on(result(), "Use B's settings"), Qt::LeftButton);
    EXPECT_EQ(window().experiment().config().word("amp"), "bf16");
}

TEST_F(WindowCompareTest, AStoredOneIsShownAsItWasLiveAndCountsAsAnEarlierAnswer) {
    openPage();
    measure();
    ASSERT_TRUE(says("amp=bf16 is faster than"));
    ASSERT_TRUE(idle());
    const QString sentence = result().reasons()->sentence();
    const QString verdict = result().verdict(), basis = result().basis(), why = result().why();
    const auto pairs = result().chart()->pairs().size();
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 8000));
    place.reset();
    open();
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 8000));
    Q_EMIT window().sessions().replayRequested(1);
    EXPECT_EQ(window().pages().currentWidget(), &page());
    ASSERT_TRUE(QTest::qWaitFor([&] { return result().verdict() == verdict; }, 5000)) << result().verdict().toStdString();
    EXPECT_EQ(result().basis(), basis);
    EXPECT_EQ(result().why(), why);
    EXPECT_EQ(result().reasons()->sentence(), sentence);
    EXPECT_EQ(result().chart()->pairs().size(), pairs);
    EXPECT_TRUE(result().progress().contains("session 1")) << result().progress().toStdString();
    EXPECT_FALSE(place->stage().replaying()) << "it is no run to replay";
    // And as it was after each of its pairs.
    PairReplay* replay = result().replay();
    ASSERT_TRUE(replay->isVisible());
    QTest::keyClick(replay->bar(), Qt::Key_Home);
    QTest::keyClick(replay->bar(), Qt::Key_Right);
    EXPECT_EQ(result().chart()->pairs().size(), 1u);
    EXPECT_TRUE(result().verdict().startsWith("After pair 1: ")) << result().verdict().toStdString();
    const QSize usual = window().size();
    window().resize(1024, 640);
    QTest::keyClick(replay->bar(), Qt::Key_Right);
    QCoreApplication::processEvents();
    picture(window(), "compare-replayed-1024");
    window().resize(usual);
    QTest::keyClick(replay->bar(), Qt::Key_End);
    EXPECT_EQ(result().verdict(), verdict);
    // Asked again: the earlier answer is named, and the coins are others.
    QTest::mouseClick(on(result(), "Repeat"), Qt::LeftButton);
    ASSERT_TRUE(place->runs().measuring());
    ASSERT_TRUE(idle());
    ASSERT_TRUE(says("amp=bf16 is faster than"));
    const auto earlierSaid = [&] {
        for (auto* label : result().findChildren<QLabel*>())
            if (label->isVisible() && label->text().startsWith("This was asked once before")) return true;
        return false;
    };
    EXPECT_TRUE(QTest::qWaitFor(earlierSaid, 5000));
    EXPECT_EQ(stored().size(), 2u);
}

TEST_F(WindowCompareTest, AClickOnAReasonMovesBothCapturesLockedTogetherToThePlace) {
    openPage();
    measure();
    ASSERT_TRUE(says("amp=bf16 is faster than"));
    ASSERT_TRUE(idle());
    WhyPane& why = *result().reasons();
    LockedTimelines& both = *result().timelines();
    EXPECT_FALSE(both.isVisible());
    ASSERT_TRUE(QTest::qWaitFor([&] { return why.places()->rowCount() > 2; }, 5000));
    Q_EMIT why.places()->cellClicked(0, 0);
    EXPECT_TRUE(both.isVisible());
    ASSERT_TRUE(QTest::qWaitFor([&] { return both.sentence().contains("locked together"); }, 10'000)) << both.sentence().toStdString();
    EXPECT_TRUE(both.sentence().contains(why.places()->item(0, 0)->text())) << both.sentence().toStdString();
    ASSERT_FALSE(both.a().content().lanes.lanes.empty());
    ASSERT_FALSE(both.b().content().lanes.lanes.empty());
    for (const TraceLane& lane : both.a().content().lanes.lanes) EXPECT_EQ(lane.thread.rank, 0);
    for (const TraceLane& lane : both.b().content().lanes.lanes) EXPECT_EQ(lane.thread.rank, 1);
    EXPECT_EQ(both.a().nsPerPixel(), both.b().nsPerPixel());
    const double offset = both.b().from() - both.a().from();
    both.a().setView(both.a().from() + 20 * both.a().nsPerPixel(), both.a().nsPerPixel() * 0.9);
    EXPECT_NEAR(both.b().from() - both.a().from(), offset, 1) << "whichever is moved takes the other with it";
    EXPECT_EQ(both.a().nsPerPixel(), both.b().nsPerPixel());
    both.b().setView(both.b().from() - 10 * both.b().nsPerPixel(), both.b().nsPerPixel());
    EXPECT_NEAR(both.b().from() - both.a().from(), offset, 1);
    ASSERT_TRUE(QTest::qWaitFor([&] { return both.a().sharp() && both.b().sharp(); }, 5000));
    for (const QSize size : {QSize(1024, 640), QSize(1280, 800)})
        for (const Theme theme : {Theme::Light, Theme::Dark}) {
            applyStyle(*qApp, theme);
            window().resize(size);
            QCoreApplication::processEvents();
            result().ensureWidgetVisible(&both);
            QTest::qWait(100);
            picture(window(), QString("why-timelines-%1-%2").arg(theme == Theme::Dark ? "dark" : "light").arg(size.width()));
        }
    applyStyle(*qApp, Theme::System);
}

TEST_F(WindowCompareTest, TheReasonsStandBelowTheVerdictAtEverySize) {
    openPage();
    window().resize(1024, 640);
    ASSERT_TRUE(askable());
    picture(window(), "compare-form-1024");
    measure();
    ASSERT_TRUE(says("amp=bf16 is faster than"));
    ASSERT_TRUE(idle());
    for (const QSize size : {QSize(1024, 640), QSize(1280, 800), QSize(1920, 1080)})
        for (const Theme theme : {Theme::Light, Theme::Dark}) {
            applyStyle(*qApp, theme);
            window().resize(size);
            QCoreApplication::processEvents();
            WhyPane& why = *result().reasons();
            result().ensureWidgetVisible(&why);
            // The layout around it settles in a round of the loop or two.
            EXPECT_TRUE(QTest::qWaitFor([&] { return why.chart()->height() >= why.chart()->sizeHint().height(); }));
            auto* layered = why.findChild<QCheckBox*>();
            EXPECT_TRUE(QTest::qWaitFor([&] { return layered->isHidden() || layered->geometry().top() > why.places()->geometry().bottom(); }))
                << size.width();
            picture(window(), QString("why-%1-%2").arg(theme == Theme::Dark ? "dark" : "light").arg(size.width()));
            const auto& bars = why.chart()->bars();
            for (std::size_t bar = 0; bar < bars.size(); ++bar) {
                const QRectF place = why.chart()->barPlace(bar);
                EXPECT_GE(place.left(), 0);
                EXPECT_LE(place.right(), why.chart()->width()) << bars[bar].name.toStdString();
                EXPECT_LE(place.bottom(), why.chart()->height());
            }
            EXPECT_GE(why.places()->columnWidth(0), why.places()->fontMetrics().horizontalAdvance("forward, norm1")) << size.width();
            EXPECT_LE(why.places()->horizontalHeader()->length(), why.places()->viewport()->width());
        }
    applyStyle(*qApp, Theme::System);
}

TEST_F(WindowCompareTest, MemoryOfBothSidesStandsOnOneAxisWithWhatItHolds) {
    openPage();
    ASSERT_TRUE(askable());
    choose("batch-size", "12", "24");
    QTest::qWait(600);  // until the new question is looked at
    measure();
    ASSERT_TRUE(says("batch-size=24 is faster than batch-size=12 by"));
    ASSERT_TRUE(idle());
    MemoryBars& bars = *result().memory();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !bars.segments().empty(); }, 5000));
    EXPECT_TRUE(bars.isVisible());
    std::array<double, 2> ends{};
    for (const auto& one : bars.segments()) {
        auto& end = ends[static_cast<std::size_t>(one.side)];
        EXPECT_EQ(one.from, end) << "one kind behind the other";
        end = one.to;
        EXPECT_LE(bars.placeOf(one).right(), bars.width());
    }
    EXPECT_GT(ends[1], ends[0]) << "twice the batch has more activations";
    EXPECT_TRUE(std::isfinite(bars.markOf(0)));
    EXPECT_TRUE(bars.asText().contains("activations")) << bars.asText().toStdString();
    for (const QSize size : {QSize(1024, 640), QSize(1280, 800), QSize(1920, 1080)})
        for (const Theme theme : {Theme::Light, Theme::Dark}) {
            applyStyle(*qApp, theme);
            window().resize(size);
            QCoreApplication::processEvents();
            result().ensureWidgetVisible(&bars);
            QTest::qWait(50);
            picture(window(), QString("memory-sides-%1-%2").arg(theme == Theme::Dark ? "dark" : "light").arg(size.width()));
        }
    applyStyle(*qApp, Theme::System);
    const QString live = bars.asText();
    Q_EMIT result().earlierRequested(1, 1);
    EXPECT_TRUE(QTest::qWaitFor([&] { return bars.isVisible() && bars.asText() == live; }, 5000)) << "of a stored one the same";
}

TEST_F(WindowCompareTest, AReportIsWrittenOfWhatIsShownLiveOrStored) {
    openPage();
    measure();
    ASSERT_TRUE(says("amp=bf16 is faster than"));
    ASSERT_TRUE(idle());
    const auto contents = [](const QString& path) {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
    };
    const QString html = folder.filePath("report.html"), markdown = folder.filePath("report.md");
    Q_EMIT result().reportRequested(html);
    ASSERT_TRUE(QTest::qWaitFor([&] { return contents(html).contains("</html>"); }, 5000));
    EXPECT_TRUE(contents(html).contains("amp=bf16 is faster than amp=off by"));
    EXPECT_TRUE(contents(html).contains("stepscope-cli ab"));
    Q_EMIT page().result().earlierRequested(1, 1);
    ASSERT_TRUE(says("amp=bf16 is faster than"));
    Q_EMIT result().reportRequested(markdown);
    ASSERT_TRUE(QTest::qWaitFor([&] { return contents(markdown).contains("**amp=bf16 is faster than amp=off by"); }, 5000))
        << contents(markdown).toStdString();
    const QString json = folder.filePath("report.json");
    Q_EMIT result().reportRequested(json);
    ASSERT_TRUE(QTest::qWaitFor([&] { return contents(json).contains("\"verdict\":\"faster\""); }, 5000)) << contents(json).toStdString();
    const QJsonObject said = QJsonDocument::fromJson(contents(json).toUtf8()).object();
    EXPECT_GT(said["ratio"].toDouble(), 1);
    EXPECT_EQ(said["experiment"].toInt(), 1) << "the session that it can be asked of again";
    EXPECT_FALSE(said["every_pair"].toArray().isEmpty());
    EXPECT_TRUE(said["repeat"].toString().startsWith("stepscope-cli ab"));
    Q_EMIT result().reportRequested(folder.filePath("no/such/folder/report.html"));
    EXPECT_TRUE(QTest::qWaitFor([&] { return window().notice().sentence().contains("no/such/folder"); }, 5000))
        << window().notice().sentence().toStdString();
    EXPECT_TRUE(on(result(), "Report…")->isEnabled());
}

TEST_F(WindowCompareTest, StopKeepsWhatIsKnown) {
    openPage({.pairs = 4000});
    measure();
    ASSERT_TRUE(QTest::qWaitFor([&] { return result().chart()->pairs().size() >= 2; }, 10'000));
    EXPECT_TRUE(result().progress().contains("of at most 03:00")) << result().progress().toStdString();
    QTest::mouseClick(on(result(), "Stop"), Qt::LeftButton);
    ASSERT_TRUE(idle());
    EXPECT_GE(result().chart()->pairs().size(), 2u);
    EXPECT_NE(result().verdict(), "Not decided yet");
    EXPECT_EQ(stored().at(0).state, RunState::Stopped);
}

TEST_F(WindowCompareTest, SaysWhyItIsInconclusive) {
    openPage({.ratio = 1.01, .pairs = 12, .outcome = "inconclusive", .reason = "order-matters", .why = "Something on this machine drifts."});
    measure();
    ASSERT_TRUE(says("Inconclusive"));
    EXPECT_EQ(result().why(), "Something on this machine drifts.");
}

TEST_F(WindowCompareTest, MistakesAreSaidBesideTheRowBeforeAnythingIsMeasured) {
    openPage();
    ASSERT_TRUE(askable());
    choose("batch-size", "12", "a dozen");
    EXPECT_TRUE(mistakeSaid("batch-size")) << form().rows()[0]->problem().toStdString();
    EXPECT_FALSE(form().canMeasure());
    choose("amp", "bf16", "bf16");
    EXPECT_TRUE(mistakeSaid("same value here: choose another one, or tick “This machine beside itself”"));
    choose("device", "cpu", "cpu");
    EXPECT_TRUE(mistakeSaid("same value"));
    choose("tokenizer", "byte", "gpt2");
    EXPECT_TRUE(mistakeSaid("same tokens")) << form().rows()[0]->problem().toStdString();
    choose("heads", "4", "7");
    EXPECT_TRUE(mistakeSaid("B:")) << form().rows()[0]->problem().toStdString();
    choose("amp", "off", "bf16");
    EXPECT_TRUE(askable());
    EXPECT_TRUE(form().rows()[0]->problem().isEmpty());
    EXPECT_FALSE(fakeWasAskedHere()) << "the engine is asked on another thread";
}

TEST_F(WindowCompareTest, ARefusalWhileItStartsIsOneSentenceOnThePageAndInTheLog) {
    openPage({.refusal = "B: both sides need about 90 GB, and 8 GB are available."});
    measure();
    ASSERT_TRUE(says("No answer"));
    EXPECT_EQ(result().why(), "B: both sides need about 90 GB, and 8 GB are available.");
    ASSERT_TRUE(idle());
    QTest::mouseClick(on(result(), "Ask something else"), Qt::LeftButton);
    EXPECT_TRUE(page().asking());
    EXPECT_TRUE(askable());
}

TEST_F(WindowCompareTest, ARunInTheWayIsStoppedOrWaitedFor) {
    openPage();
    setFakeStepMs(1);
    ASSERT_TRUE(askable());
    press("Run");
    ASSERT_TRUE(reaches(5));
    EXPECT_FALSE(form().measureButton()->isEnabled());
    QTest::mouseClick(on(form(), "Measure when it ends"), Qt::LeftButton);
    press("Stop");
    ASSERT_TRUE(QTest::qWaitFor([&] { return place->runs().measuring(); }, 10'000));
    ASSERT_TRUE(says("amp=bf16 is faster than"));
    ASSERT_TRUE(idle());
    press("Run");
    ASSERT_TRUE(reaches(5));
    QTest::mouseClick(on(result(), "Ask something else"), Qt::LeftButton);
    QTest::mouseClick(on(form(), "Stop the run and measure"), Qt::LeftButton);
    ASSERT_TRUE(QTest::qWaitFor([&] { return place->runs().measuring(); }, 10'000));
    ASSERT_TRUE(idle());
}

TEST_F(WindowCompareTest, ARunDoesNotBeginWhileAnExperimentIsMeasured) {
    openPage({.pairs = 4000});
    measure();
    ASSERT_TRUE(QTest::qWaitFor([&] { return place->runs().phase() == RunController::Phase::Live; }, 5000));
    EXPECT_FALSE(button("Run")->isEnabled());
    EXPECT_TRUE(button("Stop")->isEnabled());
    place->window().pages().setFocus();
    key(Qt::Key_Space);
    EXPECT_TRUE(place->runs().measuring());
    press("Stop");
    ASSERT_TRUE(idle());
}

// Drawing takes time from the very steps that are timed.
TEST_F(WindowCompareTest, WhatIsShownIsRepaintedAtMostOnceASecondHoweverFastThePairsCome) {
    openPage({.pairs = 100'000, .usAPair = 2'000});
    measure();
    ASSERT_TRUE(QTest::qWaitFor([&] { return result().chart()->pairs().size() >= 2; }, 10'000));
    PaintsOfEach shown, others;
    // What only holds others is drawn with each of them.
    for (QWidget* part : result().widget()->findChildren<QWidget*>())
        if (part->isVisible() && part->findChildren<QWidget*>().isEmpty()) shown.lookAt(*part);
    ASSERT_TRUE(shown.painted.contains(result().chart()));
    others.lookAt(window().runBar());
    for (QWidget* part : window().runBar().findChildren<QWidget*>()) others.lookAt(*part);
    for (QWidget* panel : {static_cast<QWidget*>(&window().log()), static_cast<QWidget*>(&window().sessions())})
        for (auto* view : panel->findChildren<QAbstractItemView*>()) others.lookAt(*view->viewport());
    const auto before = result().chart()->pairs().size();
    QElapsedTimer clock;
    clock.start();
    QTest::qWait(3000);
    const auto allowed = static_cast<int>(clock.elapsed() / ExperimentFeed::kTickMs) + 2;  // beside the ticks, earlier answers may have come in
    EXPECT_GE(shown.painted[result().chart()], 1);
    EXPECT_LE(shown.most(), allowed) << shown.who();
    EXPECT_LE(others.most(), allowed) << others.who();
    EXPECT_GT(result().chart()->pairs().size(), before + 100);
    place->runs().stop();
    ASSERT_TRUE(idle());
}

TEST_F(WindowCompareTest, OneThatWasKilledInTheMiddleShowsWhatItHadMeasured) {
    SessionInfo info;
    info.kind = SessionKind::Experiment;
    info.config = RunConfig{};
    info.name = "amp=off beside amp=bf16";
    info.startedUnixMs = 1'000'000;
    {
        auto recorder = Recorder::open({.path = options.database.toStdString()}, info);
        ASSERT_TRUE(recorder.ok());
        const std::string config = configToJson(RunConfig{});
        (*recorder)->publish(StateChanged{TimeNs{1}, 0, RunState::Running, {}});
        (*recorder)->publish(ExperimentBegan{.at = TimeNs{2}, .configA = config, .configB = config, .question = "q", .budgetSeconds = 60});
        for (int i = 0; i < 3; ++i)
            (*recorder)->publish(
                ExperimentJudged{.at = TimeNs{3 + i}, .pair = i, .difference = 0.1, .outcome = "inconclusive", .ratio = 1.1, .pairs = i + 1});
        ASSERT_TRUE((*recorder)->finish().ok());  // its end was never said, as after a kill
    }
    openPage();
    ASSERT_TRUE(QTest::qWaitFor([&] { return window().sessions().model().rowCount() == 1; }, 8000));
    Q_EMIT window().sessions().replayRequested(1);
    ASSERT_TRUE(says("No verdict: it was cut off"));
    EXPECT_EQ(result().chart()->pairs().size(), 3u);
    EXPECT_TRUE(result().progress().contains("cut off in the middle"));
}

TEST_F(WindowCompareTest, ThePageIsReachedByItsKeyAndTheGuideByItsLink) {
    open();
    window().livePage().setFocus();
    key(Qt::Key_4);
    EXPECT_EQ(window().pages().currentWidget(), &page());
}

TEST_F(WindowCompareTest, SidesThatRunAlikeAreToldOfTheBoxAndNotOfAnOption) {
    openPage({.alike = "A and B run alike here. --aa measures one beside itself."});
    EXPECT_TRUE(QTest::qWaitFor([&] { return form().said().contains("here. “This machine beside itself” measures"); }, 5000));
}

}  // namespace
}  // namespace stepscope
