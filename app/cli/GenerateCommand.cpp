// `generate`: writes text from a checkpoint's weights to stdout, piece by piece as it comes where there is one prompt, and at its end how fast it
// was; to a terminal without what it would obey. Main thread; Ctrl-C ends the texts where they are.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "app/cli/CheckpointChoice.h"
#include "app/cli/Commands.h"
#include "app/cli/StopSignals.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "app/workbench/text/WriteTexts.h"
#include "core/base/Format.h"
#include "core/base/Utf8.h"
#include "core/events/ConfigKeys.h"

namespace stepscope::cli {
namespace {

constexpr std::int64_t kMany = 1'000'000'000'000;
constexpr std::uintmax_t kMostPromptBytes = 4 << 20;

struct GenerateOptions {
    std::string from, database, promptFile, dtype = "f32";
    std::vector<std::string> prompts, stop;
    // Texts, so that the range checks name the option.
    std::string tokens = "200", temperature = "0.8", topK = "0", topP = "1", seed = "1", threads = "0";
    std::string repetition = "1", frequency = "0", presence = "0";
    bool ignoreEnd = false, json = false;
};

// The lines of a file that are not empty, and which ones they are.
Result<std::vector<std::string>> linesOf(const std::string& path, std::vector<std::string>& places) {
    std::error_code problem;
    const auto status = std::filesystem::status(path, problem);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        return makeError(ErrorCode::BadInput, fmt::format("The file of prompts {} is {}; name a file with a prompt in each line.", path,
                                                          std::filesystem::is_directory(status) ? "a folder" : "no ordinary file"));
    std::ifstream file(path, std::ios::binary);
    if (!file) return makeError(ErrorCode::NotFound, fmt::format("The file of prompts {} cannot be opened; check its name.", path));
    if (std::filesystem::file_size(path, problem) > kMostPromptBytes)
        return makeError(ErrorCode::BadInput, fmt::format("The file of prompts {} is larger than 4 MB; a prompt is a line of it.", path));
    std::vector<std::string> lines;
    bool first = true;
    std::int64_t number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (line.ends_with('\r')) line.pop_back();
        if (first && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
        first = false;
        if (line.empty()) continue;
        lines.push_back(line);
        places.push_back(fmt::format("Line {} of the file of prompts {}", number, path));
    }
    if (file.bad()) return makeError(ErrorCode::Io, fmt::format("The file of prompts {} cannot be read.", path));
    if (lines.empty()) return makeError(ErrorCode::BadInput, fmt::format("The file of prompts {} has no line with a prompt.", path));
    return lines;
}

Result<TextRequest> request(const GenerateOptions& options) {
    TextRequest wanted{.dtype = options.dtype};
    GenerateText& how = wanted.how;
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
    whole("tokens", options.tokens, 1, kMostTokensWritten, how.tokens);
    real("temperature", options.temperature, 0, 100, how.temperature);
    whole("top-k", options.topK, 0, kMany, how.topK);
    real("top-p", options.topP, 0, 1, how.topP);
    whole("seed", options.seed, 0, kMany, how.seed);
    whole("threads", options.threads, 0, 1024, wanted.threads);
    real("repetition-penalty", options.repetition, 0.01, 100, how.repetitionPenalty);
    real("frequency-penalty", options.frequency, -100, 100, how.frequencyPenalty);
    real("presence-penalty", options.presence, -100, 100, how.presencePenalty);
    if (!good) return good.error();
    if (how.topP == 0) return makeError(ErrorCode::BadInput, "top-p cannot be 0: no token would be left; it takes a number above 0 up to 1.");
    how.stop = options.stop;
    wanted.ignoreEnd = options.ignoreEnd;
    wanted.prompts = options.prompts;
    if (!options.promptFile.empty()) {
        if (!wanted.prompts.empty()) return makeError(ErrorCode::BadInput, "Prompts come from --prompt or from --prompts, not from both.");
        auto lines = linesOf(options.promptFile, wanted.places);
        if (!lines) return lines.error();
        wanted.prompts = std::move(*lines);
    }
    if (wanted.prompts.empty()) wanted.prompts.push_back("\n");
    return wanted;
}

std::string speedLine(const TextRequest& request, const TextSpeed& speed) {
    std::string line = fmt::format("prompt {} tokens, {} · text {} tokens, {} · weights {} ({}), kept keys and values {} · {} thread{}",
                                   format::count(speed.promptTokens), format::rate(speed.promptPerSecond, "tok/s"), format::count(speed.textTokens),
                                   format::rate(speed.textPerSecond, "tok/s"), format::bytes(speed.weights), request.dtype,
                                   format::bytes(speed.cache), speed.threads, speed.threads == 1 ? "" : "s");
    if (!speed.recomputed.empty()) line += fmt::format("\nThe whole context was computed anew for each token: {}.", speed.recomputed);
    return line + "\n";
}

Json answerOf(const TextRequest& request, const TextAnswer& answer) {
    Json texts = Json::array();
    for (std::size_t i = 0; i < answer.texts.size(); ++i) texts.push_back({{"prompt", request.prompts[i]}, {"text", answer.texts[i]}});
    const TextSpeed& speed = answer.speed;
    return {{"texts", texts},
            {"dtype", request.dtype},
            {"threads", speed.threads},
            {"prompt_tokens", speed.promptTokens},
            {"prompt_tokens_per_s", number(speed.promptPerSecond)},
            {"text_tokens", speed.textTokens},
            {"text_tokens_per_s", number(speed.textPerSecond)},
            {"weight_bytes", speed.weights.count},
            {"cache_bytes", speed.cache.count},
            {"recomputed", speed.recomputed.empty() ? Json() : Json(speed.recomputed)},
            {"stopped", answer.stopped}};
}

Result<ExitCode> generate(const GenerateOptions& options) {
    auto wanted = request(options);
    if (!wanted) return wanted.error();
    const auto path = chooseCheckpoint(options.from, options.database);
    if (!path) return path.error();
    wanted->from = *path;
    const bool streams = wanted->prompts.size() == 1 && !options.json;
    std::size_t told = 0;
    bool promptShown = false;
    // What a model writes may hold anything; a file or another program gets it to the byte.
    const bool cleaned = stdoutIsTerminal();
    PrintableStream shown;
    const auto write = [&](std::string_view piece) { print(cleaned ? shown.add(piece) : std::string(piece)); };
    const auto show = [&](const std::string& soFar) {
        if (!promptShown) write(wanted->prompts.front());
        promptShown = true;
        if (soFar.size() > told) write(std::string_view(soFar).substr(told));
        told = std::max(told, soFar.size());
        std::fflush(stdout);
    };
    std::atomic<bool> cancelled{false};
    const StopSignals signals([&] { cancelled = true; });
    const auto answer = writeTexts(
        *wanted,
        [&](std::size_t, const std::string& soFar, const TextSpeed&) {
            if (streams) show(soFar);
        },
        cancelled);
    if (!answer) return answer.error();
    const ExitCode code = answer->stopped ? ExitCode::Stopped : ExitCode::Ok;
    if (options.json) {
        print(line(answerOf(*wanted, *answer)));
        return code;
    }
    if (streams) {
        show(answer->texts.front());
        print(shown.end() + "\n");
    } else {
        for (std::size_t i = 0; i < answer->texts.size(); ++i)
            write(fmt::format("{}--- {} of {}\n{}{}\n", i == 0 ? "" : "\n", i + 1, answer->texts.size(), wanted->prompts[i], answer->texts[i]));
        print(shown.end());
    }
    std::fflush(stdout);
    printStatus(speedLine(*wanted, answer->speed));
    if (answer->stopped) printError("It was stopped; what there is of the text is above.");
    return code;
}

}  // namespace

void addGenerate(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<GenerateOptions>();
    auto* command = parent.add_subcommand("generate", "Write text with the weights of a checkpoint");
    addFromOption(*command, options->from);
    addDatabaseOption(*command, options->database);
    const auto add = [command](const char* name, std::string& text, const char* help, const char* type) {
        command->add_option(name, text, help)->type_name(type)->capture_default_str()->take_last();
    };
    command->add_option("--prompt", options->prompts, "Text to go on from; may be repeated: all are written beside each other; default: a new line")
        ->type_name("TEXT")
        ->allow_extra_args(false);
    command->add_option("--prompts", options->promptFile, "The same from a file, a prompt in each line")
        ->type_name("FILE")
        ->take_last()
        ->check(notEmpty("--prompts"));
    add("--tokens", options->tokens, "How many tokens to write", "N");
    command->add_option("--stop", options->stop, "A text to end before; may be repeated")->type_name("TEXT")->allow_extra_args(false);
    command->add_flag("--ignore-eos", options->ignoreEnd, "Write as many tokens as asked; else a text ends where the model writes <|endoftext|>");
    add("--temperature", options->temperature, "Below 1 surer, above 1 wilder; 0 = always the likeliest", "X");
    add("--top-k", options->topK, "Choose among the K likeliest; 0 = all", "K");
    add("--top-p", options->topP, "Choose among the likeliest that hold this share; 1 = all", "P");
    add("--repetition-penalty", options->repetition, "Above 1: what occurs in prompt or text is less likely; 1 = off", "X");
    add("--frequency-penalty", options->frequency, "Taken from a token's logit for each time that it was written; 0 = off", "X");
    add("--presence-penalty", options->presence, "Taken once from the logit of each token that was written; 0 = off", "X");
    add("--seed", options->seed, "Of the choices", "N");
    add("--dtype", options->dtype, "Of the weights: f32, bf16, int8, int4 or int8-dynamic, which are less memory to read for each token", "TYPE");
    add("--threads", options->threads, "CPU threads; 0 = every core", "N");
    command->add_flag("--json", options->json, "Texts, speed and memory as one line of JSON");
    actions[command] = [options] { return generate(*options); };
}

}  // namespace stepscope::cli
