// The arithmetic of one element that the CUDA forms are made of, on the host: against the plain references, and where numbers are not finite.
#include <limits>

#include "Numbers.h"
#include "core/kernels/adamw/AdamW.h"
#include "core/kernels/cross_entropy/OnlineSoftmax.h"
#include "core/kernels/swiglu/Swiglu.h"
#include "core/kernels/swiglu/SwigluMath.h"

namespace stepscope {
namespace {

using testing::numbers;

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

TEST(ElementMath, SwigluIsTheReference) {
    const auto in = numbers<float>(200, 1, 20.0), g = numbers<float>(100, 2);
    std::vector<float> out(100), gradIn(200), gradBias(2);
    swigluForward(1, in, {}, out);
    swigluBackward(1, g, in, {}, gradIn, gradBias);
    for (std::size_t i = 0; i < 100; ++i) {
        EXPECT_NEAR(swiglu::value(in[2 * i], in[2 * i + 1]), out[i], 1e-6f * (1 + std::fabs(out[i])));
        const auto both = swiglu::gradients(g[i], in[2 * i], in[2 * i + 1]);
        EXPECT_NEAR(both.gate, gradIn[2 * i], 1e-6f * (1 + std::fabs(gradIn[2 * i])));
        EXPECT_NEAR(both.up, gradIn[2 * i + 1], 1e-6f * (1 + std::fabs(gradIn[2 * i + 1])));
    }
}

TEST(ElementMath, AdamWIsTheReference) {
    const AdamWStep step{
        .keep = 0.999f, .stepSize = 3e-3f, .rootOfSecond = 0.4f, .gradientScale = 0.7f, .newer1 = 0.11f, .newer2 = 0.06f};  // numbers of their own
    const auto g = numbers<float>(50, 1);
    auto w = numbers<float>(50, 2), m = numbers<float>(50, 3, 0.1), v = numbers<float>(50, 4);
    for (float& x : v) x = std::fabs(x);
    auto wantedW = w, wantedM = m, wantedV = v;
    adamWUpdate(step, g, wantedW, wantedM, wantedV);
    for (std::size_t i = 0; i < 50; ++i) adamWElement(step, g[i], w[i], m[i], v[i]);
    testing::expectNear(w, wantedW, 1e-6);
    testing::expectNear(m, wantedM, 1e-7);
    testing::expectNear(v, wantedV, 1e-7);
}

TEST(ElementMath, ClippingShrinksWhatIsLongerThanTheNormAllowedAndNothingElse) {
    EXPECT_NEAR(clipFactor(4.0f, 1.0f), 0.25f, 1e-6f);
    EXPECT_EQ(clipFactor(0.5f, 1.0f), 1.0f);
    EXPECT_EQ(clipFactor(0.0f, 1.0f), 1.0f);
}

// A row in packs of four, dealt out to `owners` as threads take them, then merged.
OnlineSoftmax over(const std::vector<float>& row, std::size_t owners) {
    std::vector<OnlineSoftmax> parts(owners);
    for (std::size_t i = 0; i < row.size(); i += 4) {
        float pack[4];
        for (std::size_t k = 0; k < 4; ++k) pack[k] = i + k < row.size() ? row[i + k] : -kInfinity;
        parts[i / 4 % owners] = include(parts[i / 4 % owners], pack);
    }
    OnlineSoftmax all = parts[0];
    for (std::size_t p = 1; p < owners; ++p) all = merge(all, parts[p]);
    return all;
}

double plainSum(const std::vector<float>& row, double largest) {
    double sum = 0;
    for (const float x : row) sum += std::exp(x - largest);
    return sum;
}

TEST(ElementMath, ASumOfExponentialsInPiecesIsThatOfTheWholeRow) {
    for (const std::size_t length : {1u, 5u, 257u}) {
        const auto row = numbers<float>(length, 1, 40.0);
        for (const std::size_t owners : {1u, 3u, 100u}) {  // with 100 most have nothing
            const OnlineSoftmax all = over(row, owners);
            EXPECT_EQ(all.largest, *std::max_element(row.begin(), row.end()));
            EXPECT_NEAR(all.sum, plainSum(row, all.largest), 1e-5 * all.sum);
        }
    }
}

TEST(ElementMath, ASumOfExponentialsIsNoNumberWhereTheReferenceHasNoneOnly) {
    std::vector<float> row = numbers<float>(24, 1);
    row[0] = row[1] = row[2] = row[3] = -kInfinity;  // a whole pack adds nothing
    EXPECT_NEAR(over(row, 6).sum, plainSum(row, over(row, 6).largest), 1e-5);
    row[7] = kNan;
    EXPECT_TRUE(std::isnan(over(row, 6).sum));
    row[7] = kInfinity;
    EXPECT_TRUE(std::isnan(over(row, 6).sum));
    const OnlineSoftmax nothing = over(std::vector<float>(8, -kInfinity), 2);
    EXPECT_EQ(nothing.sum, 0.0f);  // the logarithm of the row is then -infinity, and each loss is no number
}

}  // namespace
}  // namespace stepscope
