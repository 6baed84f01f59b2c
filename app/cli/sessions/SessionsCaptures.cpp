// `sessions captures ID`: what ran in the captured steps of a session.
#include <fmt/format.h>

#include "app/cli/Commands.h"
#include "app/cli/output/Output.h"
#include "app/cli/sessions/CaptureReport.h"
#include "app/cli/sessions/SessionJson.h"
#include "core/events/Event.h"
#include "sessions/SessionStore.h"

namespace stepscope::cli {
namespace {

constexpr std::int64_t kEventsAtOnce = 20'000;
constexpr std::size_t kRows = 40;

Result<std::vector<CaptureDone>> readCaptures(const std::string& database, const std::string& idText) {
    const auto id = parseSessionId(idText);
    if (!id) return id.error();
    auto reader = SessionReader::open(database.empty() ? defaultDatabasePath() : database);
    if (!reader) return reader.error();
    std::vector<CaptureDone> captures;
    for (std::int64_t from = 0;;) {
        const auto events = (*reader)->events(*id, from, kEventsAtOnce);
        if (!events) return events.error();
        if (events->empty()) return captures;
        for (const auto& event : *events)
            if (const auto* capture = std::get_if<CaptureDone>(&event)) captures.push_back(*capture);
        from += static_cast<std::int64_t>(events->size());
    }
}

}  // namespace

void addSessionsCaptures(CLI::App& parent, Actions& actions) {
    struct Options {
        std::string id, database;
        bool all = false, json = false;
    };
    auto options = std::make_shared<Options>();
    auto* command = parent.add_subcommand("captures", "What ran in the steps that train --capture-at captured");
    command->add_option("ID", options->id, "The session's number")->required();
    addDatabaseOption(*command, options->database);
    command->add_flag("--all", options->all, fmt::format("Every operation, not only the {} with the most time", kRows));
    command->add_flag("--json", options->json, "As JSON, with every operation");
    actions[command] = [options]() -> Result<ExitCode> {
        const auto captures = readCaptures(options->database, options->id);
        if (!captures) return captures.error();
        if (options->json) {
            Json all = Json::array();
            for (const auto& capture : *captures) all.push_back(toJson(capture));
            print(line({{"captures", all}}));
            return ExitCode::Ok;
        }
        if (captures->empty()) print(fmt::format("Nothing was captured in session {}: `stepscope-cli train --capture-at STEP` does.\n", options->id));
        for (std::size_t i = 0; i < captures->size(); ++i)
            print((i > 0 ? "\n" : "") + captureTable((*captures)[i], options->all ? kMostCapturedOperations : kRows));
        return ExitCode::Ok;
    };
}

}  // namespace stepscope::cli
