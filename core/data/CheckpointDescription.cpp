#include "core/data/CheckpointDescription.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/JsonDepth.h"
#include "core/events/ConfigJson.h"

namespace stepscope {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostCounted = 1'000'000'000'000'000;  // steps, sequences: products with a context stay within 64 bits
constexpr std::int64_t kMostTableRows = 10'000'000;           // as the key vocabulary allows

// 1e9 is none: it was not written so, and what is larger than 64 bits must not become one of them.
bool holdsWholeNumbers(const json& object) {
    for (const char* key : {"step", "cursor", "seed", "skipped", "clean_steps", "best_step", "waited", "threads", "workers"})
        if (object.contains(key) && !object[key].is_number_integer()) return false;
    if (!object.contains("model") || !object["model"].is_object()) return false;
    for (const auto& [key, size] : object["model"].items())
        if (!size.is_number_integer()) return false;
    return true;
}

}  // namespace

Result<CheckpointDescription> parseCheckpointDescription(const std::string& text, const std::string& path) {
    const auto damaged = [&](const std::string& what, std::string cause = {}) {
        return makeError(ErrorCode::Damaged, fmt::format("{}/state.json is damaged: {}.", path, what), std::move(cause));
    };
    if (nestsDeeper(text)) return damaged("its brackets nest deeper than those of any checkpoint");
    const json meta = json::parse(text, nullptr, false);
    if (!meta.is_object() || !meta.contains("version")) return damaged("it is not the JSON of a checkpoint");
    if (meta["version"] != kCheckpointVersion)
        return makeError(ErrorCode::Unsupported, fmt::format("The checkpoint {} was written by another version of Stepscope.", path));
    if (!holdsWholeNumbers(meta)) return damaged("an entry is missing or of the wrong kind");
    try {
        CheckpointDescription read;
        auto config = configFromJson(meta.at("config").dump());
        if (!config) return makeError(config.error().code, fmt::format("{}/state.json: {}", path, config.error().sentence), config.error().cause);
        read.config = std::move(*config);
        read.step = meta.at("step").get<std::int64_t>();
        read.cursor = meta.at("cursor").get<std::int64_t>();
        read.seed = meta.at("seed").get<std::uint64_t>();
        read.loss = meta.at("loss").is_null() ? std::nan("") : meta.at("loss").get<double>();
        read.skipped = meta.value("skipped", std::int64_t{0});
        if (meta.contains("loss_scale")) read.lossScale = meta.at("loss_scale").get<double>();
        read.cleanSteps = meta.value("clean_steps", std::int64_t{0});
        const bool best = meta.contains("best_validation") && !meta.at("best_validation").is_null();
        read.bestValidation = best ? meta.at("best_validation").get<double>() : std::nan("");
        read.bestStep = meta.value("best_step", std::int64_t{0});
        read.waited = meta.value("waited", std::int64_t{0});
        read.hashes = meta.value("xxh128", read.hashes);
        read.text = meta.value("text", std::string());
        read.threads = meta.value("threads", std::int64_t{0});
        read.workers = meta.value("workers", std::int64_t{0});
        if (!meta.at("tokenizer").is_null()) read.tokenizerJson = meta.at("tokenizer").dump();
        const json& model = meta.at("model");
        read.vocabulary = model.at("vocab_size").get<std::int64_t>();
        read.positions = model.at("n_positions").get<std::int64_t>();
        const RunConfig& c = read.config;
        if (model.at("n_layer") != c.layers || model.at("n_head") != c.heads || model.at("n_embd") != c.width || c.width % c.heads != 0 ||
            read.vocabulary < 1 || read.vocabulary > kMostTableRows || read.positions < 1 || read.positions > kMostTableRows || read.step < 0 ||
            read.step > kMostCounted || read.cursor < 0 || read.cursor > kMostCounted || read.skipped < 0 || read.skipped > read.step ||
            read.cleanSteps < 0 || read.bestStep < 0 || read.bestStep > read.step || read.waited < 0 || read.waited > read.step ||
            (read.lossScale && (!(*read.lossScale > 0) || !std::isfinite(*read.lossScale))))
            return damaged("its sizes cannot be");
        return read;
    } catch (const json::exception& wrong) {
        return damaged("an entry is missing or of the wrong kind", wrong.what());
    }
}

}  // namespace stepscope
