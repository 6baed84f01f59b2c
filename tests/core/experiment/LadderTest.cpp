// Ladders as files: what is read, what is refused, and with which line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/base/Utf8.h"
#include "core/experiment/Ladder.h"

namespace stepscope {
namespace {

using testing::HasSubstr;

std::string refused(const std::string& text) {
    const auto ladder = parseLadder(text, "mine.yaml", "mine");
    if (ladder.ok()) return "was read";
    EXPECT_EQ(ladder.error().code, ErrorCode::BadInput);
    const std::string& sentence = ladder.error().sentence;
    EXPECT_TRUE(sentence.starts_with("mine.yaml")) << sentence;
    EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
    EXPECT_LT(sentence.size(), 400u);
    return sentence;
}

SwitchCatalogue twoSwitches() {
    SwitchCatalogue all;
    all.push_back({.id = "amp", .values = Choices{{"off", "bf16"}}, .byDefault = std::string("off")});
    all.push_back({.id = "fusion", .values = Choices{{"off", "step"}}, .byDefault = std::string("off")});
    return all;
}

TEST(Ladder, IsAListOfSettingsOrAMappingWithMore) {
    const auto plain = parseLadder("- amp=bf16\n- fusion=step amp=off\n", "mine.yaml", "mine").value();
    EXPECT_EQ(plain.title, "mine");
    ASSERT_EQ(plain.rungs.size(), 2u);
    EXPECT_EQ(plain.rungs[1].settings.size(), 2u);
    EXPECT_EQ(plain.rungs[1].name, "fusion=step amp=off");
    EXPECT_EQ(plain.rungs[1].line, 2);
    const auto whole = parseLadder(
        "title: precision\nunit: ms\nbottom:\n  name: plain\n  set: amp=off\n  reported: 1000\nrungs:\n  - name: bf16\n    set: amp=bf16\n"
        "    reported: 300 ms\n",
        "mine.yaml", "mine");
    ASSERT_TRUE(whole.ok()) << whole.error().sentence;
    EXPECT_EQ(whole->title, "precision");
    EXPECT_EQ(whole->bottom.reported, "1000");
    EXPECT_EQ(whole->rungs[0].reported, "300 ms");
    EXPECT_EQ(settingsWords(whole->rungs[0]), "amp=bf16");
}

TEST(Ladder, TheBuiltInOnesAreThoseOfTheWriteUpsWithTheirFigures) {
    EXPECT_THAT(builtInLadders(), testing::ElementsAre("four-hours", "precision-to-padding", "sixteen-fold"));
    for (const auto& name : builtInLadders()) {
        const auto ladder = loadLadder(name);
        ASSERT_TRUE(ladder.ok()) << ladder.error().sentence;
        EXPECT_EQ(ladder->title, name);
        EXPECT_TRUE(ladderWords(*ladder).starts_with(ladder->bottom.name + " → " + ladder->rungs.front().name)) << ladderWords(*ladder);
        EXPECT_GE(ladder->rungs.size(), 6u);
        EXPECT_FALSE(ladder->bottom.reported.empty());
        EXPECT_FALSE(ladder->rungs.back().reported.empty());
    }
    const auto precision = loadLadder("precision-to-padding").value();
    std::vector<std::string> reported{precision.bottom.reported};
    for (const auto& rung : precision.rungs) reported.push_back(rung.reported);
    EXPECT_THAT(reported, testing::ElementsAre("1000", "333", "300", "130", "96", "93", "90"));
}

TEST(Ladder, RefusesWhatIsNoneInOneSentenceWithItsLine) {
    EXPECT_THAT(refused(""), HasSubstr("no rungs"));
    EXPECT_THAT(refused("[]"), HasSubstr("no rungs"));
    EXPECT_THAT(refused("# nothing yet\n---\n"), HasSubstr("no rungs"));
    EXPECT_THAT(refused("\"- amp=bf16\n- fusion=step\n"), HasSubstr("A quote (\") that is not closed may be why."));
    EXPECT_THAT(refused("- \"amp=bf16\n- fusion=step\n"), HasSubstr("A quote (\") that is not closed may be why."));
    EXPECT_THAT(refused("title: x\n"), HasSubstr("no rungs"));
    EXPECT_THAT(refused("title: x\nrungs: []\n"), HasSubstr("no rungs"));
    EXPECT_THAT(refused("just words"), HasSubstr("a list"));
    EXPECT_THAT(refused("- amp=bf16\n- amp\n"), testing::AllOf(HasSubstr("line 2"), HasSubstr("key=value")));
    EXPECT_THAT(refused("- amp=bf16\n- fusion=step\n- amp=bf16\n"), testing::AllOf(HasSubstr("line 3"), HasSubstr("at line 1")));
    EXPECT_THAT(refused("- amp=bf16 amp=off\n"), HasSubstr("twice in one rung"));
    EXPECT_THAT(refused("rungs:\n  - set: amp=bf16\n    colour: red\n"), testing::AllOf(HasSubstr("line 3"), HasSubstr("colour")));
    EXPECT_THAT(refused("include: other.yaml\nrungs:\n  - amp=bf16\n"), testing::AllOf(HasSubstr("include"), HasSubstr("includes nothing")));
    EXPECT_THAT(refused("rungs: {a: b}\n"), HasSubstr("a list"));
    EXPECT_THAT(refused("- [amp=bf16]\n"), HasSubstr("no rung"));
    EXPECT_THAT(refused("- {name: x}\n"), HasSubstr("sets nothing"));
    EXPECT_THAT(refused("- {set: [a=b]}\n"), HasSubstr("set takes"));
    EXPECT_THAT(refused("title: {a: b}\nrungs:\n  - amp=bf16\n"), HasSubstr("title"));
    EXPECT_THAT(refused("title: a\ntitle: b\nrungs:\n  - amp=bf16\n"), testing::AllOf(HasSubstr("line 2"), HasSubstr("twice")));
    EXPECT_THAT(refused("- {amp: bf16"), HasSubstr("not YAML"));
    EXPECT_THAT(refused("rungs:\n\t- amp=bf16\n"), testing::AllOf(HasSubstr(", line 2: "), HasSubstr("a tab indents the line")));
    EXPECT_THAT(refused("- [a"), testing::Not(HasSubstr("end of sequence"))) << "the parser's own words";
    EXPECT_THAT(refused(std::string("- amp=bf16\0x", 12)), HasSubstr("UTF-8"));
    EXPECT_THAT(refused("title: caf\xe9\nrungs:\n  - amp=bf16\n"), HasSubstr("UTF-8"));
}

TEST(Ladder, TenThousandRungsACycleAndDeepNestingAreRefusedAtOnce) {
    std::string many;
    for (int i = 0; i < 10'000; ++i) many += "- batch-size=" + std::to_string(i + 1) + "\n";
    EXPECT_THAT(refused(many), testing::AllOf(HasSubstr("10000 rungs"), HasSubstr("at most 30")));
    EXPECT_NE(refused("- &a [*a]\n"), "was read");
    EXPECT_NE(refused("rungs: &r\n  - *r\n"), "was read");
    EXPECT_THAT(refused(std::string(100'000, '[')), HasSubstr("brackets"));
    EXPECT_THAT(refused("title: " + std::string(2'000'000, 'x')), HasSubstr("too large"));
    EXPECT_THAT(refused("- " + std::string(100'000, 'k') + "=1\n"), HasSubstr("longer than 200 bytes"));
}

TEST(Ladder, WhatIsQuotedOfALineIsCutBetweenTwoLettersAndShowsAsWritten) {
    std::string letters = "a";
    for (int i = 0; i < 30; ++i) letters += "é";  // the fortieth byte lies in the middle of one
    const std::string sentence = refused("- " + letters + "\n");
    EXPECT_TRUE(isUtf8(sentence)) << sentence;
    EXPECT_THAT(sentence, testing::AllOf(HasSubstr("aéé"), HasSubstr("é...")));
    EXPECT_THAT(refused("- turned\u202Eround\n"), testing::Not(HasSubstr("\u202E"))) << "it would turn the rest of the sentence round";
}

// yaml-cpp's own LoadAll() makes documents of such a rest without end.
TEST(Ladder, WhatStandsBehindItsOnlyDocumentIsRefused) {
    for (const char* text : {", \"content\": \"<|end|>\"}]}", "- amp=bf16\n}]\n", "]", "- amp=bf16\n---\n- amp=off\n"}) {
        const auto ladder = parseLadder(text, "mine.yaml", "mine");
        ASSERT_FALSE(ladder) << text;
        EXPECT_TRUE(ladder.error().sentence.starts_with("mine.yaml")) << ladder.error().sentence;
    }
    EXPECT_TRUE(parseLadder("---\n- amp=bf16\n", "mine.yaml", "mine")) << "one that begins with its mark is one";
}

TEST(Ladder, AnUnknownKeyOrValueIsNamedWithItsLineBeforeAnythingRuns) {
    const auto check = [](const std::string& text) {
        return checkLadder(parseLadder(text, "mine.yaml", "mine").value(), RunConfig{}, twoSwitches());
    };
    EXPECT_TRUE(check("- amp=bf16\n- fusion=step\n- layers=2\n").ok());
    EXPECT_THAT(check("- amp=bf16\n- colour=red\n").error().sentence, testing::AllOf(HasSubstr("mine.yaml, line 2"), HasSubstr("colour")));
    EXPECT_THAT(check("- amp=bf16\n- fusion=whole\n").error().sentence, testing::AllOf(HasSubstr("mine.yaml, line 2"), HasSubstr("whole")));
    EXPECT_THAT(check("bottom: {set: amp=fp64}\nrungs: [amp=bf16]\n").error().sentence, testing::AllOf(HasSubstr("line 1"), HasSubstr("fp64")));
}

TEST(Ladder, RungsAreSetOnTopOfTheBottomInTheirOrder) {
    const auto ladder = parseLadder("bottom: {set: amp=off layers=2}\nrungs:\n  - amp=bf16\n  - layers=3\n  - layers=5\n", "mine.yaml", "").value();
    const auto config = onLadder(ladder, {0, 2}, RunConfig{}, twoSwitches()).value();
    EXPECT_EQ(config.layers, 5);
    EXPECT_EQ(config.word("amp"), "bf16");
    EXPECT_EQ(onLadder(ladder, {}, RunConfig{}, twoSwitches()).value().layers, 2);
}

TEST(Ladder, AFileThatIsNotThereNamesTheKnownLadders) {
    const auto missing = loadLadder("no-such-ladder");
    EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
    EXPECT_THAT(missing.error().sentence, HasSubstr("precision-to-padding"));
    EXPECT_EQ(loadLadder("/").error().code, ErrorCode::BadInput);
}

TEST(Ladder, AFileThatCannotBeReadIsASentence) {
    // Its first page is never mapped, so that reading fails as it does on a broken disk.
    const auto unread = loadLadder("/proc/self/mem");
    EXPECT_EQ(unread.error().code, ErrorCode::Io);
    EXPECT_THAT(unread.error().sentence, HasSubstr("/proc/self/mem cannot be read: "));
}

}  // namespace
}  // namespace stepscope
