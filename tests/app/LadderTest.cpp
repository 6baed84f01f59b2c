// `ladder`: rungs, the table, what is kept of it and what a kill leaves, by the real program.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "core/events/Event.h"
#include "core/events/Study.h"
#include "sessions/SessionStore.h"
#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

class LadderCli : public CliFixture {
protected:
    Words words(const Words& more) const { return measuring("ladder", more); }
    std::string two() const { return write("two.yaml", "bottom: {set: amp=off fusion=off}\nrungs:\n  - zero-grad=zero\n  - fusion=kernels\n"); }
    Json study(std::int64_t id) const { return session(id)["study"]; }
    static Json rowOf(const Json& study, const std::string& role) {
        for (const auto& row : study["rows"])
            if (row["role"] == role) return row;
        return nullptr;
    }
};

TEST_F(LadderCli, EndsWithOneLineOfJsonAndIsShownAgainAsASessionOfItsOwnKind) {
    const Finished finished = cli(words({two(), "--budget", "24", "--json", "--report", path("r.html")}));
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    const Json said = lastLine(finished);
    EXPECT_EQ(said["ladder"], "two");
    const std::string html = read(path("r.html"));
    EXPECT_THAT(html, testing::AllOf(testing::HasSubstr("</html>"), testing::HasSubstr("zero-grad=zero"), testing::HasSubstr("ladder.yaml"),
                                     testing::HasSubstr("Rung by rung")));
    const Finished markdown = cli({"report", std::to_string(said["session"].get<int>()), "--db", database()});
    EXPECT_EQ(markdown.exitCode, 0) << markdown.err;
    EXPECT_THAT(markdown.out, testing::AllOf(testing::HasSubstr("## Rung by rung"), testing::HasSubstr("stepscope-cli ladder ladder.yaml")));
    const std::string id = std::to_string(said["session"].get<int>());
    const Json whole = Json::parse(cli({"report", id, "--db", database(), "--format", "json"}).out);
    ASSERT_TRUE(whole["every_pair"].contains("1")) << whole;
    EXPECT_EQ(whole["ladder_file"], read(two())) << "what the line that repeats it calls ladder.yaml";
    EXPECT_TRUE(whole["machine"]["gpus"].is_array());
    EXPECT_THAT(whole["method"].get<std::string>(), testing::HasSubstr("self-normalised confidence sequence"));
    const Finished rung = cli({"report", id, "--db", database(), "--format", "json", "--experiment", "1"});
    ASSERT_EQ(rung.exitCode, 0) << rung.err;
    EXPECT_EQ(Json::parse(rung.out)["every_pair"], whole["every_pair"]["1"]) << "the first rung's own experiment";
    EXPECT_EQ(Json::parse(rung.out)["of"], 4);
    EXPECT_THAT(Json::parse(rung.out)["method"].get<std::string>(), testing::HasSubstr("self-normalised confidence sequence"));
    const Finished second = cli({"report", id, "--db", database(), "--experiment", "2"});
    EXPECT_THAT(second.out, testing::HasSubstr("experiment 2 of the 4 that session " + id + " holds"));
    expectRefused(cli({"report", id, "--db", database(), "--experiment", "5"}), {"holds 4 experiments", "5"}, kBadInput);
    const auto events = SessionReader::open(database()).value()->measurements(said["session"]).value();
    const auto firstOf = [&](auto is) { return std::ranges::find_if(events, is) - events.begin(); };
    const auto waiting = firstOf([](const Event& event) {
        const auto* row = std::get_if<StudyRow>(&event);
        return row != nullptr && row->state == study::kWaiting;
    });
    EXPECT_LT(waiting, firstOf([](const Event& event) { return std::holds_alternative<BlockDone>(event); }))
        << "all rungs are seen before the first is timed";
    EXPECT_GT(firstOf([](const Event& event) {
                  const auto* row = std::get_if<StudyRow>(&event);
                  return row != nullptr && row->role == study::kBottom && row->state == study::kMeasured;
              }),
              firstOf([](const Event& event) { return std::holds_alternative<BlockDone>(event); }))
        << "nothing is called measured before it is timed";
    ASSERT_EQ(said["rows"].size(), 5u) << "bottom, two rungs, the top, the top without the first";
    EXPECT_EQ(said["rows"][1]["settings"]["zero-grad"], "zero");
    for (const auto& row : said["rows"]) {
        EXPECT_EQ(row["state"], "measured") << row;
        EXPECT_GT(row["ms_per_step"], 0);
        EXPECT_GT(row["tokens_per_s"], 0);
        if (row["role"] == "bottom") continue;
        EXPECT_GT(row["ratio"], 0);
        EXPECT_GT(row["pairs"], 0);
    }
    EXPECT_EQ(said["ratio"], rowOf(said, "top")["ratio"]);
    EXPECT_LT(said["seconds"], 60);
    const Json kept = session(said["session"]);
    EXPECT_EQ(kept["kind"], "ladder");
    EXPECT_EQ(kept["state"], "finished");
    EXPECT_EQ(kept["study"]["rows"], said["rows"]);
    const Finished text = cli({"sessions", "show", std::to_string(said["session"].get<int>()), "--db", database()});
    EXPECT_EQ(text.exitCode, 0);
    EXPECT_THAT(text.out, testing::AllOf(testing::HasSubstr("THE RUNG BELOW"), testing::HasSubstr("the top beside the bottom")));
}

