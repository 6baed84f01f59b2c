#include "widgets/panels/experiment/ExperimentDraft.h"

#include "core/events/Presets.h"

namespace stepscope {
namespace {

std::string textOf(const RunConfig& config, const std::string& key) {
    for (const auto& setting : configKeys())
        if (setting.id == key) return toString(setting.get(config));
    const auto found = config.switches.find(key);
    return found == config.switches.end() ? std::string() : toString(found->second);
}

}  // namespace

Status ExperimentDraft::choosePreset(const std::string& id) {
    auto preset = presetConfig(id);
    if (!preset) return preset.error();
    m_preset = *preset;
    fillDefaults(m_preset);
    const RunConfig before = m_config;
    m_config = m_preset;
    m_config.data = before.data;
    placeAs(before, m_config);
    return {};
}

void ExperimentDraft::useDevice(const std::string& device) {
    placeOn(m_config, device);
}

void ExperimentDraft::setCatalogue(const SwitchCatalogue& catalogue) {
    m_catalogue = catalogue;
    fillDefaults(m_preset);
    fillDefaults(m_config);
}

void ExperimentDraft::adopt(const RunConfig& config) {
    if (auto preset = presetConfig(config.preset)) m_preset = *preset;
    fillDefaults(m_preset);
    m_config = config;
    fillDefaults(m_config);
}

void ExperimentDraft::fillDefaults(RunConfig& config) const {
    for (const auto& entry : m_catalogue) config.switches.try_emplace(entry.id, entry.byDefault);
}

Status ExperimentDraft::set(const std::string& key, const std::string& text) {
    return setKey(m_config, m_catalogue, key, text);
}

void ExperimentDraft::reset(const std::string& key) {
    for (const auto& setting : configKeys())
        if (setting.id == key) return setting.set(m_config, setting.get(m_preset));
    const auto before = m_preset.switches.find(key);
    if (before != m_preset.switches.end()) m_config.switches[key] = before->second;
}

std::string ExperimentDraft::text(const std::string& key) const {
    return textOf(m_config, key);
}

bool ExperimentDraft::changed(const std::string& key) const {
    return textOf(m_config, key) != textOf(m_preset, key);
}

std::vector<std::pair<std::string, std::string>> ExperimentDraft::differences() const {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& [key, text] : listConfig(m_config))
        if (key != "preset" && changed(key)) all.emplace_back(key, text);
    return all;
}

}  // namespace stepscope
