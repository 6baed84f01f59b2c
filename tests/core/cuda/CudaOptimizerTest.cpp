// Norm, clipping and AdamW on a GPU, over one parameter and over lists, in float32 and with moments of 8 bits, against the CPU's forms. See
// CudaTesting.h.
#include <numeric>

#include "CudaTesting.h"
#include "core/kernels/adamw/AdamW.h"
#include "core/kernels/isa/Bf16.h"
#include "core/state/BlockCode.h"

namespace stepscope {
namespace {

TEST_F(CudaKernels, NormClippingAndAdamWAreTheReferenceTheCopyIsTheWeightsRoundedAndANormThatIsNoneChangesNothing) {
    onEveryShape([](const CudaInterface& cuda, const CudaRows&, Shape shape, float) {
        const std::size_t count = shape.rows * shape.columns;
        auto g = randomValues(count, 1), w = randomValues(count, 2), m = randomValues(count, 3), v = randomValues(count, 4);
        for (float& x : v) x = std::fabs(x);
        AdamWStep step{.keep = 0.99f, .stepSize = 1e-2f, .rootOfSecond = 0.5f, .newer1 = 0.11f, .newer2 = 0.06f};  // numbers of their own
        const Device<float> dG(g), dW(w), dM(m), dV(v), dNorm(1), dStep(std::vector<float>(sizeof step / sizeof(float)));
        ASSERT_EQ(runtime().copy(static_cast<float*>(dStep), &step, sizeof step, 1), 0);
        const Device<std::uint16_t> dLow(count);
        const CudaParameter parameter{dG, dW, dM, dV, dLow, static_cast<std::int64_t>(count)};
        const CudaUpdate list{&parameter, 1, nullptr};
        const Device<char> partial(cuda.globalNormWorkspaceBytes(list));
        const auto* const numbers = reinterpret_cast<const AdamWStep*>(static_cast<float*>(dStep));
        ASSERT_EQ(cuda.globalNorm(list, dNorm, partial), nullptr);
        const float norm = dNorm.read()[0], wanted = static_cast<float>(std::sqrt(sumOfSquares(g)));
        EXPECT_NEAR(norm, wanted, 1e-5f * wanted + 1e-6f);
        ASSERT_EQ(cuda.adamW(list, numbers, dNorm, 0.5f), nullptr);
        step.gradientScale = clipFactor(norm, 0.5f);
        adamWUpdate(step, g, w, m, v);
        expectNear(dW.read(), w, 1e-5f, "weights");
        expectNear(dM.read(), m, 1e-5f, "first moment");
        expectNear(dV.read(), v, 1e-5f, "second moment");
        const auto before = dW.read();
        const auto low = dLow.read();
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(low[i], toBf16(before[i]).bits) << i;
        const Device<float> none(std::vector<float>{std::nanf("")});
        ASSERT_EQ(cuda.adamW(list, numbers, none, 0.5f), nullptr);
        EXPECT_EQ(dW.read(), before);
    });
}

// Where parameters begin that lie one after the other in memory: some empty, some of several chunks, most beginning at no multiple of 16 bytes.
std::vector<std::size_t> beginsOf(std::size_t parameters) {
    std::vector<std::size_t> begins{0};
    for (std::size_t i = 0; i < parameters; ++i) begins.push_back(begins.back() + (i % 50 == 7 ? 40'000 + i : i * 37 % 500));
    return begins;
}

// More parameters than fit into two launches of 512, with their gradients and moments.
class LongList {
public:
    static constexpr std::size_t kParameters = 1100;
    LongList(const std::vector<float>& g, const std::vector<float>& w, const std::vector<float>& m, const std::vector<float>& v)
        : m_g(g), m_w(w), m_m(m), m_v(v) {
        const auto begins = beginsOf(kParameters);
        for (std::size_t i = 0; i < kParameters; ++i)
            m_list.push_back({.gradient = m_g + begins[i],
                              .weight = m_w + begins[i],
                              .first = m_m + begins[i],
                              .second = m_v + begins[i],
                              .count = static_cast<std::int64_t>(begins[i + 1] - begins[i])});
        EXPECT_EQ(runtime().copy(static_cast<float*>(m_step), &kStep, sizeof kStep, 1), 0);
    }
    // The norm, and an update that is clipped to kMaxNorm.
    float update(const CudaInterface& cuda) const {
        const CudaUpdate list{m_list.data(), static_cast<std::int64_t>(kParameters), nullptr};
        const Device<char> partial(cuda.globalNormWorkspaceBytes(list));
        const Device<float> norm(1);
        EXPECT_EQ(cuda.globalNorm(list, norm, partial), nullptr);
        EXPECT_EQ(cuda.adamW(list, reinterpret_cast<const AdamWStep*>(static_cast<float*>(m_step)), norm, kMaxNorm), nullptr);
        return norm.read()[0];
    }
    std::vector<float> weights() const { return m_w.read(); }
    std::vector<float> firstMoments() const { return m_m.read(); }
    std::vector<float> secondMoments() const { return m_v.read(); }

    static constexpr AdamWStep kStep{.keep = 0.99f, .stepSize = 1e-2f, .rootOfSecond = 0.5f};
    static constexpr float kMaxNorm = 0.5f;

private:
    Device<float> m_g, m_w, m_m, m_v;
    Device<float> m_step{sizeof kStep / sizeof(float)};
    std::vector<CudaParameter> m_list;
};

TEST_F(CudaKernels, AListOfManyParametersTakesThreeLaunchesAndIsMeasuredAndUpdatedAsOne) {
    const CudaInterface* cuda = interface();
    if (!cuda) return;
    auto g = randomValues(beginsOf(LongList::kParameters).back(), 1), w = randomValues(g.size(), 2), m = randomValues(g.size(), 3),
         v = randomValues(g.size(), 4);
    for (float& x : v) x = std::fabs(x);
    const LongList list(g, w, m, v);
    const float norm = list.update(*cuda), wanted = static_cast<float>(std::sqrt(sumOfSquares(g)));
    EXPECT_NEAR(norm, wanted, 1e-5f * wanted);
    AdamWStep step = LongList::kStep;
    step.gradientScale = clipFactor(norm, LongList::kMaxNorm);
    adamWUpdate(step, g, w, m, v);
    expectNear(list.weights(), w, 1e-5f, "weights");
    expectNear(list.firstMoments(), m, 1e-5f, "first moments");
    expectNear(list.secondMoments(), v, 1e-5f, "second moments");
}

TEST_F(CudaKernels, AGradientThatIsNotFiniteInAnyLaunchOfAListMakesTheNormNoneAndNothingIsUpdated) {
    const CudaInterface* cuda = interface();
    if (!cuda) return;
    const auto begins = beginsOf(LongList::kParameters);
    const auto numbers = randomValues(begins.back(), 2);
    for (const float bad : {std::nanf(""), INFINITY, -INFINITY})
        for (const std::size_t place : {std::size_t{0}, begins[700], begins.back() - 1}) {
            auto gradient = numbers;
            gradient[place] = bad;
            const LongList list(gradient, numbers, numbers, numbers);
            EXPECT_FALSE(std::isfinite(list.update(*cuda))) << bad << " at " << place;
            EXPECT_EQ(list.weights(), numbers);
            EXPECT_EQ(list.firstMoments(), numbers);
            EXPECT_EQ(list.secondMoments(), numbers);
        }
}

// Moments in 8 bits of a list of parameters, blocks of each beginning anew, as core/state/EightBitMoments lays them out.
struct EightBitMoment {
    EightBitMoment(const BlockCode& of, const std::vector<std::size_t>& begins, const std::vector<float>& values) : code(of), codes(values.size()) {
        for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
            firstBlocks.push_back(scales.size());
            scales.resize(scales.size() + static_cast<std::size_t>(codeBlocks(static_cast<std::int64_t>(begins[i + 1] - begins[i]))));
            encode(begins, i, values);
        }
    }
    void encode(const std::vector<std::size_t>& begins, std::size_t i, const std::vector<float>& values) {
        code.encode(values.data() + begins[i], static_cast<std::int64_t>(begins[i + 1] - begins[i]), codes.data() + begins[i],
                    scales.data() + firstBlocks[i]);
    }
    std::vector<float> decoded(const std::vector<std::size_t>& begins) const {
        std::vector<float> values(codes.size());
        for (std::size_t i = 0; i + 1 < begins.size(); ++i)
            code.decode(codes.data() + begins[i], scales.data() + firstBlocks[i], static_cast<std::int64_t>(begins[i + 1] - begins[i]),
                        values.data() + begins[i]);
        return values;
    }

    const BlockCode& code;
    std::vector<std::uint8_t> codes;
    std::vector<float> scales;
    std::vector<std::size_t> firstBlocks;  // of each parameter
};

// A rounding of the last bit may tip a value over to the code beside its own.
void expectSameCodes(const std::vector<std::uint8_t>& got, const std::vector<std::uint8_t>& wanted, const char* what) {
    ASSERT_EQ(got.size(), wanted.size());
    std::size_t others = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_LE(std::abs(int{got[i]} - int{wanted[i]}), 1) << what << " at " << i;
        others += got[i] != wanted[i];
    }
    EXPECT_LE(others, got.size() / 1000) << what;
}

TEST_F(CudaKernels, AdamWOverMomentsInEightBitsIsThatOfTheCpu) {
    const CudaInterface* cuda = interface();
    if (!cuda) return;
    constexpr std::size_t parameters = 530;  // 256 a launch
    const auto begins = beginsOf(parameters);
    auto g = randomValues(begins.back(), 1), w = randomValues(g.size(), 2), m = randomValues(g.size(), 3), v = randomValues(g.size(), 4);
    for (float& x : v) x = std::fabs(x);
    for (std::size_t i = begins[9]; i < begins[10]; ++i) g[i] = m[i] = v[i] = 0.0f;  // a block whose scale is 0
    EightBitMoment first(firstMomentCode(), begins, m), second(secondMomentCode(), begins, v);
    const Device<float> dG(g), dW(w), dFirstScales(first.scales), dSecondScales(second.scales);
    const Device<std::uint8_t> dFirst(first.codes), dSecond(second.codes);
    std::vector<CudaEightBitParameter> list;
    for (std::size_t i = 0; i < parameters; ++i)
        list.push_back({.gradient = dG + begins[i],
                        .weight = dW + begins[i],
                        .first = dFirst + begins[i],
                        .second = dSecond + begins[i],
                        .firstScales = dFirstScales + first.firstBlocks[i],
                        .secondScales = dSecondScales + second.firstBlocks[i],
                        .count = static_cast<std::int64_t>(begins[i + 1] - begins[i])});
    const AdamWStep step{.keep = 0.99f, .stepSize = 1e-2f, .rootOfSecond = 0.5f};
    ASSERT_EQ(cuda->adamWEightBit({.parameters = list.data(),
                                   .count = static_cast<std::int64_t>(parameters),
                                   .firstCode = firstMomentCode().values().data(),
                                   .secondCode = secondMomentCode().values().data()},
                                  step),
              nullptr);
    m = first.decoded(begins);
    v = second.decoded(begins);
    for (std::size_t i = 0; i < g.size(); ++i) adamWElement(step, g[i], w[i], m[i], v[i]);
    for (std::size_t i = 0; i < parameters; ++i) {
        first.encode(begins, i, m);
        second.encode(begins, i, v);
    }
    expectNear(dW.read(), w, 1e-5f, "weights");
    expectNear(dFirstScales.read(), first.scales, 1e-5f, "scales of the first moments");
    expectNear(dSecondScales.read(), second.scales, 1e-5f, "scales of the second moments");
    expectSameCodes(dFirst.read(), first.codes, "first moments");
    expectSameCodes(dSecond.read(), second.codes, "second moments");
}

}  // namespace
}  // namespace stepscope
