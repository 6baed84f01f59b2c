// Session files that somebody else wrote or broke, and sessions that are no runs, as the command line shows them.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>

#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

class StoredSessions : public CliFixture {
protected:
    void change(const std::string& sql) const { SQLite::Database(database(), SQLite::OPEN_READWRITE, 5000).exec(sql); }
    Finished sessions(Words words) const {
        words.insert(words.begin(), "sessions");
        words.insert(words.end(), {"--db", database()});
        return cli(words);
    }
};

TEST_F(StoredSessions, NamesWithControlCharactersDoNotReachATerminal) {
    train();
    const std::string bad =
        "\x1b]0;owned\x07\x1b[2J"
        "name\xc2\x9b"
        "31m\xff\xe2\x80\xae"
        "next\n";
    {
        SQLite::Database file(database(), SQLite::OPEN_READWRITE);
        SQLite::Statement update(file, "UPDATE sessions SET name = ?1, notes = ?1, why = ?1");
        update.bind(1, bad);
        update.exec();
        SQLite::Statement line(file, "UPDATE log_lines SET text = ?1");
        line.bind(1, bad);
        line.exec();
    }
    for (const Words& words : {Words{"list"}, Words{"show", "1"}}) {
        const auto shown = sessions(words);
        EXPECT_EQ(shown.exitCode, 0) << shown.err;
        for (const char* never : {"\x1b", "\x07", "\xc2\x9b", "\xff", "\xe2\x80\xae"})
            EXPECT_THAT(shown.out, testing::Not(testing::HasSubstr(never)));
        EXPECT_THAT(shown.out, testing::HasSubstr("name"));
        EXPECT_THAT(shown.out, testing::HasSubstr("next"));
    }
    EXPECT_EQ(sessions({"list", "--json"}).exitCode, 0);
}

TEST_F(StoredSessions, ADamagedSchemaIsDamageAndSaysSo) {
    train();
    change("DROP TABLE steps");
    expectRefused(sessions({"list"}), {"not as Stepscope made them"}, kDamaged);
    expectRefused(sessions({"show", "1"}), {"not as Stepscope made them"}, kDamaged);
}

TEST_F(StoredSessions, OneBadRowIsNamedAndTheOthersAreListed) {
    train({"--name", "good"});
    train({"--name", "bad"});
    change("UPDATE sessions SET state = 'levitating' WHERE name = 'bad'");
    const auto listed = sessions({"list", "--json"});
    EXPECT_EQ(listed.exitCode, 0);
    const auto rows = Json::parse(listed.out);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0]["name"], "good");
    EXPECT_THAT(listed.err, testing::HasSubstr("Session 2 in"));
    expectRefused(sessions({"show", "2"}), {"sessions.db"}, kDamaged);
}

TEST_F(StoredSessions, ASessionThatIsNoRunIsShownWithoutSettingsAndExportedWhereItHasSteps) {
    train();
    change("UPDATE sessions SET kind = 'trace', config = 'null', machine = 'null'; DELETE FROM config");
    const auto shown = sessions({"show", "1"});
    EXPECT_EQ(shown.exitCode, 0) << shown.err;
    EXPECT_THAT(shown.out, testing::HasSubstr("imported"));
    EXPECT_THAT(shown.out, testing::HasSubstr("it was not run by Stepscope"));
    const auto json = Json::parse(sessions({"show", "1", "--json"}).out);
    EXPECT_EQ(json["kind"], "imported");
    EXPECT_TRUE(json["config"].is_null());
    EXPECT_TRUE(json["machine"].is_null());
    EXPECT_EQ(sessions({"list"}).exitCode, 0);
    EXPECT_EQ(sessions({"export-csv", "1", path("run.csv")}).exitCode, 0);
    change("DELETE FROM steps; DELETE FROM validations");
    expectRefused(sessions({"export-csv", "1", path("none.csv")}), {"imported", "has no steps"}, kBadInput);
}

TEST_F(StoredSessions, AFlipBehindWhichAStepTrainsMoreTokensIsJudgedByItsThroughput) {
    train({"--steps", "60", "--flip", "31:zero-grad=zero"});
    const auto flip = [&] { return Json::parse(sessions({"show", "1", "--json"}).out)["flips"][0]; };
    EXPECT_EQ(flip()["judged_by"], "ms");
    change("UPDATE steps SET tokens = 4 * tokens WHERE step > 30");
    const auto judged = flip();
    EXPECT_EQ(judged["judged_by"], "tokens_per_second");
    EXPECT_GT(judged["tokens_per_second_after"], judged["tokens_per_second_before"]);
    EXPECT_THAT(judged["verdict"].get<std::string>(), testing::HasSubstr(", throughput "));
}

TEST_F(StoredSessions, ACheckpointThatTheFileDoesNotKnowIsFoundByTheNumberOfItsSession) {
    train({"--steps", "6", "--set", "checkpoint-every=3"});
    change("DELETE FROM checkpoints");  // as if the program had been killed before it stored them
    EXPECT_THAT(cli({"checkpoint", "list", "1", "--db", database()}).out, testing::HasSubstr("step-0000006"));
    const auto resumed = train({"--steps", "9", "--resume", "1"});
    EXPECT_EQ(resumed["steps"], 9);
    EXPECT_THAT(session(resumed["session"])["resumed_from"].get<std::string>(), testing::EndsWith("step-0000006"));
}

