// Holds the products of packed rows against sums in double, for every type of weights, on sizes that fit panels and registers and sizes that do not,
// and weights of 8 and 4 bits against the bound that their scales give. Run by CTest under every set.
#include <limits>

#include "Numbers.h"
#include "core/kernels/packed_rows/PackedRows.h"
#include "core/kernels/packed_rows/PackedRowsCpu.h"

namespace stepscope {
namespace {

using testing::numbers;

// A matrix in one of the types, with room of its own.
struct Held {
    std::vector<float> source;
    std::vector<char> panels;
    std::vector<float> scales;
    PackedRows weights;

    Held(WeightType type, std::int64_t rows, std::int64_t columns, double scale = 1)
        : source(numbers<float>(static_cast<std::size_t>(rows * columns), 3, scale)) {
        pack(type, rows, columns);
    }
    void pack(WeightType type, std::int64_t rows, std::int64_t columns) {
        panels.assign(static_cast<std::size_t>(gemm::panels(rows) * PackedRows::panelBytes(type, columns)), 0x55);
        scales.assign(static_cast<std::size_t>(PackedRows::scaleCount(type, rows, columns)), 7.0f);
        weights = {type, rows, columns, panels.data(), scales.empty() ? nullptr : scales.data()};
        const std::int64_t half = weights.panelCount() / 2;
        packRows(type, source.data(), rows, columns, panels.data(), scales.data(), 0, half);
        packRows(type, source.data(), rows, columns, panels.data(), scales.data(), half, weights.panelCount());
    }
    // Of 4-bit weights.
    float scaleOf(std::int64_t row, std::int64_t column) const {
        const std::int64_t panel = row / gemm::kPanel * PackedRows::panelScales(weights.type, weights.columns);
        return scales[static_cast<std::size_t>(panel + column / kFourBitGroup * gemm::kPanel + row % gemm::kPanel)];
    }
};

class PackedRowsTest : public ::testing::TestWithParam<WeightType> {};

TEST_P(PackedRowsTest, MultiplyAsTheReferenceDoesForOneToSixteenRowsOfActivations) {
    for (const auto& [rows, columns] : {std::pair{1, 1}, {5, 7}, {32, 16}, {33, 65}, {70, 131}, {96, 256}}) {
        const Held held(GetParam(), rows, columns);
        const auto bias = numbers<float>(static_cast<std::size_t>(rows), 5);
        for (std::int64_t count = 1; count <= 16; ++count) {
            const std::int64_t xStride = columns + 3, outStride = rows + 2;
            const auto x = numbers<float>(static_cast<std::size_t>(count * xStride), 4);
            for (const bool add : {false, true}) {
                std::vector<float> wanted(static_cast<std::size_t>(count * outStride), 0.5f), got = wanted;
                RowProducts products{count, x.data(), xStride, add ? nullptr : bias.data(), wanted.data(), outStride, add};
                multiplyRows(held.weights, products);
                products.out = got.data();
                const std::int64_t panels = held.weights.panelCount(), half = panels / 2;
                packedRowsCpu().multiply[static_cast<int>(GetParam())](held.weights, products, half, panels);
                packedRowsCpu().multiply[static_cast<int>(GetParam())](held.weights, products, 0, half);
                testing::expectNear(got, wanted, 4e-7 * columns);
                if (::testing::Test::HasFatalFailure()) FAIL() << rows << " x " << columns << ", " << count << " rows of activations, add " << add;
            }
        }
    }
}

TEST_P(PackedRowsTest, GiveARowBackAsItIsHeld) {
    const Held held(GetParam(), 37, 21);
    std::vector<float> row(21);
    for (std::int64_t r = 0; r < 37; ++r) {
        unpackRow(held.weights, r, row.data());
        for (std::size_t c = 0; c < 21; ++c) {
            const float from = held.source[static_cast<std::size_t>(r) * 21 + c];
            if (GetParam() == WeightType::F32) {
                EXPECT_EQ(row[c], from);
            }
            if (GetParam() == WeightType::Bf16) {
                EXPECT_EQ(row[c], toFloat(toBf16(from)));
            }
            if (GetParam() == WeightType::Int8) {
                EXPECT_NEAR(row[c], from, 0.5001f * held.scales[static_cast<std::size_t>(r)]);
            }
            if (GetParam() == WeightType::Int4) {
                EXPECT_NEAR(row[c], from, 0.5001f * held.scaleOf(r, static_cast<std::int64_t>(c)));
            }
        }
    }
}

// DynamicRowsTest has the others.
INSTANTIATE_TEST_SUITE_P(OfEachType, PackedRowsTest, ::testing::ValuesIn(kAllWeightTypes, kAllWeightTypes + kFloatProductTypes),
                         [](const auto& info) {
                             return std::string(info.param == WeightType::F32    ? "float32"
                                                : info.param == WeightType::Bf16 ? "bf16"
                                                : info.param == WeightType::Int8 ? "int8"
                                                                                 : "int4");
                         });

// The error of a product is at most half a scale for each element, times the sizes of the activations.
TEST(EightBitRows, KeepAProductWithinTheBoundOfTheirScales) {
    const std::int64_t rows = 50, columns = 384;
    const Held exact(WeightType::F32, rows, columns, 0.05), held(WeightType::Int8, rows, columns, 0.05);
    const auto x = numbers<float>(static_cast<std::size_t>(columns), 9);
    double sizes = 0;
    for (const float value : x) sizes += std::fabs(value);
    std::vector<float> wanted(static_cast<std::size_t>(rows)), got(wanted.size());
    multiplyRows(exact.weights, {1, x.data(), columns, nullptr, wanted.data(), rows, false});
    packedRowsCpu().multiply[static_cast<int>(WeightType::Int8)](held.weights, {1, x.data(), columns, nullptr, got.data(), rows, false}, 0,
                                                                 held.weights.panelCount());
    double worst = 0;
    for (std::size_t r = 0; r < wanted.size(); ++r) {
        const double off = std::fabs(got[r] - wanted[r]);
        EXPECT_LE(off, 0.5 * held.scales[r] * sizes * 1.0001) << "row " << r;
        worst = std::max(worst, off);
    }
    EXPECT_GT(worst, 0) << "rounded weights that give the exact product were not rounded";
}

TEST(EightBitRows, AreZeroWhereTheWeightsAreAndNoNumbersWhereOneIsNone) {
    Held held(WeightType::Int8, 3, 4);
    std::fill_n(held.source.begin(), 4, 0.0f);
    held.source[5] = std::numeric_limits<float>::infinity();
    held.pack(WeightType::Int8, 3, 4);
    const std::vector<float> x{1, 2, 3, 4};
    std::vector<float> out(3, 9.0f);
    packedRowsCpu().multiply[static_cast<int>(WeightType::Int8)](held.weights, {1, x.data(), 4, nullptr, out.data(), 3, false}, 0, 1);
    EXPECT_EQ(out[0], 0);
    EXPECT_TRUE(std::isnan(out[1]));
    EXPECT_TRUE(std::isfinite(out[2]));
}

class WidenedRows : public ::testing::TestWithParam<WeightType> {};

TEST_P(WidenedRows, WidenToThePanelsThatLargeProductsTake) {
    const std::int64_t rows = 40, columns = 43;
    const Held held(GetParam(), rows, columns);
    std::vector<float> panel(static_cast<std::size_t>(columns * gemm::kPanel)), row(static_cast<std::size_t>(columns));
    for (std::int64_t p = 0; p < 2; ++p) {
        packedRowsCpu().widenPanel(held.weights, p, panel.data());
        for (std::int64_t r = 0; r < gemm::kPanel; ++r) {
            if (p * gemm::kPanel + r < rows) unpackRow(held.weights, p * gemm::kPanel + r, row.data());
            for (std::int64_t k = 0; k < columns; ++k)
                EXPECT_EQ(panel[static_cast<std::size_t>(k * gemm::kPanel + r)],
                          p * gemm::kPanel + r < rows ? row[static_cast<std::size_t>(k)] : 0.0f);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(OfFewBits, WidenedRows, ::testing::Values(WeightType::Int8, WeightType::Int4),
                         [](const auto& info) { return std::string(info.param == WeightType::Int8 ? "int8" : "int4"); });

// As of 8 bits, with the scale of each group of columns.
TEST(FourBitRows, KeepAProductWithinTheBoundOfTheirScales) {
    const std::int64_t rows = 50, columns = 200;
    const Held exact(WeightType::F32, rows, columns, 0.05), held(WeightType::Int4, rows, columns, 0.05);
    const auto x = numbers<float>(static_cast<std::size_t>(columns), 9);
    std::vector<float> wanted(static_cast<std::size_t>(rows)), got(wanted.size());
    multiplyRows(exact.weights, {1, x.data(), columns, nullptr, wanted.data(), rows, false});
    packedRowsCpu().multiply[static_cast<int>(WeightType::Int4)](held.weights, {1, x.data(), columns, nullptr, got.data(), rows, false}, 0,
                                                                 held.weights.panelCount());
    double worst = 0;
    for (std::size_t r = 0; r < wanted.size(); ++r) {
        double bound = 0;
        for (std::int64_t c = 0; c < columns; ++c)
            bound += 0.5 * held.scaleOf(static_cast<std::int64_t>(r), c) * std::fabs(x[static_cast<std::size_t>(c)]);
        const double off = std::fabs(got[r] - wanted[r]);
        EXPECT_LE(off, bound * 1.0001) << "row " << r;
        worst = std::max(worst, off);
    }
    EXPECT_GT(worst, 0) << "rounded weights that give the exact product were not rounded";
}

TEST(FourBitRows, KeepALargeWeightToItsOwnGroup) {
    Held held(WeightType::Int4, 1, 2 * kFourBitGroup, 0.05);
    std::vector<float> before(static_cast<std::size_t>(2 * kFourBitGroup)), after(before.size());
    unpackRow(held.weights, 0, before.data());
    held.source[0] = 100;
    held.pack(WeightType::Int4, 1, 2 * kFourBitGroup);
    unpackRow(held.weights, 0, after.data());
    EXPECT_NEAR(after[0], 100, 1e-4);
    EXPECT_EQ(after[1], 0) << "too small beside it";
    for (std::size_t c = kFourBitGroup; c < after.size(); ++c) EXPECT_EQ(after[c], before[c]);
}

TEST(FourBitRows, AreZeroWhereTheWeightsAreAndNoNumbersWhereOneIsNone) {
    Held held(WeightType::Int4, 3, 4);
    std::fill_n(held.source.begin(), 4, 0.0f);
    held.source[5] = std::numeric_limits<float>::infinity();
    held.pack(WeightType::Int4, 3, 4);
    const std::vector<float> x{1, 2, 3, 4};
    std::vector<float> out(3, 9.0f);
    packedRowsCpu().multiply[static_cast<int>(WeightType::Int4)](held.weights, {1, x.data(), 4, nullptr, out.data(), 3, false}, 0, 1);
    EXPECT_EQ(out[0], 0);
    EXPECT_TRUE(std::isnan(out[1]));
    EXPECT_TRUE(std::isfinite(out[2]));
}

}  // namespace
}  // namespace stepscope
