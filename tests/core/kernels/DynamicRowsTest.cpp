// Holds the products of whole numbers against their reference, to the bit where no rounding is left and within that of the scales elsewhere, in every
// form that this processor has; what rounding the activations costs against its bound; and what becomes of zeros, of largest sizes and of what is no
// number. Run by CTest under every set.
#include <limits>

#include "Numbers.h"
#include "core/kernels/packed_rows/DynamicRows.h"
#include "core/kernels/packed_rows/DynamicRowsCpu.h"

namespace stepscope {
namespace {

using testing::numbers;

constexpr float kInfinite = std::numeric_limits<float>::infinity(), kNone = std::numeric_limits<float>::quiet_NaN();

struct HeldBytes {
    std::vector<char> panels;
    std::vector<float> scales;
    PackedRows weights;

    HeldBytes(const std::vector<float>& source, std::int64_t rows, std::int64_t columns)
        : panels(static_cast<std::size_t>(gemm::panels(rows) * PackedRows::panelBytes(WeightType::Int8Dynamic, columns)), 0x55),
          scales(static_cast<std::size_t>(PackedRows::scaleCount(WeightType::Int8Dynamic, rows, columns)), 7.0f),
          weights{WeightType::Int8Dynamic, rows, columns, panels.data(), scales.data()} {
        packRows(WeightType::Int8Dynamic, source.data(), rows, columns, panels.data(), scales.data(), 0, weights.panelCount());
    }
};

// Activations with room of their own; filled by the form for this set, or by the reference.
struct Quantised {
    std::vector<std::uint8_t> numbers;
    std::vector<float> scales;
    QuantisedRows rows;

