#include "app/workbench/workers/SameRun.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/workbench/workers/BuildIdentity.h"
#include "core/base/Utf8.h"
#include "core/base/Visitor.h"
#include "core/events/ConfigKeys.h"
#include "core/workers/TorchLibrary.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostShown = 200;  // bytes of a value
// Names of what the program is, as a sentence says them.
constexpr const char *kVersion = "version", *kBuild = "build", *kTorch = "LibTorch";

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

RunFacts programFacts() {
    return {{kVersion, STEPSCOPE_VERSION}, {kBuild, buildIdentity()}, {kTorch, wordsOf(loadedTorch())}};
}

RunFacts settingsOf(const RunRequest& request) {
    RunFacts facts;
    // Where files lie may differ from machine to machine: the weights themselves are compared.
    for (auto& [key, value] : listConfig(request.config))
        if (key != "init") facts.emplace_back(key, value);
    for (const ScheduledCommand& scheduled : request.scheduled)
        if (const auto* flip = std::get_if<Flip>(&scheduled.command))
            facts.emplace_back("flip", fmt::format("{}:{}={}", scheduled.step, flip->id, toString(flip->value)));
    return facts;
}

RunFacts startFacts(const Corpus& corpus, std::int64_t threads, const std::string& instructionSet, const std::string& state) {
    return {{"text", corpus.identity.empty() ? corpus.description : corpus.identity},
            {"validation text", corpus.validationIdentity},
            {"number of tokens", fmt::format("{}, {} of them to train on", corpus.tokens->size(), corpus.trainTokens)},
            {"vocabulary", fmt::format("{}", corpus.vocabulary)},
            // Sums are taken in another order, and their updates would drift apart.
            {"number of threads", fmt::format("{}", threads)},
            {"instruction set", instructionSet},
            {"state to begin with", state}};
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
            const bool ofProgram = which == kVersion || which == kBuild || which == kTorch;
            return makeError(ErrorCode::BadInput,
                             fmt::format("Worker {} of {} has another {} than worker 0, {} instead of {}; start all of them with the same {}.",
                                         worker, said.size(), shown(which), otherName == which ? shown(there) : "none",
                                         name == which ? shown(here) : "none", ofProgram ? "program" : start));
        }
    }
    return {};
}

}  // namespace stepscope
