#include "app/workbench/diagnose/AttentionMeter.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn.h>

#include <chrono>
#include <vector>

#include "app/workbench/diagnose/MachineTurn.h"
#include "core/analysis/Statistics.h"
#include "core/memory/DeviceMemory.h"
#include "core/model/Attention.h"
#include "core/train/Failure.h"

namespace stepscope {
namespace {

constexpr int kRounds = 7;
constexpr double kMostSeconds = 1;  // of one of the two

at::ScalarType elementType(Precision precision) {
    return precision == Precision::Float32 ? at::kFloat : precision == Precision::Bf16 ? at::kBFloat16 : at::kHalf;
}

}  // namespace

Result<AttentionTimes> measureAttention(const RunPlan& plan, Bytes room, const std::atomic<bool>& cancelled) {
    AttentionTimes times;
    const RunConfig& config = plan.config;
    const at::Device device(plan.device());
    const double scores = static_cast<double>(plan.batchSize) * static_cast<double>(config.heads) * static_cast<double>(plan.context) *
                          static_cast<double>(plan.context) * 4;
    if (5 * scores > static_cast<double>(room.count)) return times;
    try {
        const at::AutoGradMode learning(true);
        const auto options = at::TensorOptions(elementType(plan.precision)).device(device);
        std::vector<at::Tensor> heads;
        for (int i = 0; i < 3; ++i)
            heads.push_back(at::randn({plan.batchSize, config.heads, plan.context, config.width / config.heads}, options).requires_grad_());
        const auto once = [&](const AttentionFunction& attention) {
            const auto begin = std::chrono::steady_clock::now();
            const at::Tensor out = attention(heads[0], heads[1], heads[2]);
            out.backward(at::ones_like(out));
            device_memory::synchronise(device);
            return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
        };
        std::vector<double> manual, sdpa;
        double spent = 0;
        const auto goesOn = [&] { return !cancelled && !LookTurn::wanted(); };
        for (int round = 0; round <= kRounds && goesOn() && (round < 3 || spent < 2e3 * kMostSeconds); ++round) {
            const double one = once(manualAttention), other = once(sdpaAttention);
            spent += one + other;
            if (round == 0) continue;
            manual.push_back(one);
            sdpa.push_back(other);
        }
        if (goesOn()) times = {median(manual), median(sdpa)};
    } catch (const std::exception& thrown) {
        return describeException(thrown);
    }
    device_memory::trim(device);
    return times;
}

}  // namespace stepscope
