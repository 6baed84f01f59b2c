#include "app/workbench/workers/SameRun.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/Utf8.h"
#include "core/base/Visitor.h"
#include "core/events/ConfigKeys.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostShown = 200;  // bytes of a value

std::optional<RunFacts> factsFrom(const std::string& said) {
    const auto json = nlohmann::json::parse(said, nullptr, false);
    if (!json.is_array()) return std::nullopt;
    RunFacts facts;
    for (const auto& one : json) {
        if (!one.is_array() || one.size() != 2 || !one[0].is_string() || !one[1].is_string()) return std::nullopt;
        facts.emplace_back(one[0].get<std::string>(), one[1].get<std::string>());
    }
    return facts;
}

std::string shown(const std::string& value) {
    return value.size() <= kMostShown ? value : std::string(firstBytes(value, kMostShown)) + "…";
}

}  // namespace

RunFacts settingsOf(const RunRequest& request) {
    RunFacts facts{{"version", STEPSCOPE_VERSION}};
    // Where files lie may differ from machine to machine: the weights themselves are compared.
    for (auto& [key, value] : listConfig(request.config))
        if (key != "init") facts.emplace_back(key, value);
    for (const ScheduledCommand& scheduled : request.scheduled)
        if (const auto* flip = std::get_if<Flip>(&scheduled.command))
            facts.emplace_back("flip", fmt::format("{}:{}={}", scheduled.step, flip->id, toString(flip->value)));
    return facts;
}

std::string sayFacts(const RunFacts& facts) {
    nlohmann::json all = nlohmann::json::array();
    for (const auto& [name, value] : facts) all.push_back({name, value});
    return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Status sameFacts(const std::vector<std::string>& said, const std::string& start) {
    std::optional<RunFacts> first;
    for (std::size_t worker = 0; worker < said.size(); ++worker) {
        auto facts = factsFrom(said[worker]);
        if (!facts)
            return makeError(ErrorCode::BadInput, fmt::format("What came from worker {} of {} is nothing that Stepscope says; start all workers with "
                                                              "the same program.",
                                                              worker, said.size()));
        if (!first) {
            first = std::move(facts);
            continue;
        }
        for (std::size_t i = 0; i < std::max(first->size(), facts->size()); ++i) {
            static const std::pair<std::string, std::string> kNothing{"", ""};
            const auto& [name, here] = i < first->size() ? (*first)[i] : kNothing;
            const auto& [otherName, there] = i < facts->size() ? (*facts)[i] : kNothing;
            if (name == otherName && here == there) continue;
            // One that only one of them has: the other's names are those that follow.
            const std::string& which = name.empty() ? otherName : name;
            return makeError(
                ErrorCode::BadInput,
                fmt::format("Worker {} of {} has another {} than worker 0, {} instead of {}; start all of them with the same {}.", worker,
                            said.size(), shown(which), otherName == which ? shown(there) : "none", name == which ? shown(here) : "none", start));
        }
    }
    return {};
}

}  // namespace stepscope
