// Why one arm is faster: each instant has one class, what capturing costs is on no class, and what ran as one is compared with what it replaced.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "core/analysis/why/Waterfall.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// Steps one behind the other on the thread that runs them.
class Steps {
public:
    explicit Steps(std::int64_t rank) { m_block.thread = {.process = 1, .thread = 10, .lane = rank == 0 ? 0 : 99, .rank = rank}; }
    struct Operation {
        std::string name, phase, role;
        double ms;
        SliceKind kind = SliceKind::Operation;
    };
    // hostMs: of the step, in no operation.
    Steps& step(const std::vector<Operation>& operations, double hostMs = 0) {
        const std::int64_t begin = m_at;
        const std::size_t place = m_block.slices.size();
        m_block.slices.emplace_back();
        std::int64_t called = 0;
        for (const Operation& one : operations) {
            const auto ns = static_cast<std::int64_t>(one.ms * kMs);
            m_block.slices.push_back({.start = m_at,
                                      .duration = ns,
                                      .name = text(one.name),
                                      .phase = text(one.phase),
                                      .role = text(one.role),
                                      .depth = 1,
                                      .kind = one.kind,
                                      .step = m_step});
            m_at += ns;
            called += ns;
        }
        m_at += static_cast<std::int64_t>(hostMs * kMs);
        m_block.slices[place] = {.start = begin, .duration = m_at - begin, .called = called, .kind = SliceKind::Step, .step = m_step};
        ++m_step;
        return *this;
    }
    // What was not captured lies between two windows.
    Steps& pause() {
        ++m_step;
        return *this;
    }
    const SliceBlock& block() const { return m_block; }

private:
    std::uint32_t text(const std::string& words) {
        if (words.empty()) return 0;
        m_block.strings.push_back(words);
        return static_cast<std::uint32_t>(m_block.strings.size() - 1);
    }
    SliceBlock m_block;
    std::int64_t m_at = 1000, m_step = 1;
};

const ClassDifference& of(const WaterfallResult& result, WorkClass kind) {
    return result.classes.at(static_cast<std::size_t>(kind));
}

TEST(Waterfall, DividesEachStepExactly) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> ms(0, 2);
    const std::array<Steps::Operation, 7> kinds{{{"aten::addmm", "forward", "mlp/up", 0},
                                                 {"aten::native_layer_norm", "forward", "norm1", 0},
                                                 {"aten::gelu", "forward", "mlp/up", 0},
                                                 {"aten::view", "forward", "mlp/up", 0},
                                                 {"aten::_fused_adamw_", "optimizer", "optimizer", 0},
                                                 {"aten::index", "batch", "", 0},
                                                 {"AddmmBackward0", "backward", "mlp/up", 0, SliceKind::Backward}}};
    Steps a(0), b(1);
    for (Steps* arm : {&a, &b})
        for (int i = 0; i < 6; ++i) {
            std::vector<Steps::Operation> step;
            for (int j = 0; j < 20; ++j) {
                step.push_back(kinds[random() % kinds.size()]);
                step.back().ms = ms(random);
            }
            arm->step(step, ms(random));
        }
    Waterfall waterfall;
    waterfall.add(Arm::A, a.block());
    waterfall.add(Arm::B, b.block());
    const WaterfallResult alone = waterfall.result(10, 10);
    const WaterfallResult exact = waterfall.result(alone.capturedA, alone.capturedB);
    double ofA = 0, ofB = 0, placesOfA = 0;
    for (const auto& one : exact.classes) {
        ofA += one.a;
        ofB += one.b;
    }
    for (const auto& one : exact.places) placesOfA += one.a;
    EXPECT_NEAR(ofA, exact.capturedA, 1e-9);
    EXPECT_NEAR(ofB, exact.capturedB, 1e-9);
    EXPECT_NEAR(placesOfA, exact.capturedA, 1e-9) << "by place it is the same time";
    EXPECT_NEAR(exact.unexplained, 0, 1e-9);
}

