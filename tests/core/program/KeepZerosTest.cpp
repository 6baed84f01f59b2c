// keep-zeros: weights of the blocks' matrices that are zero stay zero, and their moments with them, in every Program and every form of the update,
// alone and with other workers; all other weights go on.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include "ThreadWorkers.h"
#include "TinyTraining.h"
#include "core/program/DataParallel.h"
#include "core/state/EightBitMoments.h"
#include "core/state/Zeros.h"

namespace stepscope {
namespace {

struct PrunedKind {
    const char *fusion, *amp, *optimizer;
};
void PrintTo(const PrunedKind& kind, std::ostream* out) {
    *out << kind.fusion << " " << kind.amp << " " << kind.optimizer;
}

RunConfig keepingZeros(const PrunedKind& kind, bool keeps = true) {
    RunConfig config = testing::tinyConfig(testing::registry());
    config.switches["fusion"] = std::string(kind.fusion);
    config.switches["amp"] = std::string(kind.amp);
    config.switches["optimizer"] = std::string(kind.optimizer);
    config.keepZeros = keeps ? "on" : "off";
    return testing::registry().complete(config).value();
}

// Every third weight of the blocks' matrices is zero, as pruning leaves a trained model: its moments are not.
TrainState prunedState(const RunConfig& config) {
    TrainState state = TrainState::initialise(testing::registry().modelShape(config, 61), 1);
    state.bumpRevision();
    for (const auto& slot : state.layout.slots()) {
        if (!slot.linear) continue;
        ParameterLayout::view(state.firstMoment, slot).fill_(1e-5);
        ParameterLayout::view(state.secondMoment, slot).fill_(1e-6);
        for (std::int64_t i = 0; i < slot.count; i += 3) state.weights.data_ptr<float>()[slot.offset + i] = 0;
    }
    restMomentsOfZeros(state);
    return state;
}

std::int64_t zerosOf(const at::Tensor& flat, const TrainState& state) {
    std::int64_t zeros = 0;
    for (const auto& slot : state.layout.slots())
        if (slot.linear) zeros += ParameterLayout::view(flat, slot).eq(0).sum().item<std::int64_t>();
    return zeros;
}

// Whether what was zero is, and everything else of the blocks has moved.
void expectZerosKept(const TrainState& before, const TrainState& after) {
    const FloatMoments moments = floatMoments(after);
    for (const auto& slot : before.layout.slots()) {
        const at::Tensor then = ParameterLayout::view(before.weights, slot), now = ParameterLayout::view(after.weights, slot);
        if (!slot.linear) {
            EXPECT_FALSE(at::equal(then, now)) << slot.name << " trains on";
            continue;
        }
        EXPECT_TRUE(at::equal(then.eq(0), now.eq(0))) << slot.name;
        EXPECT_GT(then.ne(now).sum().item<std::int64_t>(), slot.count / 3) << slot.name << " trains on";
        for (const auto& moment : {moments.first, moments.second}) {
            const at::Tensor ofZeros = ParameterLayout::view(moment, slot).masked_select(then.eq(0));
            EXPECT_EQ(ofZeros.ne(0).sum().item<std::int64_t>(), 0) << slot.name;
        }
    }
}

class KeepZeros : public ::testing::TestWithParam<PrunedKind> {
protected:
    void SetUp() override { at::set_num_threads(1); }
    const std::shared_ptr<const BatchSource> batches = testing::tinyBatches();
};

TEST_P(KeepZeros, WeightsThatAreZeroStayZeroAndTheOthersLearn) {
    const RunConfig config = keepingZeros(GetParam());
    const TrainState before = prunedState(config);
    TrainState state = before.clone();
    const auto program = testing::programOver(state, testing::registry(), config);
    const double first = program->step(state, *batches, 1e-2).loss;
    double last = 0;
    for (int step = 0; step < 60; ++step) last = program->step(state, *batches, 1e-2).loss;
    EXPECT_LT(last, 0.97 * first);
    expectZerosKept(before, state);
}

TEST_P(KeepZeros, WithoutItTheyGrowAgain) {
    const RunConfig config = keepingZeros(GetParam(), false);
    TrainState state = prunedState(config);
    const std::int64_t zeros = zerosOf(state.weights, state);
    ASSERT_GT(zeros, 1000);
    const auto program = testing::programOver(state, testing::registry(), config);
    for (int step = 0; step < 3; ++step) program->step(state, *batches, 3e-3);
    EXPECT_LT(zerosOf(state.weights, state), zeros / 10);
}

TEST_P(KeepZeros, TheNormIsOfTheGradientsThatAreLeft) {
    RunConfig config = keepingZeros(GetParam());
    TrainState kept = prunedState(config), all = prunedState(config);
    const double ofSome = testing::programOver(kept, testing::registry(), config)->step(kept, *batches, 3e-3).gradientNorm;
    config.keepZeros = "off";
    const double ofAll = testing::programOver(all, testing::registry(), config)->step(all, *batches, 3e-3).gradientNorm;
    EXPECT_LT(ofSome, ofAll);
    EXPECT_GT(ofSome, 0.5 * ofAll);
}

INSTANTIATE_TEST_SUITE_P(Programs, KeepZeros,
                         ::testing::Values(PrunedKind{"off", "off", "fused"}, PrunedKind{"off", "bf16", "fused"}, PrunedKind{"off", "off", "loop"},
                                           PrunedKind{"off", "off", "foreach"}, PrunedKind{"off", "off", "8-bit"},
                                           PrunedKind{"kernels", "bf16", "fused"}, PrunedKind{"step", "off", "fused"},
                                           PrunedKind{"step", "bf16", "fused"}, PrunedKind{"step", "off", "loop"}));

TEST(KeepZerosTogether, SeveralWorkersKeepTheSameOnes) {
    for (const char* fusion : {"off", "step"}) {
        const RunConfig config = keepingZeros({fusion, "off", "fused"});
        const TrainState before = prunedState(config);
        std::vector<TrainState> after(2);
        testing::ThreadWorkers together(2);
        together.run([&](int rank) {
            try {
                at::set_num_threads(1);
                const auto batches = testing::tinyBatches();
                DataParallel others(together.of(rank));
                TrainState state = before.clone();
                const auto program = testing::programOver(state, testing::registry(), config);
                program->shareWith(&others);
                for (int step = 0; step < 5; ++step) program->step(state, *batches, 3e-3);
                after[static_cast<std::size_t>(rank)] = std::move(state);
            } catch (const std::exception& thrown) {
                ADD_FAILURE() << thrown.what();
                together.leave();
            }
        });
        EXPECT_TRUE(at::equal(after[0].weights, after[1].weights)) << fusion;
        expectZerosKept(before, after[0]);
    }
}

TEST(RestMomentsOfZeros, AreThoseOfTheBlocksMatricesAlone) {
    TrainState state = testing::freshState();
    state.firstMoment.fill_(1);
    state.secondMoment.fill_(1);
    state.weights.zero_();
    std::int64_t ofBlocks = 0;
    for (const auto& slot : state.layout.slots()) ofBlocks += slot.linear ? slot.count : 0;
    EXPECT_EQ(restMomentsOfZeros(state), ofBlocks);
    for (const auto& slot : state.layout.slots())
        for (const auto& moment : {state.firstMoment, state.secondMoment})
            EXPECT_EQ(ParameterLayout::view(moment, slot).eq(0).sum().item<std::int64_t>(), slot.linear ? slot.count : 0) << slot.name;
}

}  // namespace
}  // namespace stepscope
