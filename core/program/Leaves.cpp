#include "core/program/Leaves.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace stepscope {
namespace {

struct Completed final : torch::autograd::PostAccumulateGradHook {
    Completed(const std::function<void(std::size_t)>& listener, std::size_t number) : complete(listener), slot(number) {}
    void operator()(const at::Tensor&) override { complete(slot); }

    std::function<void(std::size_t)> complete;
    std::size_t slot;
};

}  // namespace

bool Leaves::bind(const TrainState& state) {
    if (m_boundTo == state.weights.data_ptr() && m_boundMoments == state.firstMoment.data_ptr() && m_boundConfig == state.config) return false;
    m_weights = WeightsView::over(state.weights, state.layout, state.config, /*asLeaves=*/true);
    m_groups = parameterGroups(state);
    m_layout = state.layout;
    m_boundTo = state.weights.data_ptr();
    m_boundMoments = state.firstMoment.data_ptr();
    m_boundConfig = state.config;
    hook();
    return true;
}

void Leaves::onGradient(std::function<void(std::size_t)> complete) {
    m_complete = std::move(complete);
    hook();
}

void Leaves::hook() {
    for (std::size_t slot = 0; slot < m_weights.all.size(); ++slot) {
        auto& held = torch::autograd::impl::post_acc_grad_hooks(m_weights.all[slot]);
        if (m_complete)
            held = std::make_unique<Completed>(m_complete, slot);
        else
            held.reset();
    }
}

void Leaves::clearGradients(Clear how) {
    for (auto& leaf : m_weights.all) {
        if (how == Clear::ToZero && leaf.grad().defined())
            leaf.mutable_grad().zero_();
        else
            leaf.mutable_grad() = at::Tensor();
    }
}

std::vector<at::Tensor> Leaves::gradients() const {
    std::vector<at::Tensor> all;
    for (const auto& leaf : m_weights.all) all.push_back(leaf.grad());
    return all;
}

std::vector<ParameterGroup> Leaves::groups() const {
    return withGradients(m_groups, m_layout, gradients());
}

}  // namespace stepscope
