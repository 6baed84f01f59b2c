// The CUDA forms against the plain references, on a real device; each also twice, for its sums must be the same bits every time. Where there
// is no device, the tests hold the sentence that says so and note it as "not_run", which packaging/gpu-check counts. Device memory comes from
// the CUDA runtime that the plug-in has loaded. STEPSCOPE_CUDA_PLUGIN names a plug-in that lies elsewhere than where it was built.
#include "core/cuda/loader/CudaPlugin.h"
#include "core/kernels/adamw/AdamW.h"
#include "core/kernels/bias_gelu/BiasGelu.h"
#include "core/kernels/cross_entropy/CrossEntropy.h"
#include "core/kernels/isa/Bf16.h"
#include "core/kernels/residual_norm/ResidualNorm.h"
#include "core/kernels/swiglu/Swiglu.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

namespace stepscope {
namespace {

// The four calls of the CUDA runtime that a test needs, by name: this program is not linked to CUDA.
struct Runtime {
    int (*allocate)(void**, std::size_t) = nullptr;
    int (*copy)(void*, const void*, std::size_t, int) = nullptr;
    int (*release)(void*) = nullptr;

    Runtime() {
        void* handle = dlopen("libcudart.so.13", RTLD_NOW);
        if (!handle) return;
        allocate = reinterpret_cast<decltype(allocate)>(dlsym(handle, "cudaMalloc"));
        copy = reinterpret_cast<decltype(copy)>(dlsym(handle, "cudaMemcpy"));
        release = reinterpret_cast<decltype(release)>(dlsym(handle, "cudaFree"));
    }
};

const Runtime& runtime() {
    static const Runtime cuda;
    return cuda;
}

std::uint16_t toBFloat16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
float fromBFloat16(std::uint16_t value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16); }

// Device memory that is given back at the end.
template <class T>
class Device {
public:
    explicit Device(std::size_t count) : m_count(count) { EXPECT_EQ(runtime().allocate(&m_pointer, std::max<std::size_t>(1, count) * sizeof(T)), 0); }
    explicit Device(const std::vector<T>& values) : Device(values.size()) { EXPECT_EQ(runtime().copy(m_pointer, values.data(), m_count * sizeof(T), 1), 0); }
    Device(const Device&) = delete;
    ~Device() { runtime().release(m_pointer); }
    operator T*() const { return static_cast<T*>(m_pointer); }
    std::vector<T> read() const {
        std::vector<T> values(m_count);
        EXPECT_EQ(runtime().copy(values.data(), m_pointer, m_count * sizeof(T), 2), 0);
        return values;
    }

private:
    void* m_pointer = nullptr;
    std::size_t m_count;
};

// Activations of one scalar, written and read as float32; bfloat16 stands for the 16-bit ones here.
class Activations {
public:
    Activations(CudaScalar scalar, std::size_t count) : Activations(scalar, std::vector<float>(count, 0.0f)) {}
    Activations(CudaScalar scalar, const std::vector<float>& values) : m_scalar(scalar), m_wide(values), m_narrow(narrowed(values)) {}
    operator void*() const { return m_scalar == CudaScalar::Float32 ? static_cast<void*>(static_cast<float*>(m_wide)) : static_cast<std::uint16_t*>(m_narrow); }
    std::vector<float> read() const {
        if (m_scalar == CudaScalar::Float32) return m_wide.read();
        std::vector<float> wide;
        for (const std::uint16_t value : m_narrow.read()) wide.push_back(fromBFloat16(value));
        return wide;
    }

private:
    static std::vector<std::uint16_t> narrowed(const std::vector<float>& values) {
        std::vector<std::uint16_t> all;
        for (const float value : values) all.push_back(toBFloat16(value));
        return all;
    }
    CudaScalar m_scalar;
    Device<float> m_wide;
    Device<std::uint16_t> m_narrow;
};

std::vector<float> randomValues(std::size_t count, unsigned seed) {
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal(0.0f, 2.0f);
    std::vector<float> values(count);
    for (float& value : values) value = fromBFloat16(toBFloat16(normal(engine)));  // exact in both scalars
    return values;
}

void expectNear(const std::vector<float>& got, const std::vector<float>& wanted, float relative, const char* what) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], wanted[i], relative * std::max(1.0f, std::fabs(wanted[i]))) << what << " at " << i;
}

// Rows that fill packs, ragged ones, one element, and more rows than chunks.
struct Shape {
    std::size_t rows, columns;
};
const Shape kShapes[] = {{1, 1}, {3, 7}, {65, 513}, {100, 768}, {4097, 64}};

class CudaKernels : public testing::Test {
protected:
    // Calls test(cuda, shape, tolerance) for every shape in float32 and bfloat16.
    template <class Test>
    void onEveryShape(Test test) {
        const char* elsewhere = std::getenv("STEPSCOPE_CUDA_PLUGIN");
        const CudaPlugin plugin = loadCudaPlugin({.driver = "libcuda.so.1", .torchCuda = "libc10_cuda.so", .plugin = elsewhere ? elsewhere : PLUGIN});
        if (!plugin.interface) {
            RecordProperty("not_run", plugin.whyNot);
            EXPECT_THAT(plugin.whyNot, testing::AnyOf(testing::Eq("No NVIDIA driver is installed."), testing::StartsWith("The NVIDIA driver ")));
            return;
        }
        for (const CudaScalar scalar : {CudaScalar::Float32, CudaScalar::BFloat16})
            for (const Shape& shape : kShapes) {
                SCOPED_TRACE(testing::Message() << (scalar == CudaScalar::Float32 ? "float32 " : "bfloat16 ") << shape.rows << " x " << shape.columns);
                const CudaRows rows{scalar, static_cast<std::int64_t>(shape.rows), static_cast<std::int64_t>(shape.columns), nullptr};
                test(*plugin.interface, rows, shape, scalar == CudaScalar::Float32 ? 2e-5f : 1.0f / 128);  // bfloat16 keeps 8 bits
            }
    }
};

