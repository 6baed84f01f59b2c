// `predict` and `find-batch`: what they foretell and find, what is kept of it, and what they say to bad input, by the real program.
#include <gmock/gmock.h>

#include <set>

#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

class Foretelling : public CliFixture {
protected:
    Words words(const char* command, const Words& more) const {
        Words all{command};
        const Words trains = tiny();
        for (std::size_t i = 1; i < trains.size(); ++i) {
            const bool other = std::string(command) == "find-batch" && trains[i] == "--db";
            if (trains[i] == "--steps" || other)
                ++i;
            else
                all.push_back(trains[i]);
        }
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    Json answer(const char* command, Words more) const {
        more.push_back("--json");
        const Finished finished = cli(words(command, more));
        EXPECT_EQ(finished.exitCode, 0) << finished.err;
        return Json::parse(finished.out.substr(finished.out.rfind('\n', finished.out.size() - 2) + 1));
    }
    static Json of(const Json& said, const std::string& key, const std::string& value) {
        for (const Json& one : said["values"])
            if (one["key"] == key && one["value"] == value) return one;
        return nullptr;
    }
};

TEST_F(Foretelling, SaysATimeOrMeasureItOfEveryValueThatCanBeUsed) {
    const Json said = answer("predict", {});
    const double now = said["now"]["ms_per_step"]["mean"];
    const Json twice = of(said, "batch-size", "4");
    ASSERT_TRUE(twice["predicted"].is_object()) << twice;
    EXPECT_GT(twice["predicted"]["ms_per_step"], now);
    EXPECT_LE(twice["predicted"]["ms_per_step"], 2 * now * (1 + 1e-9));
    EXPECT_EQ(of(said, "fusion", "step")["predicted"], "measure it");
    EXPECT_EQ(of(said, "host-memory", "system")["predicted"], "measure it");
    EXPECT_FALSE(of(said, "device", "cuda:0").is_object() && of(said, "device", "cuda:0")["usable"].get<bool>());
    for (const Json& one : said["values"]) EXPECT_EQ(one["predicted"].is_null(), !one["usable"].get<bool>()) << one;
}

TEST_F(Foretelling, ShowsBesideItWhatAnExperimentHereFoundLater) {
    const Json before = answer("predict", {});
    EXPECT_TRUE(of(before, "batch-size", "4")["measured"].is_null());
    const double foretold = of(before, "batch-size", "4")["predicted"]["ratio"];
    const Finished measured = cli(words("ab", {"--b", "batch-size=4", "--budget", "8", "--json", "--report", path("ab.md")}));
    ASSERT_EQ(measured.exitCode, 0) << measured.err;
    EXPECT_DOUBLE_EQ(lastLine(measured)["foretold_ratio"].get<double>(), foretold) << "said with the answer too";
    EXPECT_THAT(read(path("ab.md")), testing::HasSubstr("Foretold before it was measured: B "));
    const Finished stored = cli({"report", std::to_string(newest()["id"].get<int>()), "--db", database(), "--format", "json"});
    EXPECT_DOUBLE_EQ(Json::parse(stored.out)["foretold_ratio"].get<double>(), foretold);
    const std::string id = std::to_string(newest()["id"].get<int>());
    EXPECT_DOUBLE_EQ(session(newest()["id"])["experiment"]["foretold_ratio"].get<double>(), foretold);
    EXPECT_EQ(session(newest()["id"])["experiments"], 1);
    EXPECT_THAT(cli({"sessions", "show", id, "--db", database()}).out, testing::HasSubstr("Foretold before it was measured: B "));
    const Finished text = cli(words("ab", {"--b", "batch-size=4", "--budget", "8"}));
    EXPECT_THAT(text.out, testing::HasSubstr("Foretold before it was measured: B "));
    const Json after = answer("predict", {});
    const Json found = of(after, "batch-size", "4")["measured"];
    ASSERT_TRUE(found.is_object());
    EXPECT_DOUBLE_EQ(found["foretold_ratio"].get<double>(), of(before, "batch-size", "4")["predicted"]["ratio"].get<double>());
    EXPECT_TRUE(of(after, "batch-size", "1")["measured"].is_null());
}

TEST_F(Foretelling, PrintsATableForAPerson) {
    const Finished finished = cli(words("predict", {"--no-record"}));
    EXPECT_EQ(finished.exitCode, 0) << finished.err;
    EXPECT_THAT(finished.out,
                testing::AllOf(testing::HasSubstr("measure it"), testing::HasSubstr("PREDICTED STEP"), testing::HasSubstr("batch-size")));
    EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(Foretelling, ValuesThatThisMachineMakesTheSameOfAreToldOnce) {
    const Json said = answer("predict", {"--no-record"});
    int same = 0;
    std::set<std::string> named;
    for (const Json& one : said["values"]) named.insert(one["key"].get<std::string>() + "=" + one["value"].get<std::string>());
    for (const Json& one : said["values"]) {
        if (one["same_as"].is_null()) continue;
        ++same;
        EXPECT_TRUE(one["usable"].get<bool>());
        if (one["predicted"] == "the same") continue;  // as what is set
        EXPECT_TRUE(named.contains(one["same_as"].get<std::string>())) << one;
    }
    EXPECT_GT(same, 0) << said["values"];
    EXPECT_EQ(of(said, "checkpointing", "every-12th")["same_as"], "checkpointing=every-block") << "this model has one block";
    const Finished text = cli(words("predict", {"--no-record"}));
    EXPECT_THAT(text.out, testing::HasSubstr("The same here, so not told twice: "));
}

TEST_F(Foretelling, RefusesWhatCannotBeInOneSentence) {
    expectRefused(cli(words("predict", {"--time-steps", "1"})), {"--time-steps"}, kBadInput);
    expectRefused(cli(words("predict", {"--data", path("nothing.txt")})), {"nothing.txt"}, kNotFound);
}

TEST_F(Foretelling, FindsTheKneeOfThroughputAmongSizesThatFit) {
    const Json said = answer("find-batch", {"--budget", "20", "--most", "32"});
    EXPECT_EQ(said["now"], 2);
    EXPECT_EQ(said["largest_that_fits"], 32);
    ASSERT_GE(said["points"].size(), 2u);
    double best = 0;
    for (const Json& point : said["points"]) best = std::max(best, point["tokens_per_s"].get<double>());
    for (const Json& point : said["points"]) {
        const double rate = point["tokens_per_s"];
        EXPECT_TRUE(point["batch"] != said["knee"] || rate >= 0.95 * best);
        EXPECT_TRUE(point["batch"] >= said["knee"] || rate < 0.95 * best);
        EXPECT_LE(point["batch"], 32);
    }
    EXPECT_EQ(said["setting"], said["knee"] == 2 ? Json() : Json("batch-size=" + std::to_string(said["knee"].get<int>())));
    const Finished text = cli(words("find-batch", {"--budget", "20", "--most", "4"}));
    EXPECT_THAT(text.out, testing::HasSubstr("the knee"));
}

TEST_F(Foretelling, OfABatchThatNeverFitsSaysHowMuchItNeeds) {
    expectRefused(cli(words("find-batch", {"--set", "width=8192", "--set", "layers=200"})), {"Not even one sequence", "context"}, kOutOfMemory);
}

TEST_F(Foretelling, OfABudgetThatIsTooSmallSaysHowMuchWouldDo) {
    expectRefused(cli(words("find-batch", {"--budget", "0"})), {"--budget"}, kBadInput);
    expectRefused(cli(words("find-batch", {"--budget", "1", "--set", "width=512", "--set", "layers=8", "--set", "context=512"})),
                  {"not enough", "budget"}, kBadInput);
}

TEST_F(Foretelling, OfDataThatCannotBeReadSaysWhy) {
    std::filesystem::create_directory(path("empty"));
    expectRefused(cli(words("find-batch", {"--data", path("empty")})), {"empty"}, kBadInput);
}

}  // namespace
}  // namespace stepscope::test
