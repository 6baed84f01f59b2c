// `ab`: the question, the answer and what is kept of it, by the real program.
#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iterator>
#include <sstream>
#include <thread>

#include "core/events/ConfigJson.h"
#include "core/events/Event.h"
#include "core/events/Presets.h"
#include "sessions/record/Recorder.h"
#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

class Ab : public CliFixture {
protected:
    // Two layers, generated text: a step takes milliseconds.
    Words words(const Words& more) const { return measuring("ab", more); }
    Json answer(const Words& more) const {
        Words all = words(more);
        all.push_back("--json");
        const Finished finished = cli(all);
        EXPECT_EQ(finished.exitCode, 0) << finished.err;
        return lastLine(finished);
    }
    // Keys of the last line of JSON, whatever the answer is.
    static Words promised() {
        std::istringstream keys(
            "verdict why ratio low high pairs discarded floor floor_ratio delta seconds experiment a b reason rebuilds seed method earlier "
            "foretold_ratio seconds_to_go waterfall memory_at_peak machine_meanwhile loss_at_equal_time loss_difference_at_equal_tokens");
        return Words(std::istream_iterator<std::string>(keys), std::istream_iterator<std::string>());
    }
    static Words keysOf(const Json& object) {
        Words keys;
        for (const auto& [key, value] : object.items()) keys.push_back(key);
        return keys;
    }
    // Until the first session holds so many pairs, for a minute at most; how many it holds.
    int waitForPairs(int wanted) const {
        int pairs = 0;
        for (int i = 0; i < 240 && pairs < wanted; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(250));
            const Finished shown = cli({"sessions", "show", "1", "--db", database(), "--json"});
            if (shown.exitCode != 0) continue;
            const Json kept = Json::parse(shown.out);
            if (kept["experiment"].is_object()) pairs = kept["experiment"]["pairs"].get<int>() + kept["experiment"]["discarded"].get<int>();
        }
        return pairs;
    }
};

TEST_F(Ab, EndsWithOneLineOfJsonWithEveryPromisedKey) {
    const Json said = answer({"--a", "fusion=off", "--b", "fusion=step", "--budget", "12"});
    EXPECT_THAT(keysOf(said), testing::IsSupersetOf(promised()));
    EXPECT_THAT(said["verdict"], testing::AnyOf("faster", "slower", "equivalent", "inconclusive"));
    EXPECT_EQ(said["a"]["settings"]["fusion"], "off");
    EXPECT_EQ(said["b"]["settings"]["fusion"], "step");
    EXPECT_EQ(said["delta"], 0.01);
    EXPECT_GT(said["pairs"], 0);
    EXPECT_LE(said["seconds"], 20);
    EXPECT_GT(said["a"]["tokens_per_s"], 0);
}

TEST_F(Ab, ComparesLossesAtEqualTimeWhereThatIsAsked) {
    const Json said =
        answer({"--a", "lr=1e-3", "--b", "lr=1e-9", "--budget", "5", "--loss-after", "1", "--loss-seeds", "3", "--report", path("r.md")});
    const Json& loss = said["loss_at_equal_time"];
    ASSERT_TRUE(loss.is_object()) << said;
    EXPECT_EQ(loss["seconds"], 1);
    EXPECT_EQ(loss["seeds"], 3);
    EXPECT_GT(loss["low"], 0) << "B learns nothing, and its loss is higher";
    EXPECT_GT(loss["steps_a"], 0);
    EXPECT_THAT(said["why"].get<std::string>(), testing::HasSubstr("After 1 s of training each, with 3 seeds, the validation loss of lr="));
    EXPECT_EQ(session(said["experiment"])["experiment"]["loss_at_equal_time"], loss) << "it is stored";
    EXPECT_THAT(read(path("r.md")), testing::HasSubstr("After 1 s of training each"));
    EXPECT_TRUE(answer({"--aa", "--budget", "5"})["loss_at_equal_time"].is_null()) << "not asked";
}

