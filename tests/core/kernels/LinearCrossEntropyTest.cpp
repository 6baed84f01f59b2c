// Linear + cross-entropy against the product in double and the plain cross-entropy: loss, gradient of the hidden state, gradient of the weights; on
// ragged sizes, several workers, several pieces, references that must be lifted, numbers that are not finite. Run by CTest under every instruction
// set.
#include <cstring>
#include <limits>

#include "Numbers.h"
#include "core/kernels/cross_entropy/CrossEntropy.h"
#include "core/kernels/linear_cross_entropy/LinearCrossEntropy.h"

namespace stepscope {
namespace {

struct Problem {
    std::int64_t rows, width, vocabulary;
    int workers = 1;
    float smoothing = 0;
    double scale = 1;  // of the weights: how far logits lie apart
    std::int64_t keptBytes = 1 << 20;
};

struct Outcome {
    double loss = 0;
    std::vector<float> dHidden, dWeight;
};

// Numbers that bf16 holds, so that both element types start from the same.
std::vector<float> drawn(std::int64_t count, std::uint64_t seed, double scale) {
    return testing::widened(testing::numbers<Bf16>(static_cast<std::size_t>(count), seed, scale));
}

struct Inputs {
    explicit Inputs(const Problem& p) : hidden(drawn(p.rows * p.width, 1, 1)), weight(drawn(p.vocabulary * p.width, 2, p.scale)) {
        for (std::int64_t r = 0; r < p.rows; ++r)
            targets.push_back(
                static_cast<std::int64_t>(counterRandomBelow(3, 4, static_cast<std::uint64_t>(r), static_cast<std::uint64_t>(p.vocabulary))));
    }
    std::vector<float> hidden, weight;
    std::vector<std::int64_t> targets;
};

constexpr float kGradientScale = 0.25f;

Outcome reference(const Problem& p, const Inputs& in) {
    const auto N = static_cast<std::size_t>(p.rows), C = static_cast<std::size_t>(p.width), V = static_cast<std::size_t>(p.vocabulary);
    std::vector<float> logits(N * V), losses(N), gradient(N * V);
    for (std::size_t r = 0; r < N; ++r)
        for (std::size_t v = 0; v < V; ++v) {
            double sum = 0;
            for (std::size_t c = 0; c < C; ++c) sum += static_cast<double>(in.hidden[r * C + c]) * in.weight[v * C + c];
            logits[r * V + v] = static_cast<float>(sum);
        }
    crossEntropyRows({.columns = p.vocabulary, .vocabulary = p.vocabulary, .smoothing = p.smoothing, .gradientScale = kGradientScale}, logits,
                     in.targets, losses, gradient);
    Outcome out;
    for (const float loss : losses) out.loss += loss;
    for (std::size_t r = 0; r < N; ++r)
        for (std::size_t c = 0; c < C; ++c) {
            double sum = 0;
            for (std::size_t v = 0; v < V; ++v) sum += static_cast<double>(gradient[r * V + v]) * in.weight[v * C + c];
            out.dHidden.push_back(static_cast<float>(sum));
        }
    for (std::size_t v = 0; v < V; ++v)
        for (std::size_t c = 0; c < C; ++c) {
            double sum = 0;
            for (std::size_t r = 0; r < N; ++r) sum += static_cast<double>(gradient[r * V + v]) * in.hidden[r * C + c];
            out.dWeight.push_back(static_cast<float>(sum));
        }
    return out;
}

Outcome computed(gemm::Element element, const Problem& p, const Inputs& in, bool gradients = true) {
    const std::int64_t stride = (p.width + 1) / 2 * 2, bytes = gemm::bytesOf(element);
    std::vector<std::byte> hidden(static_cast<std::size_t>(p.rows * stride * bytes + 1));
    for (std::int64_t r = 0; r < p.rows; ++r)
        for (std::int64_t c = 0; c < p.width; ++c) {
            const float value = in.hidden[static_cast<std::size_t>(r * p.width + c)];
            const Bf16 low = toBf16(value);
            std::memcpy(hidden.data() + (r * stride + c) * bytes, element == gemm::Element::Bf16 ? static_cast<const void*>(&low) : &value,
                        static_cast<std::size_t>(bytes));
        }
    LinearCrossEntropyShape shape{.element = element, .width = p.width, .vocabulary = p.vocabulary, .gradients = gradients, .keptBytes = p.keptBytes};
    for (int worker = 0; worker < p.workers; ++worker) shape.rows.push_back(share(p.rows, worker, p.workers));
    LinearCrossEntropy head(shape);
    Arena counting;
    head.place(counting);
    // What is not written must not matter.
    std::vector<std::byte> block(static_cast<std::size_t>(counting.used() + 64), std::byte{0xff});
    Arena arena(block.data() + (64 - reinterpret_cast<std::uintptr_t>(block.data()) % 64));
    head.place(arena);
    const LinearCrossEntropyInput input{.hidden = hidden.data(),
                                        .stride = stride,
                                        .targets = in.targets.data(),
                                        .weight = in.weight.data(),
                                        .smoothing = p.smoothing,
                                        .scale = kGradientScale,
                                        .gradients = gradients};
    for (int worker = 0; worker < p.workers; ++worker) head.pack(worker, input.weight);
    for (int worker = 0; worker < p.workers; ++worker) head.sumWeights(worker, input.weight);
    Outcome out;
    if (gradients)
        out.dHidden.resize(static_cast<std::size_t>(p.rows * p.width)), out.dWeight.assign(static_cast<std::size_t>(p.vocabulary * p.width), 7.0f);
    for (int piece = 0; piece < head.pieces(); ++piece) {
        for (int worker = 0; worker < p.workers; ++worker)
            for (std::int64_t row = head.rowsOf(worker, piece).begin; row < head.rowsOf(worker, piece).end; row += head.rowBlock()) {
                const Share rows{row, std::min(head.rowsOf(worker, piece).end, row + head.rowBlock())};
                out.loss += head.rows(worker, piece, rows, input);
                if (gradients) std::copy_n(head.dHidden(worker), rows.size() * p.width, out.dHidden.begin() + row * p.width);
            }
        for (int worker = 0; gradients && worker < p.workers; ++worker) head.weightGradient(worker, piece, input, piece > 0, out.dWeight.data());
    }
    return out;
}

double apart(const std::vector<float>& a, const std::vector<float>& b) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
        size += static_cast<double>(b[i]) * b[i];
    }
    return std::sqrt(difference / std::max(size, 1e-4));
}

