// `prune`: a checkpoint, or weights of another program, with the smallest weights or heads set to zero, and the loss before and after. Main thread;
// Ctrl-C stops it.
#include <fmt/format.h>

#include <atomic>

#include "app/cli/CheckpointChoice.h"
#include "app/cli/Commands.h"
#include "app/cli/StopSignals.h"
#include "app/cli/output/Json.h"
#include "app/cli/output/Output.h"
#include "app/workbench/text/PruneCheckpoint.h"
#include "core/base/Format.h"

namespace stepscope::cli {
namespace {

struct PruneOptions {
    std::string from, database, data, out, pattern, scope = "global";
    std::string sparsity, context = "0", batch = "8", tokens = "0", threads = "0";
    bool json = false;
};

Result<PruneRequest> request(const PruneOptions& options) {
    const auto scope = pruneScopeNamed(options.scope);
    if (!scope) return scope.error();
    PruneRequest wanted{.pattern = options.pattern, .scope = *scope, .out = options.out};
    wanted.evaluate.data = options.data;
    if (options.sparsity.empty() == options.pattern.empty())
        return makeError(ErrorCode::BadInput, "How much is pruned is said by --sparsity or by --pattern, by one of them.");
    if (!options.pattern.empty() && *scope != PruneScope::Global)
        return makeError(ErrorCode::BadInput, "A pattern takes the same share everywhere; leave out --scope.");
    if (!options.sparsity.empty()) {
        const auto share = realOption("--sparsity", options.sparsity, 0, 1);
        if (!share) return share.error();
        wanted.sparsity = *share;
    }
    Status good;
    const auto whole = [&](const char* name, const std::string& text, std::int64_t least, std::int64_t most, std::int64_t& into) {
        const auto value = wholeOption(name, text, least, most);
        if (good && !value) good = value.error();
        if (value) into = *value;
    };
    whole("--context", options.context, 0, 10'000'000, wanted.evaluate.context);
    whole("--batch", options.batch, 1, 100'000, wanted.evaluate.batch);
    whole("--tokens", options.tokens, 0, 1'000'000'000'000, wanted.evaluate.tokens);
    whole("--threads", options.threads, 0, 1024, wanted.evaluate.threads);
    if (!good) return good.error();
    const auto path = chooseCheckpoint(options.from, options.database);
    if (!path) return path.error();
    wanted.evaluate.checkpoint = *path;
    return wanted;
}

Result<ExitCode> prune(const PruneOptions& options) {
    const auto wanted = request(options);
    if (!wanted) return wanted.error();
    std::atomic<bool> cancelled{false};
    const StopSignals signals([&] { cancelled = true; });
    const bool terminal = stderrIsTerminal();
    const auto answer = pruneCheckpoint(
        *wanted,
        [&](double share) {
            if (terminal) printStatus(fmt::format("\r\x1b[K{}", format::percent(share)));
        },
        cancelled);
    if (terminal) printStatus("\r\x1b[K");
    if (!answer) return answer.error();
    const double share = static_cast<double>(answer->zeros) / static_cast<double>(answer->weights);
    const std::string heads = answer->heads == 0 ? std::string() : fmt::format("{} of the {} heads are pruned\n", answer->heads, answer->headsOfAll);
    if (options.json)
        print(line({{"checkpoint", wanted->evaluate.checkpoint},
                    {"out", wanted->out},
                    {"data", answer->before.data},
                    {"zeros", answer->zeros},
                    {"weights", answer->weights},
                    {"heads", answer->heads},
                    {"sparsity", number(share)},
                    {"loss_before", nineDigits(answer->before.loss)},
                    {"loss_after", nineDigits(answer->after.loss)},
                    {"perplexity_before", number(answer->before.perplexity)},
                    {"perplexity_after", number(answer->after.perplexity)},
                    {"tokens", answer->before.tokens}}));
    else
        print(fmt::format(
            "{}\n{}{} of the {} weights of the blocks' matrices are zero ({:.1f} %)\nloss {:.4f} -> {:.4f} · perplexity {} -> {} "
            "({:+.2f} %) · {} tokens of {}\nThe file is as large and text as slow as before: no kernel here leaves zeros out. Training on "
            "lets them grow again, but with train --resume … --keep-zeros.\n",
            printable(wanted->out), heads, format::count(answer->zeros), format::count(answer->weights), 100 * share, answer->before.loss,
            answer->after.loss, format::significant(answer->before.perplexity, 4), format::significant(answer->after.perplexity, 4),
            100 * (answer->after.perplexity / answer->before.perplexity - 1), format::count(answer->before.tokens), printable(answer->before.data)));
    return ExitCode::Ok;
}

}  // namespace

void addPrune(CLI::App& parent, Actions& actions) {
    auto options = std::make_shared<PruneOptions>();
    auto* command = parent.add_subcommand("prune", "Set the smallest weights, or heads, of a checkpoint to zero, and say what that costs");
    addFromOption(*command, options->from);
    command->add_option("--out", options->out, "The folder of the new checkpoint, which must not exist")
        ->type_name("FOLDER")
        ->required()
        ->take_last()
        ->check(notEmpty("--out"));
    addDatabaseOption(*command, options->database);
    command->add_option("--sparsity", options->sparsity, "The share of the weights of the blocks' matrices, or of the heads, that become zero")
        ->type_name("SHARE")
        ->take_last();
    command
        ->add_option("--pattern", options->pattern,
                     "Instead of --sparsity, such as 2:4: of each M neighbours along a row the N largest stay; M at most 64")
        ->type_name("N:M")
        ->take_last();
    command
        ->add_option(
            "--scope", options->scope,
            "global: the smallest of all; layer: the same share of each matrix; heads: whole heads of the attention, the smallest of all layers")
        ->type_name("SCOPE")
        ->capture_default_str()
        ->take_last();
    command
        ->add_option("--data", options->data,
                     "What to evaluate on: kjv, shakespeare, generated, or a path; default: the part of its own data that the run validated on")
        ->type_name("FILE")
        ->take_last();
    const auto add = [command](const char* name, std::string& text, const char* help) {
        command->add_option(name, text, help)->type_name("N")->capture_default_str()->take_last();
    };
    add("--context", options->context, "Tokens of a window; 0 = as many as the model has positions");
    add("--batch", options->batch, "Windows at a time");
    add("--tokens", options->tokens, "Read at most so many; 0 = all");
    add("--threads", options->threads, "CPU threads; 0 = every core");
    command->add_flag("--json", options->json, "As one line of JSON");
    actions[command] = [options] { return prune(*options); };
}

}  // namespace stepscope::cli