TEST_F(Ab, IsKeptAsASessionOfItsOwnKindAndShownAgain) {
    const Json said = answer({"--aa", "--budget", "6"});
    const Json kept = session(said["experiment"]);
    EXPECT_EQ(kept["kind"], "experiment");
    EXPECT_EQ(kept["state"], "finished");
    EXPECT_EQ(kept["experiment"]["verdict"], said["verdict"]);
    EXPECT_EQ(kept["experiment"]["ratio"], said["ratio"]);
    EXPECT_EQ(kept["experiment"]["pairs"], said["pairs"]);
    const std::string id = std::to_string(said["experiment"].get<int>());
    const Finished samples = cli({"query", id, "SELECT count(*) AS n FROM device_samples", "--db", database(), "--json"});
    EXPECT_EQ(samples.exitCode, 0) << samples.err;
    EXPECT_GT(lastLine(samples)["rows"][0][0].get<int>(), 5) << "what the machine did meanwhile, twice a second";
    const Finished text = cli({"sessions", "show", std::to_string(said["experiment"].get<int>()), "--db", database()});
    EXPECT_EQ(text.exitCode, 0);
    EXPECT_THAT(text.out, testing::HasSubstr("One configuration beside itself:"));
    const Json again = answer({"--aa", "--budget", "5", "--seed", "9"});
    ASSERT_EQ(again["earlier"].size(), 1u);
    EXPECT_EQ(again["earlier"][0]["experiment"], said["experiment"]);
    const Json given = answer({"--aa", "fusion=step", "--budget", "5", "--no-why"});
    const std::string number = std::to_string(given["experiment"].get<int>());
    const Json report = Json::parse(cli({"report", number, "--db", database(), "--format", "json"}).out);
    for (const char* side : {"a", "b"}) {
        EXPECT_EQ(given[side]["settings"]["fusion"], "step") << "nothing else says what ran";
        EXPECT_EQ(report[side]["settings"], given[side]["settings"]);
        EXPECT_EQ(session(given["experiment"])["experiment"][side]["settings"], given[side]["settings"]);
    }
    EXPECT_EQ(session(given["experiment"])["name"], "fusion=step beside itself");
    EXPECT_TRUE(given["earlier"].empty()) << "another question";
}

TEST_F(Ab, IsWrittenAsAReportAtItsEndAndFromWhatIsStored) {
    const auto place = [&](const char* name) { return path(name); };
    const Json said = answer({"--a", "fusion=off", "--b", "fusion=step", "--budget", "6", "--report", place("r.html"), "--report", place("r.json")});
    const std::string html = read(place("r.html"));
    EXPECT_THAT(html, testing::StartsWith("<!DOCTYPE html>"));
    EXPECT_THAT(html, testing::HasSubstr("stepscope-cli ab"));
    const Json report = Json::parse(read(place("r.json")));
    EXPECT_EQ(report["verdict"], said["verdict"]);
    EXPECT_EQ(report["pairs"], said["pairs"]);
    EXPECT_EQ(report["every_pair"].size(), said["pairs"].get<std::size_t>() + said["discarded"].get<std::size_t>());
    EXPECT_EQ(report["differing"][0]["key"], "fusion");
    EXPECT_FALSE(report["machine"]["cpu"].get<std::string>().empty());
    const std::string id = std::to_string(said["experiment"].get<int>());
    const Finished markdown = cli({"report", id, "--db", database()});
    EXPECT_EQ(markdown.exitCode, 0) << markdown.err;
    EXPECT_THAT(markdown.out, testing::StartsWith("# Is B faster than A here?"));
    const Finished json = cli({"report", id, "--db", database(), "--format", "json"});
    EXPECT_EQ(Json::parse(json.out)["every_pair"], report["every_pair"]);
    // What is printed to ask it again asks the same question.
    const std::string repeat = Json::parse(json.out)["repeat"];
    EXPECT_THAT(repeat, testing::HasSubstr(" --a fusion=off --b fusion=step"));
    EXPECT_THAT(repeat, testing::HasSubstr(" --set layers=1"));
    Words again;
    std::istringstream words(repeat);
    for (std::string word; words >> word;) again.push_back(word);
    again.erase(again.begin());
    std::replace(again.begin(), again.end(), std::string("6"), std::string("5"));
    for (const char* more : {"--db", "--json"}) again.push_back(more);
    again.insert(again.end() - 1, database());
    const Finished repeated = cli(again);
    EXPECT_EQ(repeated.exitCode, 0) << repeated.err << repeat;
    EXPECT_EQ(Json::parse(repeated.out)["earlier"].size(), 1U) << "the same question: " << repeat;
    const Finished first = cli({"report", id, "--db", database(), "--format", "json"});
    EXPECT_TRUE(Json::parse(first.out)["earlier"].empty()) << "what was asked since is not earlier";
    const Json swapped = answer({"--a", "fusion=step", "--b", "fusion=off", "--budget", "5", "--no-why"});
    ASSERT_EQ(swapped["earlier"].size(), 2U) << "the same question with its sides swapped";
    EXPECT_EQ(swapped["earlier"][1]["turned"], true);
    ASSERT_TRUE(said["ratio"].is_number());
    EXPECT_NEAR(swapped["earlier"][1]["ratio"].get<double>() * said["ratio"].get<double>(), 1, 1e-9);
    // Nobody gave a seed: each tossed coins of its own, and the line that repeats one has it.
    EXPECT_NE(swapped["seed"], said["seed"]);
    EXPECT_THAT(repeat, testing::EndsWith(" --seed " + std::to_string(said["seed"].get<int>())));
    EXPECT_EQ(Json::parse(repeated.out)["seed"], said["seed"]);
}

