// The packed matrix products against sums in double, on sizes that fit the tiles and sizes that do not.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <iterator>
#include <random>
#include <vector>

#include "core/kernels/gemm/Gemm.h"
#include "core/kernels/isa/Bf16.h"
#include "core/kernels/isa/Isa.h"

namespace stepscope {
namespace {

// Row-major elements of either type, with the values that they really hold.
struct Matrix {
    std::int64_t rows, columns, stride;
    std::vector<float> floats;
    std::vector<std::uint16_t> halves;

    Matrix(std::int64_t rows, std::int64_t columns, unsigned seed) : rows(rows), columns(columns), stride((columns + 5) / 2 * 2) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<float> draw(-1, 1);
        floats.resize(static_cast<std::size_t>(rows * stride), 0.0f);
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t c = 0; c < columns; ++c) floats[static_cast<std::size_t>(r * stride + c)] = toFloat(toBf16(draw(random)));
        for (const float value : floats) halves.push_back(toBf16(value).bits);
    }
    const void* data(gemm::Element element) const { return element == gemm::Element::F32 ? static_cast<const void*>(floats.data()) : halves.data(); }
    double at(std::int64_t r, std::int64_t c) const { return floats[static_cast<std::size_t>(r * stride + c)]; }
};

struct Sizes {
    std::int64_t m, n, k;
};
constexpr Sizes kSizes[] = {{1, 1, 1}, {8, 32, 64}, {16, 64, 16}, {9, 33, 7}, {23, 70, 131}, {5, 31, 600}, {40, 96, 1030}};

class Gemm : public testing::TestWithParam<gemm::Element> {
protected:
    gemm::Element element = GetParam();
    std::int64_t words(std::int64_t extent) const { return gemm::steps(element, extent); }
    gemm::Rows rowsOf(const Matrix& a) const { return {static_cast<const std::uint32_t*>(a.data(element)), a.stride / gemm::perWord(element), 1}; }
};

TEST_P(Gemm, MultipliesRowsWithTheTransposeOfAPackedMatrix) {
    for (const auto [m, n, k] : kSizes) {
        const Matrix a(m, k, 1), w(n, k, 2);
        std::vector<std::uint32_t> packed(static_cast<std::size_t>(gemm::panels(n) * words(k) * 32), 0xdeadbeef);
        gemm::packers(element).transposed(w.data(element), w.stride, n, k, packed.data(), words(k) * 32);
        std::vector<float> c(static_cast<std::size_t>(m * n), 1.0f);
        for (const bool add : {false, true}) {
            gemm::kernels(element).store(rowsOf(a), {packed.data(), words(k) * 32}, m, n, words(k), c.data(), n, add);
            for (std::int64_t i = 0; i < m; ++i)
                for (std::int64_t j = 0; j < n; ++j) {
                    double sum = 0;
                    for (std::int64_t x = 0; x < k; ++x) sum += a.at(i, x) * w.at(j, x);
                    ASSERT_NEAR(c[static_cast<std::size_t>(i * n + j)], add ? 2 * sum : sum, 2e-6 * static_cast<double>(k) + 1e-6)
                        << m << "x" << n << "x" << k;
                }
        }
    }
}

TEST_P(Gemm, SumsOverRowsOfTwoMatricesForWeightGradients) {
    for (const auto [m, n, k] : kSizes) {
        const Matrix dy(k, m, 3), x(k, n, 4);
        const std::int64_t panel = words(k) * 32;
        std::vector<std::uint32_t> a(static_cast<std::size_t>(gemm::panels(m) * panel), 0xdeadbeef),
            b(static_cast<std::size_t>(gemm::panels(n) * panel), 0xdeadbeef);
        gemm::packers(element).summedRows(dy.data(element), dy.stride, k, m, a.data(), panel);
        gemm::packers(element).summedRows(x.data(element), x.stride, k, n, b.data(), panel);
        for (std::int64_t first = 0; first < m; first += 32) {
            const std::int64_t rows = std::min<std::int64_t>(32, m - first);
            std::vector<float> c(static_cast<std::size_t>(rows * n));
            gemm::kernels(element).store({a.data() + first / 32 * panel, 1, 32}, {b.data(), panel}, rows, n, words(k), c.data(), n, false);
            for (std::int64_t i = 0; i < rows; ++i)
                for (std::int64_t j = 0; j < n; ++j) {
                    double sum = 0;
                    for (std::int64_t t = 0; t < k; ++t) sum += dy.at(t, first + i) * x.at(t, j);
                    ASSERT_NEAR(c[static_cast<std::size_t>(i * n + j)], sum, 2e-6 * static_cast<double>(k) + 1e-6) << m << "x" << n << "x" << k;
                }
        }
    }
}

TEST_P(Gemm, HandsOutEveryTileOnceWithItsPlaceAndSize) {
    const Matrix a(21, 40, 5), w(75, 40, 6);
    std::vector<std::uint32_t> packed(static_cast<std::size_t>(gemm::panels(75) * words(40) * 32));
    gemm::packers(element).transposed(w.data(element), w.stride, 75, 40, packed.data(), words(40) * 32);
    std::vector<float> whole(21 * 75), collected(21 * 75, std::nanf(""));
    gemm::kernels(element).store(rowsOf(a), {packed.data(), words(40) * 32}, 21, 75, words(40), whole.data(), 75, false);
    gemm::kernels(element).tiles(
        rowsOf(a), {packed.data(), words(40) * 32}, 21, 75, words(40),
        [](void* context, float* tile, std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns) {
            auto& to = *static_cast<std::vector<float>*>(context);
            for (std::int64_t r = 0; r < rows; ++r)
                for (std::int64_t c = 0; c < columns; ++c) {
                    float& place = to[static_cast<std::size_t>((row + r) * 75 + column + c)];
                    EXPECT_TRUE(std::isnan(place));
                    place = tile[r * 32 + c];
                }
        },
        &collected);
    EXPECT_EQ(whole, collected);
}

