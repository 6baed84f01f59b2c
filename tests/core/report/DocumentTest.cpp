// The parts that every report is made of: what of a text is left in it, by another reader of UTF-8; tables and paragraphs that stay such in Markdown;
// where it was measured; and what bars say where there is no room or no number.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <variant>

#include "core/base/Utf8.h"
#include "core/report/Html.h"
#include "core/report/Markdown.h"
#include "core/report/ReportFacts.h"
#include "core/report/Svg.h"

namespace stepscope::report {
namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(Document, PlainTextHasEveryLetterOfAnyBytesAndNoControlCharacter) {
    std::mt19937 random(41);
    const std::string letters = "a<\n\t\x01\x1B\x7F\xC2\x9B\xA9\xC3\xE2\x82\xAC\xED\xA0\x80\xF0\x9F\x98\x80\xF4\x90\xFF\xE0";
    for (int round = 0; round < 3000; ++round) {
        std::string text;
        for (int i = 0; i < 12; ++i) text += letters[random() % letters.size()];
        if (round % 5 == 0) text += "é→😀";
        std::string expected;
        for (std::string_view left = text; !left.empty();) {
            char32_t code = 0;
            const std::size_t length = utf8At(left, code);
            const bool control = (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0);
            if (length == 0)
                expected += "\xEF\xBF\xBD";
            else if (!control)
                expected += left.substr(0, length);
            left.remove_prefix(length == 0 ? 1 : length);
        }
        ASSERT_EQ(plainText(text), expected) << testing::PrintToString(text);
    }
}

TEST(Document, ACellOfMarkdownNeverEndsItsRow) {
    const Document document{"t", "", {Table{{"a", "b"}, {{"x | y\nz\\", "`|`"}, {"", "<b>&amp;"}}, 1}}};
    EXPECT_EQ(toMarkdown(document),
              "# t\n\n"
              "| a | b |\n"
              "| --- | ---: |\n"
              "| x \\| y z\\\\ | \\`\\|\\` |\n"
              "|  | &lt;b\\>&amp;amp; |\n");
}

TEST(Document, ATableWithoutAHeadHasAnEmptyOneAndOneWithoutRowsIsNone) {
    EXPECT_EQ(toMarkdown({"t", "", {Table{{}, {{"processor", "one"}}, 2}}}), "# t\n\n|  |  |\n| --- | --- |\n| processor | one |\n");
    EXPECT_EQ(toMarkdown({"t", "", {Table{{"a"}, {}, 1}, Paragraph{"end"}}}), "# t\n\nend\n");
}

TEST(Document, AParagraphStaysOneWhateverItBeginsWith) {
    const auto of = [](const char* text) { return toMarkdown({"t", "", {Paragraph{text}}}).substr(5); };
    EXPECT_EQ(of("- not a list"), "\\- not a list\n");
    EXPECT_EQ(of("+ nor this"), "\\+ nor this\n");
    EXPECT_EQ(of("3. nor this"), "3\\. nor this\n");
    EXPECT_EQ(of("12) nor this"), "12\\) nor this\n");
    EXPECT_EQ(of("---"), "\\---\n");
    EXPECT_EQ(of("    no code"), "no code\n");
    EXPECT_EQ(of("* * *"), "\\* \\* \\*\n");
    EXPECT_EQ(of("# no heading"), "\\# no heading\n");
    // And is left alone where it is none of them.
    for (const char* plain : {"3.5 % less", "-3 %", "+0.4 ms", "2026", "7", "(a)"}) EXPECT_EQ(of(plain), std::string(plain) + "\n");
    EXPECT_EQ(toMarkdown({"t", "1. of 2 runs", {}}), "# t\n\n1\\. of 2 runs\n");
}

TEST(Document, WhereItWasMeasuredNamesWhatThereIsAndWhatIsMissing) {
    ReportFacts facts;
    Document unknown;
    addMachine(unknown, facts);
    EXPECT_TRUE(contains(toMarkdown(unknown), "The machine was not stored."));
    facts.machineKnown = true;
    facts.machine.cpu = "A processor";
    facts.machine.cores = 1;
    facts.machine.memory = {8'000'000'000};
    facts.machine.whyNoCuda = "No NVIDIA driver is installed.";
    Document one;
    addMachine(one, facts);
    const std::string text = toMarkdown(one);
    EXPECT_TRUE(contains(text, "| A processor, 1 core |")) << text;
    EXPECT_TRUE(contains(text, "| 8.00\u202FGB |")) << text;
    EXPECT_TRUE(contains(text, "| No NVIDIA driver is installed. |")) << text;
    EXPECT_FALSE(contains(text, "instructions")) << "a row of nothing is none";
    EXPECT_FALSE(contains(text, "model"));
    facts.machine.cores = 2;
    facts.machine.gpus = {{.name = "H200", .memory = {141'000'000'000}}, {.name = "L4", .memory = {24'000'000'000}}};
    facts.parameters = 124'000'000;
    Document two;
    addMachine(two, facts);
    const std::string more = toMarkdown(two);
    EXPECT_TRUE(contains(more, "| A processor, 2 cores |")) << more;
    EXPECT_TRUE(contains(more, "| H200, 141\u202FGB; L4, 24.0\u202FGB |")) << more;
    EXPECT_TRUE(contains(more, "| 124\u202F000\u202F000 parameters |")) << more;
    EXPECT_FALSE(contains(more, "No NVIDIA"));
}

TEST(Document, ALineToTypeIsAskedForOnlyWhereThereIsOne) {
    Document document;
    addRepeat(document, {});
    EXPECT_TRUE(document.blocks.empty());
    ReportFacts facts;
    facts.repeat = "stepscope-cli ladder known";
    addRepeat(document, facts);
    ASSERT_EQ(document.blocks.size(), 2u);
    EXPECT_EQ(std::get<Code>(document.blocks[1]).text, facts.repeat);
}

TEST(Bars, CutLongNamesAtALetterAndSayHowManyAreLeftOut) {
    std::string letters;
    for (int i = 0; i < 34; ++i) letters += "é";
    BarPicture picture{.label = "times as fast", .bars = {{.name = letters, .ratio = 1.5}}};
    EXPECT_TRUE(contains(toSvg(picture), ">" + letters + "</text>")) << "34 letters fit, however many bytes they are";
    picture.bars[0].name = letters + "é";
    EXPECT_TRUE(contains(toSvg(picture), ">" + letters + "…</text>"));
    picture.bars.assign(200, {.name = "rung", .ratio = 1.5});
    EXPECT_FALSE(contains(toSvg(picture), "the first"));
    picture.bars.push_back(picture.bars.front());
    EXPECT_TRUE(contains(toSvg(picture), "times as fast; the first 200 of 201</text>"));
}

TEST(Bars, AreWrittenWithTheirIntervalAndWhatIsNoRatioWithItsNote) {
    BarPicture picture{.label = "a & b", .bars = {{.name = "up", .ratio = 2, .low = 1.5, .high = 3}, {.name = "open", .ratio = 1.25}}};
    for (const double none : {0.0, -2.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        picture.bars.push_back({.name = "none", .ratio = none, .low = none, .high = none, .note = "it <diverged>"});
    const std::string svg = toSvg(picture);
    EXPECT_TRUE(contains(svg, ">×2.00 [1.50, 3.00]</text>"));
    EXPECT_TRUE(contains(svg, ">×1.25</text>"));
    std::size_t notes = 0;
    for (std::size_t at = svg.find("it &lt;diverged&gt;"); at != std::string::npos; at = svg.find("it &lt;diverged&gt;", at + 1)) ++notes;
    EXPECT_EQ(notes, 4u);
    EXPECT_TRUE(contains(svg, "aria-label=\"a &amp; b\""));
    EXPECT_FALSE(contains(svg, "nan"));
    EXPECT_FALSE(contains(svg, "=\"inf") || contains(svg, "=\"-inf"));
}

TEST(Pairs, ThoseThatWereLeftOutDoNotStretchTheAxis) {
    PairPicture picture{.dots = {{.ratio = 1.02}, {.ratio = 1000, .leftOut = true}}, .aboveOne = "B <is> faster", .belowOne = {}};
    const std::string svg = toSvg(picture);
    EXPECT_TRUE(contains(svg, "pair 1: 1.0200</title>"));
    EXPECT_TRUE(contains(svg, "pair 2: 1000.0000, left out, beyond the axis</title>")) << svg;
    EXPECT_TRUE(contains(svg, ">B &lt;is&gt; faster</text>"));
}

}  // namespace
}  // namespace stepscope::report
