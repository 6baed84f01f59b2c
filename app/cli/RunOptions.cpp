#include "app/cli/RunOptions.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/Commands.h"
#include "app/workbench/PresetChoice.h"
#include "core/events/ConfigKeys.h"

namespace stepscope::cli {
namespace {

RunConfig fittingPreset(const Workbench& workbench) {
    const PresetChoice choice = choosePreset(workbench);
    RunConfig config = presetConfig(choice.id).value();
    placeOn(config, choice.device);
    return config;
}

}  // namespace

void RunOptions::add(CLI::App& command) {
    command.add_option("--preset", m_preset, "Where the settings start from; default: what fits this machine")->type_name("NAME")->take_last();
    command.add_option("--config", m_file, "YAML file with keys and values, as `config` prints it")
        ->type_name("FILE")
        ->take_last()
        ->check(notEmpty("--config"));
    // Without allow_extra_args(false) a vector would swallow the words that follow.
    command.add_option("--set", m_settings, "A setting or switch; may be repeated, the last one wins")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
}

void RunOptions::addKey(CLI::App& command, const std::string& key, const std::string& help) {
    // Taken as text: a value such as -5 must reach the range check, which names the key.
    auto text = std::make_shared<std::string>();
    auto* option = command.add_option("--" + key, *text, help)->type_name("VALUE")->take_last();
    m_keys.push_back({key, option, std::move(text)});
}

void RunOptions::addFlag(CLI::App& command, const std::string& key, const std::string& word, const std::string& help) {
    auto text = std::make_shared<std::string>(word);
    m_keys.push_back({key, command.add_flag("--" + key, help), std::move(text)});
}

std::vector<std::string> RunOptions::words() const {
    std::vector<std::string> all;
    const auto add = [&](const std::string& option, const std::string& value) {
        all.push_back(option);
        all.push_back(value);
    };
    if (!m_preset.empty()) add("--preset", m_preset);
    if (!m_file.empty()) add("--config", m_file);
    for (const Key& key : m_keys)
        if (key.option->count() > 0) add("--" + key.id, *key.text);
    for (const std::string& setting : m_settings) add("--set", setting);
    return all;
}

Result<RunConfig> RunOptions::base(const Workbench& workbench) const {
    return presetGiven() ? presetHere(workbench, m_preset) : fittingPreset(workbench);
}

Result<RunConfig> RunOptions::configure(const Workbench& workbench, const std::optional<RunConfig>& from) const {
    Result<RunConfig> config = from ? *from : base(workbench);
    if (!config) return config;
    const SwitchCatalogue catalogue = workbench.switches(*config);
    if (!m_file.empty()) config = loadYaml(m_file, *config, catalogue);
    if (!config) return config;

    for (const Key& key : m_keys) {
        if (key.option->count() == 0) continue;
        if (auto done = setKey(*config, catalogue, key.id, *key.text); !done) return done.error();
    }
    for (const std::string& setting : m_settings) {
        const auto equals = setting.find('=');
        if (equals == std::string::npos || equals == 0)
            return makeError(ErrorCode::BadInput, fmt::format("--set takes key=value, not \"{}\".", setting));
        const std::string key = setting.substr(0, equals);
        // Which of the two would hold? The order of different options is lost.
        if (std::ranges::any_of(m_keys, [&](const Key& own) { return own.id == key && own.option->count() > 0; }))
            return makeError(ErrorCode::BadInput, fmt::format("{0} is given twice, as --{0} and with --set; keep one.", key));
        if (const auto kept = std::ranges::find(m_kept, key, [](const auto& one) { return one.first; }); kept != m_kept.end())
            return makeError(ErrorCode::BadInput, fmt::format("--set {}: {}.", setting, kept->second));
        if (auto done = setKey(*config, catalogue, key, setting.substr(equals + 1)); !done) return done.error();
    }
    return workbench.complete(std::move(*config));
}

}  // namespace stepscope::cli
