// Runs through the command line: the JSON contract, the step log, seeds, resuming, sessions, text.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "core/base/Utf8.h"
#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Training : public CliFixture {};

TEST_F(Training, EndsWithTheSummaryAsOneLineOfJson) {
    const auto finished = cli(tiny({"--json"}));
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    ASSERT_EQ(std::ranges::count(finished.out, '\n'), 1) << finished.out;
    const auto summary = nlohmann::ordered_json::parse(finished.out);
    std::vector<std::string> keys;
    for (const auto& [key, value] : summary.items()) keys.push_back(key);
    EXPECT_THAT(keys, testing::ElementsAre("session", "steps", "loss_first", "loss_last", "val_loss", "ms_per_step_median", "tokens_per_s", "skipped",
                                           "peak_memory_bytes", "peak_allocated_bytes", "forecast"));
    EXPECT_EQ(summary["steps"], 12);
    EXPECT_NEAR(summary["loss_first"].get<double>(), 5.55, 0.5);  // ln 256
    EXPECT_LT(summary["loss_last"].get<double>(), summary["loss_first"].get<double>());
    EXPECT_GT(summary["ms_per_step_median"].get<double>(), 0);
    EXPECT_NEAR(summary["tokens_per_s"].get<double>(), 32 / summary["ms_per_step_median"].get<double>() * 1000,
                0.01 * summary["tokens_per_s"].get<double>());
    EXPECT_GT(summary["peak_memory_bytes"].get<std::int64_t>(), 10'000'000);
    EXPECT_GT(summary["peak_allocated_bytes"].get<std::int64_t>(), 0);
    EXPECT_LT(summary["peak_allocated_bytes"].get<std::int64_t>(), summary["peak_memory_bytes"].get<std::int64_t>());
}

TEST_F(Training, EndsEarlyWithASentenceWhereItsValidationsFindNothingBetter) {
    const Words standingStill{"--steps",  "500",   "--early-stopping", "2", "--set", "validation-every=2", "--set", "lr=0", "--set",
                              "min-lr=0", "--set", "schedule=constant"};
    const auto summary = train(standingStill);
    EXPECT_EQ(summary["steps"], 6);
    EXPECT_THAT(summary["why"].get<std::string>(), HasSubstr("Ended early, before step 500: 2 validations in a row found no loss below"));
    EXPECT_EQ(newest()["state"], "finished");
    const auto told = cli(tiny(standingStill));
    EXPECT_THAT(told.out, HasSubstr("(early-stopping=2)."));
    expectRefused(cli(tiny({"--early-stopping", "2", "--set", "validation-fraction=0"})), {"early-stopping", "validation-fraction"}, kBadInput);
}

TEST_F(Training, WritesNullForWhatIsNotKnown) {
    const auto summary = train({"--set", "validation-every=0"});
    EXPECT_TRUE(summary["val_loss"].is_null()) << summary;
    EXPECT_TRUE(newest()["val_loss"].is_null());
}

TEST_F(Training, WritesTheSampleOfItsLastStepToTheEnd) {
    train({"--set", "sample-every=6"});
    SQLite::Database sessions(database());
    SQLite::Statement texts(sessions, "SELECT step, length(text) FROM texts WHERE complete = 1 ORDER BY step");
    std::vector<std::pair<std::int64_t, int>> found;
    while (texts.executeStep()) found.emplace_back(texts.getColumn(0).getInt64(), texts.getColumn(1).getInt());
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[1].first, 12);
    EXPECT_GT(found[1].second, 100) << "as long as the first, " << found[0].second << " characters";
}

// As after a kill between writing the checkpoint and storing that it was.
TEST_F(Training, GoesOnByItsNumberFromACheckpointThatTheSessionFileDoesNotKnow) {
    train();
    {
        SQLite::Database sessions(database(), SQLite::OPEN_READWRITE);
        ASSERT_GT(sessions.exec("DELETE FROM checkpoints"), 0);
    }
    const auto resumed = cli({"train", "--resume", "1", "--db", database(), "--steps", "20", "--json"});
    ASSERT_EQ(resumed.exitCode, 0) << resumed.err;
    EXPECT_EQ(newest()["state"], "finished");
    SQLite::Database sessions(database());
    EXPECT_EQ(sessions.execAndGet("SELECT first_step FROM sessions WHERE id = 2").getInt64(), 12);
}