TEST_F(LadderCli, ARungThatDoesSomethingIsMeasuredAlsoAboveAValueThatDoesNothing) {
    const std::string file = write("on.yaml", "bottom: {set: fusion=off fused-loss=off}\nrungs:\n  - fused-loss=on\n  - zero-grad=zero\n");
    const Finished plan = cli(words({file, "--plan"}));
    ASSERT_EQ(plan.exitCode, 0) << plan.err;
    EXPECT_THAT(plan.out, testing::AllOf(testing::Not(testing::HasSubstr("does nothing")), testing::HasSubstr("measurements"))) << plan.out;
    const Finished back = cli(words({write("off.yaml", "bottom: {set: fusion=off fused-loss=auto}\nrungs:\n  - fused-loss=off\n"), "--plan"}));
    EXPECT_THAT(back.out, testing::HasSubstr("does nothing while fusion is off")) << back.out;
}

TEST_F(LadderCli, RungsThatDoNothingOrCannotRunHereStayWithTheirReason) {
    const std::string file = write("idle.yaml", "- amp=off\n- device=cuda:7\n- grad-clip=0.5\n- zero-grad=zero\n");
    const Finished plan = cli(words({file, "--plan", "--set", "fusion=step"}));
    ASSERT_EQ(plan.exitCode, 0) << plan.err;
    EXPECT_THAT(plan.out, testing::AllOf(testing::HasSubstr("It changes nothing"), testing::HasSubstr("cuda:7"),
                                         testing::HasSubstr("does nothing beside"), testing::HasSubstr("1 measurement, about")));
    EXPECT_FALSE(std::filesystem::exists(database())) << "a plan measures nothing";
    const Finished finished = cli(words({write("none.yaml", "- amp=off\n- device=cuda:7\n"), "--json"}));
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    const Json said = lastLine(finished);
    EXPECT_EQ(said["rows"][1]["state"], "skipped");
    EXPECT_FALSE(said["rows"][2]["why"].get<std::string>().empty());
    EXPECT_TRUE(said["ratio"].is_null());
}

TEST_F(LadderCli, APlanForScriptsEndsWithOneLineOfJson) {
    const Finished plan = cli(words({write("plan.yaml", "- amp=off\n- zero-grad=zero\n"), "--plan", "--json", "--set", "fusion=off"}));
    ASSERT_EQ(plan.exitCode, 0) << plan.err;
    const Json said = lastLine(plan);
    EXPECT_EQ(said["rows"][1]["state"], "skipped");
    EXPECT_EQ(said["rows"][2]["state"], "waiting");
    EXPECT_EQ(said["rows"][2]["settings"]["zero-grad"], "zero");
    EXPECT_EQ(said["plan"]["measurements"], 1);
    EXPECT_GT(said["plan"]["seconds"], 0);
    EXPECT_FALSE(std::filesystem::exists(database())) << "a plan measures nothing";
}

TEST_F(LadderCli, APlanSaysWhatPairsTakeBeforeAnythingIsMeasured) {
    const std::string file = write("three.yaml", "bottom: {set: amp=off fusion=off}\nrungs: [zero-grad=zero, fusion=kernels, amp=bf16]\n");
    const Finished plan = cli(words({file, "--plan", "--pairs", "--json"}));
    ASSERT_EQ(plan.exitCode, 0) << plan.err;
    EXPECT_THAT(plan.out, testing::ContainsRegex("9 measurements, about [0-9.]+ minutes, [0-9.]+ of them for pairs, more where"));
    const Json said = lastLine(plan)["plan"];
    EXPECT_GT(said["seconds_of_pairs"], 60);
    EXPECT_LT(said["seconds_of_pairs"], said["seconds"]);
    const Finished without = cli(words({file, "--plan", "--json"}));
    EXPECT_THAT(without.out, testing::Not(testing::HasSubstr("of them for pairs")));
    EXPECT_EQ(lastLine(without)["plan"]["seconds_of_pairs"], 0);
}