class LinearCrossEntropyOf : public ::testing::TestWithParam<gemm::Element> {
protected:
    void expectReference(const Problem& p) {
        SCOPED_TRACE(::testing::Message() << p.rows << " rows, width " << p.width << ", vocabulary " << p.vocabulary << ", " << p.workers
                                          << " workers, smoothing " << p.smoothing);
        const Inputs in(p);
        const Outcome wanted = reference(p, in), got = computed(GetParam(), p, in);
        const bool bf16 = GetParam() == gemm::Element::Bf16;
        EXPECT_NEAR(got.loss, wanted.loss, (bf16 ? 2e-5 : 2e-6) * std::max(1.0, std::fabs(wanted.loss)));
        EXPECT_LT(apart(got.dHidden, wanted.dHidden), bf16 ? 4e-3 : 1e-5);
        EXPECT_LT(apart(got.dWeight, wanted.dWeight), bf16 ? 4e-3 : 1e-5);
        EXPECT_NEAR(computed(GetParam(), p, in, false).loss, got.loss, 1e-12 * std::fabs(got.loss));  // the same rows, added up in another order
    }
};

TEST_P(LinearCrossEntropyOf, GivesWhatTheReferenceGivesOnSizesThatFitAndThatDoNot) {
    for (const float smoothing : {0.0f, 0.1f})
        for (const Problem& p : {Problem{1, 1, 1}, Problem{1, 8, 33}, Problem{70, 64, 768, 2}, Problem{45, 13, 50, 1}, Problem{101, 31, 417, 3},
                                 Problem{2, 6, 400, 5}}) {
            Problem smoothed = p;
            smoothed.smoothing = smoothing;
            expectReference(smoothed);
        }
}

TEST_P(LinearCrossEntropyOf, TakesRowsInAsManyPiecesAsTheBytesAsk) {
    expectReference({.rows = 300, .width = 16, .vocabulary = 390, .workers = 2, .smoothing = 0.1f, .keptBytes = 1});
}

TEST_P(LinearCrossEntropyOf, LiftsTheReferenceOfARowWhoseLogitsRiseFar) {
    // Logits some hundreds apart: nearly every row's greatest lies far above its first columns.
    const Problem p{.rows = 40, .width = 24, .vocabulary = 900, .workers = 2, .scale = 60};
    const Inputs in(p);
    const Outcome wanted = reference(p, in), got = computed(GetParam(), p, in);
    EXPECT_NEAR(got.loss, wanted.loss, 1e-5 * wanted.loss);
    EXPECT_LT(apart(got.dHidden, wanted.dHidden), 4e-3);
    EXPECT_LT(apart(got.dWeight, wanted.dWeight), 4e-3);
}

TEST_P(LinearCrossEntropyOf, TakesARowWhoseFirstLogitsAreMinusInfinity) {
    const Problem p{.rows = 2, .width = 4, .vocabulary = 500};
    Inputs in(p);
    std::fill(in.hidden.begin(), in.hidden.end(), 1.0f);
    for (std::size_t v = 0; v < 40; ++v) in.weight[v * 4] = -std::numeric_limits<float>::infinity();
    in.targets = {100, 200};
    EXPECT_NEAR(computed(GetParam(), p, in, false).loss, reference(p, in).loss, 1e-4);
}

TEST_P(LinearCrossEntropyOf, ANonFiniteHiddenStateSpoilsItsRowAlone) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        const Problem p{.rows = 9, .width = 16, .vocabulary = 800};
        Inputs in(p);
        in.hidden[3 * 16 + 5] = bad;
        const Outcome out = computed(GetParam(), p, in);
        EXPECT_TRUE(std::isnan(out.loss));
        for (std::size_t r = 0; r < 9; ++r) EXPECT_EQ(std::isnan(out.dHidden[r * 16]), r == 3) << "row " << r;
    }
}

TEST_P(LinearCrossEntropyOf, OfNoRowsHasNoLossAndNoGradient) {
    const Problem p{.rows = 0, .width = 8, .vocabulary = 40, .workers = 2, .smoothing = 0.1f};
    const Outcome out = computed(GetParam(), p, Inputs(p));
    EXPECT_EQ(out.loss, 0.0);
    for (const float g : out.dWeight) EXPECT_EQ(g, 0.0f);
}

INSTANTIATE_TEST_SUITE_P(Elements, LinearCrossEntropyOf, ::testing::Values(gemm::Element::F32, gemm::Element::Bf16),
                         [](const auto& info) { return info.param == gemm::Element::F32 ? "Float32" : "Bf16"; });

}  // namespace
}  // namespace stepscope