TEST_F(Training, IsQuietInAPipe) {
    const auto finished = cli(tiny({"--json"}));
    EXPECT_EQ(finished.err, "");
}

TEST_F(Training, ShowsAProgressBarOnATerminal) {
    auto onTerminal = options();
    onTerminal.terminal = true;
    const auto finished = cli(tiny(), onTerminal);
    EXPECT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("▓"));
    EXPECT_THAT(finished.err, HasSubstr("step 12 / 12"));
}

TEST_F(Training, SaysAtItsEndThatTheLearningRateWasTooLow) {
    const auto finished = cli(tiny({"--steps", "250", "--set", "lr=1e-8", "--set", "schedule=constant"}));
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("the learning rate (lr 1e-08) is probably too low"));
}

TEST_F(Training, ARangeTestEndsWithItsSuggestion) {
    auto onTerminal = options();
    onTerminal.terminal = true;
    const auto finished = cli(tiny({"--steps", "120", "--set", "schedule=range-test", "--set", "min-lr=1e-5", "--set", "lr=1"}), onTerminal);
    EXPECT_THAT(finished.err, HasSubstr("Range test: suggested lr"));
}

TEST_F(Training, LogsEveryStep) {
    const auto summary = train({"--step-log", path("log")});
    const auto steps = stepLog(path("log"));
    ASSERT_EQ(steps.size(), 12u);
    std::int64_t before = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        EXPECT_EQ(steps[i]["step"], i + 1);
        EXPECT_GT(steps[i]["t_ns"].get<std::int64_t>(), before);
        before = steps[i]["t_ns"];
    }
    EXPECT_EQ(steps.front()["loss"], summary["loss_first"]);
    EXPECT_EQ(steps.back()["loss"], summary["loss_last"]);
}

TEST_F(Training, TheSameSeedGivesTheSameLossesBitForBit) {
    train({"--set", "seed=7", "--step-log", path("a")});
    train({"--set", "seed=7", "--step-log", path("b")});
    train({"--set", "seed=8", "--step-log", path("c")});
    ASSERT_EQ(losses(path("a")).size(), 12u);
    EXPECT_EQ(losses(path("a")), losses(path("b")));
    EXPECT_NE(losses(path("a")), losses(path("c")));
}

