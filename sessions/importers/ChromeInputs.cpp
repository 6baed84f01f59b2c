#include "sessions/importers/ChromeInputs.h"

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/trace/SliceCodec.h"

namespace stepscope::importing {
namespace {

constexpr std::size_t kMostInputBytes = std::size_t{16} << 20;  // of what is remembered

const char* ourType(const std::string& type) {
    constexpr std::array<std::pair<const char*, const char*>, 10> words{{{"float", "Float"},
                                                                         {"double", "Double"},
                                                                         {"c10::Half", "Half"},
                                                                         {"c10::BFloat16", "BFloat16"},
                                                                         {"long int", "Long"},
                                                                         {"int", "Int"},
                                                                         {"short int", "Short"},
                                                                         {"signed char", "Char"},
                                                                         {"unsigned char", "Byte"},
                                                                         {"bool", "Bool"}}};
    for (const auto& [theirs, ours] : words)
        if (type == theirs) return ours;
    return nullptr;
}

bool appendSizes(std::string& text, const nlohmann::json& dims) {
    if (!dims.is_array()) return false;
    text += '[';
    for (std::size_t i = 0; i < dims.size(); ++i) {
        if (!dims[i].is_number_unsigned()) return false;
        if (i > 0) text += ',';
        text += std::to_string(dims[i].get<std::uint64_t>());
    }
    text += ']';
    return true;
}

// In the words of SliceArguments::text; false where they have none for it.
bool appendInput(std::string& text, const nlohmann::json& dims, const std::string& type) {
    if (const char* ours = ourType(type)) {
        text += ours;
        return appendSizes(text, dims);
    }
    if (type == "TensorList") {
        text += '{';
        if (!dims.is_array()) return false;
        for (std::size_t i = 0; i < dims.size(); ++i) {
            text += i > 0 ? ";-" : "-";
            if (!appendSizes(text, dims[i])) return false;
        }
        text += '}';
        return true;
    }
    if (type.find_first_of(" []{};\n") != std::string::npos || !dims.is_array() || !dims.empty()) return false;
    text += type.empty() ? "-" : type;
    return true;
}

}  // namespace

bool ChromeInputs::text(std::string_view dims, std::string_view types, std::string& into) {
    if (dims.size() + types.size() > kLongestSliceExtra) return false;
    std::string key;
    key.reserve(dims.size() + types.size());
    key.append(dims).append(types);
    if (const auto known = m_known.find(key); known != m_known.end()) {
        into = known->second;
        return !into.empty();
    }
    m_bytes += key.size() + 128;
    if (m_bytes > kMostInputBytes) {
        m_known.clear();
        m_bytes = key.size() + 128;
    }
    std::string found;
    const auto shapes = nlohmann::json::parse(dims, nullptr, false), words = nlohmann::json::parse(types, nullptr, false);
    bool good = shapes.is_array() && words.is_array() && shapes.size() == words.size() && !shapes.empty();
    for (std::size_t i = 0; good && i < shapes.size(); ++i) {
        if (i > 0) found += ' ';
        good = words[i].is_string() && appendInput(found, shapes[i], words[i].get<std::string>());
    }
    if (!good || found.size() > kLongestSliceName) found.clear();
    m_known.emplace(std::move(key), found);
    into = found;
    return !found.empty();
}

}  // namespace stepscope::importing
