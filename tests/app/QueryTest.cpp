// `query`: SQL over a recorded session, as a table, JSON and CSV; what is refused, and what ends by its limit or by Ctrl-C.
#include <gmock/gmock.h>

#include <chrono>

#include "tests/app/CliFixture.h"

using namespace stepscope::test;
using testing::HasSubstr;

struct Query : CliFixture {
    Finished query(const Words& more) {
        Words words{"query", "1", "--db", database()};
        words.insert(words.end(), more.begin(), more.end());
        return cli(words);
    }
    Json rows(const std::string& sql) {
        const auto printed = query({sql, "--json"});
        EXPECT_EQ(printed.exitCode, 0) << printed.err;
        return Json::parse(printed.out)["rows"];
    }
};

TEST_F(Query, AnswersInWordsJsonAndCsv) {
    train({"--profile", "wait=2,warmup=1,active=2"});
    const auto printed = query({"SELECT count(*) AS n, 0.5 AS half, 'a,\"b' AS word, NULL AS none FROM op", "--json"});
    EXPECT_EQ(printed.exitCode, 0) << printed.err;
    const Json all = Json::parse(printed.out);
    EXPECT_EQ(all["columns"], (Json{"n", "half", "word", "none"}));
    EXPECT_GT(all["rows"][0][0].get<std::int64_t>(), 100);
    EXPECT_EQ(all["rows"][0][1].get<double>(), 0.5);
    EXPECT_EQ(all["rows"][0][2], "a,\"b");
    EXPECT_TRUE(all["rows"][0][3].is_null());
    EXPECT_EQ(query({"SELECT 1 AS a, 'b,\"c' AS b, NULL AS c, '' AS d", "--csv"}).out, "a,b,c,d\r\n1,\"b,\"\"c\",,\"\"\r\n");
    EXPECT_THAT(query({"SELECT number, dur_ns FROM step"}).out, HasSubstr("2 rows"));
    EXPECT_EQ(rows("SELECT number FROM step ORDER BY number"), Json::parse("[[4],[5]]"));
    EXPECT_THAT(cli({"query", "--views"}).out, HasSubstr("shared_bytes"));
    EXPECT_THAT(cli({"query", "--list"}).out, HasSubstr("launch-delay"));

    // The same sums as `profile` prints.
    const Json profile = Json::parse(cli({"profile", "1", "--json", "--limit", "0", "--db", database()}).out);
    double self = 0;
    std::int64_t calls = 0;
    for (const auto& row : profile["rows"]) {
        self += row["self_ms"].get<double>();
        calls += row["calls"].get<std::int64_t>();
    }
    const Json sums = rows("SELECT count(*), sum(self_ns) / 1e6 FROM op");
    EXPECT_EQ(sums[0][0], calls);
    EXPECT_NEAR(sums[0][1].get<double>(), self, 1e-3);
    for (const char* saved : {"top-operations", "time-per-layer", "gaps", "launch-delay"}) EXPECT_EQ(query({"--saved", saved, "--json"}).exitCode, 0);
}

TEST_F(Query, EveryViewNamesACaptureOfTheSteps) {
    train({"--profile", "wait=1,active=1,repeat=2"});
    EXPECT_EQ(rows("SELECT DISTINCT capture FROM step ORDER BY 1"), Json::parse("[[1],[2]]"));
    for (const char* view : {"op", "slice", "alloc"})
        EXPECT_EQ(rows(std::string("SELECT DISTINCT capture FROM ") + view + " ORDER BY 1"), Json::parse("[[1],[2]]")) << view;
}

TEST_F(Query, SaysWhenRowsWereLeftOut) {
    train();
    const std::string many = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 5000) SELECT x FROM n";
    const auto table = query({many});
    EXPECT_EQ(table.exitCode, 0);
    EXPECT_THAT(table.err, HasSubstr("there are more"));
    EXPECT_EQ(rows(many).size(), 5000u);
    const auto ten = query({many, "--json", "--limit", "10"});
    EXPECT_EQ(Json::parse(ten.out)["rows"].size(), 10u);
    EXPECT_EQ(Json::parse(ten.out)["more"], true);
}