TEST(Waterfall, TellsPlacesLayerByLayerToo) {
    SliceBlock a, b;
    for (SliceBlock* block : {&a, &b}) {
        const bool ofB = block == &b;
        block->thread = {.process = 1, .thread = 10, .lane = ofB ? 99 : 1, .rank = ofB ? 1 : 0};
        block->strings = {"", "aten::addmm", "forward", "mlp/up", "batch", "aten::index"};
        for (std::int64_t step = 1; step <= 4; ++step) {
            const std::int64_t begin = step * 100 * kMs;
            block->slices.push_back({.start = begin, .duration = 20 * kMs, .called = 20 * kMs, .kind = SliceKind::Step, .step = step});
            for (std::int32_t layer = 0; layer < 3; ++layer)
                block->slices.push_back({.start = begin + layer * 5 * kMs,
                                         .duration = (ofB && layer == 1 ? 2 : 5) * kMs,
                                         .name = 1,
                                         .phase = 2,
                                         .role = 3,
                                         .depth = 1,
                                         .layer = layer,
                                         .step = step});
            block->slices.push_back({.start = begin + 15 * kMs, .duration = 5 * kMs, .name = 5, .phase = 4, .depth = 1, .step = step});
        }
    }
    Waterfall waterfall;
    waterfall.add(Arm::A, a);
    waterfall.add(Arm::B, b);
    const WaterfallResult found = waterfall.result(20, 17);
    ASSERT_EQ(found.layers.size(), 3u) << "what has no layer is in none";
    EXPECT_EQ(found.layers[0].layer, 1) << "the one that differs comes first";
    EXPECT_EQ(found.layers[0].where(), "forward, layer 1, mlp/up");
    EXPECT_NEAR(found.layers[0].difference() / found.layers[0].a, -0.6, 0.01);
    double sum = 0;
    for (const auto& one : found.layers) sum += one.a;
    const auto all = std::ranges::find(found.places, "mlp/up", &PlaceDifference::role);
    ASSERT_NE(all, found.places.end());
    EXPECT_NEAR(sum, all->a, 1e-9) << "layers add up to their place";
    EXPECT_EQ(all->layer, -1);
}

TEST(Waterfall, OfStepsOnAGpuDividesTheGpuAndTheRestIsGaps) {
    Steps a(0), b(1);
    for (Steps* arm : {&a, &b})
        for (int i = 0; i < 5; ++i) arm->step({{"aten::addmm", "forward", "mlp/up", 8}}, 2);
    // B: 3 ms of products with 1 ms of a copy that runs beside them and goes on for 1 ms, 2 ms of a norm.
    SliceBlock gpu;
    gpu.thread = {.process = 0, .thread = 7, .lane = 500, .device = 0, .rank = 1};
    gpu.strings = {"", "sm90_xmma_gemm_bf16", "forward", "mlp/up", "Memcpy HtoD", "copy", "vectorized_layer_norm_kernel", "norm1"};
    for (const Slice& slice : b.block().slices) {
        if (slice.kind != SliceKind::Step) continue;
        const auto add = [&](double from, double ms, std::uint32_t name, std::uint32_t phase, std::uint32_t role, SliceKind kind) {
            gpu.slices.push_back({.start = slice.start + static_cast<std::int64_t>(from * kMs),
                                  .duration = static_cast<std::int64_t>(ms * kMs),
                                  .name = name,
                                  .phase = phase,
                                  .role = role,
                                  .layer = 0,
                                  .kind = kind,
                                  .step = slice.step});
        };
        add(3, 2, 6, 2, 7, SliceKind::Kernel);
        add(0, 3, 1, 2, 3, SliceKind::Kernel);
        add(2, 2, 4, 5, 0, SliceKind::Memcpy);
        add(0, 1, 6, 2, 7, SliceKind::Runtime);  // a call of the driver is no work of the GPU
    }
    Waterfall waterfall;
    waterfall.add(Arm::A, a.block());
    waterfall.add(Arm::B, b.block());
    waterfall.add(Arm::B, gpu);
    const WaterfallResult found = waterfall.result(10, 10);
    EXPECT_NEAR(of(found, WorkClass::MatrixProducts).a, 8, 1e-6) << "A ran on the processor";
    EXPECT_NEAR(of(found, WorkClass::Host).a, 2, 1e-6);
    EXPECT_NEAR(of(found, WorkClass::MatrixProducts).b, 3, 1e-6);
    EXPECT_NEAR(of(found, WorkClass::Data).b, 1, 1e-6) << "of the copy what did not lie under the products";
    EXPECT_NEAR(of(found, WorkClass::Normalisation).b, 1, 1e-6);
    EXPECT_NEAR(of(found, WorkClass::LaunchGaps).b, 5, 1e-6);
    EXPECT_NEAR(of(found, WorkClass::Host).b, 0, 1e-6);
    EXPECT_NEAR(found.unexplained, 0, 1e-9);
    EXPECT_NE(std::ranges::find(found.places, "launch gaps", &PlaceDifference::role), found.places.end());
    Waterfall onProcessors;
    onProcessors.add(Arm::A, a.block());
    onProcessors.add(Arm::B, a.block());
    EXPECT_EQ(onProcessors.result(10, 10).classes.size(), static_cast<std::size_t>(kWorkClasses - 1)) << "without a GPU nothing speaks of its gaps";
}