TEST_F(LadderCli, ARungOfOtherDataIsNotCalledOneThatDoesNothing) {
    const Finished plan = cli(words({write("data.yaml", "- data=kjv\n"), "--plan"}));
    ASSERT_EQ(plan.exitCode, 0) << plan.err;
    EXPECT_THAT(plan.out, testing::AllOf(testing::HasSubstr("differ in data"), testing::Not(testing::HasSubstr("does nothing")),
                                         testing::HasSubstr("Nothing of it can be measured here.")))
        << plan.out;
}

TEST_F(LadderCli, ARungOfOtherThreadsIsMeasuredAlthoughTheyAreNoPartOfAPlan) {
    const Finished plan = cli(words({write("threads.yaml", "bottom: {set: threads=1}\nrungs:\n  - threads=2\n"), "--plan"}));
    ASSERT_EQ(plan.exitCode, 0) << plan.err;
    EXPECT_THAT(plan.out, testing::AllOf(testing::HasSubstr("will be measured"), testing::Not(testing::HasSubstr("does nothing")))) << plan.out;
}

TEST_F(LadderCli, AFirstRungThatCannotRunLeavesTheOthers) {
    const std::string file = write("first.yaml", "- batch-size=400000\n- zero-grad=zero\n");
    const Finished finished = cli(words({file, "--json", "--budget", "6", "--set", "fusion=off"}));
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    const Json said = lastLine(finished);
    EXPECT_NE(said["rows"][1]["state"], "measured");
    EXPECT_FALSE(said["rows"][1]["why"].get<std::string>().empty());
    EXPECT_EQ(said["rows"][2]["state"], "measured");
}

TEST_F(LadderCli, APlanSaysWhatItsStepsTookHereWhereTheyWereTimed) {
    const Finished before = cli(words({two(), "--plan"}));
    ASSERT_EQ(before.exitCode, 0) << before.err;
    EXPECT_THAT(before.out, testing::HasSubstr("none of it was timed here yet"));
    ASSERT_EQ(cli(words({two(), "--budget", "24"})).exitCode, 0);
    const Finished after = cli(words({two(), "--plan"}));
    ASSERT_EQ(after.exitCode, 0) << after.err;
    EXPECT_THAT(after.out, testing::HasSubstr("the slowest step of those timed here takes"));
    // The same question once more says what it came to before.
    const Finished again = cli(words({two(), "--budget", "24"}));
    ASSERT_EQ(again.exitCode, 0) << again.err;
    EXPECT_THAT(again.out, testing::AllOf(testing::HasSubstr("This was asked 1 time before here"), testing::HasSubstr("session 1: "),
                                          testing::HasSubstr("as fast as the bottom")));
}

