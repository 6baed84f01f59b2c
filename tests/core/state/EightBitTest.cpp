// AdamW's moments in 8 bits: the code, the update, the loss, the memory, and what is refused.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "TinyTraining.h"
#include "core/base/CounterRandom.h"
#include "core/cuda/EightBitCode.h"
#include "core/events/Event.h"
#include "core/state/BlockCode.h"
#include "core/state/Checkpoint.h"
#include "core/state/EightBitMoments.h"

namespace stepscope {
namespace {

using testing::registry;
using testing::TinyTrainer;

RunConfig config(std::int64_t steps, const std::string& optimizer) {
    RunConfig made = testing::tinyConfig(registry(), steps);
    made.switches["optimizer"] = optimizer;
    return made;
}

double uniform(std::uint64_t i) {
    return static_cast<double>(counterRandom(5, 6, i) >> 11) * 0x1p-53;
}

// Values over many magnitudes, as moments have them.
std::vector<float> moments(std::int64_t count, bool withSign) {
    std::vector<float> values;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
        const double magnitude = std::pow(10.0, -9 * uniform(2 * i));
        values.push_back(static_cast<float>(withSign && uniform(2 * i + 1) < 0.5 ? -magnitude : magnitude));
    }
    return values;
}

class EveryCode : public ::testing::TestWithParam<bool> {
protected:
    const BlockCode& code() const { return GetParam() ? firstMomentCode() : secondMomentCode(); }
};

TEST_P(EveryCode, TakesTheNearestOfAllCodes) {
    for (const float x : moments(20'000, GetParam())) {
        float best = 2;
        for (int c = 0; c < 256; ++c) best = std::min(best, std::abs(code().value(static_cast<std::uint8_t>(c)) - x));
        const float taken = code().value(code().nearest(x));
        if (!GetParam() && taken == code().value(1)) continue;  // what would round to zero
        EXPECT_LE(std::abs(taken - x), best * 1.0001f) << x;
    }
}

TEST_P(EveryCode, IsFoundByTheGpusSearchToo) {
    const float* const values = code().values().data();
    const int zero = GetParam() ? static_cast<int>(code().nearest(0)) : 0;
    ASSERT_EQ(values[zero], 0);
    const auto expectSame = [&](float x) { ASSERT_EQ(eight_bit::nearest(values, zero, x), code().nearest(x)) << x; };
    for (const float x : moments(20'000, GetParam())) expectSame(x);
    for (const float x : {0.0f, 1.0f, 1e-30f, 1e-45f}) expectSame(x);
    for (int c = zero; c < 255; ++c) {
        const float border = 0.5f * (values[c] + values[c + 1]);
        for (const float x : {values[c], std::nextafter(border, 0.0f), border, std::nextafter(border, 1.0f)}) {
            expectSame(x);
            if (GetParam()) expectSame(-x);
        }
    }
    EXPECT_EQ(eight_bit::kBlock, kCodeBlock);
}

TEST_P(EveryCode, EncodingWhatWasDecodedLosesNothing) {
    const auto values = moments(1000, GetParam());
    std::vector<std::uint8_t> codes(1000), again(1000);
    std::vector<float> scales(4), scalesAgain(4), back(1000);
    code().encode(values.data(), 1000, codes.data(), scales.data());
    code().decode(codes.data(), scales.data(), 1000, back.data());
    code().encode(back.data(), 1000, again.data(), scalesAgain.data());
    EXPECT_EQ(codes, again);
    EXPECT_EQ(scales, scalesAgain);
}

TEST_P(EveryCode, KeepsZerosAndTheGreatestOfABlockExactly) {
    std::vector<float> values(300, 0.0f);
    values[7] = GetParam() ? -3.7f : 3.7f;
    std::vector<std::uint8_t> codes(300);
    std::vector<float> scales(2), back(300);
    code().encode(values.data(), 300, codes.data(), scales.data());
    code().decode(codes.data(), scales.data(), 300, back.data());
    EXPECT_EQ(back, values);
}

INSTANTIATE_TEST_SUITE_P(Each, EveryCode, ::testing::Values(true, false), [](const auto& info) { return info.param ? "Signed" : "Positive"; });

TEST(BlockCode, ASecondMomentThatIsNotZeroNeverBecomesZero) {
    EXPECT_GT(secondMomentCode().value(secondMomentCode().nearest(1e-30f)), 0);
    EXPECT_EQ(secondMomentCode().value(secondMomentCode().nearest(0)), 0);
}

TEST(EightBit, OneUpdateMovesWeightsAsFloat32DoesWithinTheCodesRounding) {
    const auto drawn = [](std::uint64_t seed) {
        return at::randn({1000}, at::detail::createCPUGenerator(seed), at::TensorOptions().dtype(at::kFloat));
    };
    TrainState state;
    const GptConfig shape{.layers = 1, .heads = 1, .width = 8, .vocabulary = 100, .paddedVocabulary = 100, .positions = 25};
    state = TrainState::initialise(shape, 1);
    const at::Tensor weights = drawn(1), gradient = drawn(2);
    ParameterGroup full{.parameters = {weights.clone()},
                        .gradients = {gradient},
                        .firstMoments = {drawn(3) * 0.1},
                        .secondMoments = {drawn(4).abs() * 0.1},
                        .decays = true};
    ParameterGroup small{.parameters = {weights.clone()}, .gradients = {gradient.clone()}, .decays = true};
    std::vector<std::uint8_t> codes(1000);
    for (const auto& [code, from, to, scales] : {std::tuple{&firstMomentCode(), full.firstMoments[0], &small.firstMoments, &small.firstScales},
                                                 {&secondMomentCode(), full.secondMoments[0], &small.secondMoments, &small.secondScales}}) {
        to->push_back(at::empty({1000}, at::TensorOptions().dtype(at::kByte)));
        scales->push_back(at::empty({4}, at::TensorOptions().dtype(at::kFloat)));
        code->encode(from.data_ptr<float>(), 1000, to->back().data_ptr<std::uint8_t>(), scales->back().data_ptr<float>());
    }
    const AdamW s{.rate = 0.01, .t = 10};
    adamWFused(full, s);
    adamWEightBit(small, s);
    const at::Tensor moved = full.parameters[0] - weights, difference = full.parameters[0] - small.parameters[0];
    EXPECT_LT((difference.norm() / moved.norm()).item<double>(), 0.05);
    EXPECT_GT(difference.abs().max().item<double>(), 0) << "8 bits cannot be exact: was the float path taken?";
}

TEST(EightBit, TheLossStaysWithinOnePercentOfFloat32) {
    const auto meanOfLast = [](const std::string& optimizer) {
        TinyTrainer trainer(config(400, optimizer));
        EXPECT_EQ(trainer.run().state, RunState::Finished);
        const auto losses = trainer.sink.losses();
        double sum = 0;
        for (std::size_t i = losses.size() - 50; i < losses.size(); ++i) sum += losses[i] / 50;
        return sum;
    };
    const double full = meanOfLast("fused"), small = meanOfLast("8-bit");
    EXPECT_NE(full, small);
    EXPECT_NEAR(small / full, 1, 0.01);
}

TEST(EightBit, TakesAQuarterOfTheMemory) {
    TrainState state = TrainState::initialise({.layers = 2, .heads = 4, .width = 64, .vocabulary = 512, .paddedVocabulary = 512, .positions = 64}, 1);
    const auto before = state.firstMoment.nbytes() + state.secondMoment.nbytes();
    toEightBit(state);
    const auto after = state.firstMoment.nbytes() + state.secondMoment.nbytes() + state.firstScales.nbytes() + state.secondScales.nbytes();
    EXPECT_LT(static_cast<double>(after), 0.27 * static_cast<double>(before));
}

TEST(EightBit, AFlipTellsWhatItLostAndTheWayBackLosesNothing) {
    TinyTrainer trainer(config(30, "fused"));
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* done = std::get_if<StepDone>(&event);
        if (done != nullptr && done->step == 10) trainer.commands.push(Flip{"optimizer", std::string("8-bit")});
        if (done != nullptr && done->step == 20) trainer.commands.push(Flip{"optimizer", std::string("fused")});
    };
    ASSERT_EQ(trainer.run().state, RunState::Finished);
    const auto markers = trainer.sink.all<SwitchApplied>();
    ASSERT_EQ(markers.size(), 2u);
    EXPECT_NE(markers[0].note.find("8 bits"), std::string::npos) << markers[0].note;
    EXPECT_TRUE(markers[1].note.empty()) << markers[1].note;
}

TEST(EightBit, ACheckpointGoesOnIdentically) {
    const auto folder = (std::filesystem::temp_directory_path() / ("stepscope-8bit-" + std::to_string(::getpid()))).string();
    std::filesystem::remove_all(folder);
    TinyTrainer whole(config(20, "8-bit")), first(config(20, "8-bit")), second(config(20, "8-bit"));
    whole.run();
    first.sink.onEvent = [&](const Event& event) {
        const auto* done = std::get_if<StepDone>(&event);
        if (done == nullptr || done->step != 9) return;
        first.commands.push(SaveCheckpoint{folder});
        first.commands.push(Stop{});
    };
    first.run();
    auto state = loadCheckpoint(folder, 61);
    ASSERT_TRUE(state.ok()) << state.error().sentence;
    second.setup.state = std::move(*state);
    second.run();
    auto joined = first.sink.losses();
    for (const double loss : second.sink.losses()) joined.push_back(loss);
    EXPECT_EQ(joined, whole.sink.losses());
    std::filesystem::remove_all(folder);
}

TEST(EightBit, GradientsThatAreNoNumbersAreRefusedBeforeTheyTouchTheMoments) {
    RunConfig wanted = config(5, "8-bit");
    wanted.switches["grad-clip"] = 0.0;
    const RunPlan plan = registry().plan(wanted).value();
    ProgramBuilder builder(plan);
    for (const auto& entry : allSwitches())
        if (entry.install) entry.install(builder, plan);
    // A loss whose value is a number and whose gradient is none.
    builder.setLossOp([](const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets, const LossSettings& settings) {
        return plain::loss(hidden, head, targets, settings) + (hidden * 0).sum().sqrt();
    });
    const auto program = builder.build();
    TrainState state = TrainState::initialise(registry().modelShape(wanted, 61), 1);
    toEightBit(state);
    const at::Tensor weights = state.weights.clone(), codes = state.firstMoment.clone(), scales = state.firstScales.clone();
    const auto result = program->step(state, *testing::tinyBatches(), 1e-3);
    EXPECT_EQ(result.breakdown, Breakdown::Gradients);
    EXPECT_TRUE(std::isfinite(result.loss));
    EXPECT_EQ(state.updates, 0);
    EXPECT_TRUE(at::equal(state.weights, weights) && at::equal(state.firstMoment, codes) && at::equal(state.firstScales, scales));
}

}  // namespace
}  // namespace stepscope
