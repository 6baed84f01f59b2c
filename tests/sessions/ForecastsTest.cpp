// Forecasts beside what happened: kept, found again, and not believed where their numbers cannot be.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "sessions/SessionStore.h"
#include "sessions/findings/Forecasts.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

namespace stepscope::test {
namespace {

TEST(Forecasts, OfNoDatabaseAreNone) {
    const TempFolder folder;
    const auto none = newestTimedSteps(folder.file("s.db"), "x");
    ASSERT_TRUE(none);
    EXPECT_FALSE(*none);
    EXPECT_FALSE(std::filesystem::exists(folder.file("s.db")));
}

TEST(Forecasts, TheNewestTimedStepsOfASettingAreFound) {
    const TempFolder folder;
    const auto path = folder.file("s.db");
    ASSERT_TRUE(storeTimedSteps(path, {.setting = "x", .atUnixMs = 10, .steps = 5, .ms = 20, .lowMs = 18, .highMs = 25, .validationMs = 7}));
    ASSERT_TRUE(storeTimedSteps(path, {.setting = "x", .atUnixMs = 30, .session = 4, .steps = 500, .ms = 21, .lowMs = 20, .highMs = 22}));
    ASSERT_TRUE(storeTimedSteps(path, {.setting = "x", .atUnixMs = 20, .steps = 5, .ms = 99, .lowMs = 98, .highMs = 100}));
    ASSERT_TRUE(storeTimedSteps(path, {.setting = "y", .atUnixMs = 40, .steps = 5, .ms = 1, .lowMs = 1, .highMs = 1}));
    const auto found = newestTimedSteps(path, "x");
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->session, 4);
    EXPECT_DOUBLE_EQ((*found)->ms, 21);
    EXPECT_TRUE(std::isnan((*found)->validationMs));
    EXPECT_FALSE(*newestTimedSteps(path, "z"));
}

TEST(Forecasts, TheTimeOfACheckpointIsThatOfTheNewestThatWroteOne) {
    const TempFolder folder;
    const auto path = folder.file("s.db");
    ASSERT_TRUE(storeTimedSteps(path, {.setting = "x", .atUnixMs = 10, .steps = 5, .ms = 20, .lowMs = 18, .highMs = 25, .checkpointMs = 400}));
    ASSERT_TRUE(storeTimedSteps(path, {.setting = "x", .atUnixMs = 20, .steps = 5, .ms = 20, .lowMs = 18, .highMs = 25, .checkpointMs = 500}));
    ASSERT_TRUE(storeTimedSteps(path, {.setting = "x", .atUnixMs = 30, .session = 4, .steps = 500, .ms = 21, .lowMs = 20, .highMs = 22}));
    ASSERT_TRUE(storeTimedSteps(path, {.setting = "y", .atUnixMs = 40, .steps = 5, .ms = 1, .lowMs = 1, .highMs = 1}));
    EXPECT_DOUBLE_EQ((*newestTimedSteps(path, "x"))->checkpointMs, 500);
    EXPECT_EQ((*newestTimedSteps(path, "x"))->session, 4);
    EXPECT_TRUE(std::isnan((*newestTimedSteps(path, "y"))->checkpointMs));
}

TEST(Forecasts, OfASessionAreKeptWithWhatItTookAndGoWithIt) {
    const TempFolder folder;
    const auto path = folder.file("s.db");
    {
        auto recorder = Recorder::open({.path = path}, sampleInfo());
        ASSERT_TRUE((*recorder)->finish());
    }
    ASSERT_TRUE(storeForecast(path, 1, {.source = "5 timed steps", .seconds = 100, .low = 90, .high = 120}));
    EXPECT_TRUE(std::isnan((*forecastOfSession(path, 1))->measuredSeconds));
    ASSERT_TRUE(storeForecast(path, 1, {.source = "5 timed steps", .seconds = 100, .low = 90, .high = 120, .measuredSeconds = 104}));
    EXPECT_DOUBLE_EQ((*forecastOfSession(path, 1))->measuredSeconds, 104);
    EXPECT_FALSE(*forecastOfSession(path, 2));
    ASSERT_TRUE(deleteSession(path, 1));
    ASSERT_TRUE(purgeDeletedSessions(path));
    EXPECT_FALSE(*forecastOfSession(path, 1));
}

// A run that says what it was expected to hold, held `peak` at the most and was timed as setting "x" at that time.
std::int64_t foretoldSession(const std::string& path, std::int64_t atUnixMs, std::int64_t predicted, double peak, bool flipped = false) {
    SessionInfo info = sampleInfo();
    info.predictedBytes = predicted;
    auto recorder = Recorder::open({.path = path}, info).value();
    StepDone step = sampleStep(1);
    step.peakBytes = peak / 2;
    recorder->publish(step);
    if (flipped) recorder->publish(SwitchApplied{.step = 1, .at = {1'500'000}, .id = "amp", .from = std::string("off"), .to = std::string("bf16")});
    step = sampleStep(2);
    step.peakBytes = peak;
    recorder->publish(step);
    EXPECT_TRUE(recorder->finish());
    EXPECT_TRUE(storeTimedSteps(
        path, {.setting = "x", .atUnixMs = atUnixMs, .session = recorder->session(), .steps = 500, .ms = 21, .lowMs = 20, .highMs = 22}));
    return recorder->session();
}

TEST(Forecasts, TheMemoryOfARunStandsBesideTheMostThatItHeldInAnyStep) {
    const TempFolder folder;
    const auto path = folder.file("s.db");
    const auto session = foretoldSession(path, 10, 200, 206);
    const auto run = foretoldRun(path, session).value();
    EXPECT_EQ(run.session, session);
    EXPECT_FALSE(run.time);
    EXPECT_EQ(run.predictedBytes, 200);
    EXPECT_EQ(run.peakBytes, 206);
    EXPECT_NEAR(run.memoryError(), 0.03, 1e-12);
    const auto flipped = foretoldRun(path, foretoldSession(path, 20, 200, 400, true)).value();
    EXPECT_EQ(flipped.peakBytes, 400);
    EXPECT_TRUE(std::isnan(flipped.memoryError())) << "it was not the run that was foretold";
    const auto unsaid = foretoldRun(path, foretoldSession(path, 30, 0, 400)).value();
    EXPECT_TRUE(std::isnan(unsaid.memoryError()));
    const auto nobodyLooked = foretoldRun(path, foretoldSession(path, 40, 200, kUnknown)).value();
    EXPECT_TRUE(std::isnan(nobodyLooked.memoryError()));
    EXPECT_EQ(foretoldRun(path, 99).value().predictedBytes, 0);
}

TEST(Forecasts, RunsOfASettingComeNewestFirstWithoutThoseThatWereFlippedOrDeleted) {
    const TempFolder folder;
    const auto path = folder.file("s.db");
    EXPECT_TRUE(foretoldRuns(path, "x", 3).value().empty());
    const auto first = foretoldSession(path, 10, 200, 206), second = foretoldSession(path, 20, 200, 190);
    foretoldSession(path, 30, 200, 400, true);
    const auto gone = foretoldSession(path, 40, 200, 201);
    ASSERT_TRUE(deleteSession(path, gone));
    ASSERT_TRUE(storeForecast(path, first, {.source = "5 timed steps", .seconds = 100, .low = 90, .high = 120, .measuredSeconds = 104}));
    const auto runs = foretoldRuns(path, "x", 3).value();
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].session, second);
    EXPECT_EQ(runs[1].session, first);
    ASSERT_TRUE(runs[1].time);
    EXPECT_EQ(runs[1].time->measuredSeconds, 104);
    EXPECT_EQ(foretoldRuns(path, "x", 1).value().size(), 1u);
    EXPECT_TRUE(foretoldRuns(path, "y", 3).value().empty());
}

