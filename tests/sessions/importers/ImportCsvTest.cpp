// CSV as sessions: what was exported comes in with equal series, tables of other trackers by the names of their columns, and what is wrong is one
// sentence with the line and the byte.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "sessions/Samples.h"
#include "sessions/SessionStore.h"
#include "sessions/exporters/ExportSession.h"
#include "sessions/importers/CsvLog.h"
#include "sessions/importers/CsvScan.h"
#include "sessions/importers/Import.h"
#include "sessions/record/Recorder.h"
#include "tests/sessions/TestSupport.h"

namespace stepscope::test {
namespace {

// A field without end.
std::string many(std::size_t letters) {
    return std::string(letters, 'x');
}

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct ImportCsv : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");

    Result<ImportSummary> run(const std::string& name, const std::string& content) {
        writeFile(folder.file(name), content);
        return importFiles({.database = path, .files = {folder.file(name)}, .name = {}, .progress = {}});
    }
    std::string refusal(const std::string& content) {
        const auto done = run("bad.csv", content);
        EXPECT_FALSE(done);
        return done ? std::string() : done.error().sentence;
    }
    template <class Kind>
    std::vector<Kind> storedOf(std::int64_t session) const {
        std::vector<Kind> all;
        for (const auto& event : storedEvents(path, session))
            if (const auto* one = std::get_if<Kind>(&event)) all.push_back(*one);
        return all;
    }
    // Values by name, in order of time.
    std::map<std::string, std::vector<double>> samplesOf(std::int64_t session) const {
        std::map<std::string, std::vector<double>> all;
        auto reader = SessionReader::open(path);
        EXPECT_TRUE(forEachSampleBlock(**reader, session, [&](const SampleBlock& block) -> Status {
            for (const auto& sample : block.samples) all[block.series.at(sample.series).name].push_back(sample.value);
            return {};
        }));
        return all;
    }
    // The lines of a long CSV without the run's name, of these metrics.
    std::multiset<std::string> linesOf(std::int64_t session, const std::set<std::string>& metrics) {
        const auto written = exportSession(path, session, folder.file("out.csv"), ExportFormat::CsvLong);
        EXPECT_TRUE(written) << written.error().sentence;
        std::multiset<std::string> lines;
        std::istringstream in(contentOf(folder.file("out.csv")));
        for (std::string line; std::getline(in, line);) {
            std::array<std::size_t, 4> commas{};  // before the step, the time, the metric and the value
            for (std::size_t i = 4, from = std::string::npos; i-- > 0; from = commas[i] - 1) commas[i] = line.rfind(',', from);
            if (metrics.contains(line.substr(commas[2] + 1, commas[3] - commas[2] - 1))) lines.insert(line.substr(commas[0]));
        }
        return lines;
    }
    // ",50,1.5,validation_loss,4" without the third field.
    static std::multiset<std::string> withoutTimes(const std::multiset<std::string>& lines) {
        std::multiset<std::string> all;
        for (const std::string& line : lines) all.insert(line.substr(0, line.find(',', 1)) + line.substr(line.find(',', line.find(',', 1) + 1)));
        return all;
    }
};

TEST_F(ImportCsv, WhatWasExportedComesInWithEqualSeriesInBothForms) {
    {
        auto recorder = Recorder::open({.path = path}, sampleInfo("a \"run\", with - all"));
        for (std::int64_t step = 1; step <= 300; ++step) {
            auto done = sampleStep(step, {step * 12'345'678 + 1'000'000'000});
            done.loss = 5.0 / static_cast<double>(step) + 0.1;
            done.learningRate = 1e-3 * static_cast<double>(step);
            done.gradientNorm = 1.0 + 1.0 / static_cast<double>(step);
            (*recorder)->publish(done);
            if (step % 50 == 0) (*recorder)->publish(ValidationDone{step, {step * 12'345'678 + 1'000'500'000}, {5}, 4.0 / static_cast<double>(step)});
            DeviceSample sample{{step * 12'345'678 + 1'000'700'000}, 10.0 + static_cast<double>(step), step, 2};
            if (step % 20 == 0) (*recorder)->publish(sample);
        }
        ASSERT_TRUE((*recorder)->finish());
    }
    const std::set<std::string> ofSteps{"loss", "learning_rate", "gradient_norm", "step_ms", "tokens", "tokens_per_s"},
        ofValidation{"validation_loss"};
    const auto expected = linesOf(1, ofSteps), validated = linesOf(1, ofValidation);
    ASSERT_EQ(expected.size(), 6 * 300u);
    ASSERT_EQ(validated.size(), 6u);
    for (const ExportFormat format : {ExportFormat::CsvLong, ExportFormat::CsvWide}) {
        const std::string file = folder.file(format == ExportFormat::CsvLong ? "run.csv" : "run.wide.csv");
        ASSERT_TRUE(exportSession(path, 1, file, format));
        const auto done = importFiles({.database = path, .files = {file}, .name = {}, .progress = {}});
        ASSERT_TRUE(done) << done.error().sentence;
        EXPECT_EQ(done->steps, 300);
        EXPECT_EQ(done->skipped, 0);
        EXPECT_THAT(done->notes, testing::IsEmpty());
        EXPECT_EQ(linesOf(done->session, ofSteps), expected) << "to the last digit, times too";
        const auto again = linesOf(done->session, ofValidation);
        if (format == ExportFormat::CsvLong)
            EXPECT_EQ(again, validated);
        else
            EXPECT_EQ(withoutTimes(again), withoutTimes(validated)) << "a wide row has one time, that of its step";
        auto samples = samplesOf(done->session);
        EXPECT_EQ(samples.at("cpu_pct").size(), 15u);
        EXPECT_EQ(samples.at("cpu_pct").front(), 30.0);
        EXPECT_EQ(samples.at("phase_forward_ms").size(), 300u);
        auto reader = SessionReader::open(path);
        EXPECT_EQ((*reader)->info(done->session)->name, "run");
        EXPECT_EQ((*reader)->summary(done->session)->lossLast, (*reader)->summary(1)->lossLast);
    }
}

TEST_F(ImportCsv, TablesOfOtherTrackersAreToldByTheNamesOfTheirColumns) {
    const auto done = run("history.csv",
                          "_step,_timestamp,train/loss,val_loss,lr,grad_norm,tokens_per_sec,gpu.util,note\n"
                          "10,1700000000,4.5,,0.001,1.5,1000,90,warm\n"
                          "20,1700000010,4.25,4.75,0.002,1.25,2000,NaN,\n");
    ASSERT_TRUE(done) << done.error().sentence;
    const auto steps = storedOf<StepDone>(done->session);
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(steps[1].step, 20);
    EXPECT_EQ(steps[1].at.ns, 10'000'000'000);
    EXPECT_EQ(steps[1].duration.ns, 1'000'000'000);
    EXPECT_EQ(steps[1].loss, 4.25);
    EXPECT_EQ(steps[1].learningRate, 0.002);
    EXPECT_EQ(steps[1].gradientNorm, 1.25);
    EXPECT_EQ(steps[1].tokens, 2000);
    ASSERT_EQ(storedOf<ValidationDone>(done->session).size(), 1u);
    EXPECT_EQ(storedOf<ValidationDone>(done->session)[0].loss, 4.75);
    EXPECT_THAT(samplesOf(done->session).at("gpu.util"), ElementsAre(90));
    EXPECT_EQ(done->reasons.at("values that are no numbers"), 1);
    EXPECT_EQ(done->reasons.at("a value that is no finite number"), 1);
    auto reader = SessionReader::open(path);
    EXPECT_EQ((*reader)->info(done->session)->startedUnixMs, 1'700'000'000'000);
}

TEST_F(ImportCsv, NamesOfStepsAndSeparatorsAreThoseThatPeopleUse) {
    for (const char* name : {"step", "Step", "_step", "global_step", "iter", "Iteration", "epoch", "trainer/global_step"}) {
        const auto done = run("x.csv", fmt::format("loss,{}\n3,1\n2,2\n", name));
        ASSERT_TRUE(done) << done.error().sentence;
        EXPECT_EQ(done->steps, 2) << name;
        EXPECT_THAT(done->notes, ElementsAre(HasSubstr("holds no times")));
    }
    for (const char* content : {"\xef\xbb\xbfstep;loss\r\n1;3,5\r\n2;2,5\r\n", "step\tloss\n1\t3.5\n2\t2.5", "step,loss\r1,3.5\r2,2.5\r",
                                "\"step\",\"loss\"\n\"1\",\" +3.5 \"\n\n2.0,25e-1\n"}) {
        const auto done = run("x.csv", content);
        ASSERT_TRUE(done) << content << done.error().sentence;
        const auto steps = storedOf<StepDone>(done->session);
        ASSERT_EQ(steps.size(), 2u) << content;
        EXPECT_EQ(steps[0].loss, 3.5) << content;
        EXPECT_EQ(steps[1].loss, 2.5) << content;
    }
    // An epoch is a step only where there is no other.
    EXPECT_THAT(stepsOf(storedEvents(path, run("x.csv", "epoch,step,loss\n1,100,3\n1,200,2\n")->session)), ElementsAre(100, 200));
    // By what is in it, whatever its name.
    EXPECT_EQ(run("metrics.txt", "step,train_loss\n1,3\n")->steps, 1);
}

// Steps have places one millisecond apart then; nobody measured that.
TEST_F(ImportCsv, OfATableWithoutTimesNobodyKnowsHowLongAStepTook) {
    const auto done = run("x.csv", "step,loss,tokens_per_sec\n1,5,9\n2,4.5,9\n3,4,9\n4,3.5,9\n5,3,9\n6,2.5,9\n");
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_THAT(done->notes, ElementsAre(HasSubstr("how long a step took is not known")));
    const auto steps = storedOf<StepDone>(done->session);
    ASSERT_EQ(steps.size(), 6u);
    for (const StepDone& step : steps) EXPECT_EQ(step.duration.ns, 0) << step.step;
    EXPECT_EQ(steps[5].at.ns - steps[4].at.ns, 1'000'000);
    auto reader = SessionReader::open(path);
    const auto summary = (*reader)->summary(done->session);
    ASSERT_TRUE(summary);
    EXPECT_TRUE(std::isnan(summary->msPerStepMedian)) << summary->msPerStepMedian;
    EXPECT_TRUE(std::isnan(summary->tokensPerSecond)) << summary->tokensPerSecond;
    EXPECT_THAT(samplesOf(done->session).at("tokens_per_sec"), testing::SizeIs(6)) << "what it said is kept";
}

TEST_F(ImportCsv, AStepTookTheTimeThatTheTableTellsWhereItTellsOne) {
    const auto milliseconds = run("own.csv", "step,loss,step_ms\n1,5,20\n2,4.5,21\n");
    ASSERT_TRUE(milliseconds) << milliseconds.error().sentence;
    EXPECT_EQ(storedOf<StepDone>(milliseconds->session).at(1).duration.ns, 21'000'000);
    // Times that begin in the middle: the step before the first of them had none.
    const auto late = run("late.csv", "step,time,loss\n1,,5\n2,10,4.5\n3,12,4\n");
    ASSERT_TRUE(late) << late.error().sentence;
    const auto steps = storedOf<StepDone>(late->session);
    ASSERT_EQ(steps.size(), 3u);
    EXPECT_EQ(steps[1].duration.ns, 0);
    EXPECT_EQ(steps[2].duration.ns, 2'000'000'000);
    EXPECT_THAT(late->notes, testing::Contains(HasSubstr("Some steps have no time")));
    auto reader = SessionReader::open(path);
    EXPECT_TRUE((*reader)->info(late->session)->timesUnknown) << "one of them would be at a time that nobody told";
    EXPECT_TRUE((*reader)->info(milliseconds->session)->timesUnknown) << "how long they took, not when they were";
}

TEST_F(ImportCsv, OfSeveralRunsInOneTableTheFirstComesIn) {
    const auto wide =
        run("wandb.csv",
            "\"Step\",\"cosy-lake - train/loss\",\"cosy-lake - train/loss__MIN\",\"cosy-lake - train/loss__MAX\",\"dry-sun - train/loss\"\n"
            "1,3,3,3,9\n2,2,2,2,8\n");
    ASSERT_TRUE(wide) << wide.error().sentence;
    EXPECT_EQ(storedOf<StepDone>(wide->session).at(1).loss, 2);
    EXPECT_THAT(samplesOf(wide->session), testing::SizeIs(1));
    EXPECT_THAT(wide->notes, testing::Contains(HasSubstr("one column was left out of other runs than \"cosy-lake\"")));
    EXPECT_THAT(wide->notes, testing::Contains(HasSubstr("2 columns were left out that hold the least and the most")));
    const auto lines = run("two.csv", "run,step,time,metric,value\na,1,0.5,loss,3\nb,1,0.5,loss,9\na,2,1,loss,2\n");
    ASSERT_TRUE(lines) << lines.error().sentence;
    EXPECT_EQ(storedOf<StepDone>(lines->session).at(1).loss, 2);
    EXPECT_EQ(lines->reasons.at("rows of another run than the first"), 1);
}

TEST_F(ImportCsv, TheTagOfAFileFromTensorBoardIsInItsName) {
    const auto done = run("run-exp1-tag-Loss_train.csv", "Wall time,Step,Value\n1700000000.5,1,3.5\n1700000001.5,2,3.25\n");
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_EQ(storedOf<StepDone>(done->session).at(1).loss, 3.25);
    EXPECT_EQ(run("other.csv", "Wall time,Step,Value\n1700000000.5,1,3.5\n")->samples, 1);
}

TEST_F(ImportCsv, WhatIsWrongIsASentenceWithTheLineAndTheByte) {
    const std::string head = "step,loss\n1,3\n";
    const auto at = [&](int line, std::size_t byte) {
        return HasSubstr(fmt::format("bad.csv\" cannot be read as CSV: line {} (byte {}) ", line, byte));
    };
    EXPECT_THAT(refusal(head + "2\n3,1\n"), AllOf(at(3, head.size()), HasSubstr("has 1 fields where the first row names 2 columns")));
    EXPECT_THAT(refusal(head + "2,3,4\n"), AllOf(at(3, head.size()), HasSubstr("has 3 fields")));
    EXPECT_THAT(refusal(head + "2,\"3\n4,5\n"), AllOf(at(3, head.size()), HasSubstr("last quotation mark is missing")));
    EXPECT_THAT(refusal(head + "2,\"3\"4\n"), AllOf(at(3, head.size() + 5), HasSubstr("behind a closing quotation mark")));
    EXPECT_THAT(refusal("\"a\nb\",c\r\n1,2\r\n"), AllOf(at(1, 0), HasSubstr("no column of steps"), HasSubstr("\"c\"")));
    EXPECT_THAT(refusal("step\n1\n"), AllOf(at(1, 0), HasSubstr("no column beside")));
    EXPECT_THAT(refusal("step,\"two\nlines\"\n1,2\n3\n4,5\n"), at(4, 21));
    EXPECT_THAT(refusal(std::string("\xff\xfes") + '\0'), HasSubstr("UTF-16"));
    EXPECT_THAT(refusal("\n\n"), HasSubstr("no row of names"));
    EXPECT_THAT(refusal("step,loss\n"), HasSubstr("holds no event that could be kept"));
    auto reader = SessionReader::open(path);
    EXPECT_TRUE(!reader || (*reader)->list()->empty());
}

TEST_F(ImportCsv, ALastRowThatIsNotWholeIsLeftOut) {
    const auto done = run("x.csv", "step,lr,loss\n1,1,3\n2,1");
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_EQ(done->steps, 1);
    EXPECT_EQ(done->reasons.at("a last row that is not whole, at byte 19"), 1);
}

TEST_F(ImportCsv, ValuesThatNoLogHasAreSkippedWithTheReason) {
    const auto done =
        run("x.csv",
            "step,time,loss\n1,1,3\n,2,3\nx,2,3\n-1,2,3\n1e300,2,3\nnan,2,3\n2,-1,3\n3,1e300,3\n4,2,inf\n5,2,-Infinity\n6,2,1e999\n7,2,NAN\n8,,2\n");
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_THAT(stepsOf(storedEvents(path, done->session)), ElementsAre(1, 8));
    EXPECT_EQ(done->reasons.at("rows without a step"), 1);
    EXPECT_EQ(done->reasons.at("rows whose step is no number"), 1);
    EXPECT_EQ(done->reasons.at("a time or a step that cannot be"), 5);
    EXPECT_EQ(done->reasons.at("a value that is no finite number"), 4);
}

TEST_F(ImportCsv, WideTablesAndLongFieldsHaveLimits) {
    std::string names = "step", values = "1";
    for (int i = 1; i < 10'000; ++i) {
        names += fmt::format(",m{}", i);
        values += ",1";
    }
    const auto done = run("x.csv", names + "\n" + values + "\n");
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_EQ(done->samples, 9'999);
    EXPECT_THAT(refusal(names + ",one more\n"), HasSubstr("more than 10000 columns"));
    EXPECT_THAT(refusal("step" + std::string(1'000'000, ',') + "\n"), HasSubstr("more than 10000 columns"));
    EXPECT_EQ(run("x.csv", "step,note,loss\n1,\"" + many(10'000'000) + "\",3\n")->steps, 1);
    EXPECT_THAT(refusal("step,loss\n1,\"" + many(17'000'000)), HasSubstr("more than 16 MiB"));
    EXPECT_THAT(refusal(many(17'000'000)), HasSubstr("more than 16 MiB"));
}

// They are handed on in parts of some thousands.
TEST_F(ImportCsv, EveryStepAndValidationOfALongLogIsStoredOnceAndInOrder) {
    constexpr int kSteps = 9'000;
    std::string rows = "step,time,loss,val_loss\n";
    for (int i = 1; i <= kSteps; ++i) rows += fmt::format("{0},{0},{1},{2}\n", i, i % 7 + 1, i % 5 + 1);
    const auto done = run("x.csv", rows);
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_EQ(done->steps, kSteps);
    const auto steps = storedOf<StepDone>(done->session);
    const auto validations = storedOf<ValidationDone>(done->session);
    ASSERT_EQ(steps.size(), static_cast<std::size_t>(kSteps));
    ASSERT_EQ(validations.size(), static_cast<std::size_t>(kSteps));
    for (int i = 1; i <= kSteps; ++i) {
        const auto at = static_cast<std::size_t>(i - 1);
        ASSERT_EQ(std::pair(steps[at].step, steps[at].loss), std::pair(std::int64_t{i}, i % 7 + 1.0));
        ASSERT_EQ(std::pair(validations[at].step, validations[at].loss), std::pair(std::int64_t{i}, i % 5 + 1.0));
    }
}

TEST(ScalarStepsOf, AnyLogAreGivenOneByOneUntilNoMoreIsWanted) {
    importing::ScalarSteps steps;
    for (int i = 0; i < 10; ++i) steps.at(i, i).loss = i;
    int given = 0;
    steps.forEachEvent(0, [&](Event&&) { return ++given < 4; });
    EXPECT_EQ(given, 4);
    EXPECT_EQ(steps.events(0).size(), 10U);
}

TEST_F(ImportCsv, AStepThatIsToldAgainCountsAsItWasToldLast) {
    const auto done = run("x.csv", "step,loss\n1,3\n2,2.5\n2,2\n");
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_EQ(storedOf<StepDone>(done->session).at(1).loss, 2);
    EXPECT_EQ(done->reasons.at("values of a step that was told again: the last one counts"), 1);
}

TEST_F(ImportCsv, AsManyStepsAsASessionTakesHaveRoomForAllThatIsToldOfThem) {
    importing::TraceBuilder builder(folder.path());
    builder.beginFile(0);
    importing::ScalarSteps two(2);
    std::vector<std::string> notes;
    const auto read = importing::readCsvText("step,loss,lr\n1,3,0.5\n2,2.5,0.25\n", "x.csv", builder, two, notes);
    ASSERT_TRUE(read) << read.error().sentence;
    EXPECT_EQ(two.at(2, 0).learningRate, 0.25);
    const auto third = importing::readCsvText("step,loss\n3,2\n", "x.csv", builder, two, notes);
    ASSERT_FALSE(third);
    EXPECT_THAT(third.error().sentence, HasSubstr("behind more than 2 steps"));
}

TEST(CsvScan, GivesTheSameRowsWhereverItsPiecesEnd) {
    const std::string text =
        "\xef\xbb\xbf"
        "a,\"b, \"\"c\"\"\r\nd\",\"\"\r\n\r\n1,2,3\r4,5,6\n\"\",x\"y,\n7,8";
    const auto rowsOf = [&](std::size_t atOnce) {
        std::vector<std::string> rows;
        importing::CsvScan scan("x.csv", [&](const importing::CsvScan::Row& row) -> Status {
            std::string all = fmt::format("{} {} {}", row.line, row.byte, row.whole);
            for (const auto field : row.fields) all += fmt::format("[{}]", field);
            rows.push_back(all);
            return {};
        });
        for (std::size_t at = 0; at < text.size(); at += atOnce) EXPECT_TRUE(scan.add(std::string_view(text).substr(at, atOnce)));
        EXPECT_TRUE(scan.finish());
        return rows;
    };
    const auto whole = rowsOf(text.size());
    EXPECT_THAT(whole,
                ElementsAre("1 3 true[a][b, \"c\"\r\nd][]", "4 25 true[1][2][3]", "5 31 true[4][5][6]", "6 37 true[][x\"y][]", "7 45 false[7][8]"));
    for (std::size_t atOnce = 1; atOnce < text.size(); ++atOnce) EXPECT_EQ(rowsOf(atOnce), whole) << atOnce;
}

}  // namespace
}  // namespace stepscope::test
