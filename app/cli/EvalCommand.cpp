// `eval`: the loss of a checkpoint's weights on a text or on tokens: every token predicted once. Main thread; Ctrl-C stops it.
#include <fmt/format.h>

#include <atomic>

#include "app/cli/CheckpointChoice.h"
#include "app/cli/Commands.h"
#include "app/cli/StopSignals.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "app/workbench/Evaluate.h"
#include "core/base/Format.h"
#include "core/events/ConfigKeys.h"

namespace stepscope::cli {
namespace {

struct EvalOptions {
    std::string from, database, data;
    // Texts, so that the range checks name the option.
    std::string context = "0", batch = "8", tokens = "0", threads = "0", dtype;
    bool json = false;
};

Result<EvaluateRequest> request(const EvalOptions& options) {
    EvaluateRequest wanted{.data = options.data, .dtype = options.dtype};
    const auto whole = [](const char* name, const std::string& text, std::int64_t least, std::int64_t most, std::int64_t& into) -> Status {
        const auto value = parseValue(IntegerRange{least, most}, name, text);
        if (!value) return value.error();
        into = std::get<std::int64_t>(*value);
        return {};
    };
    if (auto done = whole("--context", options.context, 0, 10'000'000, wanted.context); !done) return done.error();
    if (auto done = whole("--batch", options.batch, 1, 100'000, wanted.batch); !done) return done.error();
    if (auto done = whole("--tokens", options.tokens, 0, 1'000'000'000'000, wanted.tokens); !done) return done.error();
    if (auto done = whole("--threads", options.threads, 0, 1024, wanted.threads); !done) return done.error();
    const auto path = chooseCheckpoint(options.from, options.database);
    if (!path) return path.error();
    wanted.checkpoint = *path;
    return wanted;
}

// A perplexity: four digits, of a vocabulary's size without an exponent.
std::string perplexityText(double perplexity) {
    return format::significant(perplexity, 4);
}

// What a type of weights costs and gives, beside float32.
std::string typesText(const EvaluateAnswer& answer) {
    std::string text;
    for (const TypedAnswer& type : answer.types)
        text += fmt::format("{:<12} loss {:.4f} · perplexity {} · weights {} · read {} · text {}\n", type.dtype, type.loss,
                            perplexityText(type.perplexity), format::bytes(type.weights), format::rate(type.readPerSecond, "tok/s"),
                            format::rate(type.writtenPerSecond, "tok/s"));
    if (answer.types.size() < 2) return text;
    const TypedAnswer &before = answer.types.front(), &after = answer.types.back();
    return text + fmt::format("{} instead of f32: perplexity {} -> {} ({:+.2f} %), weights {} -> {}\n", after.dtype,
                              perplexityText(before.perplexity), perplexityText(after.perplexity), 100 * (after.perplexity / before.perplexity - 1),
                              format::bytes(before.weights), format::bytes(after.weights));
}

Json typesJson(const EvaluateAnswer& answer) {
    Json all = Json::array();
    for (const TypedAnswer& type : answer.types)
        all.push_back({{"dtype", type.dtype},
                       {"loss", nineDigits(type.loss)},
                       {"perplexity", number(type.perplexity)},
                       {"weight_bytes", type.weights.count},
                       {"read_tokens_per_s", number(type.readPerSecond)},
                       {"text_tokens_per_s", number(type.writtenPerSecond)}});
    return all;
}

Result<ExitCode> eval(const EvalOptions& options) {
    const auto wanted = request(options);
    if (!wanted) return wanted.error();
    std::atomic<bool> cancelled{false};
    const StopSignals signals([&] { cancelled = true; });
    const bool terminal = stderrIsTerminal();
    const auto answer = evaluateCheckpoint(
        *wanted,
        [&](double share) {
            if (terminal) printStatus(fmt::format("\r\x1b[K{}", format::percent(share)));
        },
        cancelled);
    if (terminal) printStatus("\r\x1b[K");
    if (!answer) return answer.error();
    if (options.json) {
        Json told = {{"checkpoint", wanted->checkpoint},
                     {"data", answer->data},
                     {"loss", nineDigits(answer->loss)},
                     {"perplexity", number(answer->perplexity)},
                     {"tokens", answer->tokens},
                     {"seconds", number(answer->seconds)},
                     {"tokens_per_s", number(answer->tokensPerSecond)}};
        if (!answer->types.empty()) told["types"] = typesJson(*answer);
        print(line(told));
    } else if (!answer->types.empty()) {
        print(fmt::format("{}\n{} tokens\n{}", printable(answer->data), format::count(answer->tokens), typesText(*answer)));
    } else {
        print(fmt::format("{}\nloss {:.4f} · perplexity {} · {} tokens · {}\n", printable(answer->data), answer->loss,
                          perplexityText(answer->perplexity), format::count(answer->tokens), format::rate(answer->tokensPerSecond, "tok/s")));
    }
    return ExitCode::Ok;
}

}  // namespace

void addEval(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<EvalOptions>();
    auto* command = parent.add_subcommand("eval", "Loss and perplexity of a checkpoint on a text or tokens");
    addFromOption(*command, options->from);
    command
        ->add_option("--data", options->data,
                     "kjv, shakespeare, generated, or a path: text, folder, .jsonl, .parquet, .bin; default: the part of its own data that the run "
                     "validated on")
        ->type_name("FILE")
        ->take_last();
    addDatabaseOption(*command, options->database);
    const auto add = [command](const char* name, std::string& text, const char* help) {
        command->add_option(name, text, help)->type_name("N")->capture_default_str()->take_last();
    };
    add("--context", options->context, "Tokens of a window; 0 = as many as the model has positions");
    add("--batch", options->batch, "Windows at a time");
    add("--tokens", options->tokens, "Read at most so many; 0 = all");
    add("--threads", options->threads, "CPU threads; 0 = every core");
    command
        ->add_option("--dtype", options->dtype,
                     "What weights in another type cost: bf16, int8, int4 or int8-dynamic, as generate has them, beside f32")
        ->type_name("TYPE")
        ->take_last();
    command->add_flag("--json", options->json, "As one line of JSON");
    actions[command] = [options] { return eval(*options); };
}

}  // namespace stepscope::cli
