// Flips in the middle of a run: each switch takes effect at the next step and loses nothing; what cannot be is refused with the reason, and the
// run goes on as it was. CTest.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <ostream>

#include "TinyTraining.h"
#include "core/events/Event.h"
#include "core/memory/HostAllocator.h"

namespace stepscope {
namespace {

using testing::tinyBatches;
using testing::TinyTrainer;

RunConfig unflippedConfig(std::int64_t steps) {
    return testing::tinyConfig(Registry(testing::plainCpu()), steps);
}

using testing::lossesOf;

// Flipped after 20 of 60 steps, and back again after 40.
struct FlipCase {
    std::string id;
    Value to;
    double tolerance;  // of the losses afterwards against a run in which nothing was flipped; < 0: only that it goes on learning
};
void PrintTo(const FlipCase& flip, std::ostream* out) {
    *out << flip.id << "=" << toString(flip.to);
}

class FlippedInTheMiddleOfARun : public ::testing::TestWithParam<FlipCase> {};

TEST_P(FlippedInTheMiddleOfARun, TakesEffectAtTheNextStepWithAMarkerAndTheLossGoesOn) {
    const FlipCase& flip = GetParam();
    const RunConfig unflipped = unflippedConfig(60);
    const auto expected = lossesOf(unflipped);

    TinyTrainer trainer(unflipped);
    const Value from = unflipped.switches.at(flip.id);
    trainer.sink.onEvent = [&](const Event& event) {
        const auto* done = std::get_if<StepDone>(&event);
        if (done != nullptr && done->step == 20) trainer.commands.push(Flip{flip.id, flip.to});
        if (done != nullptr && done->step == 40) trainer.commands.push(Flip{flip.id, from});
    };
    ASSERT_EQ(trainer.run().state, RunState::Finished);

    const auto markers = trainer.sink.all<SwitchApplied>();
    ASSERT_EQ(markers.size(), 2u) << (trainer.sink.all<SwitchRefused>().empty() ? "" : trainer.sink.all<SwitchRefused>()[0].why);
    EXPECT_EQ(markers[0].step, 20);
    EXPECT_EQ(markers[0].from, from);
    EXPECT_EQ(markers[0].to, flip.to);
    EXPECT_EQ(markers[1].step, 40);
    EXPECT_EQ(markers[1].to, from);

    const auto losses = trainer.sink.losses();
    ASSERT_EQ(losses.size(), 60u);
    for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(losses[i], expected[i]) << "before the flip";
    for (std::size_t i = 20; i < 60; ++i) {
        if (flip.tolerance >= 0) {
            EXPECT_NEAR(losses[i], expected[i], flip.tolerance) << "step " << i + 1;
        }
        EXPECT_LT(losses[i], losses[0]) << "step " << i + 1;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Switch, FlippedInTheMiddleOfARun,
    ::testing::Values(FlipCase{"amp", std::string("bf16"), 0.05}, FlipCase{"fusion", std::string("step"), 2e-4},
                      FlipCase{"fusion", std::string("kernels"), 2e-4}, FlipCase{"fused-embedding", std::string("on"), 2e-4},
                      FlipCase{"fused-norm", std::string("on"), 2e-4}, FlipCase{"fused-activation", std::string("on"), 2e-4},
                      FlipCase{"fused-qkv", std::string("on"), 2e-4}, FlipCase{"fused-attention", std::string("on"), 2e-4},
                      FlipCase{"fused-loss", std::string("on"), 2e-4}, FlipCase{"fused-optimizer", std::string("on"), 2e-4},
                      FlipCase{"attention", std::string("manual"), 2e-4}, FlipCase{"attention", std::string("sdpa-math"), 2e-4},
                      FlipCase{"vocab-padding", std::string("64"), 2e-4}, FlipCase{"vocab-padding", std::string("power-of-two"), 2e-4},
                      FlipCase{"batch-size", std::int64_t{7}, -1}, FlipCase{"context", std::int64_t{5}, -1},
                      FlipCase{"context", std::int64_t{20}, -1}, FlipCase{"grad-accumulation", std::int64_t{3}, -1}, FlipCase{"grad-clip", 0.05, -1},
                      FlipCase{"grad-clip", 0.0, -1}, FlipCase{"host-memory", std::string("system"), 0},
                      FlipCase{"optimizer", std::string("loop"), 2e-4}, FlipCase{"optimizer", std::string("foreach"), 2e-4},
                      FlipCase{"zero-grad", std::string("zero"), 2e-4}, FlipCase{"grad-sums", std::string("bf16"), 0},
                      FlipCase{"zero", std::string("1"), 0}, FlipCase{"matmul-precision", std::string("medium"), 0.05},
                      FlipCase{"validation-every", std::int64_t{5}, 0}, FlipCase{"validation-every", std::string("epoch"), 0},
                      FlipCase{"validation-amp", std::string("on"), 0}, FlipCase{"data-source", std::string("text"), 0},
                      FlipCase{"data-source", std::string("ram"), 0}, FlipCase{"batch-creation", std::string("loop"), 0},
                      FlipCase{"batch-creation", std::string("strided"), 0}, FlipCase{"loader-workers", std::int64_t{3}, 0},
                      FlipCase{"loader-prefetch", std::int64_t{7}, 0}, FlipCase{"amp", std::string("fp16"), 0.05},
                      FlipCase{"checkpointing", std::string("every-block"), 0}, FlipCase{"checkpointing", std::string("every-2nd"), 0},
                      FlipCase{"checkpointing", std::string("every-12th"), 0}, FlipCase{"checkpointing", std::string("selective"), 0},
                      FlipCase{"chunked-loss", std::int64_t{7}, 2e-4}, FlipCase{"optimizer", std::string("8-bit"), 0.05}),
    [](const auto& info) {
        std::string name = info.param.id + "_" + toString(info.param.to);
        std::ranges::replace_if(
            name, [](unsigned char c) { return !std::isalnum(c); }, '_');
        return name;
    });

TEST(Flip, RefusesADeviceThatIsNotThereInTheMiddleOfARunAndGoesOn) {
    TinyTrainer trainer(unflippedConfig(10));
    trainer.commands.push(Flip{"device", std::string("cuda:0")});
    EXPECT_EQ(trainer.run().state, RunState::Finished);
    ASSERT_EQ(trainer.sink.all<SwitchRefused>().size(), 1u);
    EXPECT_NE(trainer.sink.all<SwitchRefused>()[0].why.find("No NVIDIA driver"), std::string::npos);
    EXPECT_EQ(trainer.sink.losses().size(), 10u);
}

TEST(Flip, RefusesATextThatIsNotThereAndUnknownSwitchesWithTheReason) {
    Corpus withoutText = tinyBatches()->corpus();
    withoutText.text = nullptr;
    withoutText.whyNoText = "There is no text here.";
    TinyTrainer trainer(unflippedConfig(5), std::make_shared<BatchSource>(std::move(withoutText)));
    trainer.commands.push(Flip{"data-source", std::string("text")});
    trainer.commands.push(Flip{"warp-drive", std::string("on")});
    trainer.commands.push(Flip{"amp", std::string("fp7")});
    trainer.run();
    const auto refused = trainer.sink.all<SwitchRefused>();
    ASSERT_EQ(refused.size(), 3u);
    EXPECT_EQ(refused[0].why, "There is no text here.");
    EXPECT_NE(refused[1].why.find("warp-drive"), std::string::npos);
    EXPECT_NE(refused[2].why.find("fp7"), std::string::npos);
}

TEST(Flip, RefusesAFlipThatIsPredictedNotToFitAndGoesOn) {
    TinyTrainer trainer(unflippedConfig(10));
    trainer.setup.fits = [](const RunPlan& from, const RunPlan& to) -> Status {
        EXPECT_EQ(from.batchSize, 4);
        if (to.batchSize < 1000) return {};
        return makeError(ErrorCode::OutOfMemory, "That is too much.");
    };
    trainer.commands.push(Flip{"batch-size", std::int64_t{1'000'000}});
    EXPECT_EQ(trainer.run().state, RunState::Finished);
    ASSERT_EQ(trainer.sink.all<SwitchRefused>().size(), 1u);
    EXPECT_EQ(trainer.sink.all<SwitchRefused>()[0].why, "That is too much.");
    EXPECT_EQ(trainer.sink.losses(), lossesOf(unflippedConfig(10)));
}

TEST(Flip, AFlipThatRunsOutOfMemoryIsRefusedAndTheRunGoesOnAsItWas) {
    host_memory::install();
    host_memory::refreshBudget();
    const auto expected = lossesOf(unflippedConfig(10));
    TinyTrainer trainer(unflippedConfig(10));
    const auto weights = static_cast<std::int64_t>(trainer.setup.state.weights.nbytes());
    trainer.sink.onEvent = [&](const Event& event) {
        if (std::holds_alternative<SwitchRefused>(event)) host_memory::refreshBudget();
        const auto* done = std::get_if<StepDone>(&event);
        if (done == nullptr || done->step != 4) return;
        // Enough for the weights in their new shape, not for the moments.
        host_memory::setBudget({host_memory::usage().live.count + 3 * weights / 2});
        trainer.commands.push(Flip{"vocab-padding", std::string("power-of-two")});
    };
    EXPECT_EQ(trainer.run().state, RunState::Finished);
    host_memory::refreshBudget();
    ASSERT_EQ(trainer.sink.all<SwitchRefused>().size(), 1u);
    EXPECT_NE(trainer.sink.all<SwitchRefused>()[0].why.find("more memory"), std::string::npos);
    EXPECT_EQ(trainer.sink.losses(), expected);
}

}  // namespace
}  // namespace stepscope
