// What a run reads and leaves: checkpoints that strangers changed, weights that others wrote, texts that were edited, validation on data of one's
// own, and what is printed into a pipe.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::Not;
namespace fs = std::filesystem;

class Files : public CliFixture {
protected:
    // The folder of a session's newest checkpoint.
    std::string newestCheckpointOf(std::int64_t id) const {
        const auto listed = Json::parse(cli({"checkpoint", "list", std::to_string(id), "--db", database(), "--json"}).out);
        return listed.empty() ? std::string() : listed.back()["path"].get<std::string>();
    }
    Finished resume(const Words& more) const {
        Words words{"train", "--resume", "1", "--db", database()};
        words.insert(words.end(), more.begin(), more.end());
        return cli(words);
    }
    static std::string letters(const std::string& alphabet, std::size_t count) {
        std::string text;
        for (std::size_t i = 0; i < count; ++i) text += alphabet[(i * i + i / 7) % alphabet.size()];
        return text;
    }
};

TEST_F(Files, ACheckpointsStoredSettingsAreCheckedAsSetChecksThem) {
    train();
    const std::string state = newestCheckpointOf(1) + "/state.json";
    const std::string whole = read(state);
    for (const auto& [key, value] : std::vector<std::pair<std::string, Json>>{{"amp", 7},
                                                                              {"fused-qkv", 5},
                                                                              {"layers", -1},
                                                                              {"heads", 0},
                                                                              {"threads", 1'000'000'000},
                                                                              {"dropout", 5},
                                                                              {"lr", -1},
                                                                              {"batch-size", -3},
                                                                              {"norm", "batch"}}) {
        Json changed = Json::parse(whole);
        auto& config = changed["config"];
        (config["switches"].contains(key) ? config["switches"] : config)[key] = value;
        std::ofstream(state) << changed;
        expectRefused(resume({"--steps", "20", "--no-record"}), {key, state}, kDamaged);
        expectRefused(cli({"checkpoint", "show", "1", "--db", database()}), {key, state}, kDamaged);
    }
    std::ofstream(state) << whole;
    EXPECT_EQ(resume({"--steps", "20", "--no-record"}).exitCode, 0);
}

TEST_F(Files, ControlCharactersOfACheckpointDoNotReachATerminal) {
    const std::string bad =
        "\x1b]0;owned\x07\x1b[2J\xc2\x9b"
        "31m.txt";
    const std::string text = write(bad, letters("abcdefgh", 4000));
    train({"--data", text});
    const std::string state = newestCheckpointOf(1) + "/state.json";
    Json changed = Json::parse(read(state));
    changed["config"]["data"] = text;
    changed["config"]["preset"] = bad;
    std::ofstream(state) << changed;
    for (const char* command : {"show", "eval"}) {
        const bool show = command == std::string("show");
        const auto told = cli(show ? Words{"checkpoint", "show", "1", "--db", database()} : Words{"eval", "--from", "1", "--db", database()});
        EXPECT_EQ(told.exitCode, 0) << told.err;
        for (const char* never : {"\x1b", "\x07", "\xc2\x9b"}) EXPECT_THAT(told.out, Not(HasSubstr(never))) << command;
        EXPECT_THAT(told.out, HasSubstr("]0;owned")) << command;
    }
}

TEST_F(Files, AResumedRunObeysANewSeedAndSaysSo) {
    train({"--step-log", path("first")});
    ASSERT_EQ(resume({"--steps", "16", "--step-log", path("same")}).exitCode, 0);
    const auto other = resume({"--steps", "16", "--set", "seed=5", "--step-log", path("other")});
    ASSERT_EQ(other.exitCode, 0) << other.err;
    EXPECT_THAT(other.err, HasSubstr("seed 5"));
    EXPECT_NE(losses(path("same")), losses(path("other")));
    EXPECT_EQ(session(newest()["id"])["config"]["seed"], 5);
}

using Settings = std::vector<std::pair<std::string, Json>>;

std::string wordOf(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

// Of the model that a checkpoint holds: another value is refused.
Settings ofAnotherModel() {
    return {{"layers", 2},
            {"heads", 1},
            {"width", 32},
            {"qkv", "split"},
            {"activation", "swiglu"},
            {"tied-head", "off"},
            {"norm-placement", "post"},
            {"norm", "rmsnorm"},
            {"positions", "rope"},
            {"bias", "off"}};
}

// Obeyed, all in one run.
Settings obeyedTogether() {
    return {{"dropout", 0.25},
            {"label-smoothing", 0.125},
            {"schedule", "linear"},
            {"lr", 0.0625},
            {"min-lr", 0.03125},
            {"warmup", 0},
            {"weight-decay", 0.5},
            {"beta1", 0.5},
            {"beta2", 0.75},
            {"epsilon", 0.125},
            {"seed", 9},
            {"validation-tokens", 64},
            {"batch-size", 3},
            {"grad-accumulation", 2},
            {"grad-clip", 0.5},
            {"fusion", "kernels"},
            {"checkpoint-every", 4},
            {"keep", 2},
            {"sample-every", 0},
            {"optimizer", "loop"}};
}

// Another value of a switch than it has now, as `switches --json` lists them; of words one that can be used here where there is one.
std::string anotherValue(const Json& entry, const Json& now) {
    const Json& values = entry["values"];
    if (!values.is_array()) return values["type"] == "real" ? "0.5" : wordOf(now) == "8" ? "4" : "8";
    std::string found;
    for (const auto& value : values) {
        auto word = value.get<std::string>();
        if (word == wordOf(now)) continue;
        if (!entry["refused"].contains(word)) return word;
        found = word;
    }
    return found;
}

TEST_F(Files, AResumedRunRefusesAnotherModelByTheKeyThatDiffers) {
    train();
    for (const auto& [key, value] : ofAnotherModel())
        expectRefused(resume({"--steps", "20", "--no-record", "--set", key + "=" + wordOf(value)}),
                      {"a model with another " + key, "leave " + key + " as it was"}, kBadInput);
    expectRefused(resume({"--steps", "20", "--no-record", "--set", "vocabulary=300"}), {"vocabulary of 256", "300"}, kBadInput);
}

// What is stored of the resumed session is what it was told, and the steps show what can be seen of it there.
TEST_F(Files, AResumedRunObeysEveryKeyThatIsNotOfTheModel) {
    train();
    Words words{"--steps", "16", "--step-log", path("log")};
    for (const auto& [key, value] : obeyedTogether())
        for (const std::string& word : {std::string("--set"), key + "=" + wordOf(value)}) words.push_back(word);
    const auto finished = resume(words);
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    const Json config = session(newest()["id"])["config"];
    for (const auto& [key, value] : obeyedTogether()) EXPECT_EQ(config[key], value) << key;
    const auto steps = stepLog(path("log"));
    ASSERT_EQ(steps.size(), 4u) << "the twelve before were made";
    EXPECT_GE(steps.back()["lr"].get<double>(), 0.03125) << "the new floor";
}

// Stored as told, and trained so too: each alone gives other losses than those of the run that goes on as it was.
TEST_F(Files, AResumedRunTrainsByEachKeyThatMovesTheLoss) {
    train({"--set", "schedule=constant", "--set", "lr=0.001"});
    const auto resumedWith = [&](const std::string& setting) {
        Words words{"--steps", "16", "--no-record", "--step-log", path("log")};
        if (!setting.empty()) words.insert(words.end(), {"--set", setting});
        const auto finished = resume(words);
        EXPECT_EQ(finished.exitCode, 0) << setting << ": " << finished.err;
        return losses(path("log"));
    };
    const auto unchanged = resumedWith("");
    ASSERT_EQ(unchanged.size(), 4u);
    EXPECT_EQ(resumedWith("lr=0.001"), unchanged);
    for (const char* setting : {"dropout=0.5", "label-smoothing=0.25", "schedule=linear", "lr=0.05", "weight-decay=5", "beta1=0.5", "beta2=0.5",
                                "epsilon=0.5", "seed=9", "batch-size=3", "grad-accumulation=2", "grad-clip=0.001"})
        EXPECT_NE(resumedWith(setting), unchanged) << setting;
}

// The program's own list of keys decides what is asked: a new setting needs a row here or above, a new switch is tried with a value of its own.
TEST_F(Files, AResumedRunObeysOrRefusesEachKeyThatTheProgramHas) {
    train();
    write("own.txt", letters("abcdefgh", 4000));
    std::map<std::string, std::string> obeyed{{"data", "random"},  {"validation-fraction", "0.25"}, {"validation", path("own.txt")},
                                              {"steps", "15"},     {"scale-growth", "100"},         {"threads", "2"},
                                              {"keep-best", "on"}, {"checkpoint-at-end", "off"},    {"early-stopping", "3"}};
    const std::map<std::string, std::pair<std::string, std::string>> refused{{"tokenizer", {"char", "vocabulary of 256"}},
                                                                             {"separator", {"endoftext", "separator"}},
                                                                             {"init", {"/nowhere", "leave init as it was"}},
                                                                             {"init-partial", {"on", "leave init-partial as it was"}},
                                                                             {"keep-zeros", {"on", "prune them first"}}};
    std::set<std::string> known{"preset", "vocabulary"};  // a name that stands for settings; and refused above
    for (const auto& [key, value] : ofAnotherModel()) known.insert(key);
    for (const auto& [key, value] : obeyedTogether()) known.insert(key);
    const Json before = session(1)["config"];
    std::set<std::string> switches;
    for (const auto& entry : Json::parse(cli({"switches", "--json", "--preset", "tiny-cpu"}).out)) {
        const auto id = entry["id"].get<std::string>();
        if (!known.contains(id) && switches.insert(id).second) obeyed[id] = anotherValue(entry, before[id]);
    }
    ASSERT_FALSE(switches.empty());
    for (const auto& [key, value] : before.items())
        EXPECT_TRUE(known.contains(key) || obeyed.contains(key) || refused.contains(key)) << key << ": whether it is obeyed, nobody asks";

    const auto resumedWith = [&](const std::string& key, const std::string& value) {
        return resume({"--set", "steps=14", "--set", key + "=" + value, "--json"});
    };
    for (const auto& [key, row] : refused) expectRefused(resumedWith(key, row.first), {row.second}, kBadInput);
    for (const auto& [key, value] : obeyed) {
        const auto finished = resumedWith(key, value);
        // A switch that this machine, or the others, do not go with is refused by its name.
        if (finished.exitCode != 0 && switches.contains(key)) {
            EXPECT_THAT(finished.err, HasSubstr(key));
            EXPECT_EQ(finished.signal, 0) << key;
            continue;
        }
        ASSERT_EQ(finished.exitCode, 0) << key << ": " << finished.err;
        const Json stored = session(Json::parse(finished.out)["session"])["config"];
        EXPECT_EQ(wordOf(stored[key]), value) << key;
    }
}

TEST_F(Files, AResumedRunRefusesAnotherAlphabetOfTheSameSize) {
    write("a.txt", letters("abcdefgh", 4000));
    write("b.txt", letters("ijklmnop", 4000));
    train({"--data", path("a.txt"), "--set", "tokenizer=char"});
    expectRefused(resume({"--steps", "20", "--data", path("b.txt")}), {"char tokenizer of 8 ids", "other ones"}, kBadInput);
    EXPECT_EQ(resume({"--steps", "20"}).exitCode, 0);
}

TEST_F(Files, AResumedRunSaysThatItsTextHasChanged) {
    write("a.txt", letters("abcdefgh", 4000));
    train({"--data", path("a.txt")});
    const auto same = resume({"--steps", "14"});
    EXPECT_THAT(same.err, Not(HasSubstr("changed")));
    write("a.txt", letters("abcdefgh", 4100));
    const auto edited = resume({"--steps", "20"});
    EXPECT_EQ(edited.exitCode, 0) << edited.err;
    EXPECT_THAT(edited.err, AllOf(HasSubstr("a.txt"), HasSubstr("has changed")));
}

TEST_F(Files, AResumedRunSaysThatAnotherNumberOfThreadsSumsInAnotherOrder) {
    train();
    EXPECT_THAT(resume({"--steps", "14"}).err, Not(HasSubstr("thread")));
    EXPECT_THAT(resume({"--steps", "16", "--threads", "2"}).err, AllOf(HasSubstr("1 CPU thread,"), HasSubstr("another order")));
}

TEST_F(Files, WeightsOfAnotherModelAreRefusedWithAListOrTakenAsFarAsTheyFit) {
    train({"--set", "layers=2"});
    const std::string weights = newestCheckpointOf(1) + "/model.safetensors";
    expectRefused(cli(tiny({"--no-record", "--init", weights})), {weights, "no place for h.1."}, kBadInput);
    expectRefused(cli(tiny({"--no-record", "--init", weights, "--set", "norm=rmsnorm", "--set", "layers=2"})), {"ln_1.bias"}, kBadInput);
    const auto partial = cli(tiny({"--no-record", "--init", weights, "--init-partial"}));
    EXPECT_EQ(partial.exitCode, 0) << partial.err;
    EXPECT_THAT(partial.err, HasSubstr("no place for h.1."));

    const auto shaped =
        cli({"train",     "--preset", "tiny-cpu",  "--data", "generated",    "--init",  weights, "--init-shape", "--set",   "heads=2", "--set",
             "context=8", "--set",    "threads=1", "--set",  "batch-size=2", "--steps", "2",     "--db",         database()});
    ASSERT_EQ(shaped.exitCode, 0) << shaped.err;
    const auto config = session(newest()["id"])["config"];
    EXPECT_EQ(config["layers"], 2);
    EXPECT_EQ(config["width"], 16);
    EXPECT_THAT(shaped.err, HasSubstr("Of its 16 positions the first 8 are used"));
    EXPECT_THAT(shaped.err, Not(HasSubstr("how many heads"))) << "the checkpoint tells";
    const Words byItself{"train", "--preset",  "tiny-cpu", "--data",       "generated", "--init", weights, "--init-shape",
                         "--set", "threads=1", "--set",    "batch-size=2", "--steps",   "2",      "--db",  database()};
    const auto alone = cli(byItself);
    ASSERT_EQ(alone.exitCode, 0) << alone.err;
    EXPECT_EQ(session(newest()["id"])["config"]["heads"], 2) << "the preset has 4";
    EXPECT_EQ(session(newest()["id"])["config"]["context"], 16) << "no more than its positions";
    expectRefused(cli(tiny({"--no-record", "--init", weights, "--set", "layers=2", "--set", "heads=4"})), {"of 2 heads", "heads is 4"}, kBadInput);
    const std::string lone = path("lone.safetensors");
    std::filesystem::copy_file(weights, lone);
    Words ofLone = byItself;
    std::ranges::replace(ofLone, weights, lone);
    ofLone.insert(ofLone.end(), {"--set", "heads=4"});
    const auto assumed = cli(ofLone);
    EXPECT_EQ(assumed.exitCode, 0) << assumed.err;
    EXPECT_THAT(assumed.err, AllOf(HasSubstr("how many heads"), HasSubstr("heads=4 is taken")));
    expectRefused(cli(tiny({"--init-shape"})), {"--init"}, 2);
}

TEST_F(Files, TheValidationLossDoesNotDependOnHowABatchIsCut) {
    const auto validated = [&](const Words& more) {
        Words words{"--no-record", "--steps", "4", "--set", "validation-every=4"};
        words.insert(words.end(), more.begin(), more.end());
        return train(words)["val_loss"].get<double>();
    };
    const double whole = validated({"--set", "batch-size=12"});
    EXPECT_NEAR(validated({"--set", "batch-size=4", "--set", "grad-accumulation=3"}), whole, 1e-6);
    EXPECT_NEAR(validated({"--set", "batch-size=6", "--set", "grad-accumulation=2"}), whole, 1e-6);
    expectRefused(cli(tiny({"--set", "validation-batches=4"})), {"validation-tokens=128"}, kBadInput);
}

TEST_F(Files, ValidatesOnAFileOfOnesOwn) {
    write("train.txt", letters("abcdefgh", 4000));
    write("easy.txt", std::string(2000, 'a'));
    const auto own = train({"--data", path("train.txt"), "--validation", path("easy.txt"), "--steps", "60"});
    const auto split = train({"--data", path("train.txt"), "--steps", "60"});
    EXPECT_NE(own["val_loss"], split["val_loss"]);
    train({"--data", path("train.txt"), "--validation", path("train.txt"), "--steps", "2"});
    const char* same = "The validation text is the text that is trained on";
    EXPECT_THAT(session(3)["log"].dump(), testing::HasSubstr(same));
    EXPECT_THAT(session(1)["log"].dump(), testing::Not(testing::HasSubstr(same)));
    expectRefused(cli(tiny({"--validation", path("nowhere.txt")})), {"nowhere.txt"});
}

TEST_F(Files, EvaluatesACheckpointOnDataOfOnesOwn) {
    write("a.txt", letters("abcdefgh", 4000));
    train({"--data", path("a.txt"), "--steps", "40"});
    const auto finished = cli({"eval", "--from", "1", "--db", database(), "--data", path("a.txt"), "--json", "--threads", "1"});
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    const auto answer = Json::parse(finished.out);
    EXPECT_EQ(answer["tokens"], 3999);
    EXPECT_NEAR(answer["perplexity"].get<double>(), std::exp(answer["loss"].get<double>()), 1e-4);
    EXPECT_GT(answer["tokens_per_s"].get<double>(), 0);
    EXPECT_LT(answer["loss"].get<double>(), std::log(256.0));
    const auto part = Json::parse(cli({"eval", "--from", "1", "--db", database(), "--json", "--context", "7"}).out);
    EXPECT_EQ(part["tokens"], 399) << "without data: the tenth that the run validated on";
    EXPECT_EQ(Json::parse(cli({"eval", "--from", "1", "--db", database(), "--data", path("a.txt"), "--tokens", "100", "--json"}).out)["tokens"], 100);
    EXPECT_THAT(cli({"eval", "--from", "1", "--db", database()}).out, AllOf(HasSubstr("perplexity"), HasSubstr("tok/s")));
    expectRefused(cli({"eval", "--from", "1", "--db", database(), "--context", "17"}), {"context", "16"}, kBadInput);
    expectRefused(cli({"eval", "--from", "1", "--db", database(), "--data", path("nowhere")}), {"nowhere"});
}

TEST_F(Files, ThePerplexityOfManyTokensIsWrittenWithoutAnExponent) {
    train({"--steps", "1", "--set", "vocabulary=20000", "--set", "validation-every=0"});
    const auto finished = cli({"eval", "--from", "1", "--db", database(), "--tokens", "100", "--threads", "1"});
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_THAT(finished.out, testing::ContainsRegex("perplexity [12][0-9].?.?.?[0-9]{3} ")) << "as in 19 320";
}

TEST_F(Files, ACheckpointOfReadyIdsIsNotEvaluatedOnTextWhoseIdsNobodyKnows) {
    std::string ids;
    for (int i = 0; i < 4000; ++i) ids += {static_cast<char>(i * 7 % 251), static_cast<char>(i % 2)};
    write("ids.bin", ids);
    write("a.txt", letters("abcdefgh", 4000));
    train({"--data", path("ids.bin"), "--set", "vocabulary=512", "--steps", "2"});
    expectRefused(cli({"eval", "--from", "1", "--db", database(), "--data", path("a.txt")}), {"no tokenizer is known", ".bin", "--data"}, kBadInput);
    EXPECT_EQ(cli({"eval", "--from", "1", "--db", database(), "--data", path("ids.bin")}).exitCode, 0);
    EXPECT_EQ(cli({"eval", "--from", "1", "--db", database()}).exitCode, 0) << "its own data";
    expectRefused(cli(tiny({"--data", path("ids.bin"), "--set", "vocabulary=512", "--validation", path("a.txt")})), {"the ids mean other things"},
                  kBadInput);
}

TEST_F(Files, KeepsTheNewestCheckpointsAndSaysAtTheStartWhatTheyTake) {
    const auto finished = cli(tiny({"--checkpoint-every", "3", "--keep", "2", "--log-every", "6"}));
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_THAT(finished.err, AllOf(HasSubstr("4 checkpoints of"), HasSubstr("2 kept"), HasSubstr("are free")));
    std::vector<int> steps;
    for (const auto& one : Json::parse(cli({"checkpoint", "list", "1", "--db", database(), "--json"}).out)) steps.push_back(one["step"]);
    EXPECT_THAT(steps, ElementsAre(9, 12));
}

TEST_F(Files, ARunWhoseCheckpointsCannotFitTheDiskIsRefusedBeforeItsFirstStep) {
    expectRefused(cli(tiny({"--steps", "1000000000000", "--checkpoint-every", "1", "--step-log", path("log")})),
                  {"The checkpoints of this run need", "are free", "keep=", "--db"}, kIo);
    EXPECT_THAT(read(path("log")), Not(HasSubstr("loss")));
    EXPECT_EQ(cli({"sessions", "list", "--db", database(), "--json"}).out.find("\"id\""), std::string::npos) << "nothing is recorded of it";
}

// What is validated on occurs nowhere in what is learnt, so the last checkpoint is not the best there.
TEST_F(Files, KeepsTheBestCheckpointBesideTheNewestWhereAskedByItsFlag) {
    write("train.txt", letters("bcdefgh", 4000));
    write("never.txt", std::string(2000, 'a'));
    const auto keptOf = [&](const Words& more) {
        Words words = tiny({"--data", path("train.txt"), "--validation", path("never.txt"), "--checkpoint-every", "3", "--keep", "1", "--log-every",
                            "6", "--set", "schedule=constant", "--set", "lr=0.02", "--set", "tied-head=off"});
        words.insert(words.end(), more.begin(), more.end());
        const auto finished = cli(words);
        EXPECT_EQ(finished.exitCode, 0) << finished.err;
        EXPECT_THAT(finished.err, HasSubstr(more.empty() ? "1 kept" : "2 kept"));
        std::vector<int> steps;
        const std::string id = newest()["id"].dump();
        for (const auto& one : Json::parse(cli({"checkpoint", "list", id, "--db", database(), "--json"}).out)) steps.push_back(one["step"]);
        return steps;
    };
    EXPECT_THAT(keptOf({"--keep-best"}), ElementsAre(Lt(12), 12));
    EXPECT_THAT(keptOf({}), ElementsAre(12));
}

TEST_F(Files, PrintsALineEverySoManyStepsIntoAPipe) {
    const auto quiet = cli(tiny({"--no-record"}));
    EXPECT_THAT(quiet.err, Not(HasSubstr("step 4/12")));
    const auto told = cli(tiny({"--no-record", "--log-every", "4", "--set", "grad-accumulation=2"}));
    ASSERT_EQ(told.exitCode, 0) << told.err;
    for (const char* words : {"step 4/12 · loss", "step 8/12", "step 12/12", "samples/s", "tok/s", "grad norm", "lr "})
        EXPECT_THAT(told.err, HasSubstr(words));
    EXPECT_THAT(told.err, ContainsRegex("epoch 0\\.[0-9]+ of ([0-9]+:)?[0-9]+:[0-9][0-9]")) << "where it is, and the time that a whole one takes";
    EXPECT_THAT(told.err, Not(HasSubstr("step 5/12")));
    expectRefused(cli(tiny({"--log-every", "-1"})), {"log-every"}, kBadInput);
}

// The loss scale doubles after every step, until what is scaled passes the largest number of float16.
TEST_F(Files, StepsThatFp16LeavesOutAreCountedInTheLinesAndInTheSummary) {
    const Words overflowing{"--no-record", "--steps", "60", "--set", "amp=fp16", "--set", "fusion=off", "--set", "scale-growth=1"};
    Words told = tiny(overflowing);
    told.insert(told.end(), {"--log-every", "60"});
    const auto finished = cli(told);
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_THAT(finished.err, ContainsRegex("[1-9][0-9]* left out by fp16"));
    EXPECT_THAT(finished.out, ContainsRegex("[1-9][0-9]* steps left out by fp16"));
    EXPECT_GT(train(overflowing)["skipped"].get<int>(), 1);
    EXPECT_THAT(cli(tiny({"--no-record", "--log-every", "6"})).err, Not(HasSubstr("left out")));
}

TEST_F(Files, TheStepLogHasRateAndGradientNorm) {
    train({"--step-log", path("log"), "--set", "lr=1e-3", "--set", "schedule=constant"});
    for (const auto& step : stepLog(path("log"))) {
        EXPECT_EQ(step["lr"], 1e-3);
        EXPECT_GT(step["grad_norm"].get<double>(), 0);
    }
    train({"--step-log", path("unclipped"), "--set", "grad-clip=0"});
    EXPECT_TRUE(stepLog(path("unclipped")).front()["grad_norm"].is_null()) << "nobody computes it";
}

TEST_F(Files, AClosedStandardOutputDoesNotGetIntoTheStepLog) {
    std::string command = "exec \"$0\" \"$@\" --step-log '" + path("log") + "' >&-";
    Words words{"/bin/sh", "-c", command, STEPSCOPE_CLI};
    const Words more = tiny({"--no-record", "--json"});
    words.insert(words.end(), more.begin(), more.end());
    const auto finished = Process(words, options()).wait();
    EXPECT_EQ(finished.exitCode, kIo) << "its summary could not be written: " << finished.err;
    EXPECT_EQ(stepLog(path("log")).size(), 12u) << "and nothing else";
}

TEST_F(Files, NamesTheTrueLimitOfTokensToWrite) {
    train();
    for (const char* tokens : {"0", "100001"})
        expectRefused(cli({"generate", "--from", "1", "--db", database(), "--tokens", tokens}), {"tokens", "1 to 100000"}, kBadInput);
}

}  // namespace
}  // namespace stepscope::test