TEST_F(Training, ARunWithoutRecordingHasTheSameLossesAndLeavesNoDatabase) {
    train({"--step-log", path("a"), "--db", path("other.db")});
    const auto summary = train({"--no-record", "--step-log", path("b")});
    EXPECT_EQ(losses(path("a")), losses(path("b")));
    EXPECT_EQ(summary["session"], 0);
    EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(Training, ResumesWithTheIdenticalLosses) {
    const auto whole = train({"--checkpoint-every", "6", "--step-log", path("whole")});
    const auto id = std::to_string(whole["session"].get<std::int64_t>());
    const auto listed = Json::parse(cli({"checkpoint", "list", id, "--db", database(), "--json"}).out);
    ASSERT_FALSE(listed.empty());
    EXPECT_EQ(listed.front()["step"], 6);
    const std::string folder = listed.front()["path"];

    const auto finished = cli({"train", "--resume", folder, "--db", database(), "--step-log", path("rest")});
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    const auto all = losses(path("whole")), rest = losses(path("rest"));
    ASSERT_GE(rest.size(), 6u);
    EXPECT_EQ(stepLog(path("rest")).front()["step"], 7);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(rest[i], all[6 + i]) << "step " << 7 + i;
    EXPECT_EQ(session(newest()["id"])["resumed_from"], folder);

    expectRefused(cli({"train", "--preset", "gpt2-small", "--resume", folder, "--db", database()}), {"tiny-cpu", "gpt2-small"}, 3);
    const auto shown = Json::parse(cli({"checkpoint", "show", folder, "--json"}).out);
    EXPECT_EQ(shown["step"], 6);
    EXPECT_EQ(shown["config"]["layers"], 1);
}

TEST_F(Training, WhoseLastUpdateBrokeTheWeightsHasFailed) {
    // Rows of an embedding that is no head too, and whose tokens no batch had, have no gradient at all: 0 / 0 without an epsilon.
    const Finished finished = cli(tiny({"--steps", "1", "--set", "epsilon=0", "--set", "batch-size=1", "--set", "tied-head=off", "--json"}));
    EXPECT_EQ(finished.exitCode, kTraining) << finished.err;
    EXPECT_EQ(newest()["state"], "failed");
}

TEST_F(Training, ThatIsResumedRefusesFlipsBehindItsEnd) {
    train({"--steps", "3", "--checkpoint-every", "3"});
    expectRefused(cli({"train", "--resume", "1", "--steps", "6", "--db", database(), "--flip", "500:attention=manual"}),
                  {"500:attention=manual", "step 6"}, kBadInput);
}

TEST_F(Training, ListsTheCheckpointsOfASessionAndDeletesOneByItsStep) {
    const auto id = std::to_string(train({"--checkpoint-every", "6", "--set", "validation-every=6"})["session"].get<std::int64_t>());
    const auto list = [&] { return Json::parse(cli({"checkpoint", "list", id, "--db", database(), "--json"}).out); };
    ASSERT_EQ(list().size(), 2u);
    EXPECT_TRUE(list()[0]["validation_loss"].is_number());
    const std::string folder = list()[0]["path"];
    EXPECT_THAT(cli({"checkpoint", "list", id, "--db", database()}).out, HasSubstr("2 checkpoints, "));
    expectRefused(cli({"checkpoint", "delete", id, "7", "--db", database()}), {"no checkpoint of step 7"}, kNotFound);
    const std::string state = folder + "/state.json";
    std::filesystem::rename(state, state + ".away");
    std::ofstream(state) << "{";
    EXPECT_EQ(list().size(), 2u) << "one that is damaged does not hide the other";
    EXPECT_THAT(list()[0]["error"].get<std::string>(), HasSubstr("state.json"));
    EXPECT_THAT(cli({"checkpoint", "list", id, "--db", database()}).out, AllOf(HasSubstr("2 checkpoints, "), HasSubstr("state.json")));
    std::filesystem::rename(state + ".away", state);
    expectRefused(cli({"checkpoint", "delete", id, "six", "--db", database()}), {"STEP", "six"}, kBadInput);
    const auto gone = cli({"checkpoint", "delete", id, "6", "--db", database()});
    EXPECT_EQ(gone.exitCode, 0) << gone.err;
    EXPECT_THAT(gone.out, HasSubstr("The checkpoint of step 6 of session " + id + " is deleted: "));
    EXPECT_FALSE(std::filesystem::exists(folder));
    ASSERT_EQ(list().size(), 1u);
    EXPECT_EQ(list()[0]["step"], 12);
    const auto json = Json::parse(cli({"checkpoint", "delete", id, "12", "--db", database(), "--json"}).out);
    EXPECT_GT(json["bytes"].get<std::int64_t>(), 0);
}

TEST_F(Training, ResumesFromAFileOfACheckpointAndFromASessionsNewest) {
    const auto id = std::to_string(train({"--checkpoint-every", "6"})["session"].get<std::int64_t>());
    const auto listed = Json::parse(cli({"checkpoint", "list", id, "--db", database(), "--json"}).out);
    ASSERT_EQ(listed.size(), 2u);
    const std::string first = listed[0]["path"], newestOne = listed[1]["path"];
    const auto resume = [&](const std::string& from) {
        const auto finished = cli({"train", "--resume", from, "--db", database(), "--steps", "15", "--json"});
        EXPECT_EQ(finished.exitCode, 0) << finished.err;
        return session(newest()["id"])["resumed_from"].get<std::string>();
    };
    for (const char* file : {"/model.safetensors", "/state.json"}) EXPECT_EQ(resume(first + file), first);
    EXPECT_EQ(resume(id), newestOne);
    EXPECT_EQ(Json::parse(cli({"checkpoint", "show", first + "/optimizer.safetensors", "--json"}).out)["step"], 6);
}

TEST_F(Training, WritesTextFromASession) {
    const auto id = std::to_string(train({"--checkpoint-every", "12"})["session"].get<std::int64_t>());
    const Words words{"generate", "--from", id, "--db", database(), "--prompt", "In the ", "--tokens", "20", "--seed", "3"};
    const auto first = cli(words), again = cli(words);
    ASSERT_EQ(first.exitCode, 0) << first.err;
    EXPECT_THAT(first.out, testing::StartsWith("In the "));
    EXPECT_GT(first.out.size(), std::string("In the ").size() + 5);
    EXPECT_EQ(first.out, again.out);
}

// A byte model that has learned nothing writes any byte there is.
TEST_F(Training, TextOnATerminalHoldsNothingThatItWouldObeyAndAPipeGetsEveryByte) {
    const auto id = std::to_string(train({"--steps", "2", "--checkpoint-every", "2", "--set", "tokenizer=byte"})["session"].get<std::int64_t>());
    const Words words{"generate",
                      "--from",
                      id,
                      "--db",
                      database(),
                      "--prompt",
                      "\x1b]0;title\x07"
                      "caf\xc3\xa9\t",
                      "--tokens",
                      "3000",
                      "--temperature",
                      "100"};
    const auto piped = cli(words);
    ASSERT_EQ(piped.exitCode, 0) << piped.err;
    EXPECT_THAT(piped.out, testing::StartsWith("\x1b]0;title\x07"
                                               "caf\xc3\xa9\t"));
    EXPECT_NE(piped.out.find('\x1b', 12), std::string::npos) << "the model wrote none, so nothing is shown here";
    auto onTerminal = options();
    onTerminal.terminalOut = true;
    auto shown = cli(words, onTerminal);
    EXPECT_EQ(shown.exitCode, 0) << shown.err;
    std::erase(shown.out, '\r');  // the terminal's own, before each new line
    EXPECT_EQ(shown.out, printable(piped.out, true));
}

TEST_F(Training, NamesADamagedCheckpoint) {
    const auto id = std::to_string(train({"--checkpoint-every", "12"})["session"].get<std::int64_t>());
    const std::string folder = Json::parse(cli({"checkpoint", "list", id, "--db", database(), "--json"}).out).front()["path"];
    std::filesystem::resize_file(folder + "/model.safetensors", 100);
    expectRefused(cli({"train", "--resume", folder, "--db", database(), "--steps", "20"}), {folder}, 8);
    expectRefused(cli({"generate", "--from", folder}), {folder}, 8);
    write("garbled", "{");
    std::filesystem::copy_file(path("garbled"), folder + "/state.json", std::filesystem::copy_options::overwrite_existing);
    expectRefused(cli({"checkpoint", "show", folder}), {folder}, 8);
}

TEST_F(Training, KeepsNameTagsAndNotes) {
    const auto id = train({"--name", "first try", "--tag", "a", "--tag", "b", "--notes", "why not"})["session"].get<std::int64_t>();
    const auto stored = session(id);
    EXPECT_EQ(stored["name"], "first try");
    EXPECT_EQ(stored["tags"], Json::array({"a", "b"}));
    EXPECT_EQ(stored["notes"], "why not");
    EXPECT_EQ(stored["state"], "finished");
    EXPECT_EQ(stored["config"]["width"], 16);
    EXPECT_GE(stored["machine"]["cores"].get<int>(), 1);
    EXPECT_EQ(stored["summary"]["steps"], 12);
}

TEST_F(Training, ListsSessionsNewestFirst) {
    const auto first = train()["session"], second = train()["session"];
    const auto list = Json::parse(cli({"sessions", "list", "--db", database(), "--json"}).out);
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[0]["id"], second);
    EXPECT_EQ(list[1]["id"], first);
    for (const char* key : {"id", "name", "state", "steps", "started"}) EXPECT_TRUE(list[0].contains(key));
    EXPECT_THAT(cli({"sessions", "list", "--db", database()}).out, HasSubstr("just now"));
}

