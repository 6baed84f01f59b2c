// Numbers for the kernels' tests: reproducible random rows in either element type, and how far a row may lie from its reference.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "core/base/CounterRandom.h"
#include "core/kernels/isa/Bf16.h"

namespace stepscope::testing {

template <class T>
T from(double value) {
    if constexpr (std::is_same_v<T, Bf16>)
        return toBf16(static_cast<float>(value));
    else
        return static_cast<T>(value);
}

// Uniform in [-scale, scale].
template <class T>
std::vector<T> numbers(std::size_t count, std::uint64_t seed, double scale = 1.0) {
    std::vector<T> all(count);
    for (std::size_t i = 0; i < count; ++i)
        all[i] = from<T>(scale * (2.0 * (static_cast<double>(counterRandom(seed, 7, i) >> 11) / 9007199254740992.0) - 1.0));
    return all;
}

template <class T>
std::vector<float> widened(const std::vector<T>& all) {
    std::vector<float> wide;
    for (const T one : all) wide.push_back(toFloat(one));
    return wide;
}

// One rounding to the element type, and some of the arithmetic's own in float32.
template <class T>
double tolerance(double magnitude) {
    return (std::is_same_v<T, Bf16> ? 1.0 / 256 : 1e-6) * std::max(magnitude, 1e-3);
}

// Every element within the tolerance of its own size plus `slack`; NaN only where the reference has NaN, infinities equal.
template <class T>
void expectNear(const std::vector<T>& got, const std::vector<float>& wanted, double slack = 0) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double a = toFloat(got[i]), b = wanted[i];
        if (std::isnan(b))
            ASSERT_TRUE(std::isnan(a)) << "at " << i;
        else if (std::isinf(b))
            ASSERT_EQ(a, b) << "at " << i;
        else
            ASSERT_NEAR(a, b, tolerance<T>(std::fabs(b)) + slack) << "at " << i;
    }
}

}  // namespace stepscope::testing
