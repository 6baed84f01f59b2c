// `prune` through the command line: a checkpoint that works like any other, what it cost, refusals.
#include <gmock/gmock.h>

#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

using testing::HasSubstr;

class Prune : public CliFixture {
protected:
    void SetUp() override { m_id = std::to_string(train({"--checkpoint-every", "12"})["session"].get<std::int64_t>()); }
    Finished prune(const std::string& out, const Words& more) const {
        Words all{"prune", "--from", m_id, "--db", database(), "--out", path(out), "--tokens", "200"};
        all.insert(all.end(), more.begin(), more.end());
        return cli(all);
    }
    std::string m_id;
};

TEST_F(Prune, WritesACheckpointWithZerosAndSaysWhatTheyCost) {
    const auto finished = prune("half", {"--sparsity", "0.5", "--json"});
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    const auto told = Json::parse(finished.out);
    EXPECT_NEAR(told["sparsity"].get<double>(), 0.5, 0.001);
    EXPECT_GT(told["loss_before"].get<double>(), 0);
    EXPECT_NE(told["loss_after"], told["loss_before"]);
    const auto again = Json::parse(cli({"eval", "--from", path("half"), "--tokens", "200", "--json"}).out);
    EXPECT_EQ(again["loss"], told["loss_after"]);
    EXPECT_EQ(cli({"generate", "--from", path("half"), "--tokens", "5"}).exitCode, 0);
}

TEST_F(Prune, KeepsAPatternAndSaysThatNothingIsFasterForIt) {
    const auto finished = prune("pattern", {"--pattern", "2:4"});
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("(50.0 %)"));
    EXPECT_THAT(finished.out, HasSubstr("no kernel here leaves zeros out"));
}

TEST_F(Prune, PrunesWholeHeads) {
    const auto finished = prune("heads", {"--scope", "heads", "--sparsity", "0.5", "--json"});
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    const auto told = Json::parse(finished.out);
    EXPECT_GE(told["heads"].get<int>(), 1);
    EXPECT_GT(told["zeros"].get<std::int64_t>(), 0);
    EXPECT_LT(told["sparsity"].get<double>(), 0.5) << "the other matrices of the blocks have no heads";
    EXPECT_THAT(prune("again", {"--scope", "heads", "--sparsity", "0.5"}).out, HasSubstr("heads are pruned"));
}

// Zeros are counted by pruning nothing more.
TEST_F(Prune, TrainingOnKeepsTheZerosWhereAskedToAndElseLetsThemGrow) {
    ASSERT_EQ(prune("half", {"--sparsity", "0.5"}).exitCode, 0);
    const auto zerosAfter = [this](const std::string& name, const Words& more) {
        Words words{"train", "--resume", path("half"), "--db", database(), "--steps", "16", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        const auto trained = cli(words);
        EXPECT_EQ(trained.exitCode, 0) << trained.err;
        const auto session = std::to_string(Json::parse(trained.out)["session"].get<std::int64_t>());
        const auto counted =
            cli({"prune", "--from", session, "--db", database(), "--out", path(name), "--sparsity", "0", "--tokens", "50", "--json"});
        EXPECT_EQ(counted.exitCode, 0) << counted.err;
        return Json::parse(counted.out)["sparsity"].get<double>();
    };
    EXPECT_NEAR(zerosAfter("kept", {"--keep-zeros"}), 0.5, 0.001);
    EXPECT_LT(zerosAfter("grown", {}), 0.05);
    EXPECT_NEAR(zerosAfter("planned", {"--keep-zeros", "--set", "fusion=step"}), 0.5, 0.001);
    const auto begun = cli({"train", "--init", path("half") + "/model.safetensors", "--init-shape", "--data", "generated", "--keep-zeros", "--db",
                            database(), "--steps", "2", "--set", "context=16", "--set", "warmup=1", "--json"});
    EXPECT_EQ(begun.exitCode, 0) << begun.err;
    EXPECT_THAT(begun.err, HasSubstr("stay zero (keep-zeros)"));
}

TEST_F(Prune, KeepingZerosIsRefusedWhereThereAreNone) {
    expectRefused(cli(tiny({"--keep-zeros"})), {"keep-zeros", "random weights"}, kBadInput);
    expectRefused(cli({"train", "--resume", m_id, "--db", database(), "--steps", "16", "--keep-zeros"}), {"keep-zeros", "prune them first"},
                  kBadInput);
}

TEST_F(Prune, ChangesNothingWhereNothingIsPruned) {
    const auto told = Json::parse(prune("none", {"--sparsity", "0", "--scope", "layer", "--json"}).out);
    EXPECT_EQ(told["loss_after"], told["loss_before"]);
}

TEST_F(Prune, RefusesWithASentence) {
    expectRefused(prune("a", {}), {"--sparsity", "--pattern"}, kBadInput);
    expectRefused(prune("a", {"--sparsity", "0.5", "--pattern", "2:4"}), {"--sparsity", "--pattern"}, kBadInput);
    expectRefused(prune("a", {"--sparsity", "1.5"}), {"--sparsity", "1.5"}, kBadInput);
    expectRefused(prune("a", {"--pattern", "4:2"}), {"4:2", "2:4"}, kBadInput);
    expectRefused(prune("a", {"--sparsity", "0.5", "--scope", "all"}), {"all", "global", "heads"}, kBadInput);
    expectRefused(prune("a", {"--pattern", "2:4", "--scope", "heads"}), {"--scope"}, kBadInput);
    EXPECT_FALSE(std::filesystem::exists(path("a"))) << "nothing was written";
    std::filesystem::create_directory(path("there"));
    expectRefused(prune("there", {"--sparsity", "0.5"}), {"there", "exists"}, kBadInput);
}

}  // namespace
}  // namespace stepscope::test
