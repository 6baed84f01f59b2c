#include "core/model/ParameterLayout.h"

#include <fmt/format.h>

#include "core/base/Check.h"

namespace stepscope {

ParameterLayout::ParameterLayout(const GptConfig& config) {
    const std::int64_t C = config.width, F = config.hidden(), rows = config.hiddenRows();
    add("wte.weight", {config.paddedVocabulary, C}, Kind::Vocabulary);
    if (config.positionKind == PositionKind::Learned) add("wpe.weight", {config.positions, C}, Kind::Table);
    const std::vector<std::string> projections =
        config.splitQkv ? std::vector<std::string>{"q_proj", "k_proj", "v_proj"} : std::vector<std::string>{"c_attn"};
    const std::int64_t projected = 3 * C / static_cast<std::int64_t>(projections.size());
    for (std::int64_t l = 0; l < config.layers; ++l) {
        for (const auto& name : projections) add(fmt::format("h.{}.attn.{}.weight", l, name), {projected, C}, Kind::Linear);
        add(fmt::format("h.{}.attn.c_proj.weight", l), {C, C}, Kind::Linear);
        add(fmt::format("h.{}.mlp.c_fc.weight", l), {rows, C}, Kind::Linear);
        add(fmt::format("h.{}.mlp.c_proj.weight", l), {C, F}, Kind::Linear);
    }
    if (!config.tiedHead) add("lm_head.weight", {config.paddedVocabulary, C}, Kind::Vocabulary);
    m_decayEnd = m_size;
    const auto norm = [&](const std::string& name) {
        add(name + ".weight", {C}, Kind::Vector);
        if (config.normBias()) add(name + ".bias", {C}, Kind::Vector);
    };
    const auto bias = [&](const std::string& name, std::int64_t count) {
        if (config.bias) add(name + ".bias", {count}, Kind::Bias);
    };
    for (std::int64_t l = 0; l < config.layers; ++l) {
        norm(fmt::format("h.{}.ln_1", l));
        for (const auto& name : projections) bias(fmt::format("h.{}.attn.{}", l, name), projected);
        bias(fmt::format("h.{}.attn.c_proj", l), C);
        norm(fmt::format("h.{}.ln_2", l));
        bias(fmt::format("h.{}.mlp.c_fc", l), rows);
        bias(fmt::format("h.{}.mlp.c_proj", l), C);
    }
    if (config.placement == NormPlacement::Pre) norm("ln_f");
}

void ParameterLayout::add(std::string name, std::vector<std::int64_t> shape, Kind kind) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    m_slots.push_back({.name = std::move(name),
                       .shape = std::move(shape),
                       .offset = m_size,
                       .count = count,
                       .decays = kind != Kind::Vector && kind != Kind::Bias,
                       .linear = kind == Kind::Linear,
                       .inProduct = kind == Kind::Linear || kind == Kind::Bias,
                       .vocabulary = kind == Kind::Vocabulary});
    m_parameters += count;
    m_size += (count + 15) / 16 * 16;
}

const ParameterSlot& ParameterLayout::slot(const std::string& name) const {
    for (const auto& slot : m_slots)
        if (slot.name == name) return slot;
    SS_CHECK(false && "a parameter of that name");
}

at::Tensor ParameterLayout::view(const at::Tensor& flat, const ParameterSlot& slot) {
    return flat.narrow(0, slot.offset, slot.count).view(slot.shape);
}

std::int64_t parameterCount(const GptConfig& config) {
    const std::int64_t C = config.width, F = config.hidden(), rows = config.hiddenRows();
    const std::int64_t norm = config.normBias() ? 2 * C : C;
    const std::int64_t biases = config.bias ? 3 * C + C + rows + C : 0;
    const std::int64_t block = 3 * C * C + C * C + rows * C + C * F + biases + 2 * norm;
    return config.vocabulary * C * (config.tiedHead ? 1 : 2) + (config.positionKind == PositionKind::Learned ? config.positions * C : 0) +
           config.layers * block + (config.placement == NormPlacement::Pre ? norm : 0);
}

}  // namespace stepscope