TEST(Forecasts, APredictionIsFoundByItsQuestionAndOnlyIfItCameFirst) {
    const TempFolder folder;
    const auto path = folder.file("s.db");
    ASSERT_TRUE(storePredictions(path, {{.question = "q", .atUnixMs = 10, .setting = "amp=bf16", .ratio = 1.5, .ms = 20, .basis = "products"},
                                        {.question = "q", .atUnixMs = 50, .setting = "amp=bf16", .ratio = 1.7, .ms = 18, .basis = "products"}}));
    EXPECT_DOUBLE_EQ((*predictionOf(path, "q", 30))->ratio, 1.5);
    EXPECT_DOUBLE_EQ((*predictionOf(path, "q", 60))->ratio, 1.7);
    EXPECT_FALSE(*predictionOf(path, "q", 10));
}

TEST(Forecasts, WhatWasForetoldStandsBesideTheNewestExperimentThatAnsweredItLater) {
    const TempFolder folder;
    const auto path = folder.file("s.db");
    EXPECT_TRUE(measuredPredictions(path, 10)->empty()) << "there is no database";
    const auto experiment = [&](const std::string& question, std::int64_t startedUnixMs, double ratio, bool over = true) {
        SessionInfo info = sampleInfo();
        info.kind = SessionKind::Experiment;
        info.startedUnixMs = startedUnixMs;
        auto recorder = Recorder::open({.path = path}, info).value();
        recorder->publish(ExperimentBegan{.at = {1}, .configA = "{}", .configB = "{}", .question = question, .delta = 0.02});
        recorder->publish(ExperimentJudged{.at = {2}, .over = over, .outcome = "inconclusive", .ratio = ratio, .pairs = 3});
        ASSERT_TRUE(recorder->finish());
    };
    experiment("q", 100, 1.1);
    experiment("q", 1'000, 1.25);
    experiment("q", 1'500, 9, /*over=*/false);
    experiment("other", 2'000, 2);
    experiment("early", 10, 3);
    experiment("never foretold", 3'000, 4);
    ASSERT_TRUE(storePredictions(path, {{.question = "q", .atUnixMs = 50, .setting = "amp=bf16", .ratio = 1.5, .ms = 20, .basis = "products"},
                                        {.question = "q", .atUnixMs = 1'200, .setting = "amp=bf16", .ratio = 1.7, .ms = 18, .basis = "products"},
                                        {.question = "other", .atUnixMs = 60, .setting = "batch-size=4", .ratio = 0.9, .ms = 30, .basis = "bytes"},
                                        {.question = "early", .atUnixMs = 70, .setting = "a=b", .ratio = 0.9, .ms = 30, .basis = "bytes"},
                                        {.question = "not asked", .atUnixMs = 80, .setting = "c=d", .ratio = 0.9, .ms = 30, .basis = "bytes"}}));
    const auto found = measuredPredictions(path, 10);
    ASSERT_TRUE(found.ok()) << found.error().sentence;
    ASSERT_EQ(found->size(), 2u);
    EXPECT_EQ((*found)[0].foretold.setting, "batch-size=4") << "the newest experiment first";
    EXPECT_EQ((*found)[1].measured.judged.ratio, 1.25) << "the newest that is over";
    EXPECT_EQ((*found)[1].foretold.ratio, 1.5) << "what was foretold since then was foretold of what was known";
    EXPECT_EQ(measuredPredictions(path, 1)->size(), 1u);
}

TEST(Forecasts, NumbersThatCannotBeAreLeftOut) {
    const TempFolder folder;
    const auto path = folder.file("s.db");
    ASSERT_TRUE(storeTimedSteps(path, {.setting = "x", .atUnixMs = 10, .steps = 5, .ms = 20, .lowMs = 18, .highMs = 25}));
    ASSERT_TRUE(storeForecast(path, 1, {.source = "s", .seconds = 1, .low = 1, .high = 1}));
    SQLite::Database database(path, SQLite::OPEN_READWRITE);
    for (const char* row : {"-5, 1, 1", "20, 30, 40", "9e999, 1, 9e999", "20, 18, 'much'"})
        database.exec(std::string("INSERT INTO timed_steps (setting, at_unix_ms, session, steps, ms, low_ms, high_ms) VALUES ('x', 99, 0, 5, ") +
                      row + ")");
    database.exec("UPDATE forecasts SET seconds = 'long'");
    const auto found = newestTimedSteps(path, "x");
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->atUnixMs, 10);
    EXPECT_FALSE(*forecastOfSession(path, 1));
}

TEST(Forecasts, OfADamagedFileAreAnErrorAndNoCrash) {
    const TempFolder folder;
    const auto path = folder.file("s.db");
    std::ofstream(path) << "this is no database, and long enough to be looked at as one";
    EXPECT_FALSE(newestTimedSteps(path, "x"));
    EXPECT_FALSE(storeTimedSteps(path, {.setting = "x", .steps = 5, .ms = 1, .lowMs = 1, .highMs = 1}));
}

}  // namespace
}  // namespace stepscope::test
