// What several subcommands read from their command line.
#include "app/cli/Commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "core/events/ConfigKeys.h"

namespace stepscope::cli {

// An empty word is mostly a script's variable that was never set: it means no default.
CLI::Validator notEmpty(const std::string& option) {
    return {[option](const std::string& text) { return text.empty() ? option + " is empty; name a file, or leave it out." : std::string(); }, "", ""};
}

void addDatabaseOption(CLI::App& command, std::string& path) {
    command.add_option("--db", path, "The file of sessions; default: in the data folder of the user")
        ->type_name("FILE")
        ->take_last()
        ->check(notEmpty("--db"));
}

void addFromOption(CLI::App& command, std::string& from) {
    command
        .add_option("--from", from,
                    "A checkpoint, by its folder or a file in it, a session, whose newest is taken, or others' weights (as train --init)")
        ->type_name("PATH|ID")
        ->required()
        ->take_last();
}

Result<std::int64_t> parseSessionId(const std::string& text) {
    std::int64_t id = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (problem == std::errc{} && end == text.data() + text.size() && id > 0) return id;
    return makeError(ErrorCode::BadInput, fmt::format("\"{}\" is no session id; ids are whole numbers, see stepscope-cli sessions list.", text));
}

Result<std::int64_t> wholeOption(const char* name, const std::string& text, std::int64_t least, std::int64_t most) {
    const auto value = parseValue(IntegerRange{least, most}, name, text);
    if (!value) return value.error();
    return std::get<std::int64_t>(*value);
}

Result<std::int64_t> sizeOption(const char* name, const std::string& text) {
    static const std::map<std::string, double> kUnits{
        {"", 1},      {"b", 1},        {"kb", 1e3},        {"mb", 1e6},           {"gb", 1e9},
        {"tb", 1e12}, {"kib", 1024.0}, {"mib", 1048576.0}, {"gib", 1073741824.0}, {"tib", 1099511627776.0}};
    constexpr double kMostBytes = 1e15;
    std::string unit = text.substr(std::min(text.find_first_not_of("0123456789."), text.size()));
    const std::string digits = text.substr(0, text.size() - unit.size());
    unit.erase(0, std::min(unit.find_first_not_of(' '), unit.size()));
    for (char& c : unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto known = kUnits.find(unit);
    const auto number = parseValue(RealRange{0, kMostBytes}, name, digits);
    if (known == kUnits.end() || !number || std::get<double>(*number) * known->second > kMostBytes)
        return makeError(ErrorCode::BadInput, fmt::format("{} takes a size of at most 1 PB, such as 500MB or 2GB, not \"{}\".", name, text));
    return static_cast<std::int64_t>(std::get<double>(*number) * known->second);
}

Result<double> realOption(const char* name, const std::string& text, double least, double most) {
    const auto value = parseValue(RealRange{least, most}, name, text);
    if (!value) return value.error();
    return std::get<double>(*value);
}

}  // namespace stepscope::cli