TEST_F(Query, ShowsNothingThatATerminalWouldObey) {
    train();
    const std::string turned = "SELECT char(155, 8238) AS 'x\xc2\x9b\xe2\x80\xae'";
    const auto table = query({turned});
    EXPECT_EQ(table.exitCode, 0);
    EXPECT_EQ(table.out.find("\xc2\x9b"), std::string::npos);
    EXPECT_EQ(table.out.find("\xe2\x80\xae"), std::string::npos);
    const auto json = query({turned, "--json"});
    EXPECT_THAT(json.out, HasSubstr("\\u009b\\u202e"));
    EXPECT_EQ(Json::parse(json.out)["rows"][0][0], "\xc2\x9b\xe2\x80\xae") << "the same text for who reads it";
}

TEST_F(Query, EndsAtItsTimeWithinOneLikeToo) {
    train();
    const auto pattern = query({"SELECT 'x' LIKE format('%.*c', 20000, 'a')"});
    expectRefused(pattern, {"pattern too complex"}, kBadInput);
    expectRefused(query({"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 1000) "
                         "SELECT sum(format('%.*c', 131000, 'a') LIKE '%' || format('%.*c', 9000, 'a') || 'b' || x) FROM n",
                         "--seconds", "0.5"}),
                  {"limit of 0.5"}, kBadInput);
}

TEST_F(Query, RefusesInOneSentence) {
    train();
    expectRefused(query({"DELETE FROM steps"}), {"only read", "DELETE"}, kBadInput);
    expectRefused(query({"SELECT nam FROM op"}), {"line 1, column 8", "name"}, kBadInput);
    expectRefused(query({"SELECT 1", "--saved", "gaps"}), {"--saved"}, kBadInput);
    expectRefused(query({"--saved", "none"}), {"top-operations"}, kNotFound);
    expectRefused(query({}), {"--saved"}, kBadInput);
    expectRefused(query({"SELECT 1", "--limit", "0"}), {"--limit"}, kUsage);
    expectRefused(query({"SELECT 1", "--seconds", "0"}), {"--seconds"}, kBadInput);
    expectRefused(query({"SELECT 1", "--json", "--csv"}), {"--csv"}, kBadInput);
    expectRefused(cli({"query", "7", "SELECT 1", "--db", database()}), {"7"}, kNotFound);
    expectRefused(cli({"query", "x", "SELECT 1", "--db", database()}), {"x"}, kBadInput);
    expectRefused(cli({"query"}), {"query ID SQL"}, kBadInput);
    expectRefused(query({"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n", "--seconds", "0.2"}),
                  {"limit of 0.200 s"}, kBadInput);
}

// The words of each command of the chapter that begins with `packaging/run --cli query`, its SQL in double quotes, over lines where it is long.
static std::vector<Words> guideExamples(const std::string& chapter) {
    const std::string start = "    packaging/run --cli query ";
    std::vector<Words> all;
    for (auto at = chapter.find(start); at != std::string::npos; at = chapter.find(start, at)) {
        Words words{"query"};
        std::string word;
        bool quoted = false;
        for (at += start.size(); at < chapter.size() && (quoted || chapter[at] != '\n'); ++at) {
            if (chapter[at] == '"')
                quoted = !quoted;
            else if (chapter[at] == ' ' && !quoted)
                words.push_back(std::exchange(word, {}));
            else
                word += chapter[at];
        }
        words.push_back(word);
        all.push_back(words);
    }
    return all;
}

TEST_F(Query, RunsEachExampleOfTheGuide) {
    train({"--profile", "wait=2,warmup=1,active=2", "--flip", "3:grad-clip=0.5"});
    const auto examples = guideExamples(read(std::string(STEPSCOPE_SOURCE) + "/resources/guide/queries.md"));
    ASSERT_GE(examples.size(), 11u);
    for (Words words : examples) {
        if (words[1] == "7") {
            words[1] = "1";
            words.insert(words.end(), {"--db", database()});
        }
        const auto printed = cli(words);
        EXPECT_EQ(printed.exitCode, 0) << words.back() << words[2] << ": " << printed.err;
        if (words[1] != "1" || words[2].find("cpu_pct") != std::string::npos) continue;  // so short a run may end before its first sample
        if (words[2].find("FROM kernel") != std::string::npos) continue;                 // it ran on a processor
        words.push_back("--json");
        EXPECT_FALSE(lastLine(cli(words))["rows"].empty()) << words[2];
    }
}