TEST_F(Ab, WhatBothBeganFromAndWhatElseWasAskedIsStoredAndRepeated) {
    train({"--steps", "3", "--checkpoint-every", "3"});
    const Json said =
        answer({"--from", "1", "--a", "fusion=off", "--b", "fusion=step", "--budget", "5", "--loss-after", "1", "--loss-seeds", "2", "--no-why"});
    const std::string id = std::to_string(said["experiment"].get<int>());
    const Finished json = cli({"report", id, "--db", database(), "--format", "json"});
    ASSERT_EQ(json.exitCode, 0) << json.err;
    const std::string repeat = Json::parse(json.out)["repeat"];
    EXPECT_THAT(repeat, testing::HasSubstr(" --loss-after 1 --loss-seeds 2"));
    EXPECT_THAT(repeat, testing::HasSubstr(" --no-why"));
    EXPECT_THAT(repeat, testing::HasSubstr(" --from "));
    Words again;
    std::istringstream words(repeat);
    for (std::string word; words >> word;) again.push_back(word);
    again.erase(again.begin());
    for (const auto& more : {std::string("--db"), database(), std::string("--json")}) again.push_back(more);
    const Finished repeated = cli(again);
    ASSERT_EQ(repeated.exitCode, 0) << repeated.err << repeat;
    EXPECT_EQ(lastLine(repeated)["earlier"].size(), 1U) << "the same question: " << repeat;
    EXPECT_TRUE(lastLine(repeated)["loss_at_equal_time"].is_object());
    EXPECT_TRUE(answer({"--a", "fusion=off", "--b", "fusion=step", "--budget", "5"})["earlier"].empty()) << "from random weights it is another one";
}

TEST_F(Ab, AReportThatCannotBeIsSaidInOneSentence) {
    expectRefused(cli(words({"--a", "fusion=off", "--b", "fusion=step", "--report", "r.pdf"})), {"r.pdf", ".html, .md or .json"}, kBadInput);
    expectRefused(cli(words({"--a", "fusion=off", "--b", "fusion=step", "--report", path("nowhere/r.html")})),
                  {"nowhere/r.html", "cannot be written"}, kIo);
    EXPECT_FALSE(std::filesystem::exists(database())) << "nothing was measured first";
    const std::string id = std::to_string(train()["session"].get<int>());
    expectRefused(cli({"report", id, "--db", database()}), {"Session " + id, "holds no experiment"}, kBadInput);
    expectRefused(cli({"report", "4711", "--db", database()}), {"4711"});
    expectRefused(cli({"report", "x", "--db", database()}), {"x"});
}

