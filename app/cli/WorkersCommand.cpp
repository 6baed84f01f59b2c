// `workers`: whether the workers that torchrun, srun or a script started find each other, and how fast they add up gradients. Each of them runs it;
// the first one tells.
#include <fmt/format.h>

#include "app/cli/Commands.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "app/cli/output/Table.h"
#include "app/workbench/workers/WorkersLook.h"
#include "core/base/Format.h"

namespace stepscope::cli {
namespace {

struct WorkersOptions {
    std::string patience = "60";
    bool json = false;
};

Json workersJson(const WorkersLook& look) {
    Json workers = Json::array(), sums = Json::array();
    for (const WorkerFacts& one : look.workers) workers.push_back({{"host", one.host}, {"process", one.process}, {"cores", one.cores}});
    for (const SumTime& one : look.sums)
        sums.push_back({{"bytes", one.bytes},
                        {"median_ms", number(1e3 * one.median)},
                        {"slowest_ms", number(1e3 * one.slowest)},
                        {"bytes_per_s", number(one.bytesPerSecond)}});
    return {{"size", look.size}, {"workers", std::move(workers)}, {"sums", std::move(sums)}};
}

std::string workersText(const WorkersLook& look) {
    using enum Table::Align;
    if (look.size == 1)
        return "There is one worker, this process. Several are started with: torchrun --no-python --nproc-per-node 2 stepscope-cli workers\n";
    Table workers({{"worker", Right}, {"host"}, {"process", Right}, {"cores", Right}});
    for (std::size_t rank = 0; rank < look.workers.size(); ++rank)
        workers.add({fmt::format("{}", rank), printable(look.workers[rank].host), fmt::format("{}", look.workers[rank].process),
                     fmt::format("{}", look.workers[rank].cores)});
    Table sums({{"gradients", Right}, {"median", Right}, {"slowest", Right}, {"each way", Right}});
    for (const SumTime& one : look.sums)
        sums.add({format::bytes({one.bytes}), fmt::format("{:.2f} ms", 1e3 * one.median), fmt::format("{:.2f} ms", 1e3 * one.slowest),
                  fmt::format("{}/s", format::bytes(one.bytesPerSecond))});
    return fmt::format("{} workers found each other.\n{}\nAdding up float32 gradients takes, as the first worker sees it:\n{}", look.size,
                       workers.text(), sums.text());
}

Result<ExitCode> workers(const WorkersOptions& options) {
    const auto seconds = realOption("--patience", options.patience, 1, 3600);
    if (!seconds) return seconds.error();
    const auto look = lookAtWorkers(std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * *seconds)));
    if (!look) return look.error();
    if (look->rank == 0) print(options.json ? line(workersJson(*look)) : workersText(*look));
    return ExitCode::Ok;
}

}  // namespace

void addWorkers(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<WorkersOptions>();
    auto* command = parent.add_subcommand("workers", "Whether the workers that torchrun started find each other, and how fast they add up gradients");
    command->add_option("--patience", options->patience, "Seconds to wait for the others; default: 60")->type_name("SECONDS")->take_last();
    command->add_flag("--json", options->json, "End with one line of JSON");
    actions[command] = [options] { return workers(*options); };
}

}  // namespace stepscope::cli
