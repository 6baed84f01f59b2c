// `diagnose`: what it knows before a run, what it advises and what it says to bad input, by the real program.
#include <gmock/gmock.h>

#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

class Diagnose : public CliFixture {
protected:
    Words words(const Words& more) const {
        Words all = tiny(more);
        all.front() = "diagnose";
        return all;
    }
    static Json lastLine(const Finished& finished) { return Json::parse(finished.out.substr(finished.out.rfind('\n', finished.out.size() - 2) + 1)); }
    Json answer(Words more) const {
        more.push_back("--json");
        const Finished finished = cli(words(more));
        EXPECT_EQ(finished.exitCode, 0) << finished.err;
        return lastLine(finished);
    }
    static Json advice(const Json& said, const std::string& rule) {
        for (const Json& one : said["advice"])
            if (one["rule"] == rule) return one;
        return nullptr;
    }
};

TEST_F(Diagnose, TellsMachineDataMemoryAndTimeAsOneLineOfJson) {
    const Json said = answer({"--steps", "1000", "--no-record"});
    EXPECT_GT(said["machine"]["cores"], 0);
    EXPECT_GT(said["disk"]["free_bytes"], 0);
    EXPECT_GT(said["disk"]["checkpoint_bytes"], 12 * said["parameters"].get<std::int64_t>() - 1);
    EXPECT_EQ(said["text"]["ids"], 256);
    EXPECT_NEAR(said["text"]["epochs"].get<double>(), 1000 * 32.0 / said["text"]["train_tokens"].get<double>(), 1e-9);
    EXPECT_TRUE(said["memory"]["fits"]);
    EXPECT_GT(said["memory"]["batch_that_fits"], 1000);
    EXPECT_GT(said["switches"].size(), 25u);
    EXPECT_TRUE(said["runs"]);
    const Json& estimate = said["estimate"];
    EXPECT_EQ(estimate["timed_steps"], 5);
    EXPECT_EQ(estimate["steps"], 1000);
    EXPECT_LE(estimate["low"], estimate["seconds"]);
    EXPECT_LE(estimate["seconds"], estimate["high"]);
    EXPECT_NEAR(
        estimate["seconds"].get<double>(),
        (1000 * estimate["ms_per_step"].get<double>() + estimate["validations"].get<double>() * estimate["validation_ms"].get<double>()) / 1e3, 1e-6);
    EXPECT_GT(said["peaks"]["float32_flop_per_s"], 1e8);
    EXPECT_FALSE(std::filesystem::exists(database())) << "nothing is recorded";
}

TEST_F(Diagnose, GivesAdviceWithItsEvidenceAndTheLineThatTestsIt) {
    const Json said = answer({"--set", "optimizer=loop", "--set", "host-memory=system", "--set", "validation-every=1"});
    const Json one = advice(said, "validation-share");
    ASSERT_FALSE(one.is_null());
    EXPECT_FALSE(one["evidence"].empty());
    EXPECT_EQ(one["test"], "validation-every=2");
    EXPECT_TRUE(one["ab"].is_null()) << "steps alone are timed";
    const Json other = advice(said, "unfused-optimizer");
    ASSERT_FALSE(other.is_null()) << said["advice"];
    EXPECT_THAT(other["ab"].get<std::string>(), testing::AllOf(testing::StartsWith("stepscope-cli ab "), testing::HasSubstr("--b optimizer="),
                                                               testing::HasSubstr("--set host-memory=system")));
    for (const Json& each : said["advice"]) EXPECT_FALSE(each["evidence"].empty()) << each;
}

TEST_F(Diagnose, WithNothingTimedKnowsTheRest) {
    const Json said = answer({"--time-steps", "0"});
    EXPECT_TRUE(said["estimate"].is_null());
    EXPECT_TRUE(said["bench"].is_null());
    EXPECT_GT(said["parameters"], 0);
    EXPECT_EQ(said["advice"][0]["rule"], "threads") << "one thread on a machine of more";
}

