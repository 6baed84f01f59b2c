// `generate`: writes text from a checkpoint's weights to stdout, piece by piece as it comes.
#include <fmt/format.h>

#include <cstdio>

#include "app/cli/CheckpointChoice.h"
#include "app/cli/Commands.h"
#include "app/cli/output/Output.h"
#include "app/workbench/Checkpoints.h"
#include "core/events/ConfigKeys.h"

namespace stepscope::cli {
namespace {

constexpr std::int64_t kMany = 1'000'000'000'000;

struct GenerateOptions {
    std::string from, database, prompt = "\n";
    // Texts, so that the range checks name the option.
    std::string tokens = "200", temperature = "0.8", topK = "0", topP = "1", seed = "1";
};

Result<GenerateText> request(const GenerateOptions& options) {
    GenerateText wanted;
    wanted.prompt = options.prompt;
    const auto whole = [](const char* name, const std::string& text, std::int64_t least, std::int64_t most, std::int64_t& into) -> Status {
        const auto value = parseValue(IntegerRange{least, most}, name, text);
        if (!value) return value.error();
        into = std::get<std::int64_t>(*value);
        return {};
    };
    const auto real = [](const char* name, const std::string& text, double most, double& into) -> Status {
        const auto value = parseValue(RealRange{0, most}, name, text);
        if (!value) return value.error();
        into = std::get<double>(*value);
        return {};
    };
    if (auto done = whole("tokens", options.tokens, 1, kMostTokensWritten, wanted.tokens); !done) return done.error();
    if (auto done = real("temperature", options.temperature, 100, wanted.temperature); !done) return done.error();
    if (auto done = whole("top-k", options.topK, 0, kMany, wanted.topK); !done) return done.error();
    if (auto done = real("top-p", options.topP, 1, wanted.topP); !done) return done.error();
    if (auto done = whole("seed", options.seed, 0, kMany, wanted.seed); !done) return done.error();
    if (wanted.topP == 0) return makeError(ErrorCode::BadInput, "top-p cannot be 0: no token would be left; it takes a number above 0 up to 1.");
    return wanted;
}

Result<ExitCode> generate(const GenerateOptions& options) {
    const auto wanted = request(options);
    if (!wanted) return wanted.error();
    const auto path = chooseCheckpoint(options.from, options.database);
    if (!path) return path.error();
    bool promptShown = false;
    const auto text = generateFrom(*path, *wanted, [&](const std::string& piece) {
        if (!promptShown) print(wanted->prompt);
        promptShown = true;
        print(piece);
        std::fflush(stdout);
    });
    if (!text) return text.error();
    print("\n");
    return ExitCode::Ok;
}

}  // namespace

void addGenerate(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<GenerateOptions>();
    auto* command = parent.add_subcommand("generate", "Write text with the weights of a checkpoint");
    command->add_option("--from", options->from, "A checkpoint, by its folder or a file in it, or a session, whose newest is taken")
        ->type_name("FILE|ID")
        ->required()
        ->take_last();
    addDatabaseOption(*command, options->database);
    const auto add = [command](const char* name, std::string& text, const char* help, const char* type) {
        command->add_option(name, text, help)->type_name(type)->capture_default_str()->take_last();
    };
    command->add_option("--prompt", options->prompt, "Text to go on from; default: a new line")->type_name("TEXT")->take_last();
    add("--tokens", options->tokens, "How many tokens to write", "N");
    add("--temperature", options->temperature, "Below 1 surer, above 1 wilder; 0 = always the likeliest", "X");
    add("--top-k", options->topK, "Choose among the K likeliest; 0 = all", "K");
    add("--top-p", options->topP, "Choose among the likeliest that hold this share; 1 = all", "P");
    add("--seed", options->seed, "Of the choices", "N");
    actions[command] = [options] { return generate(*options); };
}

}  // namespace stepscope::cli
