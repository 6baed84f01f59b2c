// Where values of JSON end in bytes that may end anywhere, what a text says, and times without a floating-point number in between: by hand, and
// against nlohmann's parser on documents that are drawn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "sessions/importers/JsonScan.h"

namespace stepscope::importing {
namespace {

using nlohmann::json;

std::pair<Scan, std::size_t> value(std::string_view text) {
    const char* at = text.data();
    const Scan scan = skipJsonValue(at, text.data() + text.size());
    return {scan, static_cast<std::size_t>(at - text.data())};
}

TEST(JsonScan, EndsAValueWhereItEnds) {
    const std::vector<std::pair<std::string, std::size_t>> values{
        {"{\"a\": [1, {\"b\": \"}]\"}]} rest", 23}, {"[] ", 2}, {"\"x\\\"y\" ,", 6}, {"12.5e3,", 6}, {"true}", 4}, {"null]", 4}, {"-0 ", 2}};
    for (const auto& [text, length] : values) {
        const auto [scan, end] = value(text);
        EXPECT_EQ(scan, Scan::Done) << text;
        EXPECT_EQ(end, length) << text;
    }
}

TEST(JsonScan, WantsMoreWhereTheBytesEndInTheMiddleWhereverThatIs) {
    const std::string whole = R"({"name": "aten::\"mm\\", "args": {"Input Dims": [[2, 3], []], "x": -1.5e-3}, "n": null})";
    ASSERT_EQ(value(whole).first, Scan::Done);
    for (std::size_t cut = 0; cut < whole.size(); ++cut) EXPECT_EQ(value(whole.substr(0, cut)).first, Scan::More) << cut;
}

TEST(JsonScan, RefusesBracketsThatDoNotMatchAndWordsThatAreNone) {
    for (const char* text : {"[1}", "{\"a\": 1]", "[[]}", ",", "}", "]", "a\"b\"", "1:2,", "nu{"}) EXPECT_EQ(value(text).first, Scan::Bad) << text;
    EXPECT_EQ(value(std::string(5000, '1') + ",").first, Scan::Bad) << "no number is so long";
}

TEST(JsonScan, NestsAsDeepAsItSaysAndNoDeeper) {
    const auto nested = [](int depth) {
        return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
    };
    EXPECT_EQ(value(nested(kDeepestJson)).first, Scan::Done);
    EXPECT_EQ(value(nested(kDeepestJson + 1)).first, Scan::TooDeep);
    EXPECT_EQ(value(std::string(1'000'000, '[')).first, Scan::TooDeep);
}

// Quotes and backslashes at every place of the sixteen bytes that are looked at together.
TEST(JsonScan, FindsTheEndOfATextAtEveryPlace) {
    for (std::size_t before = 0; before < 40; ++before)
        for (const char* escaped : {"", "\\\"", "\\\\", "\\\\\\\""}) {
            const std::string text = std::string(before, 'a') + escaped + "\" tail \"";
            const char* at = text.data();
            bool plain = false;
            ASSERT_EQ(skipJsonText(at, text.data() + text.size(), plain), Scan::Done) << before << escaped;
            EXPECT_EQ(static_cast<std::size_t>(at - text.data()), before + std::string_view(escaped).size() + 1);
            EXPECT_EQ(plain, *escaped == '\0');
        }
    const std::string cut = "abc\\";
    const char* at = cut.data();
    bool plain = true;
    EXPECT_EQ(skipJsonText(at, cut.data() + cut.size(), plain), Scan::More);
    EXPECT_EQ(at, cut.data()) << "it is looked at again from its begin";
}

TEST(JsonScan, ReadsEscapesPairsAndHalvesOfThem) {
    EXPECT_EQ(jsonText(R"(a\"\\\/\b\f\n\r\tz)", 100), "a\"\\/\b\f\n\r\tz");
    EXPECT_EQ(jsonText(R"(\u0041\u00e9\u20ac\ud83d\ude00)", 100), "A\u00e9\u20ac\U0001F600");
    EXPECT_EQ(jsonText(R"(\ud83d!)", 100), "\uFFFD!") << "half of a pair";
    EXPECT_EQ(jsonText(R"(\ude00\ud83d\u0041)", 100), "\uFFFD\uFFFDA");
    EXPECT_EQ(jsonText(R"(\q\u12)", 100), "qu12") << "what is no escape stays";
    EXPECT_EQ(jsonText("a\\", 100), "a\\");
}

