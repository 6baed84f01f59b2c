// `sessions export ID [FILE]` and `export-trace`: a session in the formats of other programs; the file's name or --format says which.
#include <fmt/format.h>

#include "app/cli/Commands.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "app/cli/sessions/ProfileCommand.h"
#include "sessions/SessionStore.h"
#include "sessions/exporters/ExportSession.h"

namespace stepscope::cli {
namespace {

struct ExportOptions {
    std::string id, database, file, format;
    std::int64_t rank = -1;  // of all
    bool force = false, json = false;
};

void addExport(CLI::App& parent, Actions& actions, const char* name, const char* help, ExportFormat otherwise) {
    std::string words;
    for (const auto& one : exportFormats()) words += fmt::format("{}{}", words.empty() ? "" : ", ", one.word);
    auto options = std::make_shared<ExportOptions>();
    auto* command = parent.add_subcommand(name, help);
    command->add_option("ID", options->id, "The session's number")->required();
    std::string usual = infoOf(otherwise).name;
    usual.replace(usual.find('%'), 1, "ID");
    command->add_option("FILE", options->file, fmt::format("Its name says the format; default: {} here; -: stdout", usual));
    command->add_option("--format", options->format, words)->type_name("WORD")->take_last();
    command->add_option("--rank", options->rank, "Of captures of several workers: this one's part alone, as readers of traces want it")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}))
        ->take_last();
    command->add_flag("--force", options->force, kForceHelp);
    addDatabaseOption(*command, options->database);
    command->add_flag("--json", options->json, "End with one line of JSON: the file, its format and the rank if one is named");
    actions[command] = [options, otherwise]() -> Result<ExitCode> {
        const auto id = parseSessionId(options->id);
        if (!id) return id.error();
        const auto format = exportFormatOf(options->format, options->file, otherwise);
        if (!format) return format.error();
        if (options->json && options->file == "-")
            return makeError(ErrorCode::BadInput, "With - the export itself goes to stdout, where a line of JSON would be part of it; name a file.");
        const OneRank rank = options->rank < 0 ? OneRank() : OneRank(options->rank);
        const std::string database = options->database.empty() ? defaultDatabasePath() : options->database;
        const auto written = exportSession(database, *id, options->file, *format, options->force ? Existing::Replace : Existing::Keep, {}, rank);
        if (!written) return written.error();
        if (const std::string several = *format == ExportFormat::Kineto && !rank ? severalRanksSentence(database, *id) : ""; !several.empty())
            printStatus(several + "\n");
        if (const std::string times = unknownTimesSentence(database, *id, *format); !times.empty()) printStatus(times + "\n");
        if (options->json)
            print(line(rank ? Json{{"file", *written}, {"format", infoOf(*format).word}, {"rank", *rank}}
                            : Json{{"file", *written}, {"format", infoOf(*format).word}}));
        else if (options->file.empty())
            print(fmt::format("{}\n", *written));
        return ExitCode::Ok;
    };
}

}  // namespace

void addSessionsExport(CLI::App& parent, Actions& actions) {
    addExport(parent, actions, "export-trace", "Captured steps as a trace for Perfetto, TensorBoard and others", ExportFormat::Kineto);
    addExport(parent, actions, "export", "A session for other programs: traces, a memory snapshot, CSV, TensorBoard's events", ExportFormat::CsvLong);
}

}  // namespace stepscope::cli
