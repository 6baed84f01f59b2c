// `sessions`: the group, and what its commands share: --db and session ids.
#include <fmt/format.h>

#include <charconv>

#include "app/cli/Commands.h"

namespace stepscope::cli {

void addSessions(CLI::App& parent, Actions& actions) {
    auto* group = parent.add_subcommand("sessions", "List, show, export and tidy what was recorded");
    addSessionsList(*group, actions);
    addSessionsShow(*group, actions);
    addSessionsCaptures(*group, actions);
    addSessionsChanges(*group, actions);
}

void addDatabaseOption(CLI::App& command, std::string& path) {
    command.add_option("--db", path, "The file of sessions; default: in the data folder of the user")->type_name("FILE")->take_last();
}

Result<std::int64_t> parseSessionId(const std::string& text) {
    std::int64_t id = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (problem == std::errc{} && end == text.data() + text.size() && id > 0) return id;
    return makeError(ErrorCode::BadInput, fmt::format("\"{}\" is no session id; ids are whole numbers, see stepscope-cli sessions list.", text));
}

}  // namespace stepscope::cli
