// What clipping and AdamW do to a State, read off its moments and weights after a step: for every implementation that a switch can choose. CTest.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/where.h>
#include <gtest/gtest.h>

#include <cmath>

#include "TinyTraining.h"
#include "core/state/EightBitMoments.h"

namespace stepscope {
namespace {

using testing::registry;

struct Way {
    const char *name, *fusion, *optimizer;
    const char* amp = "off";
    std::int64_t accumulation = 1;
};
void PrintTo(const Way& way, std::ostream* out) {
    *out << way.name;
}
const Way kWays[] = {{"loop", "off", "loop"},
                     {"foreach", "off", "foreach"},
                     {"fused", "off", "fused"},
                     {"EightBit", "off", "8-bit"},
                     {"fp16", "off", "fused", "fp16"},
                     {"TwoMicroBatches", "off", "fused", "off", 2},
                     {"kernels", "kernels", "fused"},
                     {"KernelsInBf16", "kernels", "fused", "bf16"},
                     {"KernelsEightBit", "kernels", "8-bit"},
                     {"step", "step", "fused"},
                     {"StepInBf16", "step", "fused", "bf16"},
                     {"StepLoop", "step", "loop"},
                     {"StepEightBit", "step", "8-bit"}};

class UpdateBy : public ::testing::TestWithParam<Way> {
protected:
    void SetUp() override { at::set_num_threads(1); }

    RunConfig config() const {
        RunConfig config = testing::tinyConfig(registry());
        config.switches["fusion"] = std::string(GetParam().fusion);
        config.switches["optimizer"] = std::string(GetParam().optimizer);
        config.switches["amp"] = std::string(GetParam().amp);
        config.switches["grad-accumulation"] = GetParam().accumulation;
        config.switches["grad-clip"] = 0.0;
        return config;
    }
    bool eightBit() const { return std::string(GetParam().optimizer) == "8-bit"; }

    struct Done {
        StepResult result;
        at::Tensor first, second, moved;  // float64, over the whole layout
    };
    Done firstStep(const RunConfig& wanted) const {
        const RunConfig config = registry().complete(wanted).value();
        TrainState state = TrainState::initialise(registry().modelShape(config, 61), 1);
        const at::Tensor before = state.weights.clone();
        state.lossScale.scale = 1024;
        const auto program = testing::programOver(state, registry(), config);
        Done done{program->step(state, *testing::tinyBatches(), 1e-2), {}, {}, {}};
        EXPECT_EQ(state.updates, 1);
        EXPECT_FALSE(done.result.skipped);
        const FloatMoments moments = floatMoments(state);
        done.first = moments.first.to(at::kDouble);
        done.second = moments.second.to(at::kDouble);
        done.moved = (state.weights - before).to(at::kDouble);
        return done;
    }
};

double norm(const at::Tensor& t) {
    return t.norm().item<double>();
}

// With an epsilon of 1 an update is nearly its gradient, so that its length tells whether that was clipped; AdamW's usual one hides it.
TEST_P(UpdateBy, ClippingShortensTheGradientThatTheUpdateUsesToTheBound) {
    RunConfig config = this->config();
    config.epsilon = 1;
    config.weightDecay = 0;
    const Done whole = firstStep(config);
    const double length = norm(whole.first) / (1 - config.beta1);
    ASSERT_GT(length, 0.2) << "there is something to clip";
    const double rounding = eightBit() ? 0.02 : 1e-4;

    config.switches["grad-clip"] = 0.05;
    const Done clipped = firstStep(config);
    EXPECT_NEAR(clipped.result.gradientNorm, length, rounding * length) << "the norm that is shown is the one before clipping";
    const double factor = 0.05 / (clipped.result.gradientNorm + 1e-6);
    EXPECT_NEAR(norm(clipped.first) / (1 - config.beta1), 0.05, 0.05 * rounding);
    EXPECT_LT(norm(clipped.first - whole.first * factor), rounding * norm(clipped.first)) << "one factor for every element";
    // weight -= rate * m / (1 - beta1) / (sqrt(v / (1 - beta2)) + 1), where the gradients are small beside 1.
    EXPECT_NEAR(norm(clipped.moved) / norm(whole.moved), factor, 0.1 * factor) << "and the weights move by as much less";
    EXPECT_NEAR(norm(clipped.moved), 1e-2 * 0.05, 1e-2 * 0.05 * 0.05);

    config.switches["grad-clip"] = 1000.0;
    const Done loose = firstStep(config);
    EXPECT_LT(norm(loose.first - whole.first), 1e-6 * norm(whole.first)) << "a small gradient is never lengthened";
    EXPECT_NEAR(loose.result.gradientNorm, length, rounding * length);
}

// After the first step v / m^2 = (1 - beta2) / (1 - beta1)^2, whatever the gradient was.
TEST_P(UpdateBy, TheSecondMomentTakesOneMinusBeta2AsDoubleHasIt) {
    for (const double beta2 : {0.95, 0.99, 0.999, 0.9999, 0.99999, 0.999999}) {
        RunConfig config = this->config();
        config.beta2 = beta2;
        const Done done = firstStep(config);
        const at::Tensor gradient = done.first / (1 - config.beta1);
        at::Tensor expected = (1 - beta2) * gradient * gradient;
        if (eightBit()) {
            // A block's greatest value is its scale, and exact: compare the scales.
            EXPECT_NEAR(done.second.max().item<double>(), expected.max().item<double>(), 1e-5 * expected.max().item<double>()) << beta2;
            continue;
        }
        const at::Tensor large = gradient.abs() > 1e-6;  // float32 holds the squares of the others badly
        ASSERT_GT(large.sum().item<std::int64_t>(), 1000);
        const at::Tensor off = at::where(large, (done.second / expected - 1).abs(), 0.0);
        EXPECT_LT(off.max().item<double>(), 1e-5) << beta2;
    }
}

INSTANTIATE_TEST_SUITE_P(Each, UpdateBy, ::testing::ValuesIn(kWays), [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace stepscope
