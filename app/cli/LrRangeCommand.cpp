// `lr-range`: a learning-rate range test. One short run whose rate rises exponentially from --low to --high, nothing recorded; prints
// the curve and the rate it suggests, or the curve and why it suggests none (exit code 3). The main thread waits; Ctrl-C ends the sweep
// early and what there is is read (exit code 10).
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>

#include "app/cli/Commands.h"
#include "app/cli/RunOptions.h"
#include "app/cli/StopSignals.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "core/analysis/LrRange.h"
#include "core/events/ConfigKeys.h"
#include "core/events/Event.h"
#include "core/events/Presets.h"
#include "core/events/Schedule.h"

namespace stepscope::cli {
namespace {

struct LrRangeOptions {
    RunOptions run;
    std::string low = "1e-6", high = "1", steps = "200";
    bool json = false;
};

// Collects the curve and ends the run once it has clearly broken down: the rest of the sweep would only repeat that.
class SweepSink final : public EventSink {
public:
    void publish(Event event) override {
        const auto* done = std::get_if<StepDone>(&event);
        if (done == nullptr) return;
        std::lock_guard lock(m_mutex);
        m_points.push_back({done->learningRate, done->loss});
        m_lowest = std::fmin(m_lowest, done->loss);
        if (hasBrokenDown(done->loss, m_lowest) && m_run != nullptr) m_run->send(Stop{});
    }
    void follow(Run* run) {
        std::lock_guard lock(m_mutex);
        m_run = run;
    }
    std::vector<LrRangePoint> points() {
        std::lock_guard lock(m_mutex);
        return m_points;
    }

private:
    std::mutex m_mutex;
    std::vector<LrRangePoint> m_points;
    double m_lowest = kUnknown;
    Run* m_run = nullptr;
};

Result<RunConfig> sweepConfig(const LrRangeOptions& options, const Workbench& workbench) {
    auto config = options.run.configure(workbench);
    if (!config) return config;
    const SwitchCatalogue catalogue = workbench.switches(*config);
    for (const auto& [key, text] :
         {std::pair<const char*, std::string>{"schedule", "range-test"}, {"min-lr", options.low}, {"lr", options.high}, {"steps", options.steps}})
        if (auto done = setKey(*config, catalogue, key, text); !done) return done.error();
    onlySteps(*config);
    return workbench.complete(std::move(*config));
}

using Points = std::vector<LrRangePoint>;

// Some twenty lines of the sweep, its last one, and the suggested one, which is marked. range: null where nothing is suggested.
std::string curveText(const Points& points, const LrRange* range) {
    const std::vector<double> smoothed = smoothedLoss(points);
    const std::size_t every = std::max<std::size_t>(1, points.size() / 20);
    std::string text;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const bool suggested = range != nullptr && i == range->suggestedAt;
        if (i % every != 0 && i + 1 != points.size() && !suggested) continue;
        const std::string loss = std::isfinite(smoothed[i]) ? fmt::format("{:.4f}", smoothed[i]) : "broke down";
        text += fmt::format("{:>10.2e}  {}{}\n", points[i].rate, loss, suggested ? "  <- suggested" : "");
    }
    return text;
}

std::string asText(const Result<LrRange>& range, const Points& points, bool whole) {
    if (!range) return curveText(points, nullptr);
    return fmt::format("suggested lr {:.2g}: the loss falls most steeply there\nlowest loss at {:.2g}; {}\n", range->suggestion, range->lowest,
                       endingOf(*range, points, whole)) +
           curveText(points, &*range);
}

std::string asJson(const Result<LrRange>& range, const Points& points, bool stopped) {
    Json all = Json::object();
    all["suggestion"] = range ? number(range->suggestion) : Json(nullptr);
    if (range) {
        all["lowest"] = number(range->lowest);
        all["diverged_at"] = range->divergedAt > 0 ? number(range->divergedAt) : Json(nullptr);
    } else {
        all["why"] = range.error().sentence;
    }
    Json curve = Json::array();
    const std::vector<double> smoothed = smoothedLoss(points);
    for (std::size_t i = 0; i < points.size(); ++i)
        curve.push_back({{"lr", number(points[i].rate)}, {"loss", nineDigits(points[i].loss)}, {"smoothed", nineDigits(smoothed[i])}});
    all["curve"] = std::move(curve);
    all["stopped"] = stopped;
    return line(all);
}

// What a sweep says that a person ended: too few steps are no mistake of its settings.
Result<LrRange> readStopped(const Points& points) {
    auto range = readLrRange(points);
    if (range) return range;
    return makeError(ErrorCode::Cancelled,
                     fmt::format("The sweep was stopped after {} step{}, which suggest no rate.", points.size(), points.size() == 1 ? "" : "s"));
}

Result<ExitCode> sweep(const LrRangeOptions& options) {
    const auto workbench = Workbench::create();
    auto config = sweepConfig(options, *workbench);
    if (!config) return config.error();
    RunRequest request;
    request.config = std::move(*config);
    request.record = false;

    SweepSink sink;
    std::atomic<Run*> running{nullptr};
    std::unique_ptr<Run> run;
    std::atomic<bool> stopped{false};
    RunSummary summary;
    {
        const StopSignals signals([&] {
            stopped = true;
            if (Run* told = running.load()) told->send(Stop{});
        });
        auto started = workbench->start(request, sink);
        if (!started) return started.error();
        run = std::move(*started);
        running = run.get();
        if (stopped) run->send(Stop{});
        sink.follow(run.get());
        summary = run->wait();
    }
    Points points = sink.points();
    if (summary.state == RunState::Failed && (points.empty() || summary.code != ErrorCode::Training)) return makeError(summary.code, summary.why);
    // The step that broke down is not published. It ends the run as failed, and the sweep as it should.
    if (summary.state == RunState::Failed || summary.state == RunState::Interrupted)
        points.push_back({learningRate(request.config, static_cast<std::int64_t>(points.size()) + 1), std::numeric_limits<double>::quiet_NaN()});
    const auto range = stopped ? readStopped(points) : readLrRange(points);
    const bool whole = static_cast<std::int64_t>(points.size()) >= request.config.steps;
    print(options.json ? asJson(range, points, stopped) : asText(range, points, whole));
    if (!range) return range.error();
    if (!stopped) return ExitCode::Ok;
    printError(fmt::format("The sweep was stopped after {} steps; this is what they say.", points.size()));
    return ExitCode::Stopped;
}

}  // namespace