// Bound for a sum over rows of numbers that are each off by `tolerance`.
float sumTolerance(float tolerance, std::size_t rows) { return tolerance * static_cast<float>(1 + std::sqrt(static_cast<double>(rows))); }

TEST_F(CudaKernels, BiasGeluIsTheReference) {
    onEveryShape([](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float tolerance) {
        const auto in = randomValues(shape.rows * shape.columns, 1), bias = randomValues(shape.columns, 2), gradOut = randomValues(in.size(), 3);
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
        EXPECT_EQ(dGradBias.read(), first);
    });
}

TEST_F(CudaKernels, SwigluIsTheReference) {
    onEveryShape([](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float tolerance) {
        const auto in = randomValues(2 * shape.rows * shape.columns, 1), bias = randomValues(2 * shape.columns, 2), gradOut = randomValues(shape.rows * shape.columns, 3);
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
        onEveryShape([rms](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float tolerance) {
            const std::size_t count = shape.rows * shape.columns;
            const auto x = randomValues(count, 1), delta = randomValues(count, 2), weight = randomValues(shape.columns, 3), bias = randomValues(shape.columns, 4);
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
            EXPECT_EQ(dGradParameters.read(), first);
        });
}

TEST_F(CudaKernels, CrossEntropyIsTheReferenceWithPaddingAndSmoothing) {
    for (const float smoothing : {0.0f, 0.1f})
        onEveryShape([smoothing](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float tolerance) {
            const std::int64_t vocabulary = std::max<std::int64_t>(1, rows.columns - 3);
            const auto logits = randomValues(shape.rows * shape.columns, 1);
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
        std::vector<float> wanted(3 * count);
        for (std::int64_t b = 0; b < B; ++b)
            for (std::int64_t t = 0; t < T; ++t)
                for (std::int64_t h = 0; h < H; ++h)
                    for (std::int64_t d = 0; d < D; ++d) {
                        const std::int64_t row = (b * T + t) * 3 * C + h * D + d;
                        wanted[static_cast<std::size_t>(row)] = q[static_cast<std::size_t>(((b * H + h) * T + t) * D + d)];
                        wanted[static_cast<std::size_t>(row + 2 * C)] = v[static_cast<std::size_t>((b * T + t) * C + h * D + d)];
                    }
        EXPECT_EQ(dRows.read(), wanted);
        std::vector<float> sums(static_cast<std::size_t>(3 * C));
        for (std::size_t i = 0; i < wanted.size(); ++i) sums[i % sums.size()] += wanted[i];
        const Device<float> dSums(sums.size());
        const Device<char> partial(cuda.columnSumsWorkspaceBytes(rows.rows, rows.columns));
        ASSERT_EQ(cuda.columnSums(rows, dRows, dSums, partial), nullptr);
        expectNear(dSums.read(), sums, 1e-5f, "sums");
    });
}

TEST_F(CudaKernels, TheEmbeddingIsTheReferenceBothWays) {
    onEveryShape([](const CudaInterface& cuda, const CudaRows& rows, Shape shape, float) {
        const std::int64_t vocabulary = 5, context = shape.rows % 5 == 0 ? rows.rows / 5 : rows.rows;
        const auto wte = randomValues(static_cast<std::size_t>(vocabulary) * shape.columns, 1), wpe = randomValues(static_cast<std::size_t>(context) * shape.columns, 2);
        const auto gradOut = randomValues(shape.rows * shape.columns, 3);
        std::vector<std::int64_t> ids(shape.rows), order(shape.rows), sorted(shape.rows);
        for (std::size_t r = 0; r < shape.rows; ++r) ids[r] = static_cast<std::int64_t>(r * r) % vocabulary;
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, {}, [&](std::int64_t r) { return ids[static_cast<std::size_t>(r)]; });
        std::ranges::transform(order, sorted.begin(), [&](std::int64_t r) { return ids[static_cast<std::size_t>(r)]; });
        std::vector<float> out(gradOut.size()), gradWte(wte.size()), gradWpe(wpe.size());
        for (std::size_t r = 0; r < shape.rows; ++r)
            for (std::size_t c = 0; c < shape.columns; ++c) {
                const std::size_t token = static_cast<std::size_t>(ids[r]) * shape.columns + c, position = r % static_cast<std::size_t>(context) * shape.columns + c;
                out[r * shape.columns + c] = wte[token] + wpe[position];
                gradWte[token] += gradOut[r * shape.columns + c];
                gradWpe[position] += gradOut[r * shape.columns + c];
            }
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

TEST_F(CudaKernels, NormClippingAndAdamWAreTheReferenceTheCopyIsTheWeightsRoundedAndANormThatIsNoneChangesNothing) {
    onEveryShape([](const CudaInterface& cuda, const CudaRows&, Shape shape, float) {
        const std::size_t count = shape.rows * shape.columns;
        auto g = randomValues(count, 1), w = randomValues(count, 2), m = randomValues(count, 3), v = randomValues(count, 4);
        for (float& x : v) x = std::fabs(x);
        AdamWStep step{.keep = 0.99f, .stepSize = 1e-2f, .rootOfSecond = 0.5f};
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

}  // namespace
}  // namespace stepscope
