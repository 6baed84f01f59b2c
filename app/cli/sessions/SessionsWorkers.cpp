// `sessions workers ID`: what each worker of a run of several took for the phases of a step, and which one the others wait for.
#include <fmt/format.h>

#include <cmath>

#include "app/cli/Commands.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "app/cli/output/Table.h"
#include "core/analysis/panes/WorkerMap.h"
#include "core/base/Format.h"
#include "core/events/ConfigKeys.h"
#include "sessions/Samples.h"

namespace stepscope::cli {
namespace {

Json asJson(const WorkerMap& map) {
    Json workers = Json::array();
    const auto step = map.means(), work = map.means(WorkerMap::kWork);
    for (std::size_t rank = 0; rank < step.size(); ++rank) {
        Json phases = Json::object();
        for (const auto& phase : map.phases()) phases[phase] = number(map.means(phase)[rank] / 1e6);
        workers.push_back(
            {{"rank", rank}, {"ms", number(step[rank] / 1e6)}, {"work_ms", number(work[rank] / 1e6)}, {"phases_ms", std::move(phases)}});
    }
    return {{"steps", map.steps()}, {"workers", std::move(workers)}, {"slowest", map.slowest()}};
}

std::string asText(const WorkerMap& map) {
    const auto ms = [](double ns) { return std::isfinite(ns) ? format::milliseconds(ns / 1e6) : std::string("–"); };
    std::vector<Table::Column> columns{{"WORKER", Table::Align::Right}};
    std::vector<std::vector<double>> means;
    for (const auto& phase : map.phases()) {
        columns.push_back({phase, Table::Align::Right});
        means.push_back(map.means(phase));
    }
    columns.push_back({"WORK", Table::Align::Right});
    means.push_back(map.means(WorkerMap::kWork));
    columns.push_back({"STEP", Table::Align::Right});
    means.push_back(map.means());
    Table table(std::move(columns));
    for (std::int64_t rank = 0; rank < map.workers(); ++rank) {
        std::vector<std::string> cells{fmt::format("{}", rank)};
        for (const auto& mean : means) cells.push_back(ms(mean[static_cast<std::size_t>(rank)]));
        table.add(std::move(cells));
    }
    return fmt::format("Means of {} steps; WORK is what of STEP is no waiting.\n{}{}\n", format::count(map.steps()), table.text(), map.slowest());
}

}  // namespace

void addSessionsWorkers(CLI::App& parent, Actions& actions) {
    struct Options {
        std::string id, database;
        bool json = false;
    };
    auto options = std::make_shared<Options>();
    auto* command = parent.add_subcommand("workers", "Of a run of several workers: what each took, and who is the slow one");
    command->add_option("ID", options->id, "The session's number")->required();
    addDatabaseOption(*command, options->database);
    command->add_flag("--json", options->json, "As JSON");
    actions[command] = [options]() -> Result<ExitCode> {
        const auto id = parseSessionId(options->id);
        if (!id) return id.error();
        const auto map = workerMapOf(options->database.empty() ? defaultDatabasePath() : options->database, *id);
        if (!map) return map.error();
        if (options->json)
            print(line(asJson(*map)));
        else if (map->steps() == 0)
            print(fmt::format(
                "Session {} has no times of several workers: it was trained by one, or ended before they were gathered (once in 64 steps).\n",
                options->id));
        else
            print(asText(*map));
        return ExitCode::Ok;
    };
}

}  // namespace stepscope::cli