void addLrRange(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<LrRangeOptions>();
    auto* command = parent.add_subcommand("lr-range", "Find a learning rate: sweep it and read the curve of the loss");
    options->run.add(*command);
    options->run.addKey(*command, "data",
                        "kjv, shakespeare, generated, random, or a path: text, folder, .jsonl (either packed as .zst too), .parquet, .bin");
    options->run.addKey(*command, "threads", "CPU threads; 0 = every core");
    const auto add = [command](const char* name, std::string& text, const char* help) {
        command->add_option(name, text, help)->type_name("VALUE")->capture_default_str()->take_last();
    };
    for (const auto& [key, how] : {std::pair{"min-lr", "a sweep begins where --low says"},
                                   {"lr", "a sweep ends where --high says"},
                                   {"steps", "a sweep has as many steps as --steps says"},
                                   {"schedule", "a sweep's schedule is range-test"}})
        options->run.keepKey(key, how);
    add("--low", options->low, "Where the sweep begins");
    add("--high", options->high, "Where it ends");
    add("--steps", options->steps, "Steps of the sweep");
    command->add_flag("--json", options->json, "Print the whole curve as one line of JSON; its suggestion is null where there is none");
    actions[command] = [options] { return sweep(*options); };
}

}  // namespace stepscope::cli
