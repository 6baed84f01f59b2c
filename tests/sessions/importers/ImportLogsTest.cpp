// TensorBoard's event files and llm.c's logs as sessions: losses are steps, everything else samples, and what is damaged is refused with the byte.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>

#include "sessions/Samples.h"
#include "sessions/SessionStore.h"
#include "sessions/exporters/ExportSession.h"
#include "sessions/importers/Import.h"
#include "sessions/importers/ScalarLogs.h"
#include "tests/sessions/TestSupport.h"

namespace stepscope::test {
namespace {

// The checksum bit by bit, so that the table of the reader is not tested with itself.
std::uint32_t masked(const std::string& bytes) {
    std::uint32_t crc = 0xffffffffU;
    for (const char byte : bytes) {
        crc ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0x82f63b78U : crc >> 1;
    }
    crc = ~crc;
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

template <class Number>
std::string raw(Number value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

std::string tfRecord(const std::string& data) {
    const std::string size = raw(static_cast<std::uint64_t>(data.size()));
    return size + raw(masked(size)) + data + raw(masked(data));
}

std::string scalarEvent(double wall, int step, const std::string& tag, const std::string& value) {
    const std::string inner = "\x0a" + std::string(1, static_cast<char>(tag.size())) + tag + value;
    const std::string summary = "\x0a" + std::string(1, static_cast<char>(inner.size())) + inner;
    return tfRecord("\x09" + raw(wall) + "\x10" + std::string(1, static_cast<char>(step)) + "\x2a" +
                    std::string(1, static_cast<char>(summary.size())) + summary);
}

std::string scalarEvent(double wall, int step, const std::string& tag, float value) {
    return scalarEvent(wall, step, tag, "\x15" + raw(value));
}

// As SummaryWriter's new_style has it: a tensor of this type, of whose fields one holds the number.
std::string tensorValue(char type, char field, const std::string& number) {
    const std::string tensor = std::string("\x08") + type + field + static_cast<char>(number.size()) + number;
    return "\x42" + std::string(1, static_cast<char>(tensor.size())) + tensor;
}

struct ImportLogs : testing::Test {
    TempFolder folder;
    std::string path = folder.file("s.db");

    Result<ImportSummary> run(const std::string& name, const std::string& content) {
        writeFile(folder.file(name), content);
        return importFiles({.database = path, .files = {folder.file(name)}, .name = {}, .progress = {}});
    }
};

TEST_F(ImportLogs, ScalarsOfTensorBoardThatAreTensorsOfAFloatOrADoubleAreScalars) {
    const auto done = run("events.out.tfevents.1700000001.host", tfRecord("\x09" + raw(1.7e9) + "\x1a\x0d" + "brain.Event:2") +
                                                                     scalarEvent(1.7e9, 1, "train/loss", tensorValue(1, 0x2a, raw(4.5F))) +
                                                                     scalarEvent(1.7e9 + 1, 2, "train/loss", tensorValue(2, 0x32, raw(1.0 / 3))) +
                                                                     scalarEvent(1.7e9 + 2, 3, "train/loss", tensorValue(3, 0x3a, "\x07")));
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_EQ(done->skipped, 1) << "of whole numbers there is no loss";
    std::vector<double> losses;
    for (const auto& event : storedEvents(path, done->session))
        if (const auto* step = std::get_if<StepDone>(&event)) losses.push_back(step->loss);
    ASSERT_EQ(losses.size(), 2U);
    EXPECT_EQ(losses[0], 4.5);
    EXPECT_EQ(losses[1], 1.0 / 3) << "to its last digit";
}

TEST_F(ImportLogs, LossesOfTensorBoardAreStepsAndTheRestSamples) {
    const std::string version = tfRecord("\x09" + raw(1.7e9) + "\x1a\x0d" + "brain.Event:2");
    const auto done = run("events.out.tfevents.1700000000.host",
                          version + scalarEvent(1.7e9, 1, "train/loss", 4.5F) + scalarEvent(1.7e9 + 2, 3, "train/loss", 3.5F) +
                              scalarEvent(1.7e9 + 2, 3, "val_loss", 3.75F) + scalarEvent(1.7e9 + 3, 3, "gpu/power", 250.0F));
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_EQ(done->steps, 2);
    EXPECT_EQ(done->samples, 4);
    const auto events = storedEvents(path, done->session);
    std::vector<StepDone> steps;
    std::vector<ValidationDone> validations;
    for (const auto& event : events) {
        if (const auto* step = std::get_if<StepDone>(&event)) steps.push_back(*step);
        if (const auto* validation = std::get_if<ValidationDone>(&event)) validations.push_back(*validation);
    }
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(steps[1].step, 3);
    EXPECT_EQ(steps[1].loss, 3.5);
    EXPECT_EQ(steps[1].at.ns, 2'000'000'000);
    EXPECT_EQ(steps[1].duration.ns, 1'000'000'000) << "two steps in two seconds";
    ASSERT_EQ(validations.size(), 1u);
    EXPECT_EQ(validations[0].loss, 3.75);
    auto reader = SessionReader::open(path);
    EXPECT_EQ((*reader)->info(done->session)->startedUnixMs, 1'700'000'000'000);
}

TEST_F(ImportLogs, AStepKeepsItsTimeWhereAValidationOfItComesLater) {
    const auto done =
        run("events.out.tfevents.1700000000.host", scalarEvent(1.7e9, 1, "train/loss", 4.5F) + scalarEvent(1.7e9 + 1, 2, "train/loss", 4.25F) +
                                                       scalarEvent(1.7e9 + 1, 2, "lr", 0.5F) + scalarEvent(1.7e9 + 31, 2, "val/loss", 4.75F) +
                                                       scalarEvent(1.7e9 + 32, 3, "train/loss", 4.0F) + scalarEvent(1.7e9 + 40, 4, "val/loss", 4.5F));
    ASSERT_TRUE(done) << done.error().sentence;
    using At = std::pair<std::int64_t, std::int64_t>;  // number, ns
    std::vector<At> steps, validations;
    for (const auto& event : storedEvents(path, done->session)) {
        if (const auto* step = std::get_if<StepDone>(&event)) steps.emplace_back(step->step, step->at.ns);
        if (const auto* step = std::get_if<StepDone>(&event); step != nullptr && step->step == 2) {
            EXPECT_EQ(step->duration.ns, 1'000'000'000) << "not the half minute of the validation";
            EXPECT_EQ(step->learningRate, 0.5);
        }
        if (const auto* validation = std::get_if<ValidationDone>(&event)) validations.emplace_back(validation->step, validation->at.ns);
    }
    EXPECT_THAT(steps, testing::ElementsAre(At(1, 0), At(2, 1'000'000'000), At(3, 32'000'000'000)));
    EXPECT_THAT(validations, testing::ElementsAre(At(2, 31'000'000'000), At(4, 40'000'000'000))) << "the last is of no step that is told";
}

TEST_F(ImportLogs, ADamagedEventFileIsRefusedAndACutOneKeptAsFarAsItGoes) {
    const std::string one = scalarEvent(1.7e9, 1, "loss", 4.5F), two = scalarEvent(1.7e9 + 1, 2, "loss", 4.25F);
    std::string damaged = one + two;
    damaged[one.size() + 20] = static_cast<char>(damaged[one.size() + 20] ^ 1);
    const auto refused = run("events.out.tfevents.1.a", damaged);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().sentence, testing::HasSubstr(fmt::format("at byte {}", one.size() + 12)));
    // Wherever a program was killed that wrote it: in what it wrote, or in the length before that.
    for (const std::size_t left : {std::size_t{1}, std::size_t{11}, std::size_t{12}, two.size() - 3}) {
        const auto cut = run(fmt::format("events.out.tfevents.1.b{}", left), one + two.substr(0, left));
        ASSERT_TRUE(cut) << cut.error().sentence;
        EXPECT_EQ(cut->steps, 1);
        EXPECT_EQ(cut->skipped, 1);
        EXPECT_EQ(cut->reasons.at(fmt::format("a last record that is not whole, at byte {}", one.size())), 1);
    }
}

// Far more than what is held of a file at a time, so that records lie across its pieces.
TEST_F(ImportLogs, ALargeFileOfEventsIsReadRecordByRecordToItsEndAndDamageIsToldWithItsByte) {
    std::string bytes;
    const std::string large = tfRecord("\x1a\x80\x80\x80\x01" + std::string(std::size_t{1} << 21, 'v'));  // a text of 2 MiB, field 3
    for (int step = 1; step <= 5; ++step) bytes += large + scalarEvent(1.7e9 + step, step, "loss", 5.0F - static_cast<float>(step));
    const auto done = run("events.out.tfevents.large", bytes);
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_EQ(done->skipped, 0);
    const std::size_t last = bytes.size() - scalarEvent(1.7e9 + 5, 5, "loss", 0.0F).size();
    bytes[last + 14] ^= 1;
    const auto damaged = run("events.out.tfevents.damaged", bytes);
    ASSERT_FALSE(damaged);
    EXPECT_THAT(damaged.error().sentence, testing::HasSubstr(fmt::format("the checksum of a record is wrong at byte {}", last + 12)));
}

TEST_F(ImportLogs, StepsOfTensorBoardBeyondThoseThatASessionTakesAreCounted) {
    std::string bytes;
    for (int step = 1; step <= 5; ++step) bytes += scalarEvent(1.7e9 + step, step, "loss", 4.5F);
    // Of a step that has a place, of one that has none, and what is of no step anyway.
    bytes += scalarEvent(1.7e9 + 6, 2, "lr", 0.5F) + scalarEvent(1.7e9 + 6, 4, "lr", 0.5F) + scalarEvent(1.7e9 + 6, 4, "other", 1.0F);
    importing::TraceBuilder builder(folder.path());
    builder.beginFile(0);
    importing::ScalarSteps three(3), enough(5);
    ASSERT_TRUE(importing::readEventBytes(bytes, "bytes", builder, three));
    EXPECT_EQ(three.count(), 3U);
    EXPECT_EQ(three.at(2, 0).learningRate, 0.5);
    EXPECT_EQ(three.leftOut(), "A session takes 3 steps of logs: 3 values of later ones are in its counters alone.");
    EXPECT_EQ(builder.counts().samples, 8) << "each is a counter's";
    ASSERT_TRUE(importing::readEventBytes(bytes, "bytes", builder, enough));
    EXPECT_EQ(enough.leftOut(), "");
}

TEST_F(ImportLogs, AStepThatNobodyCouldReadAgainIsLeftOut) {
    const std::string inner = "\x0a\x04loss\x15" + raw(2.0F), summary = "\x0a" + std::string(1, static_cast<char>(inner.size())) + inner;
    const std::string far = tfRecord("\x09" + raw(1.7e9 + 1) + "\x10\xfe\xff\xff\xff\xff\xff\xff\xff\x7f\x2a" +
                                     std::string(1, static_cast<char>(summary.size())) + summary);
    const auto done = run("events.out.tfevents.2", scalarEvent(1.7e9, 1, "loss", 4.5F) + far);
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_EQ(done->steps, 1);
    EXPECT_EQ(done->reasons.at("a time or a step that cannot be"), 1);
    EXPECT_EQ(stepsOf(storedEvents(path, done->session)), std::vector<std::int64_t>{1});
}

TEST_F(ImportLogs, ALogWhoseStepsComeBeforeItsSamplesIsReadAgain) {
    const auto done = run("main.log", "s:0 trl:4\ns:250 eval:0.29\ns:251 trl:3\n");
    ASSERT_TRUE(done) << done.error().sentence;
    const auto events = storedEvents(path, done->session);
    EXPECT_EQ(stepsOf(events), (std::vector<std::int64_t>{0, 251}));
    auto reader = SessionReader::open(path);
    EXPECT_EQ((*reader)->summary(done->session)->lossLast, 3);
    ASSERT_TRUE(forEachSampleBlock(**reader, done->session, [](const SampleBlock& block) -> Status {
        EXPECT_EQ(block.samples.at(0).at, 250'000'000);
        return {};
    }));
}

TEST_F(ImportLogs, WhatIsPackedOrWrittenInAFormThatIsNotReadSaysSo) {
    const auto refusal = [&](const std::string& content) {
        const auto done = run("x.json.packed", content);
        return done ? std::string() : done.error().sentence;
    };
    EXPECT_THAT(refusal(std::string("\x28\xb5\x2f\xfd\x04", 5)), testing::HasSubstr("packed with zstd; unpack it"));
    EXPECT_THAT(refusal(std::string("\xfd\x37zXZ\0", 6)), testing::HasSubstr("packed with xz; unpack it"));
    EXPECT_THAT(refusal("BZh91AY"), testing::HasSubstr("packed with bzip2; unpack it"));
    EXPECT_THAT(refusal("PK\x03\x04"), testing::HasSubstr("packed with zip; unpack it"));
    EXPECT_THAT(refusal(std::string("\xff\xfe{\0", 4)), testing::HasSubstr("UTF-16; save it as UTF-8"));
    EXPECT_THAT(refusal("a poem"), testing::HasSubstr("no trace or log that Stepscope knows"));
}

TEST_F(ImportLogs, LogsOfLlmcAreStepsAndValidations) {
    const auto done = run("main.log",
                          "s:0 tel:11.0000\ns:0 eval:0.2500\ns:1 trl:10.5000 lr:0.000100 norm:2.50\ns:2 trl:9.2500 lr:0.000200 norm:1.50\nnonsense\n"
                          "s:82222222222222 trl:1.0\n");
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_EQ(done->steps, 2);
    EXPECT_EQ(done->samples, 1);
    EXPECT_EQ(done->skipped, 2) << "a word, and a step whose time no number of ns holds";
    ASSERT_EQ(done->notes.size(), 1u);
    for (const auto& event : storedEvents(path, done->session))
        if (const auto* step = std::get_if<StepDone>(&event); step != nullptr && step->step == 2) {
            EXPECT_EQ(step->loss, 9.25);
            EXPECT_EQ(step->learningRate, 0.0002);
            EXPECT_EQ(step->gradientNorm, 1.5);
        }
    auto reader = SessionReader::open(path);
    EXPECT_EQ((*reader)->summary(done->session)->steps, 2);
    EXPECT_EQ((*reader)->summary(done->session)->lossLast, 9.25);
    EXPECT_EQ((*reader)->summary(done->session)->validationLossLast, 11.0);
}

// As bytes come from the disk: lines lie across them.
TEST_F(ImportLogs, LogsOfLlmcAreReadLineByLineWhateverPiecesTheyComeIn) {
    const std::string text = "s:0 tel:11.5\r\n\ns:1 trl:10.5 lr:0.5 norm:2.5\nnonsense\n\r\ns:1 eval:0.25\ns:2 trl:9.25";
    for (std::size_t atOnce = 1; atOnce <= text.size(); ++atOnce) {
        importing::TraceBuilder builder(folder.path());
        builder.beginFile(0);
        importing::ScalarSteps steps;
        ASSERT_TRUE(importing::readLlmcText(text, "text", builder, steps, atOnce)) << atOnce;
        ASSERT_EQ(steps.count(), 3U) << atOnce;
        EXPECT_EQ(steps.at(0, 0).validation, 11.5);
        EXPECT_EQ(steps.at(1, 0).gradientNorm, 2.5);
        EXPECT_EQ(steps.at(2, 0).loss, 9.25) << "the last line has no end";
        EXPECT_EQ(builder.counts().samples, 1);
        EXPECT_EQ(builder.counts().skipped, 1) << "empty lines are none";
    }
    // Steps are there long before all of it was read.
    std::string large;
    for (int step = 1; step <= 200'000; ++step) large += fmt::format("s:{} trl:3.0000 lr:0.000100 norm:1.00\n", step);
    writeFile(folder.file("large.log"), large);
    importing::TraceBuilder builder(folder.path());
    builder.beginFile(0);
    importing::ScalarSteps steps;
    std::set<std::size_t> seen;
    const auto read = importing::readLlmcLog(folder.file("large.log"), builder, steps, [&](double) {
        seen.insert(steps.count());
        return true;
    });
    ASSERT_TRUE(read) << read.error().sentence;
    EXPECT_EQ(steps.count(), 200'000U);
    EXPECT_GE(seen.size(), 5U);
}

TEST_F(ImportLogs, ALogOfLlmcWithALineWithoutEndOrWithTooManyStepsIsRefusedWithTheByte) {
    const auto refused = run("main.log", "s:1 trl:5\ns:2 trl:4\n" + std::string(std::size_t{17} << 20, 'x'));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().sentence, testing::HasSubstr("a line of more than 16 MiB begins at byte 20"));
    importing::TraceBuilder builder(folder.path());
    builder.beginFile(0);
    importing::ScalarSteps two(2);
    ASSERT_TRUE(importing::readLlmcText("s:1 trl:5\ns:2 trl:4\ns:2 tel:6\n", "text", builder, two)) << "the second step has room";
    EXPECT_EQ(two.at(2, 0).validation, 6);
    const auto third = importing::readLlmcText("s:1 trl:5\ns:3 trl:4\n", "text", builder, two);
    ASSERT_FALSE(third);
    EXPECT_THAT(third.error().sentence, testing::HasSubstr("more than 2 steps end at byte 10"));
}

TEST_F(ImportLogs, OfALogOfLlmcNobodyKnowsHowLongAStepTook) {
    const auto done = run("main.log", "s:1 trl:5\ns:2 trl:4.5\ns:3 trl:4\ns:4 trl:3.5\ns:5 trl:3\ns:6 trl:2.5\n");
    ASSERT_TRUE(done) << done.error().sentence;
    EXPECT_THAT(done->notes, testing::ElementsAre(testing::HasSubstr("how long a step took is not known")));
    std::size_t steps = 0;
    for (const auto& event : storedEvents(path, done->session))
        if (const auto* step = std::get_if<StepDone>(&event)) {
            ++steps;
            EXPECT_EQ(step->duration.ns, 0) << step->step;
        }
    EXPECT_EQ(steps, 6u);
    auto reader = SessionReader::open(path);
    EXPECT_TRUE(std::isnan((*reader)->summary(done->session)->msPerStepMedian));
}

TEST_F(ImportLogs, ATimeThatOneLogTellsStandsWhateverPlaceAnotherHasGivenTheStep) {
    writeFile(folder.file("main.log"), "s:1 norm:2\ns:9 norm:3\n");
    writeFile(folder.file("times.csv"), "step,time,loss\n1,0.002,4\n9,0.004,3\n");
    const auto done = importFiles({.database = path, .files = {folder.file("main.log"), folder.file("times.csv")}, .name = {}, .progress = {}});
    ASSERT_TRUE(done) << done.error().sentence;
    for (const auto& event : storedEvents(path, done->session))
        if (const auto* step = std::get_if<StepDone>(&event); step != nullptr && step->step == 9) {
            EXPECT_EQ(step->at.ns, 4'000'000) << "not the nine milliseconds of the log without times";
            EXPECT_EQ(step->duration.ns, 250'000) << "eight steps in two milliseconds";
            EXPECT_EQ(step->gradientNorm, 3);
        }
}

TEST_F(ImportLogs, AreWrittenAgainAsCsvAndEventsWithWhatTheySaidAndNothingElse) {
    const auto done = run("main.log", "s:0 tel:11.0000\ns:1 trl:10.5000 lr:0.000100 norm:2.50\ns:2 trl:9.2500 lr:0.000200 norm:1.50\n");
    ASSERT_TRUE(done) << done.error().sentence;
    for (const ExportFormat format : {ExportFormat::CsvLong, ExportFormat::CsvWide, ExportFormat::TensorBoard}) {
        const auto written = exportSession(path, done->session, folder.file(infoOf(format).word), format);
        ASSERT_TRUE(written) << written.error().sentence;
    }
    std::set<std::string> metrics;
    std::istringstream lines(contentOf(folder.file(infoOf(ExportFormat::CsvLong).word)));
    for (std::string line; std::getline(lines, line);) {
        const auto end = line.rfind(','), begin = line.rfind(',', end - 1) + 1;
        metrics.insert(line.substr(begin, end - begin));
    }
    EXPECT_THAT(metrics, testing::ElementsAre("gradient_norm", "learning_rate", "loss", "metric", "validation_loss"));
    EXPECT_THAT(contentOf(folder.file(infoOf(ExportFormat::CsvLong).word)), testing::HasSubstr(",loss,9.25\n"));
    // And what was written as events comes in again.
    std::filesystem::rename(folder.file(infoOf(ExportFormat::TensorBoard).word), folder.file("events.out.tfevents.9.again"));
    const auto again = importFiles({.database = path, .files = {folder.file("events.out.tfevents.9.again")}, .name = {}, .progress = {}});
    ASSERT_TRUE(again) << again.error().sentence;
    EXPECT_EQ(again->steps, 2);
    auto reader = SessionReader::open(path);
    EXPECT_EQ((*reader)->summary(again->session)->lossLast, 9.25);
}

// The wall times of a file of events.
std::set<double> wallTimesOf(const std::string& bytes) {
    std::set<double> all;
    for (std::size_t at = 0; at + 16 < bytes.size();) {
        std::uint64_t size = 0;
        std::memcpy(&size, &bytes[at], sizeof size);
        double wall = 0;
        if (bytes.at(at + 12) == '\x09') std::memcpy(&wall, &bytes[at + 13], sizeof wall);
        all.insert(wall);
        at += 16 + size;
    }
    return all;
}

TEST_F(ImportLogs, TimesThatALogDoesNotHoldAreWrittenAsUnknownAndComeInAgainAsThat) {
    const auto done = run("main.log", "s:0 tel:11.0000\ns:1 trl:10.5000\ns:2 trl:9.2500\n");
    ASSERT_TRUE(done) << done.error().sentence;
    const auto knows = [&](std::int64_t session) { return !(*SessionReader::open(path))->info(session)->timesUnknown; };
    EXPECT_FALSE(knows(done->session));
    const std::string text = folder.file("out.csv"), wide = folder.file("out.wide.csv"), events = folder.file("events.out.tfevents.9.out");
    ASSERT_TRUE(exportSession(path, done->session, text, ExportFormat::CsvLong));
    ASSERT_TRUE(exportSession(path, done->session, wide, ExportFormat::CsvWide));
    ASSERT_TRUE(exportSession(path, done->session, events, ExportFormat::TensorBoard));
    EXPECT_EQ(contentOf(text), "run,step,time,metric,value\nmain,0,,validation_loss,11\nmain,1,,loss,10.5\nmain,2,,loss,9.25\n");
    EXPECT_THAT(contentOf(wide), testing::HasSubstr("\n1,,,,,,10.5,10.5,10.5\n2,,,,,,9.25,9.25,9.25\n"));
    const auto started = static_cast<double>((*SessionReader::open(path))->info(done->session)->startedUnixMs) * 1e-3;
    EXPECT_THAT(wallTimesOf(contentOf(events)), testing::ElementsAre(started)) << "an event must say a time";
    for (const ExportFormat format : {ExportFormat::CsvLong, ExportFormat::CsvWide})
        EXPECT_THAT(unknownTimesSentence(path, done->session, format), testing::HasSubstr("column of times is empty"));
    EXPECT_THAT(unknownTimesSentence(path, done->session, ExportFormat::TensorBoard), testing::HasSubstr("all have that of the import"));
    EXPECT_EQ(unknownTimesSentence(path, done->session, ExportFormat::Kineto), "") << "of what was captured times are known";
    for (const std::string& file : {text, wide, events}) {
        const auto again = importFiles({.database = path, .files = {file}, .name = {}, .progress = {}});
        ASSERT_TRUE(again) << again.error().sentence;
        EXPECT_EQ(again->steps, 2) << file;
        EXPECT_FALSE(knows(again->session)) << file;
        EXPECT_THAT(again->notes, testing::ElementsAre(testing::HasSubstr("how long a step took is not known"))) << file;
    }
}

TEST_F(ImportLogs, EventsOfTensorBoardThatHaveNoTimeOrAllOneAreStepsWithoutTimes) {
    for (const double wall : {0.0, 1.7e9}) {
        const auto done = run("events.out.tfevents.5.x", scalarEvent(wall, 1, "loss", 4.5F) + scalarEvent(wall, 1, "val_loss", 4.75F) +
                                                             scalarEvent(wall, 2, "loss", 4.25F) + scalarEvent(wall, 4, "loss", 4.0F));
        ASSERT_TRUE(done) << done.error().sentence;
        EXPECT_TRUE((*SessionReader::open(path))->info(done->session)->timesUnknown) << wall;
        EXPECT_EQ(stepsOf(storedEvents(path, done->session)), (std::vector<std::int64_t>{1, 2, 4}));
        EXPECT_THAT(done->notes, testing::ElementsAre(testing::HasSubstr("hold no times that differ")));
    }
    const auto known = run("events.out.tfevents.6.x", scalarEvent(1.7e9, 1, "loss", 4.5F) + scalarEvent(1.7e9 + 1, 2, "loss", 4.25F));
    const auto single = run("events.out.tfevents.7.x", scalarEvent(1.7e9, 1, "loss", 4.5F));
    for (const auto& one : {known, single}) {
        ASSERT_TRUE(one) << one.error().sentence;
        EXPECT_FALSE((*SessionReader::open(path))->info(one->session)->timesUnknown);
        EXPECT_EQ(unknownTimesSentence(path, one->session, ExportFormat::CsvLong), "");
    }
}

}  // namespace
}  // namespace stepscope::test
