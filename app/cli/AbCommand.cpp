// `ab`: two configurations that take turns until it is known which one is faster, or the budget is spent. Main thread; Ctrl-C ends it and keeps what
// is known.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <csignal>

#include "app/cli/CheckpointChoice.h"
#include "app/cli/Commands.h"
#include "app/cli/RunOptions.h"
#include "app/cli/StopSignals.h"
#include "app/cli/ab/AbReport.h"
#include "app/cli/ab/AbSink.h"
#include "app/cli/ab/ReportFile.h"
#include "app/cli/output/Output.h"
#include "app/workbench/Checkpoints.h"
#include "app/workbench/experiments/ExperimentQuestion.h"
#include "core/analysis/JudgedSentence.h"
#include "core/analysis/SlownessBound.h"
#include "core/events/ConfigJson.h"
#include "core/events/ConfigKeys.h"
#include "sessions/SessionStore.h"

namespace stepscope::cli {
namespace {

struct AbOptions {
    RunOptions both;
    std::vector<std::string> a, b, same;
    bool asksSame = false, asksBound = false, noRecord = false, noWhy = false, json = false;
    // Texts, so that the range checks name the option.
    std::string budget = "180", delta = "1", seed = "0", failIfSlower, lossSeconds = "0", lossSeeds = "5";
    std::vector<std::string> reports;
    ExperimentRequest request;
};

// The configuration of both with the settings of one side on top.
Result<RunConfig> side(const char* option, const Workbench& workbench, RunConfig config, const std::vector<std::string>& settings) {
    const SwitchCatalogue catalogue = workbench.switches(config);
    for (const std::string& setting : settings) {
        const auto equals = setting.find('=');
        if (equals == std::string::npos || equals == 0)
            return makeError(ErrorCode::BadInput, fmt::format("{} takes key=value, not \"{}\".", option, setting));
        if (auto done = setKey(config, catalogue, setting.substr(0, equals), setting.substr(equals + 1)); !done)
            return makeError(done.error().code, fmt::format("{}: {}", option, done.error().sentence));
    }
    auto complete = workbench.complete(std::move(config));
    if (!complete) return makeError(complete.error().code, fmt::format("{}: {}", option, complete.error().sentence));
    return complete;
}

Status prepare(AbOptions& options, const Workbench& workbench) {
    ExperimentRequest& request = options.request;
    if (auto named = checkReports(options.reports); !named) return named;
    if (options.asksSame && (!options.a.empty() || !options.b.empty()))
        return makeError(ErrorCode::BadInput, "--aa measures one configuration beside itself; leave out --a and --b.");
    if (!options.asksSame && options.a.empty() && options.b.empty())
        return makeError(ErrorCode::BadInput, "There is nothing to compare: give --a KEY=VALUE, --b KEY=VALUE or both, or --aa.");
    const auto budget = realOption("--budget", options.budget, kShortestBudget, kLongestBudget);
    if (!budget) return budget.error();
    const auto delta = realOption("--delta", options.delta, kLeastDelta * 100, kMostDelta * 100);
    if (!delta) return delta.error();
    const auto seed = wholeOption("--seed", options.seed, 0, 1'000'000'000'000);
    if (!seed) return seed.error();
    const auto lossSeconds =
        options.lossSeconds == "0" ? Result<double>(0.0) : realOption("--loss-after", options.lossSeconds, kLeastLossSeconds, kMostLossSeconds);
    if (!lossSeconds) return lossSeconds.error();
    const auto lossSeeds = wholeOption("--loss-seeds", options.lossSeeds, kLeastLossSeeds, kMostLossSeeds);
    if (!lossSeeds) return lossSeeds.error();
    if (options.asksBound)  // also by an empty word, as of a variable that a script never set
        if (const auto bound = realOption("--fail-if-slower", options.failIfSlower, 0, 99); !bound) return bound.error();
    request.budgetSeconds = *budget;
    request.delta = *delta / 100;
    request.seed = *seed;
    if (options.noWhy) request.whyWindows = 0;
    request.lossSeconds = *lossSeconds;
    request.lossSeeds = *lossSeeds;
    request.same = options.asksSame;
    request.record = !options.noRecord;
    std::optional<RunConfig> begun;
    if (!request.from.empty()) {
        const auto checkpoint = chooseCheckpoint(request.from, request.database);
        if (!checkpoint) return checkpoint.error();
        request.from = *checkpoint;
        auto held = inspectCheckpoint(request.from);
        if (!held) return held.error();
        begun = std::move(held->config);
        // Steps of an experiment go on from there, however many the run was to have.
        begun->steps = std::max(begun->steps, held->step + 1'000'000);
    }
    const auto both = options.both.configure(workbench, begun);
    if (!both) return both.error();
    auto a = side(options.asksSame ? "--aa" : "--a", workbench, *both, options.asksSame ? options.same : options.a);
    if (!a) return a.error();
    auto b = options.asksSame ? a : side("--b", workbench, *both, options.b);
    if (!b) return b.error();
    request.a = std::move(*a);
    request.b = std::move(*b);
    // Its sides differ in nothing that could name it.
    if (const std::string name = fmt::format("{} beside itself", fmt::join(options.same, " "));
        request.name.empty() && !options.same.empty() && checkSessionName(name))
        request.name = name;
    return {};
}

// One line that asks the same again. seed: that the coins had.
std::string repeatLine(const AbOptions& options, std::int64_t seed) {
    std::string words = "stepscope-cli ab";
    const auto add = [&](const std::string& word) { words += " " + shellWord(word); };
    for (const auto& word : options.both.words()) add(word);
    const auto sideWords = [&](const char* name, const std::vector<std::string>& settings) {
        if (settings.empty()) return;
        add(name);
        for (const auto& setting : settings) add(setting);
    };
    if (options.asksSame && options.same.empty()) add("--aa");
    sideWords("--aa", options.same);
    sideWords("--a", options.a);
    sideWords("--b", options.b);
    if (!options.request.from.empty()) add("--from"), add(options.request.from);
    if (!options.request.init.empty()) add("--init"), add(options.request.init);
    add("--budget"), add(options.budget), add("--delta"), add(options.delta), add("--seed"), add(std::to_string(seed));
    if (options.noWhy) add("--no-why");
    if (options.lossSeconds != "0") add("--loss-after"), add(options.lossSeconds), add("--loss-seeds"), add(options.lossSeeds);
    return words;
}

ExitCode bySlowness(const ExperimentHistory& history, double percent) {
    switch (slownessOf(history, percent)) {
        case Slowness::Within:
            return ExitCode::Ok;
        case Slowness::Beyond:
            return ExitCode::Slower;
        case Slowness::Unknown:
            break;
    }
    return ExitCode::Undecided;
}

Status writeAbReports(const AbOptions& options, const Workbench& workbench, const AbSink& sink, const std::vector<EarlierAnswer>& earlier,
                      const std::optional<StoredPrediction>& foretold) {
    if (options.reports.empty()) return {};
    StoredReport report;
    report.history = sink.history();
    report.facts = reportFacts(workbench, *sink.history().began(), *sink.info());
    report.facts.repeat = repeatLine(options, sink.history().began()->seed);
    fillForetold(report.facts, foretold);
    for (const EarlierAnswer& one : earlier) report.facts.earlier.push_back(fmt::format("Session {}: {}", one.session, earlierWords(one)));
    return writeReports(report, sink.session(), options.reports);
}

Result<ExitCode> ab(AbOptions& options) {
    const auto workbench = Workbench::create();
    if (auto ready = prepare(options, *workbench); !ready) return ready.error();
    const ExperimentRequest& request = options.request;
    std::string why = whyNotComparable(request.a, request.b, request.same);
    if (why.empty() && !request.same) why = workbench->whyNothingDiffers(request.a, request.b);
    if (!why.empty()) {
        if (options.json)
            print(notComparableLine(why, {.configA = configToJson(request.a),
                                          .configB = configToJson(request.b),
                                          .same = request.same,
                                          .seed = request.seed,
                                          .budgetSeconds = request.budgetSeconds,
                                          .delta = request.delta,
                                          .alpha = request.alpha}));
        return makeError(ErrorCode::BadInput, why);
    }
    std::signal(SIGPIPE, SIG_IGN);
    AbSink sink(stderrIsTerminal());
    const auto ended = waitOrStop([&] { return workbench->startExperiment(request, sink); });
    if (!ended) return ended.error();
    const RunSummary& summary = *ended;
    const bool shown = sink.finish(summary.why);
    const SameSettings same = request.same ? changedSettings(*workbench, request.a) : SameSettings();
    std::vector<EarlierAnswer> earlier;
    std::optional<StoredPrediction> foretold;
    if (sink.history().began() && request.record) {
        const std::string database = request.database.empty() ? defaultDatabasePath() : request.database;
        auto found =
            earlierAnswers(database, sink.history().began()->question, sink.session(), turnedQuestion(*sink.history().began(), workbench->machine()));
        if (found)
            earlier = std::move(*found);
        else
            printError("Earlier answers cannot be read: " + found.error().sentence);
        if (sink.info())
            if (auto before = predictionOf(database, sink.history().began()->question, sink.info()->startedUnixMs)) foretold = std::move(*before);
    }
    if (sink.history().began())
        print(options.json ? abLine(sink.history(), sink.session(), earlier, foretold, same)
                           : abText(sink.history(), sink.session(), earlier, repeatLine(options, sink.history().began()->seed), foretold, same));
    if (sink.history().began() && sink.info())
        if (auto written = writeAbReports(options, *workbench, sink, earlier, foretold); !written) return written.error();
    if (summary.state == RunState::Failed || summary.state == RunState::Interrupted) {
        if (!shown) printError(summary.why);
        return exitCode(summary.code);
    }
    if (summary.state == RunState::Stopped) return ExitCode::Stopped;
    if (!options.asksBound) return ExitCode::Ok;
    return bySlowness(sink.history(), *realOption("--fail-if-slower", options.failIfSlower, 0, 99));
}

}  // namespace

void addAb(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<AbOptions>();
    ExperimentRequest& request = options->request;
    auto* command = parent.add_subcommand("ab", "Is B faster than A here, and how sure is that? Both take turns until it is known");
    options->both.add(*command);
    options->both.addKey(*command, "data",
                         "kjv, shakespeare, generated, random, or a path: text, folder, .jsonl (either packed as .zst too), .parquet, .bin");
    options->both.addKey(*command, "threads", "CPU threads; 0 = every core");
    const auto settings = [&](const char* name, std::vector<std::string>& into, const char* help) {
        return command->add_option(name, into, help)->type_name("KEY=VALUE");
    };
    settings("--a", options->a, "What A has beside the settings of both");
    settings("--b", options->b, "What B has");
    auto* same = settings("--aa", options->same, "One configuration beside itself: what this machine does by itself")->expected(0, -1);
    const auto add = [command](const char* name, const char* unit, std::string& text, const char* help) {
        command->add_option(name, text, help)->type_name(unit)->capture_default_str()->take_last();
    };
    add("--budget", "SECONDS", options->budget, "It ends when the answer is known, or after so long; capturing what tells why is part of it");
    add("--delta", "PCT", options->delta, "Differences below this count as none");
    add("--seed", "N", options->seed, "Of the coins that order the turns; 0 = another one each time");
    add("--loss-after", "SECONDS", options->lossSeconds,
        "Then, beyond the budget, train both for so long with each of some seeds, and compare the losses; 0 = do not");
    add("--loss-seeds", "N", options->lossSeeds, "How many seeds that are");
    auto* bound = command
                      ->add_option("--fail-if-slower", options->failIfSlower,
                                   "Exit with 13 when B is slower by more than this for sure, with 12 when nobody can tell")
                      ->type_name("PCT")
                      ->take_last();
    auto* from =
        command->add_option("--from", request.from, "Both start from a checkpoint, by its folder or a file in it, or from a session's newest one")
            ->type_name("FILE|ID")
            ->take_last();
    command->add_option("--init", request.init, "Both start from the weights in a file or folder")->type_name("PATH")->take_last()->excludes(from);
    addDatabaseOption(*command, request.database);
    command->add_flag("--no-why", options->noWhy, "Do not capture some steps of both afterwards, which tell why");
    command->add_flag("--no-record", options->noRecord, "Store nothing");
    command->add_option("--name", request.name, "Name of the session")->type_name("TEXT")->take_last();
    command->add_option("--notes", request.notes, "Notes kept with the session")->type_name("TEXT")->take_last();
    command->add_option("--tag", request.tags, "A tag; may be repeated")->type_name("WORD")->allow_extra_args(false);
    addReports(*command, options->reports);
    command->add_flag("--json", options->json, "End with one line of JSON");
    actions[command] = [options, same, bound] {
        options->asksSame = same->count() > 0;
        options->asksBound = bound->count() > 0;
        std::erase(options->same, "");  // --aa without a setting is given as one empty word
        return ab(*options);
    };
}

}  // namespace stepscope::cli