    Quantised(const std::vector<float>& x, std::int64_t count, std::int64_t columns, bool reference = false)
        : numbers(static_cast<std::size_t>(count * QuantisedRows::stride(columns)), 0x33),
          scales(static_cast<std::size_t>(count), 9.0f),
          rows{numbers.data(), scales.data()} {
        if (!reference) dynamicRowsCpu().quantise(x.data(), columns, rows, 0, count);
        for (std::int64_t r = 0; reference && r < count; ++r)
            quantiseRow(x.data() + r * columns, columns, numbers.data() + r * QuantisedRows::stride(columns), scales[static_cast<std::size_t>(r)]);
    }
};

std::vector<DotForm> formsHere() {
    std::vector<DotForm> forms{DotForm::Apart};
    if (dynamicRowsCpu().hasAtOnce()) forms.push_back(DotForm::AtOnce);
    return forms;
}

void multiplyBy(DotForm form, const PackedRows& weights, const QuantisedRows& x, const RowProducts& products) {
    const std::int64_t panels = weights.panelCount(), half = panels / 2;
    dynamicRowsCpu().multiply[static_cast<int>(form)](weights, x, products, half, panels);
    dynamicRowsCpu().multiply[static_cast<int>(form)](weights, x, products, 0, half);
}

// Whole numbers from -most to most, `most` itself among each row's, so that the scale of a row is a power of two.
std::vector<float> wholeNumbers(std::int64_t rows, std::int64_t columns, std::uint64_t seed, float scale) {
    auto all = numbers<float>(static_cast<std::size_t>(rows * columns), seed, 127);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::round(all[i]) * scale;
    for (std::int64_t r = 0; r < rows; ++r) all[static_cast<std::size_t>(r * columns + r % columns)] = (r % 2 == 0 ? 127.0f : -127.0f) * scale;
    return all;
}

TEST(DynamicRows, QuantiseARowAsTheReferenceDoesToTheBit) {
    for (const std::int64_t columns : {1, 2, 3, 4, 5, 15, 16, 17, 31, 64, 131, 768}) {
        auto x = numbers<float>(static_cast<std::size_t>(7 * columns), 4, 3);
        for (std::int64_t c = 0; c < columns; ++c) {
            x[static_cast<std::size_t>(2 * columns + c)] = 0;
            x[static_cast<std::size_t>(3 * columns + c)] = 1e-42f;  // so small that its inverse is infinite
        }
        x[static_cast<std::size_t>(5 * columns - 1)] = kInfinite;
        x[static_cast<std::size_t>(5 * columns)] = kNone;
        x[static_cast<std::size_t>(7 * columns - 1)] = -std::numeric_limits<float>::max();
        const Quantised wanted(x, 7, columns, true), got(x, 7, columns);
        EXPECT_EQ(got.numbers, wanted.numbers) << columns << " columns";
        for (std::size_t r = 0; r < 7; ++r) {
            if (r == 4 || r == 5)
                EXPECT_TRUE(std::isnan(got.scales[r]) && std::isnan(wanted.scales[r])) << "row " << r;
            else
                EXPECT_EQ(got.scales[r], wanted.scales[r]) << "row " << r << " of " << columns;
        }
    }
}

TEST(DynamicRows, RoundEachActivationToTheNearestMultipleOfItsRowsScale) {
    const std::int64_t columns = 300;
    const auto x = numbers<float>(static_cast<std::size_t>(columns), 8, 5);
    const Quantised held(x, 1, columns);
    int most = 0;
    for (std::size_t c = 0; c < x.size(); ++c) {
        const int number = held.numbers[c] - 128;
        EXPECT_NEAR(static_cast<float>(number) * held.scales[0], x[c], 0.5001f * held.scales[0]);
        most = std::max(most, std::abs(number));
    }
    EXPECT_EQ(most, 127) << "the largest one takes all of the range";
}

// Sums below 2^24 of whole numbers with scales that are powers of two: every rounding is exact.
TEST(DynamicRows, MultiplyWholeNumbersToTheBitInEveryForm) {
    for (const auto& [rows, columns] : {std::pair{1, 1}, {5, 7}, {32, 16}, {33, 65}, {70, 131}, {96, 256}, {40, 1024}}) {
        const HeldBytes held(wholeNumbers(rows, columns, 3, 0.25f), rows, columns);
        for (std::int64_t count = 1; count <= 19; ++count) {
            const auto source = wholeNumbers(count, columns, 4, 0.5f);
            const Quantised x(source, count, columns);
            const std::int64_t outStride = rows + 2;
            std::vector<float> wanted(static_cast<std::size_t>(count * outStride), 0.5f);
            RowProducts products{.count = count, .out = wanted.data(), .outStride = outStride};
            multiplyQuantised(held.weights, x.rows, products);
            std::vector<float> row(static_cast<std::size_t>(columns));
            unpackRow(held.weights, rows - 1, row.data());
            double whole = 0;
            for (std::int64_t k = 0; k < columns; ++k)
                whole += static_cast<double>(row[static_cast<std::size_t>(k)]) * source[static_cast<std::size_t>((count - 1) * columns + k)];
            ASSERT_EQ(wanted[static_cast<std::size_t>((count - 1) * outStride + rows - 1)], whole) << "nothing was rounded";
            for (const DotForm form : formsHere()) {
                std::vector<float> got(wanted.size(), 0.5f);
                products.out = got.data();
                multiplyBy(form, held.weights, x.rows, products);
                ASSERT_EQ(got, wanted) << rows << " x " << columns << ", " << count << " rows of activations, form " << static_cast<int>(form);
            }
        }
    }
}

TEST(DynamicRows, MultiplyAsTheReferenceDoesWithBiasAndWhatIsThere) {
    for (const auto& [rows, columns] : {std::pair{5, 7}, {33, 65}, {70, 131}}) {
        const HeldBytes held(numbers<float>(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), 3), rows, columns);
        const auto bias = numbers<float>(static_cast<std::size_t>(rows), 5);
        for (std::int64_t count = 1; count <= 12; ++count) {
            const Quantised x(numbers<float>(static_cast<std::size_t>(count * columns), 4), count, columns);
            for (const bool add : {false, true})
                for (const DotForm form : formsHere()) {
                    std::vector<float> wanted(static_cast<std::size_t>(count * rows), 0.5f), got = wanted;
                    RowProducts products{.count = count, .bias = add ? nullptr : bias.data(), .out = wanted.data(), .outStride = rows, .add = add};
                    multiplyQuantised(held.weights, x.rows, products);
                    products.out = got.data();
                    multiplyBy(form, held.weights, x.rows, products);
                    testing::expectNear(got, wanted, 3e-7 * columns);
                    if (::testing::Test::HasFatalFailure()) FAIL() << rows << " x " << columns << ", " << count << " rows, add " << add;
                }
        }
    }
}

#if defined(__x86_64__)
// Without a bias nothing is left to how a set rounds: all sets have the same bits, the plain one's.
TEST(DynamicRows, GiveTheSameBitsInEverySet) {
    const std::int64_t rows = 70, columns = 131, count = 11;
    const HeldBytes held(numbers<float>(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), 3), rows, columns);
    const auto source = numbers<float>(static_cast<std::size_t>(count * columns), 4);
    const Quantised x(source, count, columns);
    std::vector<float> wanted(static_cast<std::size_t>(count * rows)), got(wanted.size());
    RowProducts products{.count = count, .out = wanted.data(), .outStride = rows};
    baseline::dynamicRowsTable.multiply[static_cast<int>(DotForm::Apart)](held.weights, x.rows, products, 0, held.weights.panelCount());
    products.out = got.data();
    for (const DotForm form : formsHere()) {
        multiplyBy(form, held.weights, x.rows, products);
        EXPECT_EQ(got, wanted) << "form " << static_cast<int>(form);
    }
}
#endif

