// `bench`: times some steps of a configuration, records nothing. Main thread; Ctrl-C ends it.
#include <fmt/format.h>

#include <atomic>

#include "app/cli/CheckpointChoice.h"
#include "app/cli/Commands.h"
#include "app/cli/StopSignals.h"
#include "app/cli/diagnose/BenchReport.h"
#include "app/cli/diagnose/LookOptions.h"
#include "app/cli/output/Output.h"
#include "app/workbench/Checkpoints.h"
#include "app/workbench/diagnose/PeakMeter.h"

namespace stepscope::cli {
namespace {

struct BenchOptions {
    RunOptions run;
    std::string steps = "50", warmUp = "5", from, database;
    bool json = false;
};

Result<StepsRequest> request(const BenchOptions& options, const Workbench& workbench) {
    StepsRequest wanted;
    const auto steps = wholeOption("--steps", options.steps, kFewestTimed, kMostTimed);
    if (!steps) return steps.error();
    const auto warmUp = wholeOption("--warm-up", options.warmUp, 1, kMostTimed);
    if (!warmUp) return warmUp.error();
    wanted.steps = *steps;
    wanted.warmUp = *warmUp;
    std::optional<RunConfig> begun;
    if (!options.from.empty()) {
        const auto checkpoint = chooseCheckpoint(options.from, options.database);
        if (!checkpoint) return checkpoint.error();
        wanted.from = *checkpoint;
        auto held = inspectCheckpoint(wanted.from);
        if (!held) return held.error();
        begun = std::move(held->config);
        begun->steps = std::max(begun->steps, held->step + 2 * kMostTimed + 1000);  // it goes on from there
    }
    auto config = options.run.configure(workbench, begun);
    if (!config) return config.error();
    wanted.config = std::move(*config);
    return wanted;
}

Result<ExitCode> bench(const BenchOptions& options) {
    const auto workbench = Workbench::create();
    const auto wanted = request(options, *workbench);
    if (!wanted) return wanted.error();
    std::atomic<bool> cancelled{false};
    const StopSignals signals([&] { cancelled = true; });
    Result<StepsTiming> timing = makeError(ErrorCode::Internal, "");
    Result<MachinePeaks> peaks = MachinePeaks{};
    {
        const StatusLine status;
        timing = timeSteps(
            workbench->machine(), *wanted, [&](const std::string& what) { status.say(what); }, cancelled);
        if (!timing) return timing.error();
        peaks = measurePeaks(
            workbench->machine(), {.device = timing->plan.device(), .threads = wanted->config.threads, .precisions = {timing->plan.precision}},
            [&](const std::string& what) { status.say(what); }, cancelled);
    }
    if (!peaks) return peaks.error();
    print(options.json ? line(benchJson(*timing, *peaks)) : benchText(*timing, *peaks));
    return ExitCode::Ok;
}

}  // namespace

void addBench(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<BenchOptions>();
    auto* command = parent.add_subcommand("bench", "How fast are these settings here? Times some steps and shows where the time goes");
    addConfiguration(options->run, *command);
    addNumber(*command, "--steps", "N", options->steps, "Steps that are timed");
    addNumber(*command, "--warm-up", "N", options->warmUp, "Steps before them that do not count");
    command->add_option("--from", options->from, "Start from a checkpoint, by its folder or a file in it, or from a session's newest one")
        ->type_name("FILE|ID")
        ->take_last();
    addDatabaseOption(*command, options->database);
    command->add_flag("--json", options->json, "As one line of JSON");
    actions[command] = [options] { return bench(*options); };
}

}  // namespace stepscope::cli
