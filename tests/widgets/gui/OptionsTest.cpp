// The window's command line: what is accepted, and one sentence for what is not.
#include <gtest/gtest.h>

#include "app/gui/process/Options.h"

namespace stepscope {
namespace {

ParsedOptions parse(QStringList arguments) {
    arguments.prepend("stepscope");
    return parseOptions(arguments);
}

TEST(Options, TakesWhatTheWindowTakes) {
    const auto parsed = parse({"--demo", "--db", "s.db", "--theme", "dark", "--screenshot", "w.png", "--after", "1.5", "--size", "1280x800"});
    ASSERT_TRUE(parsed.options.has_value()) << parsed.text.toStdString();
    EXPECT_TRUE(parsed.options->demo);
    EXPECT_EQ(parsed.options->database, "s.db");
    EXPECT_EQ(parsed.options->theme, Theme::Dark);
    EXPECT_EQ(parsed.options->screenshot, "w.png");
    EXPECT_DOUBLE_EQ(parsed.options->afterSeconds, 1.5);
    EXPECT_EQ(parsed.options->size, QSize(1280, 800));
}

TEST(Options, TakesSettingsForTheDemonstrationInTheirOrder) {
    const auto parsed = parse({"--demo", "--set", "steps=50", "--set", "amp=bf16"});
    ASSERT_TRUE(parsed.options.has_value()) << parsed.text.toStdString();
    EXPECT_EQ(parsed.options->settings, QStringList({"steps=50", "amp=bf16"}));
}

TEST(Options, TrainsInThisProcessUnlessAnotherIsAskedFor) {
    EXPECT_FALSE(parse({"--demo"}).options->engine);
    EXPECT_TRUE(parse({"--engine", "--demo"}).options->engine);
    EXPECT_TRUE(parse({"--engine", "--demo"}).options->engineWords.empty());
}

TEST(Options, TrainsOnAnotherMachineByTheUsersOwnSshOrByACommandOfTheirOwn) {
    using Words = std::vector<std::string>;
    EXPECT_EQ(parse({"--engine-on", "me@rack"}).options->engineWords,
              (Words{"ssh", "-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15", "me@rack", "stepscope-cli", "engine", "--detach"}));
    EXPECT_EQ(parse({"--engine-command", "ssh rack 'my bin/stepscope-cli' engine"}).options->engineWords,
              (Words{"ssh", "rack", "my bin/stepscope-cli", "engine"}));
    EXPECT_TRUE(parse({"--engine-on", "-oProxyCommand=x"}).text.startsWith("--engine-on: \"-oProxyCommand=x\" cannot be a machine's name for ssh"));
    EXPECT_TRUE(parse({"--engine-command", "ssh 'rack"}).text.contains("a quotation in it has no end"));
    EXPECT_TRUE(parse({"--engine", "--engine-on", "rack"}).text.contains("exclude each other"));
}

TEST(Options, AnEngineThatDoesNotAnswerIsOneSentence) {
    auto refused = [](const QString& command) {
        auto parsed = parse({"--engine-command", command});
        const QString why = findEngine(*parsed.options);
        EXPECT_FALSE(parsed.options->elsewhere);
        return why;
    };
    EXPECT_EQ(refused("sh -c 'echo \"Permission denied (publickey).\" >&2; exit 255'").section(" cannot be used: ", 1),
              "the engine ended with status 255: Permission denied (publickey).");
    EXPECT_TRUE(refused("sh -c 'echo Welcome; cat'").contains("cannot be used: what answered is no engine of Stepscope: it began with \"Welcome\""));
    EXPECT_TRUE(refused("/nowhere/ssh rack").contains("cannot be used: the engine cannot be started: \"/nowhere/ssh\""));
}

TEST(Options, OpensAStoredSession) {
    EXPECT_EQ(parse({"--session", "12"}).options->session, 12);
}

TEST(Options, AnswersHelpAndVersionWithoutAWindow) {
    const auto help = parse({"--help"});
    EXPECT_FALSE(help.options.has_value());
    EXPECT_EQ(help.exitCode, 0);
    for (const char* option :
         {"--demo", "--set", "--db", "--session", "--theme", "--screenshot", "--after", "--engine", "--engine-on", "--engine-command", "--can-show"})
        EXPECT_TRUE(help.text.contains(option)) << option;
    EXPECT_TRUE(parse({"--version"}).text.contains(STEPSCOPE_VERSION));
}

TEST(Options, RefusesWhatItDoesNotKnowWithOneSentenceAndExitCodeTwo) {
    for (const QStringList& wrong : {QStringList{"--fast"},
                                     {"file.txt"},
                                     {"--session", "0"},
                                     {"--session", "x"},
                                     {"--theme", "blue"},
                                     {"--after", "3"},
                                     {"--db", ""},
                                     {"--demo", "--session", "1"},
                                     {"--demo", "--set", "steps"},
                                     {"--demo", "--set", "=5"},
                                     {"--set", "steps=5"},
                                     {"--screenshot", "w.png", "--after", "-1"},
                                     {"--screenshot", "w.png", "--after", "nan"},
                                     {"--size", "big"},
                                     {"--size", "10x10"}}) {
        const auto parsed = parse(wrong);
        EXPECT_FALSE(parsed.options.has_value()) << wrong.join(' ').toStdString();
        EXPECT_EQ(parsed.exitCode, 2);
        EXPECT_TRUE(parsed.text.endsWith('.')) << parsed.text.toStdString();
        EXPECT_FALSE(parsed.text.contains('\n'));
    }
}

}  // namespace
}  // namespace stepscope
