// Bad words, keys, values and files: each is refused with one sentence that names the thing, and nothing is spoilt.
#include <gmock/gmock.h>

#include <random>

#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

class Refusal : public CliFixture {
protected:
    Finished trainWith(const Words& more) const { return cli(tiny(more)); }
    std::string noise(const std::string& name) const {
        std::string bytes(5000, '\0');
        std::mt19937 random(7);
        for (char& byte : bytes) byte = static_cast<char>(random());
        return write(name, bytes);
    }
};

TEST_F(Refusal, NamesAnUnknownPreset) {
    expectRefused(cli({"train", "--preset", "nope", "--db", database()}), {"nope"}, kNotFound);
}
TEST_F(Refusal, NamesAStrayWord) {
    expectRefused(trainWith({"stray"}), {"stray", "train"}, kUsage);
}
TEST_F(Refusal, NamesAStrayWordAfterASetting) {
    expectRefused(trainWith({"--set", "seed=2", "stray"}), {"stray"}, kUsage);
}
TEST_F(Refusal, NamesAnUnknownOption) {
    expectRefused(trainWith({"--no-such-option"}), {"--no-such-option"}, kUsage);
}
TEST_F(Refusal, NamesAnOptionWithoutItsValue) {
    expectRefused(trainWith({"--name"}), {"--name"}, kUsage);
}
TEST_F(Refusal, NamesASettingThatIsGivenInTwoWays) {
    expectRefused(trainWith({"--steps", "3", "--set", "steps=5"}), {"steps", "--set"}, kBadInput);
}
TEST_F(Refusal, NamesASessionsNameThatIsNoLine) {
    train();
    for (const char* name : {"", "  ", "a\nb"}) expectRefused(cli({"sessions", "rename", "1", name, "--db", database()}), {"name"}, kBadInput);
    expectRefused(trainWith({"--name", "a\nb"}), {"name"}, kBadInput);
}
TEST_F(Refusal, NamesAnUnknownCommand) {
    expectRefused(cli({"trian"}), {"trian", "train"}, kUsage);
}
TEST_F(Refusal, NamesAnUnknownCommandOfAGroup) {
    expectRefused(cli({"sessions", "lst"}), {"lst", "list"}, kUsage);
}
TEST_F(Refusal, AsksForACommand) {
    expectRefused(cli({}), {"train"}, kUsage);
}
TEST_F(Refusal, AsksForTheIdOfASession) {
    expectRefused(cli({"sessions", "show"}), {"ID"}, kUsage);
}
TEST_F(Refusal, NamesTwoCommandsAtOnce) {
    expectRefused(cli({"switches", "config"}), {"config"}, kUsage);
}

