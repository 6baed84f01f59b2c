// `bench`: what it measures and prints, and what it says to bad input, by the real program.
#include <gmock/gmock.h>

#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

class Bench : public CliFixture {
protected:
    Words words(const Words& more) const {
        Words all{"bench"};
        const Words trains = tiny();
        for (std::size_t i = 1; i < trains.size(); ++i)
            if (trains[i] == "--steps")
                ++i;
            else
                all.push_back(trains[i]);
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    Json answer(Words more) const {
        more.push_back("--json");
        const Finished finished = cli(words(more));
        EXPECT_EQ(finished.exitCode, 0) << finished.err;
        return Json::parse(finished.out.substr(finished.out.rfind('\n', finished.out.size() - 2) + 1));
    }
};

TEST_F(Bench, EndsWithOneLineOfJsonWhosePartsAddUp) {
    const Json said = answer({"--steps", "20"});
    EXPECT_EQ(said["steps"], 20);
    EXPECT_EQ(said["tokens_per_step"], 2 * 16);
    EXPECT_EQ(said["samples_per_step"], 2);
    const double mean = said["ms_per_step"]["mean"];
    EXPECT_GT(mean, 0);
    EXPECT_NEAR(said["tokens_per_s"].get<double>(), 32e3 / mean, 1e-6 * 32e3 / mean);
    EXPECT_NEAR(said["samples_per_s"].get<double>(), 2e3 / mean, 1e-6 * 2e3 / mean);
    double phases = 0;
    for (const auto& [name, ms] : said["phases_ms"].items()) phases += ms.get<double>();
    EXPECT_NEAR(phases, mean, 1e-6 * mean);
    EXPECT_LE(said["ms_per_step"]["p10"], said["ms_per_step"]["median"]);
    EXPECT_LE(said["ms_per_step"]["median"], said["ms_per_step"]["p90"]);
    EXPECT_LE(said["ms_per_step"]["p90"], said["ms_per_step"]["slowest"]);
    EXPECT_GT(said["peak_bytes"], 0);
    EXPECT_GT(said["operations_per_step"], 50);
    EXPECT_GT(said["product_peak_flop_per_s"], 1e8);
    EXPECT_GT(said["share_of_product_peak"], 0);
    EXPECT_EQ(said["settings"]["width"], 16);
    EXPECT_FALSE(std::filesystem::exists(database())) << "nothing is recorded";
}

// 6 weights a weight and token: of one layer 12 width², of the head width x ids; an embedding is looked up, not multiplied.
TEST_F(Bench, CountsTheProductsOfAStep) {
    const Json said = answer({"--steps", "3"});
    EXPECT_DOUBLE_EQ(said["product_flop_per_step"], 6.0 * 32 * (12 * 16 * 16 + 16 * 256));
    const Json doubled = answer({"--steps", "3", "--set", "grad-accumulation=2"});
    EXPECT_DOUBLE_EQ(doubled["product_flop_per_step"], 2 * said["product_flop_per_step"].get<double>());
}

TEST_F(Bench, PrintsATableOfPhasesForAPerson) {
    const Finished finished = cli(words({"--steps", "5"}));
    EXPECT_EQ(finished.exitCode, 0) << finished.err;
    for (const char* word : {"PHASE", "batch", "forward", "backward", "optimizer", "other", "tok/s", "samples/s", "median", "peak memory", "GFLOP/s"})
        EXPECT_THAT(finished.out, testing::HasSubstr(word));
}

TEST_F(Bench, GoesOnFromACheckpoint) {
    train();
    const Json said = answer({"--steps", "3", "--from", "1"});
    EXPECT_EQ(said["settings"]["width"], 16);
}

TEST_F(Bench, RefusesWhatCannotBeInOneSentence) {
    expectRefused(cli(words({"--steps", "2"})), {"--steps", "3"}, kBadInput);
    expectRefused(cli(words({"--steps", "1e9"})), {"--steps"}, kBadInput);
    expectRefused(cli(words({"--warm-up", "0"})), {"--warm-up"}, kBadInput);
    expectRefused(cli(words({"--data", path("nothing.txt")})), {"nothing.txt"}, kNotFound);
    expectRefused(cli(words({"--from", "77"})), {"database"}, kNotFound);
    expectRefused(cli(words({"--set", "batch-size=100000", "--set", "context=16", "--set", "width=4096", "--set", "layers=96"})), {"batch-size"},
                  kOutOfMemory);
    std::filesystem::create_directory(path("empty"));
    expectRefused(cli(words({"--data", path("empty")})), {"empty"});
}

}  // namespace
}  // namespace stepscope::test
