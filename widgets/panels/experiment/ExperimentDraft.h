// The experiment being put together: a preset and what the person changed of it. Plain arithmetic on RunConfig without widgets;
// ExperimentPanel shows it, the window runs it. Every text goes through setKey(), so the panel knows no rule of its own.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/base/Result.h"
#include "core/events/ConfigKeys.h"
#include "core/events/RunConfig.h"
#include "core/events/SwitchCatalogue.h"

namespace stepscope {

class ExperimentDraft {
public:
    // Starts anew from a preset; the chosen data and device stay, they are not the preset's business.
    Status choosePreset(const std::string& id);
    void useDevice(const std::string& device);
    // Takes the switches that exist and their defaults; values already chosen stay.
    void setCatalogue(const SwitchCatalogue& catalogue);
    // Another whole configuration (a stored session's); what differs from its preset counts as changed.
    void adopt(const RunConfig& config);

    Status set(const std::string& key, const std::string& text);
    void reset(const std::string& key);
    Status check() const { return checkConfig(m_config); }

    std::string text(const std::string& key) const;
    bool changed(const std::string& key) const;
    const RunConfig& config() const { return m_config; }
    const SwitchCatalogue& catalogue() const { return m_catalogue; }

    // To remember between starts: the preset and what differs from it.
    std::vector<std::pair<std::string, std::string>> differences() const;

private:
    void fillDefaults(RunConfig& config) const;

    SwitchCatalogue m_catalogue;
    RunConfig m_preset;
    RunConfig m_config;
};

}  // namespace stepscope