TEST_F(Refusal, NamesTwoPlacesThatWeightsAreToComeFromAndLeavesNoSession) {
    expectRefused(trainWith({"--init", path("weights.safetensors"), "--resume", "1"}), {"train", "--init", "--resume"}, kUsage);
    expectRefused(trainWith({"--resume", path("checkpoint"), "--init", path("weights.safetensors")}), {"train", "--init", "--resume"}, kUsage);
    EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(Refusal, NamesStepsBelowOne) {
    expectRefused(trainWith({"--steps", "-5"}), {"steps", "-5"}, kBadInput);
}
TEST_F(Refusal, NamesStepsThatAreNoNumber) {
    expectRefused(trainWith({"--steps", "many"}), {"steps", "many"}, kBadInput);
}
TEST_F(Refusal, NamesAnEmptyValue) {
    expectRefused(trainWith({"--steps", ""}), {"steps"}, kBadInput);
}
TEST_F(Refusal, NamesAnUnknownKey) {
    expectRefused(trainWith({"--set", "no-such=1"}), {"no-such"}, kBadInput);
}
TEST_F(Refusal, NamesASettingWithoutAValue) {
    expectRefused(trainWith({"--set", "layers"}), {"--set", "layers"}, kBadInput);
}
TEST_F(Refusal, NamesAnUnknownValueOfASwitch) {
    expectRefused(trainWith({"--set", "amp=fp7"}), {"amp", "fp7"}, kBadInput);
}
TEST_F(Refusal, NamesAWidthOutOfRange) {
    expectRefused(trainWith({"--set", "width=-4"}), {"width", "-4"}, kBadInput);
}
TEST_F(Refusal, NamesHeadsThatDoNotDivideTheWidth) {
    expectRefused(trainWith({"--set", "heads=3"}), {"heads", "width"}, kBadInput);
}
TEST_F(Refusal, PredictsABatchThatCannotFit) {
    expectRefused(trainWith({"--set", "batch-size=100000000"}), {"batch"});
}
TEST_F(Refusal, NamesASwitchThatThisMachineCannotUse) {
    if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "there is a GPU here";
    expectRefused(trainWith({"--set", "device=cuda:0"}), {"cuda"}, kUnsupported);
    // Beside it another setting would help.
    expectRefused(trainWith({"--set", "fusion=kernels", "--set", "amp=fp16"}), {"fused kernels", "amp=bf16"}, kBadInput);
}

TEST_F(Refusal, NamesTwoSwitchesThatDecideTheSameThingAndLeavesNoSession) {
    expectRefused(trainWith({"--set", "attention=manual", "--set", "fused-attention=on"}), {"attention and fused-attention"}, kBadInput);
    EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(Refusal, NamesTextThatIsEmpty) {
    expectRefused(trainWith({"--data", write("empty.txt", "")}), {"empty.txt"}, kBadInput);
}
TEST_F(Refusal, NamesTextThatIsShorterThanTheContext) {
    expectRefused(trainWith({"--data", write("short.txt", "hi\n")}), {"short.txt"}, kBadInput);
}
TEST_F(Refusal, NamesAFileThatIsNoText) {
    expectRefused(trainWith({"--data", noise("noise.txt")}), {"noise.txt"}, kBadInput);
}
TEST_F(Refusal, NamesTextThatIsNotThere) {
    expectRefused(trainWith({"--data", path("nothere.txt")}), {"nothere.txt"}, kNotFound);
}
TEST_F(Refusal, NamesAnEmptyFolderOfText) {
    std::filesystem::create_directory(path("folder"));
    expectRefused(trainWith({"--data", path("folder")}), {"folder"}, kBadInput);
}
TEST_F(Refusal, NamesATokenBeyondTheVocabulary) {
    std::string tokens;
    for (int i = 0; i < 2000; ++i) tokens += {static_cast<char>(i % 250), static_cast<char>(i == 1500 ? 200 : 0)};
    expectRefused(trainWith({"--data", write("tokens.bin", tokens), "--set", "vocabulary=256"}), {"tokens.bin", "vocabulary"}, kBadInput);
}
TEST_F(Refusal, NamesAContextLongerThanTheData) {
    expectRefused(trainWith({"--data", write("some.txt", std::string(3000, 'a')), "--set", "context=4000"}), {"some.txt", "context"}, kBadInput);
}

TEST_F(Refusal, LeavesAFileThatIsNoDatabaseUntouched) {
    const auto file = noise("not.db");
    const auto before = read(file);
    expectRefused(cli({"train", "--preset", "tiny-cpu", "--steps", "1", "--db", file}), {"not.db"});
    expectRefused(cli({"sessions", "list", "--db", file}), {"not.db"});
    expectRefused(cli({"sessions", "delete", "1", "--db", file}), {"not.db"});
    EXPECT_EQ(read(file), before);
}
TEST_F(Refusal, NamesADatabaseThatCannotBeMade) {
    expectRefused(cli({"train", "--preset", "tiny-cpu", "--steps", "1", "--db", "/proc/x.db"}), {"x.db"});
}
TEST_F(Refusal, NamesADatabaseThatIsNotThere) {
    expectRefused(cli({"sessions", "list", "--db", path("none.db")}), {"none.db"}, kNotFound);
}
TEST_F(Refusal, SaysOfADataFolderThatIsNoneThatNothingCanBeRecorded) {
    auto nowhere = options();
    nowhere.environment["XDG_DATA_HOME"] = "/dev/null";
    expectRefused(cli({"sessions", "list"}, nowhere), {"/dev/null/stepscope/sessions.db", "cannot be made"}, kIo);
    nowhere.environment["XDG_DATA_HOME"] = path("not-there-yet");
    const Finished none = cli({"sessions", "list"}, nowhere);
    EXPECT_EQ(none.exitCode, 0) << none.err;
    EXPECT_NE(none.out.find("No sessions yet"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(path("not-there-yet"))) << "looking makes nothing";
}
TEST_F(Refusal, NamesASessionThatIsNotThere) {
    train();
    for (const char* command : {"show", "export-csv", "delete", "restore"})
        expectRefused(cli({"sessions", command, "999999", "--db", database()}), {"999999"}, kNotFound);
    expectRefused(cli({"sessions", "rename", "999999", "x", "--db", database()}), {"999999"}, kNotFound);
    expectRefused(cli({"checkpoint", "list", "999999", "--db", database()}), {"999999"}, kNotFound);
    expectRefused(cli({"generate", "--from", "999999", "--db", database()}), {"999999"}, kNotFound);
}
TEST_F(Refusal, NamesASessionIdThatIsNoNumber) {
    expectRefused(cli({"sessions", "show", "first", "--db", database()}), {"first"}, kBadInput);
}
TEST_F(Refusal, NamesAStepLogThatCannotBeWritten) {
    expectRefused(trainWith({"--step-log", path("no/such/folder/log")}), {"no/such/folder/log"}, 7);
}
TEST_F(Refusal, NamesACheckpointThatIsNotThere) {
    expectRefused(trainWith({"--resume", path("no-checkpoint")}), {"no-checkpoint"}, kNotFound);
    expectRefused(cli({"generate", "--from", path("no-checkpoint")}), {"no-checkpoint"}, kNotFound);
    expectRefused(cli({"checkpoint", "show", path("no-checkpoint")}), {"no-checkpoint"}, kNotFound);
}
TEST_F(Refusal, NamesAFileThatIsInNoCheckpoint) {
    expectRefused(trainWith({"--resume", write("notes.txt", "no weights")}), {"notes.txt", "is not a checkpoint"}, kNotFound);
}
TEST_F(Refusal, SaysBeforeTheRunThatWithoutARecordThereIsNoPlaceForCheckpoints) {
    expectRefused(trainWith({"--no-record", "--checkpoint-every", "2", "--step-log", path("log")}),
                  {"--no-record", "checkpoint-every is 2", "--checkpoint-every 0"}, kBadInput);
    expectRefused(trainWith({"--no-record", "--set", "checkpoint-at-end=on", "--step-log", path("log")}),
                  {"--no-record", "checkpoint-at-end=on", "leave out one"}, kBadInput);
    EXPECT_FALSE(std::filesystem::exists(path("log"))) << "nothing was started";
    const auto without = trainWith({"--no-record", "--checkpoint-every", "0"});
    EXPECT_EQ(without.exitCode, 0);
    EXPECT_THAT(without.err, testing::HasSubstr("its weights are gone when it ends"));
    EXPECT_THAT(trainWith({"--no-record", "--set", "checkpoint-at-end=off"}).err, testing::Not(testing::HasSubstr("are gone"))) << "as it was asked";
}
TEST_F(Refusal, NamesASamplingValueOutOfRange) {
    expectRefused(cli({"generate", "--from", "x", "--tokens", "-1"}), {"tokens", "-1"}, kBadInput);
    expectRefused(cli({"generate", "--from", "x", "--top-p", "2"}), {"top-p", "2"}, kBadInput);
    expectRefused(cli({"generate", "--from", "x", "--temperature", "hot"}), {"temperature", "hot"}, kBadInput);
}

class Memory : public Refusal {
protected:
    Finished trainWithin(const char* bytes, const Words& more) const {
        auto limited = options();
        limited.environment["STEPSCOPE_MEMORY_LIMIT"] = bytes;
        return cli(tiny(more), limited);
    }
};

TEST_F(Memory, IsPredictedWithTheIdsThatTheDataReallyHave) {
    std::string tokens;
    for (int i = 0; i < 5000; ++i) tokens += {static_cast<char>(i % 250), 1};  // ids from 256 on: GPT-2's vocabulary, whatever the tokenizer
    const Words large{"--data", write("tokens.bin", tokens), "--set", "batch-size=64", "--set", "context=64"};
    expectRefused(trainWithin("300000000", large), {"batch-size 64", "lower batch-size"}, kOutOfMemory);
    EXPECT_FALSE(std::filesystem::exists(database())) << "predicted, not run into";
    Words few = large;
    few.insert(few.end(), {"--set", "vocabulary=512"});
    EXPECT_EQ(trainWithin("300000000", few).exitCode, 0);
}

TEST_F(Memory, IsPredictedBeforeTheRun) {
    const auto finished = trainWithin("20000000", {"--set", "width=128", "--set", "layers=4", "--set", "context=128", "--set", "batch-size=64"});
    expectRefused(finished, {"batch-size", "20.0"}, kOutOfMemory);
    EXPECT_FALSE(std::filesystem::exists(database()));
}

// 16 000 different characters, twice.
std::string manyCharacters() {
    std::string text;
    for (int repeat = 0; repeat < 2; ++repeat)
        for (int point = 0x4E00; point < 0x4E00 + 16000; ++point)
            text +=
                {static_cast<char>(0xE0 | (point >> 12)), static_cast<char>(0x80 | ((point >> 6) & 0x3F)), static_cast<char>(0x80 | (point & 0x3F))};
    return text;
}

TEST_F(Memory, IsPredictedWithTheCharactersThatATextReallyHas) {
    const auto finished = trainWithin("200000000", {"--data", write("characters.txt", manyCharacters()), "--set", "tokenizer=char", "--set",
                                                    "context=128", "--set", "batch-size=128"});
    expectRefused(finished, {"batch-size 128", "lower batch-size"}, kOutOfMemory);
    EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(Memory, ALimitThatIsNoNumberOfBytesIsRefusedAndSoIsAnInstructionSetOfNoName) {
    for (const char* bytes : {"20MB", "lots", "-5", "0", "1e9", "99999999999999999999"}) {
        auto limited = options();
        limited.environment["STEPSCOPE_MEMORY_LIMIT"] = bytes;
        expectRefused(cli({"config", "--preset", "tiny-cpu"}, limited), {"STEPSCOPE_MEMORY_LIMIT", bytes, "bytes"}, kBadInput);
    }
    auto nonsense = options();
    nonsense.environment["STEPSCOPE_ISA"] = "sse9";
    expectRefused(cli({"config", "--preset", "tiny-cpu"}, nonsense), {"STEPSCOPE_ISA", "sse9", "avx2"}, kBadInput);
    nonsense.environment["STEPSCOPE_ISA"] = "baseline";
    EXPECT_EQ(cli({"config", "--preset", "tiny-cpu"}, nonsense).exitCode, 0);
}

TEST_F(Memory, ThatIsTooLittleToBeginWithIsASentenceAndNoAbort) {
    int said = 0;
    for (int kilobytes = 440'000; kilobytes >= 390'000; kilobytes -= 10'000) {
        const Finished finished =
            Process({"/bin/sh", "-c", "ulimit -v " + std::to_string(kilobytes) + " && exec \"$0\" --version", STEPSCOPE_CLI}, options()).wait();
        EXPECT_EQ(finished.signal, 0) << kilobytes << ": " << finished.err;
        EXPECT_EQ(finished.err.find("terminate called"), std::string::npos) << kilobytes << ": " << finished.err;
        // Where even the libraries have no room the system's loader says so itself.
        if (finished.exitCode == 0 || finished.err.find("error while loading") != std::string::npos) continue;
        expectRefused(finished, {"not enough memory", "ulimit"}, kOutOfMemory);
        ++said;
    }
    RecordProperty("said", said);
    EXPECT_GT(said, 0) << "none of these limits lies where LibTorch is loaded and cannot begin";
}

TEST_F(Memory, RunningOutOfItEndsTheRunAsFailedWithASentence) {
    // The system gives the process a GB of data; the program predicts with what the machine has. The logits take half a GB, and there are several.
    Words command{"/bin/sh", "-c", "ulimit -d 1000000 && exec \"$0\" \"$@\"", STEPSCOPE_CLI};
    for (const auto& word :
         tiny({"--data", write("characters.txt", manyCharacters()), "--set", "tokenizer=char", "--set", "context=128", "--set", "batch-size=64"}))
        command.push_back(word);
    expectRefused(Process(command, options()).wait(), {"memory"}, kOutOfMemory);
    EXPECT_EQ(newest()["state"], "failed");
    EXPECT_THAT(newest()["why"].get<std::string>(), testing::HasSubstr("memory"));
}

}  // namespace
}  // namespace stepscope::test
