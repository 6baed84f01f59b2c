// `lr-range`: a learning-rate range test. One short run whose rate rises exponentially from --low to --high, nothing recorded; prints
// the rate it suggests and, with --json, the whole curve. The main thread waits; Ctrl-C ends the sweep early and what there is is read.
#include "app/cli/Commands.h"
#include "app/cli/Json.h"
#include "app/cli/Output.h"
#include "app/cli/RunOptions.h"
#include "app/cli/StopSignals.h"
#include "core/analysis/LrRange.h"
#include "core/events/ConfigKeys.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fmt/format.h>
#include <mutex>

namespace stepscope::cli {
namespace {

struct Options {
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
        if (done->loss > kBroken * m_lowest && m_run != nullptr) m_run->send(Stop{});
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
    static constexpr double kBroken = 4;
    std::mutex m_mutex;
    std::vector<LrRangePoint> m_points;
    double m_lowest = kUnknown;
    Run* m_run = nullptr;
};

Result<RunConfig> sweepConfig(const Options& options, const Workbench& workbench) {
    auto config = options.run.configure(workbench);
    if (!config) return config;
    const SwitchCatalogue catalogue = workbench.switches(*config);
    for (const auto& [key, text] : {std::pair<const char*, std::string>{"schedule", "range-test"}, {"min-lr", options.low}, {"lr", options.high},
                                    {"steps", options.steps}, {"validation-every", "0"}, {"checkpoint-every", "0"}, {"sample-every", "0"}})
        if (auto done = setKey(*config, catalogue, key, text); !done) return done.error();
    return workbench.complete(std::move(*config));
}

std::string asText(const LrRange& range, const std::vector<LrRangePoint>& points) {
    std::string text = fmt::format("suggested lr {:.2g}: the loss falls most steeply there\n", range.suggestion);
    text += fmt::format("lowest loss at {:.2g}; {}\n", range.lowest,
                        range.divergedAt > 0 ? fmt::format("from {:.2g} on it breaks down", range.divergedAt) : "it did not break down up to the highest rate");
    const std::size_t every = std::max<std::size_t>(1, points.size() / 20);
    for (std::size_t i = 0; i < points.size(); ++i)
        if (i % every == 0 || i == range.suggestedAt)
            text += fmt::format("{:>10.2e}  {:.4f}{}\n", points[i].rate, range.smoothed[i], i == range.suggestedAt ? "  <- suggested" : "");
    return text;
}

std::string asJson(const LrRange& range, const std::vector<LrRangePoint>& points) {
    Json curve = Json::array();
    for (std::size_t i = 0; i < points.size(); ++i)
        curve.push_back({{"lr", number(points[i].rate)}, {"loss", nineDigits(points[i].loss)}, {"smoothed", nineDigits(range.smoothed[i])}});
    return line({{"suggestion", number(range.suggestion)}, {"lowest", number(range.lowest)},
                 {"diverged_at", range.divergedAt > 0 ? number(range.divergedAt) : Json(nullptr)}, {"curve", std::move(curve)}});
}

Result<ExitCode> sweep(const Options& options) {
    const auto workbench = Workbench::create();
    auto config = sweepConfig(options, *workbench);
    if (!config) return config.error();
    RunRequest request;
    request.config = std::move(*config);
    request.record = false;

    SweepSink sink;
    std::atomic<Run*> running{nullptr};
    std::unique_ptr<Run> run;
    RunSummary summary;
    {
        const StopSignals signals([&] {
            if (Run* told = running.load()) told->send(Stop{});
        });
        auto started = workbench->start(request, sink);
        if (!started) return started.error();
        run = std::move(*started);
        running = run.get();
        sink.follow(run.get());
        summary = run->wait();
    }
    auto points = sink.points();
    // A loss that is no number ends the run as failed, and the sweep as it should: by breaking down.
    if (summary.state == RunState::Failed && points.empty()) return makeError(summary.code, summary.why);
    if (summary.state == RunState::Failed && summary.code != ErrorCode::Training) return makeError(summary.code, summary.why);
    const auto range = readLrRange(points);
    if (!range) return range.error();
    print(options.json ? asJson(*range, points) : asText(*range, points));
    return ExitCode::Ok;
}

}  // namespace

void addLrRange(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<Options>();
    auto* command = parent.add_subcommand("lr-range", "Find a learning rate: sweep it and read the curve of the loss");
    options->run.add(*command);
    options->run.addKey(*command, "data", "kjv, generated, random, or a path: text, folder, .jsonl (either packed as .zst too), .bin");
    options->run.addKey(*command, "threads", "CPU threads; 0 = every core");
    const auto add = [command](const char* name, std::string& text, const char* help) {
        command->add_option(name, text, help)->type_name("VALUE")->capture_default_str()->take_last();
    };
    add("--low", options->low, "Where the sweep begins");
    add("--high", options->high, "Where it ends");
    add("--steps", options->steps, "Steps of the sweep");
    command->add_flag("--json", options->json, "Print the whole curve as one line of JSON");
    actions[command] = [options] { return sweep(*options); };
}

}  // namespace stepscope::cli
