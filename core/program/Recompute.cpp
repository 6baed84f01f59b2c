#include "core/program/Recompute.h"

#include <ATen/autocast_mode.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "core/base/Check.h"
#include "core/base/StepPlace.h"
#include "core/program/ProgramScope.h"

namespace stepscope {
namespace {

struct Kept final : torch::CustomClassHolder {
    Kept(RecomputedPart wanted, c10::DeviceType where) : part(std::move(wanted)), device(where) {
        if (at::autocast::is_autocast_enabled(device)) autocast = at::autocast::get_autocast_dtype(device);
    }
    RecomputedPart part;
    c10::DeviceType device;
    std::optional<at::ScalarType> autocast;
};

struct Recomputed final : torch::autograd::Function<Recomputed> {
    static at::Tensor forward(torch::autograd::AutogradContext* context, at::TensorList inputs, const c10::intrusive_ptr<Kept>& kept) {
        context->save_for_backward(inputs.vec());
        context->saved_data["kept"] = c10::IValue::make_capsule(kept);
        return kept->part(inputs.vec());
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context, torch::autograd::variable_list gradients) {
        const auto kept = c10::static_intrusive_pointer_cast<Kept>(context->saved_data["kept"].toCapsule());
        std::vector<at::Tensor> inputs;
        for (const auto& saved : context->get_saved_variables()) inputs.push_back(saved.detach().set_requires_grad(saved.requires_grad()));
        at::Tensor again;
        {
            const c10::AutoGradMode recording(true);
            StepPlace place = placeHere();
            place.recomputed = true;
            const PlaceScope recomputed(place);
            const AutocastScope scope(kept->device, kept->autocast);
            again = kept->part(inputs);
        }
        torch::autograd::backward({again}, {gradients[0]});
        torch::autograd::variable_list back;
        for (const auto& input : inputs) back.push_back(input.grad());
        back.emplace_back();  // of `kept`
        return back;
    }
};

}  // namespace

at::Tensor recompute(RecomputedPart part, std::vector<at::Tensor> inputs) {
    if (!c10::GradMode::is_enabled()) return part(inputs);
    SS_CHECK(std::ranges::any_of(inputs, [](const at::Tensor& input) { return input.requires_grad(); }));
    const c10::DeviceType device = inputs.front().device().type();
    return Recomputed::apply(at::TensorList(inputs), c10::make_intrusive<Kept>(std::move(part), device));
}

void recomputeParts(const RecomputePlan& plan, ModelOps& ops) {
    if (plan.everyKthBlock > 0)
        ops.block = [every = plan.everyKthBlock](std::int64_t layer, const at::Tensor& x, const BlockFunction& block) {
            if (layer % every != 0) return block(x);
            return recompute([block](const std::vector<at::Tensor>& inputs) { return block(inputs[0]); }, {x});
        };
    if (plan.attentionOnly)
        ops.attention = [plain = ops.attention](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
            return recompute([plain](const std::vector<at::Tensor>& inputs) { return plain(inputs[0], inputs[1], inputs[2]); }, {q, k, v});
        };
}

}  // namespace stepscope
