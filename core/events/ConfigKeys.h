// Every key of the configuration by its plain name: what --set, YAML, the experiment panel and stored sessions all use.
// Plain settings are listed here; switches come from the catalogue. One table, so that nothing knows only half the keys.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/Result.h"
#include "core/events/RunConfig.h"
#include "core/events/SwitchCatalogue.h"

namespace stepscope {

struct ConfigKey {
    std::string id;       // "layers", "lr", ...
    std::string title;    // "Layers"
    std::string section;  // "data" | "model" | "schedule" | "loop"
    std::string help;     // one line
    ValueRange values;    // empty Choices = any text (data)
    std::function<Value(const RunConfig&)> get;
    std::function<void(RunConfig&, const Value&)> set;  // value is already of the right kind and range
};

const std::vector<ConfigKey>& configKeys();

// Parses text for one key (setting or switch), checks kind and range, stores it. Errors name the key, the text and what is allowed.
Status setKey(RunConfig& config, const SwitchCatalogue& catalogue, const std::string& key, const std::string& text);
// The same rules for one value range on its own, e.g. for an edit box: the parsed value, or a sentence naming `key`.
Result<Value> parseValue(const ValueRange& range, const std::string& key, const std::string& text);

// Rules between keys that need no data: width divides by heads, ... One sentence naming the key to change.
Status checkConfig(const RunConfig& config);

// All keys and values in a fixed order (settings, then switches by id): for YAML, --json, stored sessions and "what differs".
std::vector<std::pair<std::string, std::string>> listConfig(const RunConfig& config);

struct DifferingKey {
    std::string key, a, b;
};
// Of two complete configurations; keys in their fixed order, without the preset's name.
std::vector<DifferingKey> differingKeys(const RunConfig& a, const RunConfig& b);

}  // namespace stepscope
