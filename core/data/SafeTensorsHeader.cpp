#include "core/data/SafeTensorsHeader.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "core/base/JsonDepth.h"

namespace stepscope {
namespace {

using nlohmann::json;

// Bytes of an element; 0 = a type that this version does not know.
std::uint64_t elementBytes(const std::string& type) {
    static const std::map<std::string, std::uint64_t> known{{"F64", 8}, {"I64", 8}, {"U64", 8},  {"F32", 4},     {"I32", 4},
                                                            {"U32", 4}, {"F16", 2}, {"BF16", 2}, {"I16", 2},     {"U16", 2},
                                                            {"I8", 1},  {"U8", 1},  {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};
    const auto found = known.find(type);
    return found == known.end() ? 0 : found->second;
}

// One entry of the header, checked by itself; nullopt when it does not hold together.
std::optional<TensorEntry> readEntry(const json& stored, std::uint64_t dataBytes) {
    if (!stored.is_object() || !stored.contains("dtype") || !stored["dtype"].is_string()) return std::nullopt;
    if (!stored.contains("shape") || !stored["shape"].is_array() || !stored.contains("data_offsets")) return std::nullopt;
    TensorEntry entry{.type = stored["dtype"].get<std::string>()};
    const std::uint64_t element = elementBytes(entry.type);
    std::uint64_t bytes = std::max<std::uint64_t>(1, element);
    for (const auto& extent : stored["shape"]) {
        if (!extent.is_number_unsigned()) return std::nullopt;
        const auto size = extent.get<std::uint64_t>();
        if (size > dataBytes || (size != 0 && bytes > dataBytes / size)) return std::nullopt;
        bytes *= size;
        entry.shape.push_back(static_cast<std::int64_t>(size));
    }
    const json& offsets = stored["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned()) return std::nullopt;
    entry.begin = offsets[0].get<std::uint64_t>();
    entry.end = offsets[1].get<std::uint64_t>();
    if (entry.begin > entry.end || entry.end > dataBytes || (element > 0 && entry.end - entry.begin != bytes)) return std::nullopt;
    return entry;
}

// Each byte belongs to one tensor: else a small file would become large in memory. Two names, or nothing.
std::optional<std::pair<std::string, std::string>> overlap(const std::map<std::string, TensorEntry>& entries) {
    std::vector<std::pair<const TensorEntry*, const std::string*>> inOrder;
    for (const auto& [name, entry] : entries)
        if (entry.end > entry.begin) inOrder.emplace_back(&entry, &name);
    std::ranges::sort(inOrder, {}, [](const auto& one) { return one.first->begin; });
    for (std::size_t i = 1; i < inOrder.size(); ++i)
        if (inOrder[i].first->begin < inOrder[i - 1].first->end) return std::pair(*inOrder[i - 1].second, *inOrder[i].second);
    return std::nullopt;
}

}  // namespace

Result<std::map<std::string, TensorEntry>> parseSafeTensorsHeader(std::string_view text, std::uint64_t dataBytes, const std::string& file) {
    const auto damaged = [&](const std::string& what) {
        return makeError(ErrorCode::Damaged, fmt::format("{} is not a whole safetensors file: {}.", file, what));
    };
    if (nestsDeeper(text)) return damaged("the brackets of its header nest deeper than those of any such file");
    std::set<std::string> names;
    std::optional<std::string> twice;
    const json header = json::parse(
        text,
        [&](int depth, json::parse_event_t event, json& parsed) {
            if (event == json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second && !twice)
                twice = parsed.get<std::string>();
            return true;
        },
        false);
    if (!header.is_object()) return damaged("its header is not JSON");
    if (twice) return damaged(fmt::format("its header names {} twice", *twice));
    std::map<std::string, TensorEntry> entries;
    for (const auto& [name, stored] : header.items()) {
        if (name == "__metadata__") continue;
        auto entry = readEntry(stored, dataBytes);
        if (!entry) return damaged(fmt::format("the entry of {} does not fit its data", name));
        entries.emplace(name, std::move(*entry));
    }
    if (const auto both = overlap(entries)) return damaged(fmt::format("the data of {} and {} overlap", both->first, both->second));
    return entries;
}

}  // namespace stepscope
