// `inference` through the command line: every form with its size, its quality and its speed, what pruning costs, refusals.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

using testing::HasSubstr;

class Inference : public CliFixture {
protected:
    void SetUp() override { m_id = std::to_string(train({"--checkpoint-every", "12"})["session"].get<std::int64_t>()); }
    Finished inference(const Words& more) const {
        Words all{"inference", "--from", m_id, "--db", database(), "--tokens", "200", "--threads", "1"};
        all.insert(all.end(), more.begin(), more.end());
        return cli(all);
    }
    std::string m_id;
};

TEST_F(Inference, TellsSizeQualityAndSpeedOfEveryFormAndWhatPruningCosts) {
    const auto finished = inference({"--budget", "2", "--json"});
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    const Json told = Json::parse(finished.out);
    ASSERT_EQ(told["forms"].size(), 5u);
    std::int64_t former = 0;
    for (const char* form : {"int4", "int8", "bf16", "f32"}) {
        const auto row = std::find_if(told["forms"].begin(), told["forms"].end(), [&](const Json& one) { return one["form"] == form; });
        ASSERT_NE(row, told["forms"].end()) << form;
        EXPECT_GT((*row)["weight_bytes"].get<std::int64_t>(), former) << form;
        former = (*row)["weight_bytes"].get<std::int64_t>();
        EXPECT_GT((*row)["perplexity"].get<double>(), 1) << form;
        EXPECT_EQ((*row)["perplexity_change"].contains("verdict"), std::string(form) != "f32") << form << ": it is beside float32";
        for (const char* what : {"prompt", "text"}) {
            EXPECT_GT((*row)[what]["tokens_per_s"].get<double>(), 0) << form;
            EXPECT_EQ((*row)[what].contains("verdict"), std::string(form) != "f32") << form << ": it is beside float32";
            EXPECT_EQ((*row)[what].contains("floor"), std::string(form) != "f32") << form;
        }
    }
    const Json &weightOnly = told["forms"][2], &dynamic = told["forms"][4];
    EXPECT_EQ(dynamic["form"], "int8-dynamic");
    EXPECT_NEAR(dynamic["weight_bytes"].get<double>() / weightOnly["weight_bytes"].get<double>(), 1, 0.2)
        << "the same bytes, and a number more for each row";
    EXPECT_NE(dynamic["loss"], weightOnly["loss"]) << "the activations are rounded too";
    EXPECT_NEAR(dynamic["loss"].get<double>(), told["forms"][0]["loss"].get<double>(), 0.1);
    EXPECT_TRUE(dynamic["prompt"].contains("verdict"));
    EXPECT_GT(told["rounds"].get<int>() + told["left_out"].get<int>(), 0);
    EXPECT_TRUE(told["why_no_speed"].is_null()) << told["why_no_speed"];
    EXPECT_TRUE(told["floor"].contains("prompt") && told["floor"].contains("text")) << told["floor"];
    ASSERT_EQ(told["pruned"].size(), 13u);
    EXPECT_EQ(told["pruned"][8]["scope"], "heads");
    EXPECT_EQ(told["pruned"][12]["pruned"], "2:4");
    EXPECT_FALSE(told["pruned"][1].contains("fine_tuned_perplexity"));
    EXPECT_NEAR(told["pruned"][1]["zeros"].get<double>(), 0.5, 0.01);
    EXPECT_EQ(told["pruned"][1]["faster"], false);
    const Json& change = told["pruned"][1]["perplexity_change"];
    EXPECT_THAT((std::vector<std::string>{"worse", "better", "equivalent", "inconclusive"}), testing::Contains(change["verdict"].get<std::string>()));
    EXPECT_THAT(change["words"].get<std::string>(), HasSubstr(" %]: "));
    const auto evaluated = Json::parse(cli({"eval", "--from", m_id, "--db", database(), "--tokens", "200", "--dtype", "int8", "--json"}).out);
    EXPECT_NEAR(told["forms"][2]["loss"].get<double>(), evaluated["types"][1]["loss"].get<double>(), 1e-6) << "the same as eval says";
}

TEST_F(Inference, SaysNoSpeedWhereNoneWasMeasured) {
    const auto finished = inference({"--budget", "0", "--form", "int4", "--no-pruning"});
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("int4"));
    EXPECT_THAT(finished.out, testing::Not(HasSubstr("int8")));
    EXPECT_THAT(finished.out, HasSubstr("prompt not measured · text not measured"));
    EXPECT_THAT(finished.out, testing::Not(HasSubstr("tok/s")));
    EXPECT_THAT(finished.out, testing::Not(HasSubstr("Speeds were not measured"))) << "nobody asked for them";
    EXPECT_THAT(finished.out, testing::Not(HasSubstr("pruned")));
}

TEST_F(Inference, SaysWhyThereIsNoSpeedWhereThePilotTookAllOfTheTime) {
    const auto finished = inference({"--budget", "0.0001", "--form", "int4", "--no-pruning"});
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("prompt not measured · text not measured"));
    EXPECT_THAT(finished.out, testing::AllOf(HasSubstr("Speeds were not measured: "), HasSubstr("--budget")));
    const Json told = Json::parse(inference({"--budget", "0.0001", "--form", "int4", "--no-pruning", "--json"}).out);
    EXPECT_THAT(told["why_no_speed"].get<std::string>(), HasSubstr("more seconds"));
}

TEST_F(Inference, SaysThatZerosGiveNothing) {
    EXPECT_THAT(inference({"--budget", "0", "--form", "f32"}).out, HasSubstr("No kernel here leaves zeros out"));
}

TEST_F(Inference, JudgesWhatAFormCostsByTheDifferenceThatCountsAsNone) {
    const auto finished = inference({"--budget", "0", "--form", "bf16", "--no-pruning", "--delta", "50"});
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr(" %]: no difference of more than 50 %)"));
}

TEST_F(Inference, TellsWhatFineTuningGivesBackBehindEachPruning) {
    const auto finished = inference({"--budget", "0", "--form", "f32", "--fine-tune", "4", "--json"});
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    const Json told = Json::parse(finished.out);
    EXPECT_EQ(told["fine_tune"], 4);
    for (const Json& row : told["pruned"]) EXPECT_GT(row["fine_tuned_perplexity"].get<double>(), 1) << row;
    EXPECT_THAT(inference({"--budget", "0", "--form", "f32", "--fine-tune", "1"}).out, HasSubstr("after 1 step of fine-tuning"));
}

TEST_F(Inference, RefusesWithASentence) {
    expectRefused(inference({"--fine-tune", "1.5"}), {"--fine-tune", "1.5"}, kBadInput);
    expectRefused(inference({"--form", "fp8"}), {"fp8", "int8-dynamic"}, kBadInput);
    expectRefused(inference({"--prompt", "100000"}), {"100000", "positions"}, kBadInput);
    expectRefused(inference({"--batch", "65"}), {"--batch", "65"}, kBadInput);
    expectRefused(inference({"--delta", "0"}), {"--delta"}, kBadInput);
    expectRefused(inference({"--budget", "soon"}), {"--budget", "soon"}, kBadInput);
    expectRefused(inference({"--data", path("none.txt")}), {"none.txt"});
    expectRefused(cli({"inference", "--from", "99", "--db", database()}), {"99"});
}

}  // namespace
}  // namespace stepscope::test