TEST_F(Training, CapturesStepsAndPrintsThemFromTheSession) {
    const Json summary = train({"--capture-at", "5", "--capture-steps", "3"});
    ASSERT_EQ(summary["captures"].size(), 1u) << summary;
    const auto printed = cli({"sessions", "captures", "1", "--json", "--db", database()});
    ASSERT_EQ(printed.exitCode, 0) << printed.err;
    const Json stored = Json::parse(printed.out)["captures"];
    EXPECT_EQ(stored, summary["captures"]) << "what was stored is what was told";
    EXPECT_EQ(stored[0]["first_step"], 5);
    EXPECT_EQ(stored[0]["last_step"], 7);
    EXPECT_GT(stored[0]["operations_per_step"], 0);
    std::set<std::string> kinds;
    for (const auto& row : stored[0]["rows"]) {
        kinds.insert(row["kind"]);
        EXPECT_GE(row["total_ms"], row["self_ms"]) << row;
    }
    EXPECT_TRUE(kinds.contains("attention")) << printed.out;
    EXPECT_EQ(session(1)["captures"][0]["steps"], 3);
    const auto table = cli({"sessions", "captures", "1", "--db", database()});
    EXPECT_THAT(table.out, HasSubstr("Steps 5 to 7 are captured"));
    EXPECT_THAT(table.out, HasSubstr("OPERATION"));
    SQLite::Database sessions(database());
    EXPECT_EQ(sessions.execAndGet("SELECT count(*) FROM captured_operations").getInt64(), static_cast<std::int64_t>(stored[0]["rows"].size()));
}

