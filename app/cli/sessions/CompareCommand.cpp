// `compare S1 S2 ...`: stored sessions beside each other: the keys that differ, speed, memory, loss after as many tokens and after as much time; of
// two of them how far they can be compared, and the line that measures it properly. Main thread.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "app/cli/Commands.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "app/cli/output/Table.h"
#include "app/workbench/experiments/ExperimentQuestion.h"
#include "app/workbench/experiments/ExperimentReports.h"
#include "core/analysis/RunComparison.h"
#include "core/base/Format.h"
#include "sessions/findings/StoredRuns.h"

namespace stepscope::cli {
namespace {

constexpr std::size_t kMost = 20;

struct Compared {
    std::vector<StoredRun> runs;
    std::vector<DifferingKeys> keys;
    double commonTokens = kUnknown, commonSeconds = kUnknown;  // that each of them that tells of it has trained
    // Of two.
    double ratio = kUnknown;  // median time per token of the first / of the second
    std::optional<Comparability> comparability;
    std::string ask, whyNot;  // the line that measures it, or why nothing can
    std::string note;         // what to know of that line
};

Result<StoredRun> read(SessionReader& reader, std::int64_t id) {
    auto run = readStoredRun(reader, id);
    if (run && run->ms.empty())
        return makeError(ErrorCode::BadInput, fmt::format("Session {} has no steps to compare; choose one that trained.", id));
    return run;
}

void lookAtTwo(Compared& compared) {
    const StoredRun &a = compared.runs[0], &b = compared.runs[1];
    compared.comparability = comparabilityOf(a, b);
    if (!a.steadyMsPerToken.empty() && !b.steadyMsPerToken.empty()) compared.ratio = median(a.steadyMsPerToken) / median(b.steadyMsPerToken);
    if (!a.info || !b.info || !a.info->config || !b.info->config) {
        compared.whyNot = "One of them was not run by Stepscope, so it cannot be repeated here.";
        return;
    }
    // What an experiment never does within the steps that it times is no difference to measure.
    RunConfig of = *b.info->config;
    const RunConfig& like = *a.info->config;
    of.steps = like.steps;
    of.validationTokens = like.validationTokens;
    of.checkpointEvery = like.checkpointEvery;
    of.checkpointAtEnd = like.checkpointAtEnd;
    of.keep = like.keep;
    of.keepBest = like.keepBest;
    of.earlyStopping = like.earlyStopping;
    of.init = like.init;
    of.initPartial = like.initPartial;
    compared.whyNot = differingKeys(like, of).empty() ? "Their settings do not differ in what a timed step does, so there is nothing to measure."
                                                      : whyNotComparable(like, of, false);
    if (compared.whyNot.empty()) {
        const auto workbench = Workbench::create();
        const ExperimentBegan usual{.budgetSeconds = 180, .delta = 0.01};
        compared.ask = repeatLine(*workbench, usual, like, of, "");
    }
    for (const StoredRun* run : {&a, &b})
        if (run->flips > 0)
            compared.note += fmt::format("{}In session {} switches were flipped while it ran; its settings are those that it began with.",
                                         compared.note.empty() ? "" : " ", run->session);
}

Result<Compared> compare(const std::string& database, const std::vector<std::string>& ids) {
    std::vector<std::int64_t> sessions;
    for (const std::string& text : ids) {
        const auto id = parseSessionId(text);
        if (!id) return id.error();
        if (std::ranges::find(sessions, *id) != sessions.end())
            return makeError(ErrorCode::BadInput, fmt::format("Session {} is named twice; name each once.", *id));
        sessions.push_back(*id);
    }
    if (sessions.size() < 2 || sessions.size() > kMost)
        return makeError(ErrorCode::BadInput, fmt::format("compare takes 2 to {} sessions, not {}.", kMost, sessions.size()));
    auto reader = SessionReader::open(database.empty() ? defaultDatabasePath() : database);
    if (!reader) return reader.error();
    Compared compared;
    for (const std::int64_t id : sessions) {
        auto run = read(**reader, id);
        if (!run) return run.error();
        compared.runs.push_back(std::move(*run));
    }
    compared.keys = differingKeys(compared.runs);
    for (const StoredRun& run : compared.runs) {
        if (knowsTokens(run)) compared.commonTokens = std::fmin(compared.commonTokens, run.tokens.back());
        if (knowsTimes(run)) compared.commonSeconds = std::fmin(compared.commonSeconds, run.seconds.back());
    }
    if (compared.runs.size() == 2) lookAtTwo(compared);
    return compared;
}

Json asJson(const Compared& compared) {
    Json sessions = Json::array();
    for (std::size_t i = 0; i < compared.runs.size(); ++i) {
        const StoredRun& run = compared.runs[i];
        Json differing = Json::object();
        for (const auto& key : compared.keys) differing[key.key] = key.values[i];
        const Summary ms = summarise(run.steadyMs);
        const double perToken = median(run.steadyMsPerToken);
        sessions.push_back({{"session", run.session},
                            {"name", run.info ? run.info->name : ""},
                            {"settings_known", hasSettings(run)},
                            {"differing", differing},
                            {"steps", run.ms.size()},
                            {"steps_that_count", run.steadyMs.size()},
                            {"ms_per_step_median", number(ms.median)},
                            {"ms_per_step_quartiles", {number(ms.lowerQuartile), number(ms.upperQuartile)}},
                            {"tokens_per_s", number(1000 / perToken)},
                            {"peak_bytes", number(run.peakBytes)},
                            {"validation_loss", nineDigits(run.validationLoss)},
                            {"loss_at_equal_tokens", nineDigits(lossAtTokens(run, compared.commonTokens))},
                            {"loss_at_equal_time", nineDigits(lossAtSeconds(run, compared.commonSeconds))},
                            {"flips", run.flips}});
    }
    Json all{{"sessions", sessions},
             {"tokens", number(compared.commonTokens)},
             {"seconds", number(compared.commonSeconds)},
             {"ratio_of_medians", number(compared.ratio)},
             {"comparability", nullptr},
             {"ask", compared.ask.empty() ? Json(nullptr) : Json(compared.ask)},
             {"why_not", compared.whyNot}};
    if (compared.comparability) all["comparability"] = {{"score", compared.comparability->score}, {"reasons", compared.comparability->reasons}};
    return all;
}

std::string asText(const Compared& compared) {
    using enum Table::Align;
    std::vector<Table::Column> columns{{"", Left}};
    for (const StoredRun& run : compared.runs) columns.push_back({fmt::format("SESSION {}", run.session), Right});
    Table table(columns);
    const auto add = [&](const std::string& name, auto text) {
        std::vector<std::string> cells{printable(name)};
        for (const StoredRun& run : compared.runs) cells.push_back(printable(text(run)));
        table.add(cells);
    };
    add("name", [](const StoredRun& run) { return run.info ? run.info->name : std::string(); });
    for (const auto& key : compared.keys) {
        std::vector<std::string> cells{printable(key.key)};
        for (const auto& value : key.values) cells.push_back(value.empty() ? "not stored" : printable(value));
        table.add(cells);
    }
    add("steps", [](const StoredRun& run) { return format::count(static_cast<std::int64_t>(run.ms.size())); });
    add("median step, steady", [](const StoredRun& run) { return format::milliseconds(median(run.steadyMs)); });
    add("quartiles", [](const StoredRun& run) {
        const Summary ms = summarise(run.steadyMs);
        return fmt::format("{} to {}", format::milliseconds(ms.lowerQuartile), format::milliseconds(ms.upperQuartile));
    });
    add("speed", [](const StoredRun& run) { return format::rate(1000 / median(run.steadyMsPerToken), "tok/s"); });
    add("peak memory", [](const StoredRun& run) { return format::bytes(run.peakBytes); });
    add("validation loss", [](const StoredRun& run) { return format::significant(run.validationLoss, 5); });
    if (std::isfinite(compared.commonTokens))
        add(fmt::format("loss after {} tokens", format::count(std::llround(compared.commonTokens))),
            [&](const StoredRun& run) { return format::significant(lossAtTokens(run, compared.commonTokens), 5); });
    if (std::isfinite(compared.commonSeconds))
        add(fmt::format("loss after {}", format::duration(TimeNs::fromSeconds(compared.commonSeconds))),
            [&](const StoredRun& run) { return format::significant(lossAtSeconds(run, compared.commonSeconds), 5); });
    std::string text = table.text();
    std::string unknown;
    for (const StoredRun& run : compared.runs)
        if (!hasSettings(run)) unknown += fmt::format("{}{}", unknown.empty() ? "" : ", ", run.session);
    if (!unknown.empty())
        text += fmt::format("\nThe settings of session {} are not stored: Stepscope did not run it.\n", unknown);
    else if (compared.keys.empty())
        text += "\nNo setting differs.\n";
    if (!compared.comparability) return text;
    if (const std::string ratio = ratioSentence(compared.runs[0], compared.runs[1]); !ratio.empty()) text += "\n" + printable(ratio) + "\n";
    text += printable(sentenceOf(*compared.comparability)) + "\n";
    text += compared.ask.empty() ? printable(compared.whyNot) + "\n" : "Measure it properly: " + printable(compared.ask) + "\n";
    if (!compared.note.empty()) text += compared.note + "\n";
    return text;
}

}  // namespace

void addCompare(CLI::App& parent, Actions& actions) {
    struct Options {
        std::vector<std::string> ids;
        std::string database;
        bool json = false;
    };
    auto options = std::make_shared<Options>();
    auto* command = parent.add_subcommand("compare", "Stored sessions beside each other: what differs, how fast, how far that can be believed");
    command->add_option("IDS", options->ids, "Numbers of 2 to 20 sessions")->required();
    addDatabaseOption(*command, options->database);
    command->add_flag("--json", options->json, "End with one line of JSON");
    actions[command] = [options]() -> Result<ExitCode> {
        const auto compared = compare(options->database, options->ids);
        if (!compared) return compared.error();
        print(options->json ? line(asJson(*compared)) : asText(*compared));
        return ExitCode::Ok;
    };
}

}  // namespace stepscope::cli