TEST(JsonScan, CutsALongTextBetweenCharacters) {
    for (std::size_t most = 0; most < 12; ++most) {
        const std::string cut = jsonText("a\u20ac\u20ac\U0001F600z", most);
        EXPECT_LE(cut.size(), most);
        EXPECT_TRUE(json::accept('"' + cut + '"')) << most << ": no character is torn";
    }
    EXPECT_EQ(jsonText("abc", 3), "abc");
}

TEST(JsonScan, ATextSaysWhatNlohmannSays) {
    std::mt19937 random(7);
    for (int i = 0; i < 2000; ++i) {
        std::string text;
        for (int c = 0; c < 20; ++c) {
            const std::uint32_t code = random() % 3 == 0 ? random() % 0x80 : random() % 3 == 0 ? 0x1F600 + random() % 64 : 0xa0 + random() % 0x700;
            text += code < 0x80    ? std::string(1, static_cast<char>(code))
                    : code < 0x800 ? std::string{static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))}
                                   : std::string{static_cast<char>(0xf0 | code >> 18), static_cast<char>(0x80 | (code >> 12 & 0x3f)),
                                                 static_cast<char>(0x80 | (code >> 6 & 0x3f)), static_cast<char>(0x80 | (code & 0x3f))};
        }
        const std::string written = json(text).dump(-1, ' ', random() % 2 == 0);
        EXPECT_EQ(jsonText(std::string_view(written).substr(1, written.size() - 2), 1000), text) << written;
    }
}

TEST(JsonScan, CompactIsTheSameValueWithoutSpaceAndControlCharacters) {
    std::string compact;
    appendCompact(compact, "{ \"a b\" : [ 1 ,\t2 ] ,\n \"c\" : \"x \\\" y\" }");
    EXPECT_EQ(compact, "{\"a b\":[1,2],\"c\":\"x \\\" y\"}");
    compact.clear();
    appendCompact(compact, "\"a\nb\x01\"");
    EXPECT_EQ(compact, "\"a\\u000ab\\u0001\"");
    EXPECT_TRUE(isJson(compact));
    EXPECT_FALSE(isJson("{\"a\":}"));
}

TEST(JsonScan, MicrosecondsBecomeNanosecondsExactly) {
    const std::vector<std::pair<std::string, std::int64_t>> exact{{"0", 0},
                                                                  {"1", 1000},
                                                                  {"-1", -1000},
                                                                  {"1.5", 1500},
                                                                  {"0.001", 1},
                                                                  {"1700000000000000.123", 1700000000000000123},
                                                                  {"9223372036854775.807", 9223372036854775807},
                                                                  {"1.2345", 1235},
                                                                  {"1.2344", 1234},
                                                                  {"-1.2345", -1235},
                                                                  {"1e3", 1000000},
                                                                  {"1.5E+2", 150000},
                                                                  {"2500e-3", 2500},
                                                                  {"4e-4", 0},
                                                                  {"5e-4", 1},
                                                                  {"0e300", 0},
                                                                  {"12345e-300", 0}};
    for (const auto& [text, ns] : exact) EXPECT_EQ(thousandfold(text), ns) << text;
    for (const char* none : {"", "-", ".", "1.2.3", "a", "1e", "1e+", "1x", "9223372036854775.808", "9223372036854775.8075", "18446744073709551.6159",
                             "99999999999999999999", "1e30", "1e999", "--1"})
        EXPECT_EQ(thousandfold(none), std::nullopt) << none;
}

TEST(JsonScan, MicrosecondsOfAnyDigitsAreThoseOfWholeNumbers) {
    std::mt19937_64 random(3);
    for (int i = 0; i < 20'000; ++i) {
        const std::int64_t ns = static_cast<std::int64_t>(random() >> (1 + random() % 60));
        std::string text = std::to_string(ns / 1000) + '.';
        const std::string rest = std::to_string(1000 + ns % 1000).substr(1);
        text += rest;
        EXPECT_EQ(thousandfold(text), ns) << text;
        EXPECT_EQ(thousandfold('-' + text), -ns) << text;
        EXPECT_EQ(thousandfold(text + "4999"), ns) << "below half of a nanosecond";
    }
}

TEST(JsonScan, ReadsWholeNumbersQuotedAndHexadecimal) {
    EXPECT_EQ(wholeNumber("12"), 12);
    EXPECT_EQ(wholeNumber("\"-7\""), -7);
    EXPECT_EQ(wholeNumber("\"0x1f\""), 31);
    for (const char* none : {"", "\"\"", "0x", "1.0", "12a", "99999999999999999999", "\"1"}) EXPECT_EQ(wholeNumber(none), std::nullopt) << none;
}

}  // namespace
}  // namespace stepscope::importing
