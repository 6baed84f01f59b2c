// `sessions export-csv | rename | delete | restore | delete-capture | purge`: what a person does to stored sessions.
#include <iostream>

#include "app/cli/Commands.h"
#include "app/cli/output/Output.h"
#include "sessions/Captures.h"
#include "sessions/SessionStore.h"
#include "sessions/exporters/Csv.h"
#include "sessions/exporters/ExportFile.h"
#include "sessions/exporters/ExportSession.h"

namespace stepscope::cli {
namespace {

struct ChangeOptions {
    std::string id, database, text;
    bool force = false;

    std::string path() const { return database.empty() ? defaultDatabasePath() : database; }
};

Status writeCsv(const ChangeOptions& options, std::int64_t session) {
    if (const std::string times = unknownTimesSentence(options.path(), session, ExportFormat::CsvLong); !times.empty()) printStatus(times + "\n");
    if (options.text.empty() || options.text == "-") return exportCsv(options.path(), session, std::cout);
    if (auto may = mayWrite(options.text, options.force ? Existing::Replace : Existing::Keep); !may) return may;
    return exportCsvFile(options.path(), session, options.text);
}

// A command on one session: ID, --db, and what it does; a positional of its own in between.
CLI::App* add(CLI::App& parent, Actions& actions, const char* name, const char* help, const std::shared_ptr<ChangeOptions>& options,
              std::function<Status(const ChangeOptions&, std::int64_t)> change) {
    auto* command = parent.add_subcommand(name, help);
    command->add_option("ID", options->id, "The session's number")->required();
    addDatabaseOption(*command, options->database);
    actions[command] = [options, change = std::move(change)]() -> Result<ExitCode> {
        const auto id = parseSessionId(options->id);
        if (!id) return id.error();
        if (auto done = change(*options, *id); !done) return done.error();
        return ExitCode::Ok;
    };
    return command;
}

}  // namespace

void addSessionsChanges(CLI::App& parent, Actions& actions) {
    const auto exporting = std::make_shared<ChangeOptions>();
    auto* csv = add(parent, actions, "export-csv", "Every number of a session as CSV, to a file or stdout", exporting, writeCsv);
    csv->add_option("FILE", exporting->text, "Default: stdout");
    csv->add_flag("--force", exporting->force, kForceHelp);

    const auto renaming = std::make_shared<ChangeOptions>();
    add(parent, actions, "rename", "Give a session another name", renaming,
        [](const ChangeOptions& o, std::int64_t id) { return renameSession(o.path(), id, o.text); })
        ->add_option("NAME", renaming->text, "The new name")
        ->required();

    add(parent, actions, "delete", "Mark a session as deleted; restore brings it back, purge removes it", std::make_shared<ChangeOptions>(),
        [](const ChangeOptions& o, std::int64_t id) { return deleteSession(o.path(), id); });
    add(parent, actions, "restore", "Bring a deleted session back", std::make_shared<ChangeOptions>(),
        [](const ChangeOptions& o, std::int64_t id) { return restoreSession(o.path(), id); });

    const auto capture = std::make_shared<ChangeOptions>();
    add(parent, actions, "delete-capture", "Remove one capture for good, its session stays; sessions show has their numbers and sizes", capture,
        [](const ChangeOptions& o, std::int64_t id) -> Status {
            const auto number = wholeOption("NUMBER", o.text, 1, std::numeric_limits<std::int32_t>::max());
            if (!number) return number.error();
            return deleteCapture(o.path(), id, *number);
        })
        ->add_option("NUMBER", capture->text, "Which, from 1")
        ->required();

    const auto purging = std::make_shared<ChangeOptions>();
    auto* purge = parent.add_subcommand("purge", "Really remove what was deleted, with its checkpoints; it cannot be restored after that");
    addDatabaseOption(*purge, purging->database);
    actions[purge] = [purging]() -> Result<ExitCode> {
        if (auto done = purgeDeletedSessions(purging->path()); !done) return done.error();
        return ExitCode::Ok;
    };
}

}  // namespace stepscope::cli
