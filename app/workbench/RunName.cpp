#include "app/workbench/RunName.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "core/events/ConfigKeys.h"
#include "core/events/Presets.h"
#include "sessions/findings/StoredRuns.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostNamed = 4;  // differences that a name still carries

// What is another from run to run of one setting, and says nothing of it.
bool isOfTheRunAlone(const std::string& key) {
    return key == "steps" || key == "seed" || key == "threads";
}

}  // namespace

std::string nameFor(const RunConfig& config, const Registry& registry) {
    auto begun = presetConfig(config.preset);
    auto plain = begun ? registry.complete(*begun) : Result<RunConfig>(begun.error());
    if (!plain) return config.preset;
    const auto preset = std::ranges::find(presets(), config.preset, &Preset::id);
    // A title that names the text is of runs on that text.
    const std::string& base = preset != presets().end() && preset->config.data == config.data ? preset->title : config.preset;
    std::string name;
    const auto usual = listConfig(*plain), wanted = listConfig(config);
    auto differing = wanted;
    std::erase_if(differing, [&](const auto& one) { return isOfTheRunAlone(one.first) || std::ranges::find(usual, one) != usual.end(); });
    // Switches are what is tried from run to run; data and a model of a person's own stay, and would make all names begin alike.
    std::ranges::stable_partition(differing, [&](const auto& one) { return config.switches.contains(one.first); });
    const std::size_t differences = differing.size();
    for (const auto& [key, value] : std::span(differing).first(std::min(differences, kMostNamed))) {
        name += fmt::format("{} {} · ", key, key == "data" || key == "init" ? std::filesystem::path(value).filename().string() : value);
    }
    if (differences > kMostNamed) name += fmt::format("{} more · ", differences - kMostNamed);
    return name + base;
}

std::string toldApart(const std::string& name, const RunConfig& config, const std::string& database) {
    const auto known = settingsOfNewest(database, name);
    if (!known || !*known) return name;
    const RunSettings& newest = **known;
    std::string front;
    for (const auto& [key, value] : listConfig(config)) {
        if (!isOfTheRunAlone(key)) continue;
        const auto former = std::ranges::find(newest, key, [](const auto& one) { return one.first; });
        if (former != newest.end() && former->second != value) front += fmt::format("{} {} · ", key, value);
    }
    return front + name;
}

}  // namespace stepscope
