// `ladder`: switches added one at a time, each measured beside the rung below it. Main thread; Ctrl-C ends it and keeps what is known, and
// --resume goes on with what a kill or a stop left.
#include <fmt/format.h>

#include <atomic>
#include <charconv>

#include "app/cli/Commands.h"
#include "app/cli/RunOptions.h"
#include "app/cli/StopSignals.h"
#include "app/cli/ab/ReportFile.h"
#include "app/cli/diagnose/LookOptions.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "app/cli/study/StudyReport.h"
#include "app/cli/study/TellStudy.h"
#include "app/workbench/diagnose/RunForecast.h"
#include "app/workbench/diagnose/TimedSteps.h"
#include "app/workbench/experiments/StudyRequests.h"
#include "core/events/ConfigKeys.h"
#include "core/events/Event.h"

namespace stepscope::cli {
namespace {

constexpr const char *kUsualDelta = "1", *kUsualSeed = "0";

struct LadderOptions {
    RunOptions base;
    std::string ladder, resume;
    bool asksBudget = false, resumes = false;  // also with an empty word, as of a variable that a script never set
    bool noLeaveOneOut = false, noRecord = false, json = false, plan = false;
    // Texts, so that the range checks name the option.
    std::string budget, delta = kUsualDelta, seed = kUsualSeed;
    std::vector<std::string> reports;  // files
    LadderRequest request;
};

// Everything of an earlier session but where it is kept.
Status resume(LadderOptions& options, const Workbench& workbench) {
    if (!options.ladder.empty() || !options.base.words().empty() || options.noLeaveOneOut || options.request.pairs)
        return makeError(ErrorCode::BadInput, "--resume goes on with what the session asked; leave out the ladder's name and other settings.");
    if (options.delta != kUsualDelta || options.seed != kUsualSeed || !options.request.tags.empty())
        return makeError(ErrorCode::BadInput,
                         "--resume keeps the session's --delta, --seed and tags, or its rows would not be of one kind; leave them out.");
    const auto id = parseSessionId(options.resume);
    if (!id) return id.error();
    auto request = resumedLadder(options.request.database, *id, workbench.machine());
    if (!request) return request.error();
    request->database = options.request.database;
    request->record = !options.noRecord;
    if (!options.request.name.empty()) request->name = options.request.name;
    if (!options.request.notes.empty()) request->notes = options.request.notes;
    if (options.asksBudget) {
        const auto budget = realOption("--budget", options.budget, kShortestBudget, kLongestBudget);
        if (!budget) return budget.error();
        request->budgetSeconds = *budget;
    }
    options.request = std::move(*request);
    return {};
}

Status prepare(LadderOptions& options, const Workbench& workbench) {
    if (options.resumes) return resume(options, workbench);
    LadderRequest& request = options.request;
    if (options.ladder.empty()) {
        std::string names;
        for (const auto& name : builtInLadders()) names += (names.empty() ? "" : ", ") + name;
        return makeError(ErrorCode::BadInput, fmt::format("Which ladder? Give {}, or a YAML file of rungs.", names));
    }
    if (options.asksBudget) {
        const auto budget = realOption("--budget", options.budget, kShortestBudget, kLongestBudget);
        if (!budget) return budget.error();
        request.budgetSeconds = *budget;
    }
    const auto delta = realOption("--delta", options.delta, kLeastDelta * 100, kMostDelta * 100);
    if (!delta) return delta.error();
    const auto seed = wholeOption("--seed", options.seed, 0, 1'000'000'000'000);
    if (!seed) return seed.error();
    request.delta = *delta / 100;
    request.seed = *seed;
    request.leaveOneOut = !options.noLeaveOneOut;
    request.record = !options.noRecord;
    auto ladder = loadLadder(options.ladder);
    if (!ladder) return ladder.error();
    request.ladder = std::move(*ladder);
    auto config = options.base.configure(workbench);
    if (!config) return config.error();
    request.config = std::move(*config);
    return {};
}

// A few steps of what is slowest, so that the time that is promised is that of this machine. What cannot be timed says so when it is measured. False:
// somebody ended it.
bool timeBottom(const Workbench& workbench, const LadderRequest& request) {
    auto bottom = ladderBottom(workbench, request);
    if (!bottom) return true;
    std::atomic<bool> cancelled{false};
    const StopSignals signals([&] { cancelled = true; });
    const StatusLine status;
    const auto timing = timeSteps(
        workbench.machine(), {.config = std::move(*bottom), .warmUp = 1, .steps = 5, .mostSeconds = 2},
        [&](const std::string& what) { status.say("how long the ladder will take: " + what); }, cancelled);
    if (timing) keepTimedSteps(request.database.empty() ? defaultDatabasePath() : request.database, *timing, workbench.machine());
    return !cancelled;
}

// The table as a ladder that was measured prints it, and what measuring it takes.
Json planJson(const LadderRequest& request, const LadderForecast& forecast) {
    StudyHistory history;
    history.add(StudyBegan{.kind = "ladder",
                           .title = request.ladder.title,
                           .unit = request.ladder.unit,
                           .budgetSeconds = request.budgetSeconds,
                           .delta = request.delta,
                           .seed = request.seed,
                           .legs = forecast.legs});
    for (const StudyRow& row : forecast.rows) history.add(row);
    Json all = json::ofStudy(history, 0);
    const bool timed = forecast.slowestStep > 0;
    all["plan"] = {{"measurements", forecast.open - forecast.waiting},
                   {"waiting", forecast.waiting},
                   {"seconds", number(forecast.open == 0 ? 0
                                      : timed            ? forecast.seconds
                                                         : forecast.budgetSeconds)},
                   {"seconds_of_pairs", number(forecast.pairSeconds)},
                   {"slowest_step_ms", timed ? number(forecast.slowestStep * 1e3) : Json(nullptr)}};
    return all;
}

Result<ExitCode> ladder(LadderOptions& options) {
    const auto workbench = Workbench::create();
    if (auto ready = prepare(options, *workbench); !ready) return ready.error();
    if (auto writable = checkReports(options.reports); !writable) return writable.error();
    auto forecast = workbench->forecast(options.request);
    if (!forecast) return forecast.error();
    const bool told = !options.plan && (stderrIsTerminal() || options.request.pairs);
    if (told && forecast->open > 0 && !(forecast->slowestStep > 0) && options.request.record) {
        if (!timeBottom(*workbench, options.request)) return ExitCode::Stopped;
        forecast = workbench->forecast(options.request);
        if (!forecast) return forecast.error();
    }
    const std::string cost = forecastWords(*forecast, options.request.budgetSeconds > 0);
    if (options.plan) {
        print(ladderPlanText(forecast->rows) + cost + ".\n");
        if (options.json) print(line(planJson(options.request, *forecast)));
        return ExitCode::Ok;
    }
    if (told) printError(cost + ".");
    return runStudy(*workbench, [&](EventSink& sink) { return workbench->startLadder(options.request, sink); },
                    {.json = options.json,
                     .reports = options.reports,
                     .database = options.request.record ? std::optional(options.request.database) : std::nullopt});
}

}  // namespace

void addLadder(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<LadderOptions>();
    LadderRequest& request = options->request;
    std::string names;
    for (const auto& name : builtInLadders()) names += name + ", ";
    auto* command = parent.add_subcommand("ladder", "Switches added one at a time: what does each give here, and all together?");
    command->add_option("LADDER", options->ladder, names + "or a YAML file: rungs of key=value")->type_name("NAME|FILE");
    options->base.add(*command);
    options->base.addKey(*command, "data",
                         "kjv, shakespeare, generated, random, or a path: text, folder, .jsonl (either packed as .zst too), .parquet, .bin");
    options->base.addKey(*command, "threads", "CPU threads; 0 = every core");
    auto* budget = command
                       ->add_option("--budget", options->budget,
                                    fmt::format("Of everything; default: about {:g} a measurement, longer where steps are slow", kSecondsALeg))
                       ->type_name("SECONDS")
                       ->take_last();
    command->add_flag("--no-leave-one-out", options->noLeaveOneOut, "Do not measure the top without each of its rungs");
    command->add_flag("--pairs", request.pairs, "Measure the top without each two of its rungs, too: do they give more together?");
    command->add_flag("--plan", options->plan, "Only say what would be measured, what cannot be and how long it takes");
    auto* resumed =
        command->add_option("--resume", options->resume, "Go on with a session's ladder: rungs that were measured are kept, and say in which session")
            ->type_name("ID")
            ->take_last();
    command->add_option("--delta", options->delta, "Differences below this count as none")->type_name("PCT")->capture_default_str()->take_last();
    command->add_option("--seed", options->seed, "Of the coins that order the turns; 0 = another one each time")
        ->type_name("N")
        ->capture_default_str()
        ->take_last();
    addDatabaseOption(*command, request.database);
    command->add_flag("--no-record", options->noRecord, "Store nothing");
    command->add_option("--name", request.name, "Name of the session")->type_name("TEXT")->take_last();
    command->add_option("--notes", request.notes, "Notes kept with the session")->type_name("TEXT")->take_last();
    command->add_option("--tag", request.tags, "A tag; may be repeated")->type_name("WORD")->allow_extra_args(false);
    addReports(*command, options->reports);
    command->add_flag("--json", options->json, "End with one line of JSON");
    actions[command] = [options, budget, resumed] {
        options->asksBudget = budget->count() > 0;
        options->resumes = resumed->count() > 0;
        return ladder(*options);
    };
}

}  // namespace stepscope::cli
