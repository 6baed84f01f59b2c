// Steps that several workers make together: two workers are one with two micro-batches, bit for bit under autograd; losses, tokens and validation are
// everybody's; what one cannot go on with ends the step of all and leaves the State as it was. Workers are threads here. CTest.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>

#include "PhaseDiary.h"
#include "ThreadWorkers.h"
#include "TinyTraining.h"
#include "core/kernels/isa/Bf16.h"
#include "core/program/DataParallel.h"
#include "core/program/PlannedProgram.h"

namespace stepscope {
namespace {

using testing::ThreadWorkers;

const Registry& registryHere() {
    static const Registry one(testing::plainCpu());
    return one;
}

RunConfig configWith(const std::vector<std::pair<std::string, Value>>& switches) {
    RunConfig config = testing::tinyConfig(registryHere());
    config.dropout = 0.1;
    config.switches["grad-clip"] = 0.5;
    for (const auto& [id, value] : switches) config.switches[id] = value;
    return registryHere().complete(config).value();
}

struct Trained {
    std::vector<double> losses, norms;
    double validation = 0;
    StepResult last;
    TrainState state;
};

// One worker of a run, or the only one.
Trained train(const RunConfig& config, std::int64_t steps, DataParallel* others) {
    at::set_num_threads(1);
    const auto batches = testing::tinyBatches();
    Trained trained;
    trained.state = TrainState::initialise(registryHere().modelShape(config, 61), 1);
    const auto program = testing::programOver(trained.state, registryHere(), config);
    if (others != nullptr) program->shareWith(others);
    for (std::int64_t step = 0; step < steps; ++step) {
        trained.last = program->step(trained.state, *batches, 3e-3);
        trained.losses.push_back(trained.last.loss);
        trained.norms.push_back(trained.last.gradientNorm);
        if (trained.last.breakdown != Breakdown::None) break;
    }
    trained.validation = program->evaluate(trained.state, *batches, 10 * 12 + 5);
    return trained;
}

std::vector<Trained> trainTogether(int workers, const RunConfig& config, std::int64_t steps, std::int64_t bucketBytes = kGradientBucket) {
    std::vector<Trained> trained(static_cast<std::size_t>(workers));
    ThreadWorkers together(workers);
    together.run([&](int rank) {
        try {
            DataParallel others(together.of(rank), bucketBytes);
            trained[static_cast<std::size_t>(rank)] = train(config, steps, &others);
        } catch (const std::exception& thrown) {
            ADD_FAILURE() << thrown.what();
            together.leave();
        }
    });
    return trained;
}

void expectSameBits(const Trained& a, const Trained& b) {
    EXPECT_EQ(a.losses, b.losses);
    EXPECT_EQ(a.norms, b.norms);
    EXPECT_EQ(a.state.cursor, b.state.cursor);
    EXPECT_TRUE(at::equal(a.state.weights, b.state.weights));
    EXPECT_TRUE(at::equal(a.state.firstMoment, b.state.firstMoment));
    EXPECT_TRUE(at::equal(a.state.secondMoment, b.state.secondMoment));
}

constexpr std::int64_t kSteps = 50;

TEST(DataParallel, TwoWorkersAreOneWithTwoMicroBatchesBitForBitUnderAutograd) {
    for (const char* fusion : {"off", "kernels"}) {
        const auto together = trainTogether(2, configWith({{"fusion", std::string(fusion)}}), kSteps);
        const Trained alone = train(configWith({{"fusion", std::string(fusion)}, {"grad-accumulation", std::int64_t{2}}}), kSteps, nullptr);
        expectSameBits(together[0], alone);
        expectSameBits(together[1], alone);
        EXPECT_EQ(together[0].last.tokens, 2 * 4 * 12);
        EXPECT_LT(alone.losses.back(), alone.losses.front() - 0.1) << "it learns";
    }
}

// A planned step adds each product of a further micro-batch to the gradient at once, so sums are taken in another order than between workers.
TEST(DataParallel, TwoWorkersAreOneWithTwoMicroBatchesButForRoundingInAPlannedStep) {
    const auto together = trainTogether(2, configWith({{"fusion", std::string("step")}}), kSteps);
    const Trained alone = train(configWith({{"fusion", std::string("step")}, {"grad-accumulation", std::int64_t{2}}}), kSteps, nullptr);
    expectSameBits(together[0], together[1]);
    EXPECT_EQ(together[0].losses[0], alone.losses[0]);
    for (std::size_t step = 1; step < alone.losses.size(); ++step) EXPECT_NEAR(together[0].losses[step] / alone.losses[step], 1, 1e-4) << step;
    EXPECT_EQ(together[0].state.cursor, alone.state.cursor);
}

TEST(DataParallel, TwoWorkersAreOneWithABatchTwiceAsLargeButForRounding) {
    for (const char* fusion : {"off", "kernels", "step"}) {
        const auto together = trainTogether(2, configWith({{"fusion", std::string(fusion)}}), kSteps);
        const Trained alone = train(configWith({{"fusion", std::string(fusion)}, {"batch-size", std::int64_t{8}}}), kSteps, nullptr);
        EXPECT_NEAR(together[0].losses[0] / alone.losses[0], 1, 1e-6) << fusion;
        EXPECT_NEAR(together[0].losses.back() / alone.losses.back(), 1, 1e-4) << fusion;
    }
}

TEST(DataParallel, TheSameAgainGivesTheSameBitsWhateverIsAddedUpAtATime) {
    for (const char* fusion : {"off", "kernels", "step"}) {
        const RunConfig config = configWith({{"fusion", std::string(fusion)}, {"grad-accumulation", std::int64_t{2}}});
        const auto first = trainTogether(3, config, 5);
        for (const std::int64_t bucketBytes : {std::int64_t{1}, std::int64_t{5000}, kGradientBucket}) {
            const auto again = trainTogether(3, config, 5, bucketBytes);
            for (const Trained& worker : again) expectSameBits(worker, first[0]);
        }
    }
}

// Each worker's part is rounded once, and so is each sum of two: as many roundings by at most 2^-8 as there are workers.
TEST(DataParallel, ASumInBf16IsWithinItsBoundAndTheSameWithEveryWorker) {
    constexpr std::int64_t kCount = 1003;
    const auto part = [](int rank, std::int64_t i) { return std::sin(0.37f * static_cast<float>((i + 1) * (rank + 1))); };
    for (const int workers : {2, 3, 5}) {
        std::vector<at::Tensor> sums;
        for (int rank = 0; rank < workers; ++rank) {
            sums.push_back(at::empty({kCount}, at::kFloat));
            for (std::int64_t i = 0; i < kCount; ++i) sums.back().data_ptr<float>()[i] = part(rank, i);
        }
        ThreadWorkers together(workers);
        together.run([&](int rank) {
            DataParallel others(together.of(rank));
            others.addUpIn(SumPrecision::Bf16);
            others.onFinal({.offset = 0, .count = kCount, .parameters = {sums[static_cast<std::size_t>(rank)]}, .offsets = {0}});
            others.reduce();
        });
        const double most = std::pow(1.0 + 1.0 / 256, workers) - 1;
        for (std::int64_t i = 0; i < kCount; ++i) {
            double exact = 0, sizes = 0;
            for (int rank = 0; rank < workers; ++rank) {
                exact += static_cast<double>(part(rank, i));
                sizes += static_cast<double>(std::abs(part(rank, i)));
            }
            const float sum = sums[0].data_ptr<float>()[i];
            EXPECT_LE(std::abs(static_cast<double>(sum) - exact), most * sizes) << i << " of " << workers << " workers";
            EXPECT_EQ(toFloat(toBf16(sum)), sum) << "rounded to bf16";
        }
        for (const at::Tensor& sum : sums) EXPECT_TRUE(at::equal(sum, sums[0]));
    }
}

TEST(DataParallel, SumsInBf16TrainAsThoseInFloat32ButForRoundingInEveryProgram) {
    for (const char* fusion : {"off", "kernels", "step"}) {
        const RunConfig config = configWith({{"fusion", std::string(fusion)}, {"grad-sums", std::string("bf16")}});
        const auto rounded = trainTogether(2, config, 20), whole = trainTogether(2, configWith({{"fusion", std::string(fusion)}}), 20);
        expectSameBits(rounded[0], rounded[1]);
        EXPECT_EQ(rounded[0].losses[0], whole[0].losses[0]) << "of weights that nothing was added to yet";
        EXPECT_NE(rounded[0].norms[0], whole[0].norms[0]) << fusion;
        EXPECT_NEAR(rounded[0].norms[0] / whole[0].norms[0], 1, 0.01) << fusion;
        for (std::size_t step = 1; step < 20; ++step) EXPECT_NEAR(rounded[0].losses[step] / whole[0].losses[step], 1, 0.02) << fusion << " " << step;
        const auto inParts = trainTogether(2, config, 20, 5000);
        expectSameBits(inParts[0], rounded[0]);
        // One worker rounds nothing.
        expectSameBits(train(config, 3, nullptr), train(configWith({{"fusion", std::string(fusion)}}), 3, nullptr));
    }
}

TEST(DataParallel, EveryMomentAndModelGoesTogether) {
    for (const auto& [id, value] : {std::pair<std::string, std::string>{"optimizer", "8-bit"},
                                    {"optimizer", "loop"},
                                    {"zero-grad", "zero"},
                                    {"checkpointing", "every-block"},
                                    {"amp", "bf16"}}) {
        if (!registryHere().flipped(configWith({}), id, value)) {
            ADD_FAILURE() << id << "=" << value;
            continue;
        }
        const auto together = trainTogether(2, configWith({{id, value}}), 4);
        const Trained alone = train(configWith({{id, value}, {"grad-accumulation", std::int64_t{2}}}), 4, nullptr);
        EXPECT_EQ(together[0].losses, alone.losses) << id << "=" << value;
        EXPECT_TRUE(at::equal(together[1].state.weights, alone.state.weights)) << id << "=" << value;
    }
}

TEST(DataParallel, BatchesThatLoadersCutAheadAreTheSame) {
    const auto plain = trainTogether(2, configWith({{"grad-accumulation", std::int64_t{3}}}), 4);
    const auto ahead = trainTogether(
        2, configWith({{"grad-accumulation", std::int64_t{3}}, {"loader-workers", std::int64_t{2}}, {"loader-prefetch", std::int64_t{3}}}), 4);
    expectSameBits(ahead[0], plain[0]);
}

TEST(DataParallel, ValidationIsSharedAndItsLossIsTheWholeOnes) {
    for (const char* fusion : {"off", "step"}) {
        // 11 sequences in batches of 4: the last worker has a batch that is not whole, of five workers some have none.
        for (const int workers : {2, 3, 5}) {
            const auto together = trainTogether(workers, configWith({{"fusion", std::string(fusion)}}), 0);
            const Trained alone = train(configWith({{"fusion", std::string(fusion)}}), 0, nullptr);
            for (const Trained& worker : together) EXPECT_NEAR(worker.validation, alone.validation, 1e-6) << fusion << " " << workers;
            for (const Trained& worker : together) EXPECT_EQ(worker.validation, together[0].validation);
        }
    }
}

TEST(DataParallel, ALossThatIsNoNumberWithOneIsNoneWithAll) {
    ThreadWorkers together(2);
    std::vector<Breakdown> found(2);
    together.run([&](int rank) {
        at::set_num_threads(1);
        const RunConfig config = configWith({});
        DataParallel others(together.of(rank));
        TrainState state = TrainState::initialise(registryHere().modelShape(config, 61), 1);
        if (rank == 1) state.weights.fill_(std::numeric_limits<double>::quiet_NaN());
        const at::Tensor before = state.weights.clone();
        const auto program = testing::programOver(state, registryHere(), config);
        program->shareWith(&others);
        found[static_cast<std::size_t>(rank)] = program->step(state, *testing::tinyBatches(), 3e-3).breakdown;
        if (rank == 0) {
            EXPECT_TRUE(at::equal(state.weights, before));
        }
        EXPECT_EQ(state.updates, 0);
    });
    EXPECT_EQ(found, (std::vector{Breakdown::Loss, Breakdown::Loss}));
}

TEST(DataParallel, AWorkerThatIsGoneEndsTheStepOfTheOtherAndLeavesTheState) {
    ThreadWorkers together(2);
    together.run([&](int rank) {
        if (rank == 1) return together.leave();
        at::set_num_threads(1);
        const RunConfig config = configWith({});
        DataParallel others(together.of(rank), 1);
        TrainState state = TrainState::initialise(registryHere().modelShape(config, 61), 1);
        const at::Tensor before = state.weights.clone();
        const auto program = testing::programOver(state, registryHere(), config);
        program->shareWith(&others);
        for (int again = 0; again < 2; ++again) {
            try {
                program->step(state, *testing::tinyBatches(), 3e-3);
                ADD_FAILURE() << "a step without the other";
            } catch (const WorkersApart& apart) {
                EXPECT_EQ(apart.error().sentence, "Another worker has left.");
            }
        }
        EXPECT_TRUE(at::equal(state.weights, before));
        EXPECT_EQ(state.cursor, 0);
    });
}

// Notes where it is asked to add up.
struct Noting final : Collectives {
    const WorkerPlace& place() const override { return where; }
    Status sum(float* values, std::int64_t count) override {
        sums.emplace_back(values, count);
        return {};
    }
    Status sumBf16(std::uint16_t*, std::int64_t) override {
        ADD_FAILURE() << "sums are to be float32";
        return {};
    }
    Status gather(const void* own, std::int64_t bytes, void* all) override {
        for (int rank = 0; rank < where.size; ++rank) std::memcpy(static_cast<char*>(all) + rank * bytes, own, static_cast<std::size_t>(bytes));
        return {};
    }
    WorkerPlace where{.rank = 1, .size = 2};
    std::vector<std::pair<float*, std::int64_t>> sums;
};

TEST(DataParallel, APlannedStepsGradientsAreAddedUpWhereTheyLie) {
    at::set_num_threads(1);
    for (const std::int64_t bucketBytes : {std::int64_t{1}, std::int64_t{5000}, kGradientBucket}) {
        const RunConfig config = configWith({{"fusion", std::string("step")}});
        TrainState state = TrainState::initialise(registryHere().modelShape(config, 61), 1);
        const auto program = testing::programOver(state, registryHere(), config);
        Noting noting;
        DataParallel others(noting, bucketBytes);
        program->shareWith(&others);
        program->step(state, *testing::tinyBatches(), 3e-3);
        const at::Tensor gradients = dynamic_cast<const PlannedProgram&>(*program).gradients();
        std::vector<int> times(static_cast<std::size_t>(gradients.numel()));
        for (const auto& [values, count] : noting.sums) {
            ASSERT_GE(values, gradients.data_ptr<float>());
            ASSERT_LE(values + count, gradients.data_ptr<float>() + gradients.numel());
            for (std::int64_t i = 0; i < count; ++i) ++times[static_cast<std::size_t>(values - gradients.data_ptr<float>() + i)];
        }
        EXPECT_EQ(std::ranges::count(times, 1), gradients.numel());
    }
}

// The others come late, to every sum and to every exchange.
struct LateOthers final : Collectives {
    static constexpr std::chrono::milliseconds kBy{20};
    const WorkerPlace& place() const override { return others.place(); }
    Status sum(float* values, std::int64_t count) override {
        std::this_thread::sleep_for(kBy);
        return others.sum(values, count);
    }
    Status sumBf16(std::uint16_t*, std::int64_t) override {
        ADD_FAILURE() << "sums are to be float32";
        return {};
    }
    Status gather(const void* own, std::int64_t bytes, void* all) override {
        std::this_thread::sleep_for(kBy);
        return others.gather(own, bytes, all);
    }
    Noting others;
};

TEST(DataParallel, WaitingForTheOthersIsAPhaseOfItsOwn) {
    at::set_num_threads(1);
    constexpr auto kWaiting = static_cast<std::size_t>(Phase::Waiting);
    for (const char* fusion : {"off", "kernels", "step"}) {
        const RunConfig config = configWith({{"fusion", std::string(fusion)}});
        EXPECT_EQ(train(config, 1, nullptr).last.phaseNs[kWaiting], 0) << fusion << ": alone";
        TrainState state = TrainState::initialise(registryHere().modelShape(config, 61), 1);
        const auto program = testing::programOver(state, registryHere(), config);
        LateOthers late;
        DataParallel others(late);
        program->shareWith(&others);
        const auto diary = std::make_shared<testing::PhaseDiary>();
        const Listening<StepObserver> listening(stepObservers, diary);
        const StepResult result = program->step(state, *testing::tinyBatches(), 3e-3);
        EXPECT_EQ(diary->problems, std::vector<std::string>{}) << fusion;
        EXPECT_EQ(diary->phases,
                  (std::vector<std::string>{"optimizer", "batch", "forward", "backward", "waiting", "clip", "waiting", "clip", "optimizer"}))
            << fusion;
        EXPECT_GE(result.phaseNs[kWaiting], std::chrono::nanoseconds(LateOthers::kBy).count()) << fusion << ": for the losses at least";
        EXPECT_GE(result.phaseNs[kWaiting], others.waited().count()) << fusion;
    }
}

// What is done together, as captures hear of it.
struct HeardTogether final : StepObserver {
    void spanEnds(const SpanFacts& span) noexcept override {
        if (span.place.role != Role::Communication) return;
        const std::lock_guard lock(mutex);
        all.push_back(span);
    }
    std::mutex mutex;
    std::vector<SpanFacts> all;
};

TEST(DataParallel, EverySumAndEveryExchangeIsASpanWithItsBytes) {
    at::set_num_threads(1);
    for (const char* fusion : {"off", "step"}) {
        const RunConfig config = configWith({{"fusion", std::string(fusion)}});
        TrainState state = TrainState::initialise(registryHere().modelShape(config, 61), 1);
        const auto program = testing::programOver(state, registryHere(), config);
        Noting noting;
        DataParallel others(noting, 5000);
        program->shareWith(&others);
        const auto heard = std::make_shared<HeardTogether>();
        {
            const Listening<StepObserver> listening(stepObservers, heard);
            program->step(state, *testing::tinyBatches(), 3e-3);
        }
        std::vector<std::int64_t> sums, expected;
        for (const SpanFacts& span : heard->all) {
            if (std::string(span.name) == "all-reduce") sums.push_back(span.work.bytes);
        }
        for (const auto& [values, count] : noting.sums) expected.push_back(count * static_cast<std::int64_t>(sizeof(float)));
        EXPECT_GT(sums.size(), 1u) << fusion;
        EXPECT_EQ(sums, expected) << fusion << ": in the order in which they are added up";
        ASSERT_EQ(heard->all.size(), sums.size() + 1) << fusion;
        EXPECT_STREQ(heard->all.back().name, "all-gather") << fusion << ": of the losses";
        EXPECT_EQ(heard->all.back().place.activity, Activity::Waiting) << fusion;
        EXPECT_EQ(heard->all.back().work.bytes, 9 * static_cast<std::int64_t>(sizeof(double)))
            << fusion << ": its own loss, whether it wants to meet and what it holds, and those of two";
    }
}

TEST(DataParallel, WhatWasHandedOnIsAddedUpBeforeAProgramMayBeLetGoOf) {
    ThreadWorkers together(2);
    together.run([&](int rank) {
        DataParallel others(together.of(rank), 1);
        const at::Tensor gradient = at::full({4}, rank + 1, at::kFloat);
        others.onFinal({.offset = 0, .count = 4, .parameters = {gradient}, .offsets = {0}});
        others.settle();
        EXPECT_TRUE(at::equal(gradient, at::full({4}, 3, at::kFloat)));
    });
}

TEST(DataParallel, WhatOneWantsHoldsForAllAndTheStrongestWish) {
    ThreadWorkers together(3);
    together.run([&](int rank) {
        DataParallel others(together.of(rank));
        EXPECT_EQ(others.agree(Wish::GoOn), Wish::GoOn);
        EXPECT_EQ(others.agree(rank == 1 ? Wish::Wait : Wish::GoOn), Wish::Wait);
        EXPECT_EQ(others.agree(rank == 0 ? Wish::Change : Wish::Wait), Wish::Change);
        EXPECT_EQ(others.ofFirst(rank == 0 ? "what the first says" : "not this, however long it may be"), "what the first says");
        EXPECT_EQ(others.ofFirst(rank == 0 ? "" : "nor this"), "");
        EXPECT_EQ(others.agree(rank == 0 ? Wish::Wait : rank == 2 ? Wish::Stop : Wish::GoOn), Wish::Stop);
        EXPECT_EQ(others.agree(rank == 0 ? Wish::Change : Wish::Stop), Wish::Change) << "what is to be kept is kept before they stop";
        EXPECT_TRUE(others.agree(Status()));
        const Status agreed = others.agree(rank == 2 ? Status(makeError(ErrorCode::OutOfMemory, "There is no room.")) : Status());
        EXPECT_EQ(agreed.error().sentence, rank == 2 ? "There is no room." : "worker 2 of 3 cannot do it; each of them must.");
    });
}

// Numbers that are no wishes, as another version or a stranger may say them.
TEST(DataParallel, WhatIsNoWishEndsItAndNamesWhoSaidIt) {
    for (const double said : {4.0, -1.0, 0.5, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
        ThreadWorkers together(2);
        together.run([&](int rank) {
            std::array<double, 2> all{};
            if (rank == 1) return (void)together.of(1).gather(&said, sizeof said, all.data());
            DataParallel others(together.of(0));
            try {
                others.agree(Wish::GoOn);
                ADD_FAILURE() << said;
            } catch (const WorkersApart& apart) {
                EXPECT_EQ(apart.error().sentence, "What came from worker 1 is nothing that Stepscope says; start all workers with the same program.");
            }
        });
    }
}

}  // namespace
}  // namespace stepscope
