// Ladders and searches beside what they measure: what may race, what a ladder that goes on keeps and says of it, by what a study is found again, and
// what a report for scripts holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "TinyTraining.h"
#include "app/workbench/experiments/ExperimentReports.h"
#include "app/workbench/experiments/LiveTune.h"
#include "app/workbench/experiments/StudyRequests.h"
#include "app/workbench/reports/ReportJson.h"
#include "core/events/ConfigJson.h"
#include "core/events/ConfigKeys.h"
#include "core/events/Event.h"
#include "core/events/Presets.h"
#include "core/experiment/LadderCourse.h"
#include "sessions/record/Recorder.h"

namespace stepscope {
namespace {

constexpr std::int64_t kRacedVocabulary = 61;

RunConfig withSetting(const Registry& registry, RunConfig config, const std::string& key, const std::string& value) {
    EXPECT_TRUE(setKey(config, registry.catalogue(config, kRacedVocabulary), key, value)) << key << "=" << value;
    return config;
}

TEST(ASearch, NoValueThatRacesChangesWhatIsLearntBesideTheBitsThatItIsComputedIn) {
    Machine machine = testing::plainCpu();
    machine.instructions = {"avx2", "avx512", "avx512_bf16", "amx_bf16"};
    machine.gpus.push_back({.name = "a GPU", .memory = {80'000'000'000}, .computeMajor = 9, .computeMinor = 0});
    const Registry registry(machine);
    for (const char* device : {"cpu", "cuda:0"}) {
        const RunConfig config = registry.complete(withSetting(registry, testing::tinyConfig(registry), "device", device)).value();
        const RunPlan present = registry.plan(config, kRacedVocabulary).value();
        int raced = 0;
        for (const RaceKnob& knob : raceKnobs(registry.catalogue(config, kRacedVocabulary), config, /*sizes=*/false))
            for (const std::string& value : knob.values) {
                const auto other = registry.complete(withSetting(registry, config, knob.key, value));
                if (!other) continue;  // it cannot be used here
                const auto plan = registry.plan(*other, kRacedVocabulary);
                if (!plan) continue;
                EXPECT_EQ(whyLearnsOtherwise(*plan, present, false), "") << device << ": " << knob.key << "=" << value;
                GptConfig shape = registry.modelShape(*plan, kRacedVocabulary);
                shape.paddedVocabulary = registry.modelShape(present, kRacedVocabulary).paddedVocabulary;  // rows that stay zero
                EXPECT_EQ(shape, registry.modelShape(present, kRacedVocabulary)) << knob.key << "=" << value;
                ++raced;
            }
        EXPECT_GT(raced, 20) << device;
    }
}

TEST(ASearch, LeavesMomentsInAnotherFormAndOtherSizesToThePersonWhateverIsSet) {
    const Registry registry(testing::plainCpu());
    const RunConfig usual = registry.complete(testing::tinyConfig(registry)).value();
    const RunConfig small = registry.complete(withSetting(registry, usual, "optimizer", "8-bit")).value();
    const RunConfig larger = registry.complete(withSetting(registry, usual, "batch-size", "7")).value();
    const RunConfig bits = registry.complete(withSetting(registry, usual, "amp", "bf16")).value();
    const auto plan = [&](const RunConfig& config) { return registry.plan(config, kRacedVocabulary).value(); };
    EXPECT_NE(whyLearnsOtherwise(plan(small), plan(usual), true), "");
    EXPECT_NE(whyLearnsOtherwise(plan(usual), plan(small), true), "") << "nor does it leave them where a person chose them";
    EXPECT_NE(whyLearnsOtherwise(plan(larger), plan(usual), false), "");
    EXPECT_EQ(whyLearnsOtherwise(plan(larger), plan(usual), true), "") << "sizes were allowed";
    EXPECT_EQ(whyLearnsOtherwise(plan(bits), plan(usual), false), "") << "fewer bits race, and what wins says so";
    EXPECT_FALSE(sameArithmetic(plan(bits), plan(usual)));
}

class StoredLadder : public ::testing::Test {
protected:
    StoredLadder() { clear(); }
    ~StoredLadder() override { clear(); }
    void clear() const {
        for (const char* part : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(m_file.string() + part);
    }
    std::string database() const { return m_file.string(); }
    // Of two rungs, the first of which is measured. why: what that row says; kept: the session that measured it, where that is an earlier one.
    std::int64_t store(const std::string& why = {}, std::int64_t kept = 0) {
        SessionInfo info;
        info.kind = SessionKind::Ladder;
        info.name = "mine";
        info.config = presetConfig("tiny-cpu").value();
        info.machine = m_machine;
        auto recorder = Recorder::open({.path = database()}, info).value();
        recorder->publish(
            StudyBegan{.at = {1}, .kind = "ladder", .title = "mine", .source = "- amp=bf16\n- fusion=step\n", .config = configToJson(*info.config)});
        recorder->publish(StudyRow{.at = {2}, .row = 0, .role = study::kBottom, .state = study::kMeasured, .msPerStep = 20});
        recorder->publish(StudyRow{.at = {3},
                                   .row = 1,
                                   .role = study::kRung,
                                   .state = study::kMeasured,
                                   .name = "amp=bf16",
                                   .settings = "amp=bf16",
                                   .why = why,
                                   .outcome = "faster",
                                   .ratio = 1.5,
                                   .low = 1.4,
                                   .high = 1.6,
                                   .pairs = 12,
                                   .keptSession = kept});
        recorder->publish(
            StudyRow{.at = {4}, .row = 2, .role = study::kRung, .state = study::kWaiting, .name = "fusion=step", .settings = "fusion=step"});
        recorder->publish(StateChanged{{5}, 0, RunState::Stopped, {}});
        const std::int64_t session = recorder->session();
        EXPECT_TRUE(recorder->finish());
        return session;
    }

    const std::filesystem::path m_file = std::filesystem::temp_directory_path() / ("stepscope-kept-rungs-" + std::to_string(::getpid()) + ".db");
    Machine m_machine{.cpu = "A processor", .cores = 2, .stepscope = "0.9", .libtorch = "2.10.0"};
};

TEST(ASearch, SaysWhereWhatWonTookMoreMemoryThanWasAllowed) {
    const Bytes bound{2'000'000'000};
    EXPECT_EQ(beyondBound(2.1e9, bound),
              "Its tensors took 2.10\u202FGB at their most, above the 2.00\u202FGB that were allowed: less had been predicted.");
    EXPECT_EQ(beyondBound(2e9, bound), "");
    EXPECT_EQ(beyondBound(kUnknown, bound), "") << "nobody measured it";
    EXPECT_EQ(beyondBound(2.1e9, std::nullopt), "") << "nothing bounds it";
    EXPECT_NE(beyondBound(1e300, bound), "");
}

TEST_F(StoredLadder, ThatGoesOnSaysOfEachRowThatItKeepsWhichSessionMeasuredIt) {
    const std::int64_t session = store();
    const auto request = resumedLadder(database(), session, m_machine);
    ASSERT_TRUE(request) << request.error().sentence;
    ASSERT_EQ(request->kept.size(), 3u);
    EXPECT_EQ(request->kept[0].keptSession, session) << "the bottom was measured with the first rung";
    EXPECT_EQ(request->kept[1].keptSession, session);
    EXPECT_EQ(request->kept[1].keptVersions, "") << "by these versions too";
    EXPECT_EQ(request->kept[2].keptSession, 0) << "which is to be measured";
    LadderCourse course(request->ladder, {}, [](const RungSet&, const RungSet&) { return std::string(); });
    course.restore(request->kept);
    EXPECT_EQ(whyWords(course.rows()[1]), "Measured in session " + std::to_string(session) + ".") << "so does the table that goes on";
}

TEST_F(StoredLadder, MeasuredByAnotherVersionSaysWhich) {
    const std::int64_t session = store();
    Machine now = m_machine;
    now.stepscope = "1.0";
    const auto request = resumedLadder(database(), session, now);
    ASSERT_TRUE(request) << request.error().sentence;
    EXPECT_EQ(request->kept[1].keptVersions, "Stepscope 0.9, LibTorch 2.10.0");
}

TEST_F(StoredLadder, ThatWentOnBeforeKeepsWhereItsRowsWereMeasuredFirst) {
    // Session 3 measured it, with the versions of then; the session that is gone on with kept it.
    const std::int64_t session = store("Too few pairs.", 3);
    Machine now = m_machine;
    now.libtorch = "2.11.0";
    const auto request = resumedLadder(database(), session, now);
    ASSERT_TRUE(request) << request.error().sentence;
    EXPECT_EQ(whyWords(request->kept[1]), "Measured in session 3 by another version (Stepscope 0.9, LibTorch 2.10.0). Too few pairs.");
    EXPECT_EQ(request->kept[1].why, "Too few pairs.") << "its own words stay what they were";
}

TEST_F(StoredLadder, WhoseRowOnlyReadsAsIfAnotherSessionHadMeasuredItIsMeasuredWhereItIsStored) {
    const std::int64_t session = store("Measured in session 99. So its maker says.");
    const auto request = resumedLadder(database(), session, m_machine);
    ASSERT_TRUE(request) << request.error().sentence;
    EXPECT_EQ(request->kept[1].keptSession, session) << "a sentence is not searched";
}

TEST(LadderCourseHere, RowsThatHadNoTimeWaitForALargerBudgetAndOthersDoNot) {
    Ladder ladder;
    for (const char* value : {"off", "bf16", "fp16"}) ladder.rungs.push_back({.name = value, .settings = {{"amp", value}}, .reported = {}});
    LadderCourse course(ladder, {}, [](const RungSet&, const RungSet&) { return std::string(); });
    while (course.next(5000)) course.done(ExperimentHistory(), false);
    const auto waiting = std::ranges::count_if(course.rows(), [](const StudyRow& row) { return row.waits && row.state == study::kSkipped; });
    EXPECT_EQ(waiting, 2) << "the top without its first and its second rung";
    LadderCourse none(ladder, {}, [](const RungSet&, const RungSet&) { return std::string("It changes nothing here."); });
    EXPECT_FALSE(none.next(5000));
    EXPECT_TRUE(std::ranges::none_of(none.rows(), &StudyRow::waits)) << "no budget would change that";
}

TEST(AStudy, IsTheSameQuestionWhateverItsBudgetAndAnotherOnOtherGpusWithPairsOrAMemoryBound) {
    const Machine one{.cpu = "A processor", .cores = 2};
    Machine two = one;
    two.gpus.push_back({.name = "One GPU"});
    LadderRequest ladder;
    ladder.ladder = parseLadder("- amp=bf16\n", "here", "mine").value();
    ladder.config = presetConfig("tiny-cpu").value();
    LadderRequest other = ladder;
    other.budgetSeconds = 600;
    other.seed = 7;
    EXPECT_EQ(ladderQuestion(other, other.config, one), ladderQuestion(ladder, ladder.config, one));
    EXPECT_NE(ladderQuestion(ladder, ladder.config, two), ladderQuestion(ladder, ladder.config, one));
    other.pairs = true;
    EXPECT_NE(ladderQuestion(other, other.config, one), ladderQuestion(ladder, ladder.config, one));
    TuneRequest search;
    search.config = ladder.config;
    TuneRequest bounded = search;
    bounded.budgetSeconds = 600;
    EXPECT_EQ(tuneQuestion(bounded, one), tuneQuestion(search, one));
    EXPECT_NE(tuneQuestion(search, two), tuneQuestion(search, one));
    bounded.memory = Bytes{1'000'000'000};
    EXPECT_NE(tuneQuestion(bounded, one), tuneQuestion(search, one));
}

TEST(AReportForScripts, NamesTheGpusTheMethodAndTheLaddersFile) {
    StoredReport stored;
    stored.study.emplace();
    stored.study->add(StudyBegan{.kind = "ladder", .title = "mine"});
    stored.studyFacts.machine.gpus.push_back({.name = "One GPU", .memory = {80}, .computeMajor = 9, .computeMinor = 0});
    stored.studyFacts.machineKnown = true;
    stored.studyFacts.ladderFile = "- amp=bf16\n";
    stored.studyFacts.earlier = {"Session 4: the top is ×2."};
    const json::Json ladder = json::ofReport(stored, 5);
    EXPECT_EQ(ladder["machine"]["gpus"][0]["name"], "One GPU");
    EXPECT_EQ(ladder["machine"]["gpus"][0]["compute"], "9.0");
    EXPECT_EQ(ladder["ladder_file"], "- amp=bf16\n");
    EXPECT_EQ(ladder["earlier"][0], "Session 4: the top is ×2.");
    EXPECT_THAT(ladder["method"].get<std::string>(), ::testing::HasSubstr("self-normalised"));
    StoredReport experiment;
    experiment.history.add(ExperimentBegan{.configA = "{}", .configB = "{}"});
    EXPECT_THAT(json::ofReport(experiment, 0)["method"].get<std::string>(), ::testing::HasSubstr("self-normalised"));
}

TEST(AReportForScripts, HoldsWhatItsIntervalsCanBeRecomputedFrom) {
    StoredReport experiment;
    experiment.history.add(ExperimentBegan{.configA = "{}", .configB = "{}", .alpha = 0.01});
    EXPECT_TRUE(json::ofReport(experiment, 0)["pilot"].is_null()) << "it did not end";
    experiment.history.add(ExperimentJudged{
        .pair = 0, .difference = 0.5, .sameArm = 0.25, .sameArmTurned = true, .pilotVariance = 1e-4, .pilotMad = 1e-3, .pilotPairs = 8});
    const json::Json known = json::ofReport(experiment, 0);
    EXPECT_EQ(known["pilot"]["alpha"], 0.01);
    EXPECT_EQ(known["pilot"]["variance"], 1e-4);
    EXPECT_EQ(known["pilot"]["mad"], 1e-3);
    EXPECT_EQ(known["every_pair"][0]["same_arm_log_ratio"], 0.25);
    EXPECT_EQ(known["every_pair"][0]["same_arm_turned"], true);
}

TEST(AReportForScripts, OfALadderSaysWhatTheMachineDidWhileEachRowWasMeasured) {
    StoredReport stored;
    stored.study.emplace();
    StudyHistory& study = *stored.study;
    study.add(StudyBegan{.kind = "ladder", .title = "mine"});
    study.add(StudyRow{.row = 1, .role = study::kRung, .state = study::kRunning});
    study.add(ExperimentBegan{});
    study.add(BlockDone{.at = TimeNs::fromSeconds(1), .duration = TimeNs::fromSeconds(1), .pair = 0});
    study.add(BlockDone{.at = TimeNs::fromSeconds(10), .duration = TimeNs::fromSeconds(1), .pair = 0, .arm = Arm::B});
    study.add(ExperimentJudged{.over = true, .pair = 0});
    study.add(StudyRow{.row = 1, .role = study::kRung, .state = study::kMeasured, .pairs = 9});
    study.add(StudyRow{.row = 2, .role = study::kRung, .state = study::kMeasured, .pairs = 9, .keptSession = 3});
    for (double at = 0; at < 10; at += 0.5) {
        DeviceSample sample;
        sample.at = TimeNs::fromSeconds(at);
        sample.cpuClockMhz = 2500;
        study.add(sample);
    }
    const json::Json known = json::ofReport(stored, 5);
    EXPECT_EQ(known["rows"][0]["machine_meanwhile"]["cpu_mhz_low"], 2500);
    EXPECT_TRUE(known["rows"][0]["machine_meanwhile"]["throttled_pct"].is_null());
    EXPECT_TRUE(known["rows"][1]["machine_meanwhile"].is_null()) << "an earlier session measured it";
}

TEST(AForecastOfALadder, SaysWhereItsBudgetLeavesEachMeasurementLittleTime) {
    LadderForecast forecast{.legs = 12, .open = 12, .budgetSeconds = 60};
    EXPECT_EQ(forecastWords(forecast, true),
              "12 measurements, about 1.0 minutes, 5 s for each, too short for many of them to be decided (25 s is usual)");
    forecast.budgetSeconds = 360;
    EXPECT_EQ(forecastWords(forecast, true), "12 measurements, about 6.0 minutes");
    forecast.budgetSeconds = 60;
    forecast.open = 2;
    EXPECT_EQ(forecastWords(forecast, true), "2 measurements, about 1.0 minutes") << "what is measured already takes nothing of it";
    EXPECT_THAT(forecastWords(forecast, false), ::testing::Not(::testing::HasSubstr("for each"))) << "nobody gave a budget";
}

TEST(AForecastOfALadder, SaysHowManyOfItsMinutesPairsTake) {
    LadderForecast forecast{.legs = 14, .open = 14, .budgetSeconds = 350, .seconds = 350, .pairSeconds = 150};
    EXPECT_EQ(forecastWords(forecast, false),
              "14 measurements, about 5.8 minutes, 2.5 of them for pairs, more where steps are slow: none of it was timed here yet");
    forecast.slowestStep = 0.1;
    EXPECT_THAT(forecastWords(forecast, false), ::testing::StartsWith("14 measurements, about 5.8 minutes, 2.5 of them for pairs: the slowest step"));
    forecast.pairSeconds = 0;
    EXPECT_THAT(forecastWords(forecast, false), ::testing::Not(::testing::HasSubstr("pairs"))) << "they were not asked for, or wait";
}

TEST(AReportForScripts, OfASearchsWinnerHasTheIntervalOfTheFreshExperimentAlone) {
    StudyHistory study;
    study.add(StudyBegan{.kind = "tune"});
    StudyRow raced{.row = 1, .role = study::kCandidate, .state = study::kChosen, .settings = "amp=bf16"};
    raced.ratio = raced.total = 1.4;
    raced.low = raced.totalLow = 1.3;
    raced.high = raced.totalHigh = 1.5;
    study.add(raced);
    EXPECT_EQ(json::ofStudy(study, 0)["rows"][0]["total_low"], 1.3) << "while it is all that is known";
    study.add(StudyRow{.row = 2, .role = study::kFinal, .state = study::kChosen, .settings = "amp=bf16", .ratio = 1.2, .low = 1.1, .high = 1.3});
    const json::Json known = json::ofStudy(study, 0);
    for (const char* key : {"low", "high", "total_low", "total_high"}) EXPECT_TRUE(known["rows"][0][key].is_null()) << key;
    EXPECT_EQ(known["rows"][0]["total"], 1.4) << "its estimate stays";
    EXPECT_EQ(known["rows"][1]["low"], 1.1);
    EXPECT_EQ(known["low"], 1.1);
}

TEST(AReportForScripts, SaysHowOftenOtherProgramsWereOnTheGpuThatIsMeasured) {
    for (const bool known : {true, false}) {
        RunConfig config;
        config.switches["device"] = "cuda:0";
        StoredReport experiment;
        experiment.history.add(ExperimentBegan{.configA = configToJson(config), .configB = configToJson(config)});
        experiment.history.add(BlockDone{.at = TimeNs::fromSeconds(1), .duration = TimeNs::fromSeconds(1), .pair = 0});
        experiment.history.add(BlockDone{.at = TimeNs::fromSeconds(10), .duration = TimeNs::fromSeconds(1), .pair = 0, .arm = Arm::B});
        for (int n = 0; n < 20; ++n) {
            DeviceSample sample;
            sample.at = TimeNs::fromSeconds(0.25 + n * 0.5);
            if (known) {
                sample.gpuOtherProcesses = n < 5 ? 1 : 0;
                sample.gpuOthersBusyPct = n < 5 ? 40 : 0;
            }
            experiment.history.add(sample);
        }
        const json::Json said = json::ofReport(experiment, 0)["machine_meanwhile"];
        if (known) {
            EXPECT_EQ(said["gpu_others_pct"], 25);
            EXPECT_EQ(said["gpu_others_busy_pct"], 10);
        } else {
            EXPECT_TRUE(said["gpu_others_pct"].is_null() && said["gpu_others_busy_pct"].is_null()) << said;
        }
    }
}

TEST(AReportForScripts, SaysTheFloorAsAShareAndAsARatioAndWhatIsToBeKnownBesideAVerdict) {
    StoredReport experiment;
    experiment.history.add(ExperimentBegan{.configA = "{}", .configB = "{}"});
    ExperimentJudged judged{.over = true, .outcome = "faster", .why = "Part of the difference may be the host's."};
    judged.floor = 1.012;
    experiment.history.add(judged);
    const json::Json known = json::ofReport(experiment, 0);
    EXPECT_NEAR(known["floor"].get<double>(), 0.012, 1e-12);
    EXPECT_NEAR(known["floor_ratio"].get<double>(), 1.012, 1e-12);
    EXPECT_EQ(known["why"], "Part of the difference may be the host's.");
    EXPECT_TRUE(known["machine_meanwhile"].contains("throttled_pct") && known["machine_meanwhile"]["throttled_pct"].is_null()) << "no sample said";
    judged.floor = kUnknown;
    experiment.history.add(judged);
    const json::Json unknown = json::ofReport(experiment, 0);
    EXPECT_TRUE(unknown["floor"].is_null() && unknown["floor_ratio"].is_null());
}

}  // namespace
}  // namespace stepscope