TEST_F(Ab, NotRecordedLeavesNoDatabase) {
    const Json said = answer({"--aa", "--budget", "5", "--no-record"});
    EXPECT_TRUE(said["experiment"].is_null());
    EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(Ab, OfEqualSidesOrOtherDataIsNotComparableAndSaysWhy) {
    for (const Words& more : {Words{"--a", "amp=off", "--b", "amp=off"}, Words{"--a", "data=generated", "--b", "data=random"},
                              Words{"--a", "fused-norm=auto", "--b", "fused-norm=off"} /* nothing is fused: it is off either way */}) {
        Words all = words(more);
        all.push_back("--json");
        const Finished finished = cli(all);
        EXPECT_EQ(finished.exitCode, kBadInput);
        const Json said = Json::parse(finished.out);
        EXPECT_EQ(said["verdict"], "not-comparable");
        EXPECT_FALSE(said["why"].get<std::string>().empty());
        EXPECT_THAT(keysOf(said), testing::IsSupersetOf(promised())) << "the same as of one that was made";
        for (const char* key : {"ratio", "low", "high", "floor", "experiment", "foretold_ratio"}) EXPECT_TRUE(said[key].is_null()) << key;
        EXPECT_EQ(said["pairs"], 0);
        EXPECT_EQ(said["delta"], 0.01);
        EXPECT_EQ(said["seed"], 0) << "no coin was tossed";
    }
    Words all = words({"--a", "data=generated", "--b", "data=random"});
    all.push_back("--json");
    const Json said = Json::parse(cli(all).out);
    EXPECT_EQ(said["a"]["settings"]["data"], "generated");
    EXPECT_EQ(said["b"]["settings"]["data"], "random");
}

TEST_F(Ab, RefusesWhatCannotBeAskedInOneSentence) {
    expectRefused(cli(words({})), {"nothing to compare"}, kBadInput);
    expectRefused(cli(words({"--aa", "--a", "amp=bf16"})), {"--aa"}, kBadInput);
    expectRefused(cli(words({"--a", "amp"})), {"--a", "key=value"}, kBadInput);
    expectRefused(cli(words({"--b", "layers=1"})), {"the other has already"}, kBadInput);
    expectRefused(cli(words({"--b", "amp=fp64"})), {"--b", "amp"}, kBadInput);
    expectRefused(cli(words({"--b", "colour=red"})), {"--b", "colour"}, kBadInput);
    expectRefused(cli(words({"--b", "amp=bf16", "--budget", "1"})), {"--budget"}, kBadInput);
    expectRefused(cli(words({"--b", "amp=bf16", "--budget", "soon"})), {"--budget"}, kBadInput);
    expectRefused(cli(words({"--b", "amp=bf16", "--delta", "0"})), {"--delta"}, kBadInput);
    expectRefused(cli(words({"--b", "amp=bf16", "--fail-if-slower", "much"})), {"--fail-if-slower"}, kBadInput);
    // A script's variable that was never set is no answer to whether B may be slower.
    expectRefused(cli(words({"--b", "amp=bf16", "--fail-if-slower", ""})), {"--fail-if-slower cannot be \"\""}, kBadInput);
    const Finished nameless = cli({"ab", "--b", "amp=bf16", "--db", ""});
    expectRefused(nameless, {"stepscope-cli: --db is empty; name a file, or leave it out.\n"}, kUsage);
    expectRefused(cli(words({"--b", "device=cuda:7"})), {"--b"});
    expectRefused(cli(words({"--b", "batch-size=100000000"})), {"batch-size=100000000: "});
}

TEST_F(Ab, ExitsByTheBoundWhereAScriptAsks) {
    // A hundred times the work a token is slower for sure, the other way round it is not.
    const auto decided = [&](Words asked) {
        asked.insert(asked.end(), {"--fail-if-slower", "5", "--no-why", "--budget", "20"});
        Finished finished = cli(words(asked));
        if (finished.exitCode != kUndecided) return finished;
        asked.back() = "60";  // other programs may leave nothing of twenty seconds
        return cli(words(asked));
    };
    const Finished slower = decided({"--a", "context=16", "--b", "context=16", "layers=12"});
    EXPECT_EQ(slower.exitCode, kSlower) << slower.out;
    const Finished faster = decided({"--a", "context=16", "layers=12", "--b", "context=16"});
    EXPECT_EQ(faster.exitCode, 0) << faster.out;
    const Finished nobody = cli(words({"--aa", "--fail-if-slower", "0", "--budget", "5"}));
    EXPECT_EQ(nobody.exitCode, kUndecided) << nobody.out;
}

TEST_F(Ab, StoppedByCtrlCKeepsWhatIsKnown) {
    Words all{STEPSCOPE_CLI};
    for (const auto& word : words({"--aa", "--budget", "600", "--delta", "0.05", "--json"})) all.push_back(word);
    Process process(all, options());
    std::this_thread::sleep_for(std::chrono::seconds(6));
    process.send(SIGINT);
    const Finished finished = process.wait();
    EXPECT_EQ(finished.exitCode, kStopped) << finished.err;
    const Json said = Json::parse(finished.out);
    EXPECT_THAT(said["verdict"], testing::AnyOf("inconclusive", "equivalent"));
    EXPECT_EQ(newest()["state"], "stopped");
}

TEST_F(Ab, KilledInTheMiddleIsKeptAndSaysThatItWasCutOff) {
    Words all{STEPSCOPE_CLI};
    for (const auto& word : words({"--aa", "--budget", "40", "--delta", "0.05"})) all.push_back(word);
    Process process(all, options());
    ASSERT_GT(waitForPairs(2), 1);
    process.send(SIGKILL);
    process.wait();
    EXPECT_EQ(newest()["state"], "interrupted");
    EXPECT_GT(waitForPairs(1), 0) << "what was measured is kept";
    const Finished report = cli({"report", "1", "--db", database()});
    EXPECT_EQ(report.exitCode, 0) << report.err;
    EXPECT_THAT(report.out, testing::HasSubstr("cut off before it was over"));
}

TEST_F(Ab, KilledWhileItLooksForLossesBehindTheVerdictHasAnswered) {
    const Words asked{"--a", "fusion=off", "--b", "fusion=step", "--budget", "5"};
    Words all{STEPSCOPE_CLI};
    for (const auto& word : words(asked)) all.push_back(word);
    for (const char* word : {"--loss-after", "60", "--loss-seeds", "2"}) all.push_back(word);
    Process process(all, options());
    int answered = 0;
    for (int look = 0; look < 240 && answered == 0; ++look) {
        std::this_thread::sleep_for(std::chrono::milliseconds(250));
        const Finished found = cli({"query", "1", "SELECT count(*) AS n FROM judgements j WHERE j.over = 1", "--db", database(), "--json"});
        if (found.exitCode == 0) answered = lastLine(found)["rows"][0][0].get<int>();
    }
    ASSERT_EQ(answered, 1) << "the losses of four minutes are not waited for";
    process.send(SIGKILL);
    process.wait();
    EXPECT_EQ(newest()["state"], "interrupted");
    const Finished report = cli({"report", "1", "--db", database()});
    EXPECT_EQ(report.exitCode, 0) << report.err;
    EXPECT_THAT(report.out, testing::Not(testing::HasSubstr("cut off before it was over")));
    const Json again = answer(asked);
    ASSERT_EQ(again["earlier"].size(), 1u) << "one experiment, however often its verdict was told";
    EXPECT_EQ(again["earlier"][0]["verdict"], session(1)["experiment"]["verdict"]);
}

TEST_F(Ab, OnATerminalSaysTheVerdictWhileItStillLooksAtWhy) {
    Process::Options terminal = options();
    terminal.terminal = true;
    const Finished finished = cli(words({"--a", "fusion=off", "--b", "fusion=step", "--budget", "5"}), terminal);
    EXPECT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_THAT(finished.err, testing::ContainsRegex("fusion=step (is|beside fusion=off: )[^\r\n]* still looking at why"));
    EXPECT_THAT(finished.err, testing::Not(testing::HasSubstr(" nan ")));
    EXPECT_THAT(finished.err, testing::ContainsRegex("pair [0-9]+ · (fusion=step is [0-9.]+ times as fast as fusion=off so far |none counts yet: )"))
        << "by their values, or that every pair was left out";
    EXPECT_THAT(finished.out, testing::ContainsRegex("[0-9]+ s in all"));
    EXPECT_THAT(finished.out, testing::ContainsRegex("\nfusion=step (is [^\n]* (than|as) fusion=off |beside fusion=off: )")) << "by their values";
}

TEST_F(Ab, OfOtherBatchesSaysThatTheLossIsUnknownAndWhy) {
    const Finished finished = cli(words({"--a", "batch-size=2", "--b", "batch-size=4", "--budget", "5", "--no-why"}));
    EXPECT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_THAT(finished.out, testing::HasSubstr("Loss at equal tokens: unknown (the batches differ)."));
    EXPECT_THAT(finished.out, testing::HasSubstr("BLOCKS P10 TO P90"));
    for (const char* side : {"A", "B"})
        EXPECT_THAT(finished.out, testing::ContainsRegex(std::string("\n") + side + " +batch-size=[24] [^\n]*s to [0-9]")) << finished.out;
}

TEST_F(Ab, WaitsForADiskThatTakesNothingAndStoresAllOfItWhenItTakesAgain) {
    Words all{STEPSCOPE_CLI};
    for (const auto& word : words({"--aa", "--budget", "12", "--delta", "0.05", "--json"})) all.push_back(word);
    Process process(all, options());
    ASSERT_GT(waitForPairs(1), 0);
    {
        // To who writes, a file that another one holds is as a disk that is full: it is tried again until it works.
        SQLite::Database holder(database(), SQLite::OPEN_READWRITE);
        holder.setBusyTimeout(5000);
        holder.exec("BEGIN IMMEDIATE");
        std::this_thread::sleep_for(std::chrono::seconds(5));
        holder.exec("ROLLBACK");
    }
    const Finished finished = process.wait();
    EXPECT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_THAT(finished.err, testing::HasSubstr("locked by another program"));
    const Json said = lastLine(finished);
    EXPECT_EQ(newest()["state"], "finished");
    EXPECT_EQ(session(said["experiment"])["experiment"]["pairs"], said["pairs"]);
}

TEST_F(Ab, AFlipAtAStepLeavesItsMarkerThereAndTrainsOn) {
    const Json summary = train({"--steps", "20", "--flip", "5:amp=bf16", "--flip", "11:amp=off", "--flip", "11:zero-grad=zero"});
    EXPECT_EQ(summary["steps"], 20);
    const Json kept = newest();
    const Json switches = session(kept["id"])["switches"];
    ASSERT_EQ(switches.size(), 3u);
    EXPECT_EQ(switches[0]["step"], 4) << "the first step that runs with it is 5";
    EXPECT_EQ(switches[1]["step"], 10);
    EXPECT_EQ(switches[2]["id"], "zero-grad");
}

TEST_F(Ab, AFlipOrAMeasurementThatCannotBeIsSaidBeforeTheRun) {
    expectRefused(cli(tiny({"--flip", "amp=bf16"})), {"--flip", "STEP:KEY=VALUE"}, kBadInput);
    expectRefused(cli(tiny({"--flip", "0:amp=bf16"})), {"--flip"}, kBadInput);
    expectRefused(cli(tiny({"--flip", "5:lr=1"})), {"lr"}, kBadInput);
    expectRefused(cli(tiny({"--flip", "100000:amp=bf16"})), {"--flip", "ends after step"}, kBadInput);
    expectRefused(cli({"sessions", "list", "--db", ""}), {"--db", "empty"}, kUsage);
    expectRefused(cli({"config", "--config", ""}), {"--config", "empty"}, kUsage);
    expectRefused(cli({"config", "--config", write("two.yaml", "lr: 0.1\n---\nlr: 0.2\n")}), {"two.yaml", "more than one YAML document"}, kBadInput);
    expectRefused(cli({"config", "--config", write("bracket.yaml", "lr: 0.1\n}]\n")}), {"bracket.yaml"}, kBadInput);
    expectRefused(cli(tiny({"--measure", "5:amp=fp64"})), {"amp"}, kBadInput);
    expectRefused(cli(tiny({"--measure", "5:amp=bf16", "--measure-budget", "x"})), {"--measure-budget"}, kBadInput);
}

TEST_F(Ab, AMeasurementWithinARunIsInItsSummaryAndItsSession) {
    const Json summary = train({"--steps", "3000", "--measure", "5:fusion=kernels", "--measure-budget", "5"});
    ASSERT_TRUE(summary.contains("measured"));
    EXPECT_EQ(summary["measured"].size(), 1u);
    const Json& measured = summary["measured"][0];
    EXPECT_EQ(measured["switch"], "fusion");
    EXPECT_EQ(measured["from"], "off");
    EXPECT_EQ(measured["to"], "kernels");
    EXPECT_THAT(measured["kept"], testing::AnyOf("off", "kernels"));
    if (measured["verdict"] != "faster") {
        EXPECT_EQ(measured["kept"], "off") << "the old value stays where nothing faster was found";
    }
    EXPECT_EQ(measured["delta"], 0.01);
    EXPECT_GE(measured["discarded"], 0);
    EXPECT_TRUE(measured.contains("floor"));
    EXPECT_THAT(measured["method"].get<std::string>(), testing::HasSubstr("self-normalised"));
    EXPECT_TRUE(measured["rebuilds"].is_number_integer());
    EXPECT_GT(measured["seed"], 0);
    EXPECT_TRUE(measured["earlier"].empty());
    EXPECT_FALSE(summary.contains("refused"));
    const Json kept = session(newest()["id"]);
    EXPECT_EQ(kept["experiment"]["verdict"], summary["measured"][0]["verdict"]);
    EXPECT_EQ(kept["kind"], "run");
    const std::string id = std::to_string(newest()["id"].get<int>());
    const Finished report = cli({"report", id, "--db", database(), "--format", "json", "--experiment", "1"});
    ASSERT_EQ(report.exitCode, 0) << report.err;
    EXPECT_EQ(Json::parse(report.out)["verdict"], summary["measured"][0]["verdict"]);
    EXPECT_EQ(Json::parse(report.out)["number"], 1);
    EXPECT_EQ(Json::parse(report.out)["of"], 1);
    EXPECT_EQ(Json::parse(report.out)["differing"][0]["key"], "fusion");
    expectRefused(cli({"report", id, "--db", database(), "--experiment", "2"}), {"holds 1 experiment", "number 2"}, kBadInput);
    expectRefused(cli({"report", id, "--db", database(), "--experiment", "0"}), {"--experiment"}, kBadInput);
    expectRefused(cli({"report", id, "--db", database(), "--experiment", "first"}), {"--experiment"}, kBadInput);
    const Finished text = cli(tiny({"--steps", "3000", "--measure", "5:fusion=kernels", "--measure-budget", "5", "--log-every", "3000"}));
    EXPECT_EQ(text.exitCode, 0) << text.err;
    EXPECT_THAT(text.out, testing::HasSubstr("fusion kernels beside off: "));
    EXPECT_THAT(text.err, testing::HasSubstr(": fusion kernels beside off: ")) << "the line of the log, when it is over";
    EXPECT_THAT(text.err, testing::Not(testing::HasSubstr("B beside A")));
    EXPECT_THAT(text.out, testing::HasSubstr("A value beside itself here: "));
    EXPECT_THAT(text.out, testing::HasSubstr("Asked 1 time before here, last in session " + id));
    EXPECT_THAT(text.out, testing::ContainsRegex("Method: a self-normalised [^\n]*; [0-9]+ rebuilds? of both, coins of seed [0-9]+\\."));
}

TEST_F(Ab, AMeasurementOfOtherArithmeticIsRefusedAndSaidAndMadeWhereThatIsAgreedTo) {
    const Finished finished = cli(tiny({"--measure", "5:amp=bf16", "--flip", "8:batch-size=100000000", "--json"}));
    EXPECT_EQ(finished.exitCode, 0) << "the run goes on: " << finished.err;
    EXPECT_THAT(finished.err, testing::AllOf(testing::HasSubstr("amp stays as it is: "), testing::HasSubstr("--measure-any")));
    const Json summary = lastLine(finished);
    EXPECT_FALSE(summary.contains("measured"));
    ASSERT_TRUE(summary.contains("refused")) << summary;
    ASSERT_EQ(summary["refused"].size(), 2u);
    EXPECT_EQ(summary["refused"][0]["switch"], "amp");
    EXPECT_EQ(summary["refused"][0]["value"], "bf16");
    EXPECT_THAT(summary["refused"][0]["why"].get<std::string>(),
                testing::AllOf(testing::HasSubstr("other arithmetic"), testing::HasSubstr("--measure-any")));
    EXPECT_EQ(summary["refused"][1]["switch"], "batch-size") << "a flip that cannot be stands there too";
    EXPECT_EQ(summary["refused"][1]["value"], 100'000'000);
    EXPECT_THAT(summary["refused"][1]["why"].get<std::string>(), testing::Not(testing::HasSubstr("--measure-any")));
    const Json agreed = train({"--steps", "3000", "--measure", "5:amp=bf16", "--measure-any", "--measure-budget", "5"});
    EXPECT_FALSE(agreed.contains("refused"));
    ASSERT_TRUE(agreed.contains("measured")) << agreed;
    ASSERT_EQ(agreed["measured"].size(), 1u);
    EXPECT_EQ(agreed["measured"][0]["from"], "off");
    EXPECT_EQ(agreed["measured"][0]["to"], "bf16");
    EXPECT_THAT(cli({"train", "--help"}).out, testing::HasSubstr("--measure-any"));
}

TEST_F(Ab, OfSeveralMeasurementsOfARunTheNewestIsShownAndHowTheOthersAreSeen) {
    SessionInfo info;
    info.name = "measured twice";
    info.config = presetConfig("tiny-cpu").value();
    auto recorder = Recorder::open({.path = database()}, info);
    ASSERT_TRUE(recorder) << recorder.error().sentence;
    const std::string id = std::to_string((*recorder)->session());
    std::int64_t at = 0;
    for (const char* outcome : {"faster", "equivalent"}) {
        (*recorder)->publish(ExperimentBegan{
            .step = ++at, .at = {at}, .configA = configToJson(*info.config), .configB = configToJson(*info.config), .question = outcome});
        const double ratio = outcome == std::string("faster") ? 1.2 : 1;
        (*recorder)->publish(ExperimentJudged{.step = ++at,
                                              .at = {at},
                                              .over = true,
                                              .outcome = outcome,
                                              .ratio = ratio,
                                              .low = ratio - 0.005,
                                              .high = ratio + 0.005,
                                              .floor = 1.004,
                                              .pairs = 12});
    }
    (*recorder)->publish(StateChanged{{++at}, at, RunState::Finished, {}});
    ASSERT_TRUE((*recorder)->finish());
    const Json shown = session(std::stoll(id));
    EXPECT_EQ(shown["experiments"], 2);
    EXPECT_EQ(shown["experiment"]["verdict"], "equivalent");
    EXPECT_TRUE(shown["experiment"]["foretold_ratio"].is_null());
    const Finished text = cli({"sessions", "show", id, "--db", database()});
    EXPECT_EQ(text.exitCode, 0) << text.err;
    EXPECT_THAT(text.out, testing::HasSubstr("the newest of the 2 that it holds; `report " + id + " --experiment N`"));
    const Finished first = cli({"report", id, "--db", database(), "--format", "json", "--experiment", "1"});
    ASSERT_EQ(first.exitCode, 0) << first.err;
    EXPECT_EQ(Json::parse(first.out)["verdict"], "faster") << "what the line names does what it says";
}

TEST_F(Ab, IsUsedWithTheWordsThatHelpNames) {
    const Finished help = cli({"ab", "--help"});
    EXPECT_EQ(help.exitCode, 0);
    for (const char* word : {"--a", "--b", "--aa", "--budget", "--delta", "--seed", "--fail-if-slower", "--json", "--preset", "--set"})
        EXPECT_THAT(help.out, testing::HasSubstr(word));
    EXPECT_EQ(cli({"ab", "--nonsense"}).exitCode, kUsage);
}

}  // namespace
}  // namespace stepscope::test
