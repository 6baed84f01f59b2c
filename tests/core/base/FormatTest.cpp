// Numbers as a person reads them: three significant digits, SI units, thin spaces.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/Format.h"

namespace stepscope::format {
namespace {

const std::string kThin = "\u2009";

TEST(Format, WritesThreeSignificantDigits) {
    EXPECT_EQ(significant(24.449), "24.4");
    EXPECT_EQ(significant(0.00125), "0.00125");
    EXPECT_EQ(significant(-3.14159), "-3.14");
    EXPECT_EQ(significant(2.5, 2), "2.5");
    EXPECT_EQ(significant(0), "0");
}

TEST(Format, KeepsAllDigitsBeforeThePointAndGroupsThem) {
    EXPECT_EQ(significant(1240.4), "1" + kThin + "240");
    EXPECT_EQ(significant(-1234567), "-1" + kThin + "234" + kThin + "567");
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

TEST(Format, GroupsCountsInThrees) {
    EXPECT_EQ(count(0), "0");
    EXPECT_EQ(count(999), "999");
    EXPECT_EQ(count(12345), "12" + kThin + "345");
    EXPECT_EQ(count(-123), "-123");
    EXPECT_EQ(count(-1234567), "-1" + kThin + "234" + kThin + "567");
    EXPECT_EQ(count(std::numeric_limits<std::int64_t>::min()),
              "-9" + kThin + "223" + kThin + "372" + kThin + "036" + kThin + "854" + kThin + "775" + kThin + "808");
}

TEST(Format, ChoosesTheUnitOfATime) {
    EXPECT_EQ(milliseconds(24.4), "24.4" + kThin + "ms");
    EXPECT_EQ(milliseconds(1250), "1.25" + kThin + "s");
    EXPECT_EQ(milliseconds(0.812), "812" + kThin + "µs");
    EXPECT_EQ(milliseconds(0), "0" + kThin + "ms");
}

TEST(Format, ChoosesTheUnitOfASizeInPowersOf1000) {
    EXPECT_EQ(bytes({999}), "999" + kThin + "B");
    EXPECT_EQ(bytes({1500}), "1.50" + kThin + "kB");
    EXPECT_EQ(bytes({1'210'000'000}), "1.21" + kThin + "GB");
}

TEST(Format, WritesRatesDurationsAndShares) {
    EXPECT_EQ(rate(62'800, "tok/s"), "62.8" + kThin + "K tok/s");
    EXPECT_EQ(rate(1.25e9, "B/s"), "1.25" + kThin + "GB/s");
    EXPECT_EQ(rate(12, "tok/s"), "12.0" + kThin + "tok/s");
    EXPECT_EQ(duration(TimeNs::fromSeconds(131)), "02:11");
    EXPECT_EQ(duration(TimeNs::fromSeconds(3731)), "1:02:11");
    EXPECT_EQ(percent(0.97), "97" + kThin + "%");
}

}  // namespace
}  // namespace stepscope::format
