// What charts of several runs read of a stored session: the same numbers as its events have, in one row a step or in fewer, and one sentence where
// there is nothing to draw.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/analysis/overlay/OverlayCurves.h"
#include "sessions/SessionStore.h"
#include "sessions/findings/OverlaidReader.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

namespace {

struct Overlaid : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");

    std::int64_t record(int steps, SessionKind kind = SessionKind::Run, const DeviceSample& machine = {.othersPct = 3}) {
        SessionInfo info = sampleInfo("a run");
        info.kind = kind;
        info.firstStep = 0;
        auto recorder = Recorder::open({.path = path}, info);
        EXPECT_TRUE(recorder) << recorder.error().sentence;
        for (int step = 1; step <= steps; ++step) {
            StepDone done = sampleStep(step);
            done.loss = step % 17 == 0 ? kUnknown : 3 + std::sin(step);
            (*recorder)->publish(done);
            if (step % 10 == 0) {
                DeviceSample sample = machine;
                sample.at = {step * 1'000'000LL + 1};
                sample.cpuPct = 40 + step % 7;
                (*recorder)->publish(sample);
            }
        }
        if (steps > 0) {
            (*recorder)->publish(SwitchApplied{steps / 2, {steps / 2 * 1'000'000LL + 2}, "amp", std::string("off"), std::string("bf16"), "a note"});
            (*recorder)->publish(ValidationDone{steps, {steps * 1'000'000LL + 3}, {}, 2.5});
        }
        EXPECT_TRUE((*recorder)->finish());
        return (*recorder)->session();
    }
    Result<OverlaidRead> read(std::int64_t session, std::size_t mostRows = 1'000'000) {
        return readOverlaid(path, session, mostRows, [](double) { return true; });
    }
    void change(const std::string& sql) { SQLite::Database(path, SQLite::OPEN_READWRITE, 5000).exec(sql); }
};

}  // namespace

TEST_F(Overlaid, HasTheNumbersOfTheStoredEvents) {
    const auto session = record(500);
    const auto found = read(session);
    ASSERT_TRUE(found) << found.error().sentence;
    const OverlaidRun& run = *found->run;
    RunHistory history;
    for (const Event& event : storedEvents(path, session)) history.append(event);
    ASSERT_EQ(run.rows(), history.rows());
    for (std::size_t row = 0; row < run.rows(); ++row) {
        const RunPlace place = history.place(row);
        ASSERT_EQ(run.step[row], place.step);
        ASSERT_EQ(run.tokens[row], place.tokens);
        ASSERT_EQ(run.seconds[row], place.seconds);
        const double stored = history.steps().loss[row], mine = run.loss.low[row];
        ASSERT_TRUE(mine == stored || (std::isnan(mine) && std::isnan(stored))) << row;
        ASSERT_EQ(run.learningRate[row], history.steps().learningRate[row]);
        ASSERT_NEAR(run.ms[row], history.steps().stepMs[row], 1e-6 * run.ms[row]);
    }
    ASSERT_EQ(run.flips.size(), 1U);
    EXPECT_EQ(run.flips[0].place.step, 250);
    EXPECT_NE(run.flips[0].detail.find("a note"), std::string::npos);
    EXPECT_EQ(run.utilisation.size(), 50U);
    EXPECT_EQ(run.figures.validationLoss, 2.5);
    EXPECT_EQ(run.figures.steps, 500);
    const StoredRun whole = storedRun(storedEvents(path, session));
    EXPECT_EQ(found->facts.steadyMs, whole.steadyMs);
    EXPECT_EQ(found->facts.flips, whole.flips);
    EXPECT_EQ(sentenceOf(comparabilityOf(found->facts, found->facts)), sentenceOf(comparabilityOf(whole, whole)));
}

