// Texts by number, each kept once: in memory as far as that is allowed, in a nameless file beyond it, and the same whichever it is.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "sessions/importers/TextStore.h"
#include "tests/sessions/TestSupport.h"

namespace stepscope::importing {
namespace {

// Of many lengths, around the sizes that are read and padded at once.
std::string made(std::size_t i) {
    static constexpr std::size_t kLengths[] = {1, 7, 11, 12, 13, 16, 31, 508, 509, 512, 1000, 70'000};
    const std::string name = "text " + std::to_string(i) + ' ';
    std::string text = name;
    while (text.size() < kLengths[i % std::size(kLengths)]) text += name;
    return text;
}

TEST(TextStore, GivesATextOneNumberHoweverOftenItComes) {
    const test::TempFolder folder;
    TextStore store(folder.path(), std::size_t{64} << 20);
    std::map<std::uint32_t, std::string> known;
    for (std::size_t i = 0; i < 10'000; ++i) {
        bool added = false;
        const std::uint32_t number = store.add("name " + std::to_string(i), &added);
        EXPECT_TRUE(added);
        EXPECT_TRUE(known.emplace(number, "name " + std::to_string(i)).second) << "a number of its own";
    }
    for (const auto& [number, text] : known) {
        bool added = true;
        EXPECT_EQ(store.add(text, &added), number);
        EXPECT_FALSE(added);
        EXPECT_EQ(store.text(number), text);
    }
    EXPECT_EQ(store.add(""), TextStore::kNone);
    EXPECT_EQ(store.text(TextStore::kNone), "");
    EXPECT_EQ(store.text(4'000'000), "") << "a number that nobody gave";
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "all of it fitted into memory";
}

TEST(TextStore, WhatDoesNotFitLiesInAFileWithoutANameAndReadsBackTheSame) {
    const test::TempFolder folder;
    for (const std::size_t most : {std::size_t{0}, std::size_t{4000}, std::size_t{400'000}}) {
        TextStore store(folder.path(), most);
        std::vector<std::uint32_t> numbers;
        for (std::size_t i = 0; i < 300; ++i) {
            numbers.push_back(store.add(made(i)));
            if (i % 50 == 7) {
                EXPECT_EQ(store.text(numbers[i / 2]), made(i / 2)) << most << ": read while it is written";
            }
        }
        for (std::size_t i = 300; i-- > 0;) EXPECT_EQ(store.text(numbers[i]), made(i)) << most << ", " << i;
        EXPECT_TRUE(store.status().ok());
        EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "nobody else sees it";
    }
}

TEST(TextStore, WhereNoFileCanBeMadeItSaysSoAndGivesNothing) {
    TextStore store("/proc/no-such-folder", 0);
    const std::uint32_t number = store.add("a text");
    EXPECT_EQ(store.text(number), "");
    ASSERT_FALSE(store.status().ok());
    EXPECT_TRUE(store.status().error().sentence.ends_with('.')) << store.status().error().sentence;
}

}  // namespace
}  // namespace stepscope::importing
