// Axis labels read like a person wrote them: nice numbers, never "0.0000", never twice the same text.
#include <gtest/gtest.h>

#include <QStringList>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "widgets/charts/Ticks.h"

namespace stepscope {
namespace {

QString joined(const AxisTicks& axis) {
    QStringList labels;
    for (const Tick& tick : axis.ticks) labels += tick.label;
    return labels.join('|') + (axis.unit.isEmpty() ? QString() : " " + axis.unit);
}
std::string text(const Scale& scale, Quantity quantity, int most) {
    return joined(makeTicks(scale, quantity, most)).toStdString();
}

TEST(Ticks, UseRoundNumbersWithOneNumberOfDecimals) {
    EXPECT_EQ(text({1.2, 3.4, false}, Quantity::Number, 5), "1.5|2.0|2.5|3.0");
    EXPECT_EQ(text({0, 30, false}, Quantity::Milliseconds, 4), "0|10|20|30 ms");
    EXPECT_EQ(text({0, 105, false}, Quantity::Percent, 3), "0|50|100 %");
}

TEST(Ticks, SeparateThousandsByThinSpaces) {
    EXPECT_EQ(text({0, 2000, false}, Quantity::Count, 4), "0|500|1\u202F000|1\u202F500|2\u202F000 step");
}

TEST(Ticks, PutSmallNumbersIntoAPowerOfTenBesideTheTitle) {
    EXPECT_EQ(text({0, 0.001, false}, Quantity::Number, 5), "0.0|0.2|0.4|0.6|0.8|1.0 ×10⁻³");
    EXPECT_EQ(text({0, 6e-4, false}, Quantity::Number, 3), "0|2|4|6 ×10⁻⁴");
}

TEST(Ticks, UseSiPrefixes) {
    EXPECT_EQ(text({0, 120'000, false}, Quantity::TokenRate, 3), "0|50|100 K tok/s");
    EXPECT_EQ(text({0, 7e8, false}, Quantity::Bytes, 4), "0|200|400|600 MB");
    EXPECT_EQ(text({0, 0.4, false}, Quantity::Milliseconds, 4), "0|100|200|300|400 µs");
}

TEST(Ticks, CountTimeInMinutesAndHoursAsAClockDoes) {
    EXPECT_EQ(text({0, 90, false}, Quantity::Seconds, 6), "00:00|00:15|00:30|00:45|01:00|01:15|01:30 m:s");
    EXPECT_EQ(text({0, 7200, false}, Quantity::Seconds, 4), "00:00|30:00|1:00:00|1:30:00|2:00:00 m:s");
    EXPECT_EQ(text({0, 1, false}, Quantity::Seconds, 5), "0.0|0.2|0.4|0.6|0.8|1.0 s");
}

TEST(Ticks, NeverSplitAStep) {
    EXPECT_EQ(text({3, 6, false}, Quantity::Count, 10), "3|4|5|6 step");
}

TEST(Ticks, LabelDecadesOnALogarithmicAxis) {
    EXPECT_EQ(text({1, 2000, true}, Quantity::Count, 4), "1|10|100|1\u202F000 step");
    EXPECT_EQ(text({1, 20, true}, Quantity::Number, 6), "1|2|5|10|20");
    EXPECT_EQ(text({1e-6, 1e-3, true}, Quantity::Number, 4), "10⁻⁶|10⁻⁵|10⁻⁴|0.001");
    EXPECT_EQ(text({1500, 2e6, true}, Quantity::Tokens, 4), "10\u202FK|100\u202FK|1\u202FM tokens");
}

TEST(Ticks, FallBackToRoundNumbersWhereNoPowerOfTenLies) {
    EXPECT_EQ(text({2, 6, true}, Quantity::Number, 4), "2|3|4|5|6");
}

TEST(Ticks, AreDistinctInsideAndFewOnAnyAxis) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> exponent(-7, 11), share(0, 1);
    for (int i = 0; i < 5000; ++i) {
        const double high = std::pow(10, exponent(random));
        const bool logarithmic = i % 2 == 0;
        const double low = high * (logarithmic ? std::pow(10, -6 * share(random) - 0.05) : share(random) * 0.99);
        const auto quantity = static_cast<Quantity>(i % 9);
        if ((quantity == Quantity::Count || quantity == Quantity::Events) && high - low < 4) continue;
        if (quantity == Quantity::Seconds && high > 1e8) continue;  // no session lasts three years
        const int most = 2 + i % 9;
        const AxisTicks axis = makeTicks({low, high, logarithmic}, quantity, most);
        std::set<QString> seen;
        for (const Tick& tick : axis.ticks) {
            ASSERT_TRUE(seen.insert(tick.label).second) << joined(axis).toStdString() << " on " << low << ".." << high;
            ASSERT_GE(tick.value, low - (high - low) * 1e-6);
            ASSERT_LE(tick.value, high + (high - low) * 1e-6);
        }
        ASSERT_LE(axis.ticks.size(), static_cast<std::size_t>(3 * most + 3)) << joined(axis).toStdString();
    }
}

TEST(Ticks, AreNeverOneAloneOnAnAxisFromZero) {
    // "0" alone: 45 ms with room for two labels, the next round number 50.
    EXPECT_EQ(text({0, 45, false}, Quantity::Milliseconds, 2), "0|20|40 ms");
    for (double high = 0.011; high < 2e6; high *= 1.013)
        for (int most = 2; most < 8; ++most) {
            const AxisTicks axis = makeTicks({0, high, false}, Quantity::Milliseconds, most);
            ASSERT_GE(axis.ticks.size(), 2U) << high << ", at most " << most;
            ASSERT_LE(axis.ticks.size(), static_cast<std::size_t>(most + 3)) << high;
        }
}

TEST(Ticks, AreThreeOrMoreOnALogarithmicAxisThatAsksForThem) {
    for (double low = 1e-5; low < 1e5; low *= 1.7)
        for (double ratio = 1.06; ratio < 1e8; ratio *= 1.09)
            for (const int most : {2, 3, 6}) {
                const AxisTicks axis = makeTicks({low, low * ratio, true}, Quantity::Number, most, 3);
                ASSERT_GE(axis.ticks.size(), 3U) << low << " x " << ratio << ", at most " << most << ": " << joined(axis).toStdString();
            }
}

TEST(NiceScale, HoldsItsDataAndCanBeDrawnWhateverComes) {
    const double nan = std::nan("");
    for (const bool logarithmic : {false, true})
        for (const bool fromZero : {false, true})
            for (const auto& [low, high] :
                 std::vector<std::pair<double, double>>{{0, 0}, {5, 5}, {-3, 2}, {nan, nan}, {2, 1}, {1e-9, 1e9}, {-5, -1}, {-0.0, 0.0}}) {
                const Scale scale = niceScale(low, high, logarithmic, fromZero);
                ASSERT_LT(scale.low, scale.high) << low << ".." << high;
                ASSERT_TRUE(!logarithmic || scale.low > 0);
                if (!logarithmic && low <= high) {
                    ASSERT_LE(scale.low, low);
                    ASSERT_GE(scale.high, high);
                }
            }
}

TEST(NiceScale, ValuesThatDifferInTheirLastDigitsOnlyHaveAnAxisWithLabels) {
    for (const double value : {0.7, -0.7, 3e12, 2.5e-9})
        for (const double apart : {0.0, 1e-16, 1e-13, 5e-10}) {
            const double other = value + std::abs(value) * apart;
            const Scale scale = niceScale(value, other, false, false);
            ASSERT_GT(scale.high - scale.low, 0.1 * std::abs(value)) << value << " and " << other;
            const std::size_t ticks = makeTicks(scale, Quantity::Number, 4).ticks.size();
            EXPECT_GE(ticks, 2U) << value;
            EXPECT_LE(ticks, 7U) << value;
        }
    const Scale apart = niceScale(0.7, 0.7 + 1e-6, false, false);
    EXPECT_LT(apart.high - apart.low, 1e-5) << "what differs by more keeps an axis of its own size";
}

TEST(Ticks, EndOnEveryScaleThatCanBeAskedFor) {
    const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan(""), most = std::numeric_limits<double>::max();
    for (const auto quantity : {Quantity::Number, Quantity::Bytes, Quantity::Count})
        for (const bool logarithmic : {false, true})
            for (const auto& [low, high] : std::vector<std::pair<double, double>>{{0.7, std::nextafter(0.7, 1)},
                                                                                  {1e17, 1e17 + 64},
                                                                                  {1, infinity},
                                                                                  {0, infinity},
                                                                                  {-infinity, infinity},
                                                                                  {nan, nan},
                                                                                  {0, 5e-324},
                                                                                  {-most, most},
                                                                                  {1e-300, 1e300},
                                                                                  {2, 1}})
                EXPECT_LE(makeTicks({low, high, logarithmic}, quantity, 4).ticks.size(), 1000U) << low << ".." << high;
}

TEST(NiceScale, OfAnyFileAtAllHasFiniteEnds) {
    const double most = std::numeric_limits<double>::max();
    for (const bool logarithmic : {false, true})
        for (const bool fromZero : {false, true})
            for (const auto& [low, high] :
                 std::vector<std::pair<double, double>>{{-most, most}, {0, 5e-324}, {5e-324, 5e-324}, {1e-300, 1e300}, {most, most}}) {
                const Scale scale = niceScale(low, high, logarithmic, fromZero);
                EXPECT_TRUE(std::isfinite(scale.low) && std::isfinite(scale.high)) << low << ".." << high;
                EXPECT_LT(scale.low, scale.high) << low << ".." << high;
                if (logarithmic) {
                    EXPECT_GT(scale.low, 0);
                }
            }
}

TEST(CanFollow, StopsWhereNobodyLooksAndWhereNumbersCannotBeToldApart) {
    const Scale linear{0, 1, false}, logarithmic{0.5, 5, true};
    EXPECT_TRUE(canFollow({100, 101, false}, linear));
    EXPECT_FALSE(canFollow({1e7, 1e7 + 1, false}, linear));
    EXPECT_FALSE(canFollow({0, 2e300, false}, linear));
    EXPECT_TRUE(canFollow({1e-20, 1e9, true}, logarithmic));
    EXPECT_FALSE(canFollow({1e-20, 1e11, true}, logarithmic)) << "more than thirty decades";
    EXPECT_FALSE(canFollow({1e139, 1e141, true}, logarithmic));
    EXPECT_FALSE(canFollow({0, 5, true}, logarithmic));
    EXPECT_FALSE(canFollow({1, std::numeric_limits<double>::infinity(), true}, logarithmic));
    const Scale close{1e9, 1e9 + 10, false};
    EXPECT_TRUE(canFollow({1e9 - 5, 1e9 + 15, false}, close)) << "out of data that lie close to each other there is a way";
}

TEST(ReadOut, CarriesItsUnitAndNeverRoundsToZero) {
    EXPECT_EQ(readOut(24.44, Quantity::Milliseconds), "24.4\u202Fms");
    EXPECT_EQ(readOut(4.11e-4, Quantity::Number), "4.11·10⁻⁴");
    EXPECT_EQ(readOut(9.9999999e-6, Quantity::Number), "1.00·10⁻⁵");
    EXPECT_EQ(readOut(640, Quantity::Joules), "640\u202FJ");
    EXPECT_EQ(readOut(12400, Quantity::Joules), "12.4\u202FkJ");
    EXPECT_EQ(readOut(1240, Quantity::Count), "step 1\u202F240");
    EXPECT_EQ(readOut(1240, Quantity::Events), "1\u202F240");
    EXPECT_EQ(readOut(std::nan(""), Quantity::Number), "–");
    EXPECT_EQ(readOut(1.5e9, Quantity::Bytes), "1.50\u202FGB");
    EXPECT_EQ(readOut(1e300, Quantity::Bytes), "unknown") << "what a stranger's file holds may be no size";
}

}  // namespace
}  // namespace stepscope
