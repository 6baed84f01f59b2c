#include "app/cli/output/Json.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "core/events/ConfigKeys.h"

namespace stepscope::cli {

Json number(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json bound(double low, double high, double which) {
    return low > 0 && std::isfinite(high) ? number(which) : Json(nullptr);
}

Json nineDigits(double value) {
    // The shortest form of the rounded number has at most nine digits.
    return std::isfinite(value) ? Json(std::stod(fmt::format("{:.9g}", value))) : Json(nullptr);
}

Json toJson(const Value& value) {
    return std::visit([](const auto& held) { return Json(held); }, value);
}

Json toJson(const RunConfig& config) {
    Json all{{"preset", config.preset}};
    for (const auto& key : configKeys()) all[key.id] = toJson(key.get(config));
    for (const auto& [id, value] : config.switches) all[id] = toJson(value);
    return all;
}

Json isoTime(std::int64_t unixMs) {
    if (unixMs <= 0) return nullptr;
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(unixMs / 1000)), unixMs % 1000);
}

std::string jsonText(const Json& json) {
    const std::string dumped = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string safe;
    safe.reserve(dumped.size());
    const auto byte = [&](std::size_t at) { return at < dumped.size() ? static_cast<unsigned char>(dumped[at]) : 0U; };
    for (std::size_t i = 0; i < dumped.size(); ++i) {
        // All of these stand within quotes, where an escape means the same character.
        if (byte(i) == 0x7f) {
            safe += "\\u007f";
        } else if (byte(i) == 0xc2 && byte(i + 1) < 0xa0) {
            safe += fmt::format("\\u{:04x}", byte(++i));
        } else if (byte(i) == 0xe2 && ((byte(i + 1) == 0x80 && byte(i + 2) >= 0xaa && byte(i + 2) <= 0xae) ||
                                       (byte(i + 1) == 0x81 && byte(i + 2) >= 0xa6 && byte(i + 2) <= 0xa9))) {
            safe += fmt::format("\\u{:04x}", 0x2000U | (byte(i + 1) & 0x3f) << 6 | (byte(i + 2) & 0x3f));
            i += 2;
        } else {
            safe += dumped[i];
        }
    }
    return safe;
}

std::string line(const Json& json) {
    return jsonText(json) + "\n";
}

}  // namespace stepscope::cli
