#include "app/cli/output/Json.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "core/events/ConfigKeys.h"

namespace stepscope::cli {

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

Json toJson(const Error& error) {
    Json subject = nullptr;
    if (error.subject.kind != Subject::Kind::None) subject = {{"kind", toString(error.subject.kind)}, {"name", error.subject.name}};
    return {{"code", toString(error.code)}, {"subject", subject}, {"sentence", error.sentence}};
}

Json isoTime(std::int64_t unixMs) {
    if (unixMs <= 0) return nullptr;
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(unixMs / 1000)), unixMs % 1000);
}

}  // namespace stepscope::cli
