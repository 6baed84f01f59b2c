// `lr-range` as a person meets it: the curve, the suggestion or why there is none, and what it refuses.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

class LrRangeCommand : public CliFixture {
protected:
    Words words(const Words& more) const {
        Words words{"lr-range", "--preset", "tiny-cpu", "--data",     "generated", "--set",        "layers=1",  "--set", "heads=2",
                    "--set",    "width=32", "--set",    "context=32", "--set",     "batch-size=4", "--threads", "1"};
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }
    Finished sweep(const Words& more) const { return cli(words(more)); }
    // Ended by Ctrl-C once it trains.
    Finished stopped(const Words& more) const {
        Words all{STEPSCOPE_CLI};
        for (const auto& word : words(more)) all.push_back(word);
        Process process(all, options());
        std::this_thread::sleep_for(std::chrono::seconds(4));
        process.send(SIGINT);
        return process.wait();
    }
};

TEST_F(LrRangeCommand, RefusesSettingsThatItMakesItself) {
    for (const char* setting : {"steps=25", "lr=0.01", "min-lr=0.001", "schedule=constant"})
        expectRefused(sweep({"--set", setting}), {setting, "a sweep"}, kBadInput);
}

TEST_F(LrRangeCommand, PrintsTheCurveAndARateWithinTheSweep) {
    const auto finished = sweep({"--low", "1e-5", "--high", "10", "--steps", "120", "--json"});
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    const Json printed = Json::parse(finished.out, nullptr, false);
    ASSERT_TRUE(printed.is_object()) << finished.out;
    EXPECT_GT(printed["suggestion"].get<double>(), 1e-5);
    EXPECT_LT(printed["suggestion"].get<double>(), printed["lowest"].get<double>() * 1.0001);
    ASSERT_GE(printed["curve"].size(), 20u);
    EXPECT_NEAR(printed["curve"][0]["lr"].get<double>(), 1e-5, 1e-12);
    for (std::size_t i = 1; i < printed["curve"].size(); ++i)
        EXPECT_GT(printed["curve"][i]["lr"].get<double>(), printed["curve"][i - 1]["lr"].get<double>());
    EXPECT_EQ(cli({"sessions", "list", "--json"}).out.find("\"id\""), std::string::npos) << "a sweep is not recorded";
}

TEST_F(LrRangeCommand, SaysWhatItFoundInWords) {
    const auto finished = sweep({"--low", "1e-4", "--high", "1", "--steps", "60"});
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_NE(finished.out.find("suggested lr"), std::string::npos) << finished.out;
    const auto mark = finished.out.find("<- suggested");
    ASSERT_NE(mark, std::string::npos) << "one line of the table is marked";
    EXPECT_EQ(finished.out.find("<- suggested", mark + 1), std::string::npos);
}

TEST_F(LrRangeCommand, PrintsTheCurveAlsoWhereTheLossFallsNowhereAndThenWhyItSuggestsNothing) {
    const Words farTooLow{"--low", "1e-12", "--high", "1e-11", "--steps", "30"};
    const auto words = sweep(farTooLow);
    expectRefused(words, {"fell nowhere", "1e-12", "1e-11"}, kBadInput);
    EXPECT_EQ(std::ranges::count(words.out, '\n'), 30) << words.out;
    EXPECT_THAT(words.out, testing::StartsWith("  1.00e-12  5."));
    EXPECT_EQ(words.out.find("suggested"), std::string::npos);

    Words asked = farTooLow;
    asked.push_back("--json");
    const auto json = sweep(asked);
    expectRefused(json, {"fell nowhere"}, kBadInput);
    const Json printed = Json::parse(json.out, nullptr, false);
    ASSERT_TRUE(printed.is_object()) << json.out;
    EXPECT_TRUE(printed["suggestion"].is_null());
    EXPECT_THAT(printed["why"].get<std::string>(), testing::HasSubstr("fell nowhere"));
    ASSERT_EQ(printed["curve"].size(), 30u);
    for (const auto& point : printed["curve"])
        EXPECT_TRUE(point["lr"].is_number() && point["loss"].is_number() && point["smoothed"].is_number()) << point;
}

TEST_F(LrRangeCommand, PrintsTheCurveOfTooFewStepsBeforeItAsksForMore) {
    const auto finished = sweep({"--steps", "5"});
    expectRefused(finished, {"steps"}, kBadInput);
    EXPECT_EQ(std::ranges::count(finished.out, '\n'), 5) << finished.out;
}

TEST_F(LrRangeCommand, StoppedByCtrlCSaysSoAndReadsWhatThereIs) {
    const auto many = stopped({"--steps", "1000000"});
    EXPECT_EQ(many.exitCode, kStopped) << many.err;
    EXPECT_THAT(many.err, testing::HasSubstr("The sweep was stopped after "));
    // Steps so long that twenty are never made.
    const auto few = stopped({"--set", "width=256", "--set", "layers=4", "--set", "context=512", "--set", "batch-size=16", "--json"});
    EXPECT_EQ(few.exitCode, kStopped) << few.err;
    EXPECT_THAT(few.err, testing::HasSubstr("which suggest no rate"));
    EXPECT_THAT(few.err, testing::Not(testing::HasSubstr("make at least")));
    const Json printed = Json::parse(few.out);
    EXPECT_EQ(printed["stopped"], true);
    EXPECT_TRUE(printed["suggestion"].is_null());
}

TEST_F(LrRangeCommand, RefusesASweepThatIsNone) {
    expectRefused(sweep({"--low", "1", "--high", "1e-3"}), {"min-lr"});
    expectRefused(sweep({"--low", "fast"}), {"min-lr", "fast"});
}

}  // namespace
}  // namespace stepscope::test
