// `report`: a stored experiment, ladder or search as a page to keep or to send: HTML that needs nothing else, Markdown, or JSON. Main thread.
#include <algorithm>

#include "app/cli/Commands.h"
#include "app/cli/ab/ReportFile.h"
#include "app/cli/output/Output.h"

namespace stepscope::cli {
namespace {

struct ReportOptions {
    std::string id, experiment, database, format, file;
    bool json = false, choosesExperiment = false;
};

Result<ReportFormat> formatOf(const ReportOptions& options) {
    if (options.format == "html") return ReportFormat::Html;
    if (options.format == "markdown") return ReportFormat::Markdown;
    if (options.json || options.format == "json") return ReportFormat::Json;
    return options.file.empty() || options.file == "-" ? Result<ReportFormat>(ReportFormat::Markdown) : reportFormatOf(options.file);
}

Result<ExitCode> report(const ReportOptions& options) {
    const auto id = parseSessionId(options.id);
    if (!id) return id.error();
    const auto format = formatOf(options);
    if (!format) return format.error();
    const auto number = options.choosesExperiment ? wholeOption("--experiment", options.experiment, 1, 1'000'000) : Result<std::int64_t>(0);
    if (!number) return number.error();
    const auto workbench = Workbench::create();
    const auto stored = storedReport(*workbench, options.database.empty() ? defaultDatabasePath() : options.database, *id, *number);
    if (!stored) return stored.error();
    if (options.file.empty() || options.file == "-") {
        print(reportText(*stored, *id, *format));
        return ExitCode::Ok;
    }
    if (auto written = writeReport(*stored, *id, *format, options.file); !written) return written.error();
    return ExitCode::Ok;
}

}  // namespace

void addReport(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<ReportOptions>();
    auto* command = parent.add_subcommand("report", "A stored experiment, ladder or search as a page to keep or to send");
    command->add_option("ID", options->id, "The session's number")->required();
    auto* number =
        command
            ->add_option(
                "--experiment", options->experiment,
                "The n-th measurement that the session holds: of a run that measured several, or one of a ladder's own; default: the newest, or the "
                "ladder itself")
            ->type_name("N")
            ->take_last();
    command->add_option("--output,-o", options->file, "Where to: FILE.html, FILE.md or FILE.json; stdout otherwise")->type_name("FILE")->take_last();
    auto* format = command->add_option("--format", options->format, "Whatever the file is called")
                       ->check(CLI::IsMember({"html", "markdown", "json"}))
                       ->type_name("html|markdown|json")
                       ->take_last();
    command->add_flag("--json", options->json, "As --format json")->excludes(format);
    addDatabaseOption(*command, options->database);
    actions[command] = [options, number] {
        options->choosesExperiment = number->count() > 0;
        return report(*options);
    };
}

}  // namespace stepscope::cli
