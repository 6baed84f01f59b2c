// `import FILE...`: traces and logs of other programs as a session of their own.
#include <fmt/format.h>

#include <atomic>
#include <chrono>

#include "app/cli/StopSignals.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "app/cli/sessions/ProfileCommand.h"
#include "core/base/Format.h"
#include "sessions/SessionStore.h"
#include "sessions/importers/Import.h"

namespace stepscope::cli {
namespace {

struct ImportOptions {
    std::vector<std::string> files;
    std::string database, name;
    bool json = false;
};

Json asJson(const ImportSummary& summary) {
    Json reasons = Json::object();
    for (const auto& [reason, count] : summary.reasons) reasons[reason] = count;
    return {{"session", summary.session},
            {"sessions", summary.sessions},
            {"steps", summary.steps},
            {"operations", summary.operations},
            {"kernels", summary.kernels},
            {"copies", summary.copies},
            {"memsets", summary.memsets},
            {"runtime_calls", summary.runtimeCalls},
            {"driver_calls", summary.driverCalls},
            {"synchronisations", summary.synchronisations},
            {"annotations", summary.annotations},
            {"python", summary.python},
            {"others", summary.others},
            {"samples", summary.samples},
            {"allocations", summary.allocations},
            {"flows", summary.flows},
            {"skipped", summary.skipped},
            {"reasons", reasons},
            {"notes", summary.notes},
            {"seconds", number(summary.seconds)}};
}

std::string asText(const ImportSummary& summary) {
    std::string text;
    const auto part = [&](std::int64_t count, const char* what) {
        if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", format::count(count), what);
    };
    part(summary.steps, "steps");
    part(summary.operations, "operations");
    part(summary.kernels, "kernels");
    part(summary.copies, "copies");
    part(summary.memsets, "memsets");
    part(summary.runtimeCalls, "runtime calls");
    part(summary.driverCalls, "driver calls");
    part(summary.synchronisations, "synchronisations");
    part(summary.annotations, "annotations");
    part(summary.python, "Python functions");
    part(summary.others, "other events");
    part(summary.samples, "samples");
    part(summary.allocations, "allocations");
    part(summary.flows, "flows");
    const std::string several = summary.sessions > 1 ? fmt::format("{} sessions, the newest of them ", summary.sessions) : std::string();
    std::string lines = fmt::format("{}{}ession {}: {}; {:.1f} s.\n", several, several.empty() ? "S" : "s", summary.session,
                                    text.empty() ? "no event" : text, summary.seconds);
    if (summary.skipped > 0) lines += fmt::format("{} events were skipped.\n", format::count(summary.skipped));
    for (const auto& [reason, count] : summary.reasons) lines += fmt::format("  {}: {}\n", format::count(count), printable(reason));
    for (const auto& note : summary.notes) lines += printable(note) + "\n";
    return lines;
}

// How far it is, on a terminal: one line that is written over.
class ImportProgress {
public:
    ~ImportProgress() {
        if (m_shown) printStatus("\r\x1b[K");
    }
    void show(double done, const std::string& file) {
        const auto now = std::chrono::steady_clock::now();
        if (!m_terminal || now - m_drawn < std::chrono::milliseconds(100)) return;
        m_drawn = now;
        m_shown = true;
        const std::string name = printable(file.substr(file.find_last_of('/') + 1));
        printStatus(fmt::format("\r\x1b[K{}: {:.0f} %", name.substr(0, 60), 100 * done));
    }

private:
    const bool m_terminal = stderrIsTerminal();
    bool m_shown = false;
    std::chrono::steady_clock::time_point m_drawn;
};

Result<ExitCode> import(const ImportOptions& options) {
    std::atomic<bool> stop = false;
    ImportRequest request{.database = options.database.empty() ? defaultDatabasePath() : options.database,
                          .files = options.files,
                          .name = options.name,
                          .progress = {}};
    const auto summary = [&] {
        ImportProgress progress;
        const StopSignals signals([&] { stop = true; });
        request.progress = [&](double done, const std::string& file) {
            progress.show(done, file);
            return !stop;
        };
        return importFiles(request);
    }();
    if (!summary) return summary.error();
    print(options.json ? line(asJson(*summary)) : asText(*summary));
    return ExitCode::Ok;
}

}  // namespace

void addImport(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<ImportOptions>();
    auto* command = parent.add_subcommand(
        "import", "Traces of PyTorch and Nsight Systems, TensorBoard's events, logs and CSV as a session of their own; sessions of another file");
    command
        ->add_option("FILE", options->files,
                     "Several files of one kind become one session, a worker each; each session in a file of sessions (.db) becomes one here")
        ->required()
        ->check(notEmpty("FILE"));
    command->add_option("--name", options->name, "Of the session; default: after the first file, or as it is called in a file of sessions")
        ->type_name("NAME")
        ->take_last();
    addDatabaseOption(*command, options->database);
    command->add_flag("--json", options->json, "End with one line of JSON");
    actions[command] = [options] { return import(*options); };
}

}  // namespace stepscope::cli
