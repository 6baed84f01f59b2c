// Two Programs over one State in any order, and steps that are made again: what a Program keeps of the weights (views, packed and 16-bit copies) is
// never older than the State. Each loss and every weight are to the bit what a Program built for that one step gives. CTest.
#include <ATen/Parallel.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include "TinyTraining.h"
#include "core/base/CounterRandom.h"

namespace stepscope {
namespace {

using testing::registry;

struct Kind {
    const char *fusion, *amp, *optimizer;
};
const Kind kKinds[] = {{"off", "off", "fused"},  {"off", "bf16", "foreach"}, {"kernels", "off", "fused"}, {"kernels", "bf16", "fused"},
                       {"step", "off", "fused"}, {"step", "bf16", "fused"},  {"step", "bf16", "loop"}};

RunConfig configOf(const Kind& kind) {
    RunConfig config = testing::tinyConfig(registry());
    config.switches["fusion"] = std::string(kind.fusion);
    config.switches["amp"] = std::string(kind.amp);
    config.switches["optimizer"] = std::string(kind.optimizer);
    config.switches["validation-amp"] = std::string("on");
    return registry().complete(config).value();
}

TrainState fresh(std::uint64_t seed) {
    return TrainState::initialise(registry().modelShape(configOf(kKinds[0]), 61), seed);
}

class Alternation : public ::testing::TestWithParam<std::size_t> {
protected:
    void SetUp() override { at::set_num_threads(1); }

    const std::shared_ptr<const BatchSource> batches = testing::tinyBatches();
};

TEST_P(Alternation, AnyOrderOfStepsRestoresAndValidationsIsExact) {
    for (std::size_t second = 0; second < std::size(kKinds); ++second) {
        const Kind* const kinds[] = {&kKinds[GetParam()], &kKinds[second]};
        const std::unique_ptr<StepProgram> programs[] = {registry().build(configOf(*kinds[0])).value(),
                                                         registry().build(configOf(*kinds[1])).value()};
        TrainState shared = fresh(1), expected = fresh(1), snapshot = shared.clone();
        for (std::uint64_t turn = 0; turn < 12; ++turn) {
            const std::uint64_t drawn = counterRandom(17, GetParam() * std::size(kKinds) + second, turn);
            const std::size_t which = drawn % 2;
            // Half of all turns begin where the snapshot was taken: a step of the same number, at the same addresses, over other weights.
            if (drawn / 2 % 2 == 0) {
                shared.restore(snapshot);
                expected.restore(snapshot);
            } else if (drawn / 4 % 2 == 0) {
                snapshot = shared.clone();
            }
            const auto alone = registry().build(configOf(*kinds[which])).value();
            if (drawn / 8 % 2 == 0) {
                ASSERT_EQ(programs[which]->evaluate(shared, *batches, 1), alone->evaluate(expected, *batches, 1)) << kinds[which]->fusion << turn;
            }
            if (drawn / 16 % 2 == 0) programs[which]->prepare(shared);
            ASSERT_EQ(programs[which]->step(shared, *batches, 1e-2).loss, alone->step(expected, *batches, 1e-2).loss)
                << kinds[which]->fusion << " " << kinds[which]->amp << " beside " << kinds[1 - which]->fusion << ", turn " << turn;
            ASSERT_TRUE(at::equal(shared.weights, expected.weights) && at::equal(shared.secondMoment, expected.secondMoment)) << turn;
        }
    }
}

TEST_P(Alternation, OneProgramOverTwoStatesIsExactToo) {
    const RunConfig config = configOf(kKinds[GetParam()]);
    const auto both = registry().build(config).value();
    TrainState one = fresh(1), other = fresh(2), oneAlone = fresh(1), otherAlone = fresh(2);
    for (int turn = 0; turn < 3; ++turn) {
        EXPECT_EQ(both->step(one, *batches, 1e-2).loss, registry().build(config).value()->step(oneAlone, *batches, 1e-2).loss) << turn;
        EXPECT_EQ(both->step(other, *batches, 1e-2).loss, registry().build(config).value()->step(otherAlone, *batches, 1e-2).loss) << turn;
    }
}

TEST_P(Alternation, AStepThatWasPreparedForCopiesNoWeights) {
    const RunConfig config = configOf(kKinds[GetParam()]);
    const bool copies = config.word("fusion") == "step" || (config.word("fusion") == "kernels" && config.word("amp") == "bf16");
    const auto made = [](const StepProgram& program) { return program.report().weightCopies; };
    std::vector<double> losses[2];
    for (const bool prepares : {false, true}) {
        const auto a = registry().build(config).value(), b = registry().build(config).value();
        TrainState state = fresh(1);
        for (int turn = 0; turn < 4; ++turn)
            for (StepProgram* const program : {a.get(), b.get()}) {
                std::int64_t before = made(*program);
                if (prepares) {
                    program->prepare(state);
                    EXPECT_EQ(made(*program) - before, copies ? 1 : 0) << "the other one has written";
                    before = made(*program);
                    program->prepare(state);
                    EXPECT_EQ(made(*program), before) << "it is there";
                }
                losses[prepares ? 1 : 0].push_back(program->step(state, *batches, 1e-2).loss);
                EXPECT_EQ(made(*program) - before, copies && !prepares ? 1 : 0);
                losses[prepares ? 1 : 0].push_back(program->step(state, *batches, 1e-2).loss);
                EXPECT_EQ(made(*program) - before, copies && !prepares ? 1 : 0) << "after its own step nothing is copied";
            }
    }
    EXPECT_EQ(losses[0], losses[1]);
}

INSTANTIATE_TEST_SUITE_P(Of, Alternation, ::testing::Range(std::size_t{0}, std::size(kKinds)), [](const auto& info) {
    const Kind& kind = kKinds[info.param];
    return std::string(kind.fusion) + "_" + kind.amp + "_" + kind.optimizer;
});

}  // namespace
}  // namespace stepscope