TEST_F(LadderCli, RefusesWhatIsNoLadderInOneSentenceWithFileAndLine) {
    expectRefused(cli(words({})), {"Which ladder", "precision-to-padding"}, kBadInput);
    expectRefused(cli(words({"no-such"})), {"no-such", "precision-to-padding"}, kNotFound);
    expectRefused(cli(words({write("key.yaml", "- amp=bf16\n- colour=red\n")})), {"key.yaml, line 2", "colour"}, kBadInput);
    expectRefused(cli(words({write("value.yaml", "- amp=fp64\n")})), {"value.yaml, line 1", "fp64"}, kBadInput);
    expectRefused(cli(words({write("empty.yaml", "")})), {"no rungs"}, kBadInput);
    expectRefused(cli(words({write("twice.yaml", "- amp=bf16\n- amp=bf16\n")})), {"line 2", "line 1"}, kBadInput);
    expectRefused(cli(words({write("include.yaml", "include: include.yaml\n")})), {"include"}, kBadInput);
    std::string many;
    for (int i = 1; i <= 10'000; ++i) many += "- batch-size=" + std::to_string(i) + "\n";
    expectRefused(cli(words({write("many.yaml", many)})), {"10000 rungs", "30"}, kBadInput);
    expectRefused(cli(words({two(), "--budget", "1"})), {"--budget"}, kBadInput);
    expectRefused(cli(words({two(), "--delta", "0"})), {"--delta"}, kBadInput);
    expectRefused(cli(words({two(), "--report", path("nowhere/r.md")})), {"nowhere/r.md"}, kIo);
    Words elsewhere = words({two(), "--budget", "12"});
    elsewhere.insert(elsewhere.end(), {"--db", write("not.db", "no database at all, and longer than nothing")});
    expectRefused(cli(elsewhere), {"not.db"});
    expectRefused(cli({"ladder", "--resume", "99", "--db", database()}), {});
    expectRefused(cli({"ladder", "--resume", "x", "--db", database()}), {"x"}, kBadInput);
    expectRefused(cli({"ladder", "--resume", "", "--db", database()}), {"\"\" is no session id"}, kBadInput);
    expectRefused(cli(words({two(), "--budget", ""})), {"--budget cannot be \"\""}, kBadInput);
    expectRefused(cli({"ladder", "precision-to-padding", "--resume", "1", "--db", database()}), {"--resume"}, kBadInput);
}

TEST_F(LadderCli, AfterAKillTheRungsThatWereDecidedAreKeptAndTheOthersGoOn) {
    Words all{STEPSCOPE_CLI};
    for (const auto& word : words({two(), "--budget", "24", "--json"})) all.push_back(word);
    {
        Process process(all, options());
        // Until the first rung is decided and the second is under way.
        for (int i = 0; i < 600; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            if (!std::filesystem::exists(database())) continue;
            const Finished shown = cli({"sessions", "show", "1", "--json", "--db", database()});
            if (shown.exitCode != 0) continue;
            const Json kept = Json::parse(shown.out)["study"];
            if (kept.is_object() && kept["rows"].size() > 2 && kept["rows"][1]["state"] == "measured" && kept["rows"][2]["state"] == "running") break;
        }
        process.send(SIGKILL);
        process.wait();
    }
    const Json before = study(1);
    ASSERT_EQ(before["rows"][1]["state"], "measured");
    EXPECT_EQ(session(1)["state"], "interrupted");
    const Json planned = lastLine(cli({"ladder", "--resume", "1", "--db", database(), "--plan", "--json"}));
    EXPECT_EQ(planned["rows"][1]["measured_in"], 1);
    const auto open = std::ranges::count_if(planned["rows"], [](const Json& row) { return row["state"] == "waiting" && row["role"] != "bottom"; });
    EXPECT_EQ(planned["plan"]["measurements"].get<std::int64_t>() + planned["plan"]["waiting"].get<std::int64_t>(), open)
        << "what is kept is not measured again: " << planned;
    const Finished finished = cli({"ladder", "--resume", "1", "--db", database(), "--json"});
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    const Json said = lastLine(finished);
    // A rung that was decided is not measured again, and says where it was.
    for (const std::size_t row : {0u, 1u}) {
        for (const char* figure : {"ratio", "low", "high", "ms_per_step", "pairs", "state"})
            EXPECT_EQ(said["rows"][row][figure], before["rows"][row][figure]);
        EXPECT_EQ(said["rows"][row]["measured_in"], 1);
        EXPECT_TRUE(said["rows"][row]["measured_by"].is_null()) << "by this version too";
        EXPECT_THAT(said["rows"][row]["why"].get<std::string>(), testing::StartsWith("Measured in session 1."));
    }
    EXPECT_TRUE(said["rows"][2]["measured_in"].is_null());
    EXPECT_TRUE(said["earlier"].empty()) << "what it went on with is no answer of its own";
    EXPECT_THAT(cli({"sessions", "show", "2", "--db", database()}).out, testing::HasSubstr("Measured in session 1."));
    EXPECT_THAT(cli({"report", "2", "--db", database()}).out, testing::HasSubstr("have their pairs there"));
    for (const auto& row : said["rows"]) EXPECT_EQ(row["state"], "measured") << row;
    EXPECT_EQ(session(said["session"])["resumed_from"], "session 1");
    EXPECT_EQ(session(said["session"])["goes_on_with"], 1);
    expectRefused(cli({"ladder", "--resume", "1", "--db", database(), "--pairs"}), {"--resume"}, kBadInput);
}

TEST_F(LadderCli, StoppedByCtrlCKeepsWhatIsKnownAndOfAnotherKindIsNotResumed) {
    Words all{STEPSCOPE_CLI};
    for (const auto& word : words({two(), "--budget", "600", "--json"})) all.push_back(word);
    Process process(all, options());
    std::this_thread::sleep_for(std::chrono::seconds(6));
    process.send(SIGINT);
    const Finished finished = process.wait();
    EXPECT_EQ(finished.exitCode, kStopped) << finished.err;
    const Json said = Json::parse(finished.out);
    EXPECT_EQ(said["rows"].size(), 5u);
    EXPECT_EQ(newest()["state"], "stopped");
    train({"--steps", "3"});
    expectRefused(cli({"ladder", "--resume", "2", "--db", database()}), {"no ladder"}, kBadInput);
}

}  // namespace
}  // namespace stepscope::test
