// Where settings come from and which wins: preset, YAML file, options, --set. And YAML files that are wrong.
#include <gmock/gmock.h>

#include <sstream>
#include <utility>

#include "tests/app/CliFixture.h"

namespace stepscope::test {
namespace {

class Configuration : public CliFixture {
protected:
    Json config(const Words& more) const {
        Words words{"config", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        const auto finished = cli(words);
        EXPECT_EQ(finished.exitCode, 0) << finished.err;
        return Json::parse(finished.out, nullptr, false);
    }
    Finished load(const std::string& yaml) const { return cli({"config", "--config", write("run.yaml", yaml)}); }
};

TEST_F(Configuration, PrintsEverySwitchAndSetting) {
    const auto printed = config({"--preset", "tiny-cpu"});
    for (const char* key :
         {"layers", "heads", "width", "lr", "warmup", "seed", "tokenizer", "amp", "attention", "context", "batch-size", "optimizer"})
        EXPECT_TRUE(printed.contains(key)) << key;
    EXPECT_EQ(printed["tokenizer"], "byte");
    EXPECT_EQ(printed["batch-size"], 12);
    EXPECT_LE(printed["warmup"].get<int>(), 100);
}

TEST_F(Configuration, PrintedYamlReadsBackTheSame) {
    const Words changes{"--preset", "gpt2-small", "--set", "lr=0.000123", "--set", "data=a: b #c", "--set", "grad-clip=0.5"};
    Words printing{"config"};
    printing.insert(printing.end(), changes.begin(), changes.end());
    const auto file = write("whole.yaml", cli(printing).out);
    EXPECT_EQ(config({"--config", file}), config(changes));
}

TEST_F(Configuration, SaysWhatRunsInPlaceOfAChoiceThatCannot) {
    const auto printed = cli({"config", "--set", "fusion=step", "--set", "attention=manual"}).out;
    EXPECT_NE(printed.find("# fusion=step does not carry attention=manual: fusion=kernels is used."), std::string::npos) << printed;
    EXPECT_NE(printed.find("\nfusion: step"), std::string::npos) << printed;
}

TEST_F(Configuration, SaysOfAChoiceThatItDoesNothingBesideTheOthers) {
    const auto with = [&](Words words) {
        for (const char* more : {"--preset", "tiny-cpu", "--set", "device=cpu", "--set", "fusion=step", "--set", "zero-grad=zero"})
            words.emplace_back(more);
        return cli(words).out;
    };
    const std::string printed = with({"config"});
    EXPECT_NE(printed.find("\n# zero-grad=zero does nothing beside fusion=step"), std::string::npos) << printed;
    for (const auto& entry : Json::parse(with({"switches", "--json"})))
        EXPECT_EQ(entry["note"].get<std::string>().empty(), entry["id"] != "zero-grad") << entry;
}

TEST_F(Configuration, LaterSourcesWin) {
    const auto file = write("run.yaml", "layers: 6\nseed: 11\nsteps: 7\n");
    EXPECT_EQ(config({"--preset", "tiny-cpu"})["layers"], 4);
    EXPECT_EQ(config({"--preset", "tiny-cpu", "--config", file})["layers"], 6);
    EXPECT_EQ(config({"--set", "layers=8", "--preset", "tiny-cpu", "--config", file})["layers"], 8);
    EXPECT_EQ(config({"--set", "layers=8", "--set", "layers=9", "--config", file})["layers"], 9);
    EXPECT_EQ(config({"--set", "layers=8", "--config", file})["seed"], 11);
}

TEST_F(Configuration, APresetInTheFileIsWhereTheFileStarts) {
    const auto file = write("run.yaml", "heads: 6\npreset: gpt2-small\n");
    const auto read = config({"--preset", "tiny-cpu", "--config", file});
    EXPECT_EQ(read["preset"], "gpt2-small");
    EXPECT_EQ(read["width"], 768);
    EXPECT_EQ(read["heads"], 6);
}

TEST_F(Configuration, TheFileReachesTheRun) {
    const auto file = write("run.yaml", "seed: 5\nsteps: 4\nlr: 0.01\n");
    Words words{"train",    "--preset", "tiny-cpu", "--data", "generated", "--db",     database(),
                "--config", file,       "--set",    "seed=6", "--set",     "layers=1", "--json"};
    const auto finished = cli(words);
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    const auto stored = session(Json::parse(finished.out)["session"].get<std::int64_t>());
    EXPECT_EQ(stored["steps"], 4);
    EXPECT_EQ(stored["config"]["seed"], 6);
    EXPECT_EQ(stored["config"]["lr"], 0.01);
}

TEST_F(Configuration, NamesTheLineOfAnUnknownKey) {
    expectRefused(load("layers: 2\nwdth: 64\n"), {"run.yaml, line 2", "wdth"}, kBadInput);
}
TEST_F(Configuration, NamesTheLineOfAValueOfTheWrongKind) {
    expectRefused(load("\nheads: three\n"), {"run.yaml, line 2", "heads", "three"}, kBadInput);
}
TEST_F(Configuration, NamesTheLineOfAList) {
    expectRefused(load("layers: [1, 2]\n"), {"run.yaml, line 1", "layers"}, kBadInput);
}
TEST_F(Configuration, NamesTheLineOfAKeyWithoutAValue) {
    expectRefused(load("layers: 2\nheads:\n"), {"run.yaml, line 2", "heads"}, kBadInput);
}
TEST_F(Configuration, NamesTheLineOfAKeyGivenTwice) {
    expectRefused(load("layers: 2\nlayers: 3\n"), {"run.yaml, line 2", "layers"}, kBadInput);
}
TEST_F(Configuration, NamesTheLineOfBrokenYaml) {
    expectRefused(load("layers: 2\nheads: [1\n"), {"run.yaml", "line"}, kBadInput);
}
TEST_F(Configuration, NamesAFileThatIsNoMapping) {
    expectRefused(load("- layers\n- heads\n"), {"run.yaml"}, kBadInput);
}
TEST_F(Configuration, NamesAnEmptyFile) {
    expectRefused(load(""), {"run.yaml", "empty"}, kBadInput);
}
TEST_F(Configuration, AFileThatCannotBeReadIsNotCalledEmpty) {
    // Its first page is never mapped, so that reading fails as it does on a broken disk.
    expectRefused(cli({"config", "--config", "/proc/self/mem"}), {"/proc/self/mem cannot be read: "}, kIo);
}
TEST_F(Configuration, NamesAFileThatIsNoText) {
    expectRefused(load(std::string("lay\0ers: 2\n", 11)), {"run.yaml"}, kBadInput);
}
TEST_F(Configuration, NamesAnUnknownPresetInAFile) {
    expectRefused(load("preset: nope\n"), {"run.yaml, line 1", "nope"}, kBadInput);
}
TEST_F(Configuration, SurvivesDeepNesting) {
    expectRefused(load(std::string(100000, '[')), {"run.yaml"}, kBadInput);
}
TEST_F(Configuration, NamesAFileThatIsNotThere) {
    expectRefused(cli({"config", "--config", path("none.yaml")}), {"none.yaml"}, 4);
}
TEST_F(Configuration, NamesAFolder) {
    expectRefused(cli({"config", "--config", path(".")}), {path(".")}, kBadInput);
}

TEST_F(Configuration, ListsTheRegistryOfSwitches) {
    const auto finished = cli({"switches", "--json"});
    ASSERT_EQ(finished.exitCode, 0) << finished.err;
    const auto all = Json::parse(finished.out);
    ASSERT_GT(all.size(), 5u);
    bool attention = false;
    for (const auto& entry : all) {
        for (const char* key : {"id", "title", "values", "default", "takes_effect", "applicable", "reason", "why", "cost"})
            EXPECT_TRUE(entry.contains(key)) << entry;
        if (!entry["applicable"].get<bool>()) {
            EXPECT_FALSE(entry["reason"].get<std::string>().empty()) << entry;
        }
        attention = attention || entry["id"] == "attention";
    }
    EXPECT_TRUE(attention);
}

TEST_F(Configuration, PrintsTheSwitchesAsAMarkdownTable) {
    const auto finished = cli({"switches", "--markdown"});
    for (const auto& entry : Json::parse(cli({"switches", "--json"}).out)) {
        const auto id = entry["id"].get<std::string>();
        EXPECT_THAT(finished.out, testing::HasSubstr("\n| `" + id + "` | "));
        EXPECT_THAT(finished.out, testing::HasSubstr(" (`" + id + "`)\n" + entry["why"].get<std::string>()));
    }
}

TEST_F(Configuration, TheGuidesChaptersOnSwitchesAndSettingsAreWhatTheProgramSays) {
    for (const auto& [file, command] : {std::pair("switches.md", "switches"), std::pair("settings.md", "config")}) {
        const std::string chapter = read(std::string(STEPSCOPE_SOURCE "/resources/guide/") + file);
        const auto mark = chapter.find("<!-- from the program");
        ASSERT_NE(mark, std::string::npos) << file;
        EXPECT_EQ(chapter.substr(chapter.find('\n', mark) + 2), cli({command, "--markdown"}).out) << "packaging/guide writes it anew";
    }
}

// What a refusal says that there is: "…; choose one of a, b, c."
Words choicesIn(const std::string& refusal) {
    const std::string before = "one of ";
    const auto from = refusal.find(before) + before.size();
    std::istringstream list(refusal.substr(from, refusal.rfind('.') - from));
    Words all;
    for (std::string word; std::getline(list >> std::ws, word, ',');) all.push_back(word);
    return all;
}

TEST_F(Configuration, TheGuideHasALineForEveryScheduleAndEveryPreset) {
    const std::string chapter = read(STEPSCOPE_SOURCE "/resources/guide/settings.md");
    const Words schedules = choicesIn(cli({"config", "--set", "schedule=nope"}).err), presets = choicesIn(cli({"config", "--preset", "nope"}).err);
    EXPECT_EQ(schedules.size(), 8u);
    EXPECT_GE(presets.size(), 10u);
    for (const auto& word : schedules) EXPECT_THAT(chapter, testing::HasSubstr("\n| `" + word + "` | "));
    for (const auto& id : presets) {
        const auto preset = config({"--preset", id});
        const auto value = [&](const char* key) { return preset[key].dump(); };
        EXPECT_THAT(chapter, testing::ContainsRegex("\n\\| `" + id + "` \\| [^|]+ \\| " + value("layers") + ", " + value("heads") + ", " +
                                                    value("width") + " \\| " + value("context") + " \\| " + value("batch-size") + " x " +
                                                    value("grad-accumulation") + " \\| "));
    }
}

TEST_F(Configuration, TheTableOfSchedulesNamesTheKeysThatEachReads) {
    const std::string printed = cli({"config", "--markdown"}).out;
    for (const auto& [schedule, keys] : {std::pair{"constant", "`lr`"},
                                         {"warmup", "`lr`, `warmup`"},
                                         {"cosine", "`lr`, `min-lr`, `steps`"},
                                         {"linear", "`lr`, `min-lr`, `warmup`, `steps`"},
                                         {"warmup-cosine", "`lr`, `min-lr`, `warmup`, `steps`"},
                                         {"one-cycle", "`lr`, `steps`"},
                                         {"trapezoid", "`lr`, `min-lr`, `warmup`, `steps`"},
                                         {"range-test", "`lr`, `min-lr`, `steps`"}})
        EXPECT_THAT(printed, testing::ContainsRegex("\n\\| `" + std::string(schedule) + "` \\| [^|]+ \\| [^|]+ \\| " + keys + " \\|\n"));
}

TEST_F(Configuration, HelpExplainsTheExitCodes) {
    const auto finished = cli({"--help"});
    EXPECT_EQ(finished.exitCode, 0);
    EXPECT_THAT(finished.out, testing::HasSubstr("Exit codes"));
    EXPECT_THAT(cli({"train", "--help"}).out, testing::HasSubstr("--step-log"));
    EXPECT_THAT(cli({"--version"}).out, testing::HasSubstr("stepscope-cli"));
}

}  // namespace
}  // namespace stepscope::test
