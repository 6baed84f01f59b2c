// Moments that are dealt out among workers: each updates its own part of the weights, and all train as those of whom each has all moments, to the
// last bit. Workers are threads here. CTest.
#include <ATen/Parallel.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <memory>

#include "ThreadWorkers.h"
#include "TinyTraining.h"
#include "core/program/DealtMoments.h"

namespace stepscope {
namespace {

using testing::ThreadWorkers;

struct WorkerTrained {
    std::vector<double> losses, norms;
    double validation = 0;
    TrainState state;
    FloatMoments moments;   // of all
    std::int64_t held = 0;  // elements of a moment, while it trained
};

WorkerTrained trainWorker(const Registry& registry, const RunConfig& config, std::int64_t steps, DataParallel& others) {
    at::set_num_threads(1);
    const auto batches = testing::tinyBatches();
    WorkerTrained trained;
    TrainState& state = trained.state;
    state = TrainState::initialise(registry.modelShape(config, 61), 1);
    const RunPlan plan = registry.plan(config, 61).value();
    StateForm form = registry.formOf(plan, state);
    if (!form.share.whole()) form.share.rank = others.rank();
    state.convert(form);
    const auto program = registry.build(plan);
    program->shareWith(&others);
    for (std::int64_t step = 0; step < steps; ++step) {
        const StepResult result = program->step(state, *batches, 3e-3);
        trained.losses.push_back(result.loss);
        trained.norms.push_back(result.gradientNorm);
    }
    trained.validation = program->evaluate(state, *batches, 10 * 12 + 5);
    trained.held = state.firstMoment.numel();
    if (!state.share.whole())
        trained.moments = gatheredMoments(state, others, true);
    else
        trained.moments = {state.firstMoment, state.secondMoment};
    return trained;
}

std::vector<WorkerTrained> trainWorkers(int workers, const std::vector<std::pair<std::string, Value>>& switches, std::int64_t steps = 30) {
    const Registry registry(testing::plainCpu(), workers);
    RunConfig config = testing::tinyConfig(registry);
    config.dropout = 0.1;
    config.switches["grad-clip"] = 0.5;
    for (const auto& [id, value] : switches) config.switches[id] = value;
    config = registry.complete(config).value();
    std::vector<WorkerTrained> trained(static_cast<std::size_t>(workers));
    ThreadWorkers together(workers);
    together.run([&](int rank) {
        try {
            DataParallel others(together.of(rank), 5000);
            trained[static_cast<std::size_t>(rank)] = trainWorker(registry, config, steps, others);
        } catch (const std::exception& thrown) {
            ADD_FAILURE() << thrown.what();
            together.leave();
        }
    });
    return trained;
}

void expectSameTraining(const WorkerTrained& dealt, const WorkerTrained& whole) {
    EXPECT_EQ(dealt.losses, whole.losses);
    EXPECT_EQ(dealt.norms, whole.norms);
    EXPECT_EQ(dealt.validation, whole.validation);
    EXPECT_TRUE(at::equal(dealt.state.weights, whole.state.weights));
    EXPECT_TRUE(at::equal(dealt.moments.first, whole.moments.first));
    EXPECT_TRUE(at::equal(dealt.moments.second, whole.moments.second));
}

TEST(DealtMoments, TrainAsWholeOnesBitForBitWhicheverUpdates) {
    for (const char* optimizer : {"loop", "foreach", "fused"})
        for (const char* fusion : {"off", "kernels", "step"})
            for (const int workers : {2, 3}) {
                SCOPED_TRACE(std::string(optimizer) + ", fusion=" + fusion + ", workers: " + std::to_string(workers));
                std::vector<std::pair<std::string, Value>> switches{{"optimizer", std::string(optimizer)}, {"fusion", std::string(fusion)}};
                const auto whole = trainWorkers(workers, switches);
                switches.emplace_back("zero", std::string("1"));
                const auto dealt = trainWorkers(workers, switches);
                std::int64_t held = 0;
                for (const WorkerTrained& worker : dealt) {
                    expectSameTraining(worker, whole[0]);
                    held += worker.held;
                }
                EXPECT_EQ(held, whole[0].held) << "each element with one worker";
                EXPECT_LT(whole[0].losses.back(), whole[0].losses.front()) << "it learns";
            }
}

TEST(DealtMoments, GoWithAccumulationWithSumsAndProductsIn16BitsAndWithMoreWorkersThanParts) {
    const std::vector<std::pair<std::string, Value>> beside[] = {{{"grad-accumulation", std::int64_t{2}}},
                                                                 {{"grad-sums", std::string("bf16")}},
                                                                 {{"zero-grad", std::string("zero")}},
                                                                 {{"vocab-padding", std::string("64")}}};
    for (auto switches : beside) {
        SCOPED_TRACE(switches.front().first);
        const auto whole = trainWorkers(2, switches, 6);
        switches.emplace_back("zero", std::string("1"));
        for (const WorkerTrained& worker : trainWorkers(2, switches, 6)) expectSameTraining(worker, whole[0]);
    }
    // A planned step has copies of its weights, packed and in 16 bits: those of the others' parts, too, are made before the next step.
    for (const char* amp : {"off", "bf16"})
        for (const std::int64_t accumulation : {1, 2}) {
            SCOPED_TRACE(std::string("amp=") + amp + ", accumulation " + std::to_string(accumulation));
            std::vector<std::pair<std::string, Value>> planned{
                {"fusion", std::string("step")}, {"amp", std::string(amp)}, {"grad-accumulation", accumulation}};
            for (const char* padding : {"none", "64"}) {
                auto switches = planned;
                switches.emplace_back("vocab-padding", std::string(padding));
                const auto whole = trainWorkers(3, switches, 6);
                switches.emplace_back("zero", std::string("1"));
                for (const WorkerTrained& worker : trainWorkers(3, switches, 6)) expectSameTraining(worker, whole[0]);
            }
        }
    const auto low = trainWorkers(2, {{"amp", std::string("bf16")}, {"zero", std::string("1")}}, 6),
               lowWhole = trainWorkers(2, {{"amp", std::string("bf16")}}, 6);
    for (std::size_t step = 0; step < 6; ++step) EXPECT_NEAR(low[0].losses[step] / lowWhole[0].losses[step], 1, 1e-3) << step;
    const auto many = trainWorkers(5, {{"zero", std::string("1")}}, 4), manyWhole = trainWorkers(5, {}, 4);
    for (const WorkerTrained& worker : many) expectSameTraining(worker, manyWhole[0]);
}

TEST(DealtMoments, GoRoundWhateverTheSizesOfTheParts) {
    for (const std::int64_t bucketBytes : {std::int64_t{1}, std::int64_t{12}, std::int64_t{4096}}) {
        const std::vector<std::int64_t> bounds{0, 5, 5, 6, 20};
        ThreadWorkers together(4);
        together.run([&](int rank) {
            DataParallel others(together.of(rank), bucketBytes);
            const auto part = static_cast<std::size_t>(rank);
            const std::int64_t count = bounds[part + 1] - bounds[part];
            const at::Tensor own = at::full({count}, rank + 1.0, at::kFloat), into = at::zeros({20}, at::kFloat);
            at::Tensor expected = at::zeros({20}, at::kFloat);
            for (int other = 0; other < 4; ++other) {
                const auto its = static_cast<std::size_t>(other);
                expected.narrow(0, bounds[its], bounds[its + 1] - bounds[its]).fill_(other + 1.0);
            }
            others.bringTogether(own, bounds, rank == 2 ? at::Tensor() : into);
            if (rank != 2) {
                EXPECT_TRUE(at::equal(into, expected)) << rank;
            }
            at::Tensor whole = at::full({20}, -1.0, at::kFloat);
            whole.narrow(0, bounds[part], count).fill_(rank + 1.0);
            others.handRound(whole, bounds);
            EXPECT_TRUE(at::equal(whole, expected)) << rank;
        });
    }
}

TEST(DealtMoments, AreRefusedBesideWhatCannotHaveThem) {
    const Registry registry(testing::plainCpu(), 2);
    RunConfig config = testing::tinyConfig(registry);
    config.switches["zero"] = std::string("1");
    config.switches["optimizer"] = std::string("8-bit");
    const auto refused = registry.complete(config);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().sentence.find("zero=1 cannot be used: "), 0u) << refused.error().sentence;
}

}  // namespace
}  // namespace stepscope
