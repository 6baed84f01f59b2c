// `sessions show ID`: one session whole: summary, configuration, machine, validation points, switch changes, log.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>

#include "app/cli/Commands.h"
#include "app/cli/TrainReport.h"
#include "app/cli/ab/AbReport.h"
#include "app/cli/output/Output.h"
#include "app/cli/output/Table.h"
#include "app/cli/sessions/CaptureReport.h"
#include "app/cli/sessions/SessionJson.h"
#include "app/cli/study/StudyReport.h"
#include "app/workbench/experiments/ExperimentReports.h"
#include "core/analysis/flips/FlipSentence.h"
#include "core/base/Format.h"
#include "core/events/ConfigJson.h"
#include "core/events/ConfigKeys.h"
#include "sessions/Captures.h"
#include "sessions/findings/Forecasts.h"
#include "sessions/findings/MeasuredFlips.h"

namespace stepscope::cli {
namespace {

struct Shown {
    SessionSummary summary;
    SessionInfo info;
    SessionPoints points;
    std::vector<MeasuredFlip> flips;
    ForetoldRun foretold;
    StoredCaptures captures;
    SameSettings same;                           // of one configuration beside itself
    std::optional<StoredPrediction> prediction;  // that its newest experiment was held against
};

Json asJson(const std::vector<MeasuredFlip>& flips) {
    Json all = Json::array();
    for (const auto& [session, name, started, flip, context, effect] : flips)
        all.push_back({{"step", flip.step},
                       {"id", flip.id},
                       {"from", toString(flip.from)},
                       {"to", toString(flip.to)},
                       {"steps_before", effect.stepsBefore},
                       {"steps_after", effect.stepsAfter},
                       {"ms_before", number(effect.ms.before.median)},
                       {"ms_after", number(effect.ms.after.median)},
                       {"tokens_per_second_before", number(effect.tokensPerSecond.before.median)},
                       {"tokens_per_second_after", number(effect.tokensPerSecond.after.median)},
                       {"judged_by", effect.ofThroughput() ? "tokens_per_second" : "ms"},
                       {"comparisons", effect.shams},
                       {"conclusive", effect.claimed()},
                       {"verdict", flipSentence(effect)}});
    return all;
}

// What was told of each capture, with what it takes on the disk; of one that nobody told the end of, that alone.
Json capturesWithSizes(const Shown& s) {
    Json all = s.points.captures;
    for (const auto& one : s.captures.captures) {
        const auto at = static_cast<std::size_t>(one.number) - 1;
        if (at >= all.size()) all.push_back({{"step", nullptr}, {"t_ns", one.end.ns}, {"first_step", nullptr}, {"steps", nullptr}});
        auto& entry = all[std::min(at, all.size() - 1)];
        entry["number"] = one.number;
        entry["records"] = one.records;
        entry["bytes"] = one.bytes;
        entry["cost"] = number(one.cost);
        entry["cost_low"] = number(one.costLow);
        entry["cost_high"] = number(one.costHigh);
    }
    return all;
}

std::string capturesText(const Shown& s) {
    std::string text;
    for (const auto& one : s.captures.captures)
        text += fmt::format(
            "  capture {}: {}{} records, {} on the disk{}\n", one.number,
            one.steps == 0 ? std::string()
                           : fmt::format("{} step{} from {} on, ", format::count(one.steps), one.steps == 1 ? "" : "s", format::count(one.firstStep)),
            format::count(one.records), format::bytes({one.bytes}),
            std::isfinite(one.cost)
                ? fmt::format(", its steps {:.1f} % {} than those around", 100 * std::abs(one.cost), one.cost < 0 ? "faster" : "slower")
                : std::string());
    if (s.captures.levels.measured()) text += fmt::format("  cost of observing, measured in this run: {}\n", levelSentence(s.captures.levels));
    if (text.empty()) return text;
    if (s.captures.detailBytes > 0) text += fmt::format("  their level of detail: {}\n", format::bytes({s.captures.detailBytes}));
    return "\ncaptures\n" + text;
}

Json asJson(const Shown& s) {
    Json all = toJson(s.summary);
    const std::string from = resumedFromWords(s.info);
    all["resumed_from"] = from.empty() ? Json(nullptr) : Json(from);
    all["goes_on_with"] = s.info.goesOnWith > 0 ? Json(s.info.goesOnWith) : Json(nullptr);
    all["first_step"] = s.info.firstStep;
    all["workers"] = s.info.workers > 0 ? Json(s.info.workers) : Json(nullptr);
    all["vocabulary"] = s.info.vocabulary;
    all["parameters"] = s.info.parameters;
    all["train_tokens"] = s.info.trainTokens;
    all["validation_tokens"] = s.info.validationTokens;
    all["kind"] = toString(s.info.kind);
    all["config"] = s.info.config ? toJson(*s.info.config) : Json(nullptr);
    all["machine"] = s.info.machine ? toJson(*s.info.machine) : Json(nullptr);
    all["validation"] = s.points.validation;
    all["switches"] = s.points.switches;
    all["flips"] = asJson(s.flips);
    all["refused"] = s.points.refused;
    all["checkpoints"] = s.points.checkpoints;
    all["captures"] = capturesWithSizes(s);
    all["capture_detail_bytes"] = s.captures.detailBytes;
    all["levels"] = levelsJson(s.captures.levels);
    all["experiment"] = experimentJson(s.points.experiment, s.same);
    if (s.points.experiment.began()) all["experiment"]["foretold_ratio"] = s.prediction ? number(s.prediction->ratio) : Json(nullptr);
    all["experiments"] = s.points.experiments;
    all["study"] = json::ofStudy(s.points.study, s.summary.id);
    all["log"] = s.points.log;
    // The same keys as the last line of `train --json`, as far as they are stored.
    all["summary"] = {{"steps", s.summary.steps},
                      {"loss_last", nineDigits(s.summary.lossLast)},
                      {"val_loss", nineDigits(s.summary.validationLossLast)},
                      {"ms_per_step_median", number(s.summary.msPerStepMedian)},
                      {"tokens_per_s", number(s.summary.tokensPerSecond)}};
    if (s.points.waitedMsPerStep() > 0) all["summary"]["waiting_ms_per_step"] = number(s.points.waitedMsPerStep());
    all["forecast"] = forecastJson(s.foretold.time);
    all["memory_forecast"] = memoryForecastJson(s.foretold);
    return all;
}

// An import may begin anywhere and leave numbers out.
std::string stepsText(const SessionSummary& of) {
    const std::string count = format::count(of.steps);
    if (!of.numbered) return count;
    const auto& [first, last] = *of.numbered;
    return first == last ? fmt::format("{} (number {})", count, first) : fmt::format("{} ({} to {})", count, first, last);
}

std::string list(const char* title, const Json& points, const std::function<std::string(const Json&)>& describe) {
    std::string text;
    for (const auto& point : points)
        text += fmt::format("  step {}: {}\n", format::count(point["step"].get<std::int64_t>()), printable(describe(point)));
    return text.empty() ? text : fmt::format("\n{}\n{}", title, text);
}

std::string word(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string asText(const Shown& s) {
    Table facts({{"SESSION"}, {std::to_string(s.summary.id)}});
    facts.add({"name", s.summary.name});
    if (s.info.kind != SessionKind::Run) facts.add({"kind", toString(s.info.kind)});
    facts.add({"state", toString(s.summary.state) + (s.summary.why.empty() ? std::string{} : ": " + s.summary.why)});
    facts.add({"started", word(isoTime(s.summary.startedUnixMs))});
    if (!s.summary.tags.empty()) facts.add({"tags", fmt::format("{}", fmt::join(s.summary.tags, ", "))});
    if (!s.summary.notes.empty()) facts.add({"notes", s.summary.notes});
    if (const std::string from = resumedFromWords(s.info); !from.empty()) facts.add({"resumed from", from});
    if (s.info.workers > 1) facts.add({"workers", format::count(s.info.workers)});
    facts.add({"steps", stepsText(s.summary)});
    facts.add({"last loss", format::significant(s.summary.lossLast, 5)});
    facts.add({"validation loss", format::significant(s.summary.validationLossLast, 5)});
    facts.add({"median step", format::milliseconds(s.summary.msPerStepMedian)});
    if (s.points.waitedMsPerStep() > 0)
        facts.add({"waiting", fmt::format("{} of a step on average, for other workers", format::milliseconds(s.points.waitedMsPerStep()))});
    facts.add({"speed", format::rate(s.summary.tokensPerSecond, "tok/s")});
    if (s.foretold.time) facts.add({"foretold", forecastBesideOutcome(*s.foretold.time)});
    if (const std::string memory = memoryOutcome(s.foretold); !memory.empty()) facts.add({"memory", memory});
    facts.add({"parameters", format::count(s.info.parameters)});
    facts.add({"tokens", fmt::format("{} training, {} validation", format::count(s.info.trainTokens), format::count(s.info.validationTokens))});
    if (s.info.machine) {
        const Machine& machine = *s.info.machine;
        facts.add({"machine", fmt::format("{}{}, {} core{}, {}", machine.host.empty() ? "" : machine.host + ": ", machine.cpu, machine.cores,
                                          machine.cores == 1 ? "" : "s", format::bytes(machine.memory))});
        facts.add({"versions", fmt::format("Stepscope {}, LibTorch {}, {}", machine.stepscope, machine.libtorch, machine.system)});
    } else {
        facts.add({"machine", "not stored: it was not run by Stepscope"});
    }
    std::string text = facts.text() + "\nconfiguration\n";
    if (!s.info.config) text += "  none: it was not run by Stepscope\n";
    if (s.info.config)
        for (const auto& [key, value] : listConfig(*s.info.config)) text += fmt::format("  {}: {}\n", printable(key), printable(value));
    const bool study = s.points.study.began().has_value();
    if (study) text += "\n" + std::string(toString(s.info.kind)) + "\n" + studyText(s.points.study, 0, {});
    // Of a study its table is what it says; the newest of its experiments would be one row of it.
    if (!study && s.points.experiment.began()) {
        text += "\nexperiment\n" + abText(s.points.experiment, 0, {}, {}, s.prediction, s.same);
        if (const std::int64_t all = s.points.experiments; all > 1)
            text += fmt::format("This is the newest of the {} that it holds; `report {} --experiment N` tells of each, N from 1 to {}.\n", all,
                                s.summary.id, all);
    }
    text += list("validation", s.points.validation, [](const Json& p) { return "loss " + p["loss"].dump(); });
    text += list("switches", s.points.switches, [](const Json& p) {
        return fmt::format("{} from {} to {}{}{}", word(p["id"]), word(p["from"]), word(p["to"]), word(p["note"]).empty() ? "" : "; ",
                           word(p["note"]));
    });
    text += list("flips", asJson(s.flips),
                 [](const Json& p) { return fmt::format("{} {} → {}: {}", word(p["id"]), word(p["from"]), word(p["to"]), word(p["verdict"])); });
    text +=
        list("refused", s.points.refused, [](const Json& p) { return fmt::format("{} {}: {}", word(p["id"]), word(p["value"]), word(p["why"])); });
    text += list("checkpoints", s.points.checkpoints, [](const Json& p) { return word(p["path"]); });
    text += capturesText(s);
    text += list("log", s.points.log, [](const Json& p) { return word(p["text"]); });
    return text;
}

Result<Shown> readShown(const std::string& database, const std::string& idText) {
    const auto id = parseSessionId(idText);
    if (!id) return id.error();
    const std::string path = database.empty() ? defaultDatabasePath() : database;
    auto reader = SessionReader::open(path);
    if (!reader) return reader.error();
    auto summary = (*reader)->summary(*id);
    if (!summary) return summary.error();
    auto info = (*reader)->info(*id);
    if (!info) return info.error();
    auto points = readPoints(**reader, *id);
    if (!points) return points.error();
    auto flips = measuredFlipsOf(path, *id);
    if (!flips) return flips.error();
    auto foretold = foretoldRun(path, *id);
    if (!foretold) return foretold.error();
    auto captures = storedCaptures(path, *id);
    if (!captures) return captures.error();
    SameSettings same;
    if (const auto& began = points->experiment.began(); began && began->same)
        if (const auto config = configFromJson(began->configA)) same = changedSettings(*Workbench::create(), *config);
    std::optional<StoredPrediction> prediction;
    if (const auto& began = points->experiment.began(); began && !began->question.empty()) {
        auto found = predictionOf(path, began->question, info->startedUnixMs);
        if (!found) return found.error();
        prediction = std::move(*found);
    }
    return Shown{std::move(*summary),  std::move(*info),     std::move(*points), std::move(*flips),
                 std::move(*foretold), std::move(*captures), std::move(same),    std::move(prediction)};
}

}  // namespace

void addSessionsShow(CLI::App& parent, Actions& actions) {
    struct Options {
        std::string id, database;
        bool json = false;
    };
    auto options = std::make_shared<Options>();
    auto* command = parent.add_subcommand("show", "Everything about one session but its steps");
    command->add_option("ID", options->id, "The session's number")->required();
    addDatabaseOption(*command, options->database);
    command->add_flag("--json", options->json, "As JSON");
    actions[command] = [options]() -> Result<ExitCode> {
        const auto shown = readShown(options->database, options->id);
        if (!shown) return shown.error();
        print(options->json ? line(asJson(*shown)) : asText(*shown));
        return ExitCode::Ok;
    };
}

}  // namespace stepscope::cli