// What 8 bits of both cost: half a scale of the activations for each weight, half a scale of the weights for each activation.
TEST(DynamicRows, KeepAProductWithinTheBoundOfBothScales) {
    const std::int64_t rows = 50, columns = 384;
    const auto source = numbers<float>(static_cast<std::size_t>(rows * columns), 3, 0.05), x = numbers<float>(static_cast<std::size_t>(columns), 9);
    const HeldBytes held(source, rows, columns);
    const Quantised quantised(x, 1, columns);
    std::vector<float> got(static_cast<std::size_t>(rows));
    multiplyDynamic(held.weights, quantised.rows, {.count = 1, .out = got.data(), .outStride = rows}, 0, held.weights.panelCount());
    double worst = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
        double exact = 0, bound = 0;
        for (std::int64_t c = 0; c < columns; ++c) {
            const double w = source[static_cast<std::size_t>(r * columns + c)], a = x[static_cast<std::size_t>(c)];
            exact += w * a;
            bound += 0.5 * quantised.scales[0] * std::fabs(w) +
                     0.5 * held.scales[static_cast<std::size_t>(r)] * (std::fabs(a) + 0.5 * quantised.scales[0]);
        }
        const double off = std::fabs(got[static_cast<std::size_t>(r)] - exact);
        EXPECT_LE(off, bound * 1.0001) << "row " << r;
        worst = std::max(worst, off);
    }
    EXPECT_GT(worst, 0) << "what was rounded and gives the exact product was not rounded";
}

// Two products of 127 * 127 beside each other are the most that 16 bits have to hold; with 128 added to the activations they would not.
TEST(DynamicRows, SaturateNowhereAtTheLargestSizes) {
    const std::int64_t rows = 33, columns = 1028;
    std::vector<float> source(static_cast<std::size_t>(rows * columns), 127.0f), x(static_cast<std::size_t>(3 * columns), 127.0f);
    for (std::int64_t c = 0; c < columns; ++c) {
        source[static_cast<std::size_t>(columns + c)] = -127.0f;
        x[static_cast<std::size_t>(columns + c)] = -127.0f;
        x[static_cast<std::size_t>(2 * columns + c)] = c % 2 == 0 ? 127.0f : -127.0f;
    }
    const HeldBytes held(source, rows, columns);
    const Quantised quantised(x, 3, columns);
    const float most = 127.0f * 127.0f * columns;
    for (const DotForm form : formsHere()) {
        std::vector<float> got(static_cast<std::size_t>(3 * rows));
        multiplyBy(form, held.weights, quantised.rows, {.count = 3, .out = got.data(), .outStride = rows});
        for (std::int64_t r = 0; r < rows; ++r) {
            const float sign = r == 1 ? -1.0f : 1.0f;
            EXPECT_EQ(got[static_cast<std::size_t>(r)], sign * most) << "row " << r << ", form " << static_cast<int>(form);
            EXPECT_EQ(got[static_cast<std::size_t>(rows + r)], -sign * most);
            EXPECT_EQ(got[static_cast<std::size_t>(2 * rows + r)], 0);
        }
    }
}

