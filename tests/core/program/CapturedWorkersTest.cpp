// Captured steps that several workers make together, without a GPU: graphs are played, workers are threads. Gradients and loss are added up between
// the replay of the passes and that of the update: losses and weights are those of eager steps; where one cannot capture, none does; and a loss that
// is no number with one worker keeps all of them from their update.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "PhaseDiary.h"
#include "PlayedCapture.h"
#include "ThreadWorkers.h"
#include "TinyTraining.h"
#include "core/program/DataParallel.h"
#include "core/program/GraphProgram.h"

namespace stepscope {
namespace {

constexpr int kStepsBeforeCapture = 3;
constexpr double kCapturedRate = 1e-2;

struct CannotCapture final : StepCapture {
    c10::Stream stream(at::Device device) const override { return c10::Stream(c10::Stream::DEFAULT, device); }
    std::unique_ptr<CapturedGraph> capture(at::Device, const CapturedGraph*, const std::function<void()>&) const override {
        throw std::runtime_error("the device is busy\nand where that was found");
    }
};

struct CapturedWorker {
    std::vector<double> losses, norms;
    double validation = 0;
    std::string preparation;
    std::shared_ptr<testing::Played> played = std::make_shared<testing::Played>();
    TrainState state = testing::freshState();
};

// As threads, each over a State of its own; make: a worker's Program.
template <class Make>
std::vector<CapturedWorker> stepTogether(int workers, int steps, const Make& make) {
    std::vector<CapturedWorker> all(static_cast<std::size_t>(workers));
    const auto batches = testing::tinyBatches();
    testing::ThreadWorkers together(workers);
    together.run([&](int rank) {
        try {
            at::set_num_threads(1);
            CapturedWorker& own = all[static_cast<std::size_t>(rank)];
            DataParallel others(together.of(rank), 5000);
            const std::unique_ptr<StepProgram> program = make(rank, own.played);
            program->shareWith(&others);
            for (int step = 0; step < steps; ++step) {
                const StepResult result = program->step(own.state, *batches, kCapturedRate);
                own.losses.push_back(static_cast<float>(result.loss));
                own.norms.push_back(result.gradientNorm);
            }
            own.validation = program->evaluate(own.state, *batches, 64);
            own.preparation = program->report().preparation;
            program->shareWith(nullptr);
        } catch (const std::exception& thrown) {
            ADD_FAILURE() << thrown.what();
            together.leave();
        }
    });
    return all;
}

struct CapturedKind {
    const char* name;
    std::int64_t accumulation;
    SumPrecision sums;
};
class CapturedTogether : public ::testing::TestWithParam<CapturedKind> {};

TEST_P(CapturedTogether, WorkersMakeTheStepsOfEagerOnes) {
    const auto [name, accumulation, sums] = GetParam();
    const auto parts = [accumulation = accumulation, sums = sums](const std::shared_ptr<testing::Played>& played) {
        ProgramParts made = testing::playedParts(accumulation, false, played);
        made.sums = sums;
        return made;
    };
    const auto captured = stepTogether(2, 8, [&](int, const std::shared_ptr<testing::Played>& played) {
        return std::make_unique<GraphProgram>(parts(played), std::make_unique<const testing::PlayedCapture>(played));
    });
    const auto eager =
        stepTogether(2, 8, [&](int, const std::shared_ptr<testing::Played>& played) { return std::make_unique<EagerProgram>(parts(played)); });
    for (std::size_t rank = 0; rank < 2; ++rank) {
        EXPECT_EQ(captured[rank].played->replays, (8 - kStepsBeforeCapture) * (accumulation + 1));
        EXPECT_TRUE(captured[rank].preparation.starts_with("CUDA graphs: ")) << captured[rank].preparation;
        for (std::size_t step = 0; step < 8; ++step) {
            // Means of more than two are added up in another order.
            EXPECT_NEAR(captured[rank].losses[step], eager[rank].losses[step], accumulation == 1 ? 0.0 : 1e-6) << step;
            EXPECT_EQ(captured[rank].losses[step], captured[0].losses[step]);
            EXPECT_EQ(captured[rank].norms[step], eager[rank].norms[step]) << step;
        }
        EXPECT_EQ(captured[rank].validation, eager[rank].validation);
        for (const auto part : {&TrainState::weights, &TrainState::firstMoment, &TrainState::secondMoment}) {
            EXPECT_TRUE(at::equal(captured[rank].state.*part, eager[rank].state.*part));
            EXPECT_TRUE(at::equal(captured[rank].state.*part, captured[0].state.*part));
        }
        EXPECT_EQ(captured[rank].state.cursor, 8 * 2 * accumulation * 4);
    }
    EXPECT_NE(
        captured[0].losses,
        stepTogether(1, 8, [&](int, const std::shared_ptr<testing::Played>& played) { return std::make_unique<EagerProgram>(parts(played)); })[0]
            .losses)
        << "the other's sequences count";
}

INSTANTIATE_TEST_SUITE_P(With, CapturedTogether,
                         ::testing::Values(CapturedKind{"OneMicroBatch", 1, SumPrecision::Float32},
                                           CapturedKind{"TwoMicroBatches", 2, SumPrecision::Float32},
                                           CapturedKind{"SumsInBf16", 1, SumPrecision::Bf16}),
                         [](const auto& info) { return info.param.name; });

TEST(CapturedWorkers, WhereOneOfThemCannotCaptureAllGoOnEagerlyAndSayWhy) {
    const auto together = stepTogether(2, 6, [](int rank, const std::shared_ptr<testing::Played>& played) {
        std::unique_ptr<const StepCapture> graphs = std::make_unique<const testing::PlayedCapture>(played);
        if (rank == 1) graphs = std::make_unique<const CannotCapture>();
        return std::make_unique<GraphProgram>(testing::playedParts(1, false, played), std::move(graphs));
    });
    EXPECT_EQ(together[0].played->replays, 0);
    EXPECT_EQ(together[0].played->alive, 0) << "what it had captured is gone";
    EXPECT_EQ(together[0].preparation,
              "The step could not be captured into a CUDA graph, so it runs eagerly: worker 1 of 2 cannot do it; each of them must.");
    EXPECT_EQ(together[1].preparation, "The step could not be captured into a CUDA graph, so it runs eagerly: the device is busy.");
    EXPECT_TRUE(at::equal(together[0].state.weights, together[1].state.weights));
}

TEST(CapturedWorkers, ALossThatIsNoNumberWithOneOfThemKeepsAllFromTheirUpdate) {
    const auto batches = testing::tinyBatches();
    testing::ThreadWorkers together(2);
    together.run([&](int rank) {
        try {
            at::set_num_threads(1);
            const auto played = std::make_shared<testing::Played>();
            ProgramParts parts = testing::playedParts(1, false, played);
            // Gradients whose norm is a number, whatever the loss is.
            int updates = 0;
            parts.captured.norm = [](const std::vector<ParameterGroup>&, const at::Tensor& into) { into.fill_(1.0); };
            parts.captured.update = [&updates, played](ParameterGroup&, const at::Tensor&, const at::Tensor& norm, double) {
                if (!played->capturing && std::isfinite(norm.item<double>())) ++updates;
            };
            TrainState state = testing::freshState();
            DataParallel others(together.of(rank));
            GraphProgram program(parts, std::make_unique<const testing::PlayedCapture>(played));
            program.shareWith(&others);
            for (int step = 0; step < kStepsBeforeCapture + 1; ++step) program.step(state, *batches, kCapturedRate);
            EXPECT_EQ(updates, 2) << "one of each group";
            if (rank == 1) {
                state.bumpRevision();
                state.weights.fill_(std::numeric_limits<double>::quiet_NaN());
            }
            EXPECT_EQ(program.step(state, *batches, kCapturedRate).breakdown, Breakdown::Loss);
            EXPECT_EQ(updates, 2) << "worker " << rank;
            program.shareWith(nullptr);
        } catch (const std::exception& thrown) {
            ADD_FAILURE() << thrown.what();
            together.leave();
        }
    });
}

TEST(CapturedWorkers, WaitingForTheOthersIsAPhaseOfACapturedStepToo) {
    const auto batches = testing::tinyBatches();
    testing::ThreadWorkers together(1);
    const auto played = std::make_shared<testing::Played>();
    TrainState state = testing::freshState();
    DataParallel others(together.of(0));
    GraphProgram program(testing::playedParts(1, false, played), std::make_unique<const testing::PlayedCapture>(played));
    program.shareWith(&others);
    for (int step = 0; step < kStepsBeforeCapture + 1; ++step) program.step(state, *batches, kCapturedRate);
    const auto diary = std::make_shared<testing::PhaseDiary>();
    const Listening<StepObserver> listening(stepObservers, diary);
    program.step(state, *batches, kCapturedRate);
    EXPECT_EQ(diary->problems, std::vector<std::string>{});
    EXPECT_EQ(diary->phases, (std::vector<std::string>{"optimizer", "batch", "backward", "waiting", "optimizer", "waiting", "clip"}));
}

}  // namespace
}  // namespace stepscope