TEST_F(StoredSessions, OfADatabaseThatWasMovedAwayKeepTheirCheckpoints) {
    train({"--steps", "4", "--set", "checkpoint-every=2"});
    const auto old = Json::parse(sessions({"show", "1", "--json"}).out)["checkpoints"][0]["path"].get<std::string>();
    for (const char* end : {"", "-wal", "-shm"})
        if (std::filesystem::exists(database() + end)) std::filesystem::rename(database() + end, path("moved.db") + end);
    train({"--steps", "4", "--set", "checkpoint-every=2"});
    EXPECT_EQ(sessions({"delete", "1"}).exitCode, 0);
    const auto purged = sessions({"purge"});
    EXPECT_TRUE(std::filesystem::exists(old));
}

TEST_F(StoredSessions, AreComparedWithWhatDiffersAndHowFarThatCanBeBelieved) {
    train();
    train({"--set", "grad-clip=0.5"});
    change("UPDATE sessions SET name = 'x' || char(27) || '[31mred' WHERE id = 2");
    const Words both{"compare", "1", "2", "--db", database()};
    const Finished text = cli(both);
    EXPECT_EQ(text.exitCode, 0) << text.err;
    for (const char* said : {"SESSION 1", "SESSION 2", "grad-clip", "0.5", "no verdict", "not interleaved", "stepscope-cli ab", "--b grad-clip=0.5"})
        EXPECT_THAT(text.out, testing::HasSubstr(said));
    EXPECT_EQ(text.out.find('\x1b'), std::string::npos);
    Words json = both;
    json.push_back("--json");
    const Json all = Json::parse(cli(json).out);
    EXPECT_EQ(all["sessions"].size(), 2u);
    EXPECT_EQ(all["sessions"][1]["differing"]["grad-clip"], "0.5");
    EXPECT_GT(all["ratio_of_medians"], 0);
    EXPECT_LE(all["comparability"]["score"], 75);
    train({"--set", "early-stopping=3"});
    EXPECT_THAT(cli({"compare", "1", "3", "--db", database()}).out, testing::HasSubstr("nothing to measure"));
    expectRefused(cli({"compare", "1", "--db", database()}), {"2 to 20"}, kBadInput);
    expectRefused(cli({"compare", "1", "1", "--db", database()}), {"named twice"}, kBadInput);
    expectRefused(cli({"compare", "1", "99", "--db", database()}), {"99"});
    change("UPDATE sessions SET kind = 'trace', config = 'null', machine = 'null' WHERE id = 2; DELETE FROM config WHERE session = 2");
    const Finished foreign = cli(both);
    EXPECT_EQ(foreign.exitCode, 0) << foreign.err;
    EXPECT_THAT(foreign.out, testing::HasSubstr("the machine of one of them is not known"));
}

TEST_F(StoredSessions, OneThatAnotherProgramLoggedIsComparedWithoutARowForEachSettingThatItLacks) {
    train();
    const std::string log = write("theirs.csv", "step,loss,step_time\n0,4.5,0.02\n1,4.4,0.02\n2,4.3,0.021\n3,4.2,0.02\n4,4.1,0.02\n5,4.0,0.02\n");
    const Finished imported = cli({"import", log, "--db", database()});
    ASSERT_EQ(imported.exitCode, 0) << imported.err;
    const Finished text = cli({"compare", "1", "2", "--db", database()});
    ASSERT_EQ(text.exitCode, 0) << text.err;
    EXPECT_THAT(text.out, testing::HasSubstr("The settings of session 2 are not stored: Stepscope did not run it."));
    EXPECT_THAT(text.out, testing::Not(testing::HasSubstr("grad-clip")));
    EXPECT_THAT(text.out, testing::HasSubstr("the settings of one of them are not known"));
    const Json all = Json::parse(cli({"compare", "1", "2", "--json", "--db", database()}).out);
    EXPECT_EQ(all["sessions"][0]["settings_known"], true);
    EXPECT_EQ(all["sessions"][1]["settings_known"], false);
    EXPECT_TRUE(all["sessions"][0]["differing"].empty());
    EXPECT_LE(all["comparability"]["score"], 5);
    EXPECT_GT(all["tokens"], 0) << "of those that tell how many they trained";
    EXPECT_TRUE(all["sessions"][0]["loss_at_equal_tokens"].is_number());
    EXPECT_TRUE(all["sessions"][1]["loss_at_equal_tokens"].is_null()) << "its last loss is none after so many tokens";
    EXPECT_THAT(text.out, testing::Not(testing::HasSubstr("loss after 0 tokens")));
}

TEST_F(StoredSessions, OfALogWithoutTimesNeitherCompareNorShowTellsHowFastItWas) {
    train();
    const std::string log = write("theirs.csv", "step,loss,tokens_per_sec\n0,4.5,9000\n1,4.4,9000\n2,4.3,9000\n3,4.2,9000\n4,4.1,9000\n5,4.0,9000\n");
    const Finished imported = cli({"import", log, "--db", database()});
    ASSERT_EQ(imported.exitCode, 0) << imported.err;
    const Json all = Json::parse(cli({"compare", "1", "2", "--json", "--db", database()}).out);
    EXPECT_TRUE(all["sessions"][0]["loss_at_equal_time"].is_number()) << "session 2 has no times that could end before it";
    for (const char* key : {"ms_per_step_median", "tokens_per_s", "loss_at_equal_time"}) EXPECT_TRUE(all["sessions"][1][key].is_null()) << key;
    EXPECT_TRUE(all["ratio_of_medians"].is_null());
    const Json shown = Json::parse(cli({"sessions", "show", "2", "--json", "--db", database()}).out);
    EXPECT_TRUE(shown["summary"]["ms_per_step_median"].is_null()) << shown["summary"].dump();
    EXPECT_TRUE(shown["summary"]["tokens_per_s"].is_null()) << shown["summary"].dump();
    EXPECT_THAT(cli({"sessions", "show", "2", "--db", database()}).out, testing::Not(testing::HasSubstr("1.00\u202Fms")));
}

}  // namespace
}  // namespace stepscope::test
