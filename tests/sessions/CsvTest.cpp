// The long CSV: every value of every step, readable by anything.
#include <gtest/gtest.h>

#include <sstream>

#include "sessions/exporters/Csv.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

using namespace stepscope;
using namespace stepscope::test;

namespace {

struct Csv : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");

    std::vector<std::string> exported(const std::vector<Event>& events, const std::string& name) {
        auto recorder = Recorder::open({.path = path}, sampleInfo(name));
        for (const auto& event : events) (*recorder)->publish(event);
        EXPECT_TRUE((*recorder)->finish());
        std::ostringstream out;
        const Status done = exportCsv(path, 1, out);
        EXPECT_TRUE(done) << done.error().sentence;
        std::vector<std::string> lines;
        std::istringstream in(out.str());
        for (std::string line; std::getline(in, line);) lines.push_back(line);
        return lines;
    }
    static std::size_t count(const std::vector<std::string>& lines, const std::string& part) {
        std::size_t n = 0;
        for (const auto& line : lines) n += line.find(part) != std::string::npos;
        return n;
    }
};

}  // namespace

TEST_F(Csv, HasEveryStepHoweverManyThereAre) {
    std::vector<Event> steps;
    for (int step = 1; step <= 10'000; ++step) steps.emplace_back(sampleStep(step));
    const auto lines = exported(steps, "long run");
    EXPECT_EQ(lines.front(), "run,step,time,metric,value");
    EXPECT_EQ(count(lines, ",loss,"), 10'000u);
    EXPECT_EQ(count(lines, ",phase_backward_ms,"), 10'000u);
    EXPECT_EQ(count(lines, "nan"), 0u) << "what is unknown has no line";
    EXPECT_EQ(count(lines, "loss_scale"), 0u);
}

TEST_F(Csv, WritesNumbersThatReadBackTheSame) {
    auto step = sampleStep(1, {1'234'567'891});
    step.loss = 0.1 + 0.2;
    const auto lines = exported({step}, "r");
    EXPECT_EQ(lines.at(1), "r,1,1.234567891,loss,0.30000000000000004");
}

TEST_F(Csv, QuotesTheNameOfTheRun) {
    const auto lines = exported({sampleStep(1)}, "a, \"b\"");
    EXPECT_EQ(lines.at(1).rfind("\"a, \"\"b\"\"\",1,", 0), 0u) << lines.at(1);
}

TEST_F(Csv, HasValidationAndDeviceSamplesAtTheLastStep) {
    DeviceSample measured{{2'000'003}, kUnknown, 1, 2};
    measured.cpuPowerW = 41.5;
    measured.cpuEnergyJ = 166;
    const auto lines =
        exported({sampleStep(1), sampleStep(2), ValidationDone{2, {2'000'001}, {5}, 3.25}, DeviceSample{{2'000'002}, 50.0, 1, 2}, measured}, "");
    EXPECT_EQ(count(lines, "1,2,0.002000001,validation_loss,3.25"), 1u);
    EXPECT_EQ(count(lines, "1,2,0.002000002,cpu_pct,50"), 1u);
    EXPECT_EQ(count(lines, "gpu_pct"), 0u);
    EXPECT_EQ(count(lines, "cpu_power_w"), 1u) << "of the sample that knows it";
    EXPECT_EQ(count(lines, "1,2,0.002000003,cpu_power_w,41.5"), 1u);
    EXPECT_EQ(count(lines, "1,2,0.002000003,cpu_energy_j,166"), 1u);
}

TEST_F(Csv, OfARunThatWentOnFromStep50HasWhatWasMeasuredBeforeItsFirstStepAtThatOne) {
    SessionInfo info = sampleInfo("r");
    info.firstStep = 50;
    auto recorder = Recorder::open({.path = path}, info);
    for (const Event& event : {Event(DeviceSample{{1'000'000}, 50.0, 1, 2}), Event(sampleStep(51, {2'000'000}))}) (*recorder)->publish(event);
    ASSERT_TRUE((*recorder)->finish());
    std::ostringstream out;
    ASSERT_TRUE(exportCsv(path, 1, out));
    EXPECT_NE(out.str().find("r,50,0.001000000,cpu_pct,50\n"), std::string::npos) << out.str();
    EXPECT_NE(out.str().find("r,51,0.002000000,loss,"), std::string::npos) << out.str();
}

TEST_F(Csv, HasEachPairOfAMeasurementInARunOnce) {
    std::vector<Event> events{sampleStep(1), ExperimentBegan{.step = 1, .at = {1'000'000}, .configA = "{}", .configB = "{}", .question = "q"}};
    for (const std::int64_t pair : {0, 1})
        events.emplace_back(
            ExperimentJudged{.step = 2 + pair, .at = {2'000'000 + pair}, .pair = pair, .difference = 0.25, .outcome = "inconclusive"});
    // What is said of all pairs holds the last one again, before the reasons are looked for and behind them.
    for (const std::int64_t time : {3'000'000, 4'000'000})
        events.emplace_back(ExperimentJudged{.step = 3, .at = {time}, .over = true, .pair = 1, .difference = 0.25, .outcome = "inconclusive"});
    const auto lines = exported(events, "r");
    EXPECT_EQ(count(lines, ",pair_log_ratio,0.25"), 2u);
    EXPECT_EQ(count(lines, "r,3,0.002000001,pair_log_ratio,0.25"), 1u);
}

TEST_F(Csv, IsTheSameInAFileAndASessionThatIsNotThereSpoilsNoOlderFile) {
    const auto lines = exported({sampleStep(1), sampleStep(2)}, "r");
    const std::string file = folder.file("out.csv");
    ASSERT_TRUE(exportCsvFile(path, 1, file));
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    EXPECT_EQ(contentOf(file), text);
    EXPECT_EQ(exportCsvFile(path, 5, file).error().code, ErrorCode::NotFound);
    EXPECT_EQ(contentOf(file), text);
}

TEST_F(Csv, SaysWhenTheTargetTakesNoMore) {
    exported({sampleStep(1)}, "r");
    std::ostringstream out;
    out.setstate(std::ios::badbit);
    const Status done = exportCsv(path, 1, out);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::Io);
    EXPECT_EQ(exportCsv(path, 5, out).error().code, ErrorCode::NotFound);
}
