// `diagnose`: what can be said of a configuration on this machine before it runs. Main thread; Ctrl-C ends it.
#include <fmt/format.h>

#include <atomic>

#include "app/cli/Commands.h"
#include "app/cli/StopSignals.h"
#include "app/cli/diagnose/DiagnoseReport.h"
#include "app/cli/diagnose/LookOptions.h"
#include "app/cli/output/Output.h"
#include "app/workbench/Checkpoints.h"
#include "app/workbench/diagnose/SpeedKey.h"
#include "app/workbench/experiments/ExperimentQuestion.h"
#include "core/events/Presets.h"

namespace stepscope::cli {
namespace {

constexpr std::size_t kRunsTold = 3, kChangesTold = 12;  // the newest

struct DiagnoseOptions {
    RunOptions run;
    std::string steps = "5", seconds = "20", session, database;
    bool json = false, noRecord = false;
};

// The settings of a stored run, checked as --set checks them.
Result<RunConfig> settingsOf(const std::string& database, std::int64_t session) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    auto info = (*reader)->info(session);
    if (!info) return info.error();
    if (!info->config) return makeError(ErrorCode::BadInput, fmt::format("Session {} has no settings of its own.", session));
    return storedConfig(std::move(*info->config), fmt::format("session {}", session));
}

// Of the session that is named; else of runs whose steps take as long as these. What cannot be read counts as nothing: the look itself needs no file.
ToldBefore toldBefore(const std::string& database, const DiagnoseRequest& wanted, const Machine& machine) {
    ToldBefore before;
    if (wanted.session == 0) {
        if (auto runs = foretoldRuns(database, speedKey(wanted.config, machine), kRunsTold)) before.runs = std::move(*runs);
    } else if (auto run = foretoldRun(database, wanted.session)) {
        before.runs.push_back(std::move(*run));
    }
    if (auto changes = measuredPredictions(database, kChangesTold)) before.changes = std::move(*changes);
    return before;
}

// `ab` of these settings, as one line to which what is to be tested is added.
std::string testLineOf(const DiagnoseOptions& options, const Workbench& workbench, const RunConfig& config) {
    std::string words = "stepscope-cli ab";
    if (options.session.empty()) {
        for (const auto& word : options.run.words()) words += " " + shellWord(word);
        return words;
    }
    const auto preset = presetConfig(config.preset);
    const auto base = preset ? workbench.complete(*preset) : Result<RunConfig>(preset.error());
    if (!base) return words;
    words += " --preset " + shellWord(config.preset);
    for (const DifferingKey& key : differingKeys(*base, config)) words += " --set " + shellWord(key.key + "=" + key.b);
    return words;
}

Result<ExitCode> diagnoseSettings(const DiagnoseOptions& options) {
    const auto workbench = Workbench::create();
    DiagnoseRequest wanted{.database = options.database, .keep = !options.noRecord};
    const auto steps = wholeOption("--time-steps", options.steps, 0, 1000);
    if (!steps) return steps.error();
    if (*steps != 0 && *steps < kFewestTimed)
        return makeError(ErrorCode::BadInput,
                         fmt::format("--time-steps cannot be {}; it takes {} or more, or 0 to time nothing.", *steps, kFewestTimed));
    const auto seconds = realOption("--seconds", options.seconds, 0.1, 3600);
    if (!seconds) return seconds.error();
    wanted.steps = *steps;
    wanted.mostSeconds = *seconds;
    std::optional<RunConfig> stored;
    if (!options.session.empty()) {
        const auto session = parseSessionId(options.session);
        if (!session) return session.error();
        wanted.session = *session;
        auto settings = settingsOf(options.database.empty() ? defaultDatabasePath() : options.database, *session);
        if (!settings) return settings.error();
        stored = std::move(*settings);
    }
    auto config = options.run.configure(*workbench, stored);
    if (!config) return config.error();
    wanted.config = std::move(*config);
    std::atomic<bool> cancelled{false};
    const StopSignals signals([&] { cancelled = true; });
    const auto found = [&] {
        const StatusLine status;
        return diagnose(
            workbench->machine(), wanted, [&](const std::string& what) { status.say(what); }, cancelled);
    }();
    if (!found) return found.error();
    const ToldBefore before = toldBefore(options.database.empty() ? defaultDatabasePath() : options.database, wanted, workbench->machine());
    const std::string test = testLineOf(options, *workbench, wanted.config);
    print(options.json ? line(diagnoseJson(*found, before, test)) : diagnoseText(*found, before, test));
    if (found->error) return *found->error;  // said once more, with its exit code
    return ExitCode::Ok;
}

}  // namespace

void addDiagnose(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<DiagnoseOptions>();
    auto* command = parent.add_subcommand("diagnose", "What to know before a run: machine, disk, data, memory, time, and what is worth trying");
    addConfiguration(options->run, *command);
    options->run.addKey(*command, "steps", "Updates that the run is to make");
    addNumber(*command, "--time-steps", "N", options->steps, "Steps that are timed, on weights of their own; 0 = nothing is timed");
    addNumber(*command, "--seconds", "SECONDS", options->seconds, "Fewer steps are timed where they take longer than this together");
    command->add_option("--session", options->session, "The settings of a stored run, and advice from how it went")->type_name("ID")->take_last();
    addDatabaseOption(*command, options->database);
    command->add_flag("--no-record", options->noRecord, "Keep no timed steps for the forecast of a run");
    command->add_flag("--json", options->json, "As one line of JSON");
    actions[command] = [options] { return diagnoseSettings(*options); };
}

}  // namespace stepscope::cli