TEST_F(Diagnose, LearnsFromAStoredRunOfTheseSettings) {
    train({"--set", "lr=0.001", "--steps", "60", "--set", "grad-clip=0.0001", "--set", "validation-every=0"});
    const Finished finished = cli({"diagnose", "--session", "1", "--db", database(), "--time-steps", "0", "--json"});
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    const Json said = lastLine(finished);
    EXPECT_EQ(said["settings"]["width"], 16);
    const Json one = advice(said, "clips-always");
    ASSERT_FALSE(one.is_null()) << said["advice"];
    EXPECT_EQ(one["test"], "grad-clip=0.0002");
    EXPECT_THAT(one["ab"].get<std::string>(), testing::HasSubstr("--set width=16"));
}

TEST_F(Diagnose, ItsEstimateIsKeptWithTheNextRunOfTheseSettingsAndHeldAgainstWhatItTook) {
    const Json said = answer({"--steps", "400"});
    const Json ran = train({"--steps", "400"});
    ASSERT_TRUE(ran["forecast"].is_object()) << ran;
    EXPECT_EQ(ran["forecast"]["source"], "5 timed steps");
    EXPECT_NEAR(ran["forecast"]["seconds"].get<double>(), said["estimate"]["seconds"].get<double>(), 1e-6);
    const double took = ran["forecast"]["measured_seconds"];
    EXPECT_GT(took, 0);
    EXPECT_NEAR(ran["forecast"]["error"].get<double>(), took / ran["forecast"]["seconds"].get<double>() - 1, 1e-9);
    const Json kept = session(1);
    EXPECT_EQ(kept["forecast"], ran["forecast"]);
    EXPECT_THAT(kept["log"].dump(), testing::AllOf(testing::HasSubstr("Expected to take"), testing::HasSubstr("Foretold: ")));
}

TEST_F(Diagnose, WhatWasForetoldOfTimeAndMemoryStandsBesideWhatWasMeasuredWithTheError) {
    const Json first = answer({"--steps", "400"});
    const Json& timed = first["memory"];
    EXPECT_GT(timed["timed_peak_bytes"].get<double>(), 0);
    EXPECT_NEAR(timed["error"].get<double>(), timed["timed_peak_bytes"].get<double>() / first["bench"]["predicted_bytes"].get<double>() - 1, 1e-9);
    EXPECT_TRUE(first["foretold"]["runs"].empty());
    const Json ran = train({"--steps", "400"});
    const Json kept = session(1);
    const Json& memory = kept["memory_forecast"];
    ASSERT_TRUE(memory.is_object()) << kept;
    EXPECT_GT(memory["predicted_bytes"].get<double>(), 0);
    EXPECT_NEAR(memory["error"].get<double>(), memory["peak_bytes"].get<double>() / memory["predicted_bytes"].get<double>() - 1, 1e-9);
    EXPECT_THAT(cli({"sessions", "show", "1", "--db", database()}).out,
                testing::AllOf(testing::HasSubstr(" checkpoints took "), testing::HasSubstr("foretold for tensors; the most at a time was")));
    // Of runs like the one that is asked of, and of the one that is named.
    for (const Json& told :
         {answer({"--time-steps", "0"}), lastLine(cli({"diagnose", "--session", "1", "--db", database(), "--time-steps", "0", "--json"}))}) {
        ASSERT_EQ(told["foretold"]["runs"].size(), 1u) << told;
        const Json& run = told["foretold"]["runs"][0];
        EXPECT_EQ(run["session"], 1);
        EXPECT_EQ(run["forecast"], ran["forecast"]);
        EXPECT_EQ(run["memory"], memory);
    }
    EXPECT_TRUE(answer({"--time-steps", "0", "--set", "width=32"})["foretold"]["runs"].empty()) << "another model";
    EXPECT_THAT(cli(words({"--time-steps", "0"})).out,
                testing::AllOf(testing::HasSubstr("Foretold   session 1: about"), testing::HasSubstr(" checkpoints took "),
                               testing::HasSubstr("foretold for tensors; the most at a time was")));
}

