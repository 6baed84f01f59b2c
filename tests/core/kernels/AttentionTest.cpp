// Holds plain attention against finite differences and the CPU forms against the plain one: ragged contexts, odd widths, strided heads,
// gradients in place. Run by CTest under every instruction set.
#include <cstdlib>
#include <limits>
#include <memory>

#include "Numbers.h"
#include "core/kernels/attention/Attention.h"
#include "core/kernels/gemm/Gemm.h"

namespace stepscope {
namespace {

using testing::numbers;
using testing::widened;

AttentionShape shapeOf(std::int64_t context, std::int64_t width) {
    return {.context = context, .width = width, .scale = 1.0f / std::sqrt(static_cast<float>(width))};
}

// 64-byte aligned and full of NaN: what a kernel does not write before it reads shows.
class Scratch {
public:
    explicit Scratch(std::int64_t bytes) : m_memory(std::aligned_alloc(64, static_cast<std::size_t>(bytes + 63) / 64 * 64)) {
        std::fill_n(static_cast<float*>(m_memory), bytes / 4, std::numeric_limits<float>::quiet_NaN());
    }
    ~Scratch() { std::free(m_memory); }
    void* get() const { return m_memory; }

private:
    void* m_memory;
};

TEST(Attention, HasTheGradientsThatFiniteDifferencesGive) {
    const AttentionShape shape = shapeOf(4, 3);
    std::vector<float> x[3] = {numbers<float>(12, 1), numbers<float>(12, 2), numbers<float>(12, 3)};
    const auto g = numbers<float>(12, 4);
    const auto gradients = causalAttentionBackward(shape, x[0], x[1], x[2], g);
    const std::vector<float>* of[3] = {&gradients.q, &gradients.k, &gradients.v};
    const auto objective = [&] {
        const auto out = causalAttention(shape, x[0], x[1], x[2]);
        double value = 0;
        for (std::size_t i = 0; i < 12; ++i) value += static_cast<double>(out[i]) * g[i];
        return value;
    };
    for (int which = 0; which < 3; ++which)
        for (std::size_t i = 0; i < 12; ++i) {
            const float kept = x[which][i], h = 1e-2f;
            x[which][i] = kept + h;
            const double up = objective();
            x[which][i] = kept - h;
            const double down = objective();
            x[which][i] = kept;
            EXPECT_NEAR((*of[which])[i], (up - down) / (2.0 * h), 1e-4);
        }
}

template <class T>
class AttentionCpu : public ::testing::Test {};
using ElementTypes = ::testing::Types<float, Bf16>;
TYPED_TEST_SUITE(AttentionCpu, ElementTypes);

// How far a sum of rounded products may lie from the exact one: probabilities are rounded to Bf16 once more.
template <class T>
double slack(double magnitude) {
    return (std::is_same_v<T, Bf16> ? 6e-3 : 2e-6) * magnitude;
}

TYPED_TEST(AttentionCpu, GivesWhatTheReferenceGivesAtRaggedContextsAndWidths) {
    for (const auto& [context, width] :
         {std::pair{1L, 1L}, std::pair{2L, 8L}, std::pair{15L, 7L}, std::pair{16L, 16L}, std::pair{33L, 64L}, std::pair{65L, 20L},
          std::pair{128L, 32L}, std::pair{131L, 33L}, std::pair{257L, 64L}, std::pair{40L, 130L}}) {
        const AttentionShape shape = shapeOf(context, width);
        const auto count = static_cast<std::size_t>(context * width);
        const auto q = numbers<TypeParam>(count, 1, 3.0), k = numbers<TypeParam>(count, 2, 3.0), v = numbers<TypeParam>(count, 3),
                   g = numbers<TypeParam>(count, 4);
        std::vector<TypeParam> out(count), gradQ(count), gradK(count), gradV(count);
        std::vector<float> logSum(static_cast<std::size_t>(context));
        const auto& forward = attentionForward<TypeParam>();
        const auto& backward = attentionBackward<TypeParam>();
        forward.run(shape, {q.data(), width}, {k.data(), width}, {v.data(), width}, {out.data(), width}, logSum.data(),
                    Scratch(forward.scratchBytes(shape)).get());
        testing::expectNear(out, causalAttention(shape, widened(q), widened(k), widened(v)), slack<TypeParam>(1.0));
        backward.run(shape, {q.data(), width}, {k.data(), width}, {v.data(), width}, {out.data(), width}, {g.data(), width}, logSum.data(),
                     {gradQ.data(), width}, {gradK.data(), width}, {gradV.data(), width}, Scratch(backward.scratchBytes(shape)).get());
        const auto gradients = causalAttentionBackward(shape, widened(q), widened(k), widened(v), widened(g));
        testing::expectNear(gradQ, gradients.q, slack<TypeParam>(3.0));
        testing::expectNear(gradK, gradients.k, slack<TypeParam>(3.0));
        testing::expectNear(gradV, gradients.v, slack<TypeParam>(2.0));
        if (::testing::Test::HasFailure()) FAIL() << "context " << context << ", width " << width;
    }
}

TYPED_TEST(AttentionCpu, TakesHeadsThatLieInWiderRowsAndWritesGradientsInTheirPlace) {
    const std::int64_t context = 37, width = 16, heads = 2, row = 3 * heads * width;
    const AttentionShape shape = shapeOf(context, width);
    auto qkv = numbers<TypeParam>(static_cast<std::size_t>(context * row), 1);
    const auto untouched = qkv;
    const auto g = numbers<TypeParam>(static_cast<std::size_t>(context * width), 2);
    std::vector<TypeParam> out(g.size());
    std::vector<float> logSum(static_cast<std::size_t>(context));
    const auto& forward = attentionForward<TypeParam>();
    const auto& backward = attentionBackward<TypeParam>();
    TypeParam *q = qkv.data() + width, *k = q + heads * width, *v = k + heads * width;  // the second head
    forward.run(shape, {q, row}, {k, row}, {v, row}, {out.data(), width}, logSum.data(), Scratch(forward.scratchBytes(shape)).get());
    backward.run(shape, {q, row}, {k, row}, {v, row}, {out.data(), width}, {g.data(), width}, logSum.data(), {q, row}, {k, row}, {v, row},
                 Scratch(backward.scratchBytes(shape)).get());
    std::vector<float> parts[3], got[3];
    for (std::int64_t i = 0; i < context * row; ++i) {
        const std::int64_t column = i % row, part = column / (heads * width);
        const auto at = static_cast<std::size_t>(i);
        if (column / width % heads == 1) {
            parts[part].push_back(toFloat(untouched[at]));
            got[part].push_back(toFloat(qkv[at]));
        } else {
            EXPECT_EQ(toFloat(qkv[at]), toFloat(untouched[at])) << "the other head was touched at " << i;
        }
    }
    testing::expectNear(out, causalAttention(shape, parts[0], parts[1], parts[2]), slack<TypeParam>(1.0));
    const auto gradients = causalAttentionBackward(shape, parts[0], parts[1], parts[2], widened(g));
    const double allowed = slack<TypeParam>(2.0) + testing::tolerance<TypeParam>(1.0);
    testing::expectNear(got[0], gradients.q, allowed);
    testing::expectNear(got[1], gradients.k, allowed);
    testing::expectNear(got[2], gradients.v, allowed);
}

TYPED_TEST(AttentionCpu, StaysExactWhenScoresAreHugeAndPassesNanOnToTheRowsThatSeeIt) {
    const std::int64_t context = 300, width = 8;
    const AttentionShape shape = shapeOf(context, width);
    const auto count = static_cast<std::size_t>(context * width);
    // The largest score of all comes late, so that every earlier chunk's sum is rescaled to nothing.
    std::vector<TypeParam> q(count, testing::from<TypeParam>(30.0)), k = numbers<TypeParam>(count, 1, 30.0), v = numbers<TypeParam>(count, 2),
                                                                     out(count);
    for (std::size_t d = 0; d < 8; ++d) k[250 * 8 + d] = testing::from<TypeParam>(300.0);
    std::vector<float> logSum(static_cast<std::size_t>(context));
    const auto& forward = attentionForward<TypeParam>();
    const Scratch scratch(forward.scratchBytes(shape));
    forward.run(shape, {q.data(), width}, {k.data(), width}, {v.data(), width}, {out.data(), width}, logSum.data(), scratch.get());
    for (std::size_t d = 0; d < 8; ++d) EXPECT_NEAR(toFloat(out[299 * 8 + d]), toFloat(v[250 * 8 + d]), 1e-6);
    q[290 * 8] = testing::from<TypeParam>(std::numeric_limits<double>::quiet_NaN());
    forward.run(shape, {q.data(), width}, {k.data(), width}, {v.data(), width}, {out.data(), width}, logSum.data(), scratch.get());
    EXPECT_TRUE(std::isnan(toFloat(out[290 * 8])));
    EXPECT_FALSE(std::isnan(toFloat(out[289 * 8])));
    EXPECT_FALSE(std::isnan(toFloat(out[291 * 8])));
}

// All that the two directions give, of either form.
std::vector<std::uint16_t> resultsOf(int form, AttentionShape shape) {
    const auto& forward = attentionForwardCpu<Bf16>().forms[form];
    const auto& backward = attentionBackwardCpu<Bf16>().forms[form];
    const std::int64_t width = shape.width;
    const auto count = static_cast<std::size_t>(shape.context * width);
    const auto q = numbers<Bf16>(count, 1, 3.0), k = numbers<Bf16>(count, 2, 3.0), v = numbers<Bf16>(count, 3), g = numbers<Bf16>(count, 4);
    std::vector<Bf16> out(count), gradients[3] = {std::vector<Bf16>(count), std::vector<Bf16>(count), std::vector<Bf16>(count)};
    std::vector<float> logSum(static_cast<std::size_t>(shape.context));
    forward.run(shape, {q.data(), width}, {k.data(), width}, {v.data(), width}, {out.data(), width}, logSum.data(),
                Scratch(forward.scratchBytes(shape)).get());
    backward.run(shape, {q.data(), width}, {k.data(), width}, {v.data(), width}, {out.data(), width}, {g.data(), width}, logSum.data(),
                 {gradients[0].data(), width}, {gradients[1].data(), width}, {gradients[2].data(), width},
                 Scratch(backward.scratchBytes(shape)).get());
    std::vector<std::uint16_t> all;
    for (const auto* part : {&out, &gradients[0], &gradients[1], &gradients[2]})
        for (const Bf16 element : *part) all.push_back(element.bits);
    return all;
}

TEST(AttentionForms, GiveTheSameBits) {
    // Where the processor's dot product of pairs adds in another order, pairs taken apart are not used. What its products do tells.
    const bool apart = isaInUse() < Isa::Avx512Bf16 || gemm::forms(gemm::Element::Bf16).size() == 6;
    if (isaInUse() == Isa::Amx) {
        EXPECT_EQ(attentionForward<Bf16>().run, attentionForwardCpu<Bf16>().forms[2].run);
        EXPECT_EQ(attentionBackward<Bf16>().run, attentionBackwardCpu<Bf16>().forms[2].run);
        return;
    }
    if (!apart) {
        EXPECT_EQ(attentionForward<Bf16>().run, attentionForwardCpu<Bf16>().forms[0].run);
        return;
    }
    for (const auto& [context, width] : {std::pair{1L, 1L}, std::pair{15L, 7L}, std::pair{33L, 64L}, std::pair{65L, 21L}, std::pair{200L, 64L},
                                         std::pair{131L, 33L}, std::pair{257L, 16L}, std::pair{40L, 130L}})
        EXPECT_EQ(resultsOf(0, shapeOf(context, width)), resultsOf(1, shapeOf(context, width))) << "context " << context << ", width " << width;
}

}  // namespace
}  // namespace stepscope
