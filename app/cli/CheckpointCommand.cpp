// `checkpoint show FILE|ID`, `checkpoint list SESSION` and `checkpoint delete SESSION STEP`: what is in a checkpoint, which ones a session has, and
// one of them gone.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

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
    std::string what, step, database;
    std::string path() const { return database.empty() ? defaultDatabasePath() : database; }
    bool json = false;
};

Json checkpointJson(const CheckpointInfo& c) {
    return {{"path", c.path},
            {"step", c.step},
            {"parameters", c.parameters},
            {"tokenizer", c.tokenizer.empty() ? Json(nullptr) : Json(c.tokenizer)},
            {"loss", nineDigits(c.loss)},
            {"bytes", c.bytes},
            {"config", toJson(c.config)}};
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
    print(options.json ? line(checkpointJson(*checkpoint)) : asText(*checkpoint));
    return ExitCode::Ok;
}

Result<ExitCode> list(const CheckpointOptions& options) {
    const auto id = parseSessionId(options.what);
    if (!id) return id.error();
    const auto listed = listCheckpoints(options.path(), *id);
    if (!listed) return listed.error();
    Json all = Json::array();
    Table table({{"STEP", Table::Align::Right},
                 {"LOSS", Table::Align::Right},
                 {"VALIDATION", Table::Align::Right},
                 {"SIZE", Table::Align::Right},
                 {"FOLDER"}});
    std::int64_t bytes = 0;
    std::string broken;
    for (const auto& one : *listed) {
        const auto checkpoint = inspectCheckpoint(one.path);
        bytes += one.bytes;
        if (!checkpoint) {
            // A run in progress may have removed it since.
            all.push_back({{"path", one.path}, {"bytes", one.bytes}, {"error", checkpoint.error().sentence}});
            table.add({"?", "", "", format::bytes({one.bytes}), printable(one.path)});
            broken += printable(checkpoint.error().sentence) + "\n";
            continue;
        }
        Json told = checkpointJson(*checkpoint);
        told["validation_loss"] = nineDigits(one.validationLoss);
        all.push_back(std::move(told));
        table.add({format::count(checkpoint->step), format::significant(checkpoint->loss, 4), format::significant(one.validationLoss, 4),
                   format::bytes({one.bytes}), one.path});
    }
    if (options.json)
        print(line(all));
    else if (listed->empty())
        print(fmt::format("Session {} has no checkpoints: train with --checkpoint-every N saves them.\n", *id));
    else
        print(table.text() +
              fmt::format("{} checkpoint{}, {} on the disk\n", listed->size(), listed->size() == 1 ? "" : "s", format::bytes({bytes})) + broken);
    return ExitCode::Ok;
}

Result<ExitCode> deleteOne(const CheckpointOptions& options) {
    const auto id = parseSessionId(options.what);
    if (!id) return id.error();
    const auto step = wholeOption("STEP", options.step, 0, std::numeric_limits<std::int64_t>::max());
    if (!step) return step.error();
    const auto listed = listCheckpoints(options.path(), *id);
    if (!listed) return listed.error();
    const auto found = std::ranges::find(*listed, *step, &ListedCheckpoint::step);
    if (found == listed->end())
        return makeError(ErrorCode::NotFound,
                         fmt::format("Session {} has no checkpoint of step {}; \"checkpoint list {}\" has all of them.", *id, *step, *id));
    const auto freed = deleteCheckpoint(options.path(), *id, found->path);
    if (!freed) return freed.error();
    if (options.json)
        print(line({{"session", *id}, {"step", *step}, {"path", found->path}, {"bytes", *freed}}));
    else
        print(fmt::format("The checkpoint of step {} of session {} is deleted: {} are free again.\n", format::count(*step), *id,
                          format::bytes({*freed})));
    return ExitCode::Ok;
}

void add(CLI::App& group, Actions& actions, const char* name, const char* help, const char* positional, const char* which,
         Result<ExitCode> (*action)(const CheckpointOptions&), bool ofAStep = false) {
    auto options = std::make_shared<CheckpointOptions>();
    auto* command = group.add_subcommand(name, help);
    command->add_option(positional, options->what, which)->required();
    if (ofAStep) command->add_option("STEP", options->step, "Of which step")->required();
    addDatabaseOption(*command, options->database);
    command->add_flag("--json", options->json, "As JSON");
    actions[command] = [options, action] { return action(*options); };
}

}  // namespace

void addCheckpoint(CLI::App& parent, Actions& actions) {
    auto* group = parent.add_subcommand("checkpoint", "Look at saved checkpoints, and write their weights for other programs");
    add(*group, actions, "show", "What one checkpoint holds: its folder or a file in it, or a session's newest", "FILE|ID",
        "A checkpoint's folder, a file in it, or a session's number", show);
    add(*group, actions, "list", "The checkpoints of a session, oldest first", "SESSION", "The session's number", list);
    add(*group, actions, "delete", "Remove one for good; the session and its other checkpoints stay", "SESSION", "The session's number", deleteOne,
        true);
    addCheckpointExport(*group, actions);
}

}  // namespace stepscope::cli
