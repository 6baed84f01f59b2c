// The products by tiles: over a plain unit on every processor, and with the bits of that one where the processor has such a unit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "core/kernels/isa/Bf16.h"
#include "tests/core/kernels/GemmTilesTable.h"

namespace stepscope {
namespace {

struct Sizes {
    std::int64_t m, n, k;  // k: words
};

struct Product {
    Sizes size;
    std::vector<std::uint32_t> rows, panelsOfA, panelsOfB;  // row-major A, A in panels, B
    std::vector<float> c;

    // Elements whose exponents lie in [low, low + range); what lies behind the last word of a row or panel is NaN.
    Product(Sizes of, std::uint32_t low, std::uint32_t range)
        : size(of),
          rows(static_cast<std::size_t>(of.m * of.k) + 64, kNan),
          panelsOfA(static_cast<std::size_t>(gemm::panels(of.m) * of.k * 32) + 1024, kNan),
          panelsOfB(static_cast<std::size_t>(gemm::panels(of.n) * of.k * 32) + 1024, kNan),
          c(static_cast<std::size_t>(of.m * of.n), 0.25f) {
        std::mt19937 random(7);
        const auto element = [&] { return static_cast<std::uint32_t>((random() & 0x807f) | (low + random() % range) << 7); };
        for (std::int64_t i = 0; i < of.m; ++i)
            for (std::int64_t x = 0; x < of.k; ++x)
                rows[at(i * of.k + x)] = panelsOfA[at(i / 32 * of.k * 32 + x * 32 + i % 32)] = element() | element() << 16;
        for (std::int64_t j = 0; j < gemm::panels(of.n) * 32; ++j)
            for (std::int64_t x = 0; x < of.k; ++x) panelsOfB[at(j / 32 * of.k * 32 + x * 32 + j % 32)] = j < of.n ? element() | element() << 16 : 0;
    }
    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
    gemm::Rows rowMajor() const { return {rows.data(), size.k, 1}; }
    gemm::Rows inPanels() const { return {panelsOfA.data(), 1, 32, size.k * 32}; }
    gemm::Panels right() const { return {panelsOfB.data(), size.k * 32}; }

    double exact(std::int64_t i, std::int64_t j) const {
        double sum = 0;
        for (std::int64_t x = 0; x < size.k; ++x) {
            const std::uint32_t a = rows[at(i * size.k + x)], b = panelsOfB[at(j / 32 * size.k * 32 + x * 32 + j % 32)];
            for (const int shift : {0, 16})
                sum += static_cast<double>(toFloat(Bf16{static_cast<std::uint16_t>(a >> shift)})) *
                       static_cast<double>(toFloat(Bf16{static_cast<std::uint16_t>(b >> shift)}));
        }
        return sum;
    }
    // Everything that a form makes of it: both orders of A, handed out in tiles, stored, and added to what lies there.
    std::vector<float> by(const gemm::Kernels& kernels) {
        std::vector<float> all;
        std::fill(c.begin(), c.end(), 0.25f);
        const auto take = [&] { all.insert(all.end(), c.begin(), c.end()); };
        for (const gemm::Rows& a : {rowMajor(), inPanels()}) {
            for (const bool add : {true, false}) {
                kernels.store(a, right(), size.m, size.n, size.k, c.data(), size.n, add);
                take();
            }
            std::fill(c.begin(), c.end(), std::nanf(""));
            kernels.tiles(
                a, right(), size.m, size.n, size.k,
                [](void* to, float* tile, std::int64_t row, std::int64_t column, std::int64_t high, std::int64_t wide) {
                    auto& self = *static_cast<Product*>(to);
                    EXPECT_EQ(row % 8, 0);
                    for (std::int64_t r = 0; r < high; ++r)
                        for (std::int64_t j = 0; j < wide; ++j) {
                            float& place = self.c[at((row + r) * self.size.n + column + j)];
                            EXPECT_TRUE(std::isnan(place));
                            place = tile[r * 32 + j];
                        }
                },
                this);
            take();
        }
        return all;
    }

private:
    static constexpr std::uint32_t kNan = 0x7fc07fc0;
};

// Sizes that fit tiles and do not, more rows and more words than are brought into tiles at a time.
constexpr Sizes kSizes[] = {{1, 1, 1},    {32, 32, 16},  {64, 64, 32}, {9, 33, 7},     {33, 31, 17},  {40, 96, 515},
                            {300, 40, 9}, {70, 64, 256}, {5, 31, 300}, {35, 33, 4100}, {280, 64, 300}};

const gemm::Form* plain() {
    return STEPSCOPE_PICK_ISA(plainTileForms).forms[static_cast<int>(gemm::Element::Bf16)];
}

TEST(GemmTiles, AgreeWithSumsInDoubleWhateverTheSizes) {
    for (const Sizes& size : kSizes) {
        Product product(size, 118, 10);
        for (const gemm::Form* form : {&plain()[0], &plain()[1]}) {
            const auto all = product.by(form->kernels);
            const std::size_t one = product.c.size();
            for (std::int64_t i = 0; i < size.m; ++i)
                for (std::int64_t j = 0; j < size.n; ++j) {
                    const double exact = product.exact(i, j), bound = 1e-5 * std::sqrt(static_cast<double>(size.k)) + 1e-5;
                    const std::size_t place = Product::at(i * size.n + j);
                    for (std::size_t part = 0; part < 6; ++part)
                        ASSERT_NEAR(all[part * one + place],
                                    part == 0   ? exact + 0.25
                                    : part == 3 ? all[2 * one + place] + exact
                                                : exact,
                                    bound)
                            << form->name << " " << size.m << "x" << size.n << "x" << size.k << " part " << part;
                }
        }
    }
}

TEST(GemmTiles, GiveTheSameBitsWhetherRowsAreReadInPlaceOrNot) {
    for (const Sizes& size : kSizes) {
        Product product(size, 118, 10);
        const auto one = product.by(plain()[0].kernels), other = product.by(plain()[1].kernels);
        EXPECT_EQ(std::memcmp(one.data(), other.data(), one.size() * sizeof(float)), 0) << size.m << "x" << size.n << "x" << size.k;
    }
}

// Numbers as a step has them, and denormal ones.
TEST(GemmTiles, OfTheProcessorHaveTheBitsOfThePlainUnit) {
    if (isaInUse() < Isa::Amx) GTEST_SKIP() << "this processor has no tiles of bf16, or STEPSCOPE_ISA names a lower set";
    for (const auto& [low, range] : {std::pair{118u, 10u}, std::pair{0u, 130u}})
        for (const Sizes& size : kSizes) {
            Product product(size, low, range);
            const auto expected = product.by(plain()[0].kernels);
            for (const gemm::Form& form : gemm::forms(gemm::Element::Bf16)) {
                const auto found = product.by(form.kernels);
                EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)), 0)
                    << form.name << " " << size.m << "x" << size.n << "x" << size.k << " exponents from " << low;
            }
        }
}

}  // namespace
}  // namespace stepscope
