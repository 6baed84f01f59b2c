// What amp=bf16 really lowers: the types of all that goes into LibTorch's operations and comes out of them during one step, heard with
// RecordFunction. Products, attention and GELU in 16 bits; norms, the loss, AdamW and its gradients in float32. On the CPU. CTest.
#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>

#include "TinyTraining.h"

namespace stepscope {
namespace {

using Types = std::set<at::ScalarType>;

// By the operation's name. Backward may run on threads of LibTorch's own, which take over this thread's observers.
struct Heard {
    std::mutex mutex;
    std::map<std::string, Types> inputs, outputs;
};
Heard* heard = nullptr;

void collect(const at::Tensor& tensor, Types& types) {
    if (tensor.defined() && tensor.is_floating_point()) types.insert(tensor.scalar_type());
}

void collect(std::span<const c10::IValue> values, Types& types) {
    for (const auto& value : values) {
        if (value.isTensor()) collect(value.toTensor(), types);
        if (!value.isTensorList()) continue;
        for (const at::Tensor& tensor : value.toTensorVector()) collect(tensor, types);
    }
}

std::unique_ptr<at::ObserverContext> begun(const at::RecordFunction& operation) {
    const std::lock_guard lock(heard->mutex);
    collect(operation.inputs(), heard->inputs[operation.name()]);
    return nullptr;
}

void ended(const at::RecordFunction& operation, at::ObserverContext*) {
    const std::lock_guard lock(heard->mutex);
    collect(operation.outputs(), heard->outputs[operation.name()]);
}

class MixedPrecision : public ::testing::Test {
protected:
    // One step with amp=bf16, and what was heard of it.
    void step(
        const std::string& attention, const std::function<void(RunConfig&)>& change = [](RunConfig&) {}) {
        at::set_num_threads(1);
        const Registry registry(testing::plainCpu());
        RunConfig config = testing::tinyConfig(registry);
        config.switches["amp"] = std::string("bf16");
        config.switches["attention"] = attention;
        change(config);
        state = TrainState::initialise(registry.modelShape(config, 61), 1);
        const auto program = testing::programOver(state, registry, config);
        heard = &all;
        const auto callback = at::addThreadLocalCallback(
            at::RecordFunctionCallback(begun, ended).needsInputs(true).needsOutputs(true).scopes({at::RecordScope::FUNCTION}));
        program->step(state, *testing::tinyBatches(), 1e-3);
        at::removeCallback(callback);
        heard = nullptr;
    }
    // An operation that never ran has no types at all, and fails too. What autocast wraps is heard twice, before its inputs are cast and after: so
    // the operations named here are those inside.
    void expectAll(const std::set<std::string>& operations, at::ScalarType type) {
        for (const auto& name : operations) {
            EXPECT_EQ(all.inputs[name], Types{type}) << name;
            EXPECT_EQ(all.outputs[name], Types{type}) << name;
        }
    }

    TrainState state;
    Heard all;
};

TEST_F(MixedPrecision, RunsProductsAttentionAndGeluInBf16) {
    step("sdpa-flash");
    expectAll({"aten::addmm", "aten::mm", "aten::gelu", "aten::gelu_backward"}, at::kBFloat16);
    EXPECT_EQ(all.inputs["aten::_scaled_dot_product_flash_attention_for_cpu"], Types{at::kBFloat16});
    EXPECT_EQ(all.outputs["aten::_scaled_dot_product_flash_attention_for_cpu"], (Types{at::kBFloat16, at::kFloat}))
        << "the sums of its softmax are float32";
}

TEST_F(MixedPrecision, KeepsNormsAndTheLossInFloat32ForwardsAndBackwards) {
    step("auto");
    expectAll({"aten::native_layer_norm", "aten::native_layer_norm_backward", "aten::_log_softmax", "aten::_log_softmax_backward_data",
               "aten::nll_loss_forward", "aten::nll_loss_backward"},
              at::kFloat);
}

TEST_F(MixedPrecision, KeepsWeightsGradientsAndMomentsInFloat32) {
    step("auto");
    EXPECT_EQ(all.inputs["aten::_fused_adamw_"], Types{at::kFloat}) << "weights, gradients and both moments go in";
    for (const at::Tensor* kept : {&state.weights, &state.firstMoment, &state.secondMoment}) EXPECT_EQ(kept->scalar_type(), at::kFloat);
}

struct NoWarnings final : c10::WarningHandler {
    void process(const c10::Warning& warning) override { ADD_FAILURE() << warning.msg(); }
};

// There the norm's output is the stream itself, which the next branch is added to.
TEST_F(MixedPrecision, WithTheNormAfterTheBranchTheFusedNormRunsAndTheResidualStreamIsFloat32) {
    NoWarnings none;
    const c10::WarningUtils::WarningHandlerGuard guard(&none);
    const c10::WarningUtils::WarnAlways always(true);
    for (const char* norm : {"layernorm", "rmsnorm"})
        for (const char* checkpointing : {"off", "every-block"}) {
            all.inputs.clear();
            all.outputs.clear();
            step("auto", [&](RunConfig& config) {
                config.normPlacement = "post";
                config.norm = norm;
                config.switches["fusion"] = std::string("kernels");
                config.switches["checkpointing"] = std::string(checkpointing);
            });
            EXPECT_EQ(all.outputs["aten::add"], Types{at::kFloat}) << "stream + branch";
            for (const char* unfused : {"aten::native_layer_norm", "aten::layer_norm", "aten::rms_norm", "aten::_fused_rms_norm", "aten::rsqrt"})
                EXPECT_FALSE(all.inputs.contains(unfused)) << unfused << " " << norm;
        }
}

// As in PyTorch: softmax is not among what the CPU's autocast widens. The words of amp say it.
TEST_F(MixedPrecision, OnACpuTheSoftmaxOfManualAttentionIsInBf16Too) {
    step("manual");
    expectAll({"aten::bmm", "aten::_softmax", "aten::_softmax_backward_data"}, at::kBFloat16);
    for (const auto& entry : allSwitches())
        if (entry.id == "amp") {
            EXPECT_NE(entry.cost.find("attention=manual takes the softmax"), std::string::npos);
        }
}

}  // namespace
}  // namespace stepscope
