// `tune`: what is recommended, what was rejected and why, and what is kept of it, by the real program.
#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

class TuneCli : public CliFixture {
protected:
    Words words(const Words& more) const { return measuring("tune", more); }
};

TEST_F(TuneCli, EndsWithOneLineOfJsonWithEveryPromisedKeyAndIsShownAgain) {
    const Finished finished = cli(words({"--budget", "0.5", "--json"}));
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    const Json said = lastLine(finished);
    for (const char* key : {"recommended", "ratio", "low", "high", "rejected", "seconds"}) EXPECT_TRUE(said.contains(key)) << key;
    EXPECT_TRUE(said["recommended"].is_object());
    EXPECT_TRUE(said.contains("loss_difference_at_equal_tokens"));
    if (!said["recommended"].empty()) {
        EXPECT_THAT(said["arithmetic"], testing::AnyOf("same", "other"));
    }
    EXPECT_TRUE(said["earlier"].empty());
    EXPECT_THAT(said["method"].get<std::string>(), testing::HasSubstr("self-normalised confidence sequence"));
    EXPECT_GT(said["rejected"].size(), 10u);
    for (const auto& one : said["rejected"]) {
        EXPECT_FALSE(one["why"].get<std::string>().empty()) << one;
        EXPECT_FALSE(one["value"].get<std::string>().empty()) << one;
        EXPECT_NE(one["value"], "8-bit") << "moments in another form are another State";
        // What changes what is learnt takes no part.
        EXPECT_THAT(one["key"],
                    testing::Not(testing::AnyOf("batch-size", "context", "grad-clip", "grad-accumulation", "device", "validation-every")));
    }
    EXPECT_LT(said["seconds"], 60);
    const Json kept = session(said["session"]);
    EXPECT_EQ(kept["kind"], "tune");
    EXPECT_EQ(kept["state"], "finished");
    EXPECT_EQ(kept["study"]["recommended"], said["recommended"]);
    EXPECT_EQ(kept["study"]["rejected"], said["rejected"]);
    const Finished text = cli({"sessions", "show", std::to_string(said["session"].get<int>()), "--db", database()});
    EXPECT_EQ(text.exitCode, 0);
    EXPECT_THAT(text.out, testing::HasSubstr("Recommended:"));
    EXPECT_THAT(text.out, testing::HasSubstr("self-normalised confidence sequence"));
    if (!said["recommended"].empty()) {
        EXPECT_THAT(text.out, testing::AllOf(testing::HasSubstr("Loss at equal tokens"), testing::HasSubstr("the present settings")));
    }
    const Finished report = cli({"report", std::to_string(said["session"].get<int>()), "--db", database(), "--format", "json"});
    ASSERT_EQ(report.exitCode, 0) << report.err;
    const Json again = Json::parse(report.out);
    EXPECT_EQ(again["recommended"], said["recommended"]);
    EXPECT_THAT(again["repeat"].get<std::string>(), testing::StartsWith("stepscope-cli tune"));
    EXPECT_THAT(again["repeat"].get<std::string>(), testing::HasSubstr("--budget 0.5"));
}

TEST_F(TuneCli, BatchSizesTakePartWhenTheyAreAllowedAndMemoryIsBounded) {
    // Before anything races, and without a session of it.
    expectRefused(cli(words({"--set", "width=512", "--set", "layers=8", "--memory", "0.01"})),
                  {"The present settings are predicted to take", "that are allowed", "batch-size"}, kBadInput);
    EXPECT_FALSE(std::filesystem::exists(database()));
    const Finished finished = cli(words({"--budget", "0.4", "--sizes", "--memory", "4", "--json", "--no-record"}));
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    const Json said = lastLine(finished);
    bool size = false;
    for (const auto& one : said["rejected"]) size = size || one["key"] == "batch-size";
    EXPECT_TRUE(size || said["recommended"].contains("batch-size"));
    EXPECT_TRUE(said["session"].is_null());
    EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(TuneCli, RefusesWhatCannotBeAskedInOneSentence) {
    expectRefused(cli(words({"--budget", "0.1"})), {"--budget cannot be 0.1 minutes", "20 seconds", "24 hours"}, kBadInput);
    expectRefused(cli(words({"--budget", "soon"})), {"--budget"}, kBadInput);
    expectRefused(cli(words({"--report", path("nowhere/r.md")})), {"nowhere/r.md"}, kIo);
    expectRefused(cli(words({"--memory", "-1"})), {"--memory"}, kBadInput);
    expectRefused(cli(words({"--memory", ""})), {"--memory cannot be \"\""}, kBadInput);
    expectRefused(cli(words({"--set", "amp=fp64"})), {"amp"}, kBadInput);
    expectRefused(cli(words({"--set", "batch-size=100000000"})), {}, kOutOfMemory);
}

TEST_F(TuneCli, StoppedByCtrlCKeepsWhatIsKnown) {
    Words all{STEPSCOPE_CLI};
    for (const auto& word : words({"--budget", "5", "--json"})) all.push_back(word);
    Process process(all, options());
    std::this_thread::sleep_for(std::chrono::seconds(6));
    process.send(SIGINT);
    const Finished finished = process.wait();
    EXPECT_EQ(finished.exitCode, kStopped) << finished.err;
    EXPECT_GT(Json::parse(finished.out)["rows"].size(), 1u);
    EXPECT_EQ(newest()["state"], "stopped");
}

}  // namespace
}  // namespace stepscope::test
