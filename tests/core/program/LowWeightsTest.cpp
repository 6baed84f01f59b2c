// The bfloat16 copy of the weights that the optimizer writes: steps, validation and gradients are to the bit what autocast's own casts give, and
// a State that somebody else has changed is cast anew.
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "TinyTraining.h"
#include "core/events/ConfigKeys.h"
#include "core/fused/Optimizer.h"
#include "core/program/EagerProgram.h"
#include "core/program/LowWeights.h"

namespace stepscope {
namespace {

using testing::registry;

void update(ParameterGroup& group, const AdamW& s) {
    fused::adamW(adamWStep(s, group.decays), {group.parameters, group.gradients, group.firstMoments, group.secondMoments, group.lowWeights});
}

RunConfig configOf(const std::string& model) {
    RunConfig config = testing::tinyConfig(registry());
    if (model == "split") config.qkv = "split";
    if (model == "swiglu") config.activation = "swiglu";
    if (model == "rerun") config.switches["checkpointing"] = std::string("every-block");
    return config;
}

ProgramParts partsOf(const RunConfig& config, std::int64_t accumulation, bool keeps) {
    ProgramParts parts;
    parts.autocast = parts.validationAutocast = at::kBFloat16;
    parts.batchSize = 4;
    parts.context = config.integer("context");
    parts.accumulation = accumulation;
    parts.optimizer = update;
    parts.optimizerWritesLow = keeps;
    parts.recompute = registry().plan(config)->recompute;
    recomputeParts(parts.recompute, parts.ops);
    return parts;
}

class LowWeightsOf : public ::testing::TestWithParam<const char*> {};

TEST_P(LowWeightsOf, StepsAndValidationAreThoseOfCastsToTheBit) {
    const RunConfig config = configOf(GetParam());
    const auto batches = testing::tinyBatches();
    for (const std::int64_t accumulation : {1, 2}) {
        TrainState kept = TrainState::initialise(registry().modelShape(config, 61), 1),
                   cast = TrainState::initialise(registry().modelShape(config, 61), 1);
        EagerProgram keeping(partsOf(config, accumulation, true)), casting(partsOf(config, accumulation, false));
        for (int i = 0; i < 4; ++i) {
            EXPECT_EQ(keeping.step(kept, *batches, 1e-2).loss, casting.step(cast, *batches, 1e-2).loss) << i;
            EXPECT_EQ(keeping.evaluate(kept, *batches, 96), casting.evaluate(cast, *batches, 96)) << i;
        }
        EXPECT_TRUE(at::equal(kept.weights, cast.weights));
    }
}

INSTANTIATE_TEST_SUITE_P(Models, LowWeightsOf, ::testing::Values("gpt2", "split", "swiglu", "rerun"),
                         [](const auto& info) { return std::string(info.param); });

TEST(LowWeights, AStateThatAnotherProgramHasTrainedIsCastAnew) {
    const RunConfig config = configOf("gpt2");
    const auto batches = testing::tinyBatches();
    TrainState mixed = TrainState::initialise(registry().modelShape(config, 61), 1),
               cast = TrainState::initialise(registry().modelShape(config, 61), 1);
    EagerProgram keeping(partsOf(config, 1, true)), casting(partsOf(config, 1, false)), reference(partsOf(config, 1, false));
    for (int i = 0; i < 6; ++i) {
        StepProgram& turn = i % 3 == 1 ? static_cast<StepProgram&>(casting) : keeping;
        EXPECT_EQ(turn.step(mixed, *batches, 1e-2).loss, reference.step(cast, *batches, 1e-2).loss) << i;
        EXPECT_EQ(keeping.evaluate(mixed, *batches, 48), reference.evaluate(cast, *batches, 48)) << i;
    }
}

TEST(LowWeights, EveryLinearOfTheBlocksHasACopyThatTheUpdateRoundsAndNothingElseHas) {
    TrainState state = TrainState::initialise(registry().modelShape(configOf("gpt2"), 61), 1);
    LowWeights low;
    low.bind(state);
    auto groups = parameterGroups(state);
    low.addTo(groups);
    std::size_t copied = 0;
    for (auto& group : groups) {
        ASSERT_EQ(group.lowWeights.size(), group.parameters.size());
        for (const auto& weight : group.parameters) group.gradients.push_back(weight * 3 + 0.5);
        update(group, {.rate = 0.05});
        for (std::size_t i = 0; i < group.parameters.size(); ++i) {
            if (!group.lowWeights[i].defined()) continue;
            ++copied;
            EXPECT_TRUE(at::equal(group.lowWeights[i], group.parameters[i].to(at::kBFloat16))) << i;
        }
    }
    EXPECT_EQ(copied, 2u * 8u) << "two layers of four matrices and four biases";
}

}  // namespace
}  // namespace stepscope
