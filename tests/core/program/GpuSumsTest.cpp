// Steps whose gradients and weights NCCL adds up and hands round between the workers' GPUs. Here NCCL is a fake over the memory of this process,
// whose threads are the workers, and a GPU a CPU: steps are those of workers who add up over memory, to the last bit; nothing of them goes over the
// host; and whatever breaks ends the step of all with a sentence.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ThreadWorkers.h"
#include "TinyTraining.h"
#include "core/base/OperationSpan.h"
#include "core/base/SumLaunch.h"
#include "core/program/DataParallel.h"
#include "core/program/DealtMoments.h"
#include "tests/core/workers/nccl/FakeNccl.h"

namespace stepscope {
namespace {

using std::chrono::milliseconds;
using testing::ThreadWorkers;

constexpr milliseconds kPatience{30'000};

Result<std::unique_ptr<GpuSums>> joined(ThreadWorkers& together, int rank, milliseconds patience = kPatience, const char* library = FAKE_NCCL) {
    return GpuSums::join(together.of(rank), at::kCPU, patience, ncclLibrary(library));
}

using Switches = std::vector<std::pair<std::string, Value>>;

struct GpuTrained {
    std::vector<double> losses, norms;
    double validation = 0;
    TrainState state;
    FloatMoments moments;  // of all
};

std::vector<GpuTrained> trainOnGpus(int workers, const Switches& switches, bool byNccl) {
    const Registry registry(testing::plainCpu(), workers);
    RunConfig config = testing::tinyConfig(registry);
    config.switches["grad-clip"] = 0.5;
    for (const auto& [id, value] : switches) config.switches[id] = value;
    config = registry.complete(config).value();
    const RunPlan plan = registry.plan(config, 61).value();
    const auto batches = testing::tinyBatches();
    std::vector<GpuTrained> trained(static_cast<std::size_t>(workers));
    ThreadWorkers together(workers);
    together.run([&](int rank) {
        try {
            at::set_num_threads(1);
            GpuTrained& own = trained[static_cast<std::size_t>(rank)];
            DataParallel others(together.of(rank), 5000);
            if (byNccl) {
                auto gpu = joined(together, rank);
                ASSERT_TRUE(gpu) << gpu.error().sentence;
                EXPECT_EQ((*gpu)->ncclVersion(), 22809);
                others.addUpOn(std::move(*gpu));
            }
            own.state = TrainState::initialise(registry.modelShape(config, 61), 1);
            StateForm form = registry.formOf(plan, own.state);
            if (!form.share.whole()) form.share.rank = rank;
            own.state.convert(form);
            const auto program = registry.build(plan);
            program->shareWith(&others);
            for (int step = 0; step < 12; ++step) {
                const StepResult result = program->step(own.state, *batches, 3e-3);
                own.losses.push_back(result.loss);
                own.norms.push_back(result.gradientNorm);
            }
            own.validation = program->evaluate(own.state, *batches, 10 * 12 + 5);
            own.moments =
                own.state.share.whole() ? FloatMoments{own.state.firstMoment, own.state.secondMoment} : gatheredMoments(own.state, others, true);
        } catch (const std::exception& thrown) {
            ADD_FAILURE() << thrown.what();
            together.leave();
        }
    });
    EXPECT_EQ(together.sums() > 0, !byNccl) << "no gradient goes over the host";
    return trained;
}

TEST(GpuSums, StepsAreThoseOfWorkersWhoAddUpOverMemoryToTheLastBit) {
    for (const int workers : {2, 3})
        for (const Switches& switches :
             {Switches{{"fusion", std::string("off")}}, Switches{{"fusion", std::string("kernels")}, {"grad-accumulation", std::int64_t{2}}},
              Switches{{"fusion", std::string("kernels")}, {"grad-sums", std::string("bf16")}},
              Switches{{"fusion", std::string("kernels")}, {"zero", std::string("1")}}}) {
            SCOPED_TRACE(std::to_string(workers) + " workers, " + switches.back().first + "=" + toString(switches.back().second));
            const FakeNccl& fake = fakeAsNew(FAKE_NCCL);
            const auto byNccl = trainOnGpus(workers, switches, true);
            EXPECT_GT(fake.sums.load(), 12) << "every gradient of every step";
            EXPECT_EQ(fake.handedRound.load(), switches.back().first == "zero" ? 12 * workers : 0) << "weights that each updated a part of";
            EXPECT_EQ(fake.alive.load(), 0);
            const auto overMemory = trainOnGpus(workers, switches, false);
            for (std::size_t rank = 0; rank < byNccl.size(); ++rank) {
                EXPECT_EQ(byNccl[rank].losses, overMemory[rank].losses);
                EXPECT_EQ(byNccl[rank].norms, overMemory[rank].norms);
                EXPECT_EQ(byNccl[rank].validation, overMemory[rank].validation);
                EXPECT_TRUE(at::equal(byNccl[rank].state.weights, overMemory[rank].state.weights));
                EXPECT_TRUE(at::equal(byNccl[rank].moments.first, overMemory[rank].moments.first));
                EXPECT_TRUE(at::equal(byNccl[rank].moments.second, overMemory[rank].moments.second));
            }
        }
}

TEST(GpuSums, NumbersThatAreNoGradientsAreAddedUpWithThemInFloat32) {
    fakeAsNew(FAKE_NCCL);
    ThreadWorkers together(2);
    together.run([&](int rank) {
        DataParallel others(together.of(rank));
        auto gpu = joined(together, rank);
        ASSERT_TRUE(gpu) << gpu.error().sentence;
        others.addUpOn(std::move(*gpu));
        others.addUpIn(SumPrecision::Bf16);
        // Of which bf16 would keep 8 bits.
        const at::Tensor loss = at::full({}, 1.001, at::kFloat), gradient = at::full({4}, 1.001, at::kFloat);
        others.addUpToo(loss);
        others.onFinal({.offset = 0, .count = 4, .parameters = {gradient}, .offsets = {0}});
        others.reduce();
        EXPECT_EQ(loss.item<float>(), 1.001f + 1.001f);
        EXPECT_TRUE(at::equal(gradient, at::full({4}, 2, at::kFloat)));
    });
}

// What one of two workers is told when it adds up one gradient after another, until it is told something; the other does what `instead` says.
struct HeardSums final : StepObserver {
    void spanEnds(const SpanFacts& span) noexcept override {
        const std::lock_guard lock(mutex);
        if (std::string(span.name).starts_with("all-reduce")) names.emplace_back(span.name);
    }
    std::mutex mutex;
    std::vector<std::string> names;
};

// Its span ends when the GPU has been told, and says nothing of how long the gradients are on their way.
TEST(GpuSums, ASumThatIsHandedToTheGpuIsCalledALaunch) {
    for (const bool byNccl : {true, false}) {
        fakeAsNew(FAKE_NCCL);
        const auto heard = std::make_shared<HeardSums>();
        {
            const Listening<StepObserver> listening(stepObservers, heard);
            ThreadWorkers together(2);
            together.run([&](int rank) {
                DataParallel others(together.of(rank));
                if (byNccl) {
                    auto gpu = joined(together, rank);
                    ASSERT_TRUE(gpu) << gpu.error().sentence;
                    others.addUpOn(std::move(*gpu));
                }
                const at::Tensor gradient = at::full({4}, 1, at::kFloat);
                others.onFinal({.offset = 0, .count = 4, .parameters = {gradient}, .offsets = {0}});
                others.reduce();
            });
        }
        EXPECT_EQ(heard->names, (std::vector<std::string>(2, byNccl ? kSumLaunch : "all-reduce"))) << "one of each worker";
    }
}

std::string toldWhile(FakeNccl& fake, int told, const std::function<void(ThreadWorkers& together, DataParallel& others)>& instead,
                      milliseconds patience = kPatience) {
    std::string sentence = "nothing";
    ThreadWorkers together(2);
    together.run([&](int rank) {
        auto gpu = joined(together, rank, patience);
        ASSERT_TRUE(gpu) << gpu.error().sentence;
        DataParallel others(together.of(rank));
        others.addUpOn(std::move(*gpu));
        if (rank != told) return instead(together, others);
        const at::Tensor gradient = at::full({4}, 1, at::kFloat);
        for (int again = 0; again < 2; ++again) {
            try {
                others.onFinal({.offset = 0, .count = 4, .parameters = {gradient}, .offsets = {0}});
                others.reduce();
                ADD_FAILURE() << "a sum without the other";
            } catch (const WorkersApart& apart) {
                if (again == 0) sentence = apart.error().sentence;
            }
            together.leave();
        }
    });
    EXPECT_EQ(fake.alive.load(), 0);
    return sentence;
}

TEST(GpuSums, AWorkerThatIsGoneIsMissedByTheOtherWhileItsGpuWaits) {
    FakeNccl& fake = fakeAsNew(FAKE_NCCL);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(toldWhile(fake, 0, [](ThreadWorkers& together, DataParallel&) { together.leave(); }), "Another worker has left.");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, kPatience / 2) << "long before its patience is over";
}

TEST(GpuSums, AnErrorOfOneGpuEndsTheStepOfAllAndEachSaysWhatItKnows) {
    for (const int told : {0, 1}) {
        FakeNccl& fake = fakeAsNew(FAKE_NCCL);
        fake.failsOf = 1;
        fake.failsAt = 1;
        const std::string sentence = toldWhile(fake, told, [](ThreadWorkers&, DataParallel& others) {
            const at::Tensor gradient = at::full({4}, 1, at::kFloat);
            others.onFinal({.offset = 0, .count = 4, .parameters = {gradient}, .offsets = {0}});
            EXPECT_THROW(others.reduce(), WorkersApart);
        });
        if (told == 1) {
            EXPECT_THAT(sentence,
                        ::testing::StartsWith("The workers' GPUs could not add up gradients: NCCL says \"remote process exited or there was a "
                                              "network error\""));
        } else {
            EXPECT_EQ(sentence, "Worker 1 of 2 could not add up gradients on its GPU; what it said last tells why.");
        }
    }
}

TEST(GpuSums, AGpuThatComesToNoEndIsGivenUpWhenThePatienceIsOver) {
    FakeNccl& fake = fakeAsNew(FAKE_NCCL);
    // The other one lives and meets, but its GPU adds up something else first.
    const std::string sentence = toldWhile(
        fake, 0,
        [](ThreadWorkers& together, DataParallel&) {
            std::vector<std::int32_t> all(2);
            const std::int32_t underWay = 1;
            while (together.of(1).gather(&underWay, sizeof underWay, all.data())) {
            }
        },
        milliseconds(1500));
    EXPECT_THAT(sentence, ::testing::AnyOf(::testing::StartsWith("The workers' GPUs did not add up gradients within 1 s"),
                                           ::testing::StartsWith("The GPUs of 2 workers did not come to the end of a sum within 1 s")));
}

TEST(GpuSums, AStepThatBrokeIsSettledWithoutTheOthersParts) {
    FakeNccl& fake = fakeAsNew(FAKE_NCCL);
    ThreadWorkers together(2);
    together.run([&](int rank) {
        auto gpu = joined(together, rank);
        ASSERT_TRUE(gpu) << gpu.error().sentence;
        DataParallel others(together.of(rank), 1);
        others.addUpOn(std::move(*gpu));
        if (rank == 1) return;
        const at::Tensor gradient = at::full({4}, 1, at::kFloat);
        others.onFinal({.offset = 0, .count = 4, .parameters = {gradient}, .offsets = {0}});
        const auto begin = std::chrono::steady_clock::now();
        others.settle();
        EXPECT_LT(std::chrono::steady_clock::now() - begin, kPatience / 2);
    });
    EXPECT_EQ(fake.alive.load(), 0);
}

// What each of two workers is told that join with these libraries.
std::vector<std::string> toldAtJoin(const char* first, const char* second, milliseconds patience = kPatience) {
    std::vector<std::string> told(2, "nothing");
    ThreadWorkers together(2);
    together.run([&](int rank) {
        const auto gpu = joined(together, rank, patience, rank == 0 ? first : second);
        if (!gpu) told[static_cast<std::size_t>(rank)] = gpu.error().sentence;
    });
    return told;
}

TEST(GpuSums, WhoCannotJoinSaysWhyAndTheOthersHearIt) {
    fakeAsNew(FAKE_NCCL);
    const std::string missing = "NVIDIA's NCCL, by which several GPUs add up gradients, is not installed; packaging/run installs it beside LibTorch.";
    EXPECT_EQ(toldAtJoin(FAKE_NCCL, "/nowhere/libnccl.so.2"), (std::vector<std::string>{"Worker 1 of 2 says: " + missing, missing}));
    const std::string another = "Worker 1 of 2 has NCCL 2.27.3, and worker 0 has 2.28.9; all need the same one, which packaging/run installs.";
    EXPECT_EQ(toldAtJoin(FAKE_NCCL, FAKE_NCCL_OTHER), (std::vector<std::string>{another, another}));
    fakeAsNew(FAKE_NCCL).keyFails = true;
    EXPECT_EQ(toldAtJoin(FAKE_NCCL, FAKE_NCCL)[1],
              "Worker 0 of 2 says: NCCL finds no network by which GPUs could meet (\"unhandled system error\"); NCCL_SOCKET_IFNAME names one.");
    fakeAsNew(FAKE_NCCL);
    EXPECT_EQ(toldAtJoin(FAKE_NCCL, FAKE_NCCL), (std::vector<std::string>{"nothing", "nothing"}));
}

}  // namespace
}  // namespace stepscope
