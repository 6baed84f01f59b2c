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
}

TEST(Options, OpensAStoredSession) {
    EXPECT_EQ(parse({"--session", "12"}).options->session, 12);
}

TEST(Options, AnswersHelpAndVersionWithoutAWindow) {
    const auto help = parse({"--help"});
    EXPECT_FALSE(help.options.has_value());
    EXPECT_EQ(help.exitCode, 0);
    for (const char* option : {"--demo", "--set", "--db", "--session", "--theme", "--screenshot", "--after", "--engine", "--can-show"})
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
