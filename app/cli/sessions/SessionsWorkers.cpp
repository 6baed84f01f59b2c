// `sessions workers ID`: what each worker of a run of several took for the phases of a step, which one the others wait for, and what other numbers of
// workers would make of it, foretold.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/Commands.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "app/cli/output/Table.h"
#include "app/workbench/workers/WorkersForecast.h"
#include "core/analysis/panes/WorkerMap.h"
#include "core/base/Format.h"
#include "core/events/ConfigKeys.h"
#include "sessions/Samples.h"

namespace stepscope::cli {
namespace {

constexpr const char* kForetold = "8,64";

Json asJson(const WorkersForecast& forecast) {
    Json predictions = Json::array();
    for (const WorkersPrediction& one : forecast.predictions)
        predictions.push_back({{"workers", one.workers},
                               {"ms", number(1e3 * one.seconds)},
                               {"waiting_ms", number(1e3 * one.waiting)},
                               {"tokens_per_s", number(one.tokensPerSecond)},
                               {"times", number(one.times)}});
    const bool known = forecast.whyNot.empty();
    return {{"why_not", known ? Json(nullptr) : Json(forecast.whyNot)},
            {"latency_us", number(1e6 * forecast.link.latency)},
            {"bytes_per_s", number(forecast.link.bytesPerSecond)},
            {"assumed", forecast.assumed},
            {"model_ms", number(forecast.modelSeconds > 0 ? 1e3 * forecast.modelSeconds : kUnknown)},
            {"measured_ms", number(forecast.measuredSeconds > 0 ? 1e3 * forecast.measuredSeconds : kUnknown)},
            {"predictions", std::move(predictions)}};
}

std::string asText(const WorkersForecast& forecast) {
    if (!forecast.whyNot.empty()) return forecast.whyNot + "\n";
    using enum Table::Align;
    Table table({{"WORKERS", Right}, {"STEP", Right}, {"of it WAITING", Right}, {"TOKENS/S", Right}, {"× ONE", Right}});
    for (const WorkersPrediction& one : forecast.predictions)
        table.add({fmt::format("{}", one.workers), format::milliseconds(1e3 * one.seconds), format::milliseconds(1e3 * one.waiting),
                   format::count(static_cast<std::int64_t>(one.tokensPerSecond)), fmt::format("{:.2f}", one.times)});
    return fmt::format("\n{}\nA message between two {} {:.1f} µs and {}/s, adding up included.\n{}", forecastWords(forecast),
                       forecast.assumed ? "is taken to take" : "takes", 1e6 * forecast.link.latency, format::bytes(forecast.link.bytesPerSecond),
                       table.text());
}

// "8,64"
Result<std::vector<std::int64_t>> numbersOf(const std::string& text) {
    std::vector<std::int64_t> numbers;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const auto one = parseValue(IntegerRange{2, kMostForetoldWorkers}, "--for", text.substr(begin, end - begin));
        if (!one) return one.error();
        numbers.push_back(std::get<std::int64_t>(*one));
        begin = end + 1;
    }
    return numbers;
}

Json asJson(const WorkerMap& map) {
    Json workers = Json::array();
    const auto step = map.means(), work = map.means(WorkerMap::kWork);
    for (std::size_t rank = 0; rank < step.size(); ++rank) {
        Json phases = Json::object();
        for (const auto& phase : map.phases()) phases[phase] = number(map.means(phase)[rank] / 1e6);
        workers.push_back(
            {{"rank", rank}, {"ms", number(step[rank] / 1e6)}, {"work_ms", number(work[rank] / 1e6)}, {"phases_ms", std::move(phases)}});
    }
    Json clocks = Json::array();
    for (const ClockFacts& one : map.clocks())
        clocks.push_back({{"rank", clocks.size()},
                          {"exchanges", one.exchanges},
                          {"error_us", number(static_cast<double>(one.lastError) / 1e3)},
                          {"most_error_us", number(static_cast<double>(one.mostError) / 1e3)},
                          {"drift_us_per_s", number(one.drift / 1e3)},
                          {"drift_error_us_per_s", number(one.driftError / 1e3)}});
    return {{"steps", map.steps()}, {"workers", std::move(workers)}, {"slowest", map.slowest()}, {"clocks", std::move(clocks)}};
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
    const std::string clocks = map.clockWords();
    return fmt::format("Means of {} steps; WORK is what of STEP is no waiting.\n{}{}\n{}", format::count(map.steps()), table.text(), map.slowest(),
                       clocks.empty() ? clocks : clocks + "\n");
}

Result<Link> assumedLink(const std::string& latency, const std::string& gigabits) {
    Link link;
    if (!latency.empty()) {
        const auto microseconds = realOption("--latency-us", latency, 0, 1e6);
        if (!microseconds) return microseconds.error();
        link.latency = 1e-6 * *microseconds;
    }
    if (!gigabits.empty()) {
        const auto rate = realOption("--gbit", gigabits, 0.001, 100'000);
        if (!rate) return rate.error();
        link.bytesPerSecond = *rate * 1e9 / 8;
    }
    return link;
}

}  // namespace

void addSessionsWorkers(CLI::App& parent, Actions& actions) {
    struct Options {
        std::string id, database, numbers = kForetold, latency, gigabits;
        bool json = false;
    };
    auto options = std::make_shared<Options>();
    auto* command = parent.add_subcommand("workers", "Of a run of several workers: what each took, and who is the slow one");
    command->add_option("ID", options->id, "The session's number")->required();
    command->add_option("--for", options->numbers, fmt::format("Numbers of workers to foretell; {} unless said", kForetold))->type_name("N,N");
    command->add_option("--latency-us", options->latency, "Foretell for a network on which a message takes so many microseconds")->type_name("US");
    command->add_option("--gbit", options->gigabits, "Foretell for one that carries so many gigabits a second between two workers")->type_name("G");
    addDatabaseOption(*command, options->database);
    command->add_flag("--json", options->json, "As JSON");
    actions[command] = [options]() -> Result<ExitCode> {
        const auto id = parseSessionId(options->id);
        if (!id) return id.error();
        const auto numbers = numbersOf(options->numbers);
        if (!numbers) return numbers.error();
        const auto assumed = assumedLink(options->latency, options->gigabits);
        if (!assumed) return assumed.error();
        const std::string database = options->database.empty() ? defaultDatabasePath() : options->database;
        const auto map = workerMapOf(database, *id);
        if (!map) return map.error();
        const auto forecast = forecastWorkers(database, *id, *map, *numbers, *assumed);
        if (!forecast) return forecast.error();
        if (options->json) {
            Json all = asJson(*map);
            all["forecast"] = asJson(*forecast);
            print(line(all));
        } else if (map->steps() == 0) {
            print(fmt::format(
                "Session {} has no times of several workers: it was trained by one, or ended before they were gathered (once in 64 steps).\n",
                options->id));
        } else {
            print(asText(*map) + asText(*forecast));
        }
        return ExitCode::Ok;
    };
}

}  // namespace stepscope::cli