TEST_F(Training, SaysThatNothingWasCaptured) {
    train();
    EXPECT_THAT(cli({"sessions", "captures", "1", "--db", database()}).out, HasSubstr("Nothing was captured in session 1"));
    expectRefused(cli(tiny({"--capture-steps", "3"})), {"--capture-at"});
    expectRefused(cli(tiny({"--capture-at", "0"})), {"--capture-at"});
    expectRefused(cli({"sessions", "captures", "77", "--db", database()}), {"77"});
}

TEST_F(Training, SaysWhenThereAreNoSessionsYet) {
    const auto finished = cli({"sessions", "list"});
    EXPECT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("No sessions yet"));
    EXPECT_EQ(cli({"sessions", "list", "--json"}).out, "[]\n");
}

TEST_F(Training, RenamesDeletesAndRestores) {
    const auto id = std::to_string(train()["session"].get<std::int64_t>());
    EXPECT_EQ(cli({"sessions", "rename", id, "list", "--db", database()}).exitCode, 0);
    EXPECT_EQ(newest()["name"], "list");
    EXPECT_EQ(cli({"sessions", "delete", id, "--db", database()}).exitCode, 0);
    EXPECT_TRUE(newest().is_null());
    EXPECT_EQ(cli({"sessions", "restore", id, "--db", database()}).exitCode, 0);
    EXPECT_EQ(newest()["name"], "list");
    EXPECT_EQ(cli({"sessions", "delete", id, "--db", database()}).exitCode, 0);
    EXPECT_EQ(cli({"sessions", "purge", "--db", database()}).exitCode, 0);
    expectRefused(cli({"sessions", "restore", id, "--db", database()}), {id}, 4);
}

TEST_F(Training, ExportsEveryStepAsCsv) {
    const auto id = std::to_string(train()["session"].get<std::int64_t>());
    const auto shown = cli({"sessions", "export-csv", id, "--db", database()});
    EXPECT_THAT(shown.out, testing::StartsWith("run,step,time,metric,value\n"));
    std::istringstream lines(shown.out);
    std::size_t lossLines = 0;
    for (std::string line; std::getline(lines, line);) lossLines += line.find(",loss,") != std::string::npos ? 1 : 0;
    EXPECT_EQ(lossLines, 12u);
    EXPECT_EQ(cli({"sessions", "export-csv", id, path("out.csv"), "--db", database()}).exitCode, 0);
    EXPECT_EQ(read(path("out.csv")), shown.out);
    expectRefused(cli({"sessions", "export-csv", id, path("no/folder.csv"), "--db", database()}), {"no/folder.csv"}, 7);
}

TEST_F(Training, SaysWhenStdoutCannotBeWritten) {
    Process::Options shell = options();
    const auto finished = Process({"/bin/sh", "-c", std::string(STEPSCOPE_CLI) + " switches --json > /dev/full"}, shell).wait();
    expectRefused(finished, {"output"}, 7);
}

}  // namespace
}  // namespace stepscope::test
