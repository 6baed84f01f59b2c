// `inference`: what the forms of a checkpoint's weights give and cost, measured in turn, and what pruning costs. Main thread; Ctrl-C ends it and what
// is known by then is told.
#include <fmt/format.h>

#include <atomic>
#include <cmath>

#include "app/cli/CheckpointChoice.h"
#include "app/cli/Commands.h"
#include "app/cli/StopSignals.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "app/workbench/inference/MeasureForms.h"
#include "core/base/Format.h"

namespace stepscope::cli {
namespace {

struct InferenceOptions {
    std::string from, database, data;
    std::vector<std::string> forms;
    // Texts, so that the range checks name the option.
    std::string prompt = "0", text = "0", batch = "1", tokens = "4096", budget = "60", delta = "1", threads = "0", seed = "1", fineTune = "0";
    bool noPruning = false, json = false;
};

Result<FormsRequest> request(const InferenceOptions& options) {
    FormsRequest wanted;
    Status good;
    const auto whole = [&](const char* name, const std::string& text, std::int64_t least, std::int64_t most, std::int64_t& into) {
        const auto value = wholeOption(name, text, least, most);
        if (good && !value) good = value.error();
        if (value) into = *value;
    };
    const auto real = [&](const char* name, const std::string& text, double least, double most, double& into) {
        const auto value = realOption(name, text, least, most);
        if (good && !value) good = value.error();
        if (value) into = *value;
    };
    whole("--prompt", options.prompt, 0, 10'000'000, wanted.prompt);
    whole("--text", options.text, 0, 10'000'000, wanted.text);
    whole("--batch", options.batch, 1, kMostFormTexts, wanted.sequences);
    whole("--tokens", options.tokens, 1, kMostFormTokens, wanted.tokens);
    whole("--threads", options.threads, 0, 1024, wanted.threads);
    whole("--seed", options.seed, 0, 1'000'000'000'000, wanted.seed);
    whole("--fine-tune", options.fineTune, 0, kMostFineTuning, wanted.fineTune);
    real("--budget", options.budget, 0, kMostFormSeconds, wanted.budgetSeconds);
    double percent = 1;
    real("--delta", options.delta, kLeastFormDelta * 100, kMostFormDelta * 100, percent);
    if (!good) return good.error();
    wanted.delta = percent / 100;
    wanted.data = options.data;
    wanted.forms = options.forms;
    wanted.pruning = !options.noPruning;
    const auto path = chooseCheckpoint(options.from, options.database);
    if (!path) return path.error();
    wanted.from = *path;
    return wanted;
}

std::string speedText(const FormSpeed& speed) {
    if (!std::isfinite(speed.perSecond)) return "not measured";
    if (!std::isfinite(speed.high) || !(speed.low > 0)) return format::rate(speed.perSecond, "tok/s");
    return fmt::format("{} [{}, {}]", format::rate(speed.perSecond, "tok/s"), format::rate(speed.low, "tok/s"), format::rate(speed.high, "tok/s"));
}

std::string besideText(const char* what, const FormSpeed& speed, double delta) {
    if (speed.judged.outcome.empty()) return "";
    const std::string why = speed.judged.why.empty() ? "" : ". " + speed.judged.why;
    return fmt::format("             {} beside f32: {}{}\n", what, speedWords(speed, delta), why);
}

std::string tunedText(const PrunedRow& row, std::int64_t steps, double delta) {
    if (!std::isfinite(row.tunedPerplexity)) return "";
    return fmt::format(", after {} step{} of fine-tuning {} ({})", format::count(steps), steps == 1 ? "" : "s",
                       format::significant(row.tunedPerplexity, 5), qualityWords(row.tuned, delta));
}

std::string formsText(const FormsAnswer& answer) {
    std::string text = fmt::format("{}\n{} tokens in {} windows · prompts of {}, texts of {} tokens, {} at a time · {} thread{}\n",
                                   printable(answer.data), format::count(answer.tokens), format::count(answer.windows), format::count(answer.prompt),
                                   format::count(answer.text), answer.sequences, answer.threads, answer.threads == 1 ? "" : "s");
    for (const FormRow& row : answer.forms) {
        text += fmt::format("{:<12} weights {} · perplexity {}{}\n", row.form, format::bytes(row.weights), format::significant(row.perplexity, 5),
                            std::isfinite(row.quality.change) ? fmt::format(" ({})", qualityWords(row.quality, answer.delta)) : std::string());
        text +=
            fmt::format("             prompt {} · text {}{}\n", speedText(row.prompt), speedText(row.text),
                        std::isfinite(row.text.bandwidthShare) ? fmt::format(", {} of the memory bandwidth", format::percent(row.text.bandwidthShare))
                                                               : std::string());
        text += besideText("prompt", row.prompt, answer.delta) + besideText("text", row.text, answer.delta);
        if (&row == &answer.forms.front() && answer.rounds > 0 && answer.forms.size() > 1)
            text += fmt::format("             prompt {} · text {}: no difference of that size is believed\n",
                                besideItselfWords(answer.promptFloor, answer.rounds), besideItselfWords(answer.textFloor, answer.rounds));
    }
    if (answer.rounds + answer.leftOut > 0)
        text += fmt::format("{} {}{}, {:.0f} s\n", answer.rounds, answer.rounds == 1 ? "round counts" : "rounds count",
                            answer.leftOut > 0 ? fmt::format(", {} left out for other programs", answer.leftOut) : std::string(), answer.seconds);
    if (!answer.whyNoSpeed.empty()) text += answer.whyNoSpeed + "\n";
    if (!std::isfinite(answer.bytesPerSecond)) text += "The memory bandwidth of this machine is not known yet; `diagnose` measures it.\n";
    for (const PrunedRow& row : answer.pruned)
        text += fmt::format("{:>5} pruned: perplexity {} ({}){}\n", row.name, format::significant(row.perplexity, 5),
                            qualityWords(row.quality, answer.delta), tunedText(row, answer.fineTune, answer.delta));
    if (!answer.pruned.empty()) text += std::string(kZerosGiveNothing) + "\n";
    if (answer.stopped) text += "It was stopped before everything was measured.\n";
    return text;
}

Json qualityJson(const QualityChange& quality, double delta) {
    Json told = {{"change", number(quality.change)}, {"low", number(quality.low)}, {"high", number(quality.high)}};
    const std::string outcome = qualityOutcome(quality, delta);
    if (outcome.empty()) return told;
    told["verdict"] = outcome;
    told["words"] = qualityWords(quality, delta);
    return told;
}

Json speedJson(const FormSpeed& speed, double delta) {
    Json told = {{"tokens_per_s", number(speed.perSecond)},
                 {"low", bound(speed.low, speed.high, speed.low)},
                 {"high", bound(speed.low, speed.high, speed.high)}};
    if (speed.judged.outcome.empty()) return told;
    told["verdict"] = speed.judged.outcome;
    told["ratio"] = number(speed.judged.ratio);
    told["ratio_low"] = bound(speed.judged.low, speed.judged.high, speed.judged.low);
    told["ratio_high"] = bound(speed.judged.low, speed.judged.high, speed.judged.high);
    told["floor"] = number(speed.judged.floor - 1);
    told["words"] = speedWords(speed, delta);
    told["why"] = speed.judged.why;
    return told;
}

Json answerJson(const FormsAnswer& answer, const std::string& from) {
    Json forms = Json::array(), pruned = Json::array();
    for (const FormRow& row : answer.forms) {
        Json text = speedJson(row.text, answer.delta);
        text["bandwidth_share"] = number(row.text.bandwidthShare);
        forms.push_back({{"form", row.form},
                         {"weight_bytes", row.weights.count},
                         {"cache_bytes", row.cache.count},
                         {"loss", nineDigits(row.loss)},
                         {"perplexity", number(row.perplexity)},
                         {"perplexity_change", qualityJson(row.quality, answer.delta)},
                         {"prompt", speedJson(row.prompt, answer.delta)},
                         {"text", text}});
    }
    for (const PrunedRow& row : answer.pruned) {
        pruned.push_back({{"pruned", row.name},
                          {"scope", row.scope.empty() ? Json() : Json(row.scope)},
                          {"zeros", number(row.zeros)},
                          {"perplexity", number(row.perplexity)},
                          {"perplexity_change", qualityJson(row.quality, answer.delta)},
                          {"smaller", false},
                          {"faster", false}});
        if (answer.fineTune == 0) continue;
        pruned.back()["fine_tuned_perplexity"] = number(row.tunedPerplexity);
        pruned.back()["fine_tuned_change"] = qualityJson(row.tuned, answer.delta);
    }
    return {{"checkpoint", from},
            {"data", answer.data},
            {"tokens", answer.tokens},
            {"windows", answer.windows},
            {"sequences", answer.sequences},
            {"prompt_tokens", answer.prompt},
            {"text_tokens", answer.text},
            {"threads", answer.threads},
            {"rounds", answer.rounds},
            {"left_out", answer.leftOut},
            {"why_no_speed", answer.whyNoSpeed.empty() ? Json() : Json(answer.whyNoSpeed)},
            {"floor", {{"prompt", number(answer.promptFloor - 1)}, {"text", number(answer.textFloor - 1)}}},
            {"bytes_per_s", number(answer.bytesPerSecond)},
            {"seconds", number(answer.seconds)},
            {"stopped", answer.stopped},
            {"fine_tune", answer.fineTune},
            {"forms", forms},
            {"pruned", pruned}};
}

Result<ExitCode> inference(const InferenceOptions& options) {
    const auto wanted = request(options);
    if (!wanted) return wanted.error();
    std::atomic<bool> cancelled{false};
    const StopSignals signals([&] { cancelled = true; });
    const bool terminal = stderrIsTerminal();
    const auto answer = measureForms(
        *wanted,
        [&](const FormsProgress& now, const FormsAnswer&) {
            if (terminal) printStatus(fmt::format("\r\x1b[K{} {}", format::percent(now.share), now.doing));
        },
        cancelled);
    if (terminal) printStatus("\r\x1b[K");
    if (!answer) return answer.error();
    print(options.json ? line(answerJson(*answer, wanted->from)) : formsText(*answer));
    return answer->stopped ? ExitCode::Stopped : ExitCode::Ok;
}

}  // namespace

void addInference(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<InferenceOptions>();
    auto* command = parent.add_subcommand("inference", "What weights of fewer bits give and cost here, measured in turn, and what pruning costs");
    addFromOption(*command, options->from);
    command
        ->add_option("--data", options->data,
                     "Held-out text: kjv, shakespeare, generated, or a path; default: the part of its own data that the run validated on")
        ->type_name("FILE")
        ->take_last();
    addDatabaseOption(*command, options->database);
    command->add_option("--form", options->forms, "bf16, int8, int4 or int8-dynamic, beside f32; may be repeated; default: all")
        ->type_name("FORM")
        ->allow_extra_args(false);
    const auto add = [command](const char* name, std::string& text, const char* help, const char* type) {
        command->add_option(name, text, help)->type_name(type)->capture_default_str()->take_last();
    };
    add("--prompt", options->prompt, "Tokens of a prompt; 0 = 128, or half of the model's positions", "N");
    add("--text", options->text, "Tokens written behind it; 0 = 64, or as many as there is room for", "N");
    add("--batch", options->batch, "Texts beside each other", "N");
    add("--tokens", options->tokens, "Tokens of the held-out text that each form reads", "N");
    add("--budget", options->budget, "For the speeds, up to four times as long where rounds are slow; 0 = no speeds are measured", "SECONDS");
    add("--delta", options->delta, "Differences of speed or perplexity below this count as none", "PCT");
    add("--threads", options->threads, "CPU threads; 0 = every core", "N");
    add("--seed", options->seed, "Of the coins that order the turns", "N");
    add("--fine-tune", options->fineTune,
        "Steps of training behind each pruning, its zeros kept, on the run's own text at the rate that its schedule had come to; 0 = none", "STEPS");
    command->add_flag("--no-pruning", options->noPruning, "Leave out what zeros cost");
    command->add_flag("--json", options->json, "As one line of JSON");
    actions[command] = [options] { return inference(*options); };
}

}  // namespace stepscope::cli
