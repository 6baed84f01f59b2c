// Text of strangers as a terminal may show it: what of UTF-8 is well-formed, against a table of every way in which it is not, and what is taken out.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>

#include "core/base/Utf8.h"

namespace stepscope {
namespace {

const std::string kReplaced = "\xEF\xBF\xBD";

// RFC 3629, section 3: the bits of the code point laid out by hand.
std::string encoded(char32_t code) {
    const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
    if (code < 0x80) return {static_cast<char>(code)};
    if (code < 0x800) return {static_cast<char>(0xC0 | (code >> 6)), tail(0)};
    if (code < 0x10000) return {static_cast<char>(0xE0 | (code >> 12)), tail(6), tail(0)};
    return {static_cast<char>(0xF0 | (code >> 18)), tail(12), tail(6), tail(0)};
}

TEST(PrintableText, EveryCodePointIsReadBackExactlyAndNoSurrogateIs) {
    for (char32_t code = 0; code <= 0x10FFFF; code += code < 0x11000 ? 1 : 97) {
        const std::string text = encoded(code) + "x";
        char32_t read = 0;
        const std::size_t length = utf8At(text, read);
        if (code >= 0xD800 && code < 0xE000) {
            ASSERT_EQ(length, 0u) << static_cast<std::uint32_t>(code);
        } else {
            ASSERT_EQ(length, text.size() - 1) << static_cast<std::uint32_t>(code);
            ASSERT_EQ(read, code);
        }
    }
}

TEST(PrintableText, ABeginningNeverEndsWithinACharacter) {
    for (const char* character : {"x", "\u00E4", "\u20AC", "\U0001F600"}) {
        const std::string one = character, text = "ab" + one + one;
        for (std::size_t most = 0; most <= text.size() + 1; ++most) {
            const std::size_t whole = most < 2 ? most : std::min(text.size(), 2 + (most - 2) / one.size() * one.size());
            EXPECT_EQ(firstBytes(text, most), text.substr(0, whole)) << one << " " << most;
        }
    }
    EXPECT_EQ(firstBytes("\x80\x80\x80\x80\x80", 3), "\x80\x80\x80") << "what is no UTF-8 is cut where it is";
}

TEST(PrintableText, RefusesEveryFormOfUtf8ThatIsNone) {
    for (const char* wrong : {"\x80",
                              "\xBF",
                              "\xC0\x80",
                              "\xC1\xBF",  // a letter's end alone; two bytes where one is enough
                              "\xE0\x80\x80",
                              "\xE0\x9F\xBF",  // three where two are
                              "\xF0\x80\x80\x80",
                              "\xF0\x8F\xBF\xBF",  // four where three are
                              "\xED\xA0\x80",
                              "\xED\xBF\xBF",  // surrogates
                              "\xF4\x90\x80\x80",
                              "\xF5\x80\x80\x80",
                              "\xFF",  // beyond the last code point
                              "\xC3",
                              "\xE2\x82",
                              "\xF0\x9F\x98",  // cut off by the text's end
                              "\xC3(",
                              "\xE2\x82(",
                              "\xE2(\x82",
                              "\xF0\x9F\x98("}) {  // or by another letter
        char32_t code = 0;
        EXPECT_EQ(utf8At(wrong, code), 0u) << testing::PrintToString(std::string(wrong));
    }
}

TEST(PrintableText, TakesOutWhatATerminalWouldObey) {
    EXPECT_EQ(printable("\x1B[2Jgone\x07"), kReplaced + "[2Jgone" + kReplaced);
    EXPECT_EQ(printable("a\x7F"
                        "b"),
              "a" + kReplaced + "b");
    EXPECT_EQ(printable("a\xC2\x9B"
                        "31m"),
              "a" + kReplaced + "31m")
        << "the eight-bit form of ESC [";
    EXPECT_EQ(printable("exe.\xE2\x80\xAEtxt"), "exe." + kReplaced + "txt") << "would be read from right to left";
    EXPECT_EQ(printable("\xE2\x81\xA6"
                        "a\xE2\x81\xA9"),
              kReplaced + "a" + kReplaced);
    EXPECT_EQ(printable(std::string("a\0b", 3)), "a" + kReplaced + "b");
}

TEST(PrintableText, LeavesWordsOfEveryLanguageAsTheyAre) {
    for (const char* text : {"naïve façade", "Müller · 数据 · данные · עברית", "😀 ½ → …",
                             "a\xC2\xA0"
                             "b"})
        EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable(""), "");
}

TEST(PrintableText, KeepsLinesWhereTheyAreWantedAndNoCarriageReturn) {
    EXPECT_EQ(printable("one\n\ttwo"), "one" + kReplaced + kReplaced + "two");
    EXPECT_EQ(printable("one\n\ttwo", true), "one\n\ttwo");
    EXPECT_EQ(printable("50 %\r100 %", true), "50 %" + kReplaced + "100 %") << "it would write over what stands there";
}

// One mark a byte that belongs to no letter, and what stands beside it is not swallowed.
TEST(PrintableText, BrokenBytesDoNotTakeTheirNeighboursWithThem) {
    EXPECT_EQ(printable("a\xE2\x82z"), "a" + kReplaced + kReplaced + "z");
    EXPECT_EQ(printable("\xC3\xC3\xA9"), kReplaced + "é");
    EXPECT_EQ(printable("é\xF0\x9F"), "é" + kReplaced + kReplaced);
}

TEST(PrintableText, WhateverTheBytesWhatIsShownIsWellFormedAndShownAgainTheSame) {
    std::mt19937 random(11);
    for (int round = 0; round < 2000; ++round) {
        std::string text;
        for (int i = 0; i < 24; ++i) text += random() % 3 == 0 ? static_cast<char>(random() % 128) : static_cast<char>(128 + random() % 128);
        for (const bool keepLines : {false, true}) {
            const std::string shown = printable(text, keepLines);
            for (std::size_t at = 0; at < shown.size();) {
                char32_t code = 0;
                const std::size_t length = utf8At(std::string_view(shown).substr(at), code);
                ASSERT_GT(length, 0u) << testing::PrintToString(text);
                ASSERT_TRUE(showsAsWritten(code) || (keepLines && (code == '\n' || code == '\t'))) << testing::PrintToString(text);
                at += length;
            }
            ASSERT_EQ(printable(shown, keepLines), shown);
        }
    }
}

TEST(PrintableText, InPiecesIsTheSameWhereverItIsCut) {
    std::mt19937 random(12);
    const std::string letters[] = {"a", "é", "€", "\U0001F642", "\x1b", "\n", "\xE2\x82", "\xF0", "\x80", "\xED\xA0\x80"};
    for (int round = 0; round < 2000; ++round) {
        std::string text, shown;
        for (int i = 0; i < 12; ++i) text += letters[random() % std::size(letters)];
        PrintableStream stream;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t piece = 1 + random() % 5;
            shown += stream.add(std::string_view(text).substr(at, piece));
            at += piece;
        }
        shown += stream.end();
        ASSERT_EQ(shown, printable(text, true)) << testing::PrintToString(text);
    }
    PrintableStream stream;
    EXPECT_EQ(stream.add("\xE2\x82"), "") << "it may become a letter";
    EXPECT_EQ(stream.add("\xAC!"), "€!");
}

}  // namespace
}  // namespace stepscope
