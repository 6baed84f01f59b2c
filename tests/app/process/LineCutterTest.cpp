// Lines of what comes in pieces: cut anywhere they are the same lines, and none is longer than it may be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/workbench/process/LineCutter.h"
#include "core/base/Utf8.h"

namespace stepscope {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> cut(const std::string& text, std::size_t piece, std::size_t longest) {
    std::vector<std::string> lines;
    const auto tell = [&](std::string line) { lines.push_back(std::move(line)); };
    LineCutter cutter(longest);
    for (std::size_t at = 0; at < text.size(); at += piece) cutter.add(std::string_view(text).substr(at, piece), tell);
    cutter.end(tell);
    return lines;
}

TEST(LineCutter, GivesTheSameLinesHoweverTheTextIsCut) {
    const std::string text = "one\ntwo and a half\r\n\n   \t\nthree\rfour é and é and é é\nfive";
    for (std::size_t piece = 1; piece <= text.size(); ++piece)
        EXPECT_THAT(cut(text, piece, 12), ElementsAre("one", "two and a ha…", "three", "four é and …", "five")) << piece;
}

TEST(LineCutter, KeepsNoMoreOfALineThanItTells) {
    LineCutter cutter(100);
    std::vector<std::string> lines;
    const auto tell = [&](std::string line) { lines.push_back(std::move(line)); };
    for (int i = 0; i < 1000; ++i) cutter.add("ééééééééé", tell);
    EXPECT_TRUE(cutter.unfinished());
    cutter.add("\n", tell);
    EXPECT_FALSE(cutter.unfinished());
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(printable(lines[0]), lines[0]) << "no letter is cut in two";
    EXPECT_LE(lines[0].size(), 100 + std::string("…").size());
}

}  // namespace
}  // namespace stepscope
