#include "core/model/WeightsView.h"

#include <fmt/format.h>

#include <unordered_map>

namespace stepscope {

std::vector<Weight*> BlockWeights::linears() {
    std::vector<Weight*> all{&qkvWeight, &qkvBias, &projWeight, &projBias, &fcWeight, &fcBias, &fcProjWeight, &fcProjBias};
    for (auto* const three : {&qkvWeights, &qkvBiases})
        for (Weight& one : *three) all.push_back(&one);
    return all;
}

WeightsView WeightsView::over(const at::Tensor& flat, const ParameterLayout& layout, const GptConfig& config, bool asLeaves) {
    WeightsView weights;
    std::unordered_map<std::string, at::Tensor> byName;
    for (const auto& slot : layout.slots()) {
        at::Tensor tensor = ParameterLayout::view(flat, slot);
        if (asLeaves) tensor = tensor.detach().set_requires_grad(true);
        weights.all.push_back(tensor);
        byName.emplace(slot.name, tensor);
    }
    const auto named = [&](const std::string& name) {
        const auto found = byName.find(name);
        return found == byName.end() ? at::Tensor() : found->second;
    };
    weights.tokens = named("wte.weight");
    weights.head = config.tiedHead ? weights.tokens : named("lm_head.weight");
    weights.positions = named("wpe.weight");
    weights.normWeight = named("ln_f.weight");
    weights.normBias = named("ln_f.bias");
    for (std::int64_t l = 0; l < config.layers; ++l) {
        const auto of = [&](const char* name) { return named(fmt::format("h.{}.{}", l, name)); };
        weights.blocks.push_back({
            .norm1Weight = of("ln_1.weight"),
            .norm1Bias = of("ln_1.bias"),
            .qkvWeight = of("attn.c_attn.weight"),
            .qkvBias = of("attn.c_attn.bias"),
            .qkvWeights = {of("attn.q_proj.weight"), of("attn.k_proj.weight"), of("attn.v_proj.weight")},
            .qkvBiases = {of("attn.q_proj.bias"), of("attn.k_proj.bias"), of("attn.v_proj.bias")},
            .projWeight = of("attn.c_proj.weight"),
            .projBias = of("attn.c_proj.bias"),
            .norm2Weight = of("ln_2.weight"),
            .norm2Bias = of("ln_2.bias"),
            .fcWeight = of("mlp.c_fc.weight"),
            .fcBias = of("mlp.c_fc.bias"),
            .fcProjWeight = of("mlp.c_proj.weight"),
            .fcProjBias = of("mlp.c_proj.bias"),
        });
    }
    return weights;
}

}  // namespace stepscope
