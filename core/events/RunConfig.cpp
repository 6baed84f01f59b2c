#include "core/events/RunConfig.h"

#include <fmt/format.h>

#include "core/base/Check.h"

namespace stepscope {

std::string toString(const Value& value) {
    return std::visit(
        [](const auto& v) -> std::string {
            if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string>)
                return v;
            else
                return fmt::format("{}", v);
        },
        value);
}

namespace {

const Value& valueOf(const RunConfig& config, const std::string& id) {
    const auto found = config.switches.find(id);
    SS_CHECK(found != config.switches.end());
    return found->second;
}

}  // namespace

std::int64_t RunConfig::integer(const std::string& id) const {
    const auto* held = std::get_if<std::int64_t>(&valueOf(*this, id));
    SS_CHECK(held != nullptr);
    return *held;
}

double RunConfig::real(const std::string& id) const {
    const Value& held = valueOf(*this, id);
    if (const auto* whole = std::get_if<std::int64_t>(&held)) return static_cast<double>(*whole);
    const auto* real = std::get_if<double>(&held);
    SS_CHECK(real != nullptr);
    return *real;
}

const std::string& RunConfig::word(const std::string& id) const {
    const auto* held = std::get_if<std::string>(&valueOf(*this, id));
    SS_CHECK(held != nullptr);
    return *held;
}

}  // namespace stepscope