// What the window says of two runs beside each other is what `compare` says, of whatever the machine did.
TEST_F(Overlaid, AreAsComparableAsTheCommandCompareSays) {
    const auto quiet = record(200, SessionKind::Run, {.othersPct = 3, .stealPct = 0, .cpuClockMhz = 3600, .throttledPct = 1});
    const auto disturbed = record(200, SessionKind::Run, {.othersPct = 40, .stealPct = 20, .cpuClockMhz = 2900, .throttledPct = 30});
    const auto gpu = record(200, SessionKind::Run, {.gpuClockMhz = 1500, .othersPct = 3});
    const auto cold = record(200, SessionKind::Run, {.gpuClockMhz = 1900, .othersPct = 3});
    const auto said = [&](std::int64_t a, std::int64_t b) {
        const auto ofA = read(a), ofB = read(b);
        EXPECT_TRUE(ofA && ofB);
        return sentenceOf(comparabilityOf(ofA->facts, ofB->facts));
    };
    const auto compared = [&](std::int64_t a, std::int64_t b) {
        return sentenceOf(comparabilityOf(storedRun(storedEvents(path, a)), storedRun(storedEvents(path, b))));
    };
    EXPECT_EQ(said(quiet, disturbed), compared(quiet, disturbed));
    EXPECT_EQ(said(gpu, cold), compared(gpu, cold));
    for (const char* words : {"other programs", "host of this virtual machine", "a quota stopped the threads in 1 % of its periods", "2900 MHz"})
        EXPECT_NE(said(quiet, disturbed).find(words), std::string::npos) << words;
    EXPECT_NE(said(gpu, cold).find("the GPU ran at 1500 MHz"), std::string::npos);
}

