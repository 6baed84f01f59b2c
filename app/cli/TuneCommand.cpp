// `tune`: which settings are fastest here? A race among the values of all switches that compute the same, then a fresh experiment of what won beside
// the present settings. Main thread; Ctrl-C ends it and keeps what is known.
#include <fmt/format.h>

#include "app/cli/Commands.h"
#include "app/cli/RunOptions.h"
#include "app/cli/ab/ReportFile.h"
#include "app/cli/study/TellStudy.h"
#include "app/workbench/experiments/StudyRequests.h"
#include "core/events/ConfigKeys.h"

namespace stepscope::cli {
namespace {

struct TuneOptions {
    RunOptions base;
    bool boundsMemory = false;  // also with an empty word, as of a variable that a script never set
    bool noRecord = false, json = false;
    // Texts, so that the range checks name the option.
    std::string budget = "5", delta = "1", seed = "0", memory;
    std::vector<std::string> reports;  // files
    TuneRequest request;
};

Status prepare(TuneOptions& options, const Workbench& workbench) {
    TuneRequest& request = options.request;
    const auto budget = realOption("--budget", options.budget, 0, 1e9);
    if (!budget) return budget.error();
    if (*budget * 60 < kShortestTune || *budget * 60 > kLongestBudget)
        return makeError(ErrorCode::BadInput, fmt::format("--budget cannot be {} minutes; a search takes {:g} seconds (0.34 minutes) to {:g} hours.",
                                                          options.budget, kShortestTune, kLongestBudget / 3600));
    const auto delta = realOption("--delta", options.delta, kLeastDelta * 100, kMostDelta * 100);
    if (!delta) return delta.error();
    const auto seed = wholeOption("--seed", options.seed, 0, 1'000'000'000'000);
    if (!seed) return seed.error();
    if (options.boundsMemory) {
        const auto gigabytes = realOption("--memory", options.memory, 0.01, 1e6);
        if (!gigabytes) return gigabytes.error();
        request.memory = Bytes{static_cast<std::int64_t>(*gigabytes * 1e9)};
    }
    request.budgetSeconds = *budget * 60;
    request.delta = *delta / 100;
    request.seed = *seed;
    request.record = !options.noRecord;
    auto config = options.base.configure(workbench);
    if (!config) return config.error();
    request.config = std::move(*config);
    return {};
}

Result<ExitCode> tune(TuneOptions& options) {
    const auto workbench = Workbench::create();
    if (auto ready = prepare(options, *workbench); !ready) return ready.error();
    if (auto writable = checkReports(options.reports); !writable) return writable.error();
    return runStudy(*workbench, [&](EventSink& sink) { return workbench->startTune(options.request, sink); },
                    {.json = options.json,
                     .reports = options.reports,
                     .database = options.request.record ? std::optional(options.request.database) : std::nullopt});
}

}  // namespace

void addTune(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<TuneOptions>();
    TuneRequest& request = options->request;
    auto* command = parent.add_subcommand("tune", "Which settings are fastest here? All that compute the same race; what won is measured anew");
    options->base.add(*command);
    options->base.addKey(*command, "data",
                         "kjv, shakespeare, generated, random, or a path: text, folder, .jsonl (either packed as .zst too), .parquet, .bin");
    options->base.addKey(*command, "threads", "CPU threads; 0 = every core");
    command
        ->add_option("--budget", options->budget,
                     "Of everything; the last fifth of it measures what won, a third where steps take half a second or more, and where that is too "
                     "short a little beyond")
        ->type_name("MINUTES")
        ->capture_default_str()
        ->take_last();
    command->add_flag("--sizes", request.sizes, "Batch size and context may change too: half of what is set, and twice as much");
    auto* memory =
        command->add_option("--memory", options->memory, "Leave out of the race what is predicted to take more memory")->type_name("GB")->take_last();
    command->add_option("--delta", options->delta, "Differences below this count as none")->type_name("PCT")->capture_default_str()->take_last();
    command->add_option("--seed", options->seed, "Of the order within rounds and of the coins; 0 = another one each time")
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
    actions[command] = [options, memory] {
        options->boundsMemory = memory->count() > 0;
        return tune(*options);
    };
}

}  // namespace stepscope::cli
