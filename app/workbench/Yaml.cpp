// Configuration as YAML: one flat mapping with the keys of ConfigKeys.h. `config` of the command line writes it, `--config`
// reads it. Every mistake is one sentence with the file and the line. Any thread.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "app/workbench/Workbench.h"
#include "core/base/Utf8.h"
#include "core/events/ConfigKeys.h"
#include "core/events/RetiredKeys.h"
#include "core/experiment/YamlDocuments.h"

namespace stepscope {
namespace {

constexpr std::uintmax_t kLargest = 1 << 20;  // a configuration is a page of text; anything larger is another file

Error at(const std::string& path, const YAML::Mark& mark, const std::string& what, std::string cause = {}) {
    const std::string place = mark.is_null() ? path : fmt::format("{}, line {}", path, mark.line + 1);
    return makeError(ErrorCode::BadInput, fmt::format("{}: {}", place, what), std::move(cause));
}

// What was wrong with one line, said with its place.
Error at(const std::string& path, const YAML::Mark& mark, const Error& inside) {
    return at(path, mark, inside.sentence, inside.cause).about(inside.subject.kind, inside.subject.name);
}

Result<std::string> readFile(const std::string& path) {
    std::error_code problem;
    const auto status = std::filesystem::status(path, problem);
    if (!std::filesystem::exists(status)) return makeError(ErrorCode::NotFound, fmt::format("The configuration file {} is not there.", path));
    if (!std::filesystem::is_regular_file(status))
        return makeError(ErrorCode::BadInput, fmt::format("{} is not a file; give a YAML file with keys and values.", path));
    if (std::filesystem::file_size(path, problem) > kLargest)
        return makeError(ErrorCode::BadInput, fmt::format("{} is too large for a configuration; give a YAML file with keys and values.", path));
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (file.is_open() && file.peek() == std::ifstream::traits_type::eof() && !file.bad()) return std::string{};
    if (!file.is_open() || !(text << file.rdbuf()))
        return makeError(ErrorCode::Io, fmt::format("The configuration file {} cannot be read: {}.", path, std::strerror(errno)));
    return std::move(text).str();
}

// A preset in the file is where the file starts from, wherever in the file it stands.
Result<RunConfig> startingPoint(const std::string& path, const YAML::Node& root, const RunConfig& base) {
    const YAML::Node preset = root["preset"];
    if (!preset.IsDefined()) return base;
    if (!preset.IsScalar()) return at(path, preset.Mark(), "preset takes one name.");
    auto config = presetConfig(preset.Scalar());
    if (!config) return at(path, preset.Mark(), config.error());
    return config;
}

Result<RunConfig> apply(const std::string& path, const YAML::Node& root, const RunConfig& base, const SwitchCatalogue& catalogue) {
    if (root.IsNull()) return at(path, YAML::Mark::null_mark(), "the file is empty; it takes lines like \"layers: 6\".");
    if (!root.IsMap()) return at(path, root.Mark(), "expected lines like \"layers: 6\", one key each.");
    auto config = startingPoint(path, root, base);
    if (!config) return config;
    std::set<std::string> seen;
    std::vector<std::pair<std::string, YAML::Node>> retired;
    for (const auto& entry : root) {
        const YAML::Node &key = entry.first, &value = entry.second;
        if (!key.IsScalar()) return at(path, key.Mark(), "a key must be one word.");
        const std::string& name = key.Scalar();
        if (!seen.insert(name).second) return at(path, key.Mark(), fmt::format("{} is given twice; keep one.", name));
        if (name == "preset") continue;
        if (!value.IsScalar())
            return at(path, key.Mark(),
                      fmt::format("{} takes one value{}.", name, value.IsNull() ? "; nothing is given" : ", not a list or a mapping"));
        if (isRetired(name)) {
            retired.emplace_back(name, value);
            continue;
        }
        if (auto done = setKey(*config, catalogue, name, value.Scalar()); !done) return at(path, key.Mark(), done.error());
    }
    // Last: they are read with the batch size and the context of this file.
    for (const auto& [name, value] : retired) {
        if (seen.contains("validation-tokens"))
            return at(path, value.Mark(), fmt::format("{} is validation-tokens now, which is given too; keep that.", name));
        if (auto done = takeRetired(*config, name, value.Scalar()); !done) return at(path, value.Mark(), done.error());
    }
    return config;
}

}  // namespace

Result<RunConfig> loadYaml(const std::string& path, const RunConfig& base, const SwitchCatalogue& catalogue) {
    const auto text = readFile(path);
    if (!text) return text.error();
    // A NUL, other than in an unlucky UTF-16 file, means that this is no text; yaml-cpp would end there without a word.
    if (!isUtf8(*text) || text->find('\0') != std::string::npos)
        return makeError(ErrorCode::BadInput, fmt::format("{} is not UTF-8 text; give a YAML file with keys and values.", path));
    try {
        if (!isOneYamlDocument(*text))
            return makeError(
                ErrorCode::BadInput,
                fmt::format("{} holds more than one YAML document (\"---\"), or a bracket that nothing opened; give a file with one.", path));
        return apply(path, YAML::Load(*text), base, catalogue);
    } catch (const YAML::Exception& problem) {
        return at(path, problem.mark, whyNoYaml(*text, problem.mark.is_null() ? 0 : problem.mark.line + 1) + ".", problem.what());
    }
}

std::string toYaml(const RunConfig& config) {
    YAML::Emitter out;
    out << YAML::BeginMap << YAML::Key << "preset" << YAML::Value << config.preset;
    std::string section;
    for (const auto& key : configKeys()) {
        if (key.section != section) out << YAML::Newline << YAML::Comment(section = key.section);
        out << YAML::Key << key.id << YAML::Value << toString(key.get(config));
    }
    if (!config.switches.empty()) out << YAML::Newline << YAML::Comment("switches");
    for (const auto& [id, value] : config.switches) out << YAML::Key << id << YAML::Value << toString(value);
    out << YAML::EndMap;
    return std::string(out.c_str(), out.size()) + "\n";
}

}  // namespace stepscope