TEST(Waterfall, GivesEachKindOfWorkItsClass) {
    const auto kind = [](const char* name, const char* phase, const char* role, SliceKind of = SliceKind::Operation) {
        return std::string(toString(workClass(of, name, phase, role)));
    };
    EXPECT_EQ(kind("aten::mm", "backward", "mlp/down"), "matrix products");
    EXPECT_EQ(kind("norm + QKV", "forward", "norm1 + attention/qkv", SliceKind::Own), "matrix products");
    EXPECT_EQ(kind("aten::bmm", "forward", "attention/core"), "attention core") << "the manual form's products are attention too";
    EXPECT_EQ(kind("aten::mm", "forward", "head/loss"), "head and loss");
    EXPECT_EQ(kind("norm + head + cross-entropy", "forward", "head/loss", SliceKind::Own), "head and loss");
    EXPECT_EQ(kind("residual + norm backward", "backward", "norm1", SliceKind::Own), "normalisation");
    EXPECT_EQ(kind("aten::gelu", "forward", "mlp/up"), "pointwise");
    EXPECT_EQ(kind("aten::mul_", "clip", "optimizer step"), "optimizer step");
    EXPECT_EQ(kind("aten::linalg_vector_norm", "clip", "optimizer step"), "optimizer step");
    EXPECT_EQ(kind("aten::cat", "backward", "attention/qkv"), "copies");
    EXPECT_EQ(kind("aten::copy_", "batch", ""), "data");
    EXPECT_EQ(kind("aten::transpose", "forward", "mlp/up"), "host and waiting");
    EXPECT_EQ(kind("all-reduce", "backward", "communication", SliceKind::Own), "host and waiting");
    EXPECT_EQ(kind("step 3", "", "", SliceKind::Step), "host and waiting");
    for (const char* name : {"gloo:all_reduce", "c10d::allreduce_", "_c10d_functional::wait_tensor"})
        EXPECT_EQ(kind(name, "", ""), "host and waiting") << name << " is for other workers";
    // Of PyTorch's traces, which say neither phase nor role.
    EXPECT_EQ(kind("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "", "", SliceKind::Annotation), "data");
    EXPECT_EQ(kind("Optimizer.step#AdamW.step", "", "", SliceKind::Annotation), "host and waiting");
    EXPECT_EQ(kind("aten::_fused_adamw_", "", ""), "optimizer step");
    EXPECT_EQ(kind("aten::_log_softmax_backward_data", "", ""), "head and loss");
    EXPECT_EQ(kind("aten::_softmax", "", ""), "pointwise");
    EXPECT_EQ(kind("nvjet_tst_128x8", "forward", "mlp/up", SliceKind::Kernel), "matrix products");
    EXPECT_EQ(kind("Memcpy DtoD", "forward", "mlp/up", SliceKind::Memcpy), "copies");
    EXPECT_EQ(kind("at::native::vectorized_elementwise_kernel", "forward", "mlp/up", SliceKind::Kernel), "pointwise");
    EXPECT_EQ(kind("cudaLaunchKernel", "forward", "mlp/up", SliceKind::Runtime), "host and waiting");
    EXPECT_EQ(signedMilliseconds(1.25), "+1.25\u202Fms");
    EXPECT_EQ(signedMilliseconds(-1.25), "\u22121.25\u202Fms");
    EXPECT_EQ(signedMilliseconds(0.0001), "0");
}

TEST(Waterfall, TakesOutWhatACaptureCostsByTheRecord) {
    // Each record costs 0.001 ms. A runs 40 operations of 0.001 ms, B one of 0.01 ms; without a capture they take 0.04 and 0.01 ms.
    Steps a(0), b(1);
    for (int i = 0; i < 3; ++i) {
        a.step(std::vector<Steps::Operation>(40, {"aten::gelu", "forward", "mlp/up", 0.002}), 0.001);
        b.step({{"bias + activation", "forward", "mlp/up", 0.011, SliceKind::Own}}, 0.001);
    }
    Waterfall waterfall;
    waterfall.add(Arm::A, a.block());
    waterfall.add(Arm::B, b.block());
    const WaterfallResult result = waterfall.result(0.04, 0.01);
    EXPECT_NEAR(result.nsARecord, 1000, 1e-6);
    EXPECT_NEAR(of(result, WorkClass::Pointwise).a, 0.04, 1e-9);
    EXPECT_NEAR(of(result, WorkClass::Pointwise).b, 0.01, 1e-9);
    EXPECT_NEAR(result.unexplained, 0, 1e-6);
    EXPECT_EQ(result.places.front().change(), "40 became 1");
}

TEST(Waterfall, TakesAMachineThatIsSlowerByThenForWhatItIs) {
    // Captured while nothing else ran, measured while everything took twice as long.
    Steps a(0), b(1);
    for (int i = 0; i < 3; ++i) {
        a.step({{"aten::gelu", "forward", "mlp/up", 4}, {"aten::mm", "forward", "mlp/up", 6}});
        b.step({{"aten::gelu", "forward", "mlp/up", 1}, {"aten::mm", "forward", "mlp/up", 6}});
    }
    Waterfall waterfall;
    waterfall.add(Arm::A, a.block());
    waterfall.add(Arm::B, b.block());
    const WaterfallResult result = waterfall.result(20, 14);
    EXPECT_NEAR(result.scale, 2, 1e-9);
    EXPECT_NEAR(of(result, WorkClass::Pointwise).difference(), -6, 1e-9);
    EXPECT_NEAR(result.unexplained, 0, 1e-9);
}

TEST(Waterfall, SaysWhatNoCaptureExplains) {
    // Captured, both steps take 10 ms; measured, A takes 10 and B 8: nothing that was seen makes that.
    Steps a(0), b(1);
    for (int i = 0; i < 3; ++i) {
        a.step({{"aten::mm", "forward", "mlp/up", 9}}, 1);
        b.step({{"aten::mm", "forward", "mlp/up", 9}}, 1);
    }
    Waterfall waterfall;
    waterfall.add(Arm::A, a.block());
    waterfall.add(Arm::B, b.block());
    const WaterfallResult result = waterfall.result(10, 8);
    EXPECT_NEAR(result.unexplained, -2, 1e-9);
    EXPECT_NEAR(result.unexplainedShare(), 1, 1e-9);
    EXPECT_THAT(waterfallSentence(result), ::testing::HasSubstr("no kind of work differs for sure"));
    // Nor is it by chance: both are known to far less.
    const WaterfallResult bounded = waterfall.result(10, 8, 1, 0.1);
    EXPECT_NEAR(bounded.apart, -2, 1e-9);
    EXPECT_NEAR(bounded.unexplained, -1.9, 1e-9) << "but for what is open";
    EXPECT_FALSE(bounded.mayBeNothing());
    EXPECT_EQ(openInterval(bounded), signedMilliseconds(-2.1) + " to " + signedMilliseconds(-1.9));
    double seen = 0;
    for (const auto& one : bounded.classes) seen += one.difference();
    EXPECT_NEAR(seen, -0.1, 1e-9);
}

// Windows of 60 ms steps on a machine that is a tenth faster in one and slower in the next, whatever runs: the optimizer's two more milliseconds are
// far less than that, and there all the same in how each step divides.
TEST(Waterfall, TellsByTheSharesOfAStepWhatASpeedThatWandersHides) {
    std::mt19937 random(11);
    std::normal_distribution<double> normal;
    constexpr int kTimes = 300;
    constexpr double kPairsApart = 0.35, kPairsHalf = 1.96 * kPairsApart;  // ms: what the pairs know the difference to
    int explained = 0, held = 0, found = 0, others = 0;
    for (int i = 0; i < kTimes; ++i) {
        Steps a(0), b(1);
        for (int window = 0; window < 20; ++window)
            for (Steps* arm : {&a, &b}) {
                const double speed = std::exp(0.1 * normal(random));
                const auto ms = [&](double typical) { return typical * speed * std::exp(0.01 * normal(random)); };
                for (int step = 0; step < 3; ++step)
                    arm->step({{"aten::mm", "forward", "mlp/up", ms(40)},
                               {"aten::gelu", "forward", "mlp/up", ms(12)},
                               {"aten::_fused_adamw_", "optimizer", "optimizer step", ms(arm == &b ? 3 : 1)}},
                              ms(7));
                arm->pause();
            }
        Waterfall waterfall;
        waterfall.add(Arm::A, a.block());
        waterfall.add(Arm::B, b.block());
        const WaterfallResult result = waterfall.result(60, 62 + kPairsApart * normal(random), 1, kPairsHalf);
        explained += result.unexplainedShare() <= 0.1;
        const ClassDifference& optimizer = of(result, WorkClass::Optimizer);
        held += optimizer.low <= 2 && 2 <= optimizer.high;
        found += optimizer.low > 0;
        const ClassDifference& products = of(result, WorkClass::MatrixProducts);
        others += products.low <= 0 && 0 <= products.high;
        if (result.unexplained == 0) {
            double both = 0;
            for (const auto& one : result.classes) both += one.difference();
            ASSERT_NEAR(both, result.difference(), 1e-9);
            double places = 0;
            for (const auto& one : result.places) places += one.difference();
            ASSERT_NEAR(places, result.difference(), 1e-9);
        }
    }
    EXPECT_GT(explained, 0.9 * kTimes);
    EXPECT_GT(held, 0.93 * kTimes);
    EXPECT_GT(found, 0.93 * kTimes);
    EXPECT_GT(others, 0.93 * kTimes);
}

TEST(Waterfall, SaysWhichKindOfWorkMakesTheDifferenceAndHowSureThatIs) {
    std::mt19937 random(9);
    std::normal_distribution<double> noise(0, 0.1);
    int held = 0;
    constexpr int kTimes = 400;
    for (int i = 0; i < kTimes; ++i) {
        Steps a(0), b(1);
        for (int step = 0; step < 8; ++step) {
            a.step({{"aten::gelu", "forward", "mlp/up", 4 + noise(random)}, {"aten::mm", "forward", "mlp/up", 6 + noise(random)}});
            b.step({{"aten::gelu", "forward", "mlp/up", 1 + noise(random)}, {"aten::mm", "forward", "mlp/up", 6 + noise(random)}});
        }
        Waterfall waterfall;
        waterfall.add(Arm::A, a.block());
        waterfall.add(Arm::B, b.block());
        const WaterfallResult result = waterfall.result(10, 7);
        const ClassDifference& pointwise = of(result, WorkClass::Pointwise);
        held += pointwise.low <= -3 && -3 <= pointwise.high;
        ASSERT_LT(pointwise.high, 0);
        EXPECT_LT(result.unexplainedShare(), 0.1);
        EXPECT_THAT(waterfallSentence(result), ::testing::HasSubstr("less in pointwise"));
    }
    EXPECT_GT(static_cast<double>(held) / kTimes, 0.9);
}

TEST(Waterfall, ExplainsNoDifferenceThatThePairsDidNotFind) {
    std::mt19937 random(9);
    std::normal_distribution<double> noise(0, 0.1);
    Steps a(0), b(1);
    for (int step = 0; step < 8; ++step) {
        a.step({{"aten::gelu", "forward", "mlp/up", 4 + noise(random)}, {"aten::mm", "forward", "mlp/up", 6 + noise(random)}});
        b.step({{"aten::gelu", "forward", "mlp/up", 1 + noise(random)}, {"aten::mm", "forward", "mlp/up", 6 + noise(random)}});
    }
    Waterfall waterfall;
    waterfall.add(Arm::A, a.block());
    waterfall.add(Arm::B, b.block());
    WaterfallResult result = waterfall.result(10, 7);
    result.outcome = "faster";
    EXPECT_THAT(waterfallSentence(result), ::testing::StartsWith("A step takes 10.0\u202Fms with A and 7.00\u202Fms with B: "));
    EXPECT_THAT(waterfallSentence(result), ::testing::ContainsRegex("ms \\[[0-9.]+.*ms, [0-9.]+.*ms\\] less in pointwise"));
    EXPECT_TRUE(std::isnan(result.open)) << "without what the pairs leave open";
    EXPECT_EQ(openInterval(result), "unknown");
    const WaterfallResult apart = waterfall.result(10, 7, 1, 0.3);
    EXPECT_GT(apart.open, 0.3) << "and what the captured steps do besides";
    EXPECT_LT(apart.open, 1);
    WaterfallResult more = apart;
    more.outcome = "faster";
    more.unexplained = 2;
    EXPECT_THAT(waterfallSentence(more), ::testing::EndsWith("67 % of the difference (2.00\u202Fms) is not explained by what was captured."));
    EXPECT_THAT(waterfallSentence(apart), ::testing::Not(::testing::HasSubstr("How long the captured steps took")));
    more.unexplained = 0;
    more.open = 3.5;
    EXPECT_THAT(waterfallSentence(more),
                ::testing::EndsWith("less in pointwise. How long the captured steps took tells the difference to ±3.50\u202Fms only, "
                                    "which is more than all of it: what names its place is how a step of each divides."))
        << "nothing is left over where nothing could be told";
    result.outcome = "inconclusive";
    const std::string said = waterfallSentence(result);
    EXPECT_THAT(said, ::testing::HasSubstr("which the pairs cannot tell apart: there may be nothing to explain. In the captured steps alone: "));
    EXPECT_THAT(said, ::testing::HasSubstr("less in pointwise"));
    result.unexplained = 2;
    EXPECT_EQ(waterfallSentence(result), said) << "no share of a difference that is none";
    result.outcome = "equivalent";
    EXPECT_THAT(waterfallSentence(result), ::testing::HasSubstr("as good as equal. In the captured steps alone: "));
    for (auto& one : result.classes) one.low = -1, one.high = 1;
    EXPECT_THAT(waterfallSentence(result), ::testing::HasSubstr("no kind of work differs for sure"));
}

TEST(Waterfall, ComparesAStageThatDoesSeveralPartsAtOnceWithThosePartsTogether) {
    Steps a(0), b(1);
    a.step({{"aten::native_layer_norm", "forward", "norm1", 1},
            {"aten::addmm", "forward", "attention/qkv", 3},
            {"aten::mul", "forward", "attention/qkv", 1},
            {"aten::native_layer_norm_backward", "backward", "norm1", 2},
            {"aten::mm", "backward", "attention/qkv", 4}});
    b.step({{"norm + QKV", "forward", "norm1 + attention/qkv", 2, SliceKind::Own},
            {"QKV + norm backward", "backward", "norm1 + attention/qkv", 2, SliceKind::Own},
            {"weight gradients", "backward", "weights of the block", 1, SliceKind::Own}});
    Waterfall waterfall;
    waterfall.add(Arm::A, a.block());
    waterfall.add(Arm::B, b.block());
    const WaterfallResult result = waterfall.result(11, 5);
    const auto row = [&](const char* phase, const char* role) {
        for (const auto& one : result.places)
            if (one.phase == phase && one.role == role) return one;
        ADD_FAILURE() << "no row " << phase << ", " << role;
        return PlaceDifference{};
    };
    const PlaceDifference forward = row("forward", "norm1 + attention/qkv"), backward = row("backward", "layers without attention");
    EXPECT_NEAR(forward.a, 5, 1e-9);
    EXPECT_NEAR(forward.b, 2, 1e-9);
    EXPECT_EQ(forward.change(), "3 became 1");
    EXPECT_EQ(forward.calls(), "3 became 1");
    EXPECT_EQ(forward.share(), "\u221260\u202f%");
    EXPECT_EQ((PlaceDifference{.a = 2, .b = 3, .callsA = 12, .callsB = 13}).calls(), "12, 13");
    EXPECT_EQ((PlaceDifference{.a = 2, .b = 3, .callsA = 12, .callsB = 12}).calls(), "12");
    EXPECT_EQ((PlaceDifference{.a = 2, .b = 3}).share(), "+50\u202f%");
    EXPECT_EQ((PlaceDifference{.a = 0, .b = 3}).share(), "new");
    EXPECT_EQ((PlaceDifference{.a = 0, .b = 3, .callsA = 0, .callsB = 12}).change(), "new");
    EXPECT_EQ((PlaceDifference{.a = 3, .b = 0, .callsA = 12, .callsB = 0}).calls(), "gone");
    EXPECT_EQ((PlaceDifference{.a = 3, .b = 2, .callsA = 12, .callsB = 0}).change(), "") << "it waits there now, so it is not gone";
    EXPECT_NEAR(backward.a, 6, 1e-9);
    EXPECT_NEAR(backward.b, 3, 1e-9);
    EXPECT_EQ(forward.namesB, std::vector<std::string>{"norm + QKV"});
    EXPECT_TRUE(std::ranges::is_sorted(result.places, std::greater<>(), [](const auto& one) { return std::abs(one.difference()); }));
}

TEST(Waterfall, BringsArmsOfOtherBatchesToAsManyTokens) {
    Steps a(0), b(1);
    for (int i = 0; i < 2; ++i) {
        a.step({{"aten::mm", "forward", "mlp/up", 4}});
        b.step({{"aten::mm", "forward", "mlp/up", 6}});  // twice the tokens
    }
    Waterfall waterfall;
    waterfall.add(Arm::A, a.block());
    waterfall.add(Arm::B, b.block());
    const WaterfallResult result = waterfall.result(4, 3, 0.5);
    EXPECT_NEAR(of(result, WorkClass::MatrixProducts).b, 3, 1e-9);
    EXPECT_NEAR(result.unexplained, 0, 1e-9);
}

TEST(Waterfall, TakesAnyNumbersThatAStrangersFileMayHold) {
    SliceBlock block;
    block.strings = {"", "aten::mm"};
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t step = 1; step <= 3; ++step) {
        block.slices.push_back({.start = 0, .duration = kMost, .kind = SliceKind::Step, .step = step});
        for (int i = 0; i < 3; ++i) block.slices.push_back({.start = 0, .duration = kMost, .name = 1, .depth = 1, .step = step});
    }
    block.slices.push_back({.start = 0, .duration = 1, .step = kMost});
    Waterfall waterfall;
    waterfall.add(Arm::A, block);
    waterfall.add(Arm::B, block);
    const WaterfallResult result = waterfall.result(1, 2);
    EXPECT_EQ(result.stepsA, 3);
    for (const auto& one : result.classes) EXPECT_TRUE(std::isfinite(one.difference())) << toString(one.kind);
}

TEST(Waterfall, CountsStepsThatAreWholeAloneAndKnowsNothingOfAnArmThatIsMissing) {
    Steps a(0);
    a.step({{"aten::mm", "forward", "mlp/up", 4}});
    SliceBlock cut = a.block();
    cut.slices.erase(cut.slices.begin());  // its Step slice is lost
    Waterfall waterfall;
    waterfall.add(Arm::A, cut);
    EXPECT_FALSE(waterfall.has(Arm::A));
    waterfall.add(Arm::B, a.block());
    EXPECT_TRUE(waterfall.result(1, 2).classes.empty());
    EXPECT_EQ(waterfallSentence(waterfall.result(1, 2)), "");
}

}  // namespace
}  // namespace stepscope
