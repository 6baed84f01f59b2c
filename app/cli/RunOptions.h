// RunOptions: --preset, --config, --set and the few settings with options of their own, and the configuration they make.
// A later source wins: preset, then YAML file, then options, then --set from left to right. Used by train, config and switches.
#pragma once
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/workbench/Workbench.h"

namespace stepscope::cli {

class RunOptions {
public:
    void add(CLI::App& command);
    // An option that is a key of the configuration under its own name: --steps for the key steps.
    void addKey(CLI::App& command, const std::string& key, const std::string& help);

    // A flag that sets a key to a word: --keep-best for keep-best=on.
    void addFlag(CLI::App& command, const std::string& key, const std::string& word, const std::string& help);

    // A key that the command sets itself: refused in --set, with the words that say how it is set.
    void keepKey(const std::string& key, const std::string& how) { m_kept.emplace_back(key, how); }

    // What everything else is set on top of: the preset asked for, or the one that fits this machine.
    Result<RunConfig> base(const Workbench& workbench) const;

    bool presetGiven() const { return !m_preset.empty(); }
    const std::string& preset() const { return m_preset; }

    // On top of `from`; without it, of base(). Complete and checked.
    Result<RunConfig> configure(const Workbench& workbench, const std::optional<RunConfig>& from = {}) const;

    // What was given, as words of a command line that give the same.
    std::vector<std::string> words() const;

private:
    std::string m_preset;
    std::string m_file;
    std::vector<std::string> m_settings;  // key=value
    struct Key {
        std::string id;
        CLI::Option* option;
        std::shared_ptr<std::string> text;  // CLI11 keeps a pointer to it
    };
    std::vector<Key> m_keys;
    std::vector<std::pair<std::string, std::string>> m_kept;
};

}  // namespace stepscope::cli
