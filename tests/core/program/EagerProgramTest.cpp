// What an eager step waits for, and what it does with losses that are no numbers: nothing is read back before all micro-batches have run, and then
// the State is as it was. The planned Program decides the same. CTest.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "TinyTraining.h"
#include "core/program/EagerProgram.h"
#include "core/program/PlannedProgram.h"

namespace stepscope {
namespace {

ProgramParts partsOf(std::int64_t accumulation) {
    ProgramParts parts;
    parts.batchSize = 4;
    parts.context = 12;
    parts.accumulation = accumulation;
    parts.maxNorm = 1;
    parts.optimizerName = "fused";
    parts.optimizer = adamWFused;
    return parts;
}

using testing::freshState;

std::vector<std::string>* heard = nullptr;
std::unique_ptr<at::ObserverContext> begun(const at::RecordFunction& function) {
    heard->emplace_back(function.name());
    return nullptr;
}

TEST(EagerProgram, ReadsNothingBackBeforeTheLastBackwardPassIsDone) {
    at::set_num_threads(1);
    for (const std::int64_t accumulation : {1, 3}) {
        EagerProgram program(partsOf(accumulation));
        TrainState state = freshState();
        const auto batches = testing::tinyBatches();
        program.step(state, *batches, 1e-3);  // the first one asks for back-ends
        std::vector<std::string> names;
        heard = &names;
        const auto callback = at::addThreadLocalCallback(at::RecordFunctionCallback(begun).scopes({at::RecordScope::FUNCTION}));
        program.step(state, *batches, 1e-3);
        at::removeCallback(callback);
        const auto reads = std::ranges::find(names, "aten::item");
        ASSERT_NE(reads, names.end()) << "the loss is read some time";
        EXPECT_EQ(std::ranges::count(names, "aten::embedding_dense_backward"), accumulation);
        EXPECT_EQ(std::count(names.begin(), reads, "aten::embedding_dense_backward"), accumulation);
        EXPECT_EQ(std::count(names.begin(), reads, "aten::_local_scalar_dense"), 0);
    }
}

TEST(EagerProgram, AMicroBatchWhoseLossIsNoNumberLeavesTheStateAsItWasAndIsTheLossReported) {
    at::set_num_threads(1);
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    const auto batches = testing::tinyBatches();
    for (const auto& [second, third, reported] :
         {std::tuple{std::nan(""), 0.0, std::nan("")}, {kInfinite, std::nan(""), kInfinite}, {0.0, -kInfinite, -kInfinite}}) {
        ProgramParts parts = partsOf(3);
        int call = 0;
        bool breaks = false;
        parts.ops.loss = [&, second = second, third = third](const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                                                             const LossSettings& settings) {
            const at::Tensor loss = plain::loss(hidden, head, targets, settings);
            ++call;
            return !breaks || call % 3 == 1 ? loss : loss + (call % 3 == 2 ? second : third);
        };
        EagerProgram program(parts);
        TrainState state = freshState(), plain = freshState();
        program.step(state, *batches, 1e-2);
        const TrainState before = state.clone();
        const Revision revision = state.revision();
        breaks = true;
        const StepResult result = program.step(state, *batches, 1e-2);
        EXPECT_EQ(result.breakdown, Breakdown::Loss);
        if (std::isnan(reported))
            EXPECT_TRUE(std::isnan(result.loss));
        else
            EXPECT_EQ(result.loss, reported) << "of the first micro-batch that broke, whatever came after it";
        EXPECT_TRUE(at::equal(state.weights, before.weights) && at::equal(state.firstMoment, before.firstMoment) &&
                    at::equal(state.secondMoment, before.secondMoment));
        EXPECT_EQ(std::tuple(state.updates, state.cursor, state.skipped), std::tuple(before.updates, before.cursor, before.skipped));
        EXPECT_EQ(state.revision(), revision) << "nothing was written";
        breaks = false;
        EagerProgram alone(partsOf(3));
        alone.step(plain, *batches, 1e-2);
        EXPECT_EQ(program.step(state, *batches, 1e-2).loss, alone.step(plain, *batches, 1e-2).loss) << "as if it had not been";
        EXPECT_TRUE(at::equal(state.weights, plain.weights));
    }
}

TEST(EagerProgram, MeansTheMicroBatchesLossesAsThePlannedProgramDoes) {
    const auto batches = testing::tinyBatches();
    TrainState one = freshState(), other = freshState();
    EagerProgram eager(partsOf(3));
    PlannedProgram planned(partsOf(3));
    for (int i = 0; i < 5; ++i) {
        const StepResult a = eager.step(one, *batches, 1e-2), b = planned.step(other, *batches, 1e-2);
        EXPECT_NEAR(a.loss, b.loss, 2e-6);
        EXPECT_EQ(a.tokens, b.tokens);
        for (const Phase phase : {Phase::Batch, Phase::Forward, Phase::Backward, Phase::Clip, Phase::Optimizer}) {
            EXPECT_GT(a.phaseNs[static_cast<std::size_t>(phase)], 0) << static_cast<int>(phase);
            EXPECT_GT(b.phaseNs[static_cast<std::size_t>(phase)], 0) << static_cast<int>(phase);
        }
        EXPECT_EQ(a.phaseNs[static_cast<std::size_t>(Phase::Copy)], 0);
    }
    EXPECT_EQ(one.cursor, other.cursor);
}

}  // namespace
}  // namespace stepscope
