// The CUDA forms against the plain references, on a real device; each also twice, for its sums must be the same bits every time. Where there
// is no device, the tests hold the sentence that says so and note it as "not_run", which packaging/gpu-check counts. Device memory comes from
// the CUDA runtime that the plug-in has loaded. STEPSCOPE_CUDA_PLUGIN names a plug-in that lies elsewhere than where it was built.
#include <iterator>
#include <numeric>

#include "CudaTesting.h"
#include "core/kernels/bias_gelu/BiasGelu.h"
#include "core/kernels/cross_entropy/CrossEntropy.h"
#include "core/kernels/embedding/Embedding.h"
#include "core/kernels/qkv_layout/QkvLayout.h"
#include "core/kernels/residual_norm/ResidualNorm.h"
#include "core/kernels/swiglu/Swiglu.h"

namespace stepscope {
namespace {

void expectBiasGelu(const CudaInterface& cuda, const CudaRows& rows, Shape shape, float tolerance, float bad) {
    const auto in = spoilt(randomValues(shape.rows * shape.columns, 1), bad), bias = randomValues(shape.columns, 2),
               gradOut = randomValues(in.size(), 3);
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
}

TEST_F(CudaKernels, BiasGeluIsTheReference) {
    onEveryShapeAlsoSpoilt(expectBiasGelu);
}

TEST_F(CudaKernels, RowsBeyondTheSecondDimensionOfAGridAreTakenByStriding) {
    onShapes({{262200, 8}}, [](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float tolerance) {
        if (rows.scalar == CudaScalar::BFloat16) expectBiasGelu(cuda, rows, shape, tolerance, 0.0f);
    });
}

TEST_F(CudaKernels, SwigluIsTheReference) {
    onEveryShapeAlsoSpoilt([](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float tolerance, float bad) {
        const auto in = spoilt(randomValues(2 * shape.rows * shape.columns, 1), bad), bias = randomValues(2 * shape.columns, 2);
        const auto gradOut = randomValues(shape.rows * shape.columns, 3);
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

void expectNorm(const CudaInterface& cuda, const CudaRows& rows, Shape shape, float tolerance, float bad, bool rms) {
    const std::size_t count = shape.rows * shape.columns;
    const auto x = randomValues(count, 1), delta = spoilt(randomValues(count, 2), bad);
    const auto weight = randomValues(shape.columns, 3), bias = randomValues(shape.columns, 4);
    const auto gradNormed = randomValues(count, 5), gradResidual = randomValues(count, 6);
    const NormShape plain{.columns = rows.columns, .epsilon = 1e-2f, .rms = rms};  // large: a row of one element has no variance
    const NormedRows wanted = residualNormForward(plain, x, delta, weight, bias);
    const NormGradients gradients = residualNormBackward(plain, gradNormed, wanted.sum, weight, gradResidual);
    const Activations dDelta(rows.scalar, delta), dNormed(rows.scalar, count), dGradNormed(rows.scalar, gradNormed), dGradDelta(rows.scalar, count);
    const Device<float> dX(x), dWeight(weight), dBias(bias), dSum(count), dMean(shape.rows), dRstd(shape.rows), dResidual(gradResidual),
        dGradSum(count), dGradParameters(2 * shape.columns);
    const Device<char> partial(cuda.residualNormWorkspaceBytes(rows.rows, rows.columns));
    ASSERT_EQ(cuda.residualNormForward(rows, {.epsilon = plain.epsilon,
                                              .rms = rms,
                                              .x = dX,
                                              .delta = dDelta,
                                              .weight = dWeight,
                                              .bias = dBias,
                                              .sum = dSum,
                                              .normed = dNormed,
                                              .mean = dMean,
                                              .rstd = dRstd}),
              nullptr);
    expectNear(dSum.read(), wanted.sum, 1e-6f, "sum");
    expectNear(dNormed.read(), wanted.normed, tolerance, "normed");
    const auto backward = [&] {
        const NormBackward<void> norm{.rms = rms,
                                      .gradNormed = dGradNormed,
                                      .sum = dSum,
                                      .mean = dMean,
                                      .rstd = dRstd,
                                      .weight = dWeight,
                                      .gradResidual = dResidual,
                                      .gradSum = dGradSum,
                                      .gradDelta = dGradDelta,
                                      .gradWeight = dGradParameters,
                                      .gradBias = dGradParameters + shape.columns};
        return cuda.residualNormBackward(rows, norm, partial);
    };
    ASSERT_EQ(backward(), nullptr);
    expectNear(dGradSum.read(), gradients.sum, 1e-4f, "gradSum");
    expectNear(dGradDelta.read(), gradients.sum, std::max(tolerance, 1e-4f), "gradDelta");
    auto both = gradients.weight;
    both.insert(both.end(), gradients.bias.begin(), gradients.bias.end());
    const auto first = dGradParameters.read();
    expectNear(first, both, sumTolerance(1e-4f, shape.rows), "gradWeight, gradBias");
    if (bad != 0.0f) return;
    ASSERT_EQ(backward(), nullptr);
    EXPECT_EQ(bitsOf(dGradParameters.read()), bitsOf(first));
}

TEST_F(CudaKernels, ResidualNormIsTheReferenceForBothNorms) {
    for (const bool rms : {false, true})
        onEveryShapeAlsoSpoilt([rms](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float tolerance, float bad) {
            if (!spared(rows)) expectNorm(cuda, rows, shape, tolerance, bad, rms);
        });
}

// Up to 8192 columns a row stays in registers backwards, up to 16384 it is read twice; those that no pack divides go one by one.
TEST_F(CudaKernels, ResidualNormTakesWideRows) {
    onShapes({{1, 8192}, {3, 8200}, {2, 16384}, {1, 16383}}, [](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float tolerance) {
        if (!spared(rows)) expectNorm(cuda, rows, shape, tolerance, 0.0f, false);
    });
}

void expectCrossEntropy(const CudaInterface& cuda, const CudaRows& rows, Shape shape, float tolerance, float bad, std::int64_t vocabulary,
                        float smoothing) {
    const auto logits = spoilt(randomValues(shape.rows * shape.columns, 1), bad);
    std::vector<std::int64_t> targets(shape.rows);
    for (std::size_t r = 0; r < shape.rows; ++r) targets[r] = static_cast<std::int64_t>(r * 7919) % vocabulary;
    const CrossEntropyShape plain{.columns = rows.columns, .vocabulary = vocabulary, .smoothing = smoothing, .gradientScale = 1};
    std::vector<float> losses(shape.rows), gradient(logits.size());
    crossEntropyRows(plain, logits, targets, losses, gradient);
    const Activations dLogits(rows.scalar, logits);
    const Device<std::int64_t> dTargets(targets);
    const Device<float> dLosses(shape.rows);
    CudaCrossEntropy loss{.vocabulary = vocabulary, .smoothing = smoothing, .logits = dLogits, .targets = dTargets, .losses = dLosses};
    if (bad == 0.0f) {
        ASSERT_EQ(cuda.crossEntropy(rows, loss), nullptr);
        expectNear(dLogits.read(), logits, 0.0f, "logits, of which no gradient is wanted");
    }
    const auto without = dLosses.read();
    loss.wantsGradient = true;
    ASSERT_EQ(cuda.crossEntropy(rows, loss), nullptr);
    expectNear(dLogits.read(), gradient, tolerance, "gradient");
    expectNear(dLosses.read(), losses, 1e-4f, "losses");
    if (bad == 0.0f) {
        EXPECT_EQ(bitsOf(dLosses.read()), bitsOf(without));
    }
}

TEST_F(CudaKernels, CrossEntropyIsTheReferenceWithPaddingAndSmoothing) {
    for (const float smoothing : {0.0f, 0.1f})
        onEveryShapeAlsoSpoilt([smoothing](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float tolerance, float bad) {
            if (!spared(rows)) expectCrossEntropy(cuda, rows, shape, tolerance, bad, std::max<std::int64_t>(1, rows.columns - 3), smoothing);
        });
}

// GPT-2's rows stay in registers in 16 bits and are read twice in float32; so are the two other shapes, in packs and one by one.
TEST_F(CudaKernels, CrossEntropyTakesTheVocabularyOfGpt2AndLargerOnes) {
    onShapes({{5, 50304}, {2, 65544}, {3, 8195}}, [](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float tolerance) {
        for (const float smoothing : {0.0f, 0.1f})
            for (const float bad : {0.0f, -INFINITY}) expectCrossEntropy(cuda, rows, shape, tolerance, bad, rows.columns - 47, smoothing);
    });
}

TEST_F(CudaKernels, AnIdOutsideTheVocabularyGivesALossAndAGradientThatAreNoNumbers) {
    onEveryShape([](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float) {
        if (spared(rows)) return;
        const Activations logits(rows.scalar, randomValues(shape.rows * shape.columns, 1));
        const Device<std::int64_t> targets(std::vector<std::int64_t>(shape.rows, rows.columns));
        const Device<float> losses(shape.rows);
        const CudaCrossEntropy loss{.vocabulary = rows.columns, .logits = logits, .wantsGradient = true, .targets = targets, .losses = losses};
        ASSERT_EQ(cuda.crossEntropy(rows, loss), nullptr);
        for (const float one : losses.read()) EXPECT_TRUE(std::isnan(one));
        for (const float gradient : logits.read()) EXPECT_TRUE(std::isnan(gradient));
    });
}

// q (B, H, T, D), k absent, v (B, T, H, D) as flash attention leaves it.
void expectMergedHeads(const CudaInterface& cuda, CudaScalar scalar, std::int64_t B, std::int64_t T, std::int64_t H, std::int64_t D, float bad) {
    const std::int64_t C = H * D;
    const CudaRows rows{scalar, B * T, 3 * C, nullptr};
    const auto count = static_cast<std::size_t>(B * T * C);
    const auto q = randomValues(count, 1), v = spoilt(randomValues(count, 2), bad);
    std::vector<float> heads = q;
    heads.resize(2 * count);
    std::ranges::copy(qkvLayoutSplit({T, H, D}, 1, v, {}), std::back_inserter(heads));
    const auto wanted = qkvLayoutMerge({T, H, D}, 3, heads), sums = qkvLayoutColumnSums(3 * C, wanted);
    const float tolerance = sumTolerance(1e-5f, static_cast<std::size_t>(rows.rows));
    const Activations dQ(scalar, q), dV(scalar, v), dRows(scalar, 3 * count);
    const Device<float> dGradBias(sums.size()), dSums(sums.size());
    const Device<char> partial(cuda.columnSumsWorkspaceBytes(rows.rows, rows.columns));
    const CudaHeadPart parts[3] = {{dQ, H * T * D, T * D, D}, {}, {dV, T * C, D, C}};
    ASSERT_EQ(cuda.mergeHeads(rows, T, H, parts, dRows, dGradBias, partial), nullptr);
    expectNear(dRows.read(), wanted, 0.0f, "rows");
    const auto first = dGradBias.read();
    expectNear(first, sums, tolerance, "gradBias");
    ASSERT_EQ(cuda.mergeHeads(rows, T, H, parts, dRows, dGradBias, partial), nullptr);
    EXPECT_EQ(bitsOf(dGradBias.read()), bitsOf(first));
    ASSERT_EQ(cuda.columnSums(rows, dRows, dSums, partial), nullptr);
    expectNear(dSums.read(), sums, tolerance, "sums");
    const Activations alone(scalar, 3 * count);
    ASSERT_EQ(cuda.mergeHeads(rows, T, H, parts, alone, nullptr, nullptr), nullptr);
    expectNear(alone.read(), wanted, 0.0f, "rows without sums");
}

TEST_F(CudaKernels, HeadsAreMergedFromAnyStridesAndTheirColumnsAreSummed) {
    onEveryShapeAlsoSpoilt([](const CudaInterface& cuda, const CudaRows& rows, Shape, float, float bad) {
        expectMergedHeads(cuda, rows.scalar, 2, 5, 3, rows.columns % 8 == 0 ? 8 : 5, bad);
    });
}

TEST_F(CudaKernels, HeadsOfMoreTokensThanAGridHasInItsSecondDimensionAreMerged) {
    onEveryScalar([](const CudaInterface& cuda, CudaScalar scalar, float) {
        for (const std::int64_t D : {8, 3}) expectMergedHeads(cuda, scalar, 200, 331, 1, D, 0.0f);
    });
}

TEST_F(CudaKernels, WithoutTokensTheGradientOfTheBiasIsZero) {
    onEveryScalar([](const CudaInterface& cuda, CudaScalar scalar, float) { expectMergedHeads(cuda, scalar, 0, 5, 2, 8, 0.0f); });
}

// Ids from -1 to vocabulary: the first and the last are no rows of the table. Backwards it adds to what is there.
void expectEmbedding(const CudaInterface& cuda, const CudaRows& rows, std::int64_t vocabulary, std::int64_t context,
                     const std::vector<std::int64_t>& ids) {
    const auto C = static_cast<std::size_t>(rows.columns), tables = static_cast<std::size_t>(vocabulary + 2) * C;
    const auto inner = [&](const std::vector<float>& table) { return std::vector<float>(table.begin() + rows.columns, table.end() - rows.columns); };
    const auto wte = randomValues(tables, 1), wpe = randomValues(static_cast<std::size_t>(context) * C, 2), gradOut = randomValues(ids.size() * C, 3);
    const auto before = randomValues(tables, 4);
    std::vector<std::int64_t> known(ids.size()), order(ids.size()), sorted(ids.size());
    std::ranges::transform(ids, known.begin(), [](std::int64_t id) { return id + 1; });
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::int64_t r) { return ids[static_cast<std::size_t>(r)]; });
    std::ranges::transform(order, sorted.begin(), [&](std::int64_t r) { return ids[static_cast<std::size_t>(r)]; });
    std::vector<float> out(gradOut.size()), gradWte = before, gradWpe(wpe.size());
    const EmbeddingShape plain{.rows = rows.rows, .context = context, .columns = rows.columns};
    embeddingForward(plain, known, wte, wpe, out);
    for (std::size_t r = 0; r < ids.size(); ++r)
        if (ids[r] < 0 || ids[r] == vocabulary) std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(r * C), C, NAN);
    embeddingBackward(plain, known, gradOut, gradWte, gradWpe);

    const Device<std::int64_t> dIds(ids), dSorted(sorted), dOrder(order);
    const Device<float> dWte(inner(wte)), dWpe(wpe), dOut(out.size()), dGradOut(gradOut), dGradWte(inner(before)), dAgain(inner(before)),
        dGradWpe(wpe.size());
    const Device<char> partial(cuda.embeddingBackwardWorkspaceBytes(rows.rows, rows.columns));
    ASSERT_EQ(cuda.embeddingForward(rows, {context, vocabulary, dIds}, dWte, dWpe, dOut), nullptr);
    ASSERT_EQ(cuda.embeddingBackward(rows, {context, vocabulary, dSorted}, dOrder, dGradOut, dGradWte, partial), nullptr);
    ASSERT_EQ(cuda.embeddingBackward(rows, {context, vocabulary, dSorted}, dOrder, dGradOut, dAgain, partial), nullptr);
    ASSERT_EQ(cuda.positionBackward(rows, context, dGradOut, dGradWpe), nullptr);
    expectNear(dOut.read(), out, 0.0f, "out");
    const auto got = dGradWte.read();
    expectNear(got, inner(gradWte), sumTolerance(1e-6f, ids.size()), "gradWte");
    EXPECT_EQ(bitsOf(dAgain.read()), bitsOf(got));
    EXPECT_EQ(dGradWpe.read(), gradWpe);  // in the order of the tokens: the same sums to the bit
}

TEST_F(CudaKernels, TheEmbeddingIsTheReferenceBothWays) {
    onEveryShape([](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float) {
        std::vector<std::int64_t> ids(shape.rows);
        for (std::size_t r = 0; r < shape.rows; ++r) ids[r] = static_cast<std::int64_t>(r * r) % 5;
        expectEmbedding(cuda, rows, 5, std::max<std::int64_t>(1, shape.rows % 5 == 0 ? rows.rows / 5 : rows.rows), ids);
    });
}

// Backwards a block takes 32 sorted tokens. counts: how often the ids -1, 0, 1, ... occur.
TEST_F(CudaKernels, TheEmbeddingSumsIdsHoweverOftenTheyOccurAndWhereverTheirRunsBegin) {
    const CudaInterface* cuda = interface();
    if (!cuda) return;
    const std::vector<std::vector<std::int64_t>> cases = {
        {0, 5000, 0}, {0, 70000, 0}, {0, 32, 32, 0}, {0, 31, 2, 31, 0}, {5000, 1, 5000}, {40, 24, 31, 1, 1, 32, 33, 64, 5, 28, 65, 100, 1, 96, 40}};
    for (const auto& counts : cases)
        for (const std::int64_t columns : {8, 5, 4100}) {
            std::vector<std::int64_t> ids;
            for (std::size_t id = 0; id < counts.size(); ++id)
                ids.insert(ids.end(), static_cast<std::size_t>(counts[id]), static_cast<std::int64_t>(id) - 1);
            if (columns > 8 && ids.size() > 600) continue;
            std::shuffle(ids.begin(), ids.end(), std::mt19937(7));
            SCOPED_TRACE(testing::Message() << ids.size() << " x " << columns);
            const CudaRows rows{CudaScalar::Float32, static_cast<std::int64_t>(ids.size()), columns, nullptr};
            expectEmbedding(*cuda, rows, static_cast<std::int64_t>(counts.size()) - 2, 1, ids);
        }
}

}  // namespace
}  // namespace stepscope