TEST_F(Diagnose, ARunIsForecastFromTheLastOneLikeIt) {
    EXPECT_TRUE(train({"--steps", "30"})["forecast"].is_null());
    const Json second = train({"--steps", "60", "--set", "lr=0.01"});
    EXPECT_EQ(second["forecast"]["source"], "session 1") << "another rate takes as long";
    EXPECT_TRUE(train({"--steps", "30", "--set", "width=32"})["forecast"].is_null());
    const Json flipped = train({"--steps", "60", "--flip", "20:fusion=step"});
    EXPECT_TRUE(flipped["forecast"]["measured_seconds"].is_null()) << "it was not the run that was foretold";
}

TEST_F(Diagnose, PrintsEachPartForAPerson) {
    const Finished finished = cli(words({}));
    EXPECT_EQ(finished.exitCode, 0) << finished.err;
    for (const char* word : {"Machine", "Disk", "Data", "Model", "Memory", "Time", "Peaks", "Switches", "Advice"})
        EXPECT_THAT(finished.out, testing::HasSubstr(word));
}

TEST_F(Diagnose, OfDataThatCannotBeReadStillTellsTheRestAndEndsWithTheReason) {
    Words all = words({"--data", path("nothing.txt"), "--json"});
    const Finished finished = cli(all);
    EXPECT_EQ(finished.exitCode, kNotFound);
    const Json said = lastLine(finished);
    EXPECT_FALSE(said["runs"]);
    EXPECT_FALSE(said["text"]["readable"]);
    EXPECT_GT(said["machine"]["cores"], 0);
    EXPECT_THAT(said["problems"][0].get<std::string>(), testing::HasSubstr("nothing.txt"));
    std::filesystem::create_directory(path("empty"));
    EXPECT_EQ(cli(words({"--data", path("empty")})).exitCode, kBadInput);
    EXPECT_EQ(cli(words({"--data", write("image.txt", std::string("\x89PNG\0\0\0", 7))})).exitCode, kBadInput);
}

TEST_F(Diagnose, SaysWhenTheTextThatValidatesIsTheOneThatIsTrainedOn) {
    const std::string text = write("text.txt", std::string(4000, 'a') + "b");
    const auto problems = [&](const Words& more) {
        Words all{"--time-steps", "0", "--data", text};
        all.insert(all.end(), more.begin(), more.end());
        return answer(all)["problems"].dump();
    };
    EXPECT_THAT(problems({"--set", "validation=" + text}), testing::HasSubstr("the text that is trained on"));
    EXPECT_THAT(problems({}), testing::Not(testing::HasSubstr("the text that is trained on")));
}

TEST_F(Diagnose, OfAModelThatDoesNotFitSaysSoAndWhatWouldFit) {
    const Finished finished = cli(words({"--set", "width=8192", "--set", "layers=200", "--json"}));
    EXPECT_EQ(finished.exitCode, kOutOfMemory);
    const Json said = lastLine(finished);
    EXPECT_FALSE(said["memory"]["fits"]);
    EXPECT_EQ(said["memory"]["batch_that_fits"], 0);
    EXPECT_TRUE(said["estimate"].is_null());
}

TEST_F(Diagnose, RefusesWhatCannotBeInOneSentence) {
    expectRefused(cli(words({"--time-steps", "2"})), {"--time-steps", "3"}, kBadInput);
    expectRefused(cli(words({"--seconds", "0"})), {"--seconds"}, kBadInput);
    expectRefused(cli({"diagnose", "--session", "x", "--db", database()}), {"x"});
    train();
    expectRefused(cli({"diagnose", "--session", "99", "--db", database()}), {"99"}, kNotFound);
}

}  // namespace
}  // namespace stepscope::test
