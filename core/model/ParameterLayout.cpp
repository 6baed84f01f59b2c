// See ParameterLayout.h.
#include "core/model/ParameterLayout.h"

#include "core/base/Check.h"

#include <fmt/format.h>

namespace stepscope {

ParameterLayout::ParameterLayout(const GptConfig& config) {
    const std::int64_t C = config.width;
    add("wte.weight", {config.paddedVocabulary, C}, false);
    add("wpe.weight", {config.positions, C}, false);
    for (std::int64_t l = 0; l < config.layers; ++l) {
        add(fmt::format("h.{}.attn.c_attn.weight", l), {3 * C, C}, true);
        add(fmt::format("h.{}.attn.c_proj.weight", l), {C, C}, true);
        add(fmt::format("h.{}.mlp.c_fc.weight", l), {4 * C, C}, true);
        add(fmt::format("h.{}.mlp.c_proj.weight", l), {C, 4 * C}, true);
    }
    m_decayEnd = m_size;
    for (std::int64_t l = 0; l < config.layers; ++l) {
        add(fmt::format("h.{}.ln_1.weight", l), {C}, false);
        add(fmt::format("h.{}.ln_1.bias", l), {C}, false);
        add(fmt::format("h.{}.attn.c_attn.bias", l), {3 * C}, false);
        add(fmt::format("h.{}.attn.c_proj.bias", l), {C}, false);
        add(fmt::format("h.{}.ln_2.weight", l), {C}, false);
        add(fmt::format("h.{}.ln_2.bias", l), {C}, false);
        add(fmt::format("h.{}.mlp.c_fc.bias", l), {4 * C}, false);
        add(fmt::format("h.{}.mlp.c_proj.bias", l), {C}, false);
    }
    add("ln_f.weight", {C}, false);
    add("ln_f.bias", {C}, false);
}

void ParameterLayout::add(std::string name, std::vector<std::int64_t> shape, bool linear) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    const bool matrix = shape.size() == 2;
    m_slots.push_back({std::move(name), std::move(shape), m_size, count, matrix, linear});
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
    const std::int64_t C = config.width;
    return config.vocabulary * C + config.positions * C + config.layers * (12 * C * C + 13 * C) + 2 * C;
}

}  // namespace stepscope
