// The subcommands: each is one file that adds its options to the parser and leaves what to run in the table.
// main() parses, finds the chosen one and runs it on the main thread.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <map>

#include "app/cli/ExitCode.h"
#include "core/base/Result.h"

namespace stepscope::cli {

using Action = std::function<Result<ExitCode>()>;
using Actions = std::map<const CLI::App*, Action>;

void addTrain(CLI::App& parent, Actions& actions);
void addSessions(CLI::App& parent, Actions& actions);
void addSessionsList(CLI::App& parent, Actions& actions);
void addSessionsShow(CLI::App& parent, Actions& actions);
void addSessionsCaptures(CLI::App& parent, Actions& actions);
void addSessionsWorkers(CLI::App& parent, Actions& actions);
void addSessionsChanges(CLI::App& parent, Actions& actions);  // export-csv, rename, delete, restore, purge
void addCheckpoint(CLI::App& parent, Actions& actions);
void addCheckpointExport(CLI::App& parent, Actions& actions);
void addGenerate(CLI::App& parent, Actions& actions);
void addAb(CLI::App& parent, Actions& actions);
void addBench(CLI::App& parent, Actions& actions);
void addDiagnose(CLI::App& parent, Actions& actions);
void addCompare(CLI::App& parent, Actions& actions);
void addReport(CLI::App& parent, Actions& actions);
void addTune(CLI::App& parent, Actions& actions);
void addLadder(CLI::App& parent, Actions& actions);
void addPredict(CLI::App& parent, Actions& actions);
void addFindBatch(CLI::App& parent, Actions& actions);
void addEval(CLI::App& parent, Actions& actions);
void addInference(CLI::App& parent, Actions& actions);
void addPrune(CLI::App& parent, Actions& actions);
void addSwitches(CLI::App& parent, Actions& actions);
void addLrRange(CLI::App& parent, Actions& actions);
void addConfig(CLI::App& parent, Actions& actions);
void addWorkers(CLI::App& parent, Actions& actions);
void addEngine(CLI::App& parent, Actions& actions);

CLI::Validator notEmpty(const std::string& option);
// Of what writes a file.
constexpr const char* kForceHelp = "Write over a file that is there already";
// The --db option, the same words everywhere. Empty = the default database.
void addDatabaseOption(CLI::App& command, std::string& path);
// The --from option of what reads weights, its own or others'; CheckpointChoice.h finds what is meant.
void addFromOption(CLI::App& command, std::string& from);
// A session id typed by a person.
Result<std::int64_t> parseSessionId(const std::string& text);
// A number typed by a person, within [least, most]; the sentence names the option.
Result<std::int64_t> wholeOption(const char* name, const std::string& text, std::int64_t least, std::int64_t most);
// "2GB", "500 MB", "1.5GiB", or a number of bytes.
Result<std::int64_t> sizeOption(const char* name, const std::string& text);
Result<double> realOption(const char* name, const std::string& text, double least, double most);

}  // namespace stepscope::cli
