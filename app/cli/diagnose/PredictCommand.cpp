// `predict`: what each other value of each switch would do, as far as this machine's peaks tell. Main thread; Ctrl-C ends it.
#include <fmt/format.h>

#include <atomic>
#include <cmath>

#include "app/cli/Commands.h"
#include "app/cli/StopSignals.h"
#include "app/cli/diagnose/BenchReport.h"
#include "app/cli/diagnose/LookOptions.h"
#include "app/cli/output/Output.h"
#include "app/cli/output/Table.h"
#include "app/workbench/diagnose/Predict.h"
#include "core/base/Format.h"

namespace stepscope::cli {
namespace {

struct PredictOptions {
    RunOptions run;
    std::string steps = "5", seconds = "20", database;
    bool json = false, noRecord = false;
};

Json measuredJson(const PredictedValue& one) {
    if (!one.measured) return nullptr;
    const ExperimentJudged& judged = one.measured->judged;
    return {{"experiment", one.measured->session},
            {"verdict", judged.outcome},
            {"ratio", number(judged.ratio)},
            {"low", number(judged.low)},
            {"high", number(judged.high)},
            {"turned", one.measured->turned},
            {"foretold_ratio", one.foretold ? number(one.foretold->ratio) : Json(nullptr)}};
}

Json answerJson(const PredictAnswer& answer) {
    Json values = Json::array();
    for (const PredictedValue& one : answer.values)
        values.push_back({{"key", one.key},
                          {"value", one.value},
                          {"usable", one.cannot.empty()},
                          {"reason", one.cannot},
                          {"note", one.note},
                          {"same_as", one.sameAs.empty() ? Json(nullptr) : Json(one.sameAs)},
                          {"predicted", one.sameAsNow         ? Json("the same")
                                        : one.predicted.known ? Json{{"ms_per_step", number(one.predicted.ms)},
                                                                     {"ratio", number(one.predicted.ratio)},
                                                                     {"basis", one.predicted.basis}}
                                                              : Json(one.cannot.empty() ? Json("measure it") : Json(nullptr))},
                          {"measured", measuredJson(one)}});
    return {{"now", benchJson(answer.timing, answer.peaks)},
            {"peaks",
             {{"float32_flop_per_s", number(answer.peaks.float32)},
              {"bf16_flop_per_s", number(answer.peaks.bf16)},
              {"fp16_flop_per_s", number(answer.peaks.fp16)},
              {"bytes_per_s", number(answer.peaks.bytesPerSecond)}}},
            {"values", std::move(values)}};
}

std::string answerText(const PredictAnswer& answer) {
    using enum Table::Align;
    std::string text = fmt::format("A step takes {} now; products reach {} in float32 and {} in bf16 here at most.\n",
                                   format::milliseconds(answer.timing.meanMs()), flopRate(answer.peaks.float32), flopRate(answer.peaks.bf16));
    Table table({{"SWITCH"}, {"VALUE"}, {"PREDICTED STEP", Right}, {"SPEED", Right}, {"MEASURED HERE"}, {"FROM"}});
    int cannot = 0;
    std::string same;
    for (const PredictedValue& one : answer.values) {
        if (!one.cannot.empty()) {
            ++cannot;
            continue;
        }
        if (!one.sameAs.empty()) {
            same += fmt::format("{}{}={} (as {}{})", same.empty() ? "" : ", ", one.key, one.value, one.sameAs, one.sameAsNow ? ", which is set" : "");
            continue;
        }
        std::string measured;
        if (one.measured) {
            measured = fmt::format("{} (session {})", earlierWords(*one.measured), one.measured->session);
            if (one.foretold) measured += fmt::format(", foretold ×{:.2f}", one.foretold->ratio);
        }
        const bool known = one.predicted.known;
        table.add({one.key, one.value, known ? format::milliseconds(one.predicted.ms) : "measure it",
                   known ? fmt::format("×{:.2f}", one.predicted.ratio) : "", measured, known ? one.predicted.basis : one.note});
    }
    text += table.text();
    if (!same.empty()) text += "The same here, so not told twice: " + same + ".\n";
    if (cannot > 0) text += fmt::format("{} other values cannot be used here; `switches` says why.\n", cannot);
    text += "SPEED is time per token now ÷ then: above 1 is faster. \"measure it\": no peak tells; ask `ab`.\n";
    if (!answer.notStored.empty()) text += "The predictions could not be kept: " + answer.notStored + "\n";
    return printable(text, true);
}

Result<ExitCode> predictValues(const PredictOptions& options) {
    const auto workbench = Workbench::create();
    const auto steps = wholeOption("--time-steps", options.steps, kFewestTimed, 1000);
    if (!steps) return steps.error();
    const auto seconds = realOption("--seconds", options.seconds, 0.1, 3600);
    if (!seconds) return seconds.error();
    auto config = options.run.configure(*workbench);
    if (!config) return config.error();
    const PredictRequest wanted{
        .config = std::move(*config), .database = options.database, .keep = !options.noRecord, .steps = *steps, .mostSeconds = *seconds};
    std::atomic<bool> cancelled{false};
    const StopSignals signals([&] { cancelled = true; });
    const auto answer = [&] {
        const StatusLine status;
        return predict(
            workbench->machine(), wanted, [&](const std::string& what) { status.say(what); }, cancelled);
    }();
    if (!answer) return answer.error();
    print(options.json ? line(answerJson(*answer)) : answerText(*answer));
    return ExitCode::Ok;
}

}  // namespace

void addPredict(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<PredictOptions>();
    auto* command = parent.add_subcommand("predict", "What would each switch do here? Foretold from this machine's peaks, or \"measure it\"");
    addConfiguration(options->run, *command);
    addNumber(*command, "--time-steps", "N", options->steps, "Steps of the settings as they are, that are timed");
    addNumber(*command, "--seconds", "SECONDS", options->seconds, "Fewer steps are timed where they take longer than this together");
    addDatabaseOption(*command, options->database);
    command->add_flag("--no-record", options->noRecord, "Keep no prediction to be held against an experiment later");
    command->add_flag("--json", options->json, "As one line of JSON");
    actions[command] = [options] { return predictValues(*options); };
}

}  // namespace stepscope::cli
