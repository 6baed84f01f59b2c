#include "core/events/ConfigKeys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "core/base/Utf8.h"
#include "core/events/RetiredKeys.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMany = 1'000'000'000'000;

ConfigKey integerKey(std::string id, std::string title, std::string section, std::string help, std::int64_t RunConfig::*field, std::int64_t least,
                     std::int64_t most) {
    return {std::move(id),
            std::move(title),
            std::move(section),
            std::move(help),
            IntegerRange{least, most},
            [field](const RunConfig& c) -> Value { return c.*field; },
            [field](RunConfig& c, const Value& v) { c.*field = std::get<std::int64_t>(v); }};
}

ConfigKey realKey(std::string id, std::string title, std::string section, std::string help, double RunConfig::*field, double least, double most) {
    return {std::move(id),
            std::move(title),
            std::move(section),
            std::move(help),
            RealRange{least, most},
            [field](const RunConfig& c) -> Value { return c.*field; },
            [field](RunConfig& c, const Value& v) { c.*field = std::get<double>(v); }};
}

ConfigKey wordKey(std::string id, std::string title, std::string section, std::string help, std::string RunConfig::*field,
                  std::vector<std::string> words) {
    return {std::move(id),
            std::move(title),
            std::move(section),
            std::move(help),
            Choices{std::move(words)},
            [field](const RunConfig& c) -> Value { return c.*field; },
            [field](RunConfig& c, const Value& v) { c.*field = std::get<std::string>(v); }};
}

