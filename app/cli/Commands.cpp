// What several subcommands read from their command line.
#include "app/cli/Commands.h"

#include <fmt/format.h>

#include <charconv>

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

Result<double> realOption(const char* name, const std::string& text, double least, double most) {
    const auto value = parseValue(RealRange{least, most}, name, text);
    if (!value) return value.error();
    return std::get<double>(*value);
}

}  // namespace stepscope::cli
