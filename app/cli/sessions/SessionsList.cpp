// `sessions list`: every recorded session, newest first.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <filesystem>

#include "app/cli/Commands.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "app/cli/output/Table.h"
#include "app/cli/sessions/SessionJson.h"
#include "core/base/Format.h"
#include "sessions/SessionStore.h"

namespace stepscope::cli {
namespace {

std::string asTable(const std::vector<SessionSummary>& sessions) {
    using enum Table::Align;
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    Table table({{"ID", Right},
                 {"STATE"},
                 {"STEPS", Right},
                 {"LOSS", Right},
                 {"VALIDATION", Right},
                 {"A STEP", Right},
                 {"SPEED", Right},
                 {"STARTED"},
                 {"NAME"},
                 {"TAGS"}});
    for (const auto& s : sessions)
        table.add({std::to_string(s.id), toString(s.state), format::count(s.steps), format::significant(s.lossLast, 4),
                   format::significant(s.validationLossLast, 4), format::milliseconds(s.msPerStepMedian), format::rate(s.tokensPerSecond, "tok/s"),
                   relativeTime(s.startedUnixMs, now), s.name, fmt::format("{}", fmt::join(s.tags, ", "))});
    return table.text();
}

// Sessions whose rows cannot be read are left out of the result and named on stderr.
Result<std::vector<SessionSummary>> read(const std::string& path) {
    // On a machine where nothing was recorded yet the default file is not there: that is an empty list, not a mistake.
    std::error_code problem;
    if (path.empty() && !std::filesystem::exists(defaultDatabasePath(), problem)) {
        if (const std::string why = whyDatabaseCannotBeMade(defaultDatabasePath()); !why.empty()) return makeError(ErrorCode::Io, why);
        return std::vector<SessionSummary>{};
    }
    return SessionReader::open(path.empty() ? defaultDatabasePath() : path).andThen([](std::unique_ptr<SessionReader> reader) {
        auto sessions = reader->list();
        for (const Error& error : reader->unreadable()) printError(error.sentence);
        return sessions;
    });
}

}  // namespace

void addSessionsList(CLI::App& parent, Actions& actions) {
    struct Options {
        std::string database;
        bool json = false;
    };
    auto options = std::make_shared<Options>();
    auto* command = parent.add_subcommand("list", "Every session, newest first");
    addDatabaseOption(*command, options->database);
    command->add_flag("--json", options->json, "As JSON");
    actions[command] = [options]() -> Result<ExitCode> {
        const auto sessions = read(options->database);
        if (!sessions) return sessions.error();
        if (options->json) {
            Json all = Json::array();
            for (const auto& session : *sessions) all.push_back(toJson(session));
            print(line(all));
        } else if (sessions->empty()) {
            print("No sessions yet: `stepscope-cli train` records one.\n");
        } else {
            print(asTable(*sessions));
        }
        return ExitCode::Ok;
    };
}

}  // namespace stepscope::cli
