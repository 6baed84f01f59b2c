#include "core/state/Optimizer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>

#include <cmath>

namespace stepscope {
namespace {

struct Corrections {
    double stepSize, rootOfSecond;
};
// Bias corrections of Adam (Kingma and Ba 2015, algorithm 1).
Corrections corrections(const AdamW& s) {
    const double first = 1 - std::pow(s.beta1, static_cast<double>(s.t));
    const double second = 1 - std::pow(s.beta2, static_cast<double>(s.t));
    return {s.rate / first, std::sqrt(second)};
}

double keep(const ParameterGroup& group, const AdamW& s) {
    return 1 - s.rate * (group.decays ? s.weightDecay : 0.0);
}

}  // namespace

void adamWLoop(ParameterGroup& group, const AdamW& s) {
    const auto [stepSize, root] = corrections(s);
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
        const at::Tensor& gradient = group.gradients[i];
        at::Tensor &weight = group.parameters[i], &first = group.firstMoments[i], &second = group.secondMoments[i];
        weight.mul_(keep(group, s));
        first.lerp_(gradient, 1 - s.beta1);
        second.mul_(s.beta2).addcmul_(gradient, gradient, 1 - s.beta2);
        weight.addcdiv_(first, (second.sqrt() / root).add_(s.epsilon), -stepSize);
    }
}

void adamWForeach(ParameterGroup& group, const AdamW& s) {
    const auto [stepSize, root] = corrections(s);
    at::_foreach_mul_(group.parameters, keep(group, s));
    at::_foreach_lerp_(group.firstMoments, group.gradients, 1 - s.beta1);
    at::_foreach_mul_(group.secondMoments, s.beta2);
    at::_foreach_addcmul_(group.secondMoments, group.gradients, group.gradients, 1 - s.beta2);
    auto denominators = at::_foreach_sqrt(group.secondMoments);
    at::_foreach_div_(denominators, root);
    at::_foreach_add_(denominators, s.epsilon);
    at::_foreach_addcdiv_(group.parameters, group.firstMoments, denominators, -stepSize);
}

void adamWFused(ParameterGroup& group, const AdamW& s) {
    if (group.parameters.empty()) return;
    const at::Tensor t = at::full({}, static_cast<double>(s.t), group.parameters.front().options().requires_grad(false));
    const std::vector<at::Tensor> steps(group.parameters.size(), t);
    at::_fused_adamw_(group.parameters, group.gradients, group.firstMoments, group.secondMoments, {}, steps, s.rate, s.beta1, s.beta2,
                      group.decays ? s.weightDecay : 0.0, s.epsilon, /*amsgrad=*/false, /*maximize=*/false);
}

AdamWStep adamWStep(const AdamW& s, bool decays) {
    const auto [stepSize, root] = corrections(s);
    return {.keep = static_cast<float>(1 - s.rate * (decays ? s.weightDecay : 0.0)),
            .stepSize = static_cast<float>(stepSize),
            .rootOfSecond = static_cast<float>(root),
            .beta1 = static_cast<float>(s.beta1),
            .beta2 = static_cast<float>(s.beta2),
            .epsilon = static_cast<float>(s.epsilon),
            .gradientScale = static_cast<float>(s.gradientScale),
            .newer1 = static_cast<float>(1 - s.beta1),
            .newer2 = static_cast<float>(1 - s.beta2)};
}

at::Tensor globalNorm(const std::vector<ParameterGroup>& groups) {
    std::vector<at::Tensor> norms;
    for (const auto& group : groups) {
        auto part = at::_foreach_norm(group.gradients, 2);
        norms.insert(norms.end(), part.begin(), part.end());
    }
    return at::linalg_vector_norm(at::stack(norms));
}

void clipByNorm(std::vector<ParameterGroup>& groups, const at::Tensor& norm, double maxNorm) {
    const at::Tensor factor = at::clamp(maxNorm / (norm + 1e-6), std::nullopt, 1.0);
    for (auto& group : groups) at::_foreach_mul_(group.gradients, factor);
}

}  // namespace stepscope