TEST_F(Overlaid, AreSketchedFromAFewStepsBeforeTheyAreRead) {
    const auto session = record(30'000);
    const auto whole = read(session);
    const auto found = sketchOverlaid(path, session, 500);
    ASSERT_TRUE(whole && found) << found.error().sentence;
    const OverlaidRun& run = **found;
    EXPECT_TRUE(run.sketch);
    EXPECT_FALSE(whole->run->sketch);
    EXPECT_NEAR(static_cast<double>(run.rows()), 500, 2);
    EXPECT_EQ(run.step.front(), 1);
    EXPECT_EQ(run.step.back(), 30'000) << "its axis is that of the whole run";
    EXPECT_NEAR(run.tokens.back(), whole->run->tokens.back(), 0.001 * whole->run->tokens.back());
    EXPECT_EQ(run.seconds.back(), whole->run->seconds.back());
    for (std::size_t row = 0; row < run.rows(); ++row) {
        const auto at = static_cast<std::size_t>(run.step[row]) - 1;
        const double stored = whole->run->loss.low[at], mine = run.loss.low[row];
        ASSERT_TRUE(mine == stored || (std::isnan(mine) && std::isnan(stored))) << "each of its places is a step that was made";
    }
    const CurveView view{.axis = XAxis::Step, .x = {1, 30'000}, .pixels = 100};
    const auto ms = curveOf(run, RunMetric::StepTime, view), all = curveOf(*whole->run, RunMetric::StepTime, view);
    ASSERT_FALSE(ms.empty());
    EXPECT_NEAR(ms[0][50].y, all[0][50].y, 0.1 * all[0][50].y);
    EXPECT_EQ(run.figures.steps, 30'000);
    EXPECT_TRUE(std::isnan(run.figures.msMedian)) << "no figure of a few steps is told as one of all";
    EXPECT_EQ(*sketchOverlaid(path, record(100), 500), nullptr) << "a short run is read as soon";
    EXPECT_FALSE(sketchOverlaid(path, 4711, 500));
}

TEST_F(Overlaid, KeepsAVeryLongRunInFewerRowsAndLosesNoExtreme) {
    const auto session = record(5'000);
    const auto whole = read(session), few = read(session, 1'000);
    ASSERT_TRUE(whole && few);
    EXPECT_EQ(few->run->every, 5U);
    EXPECT_EQ(few->run->rows(), 1'000U);
    EXPECT_EQ(few->run->step.back(), 5'000);
    EXPECT_EQ(few->run->figures.steps, 5'000);
    const auto all = whole->run->loss.low.extremes(0, 5'000);
    const Column &lows = few->run->loss.low, &highs = few->run->loss.high;
    EXPECT_EQ(lows[lows.extremes(0, 1'000).low], whole->run->loss.low[all.low]);
    EXPECT_EQ(highs[highs.extremes(0, 1'000).high], whole->run->loss.low[all.high]);
    EXPECT_NEAR(few->run->ms.sum(0, 1'000), whole->run->ms.sum(0, 5'000), 1e-6);
    EXPECT_EQ(few->run->figures.msMedian, whole->run->figures.msMedian);
}

TEST_F(Overlaid, EndsAtOnceWhenNobodyWantsItAnyMore) {
    const auto session = record(9'000);
    int asked = 0;
    const auto read = readOverlaid(path, session, 100'000, [&](double share) {
        EXPECT_GT(share, 0);
        return ++asked < 2;
    });
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::Cancelled);
    EXPECT_EQ(asked, 2);
}

TEST_F(Overlaid, SaysOfEachWhyThereIsNothingToDraw) {
    const auto empty = record(0), experiment = record(0, SessionKind::Experiment), ladder = record(0, SessionKind::Ladder), gone = record(5);
    ASSERT_TRUE(deleteSession(path, gone));
    EXPECT_NE(read(empty).error().sentence.find("has no steps"), std::string::npos);
    EXPECT_NE(read(experiment).error().sentence.find("the page Compare shows it"), std::string::npos);
    EXPECT_NE(read(ladder).error().sentence.find("the page Ladder shows it"), std::string::npos);
    EXPECT_EQ(read(gone).error().code, ErrorCode::NotFound);
    EXPECT_EQ(read(99).error().code, ErrorCode::NotFound);
    EXPECT_EQ(readOverlaid(folder.file("none.db"), 1, 1000, [](double) { return true; }).error().code, ErrorCode::NotFound);
}

TEST_F(Overlaid, RefusesHostileRowsWithASentenceThatNamesTheSession) {
    const char* const bad[] = {"UPDATE steps SET step = 9223372036854775807 WHERE step = 20",
                               "UPDATE steps SET step = -4 WHERE step = 20",
                               "UPDATE steps SET at_ns = -1 WHERE step = 1",
                               "UPDATE steps SET step = 7",  // ten thousand rows that claim to be one step
                               "UPDATE sessions SET config = '{'",
                               "UPDATE sessions SET kind = 'poem'",
                               "DROP TABLE device_samples"};
    for (const char* sql : bad) {
        std::filesystem::remove(path);
        const auto session = record(sql == bad[3] ? 10'000 : 30);
        change(sql);
        const auto found = read(session);
        ASSERT_FALSE(found) << sql;
        EXPECT_EQ(found.error().code, sql == bad[4] ? found.error().code : ErrorCode::Damaged) << sql << ": " << found.error().sentence;
        EXPECT_NE(found.error().sentence.find("ession " + std::to_string(session)), std::string::npos) << found.error().sentence;
    }
}

TEST_F(Overlaid, TakesWordsAndExtremeNumbersWhereValuesAreMeant) {
    const auto session = record(30);
    change(
        "UPDATE steps SET loss = 'poem', gradient_norm = 9e999, duration_ns = -9223372036854775808, tokens = -5, peak_bytes = -1e300 WHERE step = 9");
    const auto found = read(session);
    ASSERT_TRUE(found) << found.error().sentence;
    EXPECT_EQ(found->run->rows(), 30U);
    for (const double tokens : found->run->tokens) EXPECT_GE(tokens, 0);
    EXPECT_TRUE(std::isfinite(found->run->ms.sum(0, 30)));
}