std::vector<ConfigKey> allKeys() {
    using C = RunConfig;
    return {
        wordKey("data", "Data", "data",
                "kjv, shakespeare, generated, random, or a path to text, a folder, .jsonl (packed as .zst too), .parquet or .bin tokens", &C::data,
                {}),
        wordKey("tokenizer", "Tokenizer", "data", "how text becomes tokens", &C::tokenizer, {"byte", "char", "gpt2"}),
        realKey("validation-fraction", "Validation share", "data", "share of the text, from its end, that is never trained on",
                &C::validationFraction, 0.0, 0.5),
        wordKey("validation", "Validation text", "data", "split: the end of the data; or a path, read as data is, of which nothing is trained on",
                &C::validation, {}),
        wordKey("separator", "Between documents", "data",
                "of .jsonl and of the files of a folder: a blank line, or GPT-2's token <|endoftext|> (which is also read where a text has it)",
                &C::separator, {"blank-line", "endoftext"}),
        wordKey("init", "Start from", "data",
                "random weights, or those at a path: a GPT-2's folder of transformers, llm.c's .bin, a safetensors file with GPT-2's names", &C::init,
                {}),
        wordKey("init-partial", "Take what fits", "data",
                "of weights of another shape to start from: refuse them, or take the tensors that fit and draw the rest as for a new model",
                &C::initPartial, {"off", "on"}),
        integerKey("layers", "Layers", "model", "transformer blocks", &C::layers, 1, 1000),
        integerKey("heads", "Heads", "model", "attention heads; must divide the width", &C::heads, 1, 1000),
        integerKey("width", "Width", "model", "size of the residual stream", &C::width, 1, 100'000),
        integerKey("vocabulary", "Vocabulary", "model", "number of token ids; 0 = as many as the tokenizer has", &C::vocabulary, 0, 10'000'000),
        wordKey("qkv", "Query, key, value", "model", "one projection for all three, or three of their own", &C::qkv, {"fused", "split"}),
        wordKey("activation", "Activation", "model", "of the MLP: GELU, or SwiGLU with as many parameters", &C::activation, {"gelu", "swiglu"}),
        wordKey("tied-head", "Tied head", "model", "the head is the embedding, or has weights of its own", &C::tiedHead, {"on", "off"}),
        wordKey("norm-placement", "Norm placement", "model", "before each branch as GPT-2, or after the sum as the first Transformer",
                &C::normPlacement, {"pre", "post"}),
        wordKey("norm", "Norm", "model", "LayerNorm, or RMSNorm, which does not centre", &C::norm, {"layernorm", "rmsnorm"}),
        wordKey("positions", "Positions", "model", "a learned table, or rotary (RoPE) in the attention", &C::positions, {"learned", "rope"}),
        wordKey("bias", "Biases", "model", "of linears and LayerNorm", &C::bias, {"on", "off"}),
        realKey("dropout", "Dropout", "model", "share of the embedding's and of each branch's values that training drops; 0 = none", &C::dropout, 0.0,
                0.9),
        realKey("label-smoothing", "Label smoothing", "model", "share of each target that is spread over all tokens; 0 = none", &C::labelSmoothing,
                0.0, 0.9),
        wordKey("schedule", "Schedule", "schedule", "how the learning rate moves", &C::schedule,
                {"constant", "warmup", "cosine", "linear", "warmup-cosine", "one-cycle", "trapezoid", "range-test"}),
        realKey("lr", "Learning rate", "schedule", "highest learning rate; typical: 3e-4 to 6e-4 at 124 M parameters, less for larger models", &C::lr,
                0.0, 100.0),
        realKey("min-lr", "Lowest rate", "schedule", "where cosine, linear and trapezoid end and a range test begins; one-cycle ignores it",
                &C::minLr, 0.0, 100.0),
        integerKey("warmup", "Warm-up", "schedule", "steps of linear warm-up; constant, cosine, one-cycle and range-test have none", &C::warmup, 0,
                   kMany),
        integerKey("steps", "Steps", "schedule", "updates in this run", &C::steps, 1, kMany),
        realKey("weight-decay", "Weight decay", "schedule", "AdamW's decoupled decay, on matrices only", &C::weightDecay, 0.0, 10.0),
        realKey("beta1", "Beta 1", "schedule", "AdamW's decay of the first moment", &C::beta1, 0.0, 0.999999),
        realKey("beta2", "Beta 2", "schedule", "AdamW's decay of the second moment", &C::beta2, 0.0, 0.999999),
        realKey("epsilon", "Epsilon", "schedule", "AdamW's denominator floor", &C::epsilon, 0.0, 1.0),
        integerKey("scale-growth", "Loss scale grows after", "schedule", "fp16 only: steps without overflow before the loss scale doubles",
                   &C::lossScaleGrowth, 1, kMany),
        wordKey("keep-zeros", "Keep zeros", "schedule",
                "on: weights of the blocks' matrices that are zero, as pruning leaves them, get no gradient and stay zero", &C::keepZeros,
                {"off", "on"}),
        integerKey("seed", "Seed", "loop", "of weights and batches", &C::seed, 0, kMany),
        integerKey("threads", "Threads", "loop", "CPU threads of the operations; 0 = every core", &C::threads, 0, 1024),
        integerKey("validation-tokens", "Validation tokens", "loop",
                   "that each validation reads, in whole sequences: the same places whatever the batch size", &C::validationTokens, 1, 1'000'000'000),
        integerKey("checkpoint-every", "Checkpoint every", "loop", "steps between checkpoints; 0 = not while it runs", &C::checkpointEvery, 0, kMany),
        wordKey("checkpoint-at-end", "Checkpoint at the end", "loop", "keeps what was learnt when the run ends or is stopped", &C::checkpointAtEnd,
                {"on", "off"}),
        integerKey("keep", "Keep newest", "loop", "how many of those are kept, older ones are removed; 0 = all", &C::keep, 0, 1'000'000),
        wordKey("keep-best", "Keep best", "loop", "keep the one with the lowest validation loss too; each is validated when it is written",
                &C::keepBest, {"off", "on"}),
        integerKey("early-stopping", "Early stopping", "loop",
                   "validations in a row without a lower loss after which the run ends, with the best checkpoint kept; 0 = never", &C::earlyStopping,
                   0, 1'000'000),
        integerKey("sample-every", "Sample every", "loop", "steps between text samples; 0 = never", &C::sampleEvery, 0, kMany),
    };
}

// ", or epoch, or never"
std::string orWords(const std::vector<std::string>& words) {
    std::string all;
    for (const auto& word : words)
        if (!word.empty()) all += ", or " + word;
    return all;
}

// What somebody gave, as a sentence may repeat it.
std::string repeated(const std::string& text) {
    constexpr std::size_t kMost = 200;
    return std::string(firstBytes(text, kMost)) + (text.size() > kMost ? "..." : "");
}

Error refused(const std::string& key, const std::string& text, const std::string& allowed) {
    return makeError(ErrorCode::BadInput, fmt::format("{} cannot be \"{}\"; it takes {}.", key, repeated(text), allowed));
}

}  // namespace

const std::vector<ConfigKey>& configKeys() {
    static const std::vector<ConfigKey> all = allKeys();
    return all;
}

Result<Value> parseValue(const ValueRange& range, const std::string& key, const std::string& text) {
    if (const auto* choices = std::get_if<Choices>(&range)) {
        if (choices->words.empty() ? !text.empty() : std::ranges::count(choices->words, text) > 0) return Value{text};
        return refused(key, text, choices->words.empty() ? "a name or a path" : fmt::format("one of {}", fmt::join(choices->words, ", ")));
    }
    const char* end = text.data() + text.size();
    if (const auto* whole = std::get_if<IntegerRange>(&range)) {
        if (!whole->word.empty() && text == whole->word) return Value{text};
        if (!whole->zero.empty() && text == whole->zero) return Value{std::int64_t{0}};
        std::int64_t parsed = 0;
        const auto [stop, problem] = std::from_chars(text.data(), end, parsed);
        if (problem == std::errc{} && stop == end && parsed >= whole->least && parsed <= whole->most) return Value{parsed};
        return refused(key, text, fmt::format("a whole number from {} to {}{}", whole->least, whole->most, orWords({whole->word, whole->zero})));
    }
    const auto& real = std::get<RealRange>(range);
    if (!real.zero.empty() && text == real.zero) return Value{0.0};
    double parsed = 0;
    const auto [stop, problem] = std::from_chars(text.data(), end, parsed);
    if (problem == std::errc{} && stop == end && std::isfinite(parsed) && parsed >= real.least && parsed <= real.most) return Value{parsed};
    return refused(key, text, fmt::format("a number from {} to {}{}", real.least, real.most, orWords({real.zero})));
}

Status setKey(RunConfig& config, const SwitchCatalogue& catalogue, const std::string& key, const std::string& text) {
    for (const auto& setting : configKeys()) {
        if (setting.id != key) continue;
        auto value = parseValue(setting.values, key, text).about(Subject::Kind::Key, key);
        if (!value) return value.error();
        setting.set(config, *value);
        return {};
    }
    for (const auto& entry : catalogue) {
        if (entry.id != key) continue;
        auto value = parseValue(entry.values, key, text).about(Subject::Kind::Switch, key);
        if (!value) return value.error();
        config.switches[key] = *value;
        return {};
    }
    if (isRetired(key)) return makeError(ErrorCode::BadInput, insteadOfRetired(config, key, text));
    std::vector<std::string> known;
    for (const auto& setting : configKeys()) known.push_back(setting.id);
    for (const auto& entry : catalogue) known.push_back(entry.id);
    return makeError(ErrorCode::BadInput, fmt::format("There is no key \"{}\"; the keys are {}.", repeated(key), fmt::join(known, ", ")))
        .about(Subject::Kind::Key, key);
}

Status checkConfig(const RunConfig& config) {
    if (config.width % config.heads != 0)
        return makeError(ErrorCode::BadInput,
                         fmt::format("width {} does not divide by heads {}; choose heads that divide it.", config.width, config.heads))
            .about(Subject::Kind::Key, "heads");
    if (config.schedule == "range-test" && !(config.minLr > 0 && config.minLr < config.lr))
        return makeError(ErrorCode::BadInput,
                         fmt::format("schedule=range-test sweeps from min-lr to lr, and {} is not between 0 and {}; choose another min-lr.",
                                     config.minLr, config.lr))
            .about(Subject::Kind::Key, "min-lr");
    if (config.keepBest == "on" && config.checkpointEvery > 0 && config.validation == "split" && config.validationFraction == 0)
        return makeError(ErrorCode::BadInput,
                         "keep-best compares validation losses, and validation-fraction is 0; set it above 0, give validation a path or leave out "
                         "keep-best.")
            .about(Subject::Kind::Key, "keep-best");
    if (config.earlyStopping > 0 && config.validation == "split" && config.validationFraction == 0)
        return makeError(ErrorCode::BadInput,
                         "early-stopping waits for a lower validation loss, and validation-fraction is 0; set it above 0, give validation a path or "
                         "set early-stopping to 0.")
            .about(Subject::Kind::Key, "early-stopping");
    if (config.keepZeros == "on" && config.epsilon == 0)
        return makeError(
                   ErrorCode::BadInput,
                   "keep-zeros gives weights no gradient, and with epsilon=0 AdamW divides nothing by nothing there; set epsilon above 0 or leave "
                   "out keep-zeros.")
            .about(Subject::Kind::Key, "keep-zeros");
    if (config.separator == "endoftext" && config.tokenizer != "gpt2")
        return makeError(ErrorCode::BadInput,
                         fmt::format("separator=endoftext is a token of GPT-2's vocabulary, and tokenizer={} has none such; choose tokenizer=gpt2 or "
                                     "separator=blank-line.",
                                     config.tokenizer))
            .about(Subject::Kind::Key, "separator");
    if (config.positions == "rope" && config.width / config.heads % 2 != 0)
        return makeError(ErrorCode::BadInput,
                         fmt::format("positions=rope turns pairs, and a head size of {} (width {} / heads {}) is odd; choose other heads.",
                                     config.width / config.heads, config.width, config.heads))
            .about(Subject::Kind::Key, "heads");
    return {};
}

std::vector<std::pair<std::string, std::string>> listConfig(const RunConfig& config) {
    std::vector<std::pair<std::string, std::string>> all{{"preset", config.preset}};
    for (const auto& setting : configKeys()) all.emplace_back(setting.id, toString(setting.get(config)));
    for (const auto& [id, value] : config.switches) all.emplace_back(id, toString(value));
    return all;
}

std::vector<DifferingKey> differingKeys(const RunConfig& a, const RunConfig& b) {
    std::vector<DifferingKey> all;
    const auto ofA = listConfig(a), ofB = listConfig(b);
    for (const auto& [key, value] : ofA) {
        if (key == "preset") continue;
        const auto other = std::ranges::find(ofB, key, &std::pair<std::string, std::string>::first);
        if (other != ofB.end() && other->second != value) all.push_back({key, value, other->second});
    }
    return all;
}

}  // namespace stepscope