// More columns than 32 bits can sum the products of.
TEST(DynamicRows, SumMoreColumnsThanThirtyTwoBitsHold) {
    const std::int64_t rows = 2, columns = 3 * kDotRun + 5;
    const std::vector<float> source(static_cast<std::size_t>(rows * columns), 127.0f), x(static_cast<std::size_t>(columns), 127.0f);
    const double exact = 127.0 * 127.0 * static_cast<double>(columns);
    ASSERT_GT(exact, std::numeric_limits<std::int32_t>::max());
    const HeldBytes held(source, rows, columns);
    const Quantised quantised(x, 1, columns);
    for (const DotForm form : formsHere()) {
        std::vector<float> got(static_cast<std::size_t>(rows));
        multiplyBy(form, held.weights, quantised.rows, {.count = 1, .out = got.data(), .outStride = rows});
        for (const float value : got) EXPECT_NEAR(value, exact, exact * 1e-6) << "form " << static_cast<int>(form);
    }
}

TEST(DynamicRows, AreZeroWhereActivationsOrWeightsAreAndNoNumbersWhereOneIsNone) {
    const std::int64_t rows = 35, columns = 9, count = 4;
    auto source = numbers<float>(static_cast<std::size_t>(rows * columns), 3), x = numbers<float>(static_cast<std::size_t>(count * columns), 4);
    std::fill_n(source.begin(), columns, 0.0f);
    source[static_cast<std::size_t>(34 * columns + 2)] = kNone;
    std::fill_n(x.begin() + columns, columns, 0.0f);
    x[static_cast<std::size_t>(2 * columns + 8)] = -kInfinite;
    x[static_cast<std::size_t>(3 * columns)] = kNone;
    const HeldBytes held(source, rows, columns);
    const Quantised quantised(x, count, columns);
    for (const DotForm form : formsHere()) {
        std::vector<float> got(static_cast<std::size_t>(count * rows), 7.0f);
        multiplyBy(form, held.weights, quantised.rows, {.count = count, .out = got.data(), .outStride = rows});
        for (std::int64_t b = 0; b < count; ++b)
            for (std::int64_t r = 0; r < rows; ++r) {
                const float value = got[static_cast<std::size_t>(b * rows + r)];
                if (b >= 2 || r == 34)
                    EXPECT_TRUE(std::isnan(value)) << "row " << r << " of the weights, " << b << " of the activations";
                else if (b == 1 || r == 0)
                    EXPECT_EQ(value, 0);
                else
                    EXPECT_TRUE(std::isfinite(value) && value != 0);
            }
    }
}

TEST(DynamicRows, GiveARowBackAsItIsHeld) {
    const std::int64_t rows = 37, columns = 21;
    const auto source = numbers<float>(static_cast<std::size_t>(rows * columns), 3);
    const HeldBytes held(source, rows, columns);
    std::vector<float> row(static_cast<std::size_t>(columns));
    for (std::int64_t r = 0; r < rows; ++r) {
        unpackRow(held.weights, r, row.data());
        for (std::int64_t c = 0; c < columns; ++c)
            EXPECT_NEAR(row[static_cast<std::size_t>(c)], source[static_cast<std::size_t>(r * columns + c)],
                        0.5001f * held.scales[static_cast<std::size_t>(r)]);
    }
}

}  // namespace
}  // namespace stepscope
