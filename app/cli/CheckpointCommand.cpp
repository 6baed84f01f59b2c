// `checkpoint show FILE|ID` and `checkpoint list SESSION`: what is in a checkpoint, and which ones a session has.
#include <fmt/format.h>

#include "app/cli/CheckpointChoice.h"
#include "app/cli/Commands.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "app/cli/output/Table.h"
#include "app/workbench/Checkpoints.h"
#include "core/base/Format.h"
#include "core/events/ConfigKeys.h"
#include "sessions/SessionStore.h"

namespace stepscope::cli {
namespace {

struct CheckpointOptions {
    std::string what, database;
    bool json = false;
};

Json toJson(const CheckpointInfo& c) {
    return {{"path", c.path},
            {"step", c.step},
            {"parameters", c.parameters},
            {"tokenizer", c.tokenizer.empty() ? Json(nullptr) : Json(c.tokenizer)},
            {"loss", nineDigits(c.loss)},
            {"bytes", c.bytes},
            {"config", cli::toJson(c.config)}};
}

std::string asText(const CheckpointInfo& c) {
    std::string text = fmt::format("{}\n  step {}, loss {:.4f}, {} parameters, {}, {}\n\nconfiguration\n", printable(c.path), format::count(c.step),
                                   c.loss, format::count(c.parameters), c.tokenizer.empty() ? "ready tokens" : printable(c.tokenizer) + " tokenizer",
                                   format::bytes({c.bytes}));
    for (const auto& [key, value] : listConfig(c.config)) text += fmt::format("  {}: {}\n", printable(key), printable(value));
    return text;
}

Result<ExitCode> show(const CheckpointOptions& options) {
    const auto path = chooseCheckpoint(options.what, options.database);
    if (!path) return path.error();
    const auto checkpoint = inspectCheckpoint(*path);
    if (!checkpoint) return checkpoint.error();
    print(options.json ? line(toJson(*checkpoint)) : asText(*checkpoint));
    return ExitCode::Ok;
}

Result<ExitCode> list(const CheckpointOptions& options) {
    const auto id = parseSessionId(options.what);
    if (!id) return id.error();
    const auto paths = checkpointsOf(options.database.empty() ? defaultDatabasePath() : options.database, *id);
    if (!paths) return paths.error();
    Json all = Json::array();
    Table table({{"STEP", Table::Align::Right}, {"LOSS", Table::Align::Right}, {"SIZE", Table::Align::Right}, {"FOLDER"}});
    for (const auto& path : *paths) {
        const auto checkpoint = inspectCheckpoint(path);
        if (!checkpoint) return checkpoint.error();
        all.push_back(toJson(*checkpoint));
        table.add({format::count(checkpoint->step), format::significant(checkpoint->loss, 4), format::bytes({checkpoint->bytes}), path});
    }
    if (options.json)
        print(line(all));
    else if (paths->empty())
        print(fmt::format("Session {} has no checkpoints: train with --checkpoint-every N saves them.\n", *id));
    else
        print(table.text());
    return ExitCode::Ok;
}

void add(CLI::App& group, Actions& actions, const char* name, const char* help, const char* positional,
         Result<ExitCode> (*action)(const CheckpointOptions&)) {
    auto options = std::make_shared<CheckpointOptions>();
    auto* command = group.add_subcommand(name, help);
    command->add_option(positional, options->what)->required();
    addDatabaseOption(*command, options->database);
    command->add_flag("--json", options->json, "As JSON");
    actions[command] = [options, action] { return action(*options); };
}

}  // namespace

void addCheckpoint(CLI::App& parent, Actions& actions) {
    auto* group = parent.add_subcommand("checkpoint", "Look at saved checkpoints, and write their weights for other programs");
    add(*group, actions, "show", "What one checkpoint holds: its folder or a file in it, or a session's newest", "FILE|ID", show);
    add(*group, actions, "list", "The checkpoints of a session, oldest first", "SESSION", list);
    addCheckpointExport(*group, actions);
}

}  // namespace stepscope::cli
