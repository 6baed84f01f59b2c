// `find-batch`: the largest micro-batch that fits, and the smallest that is nearly as fast as the fastest. Main thread; Ctrl-C ends it.
#include <fmt/format.h>

#include <atomic>
#include <cmath>

#include "app/cli/Commands.h"
#include "app/cli/StopSignals.h"
#include "app/cli/diagnose/LookOptions.h"
#include "app/cli/output/Output.h"
#include "app/cli/output/Table.h"
#include "app/workbench/diagnose/FindBatch.h"
#include "core/base/Format.h"

namespace stepscope::cli {
namespace {

struct FindBatchOptions {
    RunOptions run;
    std::string budget = "60", most = "65536";
    bool json = false;
};

Json searchJson(const BatchSearch& found) {
    Json points = Json::array();
    for (const BatchPoint& point : found.points)
        points.push_back({{"batch", point.batch},
                          {"ms_per_step", number(point.ms)},
                          {"tokens_per_s", number(point.tokensPerSecond)},
                          {"peak_bytes", number(point.peakBytes)},
                          {"predicted_bytes", point.predicted.count}});
    return {{"now", found.now},
            {"largest_that_fits", found.largestThatFits},
            {"knee", found.knee},
            {"gain", number(found.gain)},
            {"setting", found.setting.empty() ? Json(nullptr) : Json(found.setting)},
            {"ended", found.ended},
            {"points", std::move(points)}};
}

std::string searchText(const BatchSearch& found) {
    using enum Table::Align;
    Table table({{"BATCH", Right}, {"STEP", Right}, {"SPEED", Right}, {"PEAK MEMORY", Right}, {""}});
    for (const BatchPoint& point : found.points)
        table.add({std::to_string(point.batch), format::milliseconds(point.ms), format::rate(point.tokensPerSecond, "tok/s"),
                   format::bytes(point.peakBytes),
                   point.batch == found.knee  ? "<- the knee"
                   : point.batch == found.now ? "now"
                                              : ""});
    std::string text = table.text();
    text += fmt::format("The largest that fits is {}, as predicted, with a tenth of the memory left free. {}\n", format::count(found.largestThatFits),
                        found.ended);
    text += fmt::format("The knee is {}: the smallest that trains {} of the most tokens a second.\n", found.knee, format::percent(kNearlyTheBest));
    if (!found.setting.empty()) {
        text += fmt::format("Use it: --set {}", found.setting);
        if (std::isfinite(found.gain)) text += fmt::format(" ({:.2f} times as many tokens a second as with {})", found.gain, found.now);
        text += ".\nAnother batch size is another training: its gradients are means over other numbers of sequences, and lr may have to follow.\n";
    } else {
        text += "The settings have it already.\n";
    }
    return text;
}

Result<ExitCode> search(const FindBatchOptions& options) {
    const auto workbench = Workbench::create();
    const auto budget = realOption("--budget", options.budget, kShortestSearch, kLongestSearch);
    if (!budget) return budget.error();
    const auto most = wholeOption("--most", options.most, 1, 1 << 24);
    if (!most) return most.error();
    auto config = options.run.configure(*workbench);
    if (!config) return config.error();
    const FindBatchRequest wanted{.config = std::move(*config), .budgetSeconds = *budget, .most = *most};
    std::atomic<bool> cancelled{false};
    const StopSignals signals([&] { cancelled = true; });
    const auto found = [&] {
        const StatusLine status;
        return findBatch(
            workbench->machine(), wanted, [&](const std::string& what) { status.say(what); }, cancelled);
    }();
    if (!found) return found.error();
    print(options.json ? line(searchJson(*found)) : searchText(*found));
    return ExitCode::Ok;
}

}  // namespace

void addFindBatch(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<FindBatchOptions>();
    auto* command =
        parent.add_subcommand("find-batch", "Find a batch size: the largest that fits, and the smallest that is nearly as fast as the fastest");
    addConfiguration(options->run, *command);
    addNumber(*command, "--budget", "SECONDS", options->budget, "The search ends after so long at the latest");
    addNumber(*command, "--most", "N", options->most, "Larger batches are not tried");
    command->add_flag("--json", options->json, "As one line of JSON");
    actions[command] = [options] { return search(*options); };
}

}  // namespace stepscope::cli
