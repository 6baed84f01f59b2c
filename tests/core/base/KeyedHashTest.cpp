// The hash of tables whose keys come from a file: it tells apart what differs in one byte, one bit, in length or in order, and is the same all the
// while a program runs. Its key is drawn anew by each process, so that no value is written down here.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/base/KeyedHash.h"

namespace stepscope {
namespace {

TEST(KeyedHash, TellsTextsApartAtEveryLengthAndEveryByte) {
    std::set<std::uint64_t> seen;
    std::size_t texts = 0;
    for (std::size_t length = 0; length <= 40; ++length) {
        const std::string zeros(length, '\0');  // a length alone makes another text
        seen.insert(keyedHash(zeros));
        ++texts;
        for (std::size_t at = 0; at < length; ++at)
            for (const char c : {'\x01', 'a', '\x80', '\xFF'}) {
                std::string other = zeros;
                other[at] = c;
                seen.insert(keyedHash(other));
                ++texts;
            }
    }
    EXPECT_EQ(seen.size(), texts) << "of 64 bits two of some thousands are alike once in 10^12 runs";
}

TEST(KeyedHash, IsTheSameForTheSameTextWhereverItLies) {
    const std::string text = "aten::scaled_dot_product_attention";
    std::string buffer = "???" + text;  // at another alignment
    for (std::size_t before = 0; before < 3; ++before, buffer.erase(0, 1))
        EXPECT_EQ(keyedHash(std::string_view(buffer).substr(3 - before)), keyedHash(text));
    EXPECT_EQ(KeyedHash()(text), KeyedHash()(text));
}

TEST(KeyedHash, TellsNumbersApartThatDifferInOneBit) {
    std::set<std::uint64_t> seen;
    for (const std::uint64_t base : {std::uint64_t{0}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
        seen.insert(keyedHash(base));
        for (int bit = 0; bit < 64; ++bit) seen.insert(keyedHash(base ^ (std::uint64_t{1} << bit)));
    }
    // 2^40 is 0 with one bit more, and 0 is 2^40 with that one less.
    EXPECT_EQ(seen.size(), 3 * 65u - 2);
}

// Tables of 2^n places look at the low bits: numbers that a trace counts up in large steps must not all fall on one.
TEST(KeyedHash, SpreadsNumbersThatAreMultiplesOfALargePowerOfTwo) {
    std::set<std::uint64_t> places;
    for (std::uint64_t i = 0; i < 1024; ++i) places.insert(keyedHash(i << 48) % 1024);
    EXPECT_GT(places.size(), 500u) << "at random about 647 of 1024 places are met";
}

TEST(KeyedHash, OfAPairTheOrderCounts) {
    std::set<std::size_t> seen;
    for (std::int64_t a = -20; a < 20; ++a)
        for (std::int64_t b = -20; b < 20; ++b) seen.insert(KeyedHash()(std::pair(a, b)));
    EXPECT_EQ(seen.size(), 1600u);
}

TEST(KeyedMap, KeepsTextsWithZeroBytesApart) {
    KeyedMap<std::string, int> map;
    map[std::string("a\0b", 3)] = 1;
    map[std::string("a\0c", 3)] = 2;
    map["a"] = 3;
    EXPECT_EQ(map.size(), 3u);
    EXPECT_EQ(map.at(std::string("a\0c", 3)), 2);
}

}  // namespace
}  // namespace stepscope
