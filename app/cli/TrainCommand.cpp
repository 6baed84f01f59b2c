// `train`: one run to its end. The main thread waits; the console sink shows and logs; Ctrl-C asks for a clean stop. Of several workers that torchrun
// started each is a process that comes here; the first one alone tells.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>

#include "app/cli/CheckpointChoice.h"
#include "app/cli/Commands.h"
#include "app/cli/RunOptions.h"
#include "app/cli/StopSignals.h"
#include "app/cli/TrainReport.h"
#include "app/cli/output/ConsoleSink.h"
#include "app/cli/output/Output.h"
#include "app/workbench/Checkpoints.h"
#include "app/workbench/workers/LocalWorkers.h"
#include "app/workbench/workers/NotBegun.h"
#include "core/events/ConfigKeys.h"
#include "core/events/ConfigNumbers.h"
#include "core/events/Event.h"
#include "core/events/ProfileSchedule.h"
#include "core/workers/WorkerPlace.h"

namespace stepscope::cli {
namespace {

struct TrainOptions {
    RunOptions run;
    RunRequest request;
    bool noRecord = false, json = false, initShape = false, profileSlowest = false;
    std::string stepLog, logEvery = "0";
    std::vector<std::string> flips, measures;  // STEP:KEY=VALUE
    std::string measureBudget = "180";
    bool lossMayMove = false;
    Capture capture;      // when firstStep > 0
    std::string profile;  // empty: nothing is recorded of the steps
    std::string patience = "300", workers = "1";
    int startsOthers = 1;  // workers in all, of which this process starts the others; 1: it starts none
    std::string captureCap = fmt::format("{}GB", kUsualCaptureCap / 1'000'000'000);
};

Result<RunConfig> configFor(const TrainOptions& options, const Workbench& workbench) {
    const bool shaped = options.initShape || (!options.request.init.empty() && tellsWholeModel(options.request.init));
    if (options.request.resume.empty() && !shaped) return options.run.configure(workbench);
    if (shaped) {
        auto config = options.run.base(workbench);
        if (config) config = withShapeOf(options.request.init, std::move(*config));
        if (!config) return config;
        return options.run.configure(workbench, *config);
    }
    const auto checkpoint = inspectCheckpoint(options.request.resume);
    if (!checkpoint) return checkpoint.error();
    if (options.run.presetGiven() && options.run.preset() != checkpoint->config.preset)
        return makeError(ErrorCode::BadInput, fmt::format("{} was made with preset {}, so it cannot go on with preset {}; leave out --preset.",
                                                          options.request.resume, checkpoint->config.preset, options.run.preset()));
    return options.run.configure(workbench, checkpoint->config);
}

struct At {
    std::int64_t step;
    std::string id;
    Value value;
};

// "100:amp=bf16". Whether the value goes with the others then, the run says when it comes to that step; words that no switch knows are said now.
Result<At> parseAt(const char* option, const std::string& text, const SwitchCatalogue& catalogue) {
    const auto colon = text.find(':'), equals = text.find('=');
    if (colon == std::string::npos || equals == std::string::npos || colon > equals || colon + 1 == equals)
        return makeError(ErrorCode::BadInput, fmt::format("{} takes STEP:KEY=VALUE, such as 100:amp=bf16, not \"{}\".", option, text));
    const auto step = parseValue(IntegerRange{1, 1'000'000'000'000}, std::string(option) + "'s step", text.substr(0, colon));
    if (!step) return step.error();
    const std::string id = text.substr(colon + 1, equals - colon - 1);
    const auto entry = std::ranges::find(catalogue, id, &SwitchInfo::id);
    if (entry == catalogue.end())
        return makeError(ErrorCode::BadInput, fmt::format("{}: there is no switch \"{}\" that a run could flip; `switches` lists them.", option, id));
    const auto value = parseValue(entry->values, id, text.substr(equals + 1));
    if (!value) return makeError(value.error().code, fmt::format("{}: {}", option, value.error().sentence));
    return At{std::get<std::int64_t>(*step), id, *value};
}

Status schedule(TrainOptions& options, const Workbench& workbench) {
    const SwitchCatalogue catalogue = workbench.switches(options.request.config);
    const auto checkReached = [&](const char* option, const std::string& text, std::int64_t step) -> Status {
        const std::int64_t steps = options.request.config.steps;
        if (step <= steps) return {};
        return makeError(ErrorCode::BadInput,
                         fmt::format("{} {}: the run ends after step {}; give an earlier step, or more --steps.", option, text, steps));
    };
    for (const std::string& text : options.flips) {
        const auto at = parseAt("--flip", text, catalogue);
        if (!at) return at.error();
        if (auto reached = checkReached("--flip", text, at->step); !reached) return reached;
        options.request.scheduled.push_back({at->step, Flip{at->id, at->value}});
    }
    const auto budget = parseValue(RealRange{kShortestBudget, kLongestBudget}, "--measure-budget", options.measureBudget);
    if (!budget) return budget.error();
    for (const std::string& text : options.measures) {
        const auto at = parseAt("--measure", text, catalogue);
        if (!at) return at.error();
        if (auto reached = checkReached("--measure", text, at->step); !reached) return reached;
        options.request.scheduled.push_back(
            {at->step, Measure{.id = at->id, .value = at->value, .budgetSeconds = std::get<double>(*budget), .lossMayMove = options.lossMayMove}});
    }
    return {};
}

// All rounds are asked for before the first step, so that those that never come are told at the end, and all of them are ended at once.
Status scheduleProfile(TrainOptions& options) {
    if (options.profileSlowest) {
        if (options.noRecord)
            return makeError(ErrorCode::BadInput,
                             "train --no-record makes no session that --profile-slowest could record into; leave out one of the two.");
        options.request.scheduled.push_back({1, Capture{.slowest = true}});
    }
    if (options.profile.empty()) return {};
    if (options.noRecord)
        return makeError(ErrorCode::BadInput, "train --no-record makes no session that --profile could record into; leave out one of the two.");
    const auto wanted = parseProfile(options.profile);
    if (!wanted) return wanted.error();
    std::int64_t made = 0;
    if (!options.request.resume.empty()) {
        const auto checkpoint = inspectCheckpoint(options.request.resume);
        if (!checkpoint) return checkpoint.error();
        made = checkpoint->step;
    }
    const auto captures = capturesOf(*wanted, made);
    options.request.capture = captures.front();
    for (std::size_t i = 1; i < captures.size(); ++i) options.request.scheduled.push_back({1, captures[i]});
    return {};
}

// Known before the run, and a run may take days: a checkpoint lies in its session's folder, and such a run has none.
Status checkPlaceForCheckpoints(const TrainOptions& options) {
    const std::int64_t every = options.request.config.checkpointEvery;
    if (!options.noRecord) return {};
    // It is on by default, and such a run says what that comes to; who asks for it by name wants one.
    constexpr std::string_view kAtEnd = "checkpoint-at-end=";
    std::string atEnd;
    for (const std::string& word : options.run.words())
        if (word.starts_with(kAtEnd)) atEnd = word;
    if (!atEnd.empty() && options.request.config.checkpointAtEnd == "on")
        return makeError(
            ErrorCode::BadInput,
            fmt::format("train --no-record makes no session to keep checkpoints in, and --set {} asks for one; leave out one of the two.", atEnd));
    if (every == 0) return {};
    return makeError(ErrorCode::BadInput,
                     fmt::format("train --no-record makes no session to keep checkpoints in, and checkpoint-every is {}; leave out --no-record, "
                                 "or give --checkpoint-every 0.",
                                 every));
}

// Which of several workers this process is, from its environment.
Status findWorkers(TrainOptions& options) {
    const auto place = workerPlace();
    if (!place) return place.error();
    const auto patience = realOption("--patience", options.patience, 1, 86'400);
    if (!patience) return patience.error();
    if (!place->alone() && !options.measures.empty())
        return makeError(ErrorCode::BadInput, "train --measure lets two values take turns within one process; leave it out, or start one worker.");
    const auto wanted = parseValue(IntegerRange{1, LocalWorkers::kMost}, "--workers", options.workers);
    if (!wanted) return wanted.error();
    const auto asked = std::get<std::int64_t>(*wanted);
    if (asked > 1 && !place->alone() && asked != place->size)
        return makeError(ErrorCode::BadInput,
                         fmt::format("--workers {} starts that many on this machine, and the environment says that this is one of {} "
                                     "(WORLD_SIZE); leave one of the two out.",
                                     asked, place->size));
    // Even the same number: who means --workers would wait for others that nobody starts. Those that it starts have it among their words.
    if (asked > 1 && !place->alone() && !startedByFirstWorker())
        return makeError(ErrorCode::BadInput,
                         fmt::format("--workers {} starts the others itself, and RANK, WORLD_SIZE or SLURM's variables say that this is worker {} of "
                                     "{} that something else starts. Leave out --workers, or unset those variables where they are left over.",
                                     asked, place->rank, place->size));
    if (asked > 1 && !options.measures.empty())
        return makeError(ErrorCode::BadInput, "train --measure lets two values take turns within one process; leave it out, or --workers.");
    options.startsOthers = asked > 1 && place->alone() ? static_cast<int>(asked) : 1;
    options.request.workers = *place;
    options.request.workerPatience = std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * *patience));
    return {};
}

// What a run begins with may be there with one worker and not with another: the others, who wait for it, hear why it does not begin.
Error notBegun(const TrainOptions& options, Error why) {
    const bool othersWait = !options.request.workers.alone() && options.startsOthers == 1;
    if (othersWait && why.code != ErrorCode::Cancelled) tellNotBegun(options.request.workers, options.request.workerPatience, why);
    return why;
}

// A worker beside the first: it says nothing but why it could not go on.
Result<ExitCode> trainBeside(const TrainOptions& options, Workbench& workbench) {
    struct Silence final : EventSink {
        void publish(Event) override {}
        void publishChunk(ChunkPtr) override {}
    } silence;
    const auto summary = waitOrStop([&] { return workbench.start(options.request, silence); });
    if (!summary) return notBegun(options, summary.error());
    if (summary->state == RunState::Failed) {
        printError(fmt::format("worker {}: {}", options.request.workers.rank, summary->why));
        return exitCode(summary->code);
    }
    return summary->state == RunState::Stopped ? ExitCode::Stopped : ExitCode::Ok;
}

Result<ExitCode> train(TrainOptions& options) {
    if (auto found = findWorkers(options); !found) return found.error();
    const auto logEvery = parseValue(IntegerRange{0, 1'000'000'000}, "log-every", options.logEvery);
    if (!logEvery) return logEvery.error();
    const auto workbench = Workbench::create();
    if (!options.request.resume.empty()) {
        const auto checkpoint = chooseCheckpoint(options.request.resume, options.request.database);
        if (!checkpoint) return notBegun(options, checkpoint.error());
        options.request.resume = *checkpoint;
    }
    auto config = configFor(options, *workbench);
    if (!config) return notBegun(options, config.error());
    options.request.config = std::move(*config);
    options.request.record = !options.noRecord;
    if (options.capture.firstStep > 0) options.request.capture = options.capture;
    const auto cap = sizeOption("--capture-cap", options.captureCap);
    if (!cap) return cap.error();
    options.request.captureCap = *cap;
    if (auto good = checkPlaceForCheckpoints(options); !good) return good.error();
    if (auto good = schedule(options, *workbench); !good) return good.error();
    if (auto good = scheduleProfile(options); !good) return good.error();

    // A reader that goes away must not take the run with it.
    std::signal(SIGPIPE, SIG_IGN);
    if (options.request.workers.rank != 0) return trainBeside(options, *workbench);

    std::unique_ptr<StepLog> stepLog;
    if (!options.stepLog.empty()) {
        // Workers that were started anew go on with the log of those before them.
        auto opened = StepLog::open(options.stepLog, options.request.workers.restart > 0);
        if (!opened) return notBegun(options, opened.error());  // the others open none
        stepLog = std::move(*opened);
    }
    ConsoleSink sink(std::move(stepLog), StepLines(std::get<std::int64_t>(*logEvery), batchShape(options.request.config).context),
                     stderrIsTerminal());
    std::atomic<Run*> running{nullptr};
    std::atomic<bool> stopAsked{false}, captureEnded{false}, otherFailed{false};
    std::unique_ptr<Run> run;
    const auto stop = [&] {
        stopAsked = true;
        if (Run* told = running.load()) told->send(Stop{});
    };
    RunSummary summary;
    std::unique_ptr<LocalWorkers> others;
    if (options.startsOthers > 1) {
        const auto command = ownCommand();
        if (!command) return command.error();
        auto started = LocalWorkers::start(*command, options.startsOthers, static_cast<int>(ExitCode::Stopped), [&] {
            // Before all have met nobody else would notice; afterwards the run ends by itself, and names it.
            otherFailed = true;
            stop();
        });
        if (!started) return started.error();
        others = std::move(*started);
        options.request.workers = others->place();
    }
    {
        const StopSignals signals(stop, [&] {
            captureEnded = true;
            if (Run* told = running.load()) told->send(StopCapture{});
        });
        auto started = workbench->start(options.request, sink);
        if (!started) return notBegun(options, started.error());
        run = std::move(*started);
        running = run.get();
        if (stopAsked) run->send(Stop{});  // asked before there was a run to tell
        if (captureEnded) run->send(StopCapture{});
        summary = run->wait();
    }
    running = nullptr;
    const bool otherWasFirst = otherFailed;  // and has not ended for want of this one
    const std::vector<std::string> ofOthers = others ? others->failures() : std::vector<std::string>();
    const bool shown = sink.finish(summary.why);
    std::optional<StoredForecast> forecast;
    const std::string database = options.request.database.empty() ? defaultDatabasePath() : options.request.database;
    if (summary.session != 0)
        if (auto kept = forecastOfSession(database, summary.session)) forecast = std::move(*kept);
    const EarlierOfEach earlier = earlierOfEach(summary, database, workbench->machine());
    print(options.json ? summaryLine(summary, forecast, earlier) : summaryText(summary, forecast, earlier));
    if (summary.state == RunState::Failed || summary.state == RunState::Interrupted) {
        if (!shown) printError(summary.why);
        // Which of them has ended is known; why, that one said where nobody but this program can read it.
        if (otherWasFirst && !ofOthers.empty() && summary.why.find(ofOthers.front()) == std::string::npos) printError(ofOthers.front());
        return exitCode(summary.code);
    }
    // It was stopped for want of another one, and the one that is missing knows why.
    if (otherFailed && summary.state == RunState::Stopped) {
        for (const std::string& why : ofOthers) printError(why);
        return ExitCode::Training;
    }
    if (summary.state == RunState::Stopped) return ExitCode::Stopped;
    return summary.lostCheckpoints > 0 || !sink.stepLogWhole() ? ExitCode::Io : ExitCode::Ok;
}

}  // namespace

void addTrain(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<TrainOptions>();
    RunRequest& request = options->request;
    auto* command = parent.add_subcommand("train", "Train a model and record the run");
    options->run.add(*command);
    options->run.addKey(*command, "steps", "Updates to make");
    options->run.addKey(*command, "data",
                        "kjv, shakespeare, generated, random, or a path: text, folder, .jsonl (either packed as .zst too), .parquet, .bin");
    options->run.addKey(*command, "threads", "CPU threads; 0 = every core");
    options->run.addKey(*command, "validation", "Validate on the text or tokens at this path instead of the end of the data");
    options->run.addKey(*command, "checkpoint-every", "Steps between checkpoints; 0 = none");
    options->run.addKey(*command, "keep", "Keep only so many of them, the newest; 0 = all");
    options->run.addFlag(*command, "keep-best", "on", "Keep the one with the lowest validation loss too");
    options->run.addFlag(*command, "keep-zeros", "on",
                         "With --resume or --init: weights of the blocks' matrices that are zero, as prune leaves them, stay zero");
    options->run.addKey(*command, "early-stopping", "End after so many validations in a row without a lower loss; 0 = never");
    addDatabaseOption(*command, request.database);
    command->add_flag("--no-record", options->noRecord, "Store nothing, nor the weights at the end");
    auto* resume =
        command->add_option("--resume", request.resume, "Go on from a checkpoint, by its folder or a file in it, or from a session's newest one")
            ->type_name("FILE|ID")
            ->take_last();
    auto* init = command
                     ->add_option("--init", request.init,
                                  "Start from weights: a safetensors file with GPT-2's names, a GPT-2's folder of Hugging Face, llm.c's .bin")
                     ->type_name("PATH")
                     ->take_last();
    init->excludes(resume);  // whose weights would it be?
    command->add_flag("--init-partial", request.initPartial, "Take what fits of them, draw the rest as for a new model")->needs(init);
    command
        ->add_flag("--init-shape", options->initShape,
                   "Set the model as that file has it (folders and .bin always do): layers, heads, width, vocabulary, options")
        ->needs(init);
    command->add_option("--name", request.name, "Name of the session")->type_name("TEXT")->take_last();
    command->add_option("--notes", request.notes, "Notes kept with the session")->type_name("TEXT")->take_last();
    command->add_option("--tag", request.tags, "A tag; may be repeated")->type_name("WORD")->allow_extra_args(false);
    auto* captureAt =
        command->add_option("--capture-at", options->capture.firstStep, "Capture what runs in a step: operations with their counts and times")
            ->type_name("STEP")
            ->check(CLI::PositiveNumber)
            ->take_last();
    command
        ->add_option("--profile", options->profile,
                     "Record every operation of some steps, for `profile` and `sessions export-trace`: wait=N,warmup=N,active=N[,repeat=N]; kill "
                     "-USR1 ends it")
        ->type_name("SCHEDULE")
        ->check([](const std::string& text) {
            const auto good = parseProfile(text);
            return good ? std::string() : good.error().sentence;
        })
        ->excludes(captureAt)
        ->take_last();
    command->add_flag(
        "--profile-slowest", options->profileSlowest,
        "Observe every step and keep those that take longest, 20 at most, each with the one before and after it, as captures hold them");
    command->add_option("--capture-steps", options->capture.steps, "Steps to capture from there on")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{1}, kMostCapturedSteps))
        ->needs(captureAt)
        ->take_last();
    command
        ->add_option("--capture-cap", options->captureCap,
                     "End a capture when all captures of the session take so much on the disk, other workers' parts included; 0 = never")
        ->type_name("SIZE")
        ->capture_default_str()
        ->take_last();
    command->add_option("--flip", options->flips, "Set a switch to another value at a step, as a person does in the window; may be repeated")
        ->type_name("STEP:KEY=VALUE")
        ->allow_extra_args(false);
    command
        ->add_option("--measure", options->measures,
                     "From a step on, take turns between a switch's value and this one until it is known which is faster")
        ->type_name("STEP:KEY=VALUE")
        ->allow_extra_args(false);
    command->add_option("--measure-budget", options->measureBudget, "Seconds that one may take")
        ->type_name("SECONDS")
        ->capture_default_str()
        ->take_last();
    command->add_flag("--measure-any", options->lossMayMove, "Measure values of other arithmetic too: the loss may move while they take turns");
    command->add_option("--step-log", options->stepLog, "Write one JSON line a step to this file")->type_name("FILE")->take_last();
    command->add_option("--log-every", options->logEvery, "Print a line every so many steps, also into a pipe; 0 = never")
        ->type_name("N")
        ->take_last();
    command->add_flag("--json", options->json, "End with one line of JSON");
    command->add_option("--patience", options->patience, "With several workers: how long to wait for one that does not come")
        ->type_name("SECONDS")
        ->capture_default_str()
        ->take_last();
    command
        ->add_option("--workers", options->workers,
                     "Train with so many processes on this machine, each with its share of the cores; torchrun starts them on several")
        ->type_name("N")
        ->capture_default_str()
        ->take_last();
    actions[command] = [options] { return train(*options); };
}

}  // namespace stepscope::cli
