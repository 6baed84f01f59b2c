#include "core/data/foreign/ShardIndex.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/base/JsonDepth.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostShards = 10'000;
constexpr std::size_t kLongestName = 255;  // of a file

bool isPlainFileName(const std::string& file) {
    if (file.size() > kLongestName || !file.ends_with(".safetensors")) return false;
    for (const char c : file)
        if (c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20) return false;
    return true;
}

}  // namespace

Result<std::map<std::string, std::string>> parseShardIndex(std::string_view text, const std::string& name) {
    const auto broken = [&](const std::string& what) { return makeError(ErrorCode::Damaged, fmt::format("{} cannot be read: {}.", name, what)); };
    if (nestsDeeper(text)) return broken("its brackets nest deeper than those of any index");
    std::set<std::string> tensors;
    std::string within;
    std::optional<std::string> twice;
    const auto all = nlohmann::json::parse(
        text,
        [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
            if (event != nlohmann::json::parse_event_t::key) return true;
            if (depth == 1) within = parsed.get<std::string>();
            if (depth == 2 && within == "weight_map" && !tensors.insert(parsed.get<std::string>()).second && !twice)
                twice = parsed.get<std::string>();
            return true;
        },
        false);
    const auto map = all.is_object() ? all.find("weight_map") : all.end();
    if (!all.is_object() || map == all.end() || !map->is_object()) return broken("it has no object weight_map of tensors and their files");
    std::map<std::string, std::string> fileOf;
    std::set<std::string> files;
    for (const auto& [tensor, file] : map->items()) {
        if (twice == tensor) return broken(fmt::format("it names {} twice", tensor));
        if (!file.is_string()) return broken(fmt::format("the file of {} is no name", tensor));
        auto plain = file.get<std::string>();
        if (!isPlainFileName(plain))
            return makeError(ErrorCode::BadInput, fmt::format("{} names the file \"{}\" for {}; a shard is a .safetensors file in the same folder.",
                                                              name, plain.substr(0, kLongestName), tensor));
        files.insert(plain);
        if (files.size() > kMostShards) return broken(fmt::format("it names more than {} files", kMostShards));
        fileOf.emplace(tensor, std::move(plain));
    }
    if (fileOf.empty()) return broken("it names no tensor");
    return fileOf;
}

std::string shardIndex(const std::map<std::string, std::string>& fileOf, std::int64_t bytes) {
    return nlohmann::json{{"metadata", {{"total_size", bytes}}}, {"weight_map", fileOf}}.dump(2) + "\n";
}

bool liesInFolder(const std::string& folder, const std::string& file) {
    namespace fs = std::filesystem;
    std::error_code problem;
    const fs::path home = fs::weakly_canonical(folder, problem), place = fs::weakly_canonical(fs::path(folder) / file, problem);
    if (problem) return false;
    if (place.parent_path() == home) return true;
    return home.parent_path().filename() == "snapshots" && place.parent_path() == home.parent_path().parent_path() / "blobs";
}

}  // namespace stepscope