TEST_P(Gemm, GivesTheSameBitsHoweverRowsAreSplit) {
    const Matrix a(30, 50, 7), w(40, 50, 8);
    std::vector<std::uint32_t> packed(static_cast<std::size_t>(gemm::panels(40) * words(50) * 32));
    gemm::packers(element).transposed(w.data(element), w.stride, 40, 50, packed.data(), words(50) * 32);
    std::vector<float> whole(30 * 40), parts(30 * 40);
    gemm::kernels(element).store(rowsOf(a), {packed.data(), words(50) * 32}, 30, 40, words(50), whole.data(), 40, false);
    for (std::int64_t row = 0; row < 30; row += 7) {
        gemm::Rows some = rowsOf(a);
        some.words += row * some.rowStride;
        gemm::kernels(element).store(some, {packed.data(), words(50) * 32}, std::min<std::int64_t>(7, 30 - row), 40, words(50),
                                     parts.data() + row * 40, 40, false);
    }
    EXPECT_EQ(whole, parts);
}

TEST_P(Gemm, AProductOverNothingIsZero) {
    float c[2] = {3, 4};
    const std::uint32_t panel[32] = {};
    gemm::kernels(element).store({panel, 1, 1}, {panel, 32}, 1, 2, 0, c, 2, false);
    EXPECT_EQ(c[0], 0.0f);
    EXPECT_EQ(c[1], 0.0f);
}

// Sizes beside those above: strips of every height, more rows and more steps than are repacked at a time.
TEST_P(Gemm, EveryFormGivesTheSameBits) {
    const auto forms = gemm::forms(element);
    std::vector<Sizes> sizes(std::begin(kSizes), std::end(kSizes));
    for (std::int64_t m = 1; m <= 32; ++m) sizes.push_back({m, 33, 40});
    sizes.insert(sizes.end(), {{128, 64, 384}, {300, 40, 700}, {50, 64, 6000}, {70, 32, 40000}, {17, 32, 300000}});
    for (const auto [m, n, k] : sizes) {
        const Matrix a(m, k, 9), w(n, k, 10);
        std::vector<std::uint32_t> left(static_cast<std::size_t>(gemm::panels(m) * words(k) * 32)),
            right(static_cast<std::size_t>(gemm::panels(n) * words(k) * 32));
        gemm::packers(element).transposed(a.data(element), a.stride, m, k, left.data(), words(k) * 32);
        gemm::packers(element).transposed(w.data(element), w.stride, n, k, right.data(), words(k) * 32);
        const gemm::Rows inPanels{left.data(), 1, 32, words(k) * 32};
        const gemm::Panels b{right.data(), words(k) * 32};
        std::vector<float> expected;
        for (const gemm::Form& form : forms) {
            std::vector<float> all, c(static_cast<std::size_t>(m * n), 0.25f);
            const auto take = [&] { all.insert(all.end(), c.begin(), c.end()); };
            for (const gemm::Rows& rows : {rowsOf(a), inPanels})
                for (const bool add : {true, false}) {
                    form.kernels.store(rows, b, m, n, words(k), c.data(), n, add);
                    take();
                    std::pair<std::vector<float>*, std::int64_t> to{&c, n};
                    form.kernels.tiles(
                        rows, b, m, n, words(k),
                        [](void* context, float* tile, std::int64_t row, std::int64_t column, std::int64_t high, std::int64_t wide) {
                            const auto& [values, columns] = *static_cast<std::pair<std::vector<float>*, std::int64_t>*>(context);
                            EXPECT_EQ(row % 8, 0);  // biases' gradients are summed tile by tile
                            for (std::int64_t r = 0; r < high; ++r)
                                for (std::int64_t j = 0; j < wide; ++j)
                                    (*values)[static_cast<std::size_t>((row + r) * columns + column + j)] = tile[r * 32 + j];
                        },
                        &to);
                    take();
                }
            if (&form == forms.data()) expected = all;
            EXPECT_EQ(std::memcmp(all.data(), expected.data(), all.size() * sizeof(float)), 0) << form.name << " " << m << "x" << n << "x" << k;
        }
    }
}

// What the comparison above would not see: a form that is left out. A processor whose dot product of pairs adds in another order has no split forms.
TEST_P(Gemm, EveryFormOfTheInstructionSetIsThere) {
    const std::size_t count = gemm::forms(element).size();
    const bool bf16 = element == gemm::Element::Bf16;
    if (isaInUse() == Isa::Baseline)
        EXPECT_EQ(count, 1u);
    else if (isaInUse() == Isa::Avx2)
        EXPECT_EQ(count, bf16 ? 3u : 2u);
    else if (isaInUse() == Isa::Avx512)
        EXPECT_EQ(count, bf16 ? 6u : 3u);
    else if (isaInUse() == Isa::Amx && bf16)
        EXPECT_EQ(count, 2u);
    else
        EXPECT_TRUE(count == 3u || (bf16 && count == 6u));
}

INSTANTIATE_TEST_SUITE_P(Elements, Gemm, testing::Values(gemm::Element::F32, gemm::Element::Bf16),
                         [](const auto& info) { return info.param == gemm::Element::F32 ? "Float32" : "Bf16"; });

}  // namespace
}  // namespace stepscope
