// The CUDA forms against the plain references, on a real device; each also twice, for its sums must be the same bits every time. Where there
// is no device, the tests hold the sentence that says so and note it as "not_run", which packaging/gpu-check counts. Device memory comes from
// the CUDA runtime that the plug-in has loaded. STEPSCOPE_CUDA_PLUGIN names a plug-in that lies elsewhere than where it was built.
#include "CudaTesting.h"

#include "core/kernels/bias_gelu/BiasGelu.h"
#include "core/kernels/cross_entropy/CrossEntropy.h"
#include "core/kernels/embedding/Embedding.h"
#include "core/kernels/qkv_layout/QkvLayout.h"
#include "core/kernels/residual_norm/ResidualNorm.h"
#include "core/kernels/swiglu/Swiglu.h"

#include <iterator>
#include <numeric>

namespace stepscope {
namespace {

TEST_F(CudaKernels, BiasGeluIsTheReference) {
    onEveryShapeAlsoSpoilt([](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float tolerance, float bad) {
        const auto in = spoilt(randomValues(shape.rows * shape.columns, 1), bad), bias = randomValues(shape.columns, 2), gradOut = randomValues(in.size(), 3);
        std::vector<float> out(in.size()), gradIn(in.size()), gradBias(shape.columns);
        biasGeluForward({shape.rows, shape.columns}, in, bias, out);
        biasGeluBackward({shape.rows, shape.columns}, gradOut, in, bias, gradIn, gradBias);
        const Activations dIn(rows.scalar, in), dGradOut(rows.scalar, gradOut), dOut(rows.scalar, in.size()), dGradIn(rows.scalar, in.size());
        const Device<float> dBias(bias), dGradBias(bias.size());
        const Device<char> partial(cuda.columnSumsWorkspaceBytes(rows.rows, rows.columns));
        const auto backward = [&] { return cuda.biasGeluBackward(rows, dGradOut, dIn, dBias, dGradIn, dGradBias, partial); };
        ASSERT_EQ(cuda.biasGeluForward(rows, dIn, dBias, dOut), nullptr);
        ASSERT_EQ(backward(), nullptr);
        expectNear(dOut.read(), out, tolerance, "out");
        expectNear(dGradIn.read(), gradIn, tolerance, "gradIn");
        const auto first = dGradBias.read();
        expectNear(first, gradBias, sumTolerance(2e-5f, shape.rows), "gradBias");
        ASSERT_EQ(backward(), nullptr);
        EXPECT_EQ(bitsOf(dGradBias.read()), bitsOf(first));
    });
}

TEST_F(CudaKernels, SwigluIsTheReference) {
    onEveryShapeAlsoSpoilt([](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float tolerance, float bad) {
        const auto in = spoilt(randomValues(2 * shape.rows * shape.columns, 1), bad), bias = randomValues(2 * shape.columns, 2), gradOut = randomValues(shape.rows * shape.columns, 3);
        std::vector<float> out(gradOut.size()), gradIn(in.size()), gradBias(bias.size());
        swigluForward(shape.columns, in, bias, out);
        swigluBackward(shape.columns, gradOut, in, bias, gradIn, gradBias);
        const Activations dIn(rows.scalar, in), dGradOut(rows.scalar, gradOut), dOut(rows.scalar, out.size()), dGradIn(rows.scalar, in.size());
        const Device<float> dBias(bias), dGradBias(bias.size());
        const Device<char> partial(cuda.columnSumsWorkspaceBytes(rows.rows, 2 * rows.columns));
        ASSERT_EQ(cuda.swigluForward(rows, dIn, dBias, dOut), nullptr);
        ASSERT_EQ(cuda.swigluBackward(rows, dGradOut, dIn, dBias, dGradIn, dGradBias, partial), nullptr);
        expectNear(dOut.read(), out, tolerance, "out");
        expectNear(dGradIn.read(), gradIn, tolerance, "gradIn");
        expectNear(dGradBias.read(), gradBias, sumTolerance(1e-4f, shape.rows), "gradBias");
    });
}

TEST_F(CudaKernels, ResidualNormIsTheReferenceForBothNorms) {
    for (const bool rms : {false, true})
        onEveryShapeAlsoSpoilt([rms](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float tolerance, float bad) {
            const std::size_t count = shape.rows * shape.columns;
            const auto x = randomValues(count, 1), delta = spoilt(randomValues(count, 2), bad), weight = randomValues(shape.columns, 3), bias = randomValues(shape.columns, 4);
            const auto gradNormed = randomValues(count, 5), gradResidual = randomValues(count, 6);
            const NormShape plain{.columns = rows.columns, .epsilon = 1e-2f, .rms = rms};  // large: a row of one element has no variance
            const NormedRows wanted = residualNormForward(plain, x, delta, weight, bias);
            const NormGradients gradients = residualNormBackward(plain, gradNormed, wanted.sum, weight, gradResidual);
            const Activations dDelta(rows.scalar, delta), dNormed(rows.scalar, count), dGradNormed(rows.scalar, gradNormed), dGradDelta(rows.scalar, count);
            const Device<float> dX(x), dWeight(weight), dBias(bias), dSum(count), dMean(shape.rows), dRstd(shape.rows), dResidual(gradResidual), dGradSum(count),
                dGradParameters(2 * shape.columns);
            const Device<char> partial(cuda.residualNormWorkspaceBytes(rows.rows, rows.columns));
            ASSERT_EQ(cuda.residualNormForward(rows, {.epsilon = plain.epsilon, .rms = rms, .x = dX, .delta = dDelta, .weight = dWeight, .bias = dBias, .sum = dSum,
                                                      .normed = dNormed, .mean = dMean, .rstd = dRstd}), nullptr);
            expectNear(dSum.read(), wanted.sum, 1e-6f, "sum");
            expectNear(dNormed.read(), wanted.normed, tolerance, "normed");
            const auto backward = [&] {
                return cuda.residualNormBackward(rows, {.rms = rms, .gradNormed = dGradNormed, .sum = dSum, .mean = dMean, .rstd = dRstd, .weight = dWeight,
                                                        .gradResidual = dResidual, .gradSum = dGradSum, .gradDelta = dGradDelta, .gradWeightAndBias = dGradParameters}, partial);
            };
            ASSERT_EQ(backward(), nullptr);
            expectNear(dGradSum.read(), gradients.sum, 1e-4f, "gradSum");
            expectNear(dGradDelta.read(), gradients.sum, std::max(tolerance, 1e-4f), "gradDelta");
            auto both = gradients.weight;
            both.insert(both.end(), gradients.bias.begin(), gradients.bias.end());
            const auto first = dGradParameters.read();
            expectNear(first, both, sumTolerance(1e-4f, shape.rows), "gradWeight, gradBias");
            ASSERT_EQ(backward(), nullptr);
            EXPECT_EQ(bitsOf(dGradParameters.read()), bitsOf(first));
        });
}

TEST_F(CudaKernels, CrossEntropyIsTheReferenceWithPaddingAndSmoothing) {
    for (const float smoothing : {0.0f, 0.1f})
        onEveryShapeAlsoSpoilt([smoothing](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float tolerance, float bad) {
            const std::int64_t vocabulary = std::max<std::int64_t>(1, rows.columns - 3);
            const auto logits = spoilt(randomValues(shape.rows * shape.columns, 1), bad);
            std::vector<std::int64_t> targets(shape.rows);
            for (std::size_t r = 0; r < shape.rows; ++r) targets[r] = static_cast<std::int64_t>(r * 7) % vocabulary;
            const CrossEntropyShape plain{.columns = rows.columns, .vocabulary = vocabulary, .smoothing = smoothing, .gradientScale = 1};
            std::vector<float> losses(shape.rows), gradient(logits.size());
            crossEntropyRows(plain, logits, targets, losses, gradient);
            const Activations dLogits(rows.scalar, logits);
            const Device<std::int64_t> dTargets(targets);
            const Device<float> dLosses(shape.rows);
            ASSERT_EQ(cuda.crossEntropy(rows, {.vocabulary = vocabulary, .smoothing = smoothing, .logits = dLogits, .wantsGradient = true, .targets = dTargets,
                                               .losses = dLosses}), nullptr);
            expectNear(dLosses.read(), losses, 1e-4f, "losses");
            expectNear(dLogits.read(), gradient, tolerance, "gradient");
        });
}

TEST_F(CudaKernels, AnIdOutsideTheVocabularyGivesALossThatIsNoNumber) {
    onEveryShape([](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float) {
        const Activations logits(rows.scalar, randomValues(shape.rows * shape.columns, 1));
        const Device<std::int64_t> targets(std::vector<std::int64_t>(shape.rows, rows.columns));
        const Device<float> losses(shape.rows);
        ASSERT_EQ(cuda.crossEntropy(rows, {.vocabulary = rows.columns, .logits = logits, .targets = targets, .losses = losses}), nullptr);
        for (const float loss : losses.read()) EXPECT_TRUE(std::isnan(loss));
    });
}

TEST_F(CudaKernels, HeadsAreMergedFromAnyStridesAndColumnsAreSummed) {
    onEveryShape([](const CudaInterface& cuda, const CudaRows& shape, Shape, float) {
        const std::int64_t B = 2, T = 5, H = 3, D = shape.columns % 8 == 0 ? 8 : 5, C = H * D;
        const CudaRows rows{shape.scalar, B * T, 3 * C, nullptr};
        const auto count = static_cast<std::size_t>(B * T * C);
        const auto q = randomValues(count, 1), v = randomValues(count, 2);
        const Activations dQ(rows.scalar, q), dV(rows.scalar, v), dRows(rows.scalar, 3 * count);
        // q (B, H, T, D), k absent, v (B, T, H, D) as flash attention leaves it.
        ASSERT_EQ(cuda.mergeHeads(rows, T, H, {{dQ, H * T * D, T * D, D}, {}, {dV, T * C, D, C}}, dRows), nullptr);
        std::vector<float> heads = q;
        heads.resize(2 * count);
        std::ranges::copy(qkvLayoutSplit({T, H, D}, 1, v, {}), std::back_inserter(heads));
        const auto wanted = qkvLayoutMerge({T, H, D}, 3, heads);
        EXPECT_EQ(dRows.read(), wanted);
        const auto sums = qkvLayoutColumnSums(3 * C, wanted);
        const Device<float> dSums(sums.size());
        const Device<char> partial(cuda.columnSumsWorkspaceBytes(rows.rows, rows.columns));
        ASSERT_EQ(cuda.columnSums(rows, dRows, dSums, partial), nullptr);
        expectNear(dSums.read(), sums, 1e-5f, "sums");
    });
}

TEST_F(CudaKernels, TheEmbeddingIsTheReferenceBothWays) {
    onEveryShape([](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float) {
        const std::int64_t vocabulary = 5, context = std::max<std::int64_t>(1, shape.rows % 5 == 0 ? rows.rows / 5 : rows.rows);
        const auto wte = randomValues(static_cast<std::size_t>(vocabulary) * shape.columns, 1), wpe = randomValues(static_cast<std::size_t>(context) * shape.columns, 2);
        const auto gradOut = randomValues(shape.rows * shape.columns, 3);
        std::vector<std::int64_t> ids(shape.rows), order(shape.rows), sorted(shape.rows);
        for (std::size_t r = 0; r < shape.rows; ++r) ids[r] = static_cast<std::int64_t>(r * r) % vocabulary;
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, {}, [&](std::int64_t r) { return ids[static_cast<std::size_t>(r)]; });
        std::ranges::transform(order, sorted.begin(), [&](std::int64_t r) { return ids[static_cast<std::size_t>(r)]; });
        std::vector<float> out(gradOut.size()), gradWte(wte.size()), gradWpe(wpe.size());
        const EmbeddingShape plain{.rows = rows.rows, .context = context, .columns = rows.columns};
        embeddingForward(plain, ids, wte, wpe, out);
        embeddingBackward(plain, ids, gradOut, gradWte, gradWpe);
        const Device<std::int64_t> dIds(ids), dSorted(sorted), dOrder(order);
        const Device<float> dWte(wte), dWpe(wpe), dOut(out.size()), dGradOut(gradOut), dGradWte(std::vector<float>(wte.size(), 0.0f)), dGradWpe(wpe.size());
        ASSERT_EQ(cuda.embeddingForward(rows, {context, vocabulary, dIds}, dWte, dWpe, dOut), nullptr);
        ASSERT_EQ(cuda.embeddingBackward(rows, {context, vocabulary, dSorted}, dOrder, dGradOut, dGradWte), nullptr);
        ASSERT_EQ(cuda.positionBackward(rows, context, dGradOut, dGradWpe), nullptr);
        EXPECT_EQ(dOut.read(), out);
        EXPECT_EQ(dGradWte.read(), gradWte);  // in the order of the tokens: the same sums to the bit
        EXPECT_EQ(dGradWpe.read(), gradWpe);
    });
}

}  // namespace
}  // namespace stepscope
