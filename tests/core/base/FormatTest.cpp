// Numbers as a person reads them: three significant digits, SI units, narrow no-break spaces, also where rounding makes one digit more.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "core/base/Format.h"

namespace stepscope::format {
namespace {

const std::string kNarrow = "\u202F";

TEST(Format, WritesThreeSignificantDigits) {
    EXPECT_EQ(significant(24.449), "24.4");
    EXPECT_EQ(significant(0.00125), "0.00125");
    EXPECT_EQ(significant(-3.14159), "-3.14");
    EXPECT_EQ(significant(2.5, 2), "2.5");
    EXPECT_EQ(significant(0), "0");
}

TEST(Format, KeepsAllDigitsBeforeThePointAndGroupsThem) {
    EXPECT_EQ(significant(1240.4), "1" + kNarrow + "240");
    EXPECT_EQ(significant(-1234567), "-1" + kNarrow + "234" + kNarrow + "567");
}

TEST(Format, WritesVerySmallAndVeryLargeNumbersWithAnExponent) {
    EXPECT_EQ(significant(1.234e-9), "1.23e-09");
    EXPECT_EQ(significant(1e308), "1.00e+308");
    EXPECT_EQ(significant(123456789012345.0).find('e'), std::string::npos);
}

TEST(Format, SaysWhenANumberIsNotKnown) {
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(significant(unknown), "n/a");
    EXPECT_EQ(significant(-INFINITY), "n/a");
    EXPECT_EQ(milliseconds(unknown), "n/a");
    EXPECT_EQ(rate(unknown, "tok/s"), "n/a");
    EXPECT_EQ(percent(unknown), "n/a");
}

TEST(Format, WritesAChangeWithItsSignUnlessNothingIsLeftOfIt) {
    EXPECT_EQ(change(0.00123, 4), "+0.0012");
    EXPECT_EQ(change(-0.00123, 4), "\u22120.0012");
    EXPECT_EQ(change(-0.00001, 4), "0.0000");
    EXPECT_EQ(change(0.00001, 4), "0.0000");
    EXPECT_EQ(change(0, 2), "0.00");
    EXPECT_EQ(change(-12, 0), "\u221212");
}

TEST(Format, WritesHowManyOnAverageWithoutZerosAtTheEnd) {
    EXPECT_EQ(amount(253), "253");
    EXPECT_EQ(amount(253.4), "253");
    EXPECT_EQ(amount(1253.4), "1" + kNarrow + "253");
    EXPECT_EQ(amount(100), "100");
    EXPECT_EQ(amount(16), "16");
    EXPECT_EQ(amount(16.42), "16.4");
    EXPECT_EQ(amount(0.07), "0.07");
    EXPECT_EQ(amount(2.004), "2");
    EXPECT_EQ(amount(0), "0");
    EXPECT_EQ(amount(1e300), "1.00e+300");
    EXPECT_EQ(amount(std::numeric_limits<double>::quiet_NaN()), "n/a");
}

TEST(Format, GroupsCountsInThrees) {
    EXPECT_EQ(count(0), "0");
    EXPECT_EQ(count(999), "999");
    EXPECT_EQ(count(12345), "12" + kNarrow + "345");
    EXPECT_EQ(count(-123), "-123");
    EXPECT_EQ(count(-1234567), "-1" + kNarrow + "234" + kNarrow + "567");
    EXPECT_EQ(count(std::numeric_limits<std::int64_t>::min()),
              "-9" + kNarrow + "223" + kNarrow + "372" + kNarrow + "036" + kNarrow + "854" + kNarrow + "775" + kNarrow + "808");
}

TEST(Format, ChoosesTheUnitOfATime) {
    EXPECT_EQ(milliseconds(24.4), "24.4" + kNarrow + "ms");
    EXPECT_EQ(milliseconds(1250), "1.25" + kNarrow + "s");
    EXPECT_EQ(milliseconds(0.812), "812" + kNarrow + "µs");
    EXPECT_EQ(milliseconds(0), "0" + kNarrow + "ms");
}

TEST(Format, ChoosesTheUnitOfASizeInPowersOf1000) {
    EXPECT_EQ(bytes({999}), "999" + kNarrow + "B");
    EXPECT_EQ(bytes({1500}), "1.50" + kNarrow + "kB");
    EXPECT_EQ(bytes({1'210'000'000}), "1.21" + kNarrow + "GB");
}

// What was measured or averaged, or what a stranger's file holds, may be any number.
TEST(Format, WritesASizeThatIsADoubleOrSaysThatItIsUnknown) {
    EXPECT_EQ(bytes(1.21e9), "1.21" + kNarrow + "GB");
    EXPECT_EQ(bytes(999.9), "999" + kNarrow + "B");
    EXPECT_EQ(bytes(0.0), "0" + kNarrow + "B");
    EXPECT_EQ(bytes(-0.0), "0" + kNarrow + "B");
    EXPECT_EQ(bytes(-1.0), "unknown");
    EXPECT_EQ(bytes(std::numeric_limits<double>::quiet_NaN()), "unknown");
    EXPECT_EQ(bytes(static_cast<double>(INFINITY)), "unknown");
    EXPECT_EQ(bytes(static_cast<double>(-INFINITY)), "unknown");
    EXPECT_EQ(bytes(std::nextafter(0x1p63, 0.0)), "9" + kNarrow + "223" + kNarrow + "PB") << "the largest that 64 bits hold";
    EXPECT_EQ(bytes(0x1p63), "unknown");
    EXPECT_EQ(bytes(1e300), "unknown");
}

TEST(Format, WritesRatesDurationsAndShares) {
    EXPECT_EQ(rate(62'800, "tok/s"), "62.8" + kNarrow + "K tok/s");
    EXPECT_EQ(rate(1.25e9, "B/s"), "1.25" + kNarrow + "GB/s");
    EXPECT_EQ(rate(12, "tok/s"), "12.0" + kNarrow + "tok/s");
    EXPECT_EQ(duration(TimeNs::fromSeconds(131)), "02:11");
    EXPECT_EQ(duration(TimeNs::fromSeconds(3731)), "1:02:11");
    EXPECT_EQ(percent(0.97), "97" + kNarrow + "%");
}

// What is rounded up to one digit more is written with as many digits as what is not.
TEST(Format, KeepsThreeDigitsWhereRoundingMakesOneMore) {
    EXPECT_EQ(significant(9.994), "9.99");
    EXPECT_EQ(significant(9.996), "10.0");
    EXPECT_EQ(significant(-99.97), "-100");
    EXPECT_EQ(significant(0.09996), "0.100");
    EXPECT_EQ(significant(9.96, 2), "10");
    EXPECT_EQ(significant(99.96, 4), "99.96");
}

TEST(Format, WhatIsRoundedToAThousandIsOneOfTheNextUnit) {
    EXPECT_EQ(milliseconds(999.7), "1.00" + kNarrow + "s");
    EXPECT_EQ(milliseconds(999.2), "999" + kNarrow + "ms");
    EXPECT_EQ(milliseconds(-999.7), "-1.00" + kNarrow + "s");
    EXPECT_EQ(milliseconds(0.9997), "1.00" + kNarrow + "ms");
    EXPECT_EQ(milliseconds(0.9992), "999" + kNarrow + "µs");
    EXPECT_EQ(bytes({1000}), "1.00" + kNarrow + "kB");
    EXPECT_EQ(bytes({999'400}), "999" + kNarrow + "kB");
    EXPECT_EQ(bytes({999'700}), "1.00" + kNarrow + "MB");
    EXPECT_EQ(bytes({999'999'999}), "1.00" + kNarrow + "GB");
    EXPECT_EQ(bytes({-999'700}), "-1.00" + kNarrow + "MB");
    EXPECT_EQ(rate(999'800, "tok/s"), "1.00" + kNarrow + "M tok/s");
    EXPECT_EQ(rate(-12'500, "B/s"), "-12.5" + kNarrow + "kB/s") << "a difference of rates";
}

// What is written, read again, is the number to within half of its third digit, and never has more than three digits, whatever the size.
TEST(Format, OfAnyTimeWritesThreeDigitsThatAreTrue) {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> logarithm(-6, 5);
    for (int i = 0; i < 20'000; ++i) {
        const double ms = std::pow(10.0, logarithm(random)) * (i % 2 == 0 ? 1 : -1);
        const std::string text = milliseconds(ms);
        const auto space = text.rfind(kNarrow);
        ASSERT_NE(space, std::string::npos) << text;
        const std::string unit = text.substr(space + kNarrow.size()), number = text.substr(0, space);
        const double scale = unit == "s" ? 1e3 : unit == "ms" ? 1 : unit == "µs" ? 1e-3 : 0;
        ASSERT_NEAR(std::stod(number) * scale, ms, 0.00501 * std::abs(ms)) << text;
        const auto first = number.find_first_of("123456789");
        ASSERT_NE(first, std::string::npos) << text;
        const auto digits =
            std::count_if(number.begin() + static_cast<std::ptrdiff_t>(first), number.end(), [](char c) { return c >= '0' && c <= '9'; });
        ASSERT_EQ(digits, 3) << text << " of " << ms;
    }
}

TEST(Format, TheLastUnitTakesWhateverIsLeft) {
    EXPECT_EQ(bytes({std::numeric_limits<std::int64_t>::max()}), "9" + kNarrow + "223" + kNarrow + "PB");
    EXPECT_EQ(rate(5e15, "FLOP/s"), "5" + kNarrow + "000" + kNarrow + "TFLOP/s");
}

TEST(Format, RoundsADurationToTheNearestSecondBeforeItIsCutIntoMinutes) {
    EXPECT_EQ(duration({}), "00:00");
    EXPECT_EQ(duration(TimeNs::fromSeconds(59.4)), "00:59");
    EXPECT_EQ(duration(TimeNs::fromSeconds(59.6)), "01:00");
    EXPECT_EQ(duration(TimeNs::fromSeconds(3599.6)), "1:00:00");
    EXPECT_EQ(duration(TimeNs::fromSeconds(360'000)), "100:00:00");
}

}  // namespace
}  // namespace stepscope::format
