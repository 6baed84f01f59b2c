// Settings by their key (ConfigKeys.h), switches in an object of their own:
// {"preset":"tiny-cpu","layers":4,...,"switches":{...}}.
#include "core/events/ConfigJson.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/JsonDepth.h"
#include "core/events/ConfigKeys.h"
#include "core/events/RetiredKeys.h"

namespace stepscope {
namespace {

using nlohmann::json;

json toJson(const Value& value) {
    return std::visit([](const auto& v) { return json(v); }, value);
}

std::optional<Value> valueFrom(const json& stored) {
    if (stored.is_string()) return Value{stored.get<std::string>()};
    if (stored.is_number_unsigned() && stored.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    if (stored.is_number_integer()) return Value{stored.get<std::int64_t>()};
    if (stored.is_number_float()) return Value{stored.get<double>()};
    return std::nullopt;
}

Error damaged(const std::string& what) {
    return makeError(ErrorCode::Damaged, fmt::format("The stored configuration cannot be read: {}; it may be of a newer Stepscope.", what));
}

Status readSetting(RunConfig& config, const std::string& key, const json& stored) {
    for (const auto& setting : configKeys()) {
        if (setting.id != key) continue;
        auto value = valueFrom(stored);
        const Value now = setting.get(config);
        if (value && std::holds_alternative<double>(now) && std::holds_alternative<std::int64_t>(*value))
            value = static_cast<double>(std::get<std::int64_t>(*value));
        if (!value || value->index() != now.index()) return damaged(fmt::format("{} has a value of the wrong kind", key));
        // What --set would refuse has no business in a run either.
        auto checked = parseValue(setting.values, key, toString(*value));
        if (!checked) return makeError(ErrorCode::Damaged, "The stored configuration cannot be used: " + checked.error().sentence);
        setting.set(config, *checked);
        return {};
    }
    return damaged(fmt::format("there is no key \"{}\"", key));
}

}  // namespace

std::string configToJson(const RunConfig& config) {
    json all = {{"preset", config.preset}};
    for (const auto& setting : configKeys()) all[setting.id] = toJson(setting.get(config));
    all["switches"] = json::object();
    for (const auto& [id, value] : config.switches) all["switches"][id] = toJson(value);
    // A path may hold bytes that are not UTF-8.
    return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<RunConfig> configFromJson(const std::string& text) {
    if (nestsDeeper(text)) return damaged("its brackets nest deeper than any configuration does");
    const json all = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!all.is_object()) return damaged("it is not a JSON object");
    RunConfig config;
    std::vector<std::pair<std::string, std::string>> retired;
    for (const auto& [key, stored] : all.items()) {
        if (key == "preset" && stored.is_string()) {
            config.preset = stored.get<std::string>();
        } else if (key == "switches" && stored.is_object()) {
            for (const auto& [id, held] : stored.items()) {
                const auto value = valueFrom(held);
                if (!value) return damaged(fmt::format("{} has a value of the wrong kind", id));
                config.switches[id] = *value;
            }
        } else if (isRetired(key)) {
            retired.emplace_back(key, stored.is_string() ? stored.get<std::string>() : stored.dump());
        } else if (auto read = readSetting(config, key, stored); !read) {
            return read.error();
        }
    }
    for (const auto& [key, held] : retired)
        if (auto taken = takeRetired(config, key, held); !taken) return damaged(taken.error().sentence);
    return config;
}

}  // namespace stepscope
