// Whole steps whose fused operations take the way of a GPU, with the CUDA forms compiled for the host: every gradient, the losses of a run and the
// update against the plain Program, for every option of the model that changes an operation's arguments. CTest, as OnHost.*.
#include <ATen/TensorOperators.h>
#include <ATen/ops/norm.h>
#include <gtest/gtest.h>

#include <cmath>

#include "OnHost.h"
#include "TinyTraining.h"
#include "core/cuda/loader/CudaPlugin.h"
#include "core/model/ParameterLayout.h"

namespace stepscope {
namespace {

using testing::registry;

struct Model {
    const char* name;
    void (*change)(RunConfig&);
};
void PrintTo(const Model& model, std::ostream* out) {
    *out << model.name;
}
const Model kModels[] = {
    {"gpt2", [](RunConfig&) {}},
    {"WithoutBiases", [](RunConfig& c) { c.bias = "off"; }},
    {"swiglu", [](RunConfig& c) { c.activation = "swiglu"; }},
    {"RmsNorm", [](RunConfig& c) { c.norm = "rmsnorm"; }},
    {"rope", [](RunConfig& c) { c.positions = "rope"; }},
    {"UntiedHead", [](RunConfig& c) { c.tiedHead = "off"; }},
    {"NormAfter", [](RunConfig& c) { c.normPlacement = "post"; }},
    {"SplitQkv", [](RunConfig& c) { c.qkv = "split"; }},
    {"LabelSmoothing", [](RunConfig& c) { c.labelSmoothing = 0.1; }},
    {"PaddedVocabulary", [](RunConfig& c) { c.switches["vocab-padding"] = std::string("64"); }},
    {"OddWidths", [](RunConfig& c) { c.width = 14, c.heads = 2; }},
    {"dropout", [](RunConfig& c) { c.dropout = 0.2; }},
    {"TwoMicroBatches", [](RunConfig& c) { c.switches["grad-accumulation"] = std::int64_t{2}; }},
    {"Checkpointed", [](RunConfig& c) { c.switches["checkpointing"] = std::string("every-block"); }},
};

RunConfig configOf(const Model& model, const std::string& fusion, const std::string& amp) {
    RunConfig config = testing::tinyConfig(registry());
    model.change(config);
    config.switches["fusion"] = fusion;
    config.switches["amp"] = amp;
    config.switches["optimizer"] = std::string(fusion == "off" ? "foreach" : "fused");
    return registry().complete(config).value();
}

struct Training {
    explicit Training(const RunConfig& config)
        : state(TrainState::initialise(registry().modelShape(config, 61), 1)), program(testing::programOver(state, registry(), config)) {}
    double step(double rate) { return program->step(state, *batches, rate).loss; }
    TrainState state;
    std::unique_ptr<StepProgram> program;
    std::shared_ptr<const BatchSource> batches = testing::tinyBatches();
};

// A key's bias moves every score of a row alike, so that its gradient is nothing but rounding: hence the floor.
double apart(const at::Tensor& a, const at::Tensor& b) {
    return ((a - b).norm() / b.norm().clamp_min(1e-4)).item<double>();
}

// Of step 1, read off the first moment: (1 - beta1) * gradient, without clipping.
std::vector<at::Tensor> gradientsOf(RunConfig config) {
    config.switches["grad-clip"] = 0.0;
    Training run(config);
    run.step(1e-3);
    std::vector<at::Tensor> all;
    for (const auto& slot : run.state.layout.slots())
        all.push_back(ParameterLayout::view(run.state.firstMoment, slot).to(at::kDouble) / (1 - config.beta1));
    return all;
}

class CudaForms : public ::testing::TestWithParam<Model> {
protected:
    void SetUp() override { ASSERT_TRUE(cudaPlugin().interface && cudaPlugin().onHost) << "this program is not linked to the forms on the host"; }
};

TEST_P(CudaForms, GiveEveryGradientTensorOfThePlainProgramInFloat32) {
    const auto plain = gradientsOf(configOf(GetParam(), "off", "off")), forms = gradientsOf(configOf(GetParam(), "kernels", "off"));
    ASSERT_EQ(plain.size(), forms.size());
    for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_LT(apart(forms[i], plain[i]), 1e-5) << "tensor " << i;
}

TEST_P(CudaForms, GiveGradientsInBf16NoFartherFromFloat32ThanThePlainProgram) {
    const auto exact = gradientsOf(configOf(GetParam(), "off", "off"));
    const auto plain = gradientsOf(configOf(GetParam(), "off", "bf16")), forms = gradientsOf(configOf(GetParam(), "kernels", "bf16"));
    double all = 0, allPlain = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        EXPECT_LT(apart(forms[i], exact[i]), 4 * apart(plain[i], exact[i]) + 1e-3) << "tensor " << i;  // some have 16 numbers
        all += apart(forms[i], exact[i]);
        allPlain += apart(plain[i], exact[i]);
    }
    EXPECT_LT(all, 1.5 * allPlain);
}

TEST_P(CudaForms, KeepTheLossesOfARunInFloat32) {
    Training plain(configOf(GetParam(), "off", "off")), forms(configOf(GetParam(), "kernels", "off"));
    for (int i = 0; i < 12; ++i) EXPECT_NEAR(forms.step(3e-3), plain.step(3e-3), 2e-5) << i;
    EXPECT_LT(apart(forms.state.weights, plain.state.weights), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Of, CudaForms, ::testing::ValuesIn(kModels), [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace stepscope
