// What a script gets of an error when it asked for JSON: the same object from every command, on the last line of stdout, and the sentence and the
// exit code that a person gets.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

class JsonErrors : public CliFixture {
protected:
    // The object, and that it is all of stdout, beside the sentence on stderr.
    Json errorOf(Words words, int exitCode) const {
        words.push_back("--json");
        const Finished finished = cli(words);
        expectRefused(finished, {}, exitCode);
        EXPECT_EQ(std::ranges::count(finished.out, '\n'), 1) << finished.out;
        const Json said = Json::parse(finished.out, nullptr, false);
        if (!said.is_object() || !said.contains("error")) {
            ADD_FAILURE() << words[0] << ": " << finished.out;
            return {};
        }
        EXPECT_EQ(said.size(), 1u) << said;
        EXPECT_EQ("stepscope-cli: " + said["error"]["sentence"].get<std::string>() + "\n", finished.err);
        EXPECT_TRUE(said["error"].contains("subject"));
        return said["error"];
    }
};

TEST_F(JsonErrors, HaveOneFormInEveryCommandThatPromisesALastLine) {
    const std::vector<std::pair<Words, const char*>> asked{{measuring("ab", {"--b", "no-such=1"}), "no-such"},
                                                           {measuring("ab", {"--b", "amp=bf16", "--budget", "0"}), "--budget"},
                                                           {measuring("ladder", {"fusion", "--delta", "x"}), "--delta"},
                                                           {measuring("tune", {"--set", "no-such=1"}), "no-such"},
                                                           {{"compare", "1", "1", "--db", database()}, "twice"},
                                                           {{"report", "ninth", "--db", database()}, "ninth"},
                                                           {measuring("diagnose", {"--set", "no-such=1"}), "no-such"},
                                                           {measuring("predict", {"--time-steps", "1"}), "1"},
                                                           {measuring("bench", {"--steps", "0"}), "--steps"},
                                                           {tiny({"--set", "no-such=1"}), "no-such"}};
    for (const auto& [words, named] : asked) {
        const Json error = errorOf(words, kBadInput);
        EXPECT_EQ(error["code"], "bad-input") << words[0];
        EXPECT_THAT(error["sentence"].get<std::string>(), testing::HasSubstr(named)) << words[0];
    }
}

TEST_F(JsonErrors, SayWithAWordWhatKindOfErrorItIsAndWhatItIsAbout) {
    EXPECT_EQ(errorOf({"compare", "1", "2", "--db", path("none.db")}, kNotFound)["code"], "not-found");
    const Json error = errorOf(measuring("diagnose", {"--session", "7"}), kNotFound);
    EXPECT_EQ(error["code"], "not-found");
    EXPECT_EQ(error["subject"], (Json{{"kind", "database"}, {"name", database()}}));
    // Of what the command says itself while it runs, too.
    EXPECT_EQ(errorOf(measuring("tune", {"--set", "batch-size=100000000"}), kOutOfMemory)["code"], "out-of-memory");
}

TEST_F(JsonErrors, AreToldOfWordsThatCannotBeParsedAsWell) {
    EXPECT_EQ(errorOf({"tune", "--no-such-option"}, kUsage)["code"], "usage");
    EXPECT_EQ(errorOf({"compare"}, kUsage)["code"], "usage");
}

TEST_F(JsonErrors, LeaveACommandsOwnAnswerTheLastLine) {
    const Finished same = cli(measuring("ab", {"--a", "amp=off", "--b", "amp=off", "--json"}));
    EXPECT_EQ(same.exitCode, kBadInput) << same.err;
    EXPECT_EQ(std::ranges::count(same.out, '\n'), 1) << same.out;
    EXPECT_EQ(lastLine(same)["verdict"], "not-comparable");
    // A diagnosis of what cannot run is one all the same, and has the error in the same form.
    const Finished lacks = cli(measuring("diagnose", {"--data", path("nothing.txt"), "--json"}));
    EXPECT_EQ(lacks.exitCode, kNotFound) << lacks.err;
    EXPECT_EQ(std::ranges::count(lacks.out, '\n'), 1) << lacks.out;
    EXPECT_EQ(lastLine(lacks)["error"]["code"], "not-found");
    EXPECT_FALSE(lastLine(lacks)["machine"].is_null());
}

TEST_F(JsonErrors, ArePrintedForNobodyWhoDidNotAskForJson) {
    EXPECT_EQ(cli(measuring("ab", {"--b", "no-such=1"})).out, "");
}

}  // namespace
}  // namespace stepscope::test
