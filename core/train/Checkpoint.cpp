#include "core/train/Checkpoint.h"

#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/data/Hash128.h"
#include "core/data/MappedFile.h"
#include "core/events/ConfigJson.h"
#include "core/train/DurableFile.h"
#include "core/train/EightBitMoments.h"
#include "core/train/SafeTensors.h"

namespace stepscope {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int kVersion = 1;
constexpr const char* kWeightsFile = "model.safetensors";
constexpr const char* kMomentsFile = "optimizer.safetensors";

// GPT-2's files hold linear weights as (in, out) ("Conv1D"); the table without its padded rows.
NamedTensors toFile(const at::Tensor& flat, const TrainState& state, const std::string& prefix) {
    NamedTensors tensors;
    for (const auto& slot : state.layout.slots()) {
        at::Tensor tensor = ParameterLayout::view(flat, slot);
        if (slot.vocabulary) tensor = tensor.narrow(0, 0, state.config.vocabulary);
        if (slot.linear) tensor = tensor.t();
        tensors.emplace_back(prefix + slot.name, tensor);
    }
    return tensors;
}

Status fromFile(const std::map<std::string, at::Tensor>& tensors, const std::string& path, const TrainState& state, const std::string& prefix,
                const at::Tensor& flat) {
    for (const auto& slot : state.layout.slots()) {
        // Some writers put a "transformer." in front of every name.
        auto found = tensors.find(prefix + slot.name);
        if (found == tensors.end()) found = tensors.find("transformer." + prefix + slot.name);
        if (found == tensors.end()) return makeError(ErrorCode::Damaged, fmt::format("{} has no tensor {}{}.", path, prefix, slot.name));
        at::Tensor target = ParameterLayout::view(flat, slot);
        if (slot.vocabulary) target = target.narrow(0, 0, state.config.vocabulary);
        if (slot.linear) target = target.t();
        if (found->second.sizes() != target.sizes())
            return makeError(ErrorCode::BadInput, fmt::format("{}{} in {} has the shape [{}], this model needs [{}].", prefix, slot.name, path,
                                                              fmt::join(found->second.sizes(), ", "), fmt::join(target.sizes(), ", ")));
        target.copy_(found->second);
    }
    return {};
}

Result<std::string> hashOfFile(const std::string& path) {
    auto file = MappedFile::open(path);
    if (!file) return file.error();
    return hashOf(file->bytes()).hex();
}

// One flipped bit in a weight is a number like any other: nothing but the hash can tell.
Status checkHash(const std::string& path, const CheckpointMeta& meta, const char* file) {
    const auto written = meta.hashes.find(file);
    if (written == meta.hashes.end()) return {};
    const auto found = hashOfFile(path + "/" + file);
    if (!found) return found.error();
    if (*found == written->second) return {};
    return makeError(ErrorCode::Damaged,
                     fmt::format("{}/{} is damaged: it is not what was written (its hash differs); use another checkpoint.", path, file));
}

}  // namespace

// Weights and both moments in float32; names, places and configuration take some kilobytes.
std::int64_t checkpointBytes(const TrainState& state) {
    return 3 * 4 * state.layout.size() + 1'000'000;
}

Status saveCheckpoint(const std::string& path, const TrainState& state, const RunConfig& config, const std::string& tokenizerJson, double loss) {
    std::error_code problem;
    const std::string unfinished = fmt::format("{}.unfinished-{}", path, ::getpid());
    fs::create_directories(unfinished, problem);
    if (problem) return makeError(ErrorCode::Io, fmt::format("The checkpoint folder {} cannot be made: {}.", unfinished, problem.message()));
    const auto write = [&]() -> Status {
        if (fs::exists(path))
            return makeError(ErrorCode::BadInput, fmt::format("{} is already there; choose another place for the checkpoint.", path));
        if (auto done = writeSafeTensors(unfinished + "/" + kWeightsFile, toFile(state.weights, state, ""), {{"format", "pt"}}); !done) return done;
        // 8-bit moments come back exactly: encoding what was decoded gives the same bytes.
        const FloatMoments asFloat = floatMoments(state);
        NamedTensors moments = toFile(asFloat.first, state, "exp_avg.");
        const NamedTensors second = toFile(asFloat.second, state, "exp_avg_sq.");
        moments.insert(moments.end(), second.begin(), second.end());
        if (auto done = writeSafeTensors(unfinished + "/" + kMomentsFile, moments); !done) return done;
        json hashes;
        for (const char* name : {kWeightsFile, kMomentsFile}) {
            auto hash = hashOfFile(unfinished + "/" + name);
            if (!hash) return hash.error();
            hashes[name] = *hash;
        }
        const json meta = {{"version", kVersion},
                           {"step", state.updates},
                           {"cursor", state.cursor},
                           {"seed", state.seed},
                           {"skipped", state.skipped},
                           {"loss_scale", state.lossScale.scale},
                           {"clean_steps", state.lossScale.cleanSteps},
                           {"loss", std::isfinite(loss) ? json(loss) : json()},
                           {"config", json::parse(configToJson(config))},
                           {"xxh128", hashes},
                           {"tokenizer", tokenizerJson.empty() ? json() : json::parse(tokenizerJson)},
                           {"model",
                            {{"n_layer", state.config.layers},
                             {"n_head", state.config.heads},
                             {"n_embd", state.config.width},
                             {"vocab_size", state.config.vocabulary},
                             {"n_positions", state.config.positions}}}};  // the options are in config
        const std::string text = meta.dump(1);
        DurableFile file(unfinished + "/state.json");
        file.write(text.data(), text.size());
        if (auto done = file.close(); !done) return done;
        return renameFolder(unfinished, path);
    };
    auto done = write();
    if (!done) fs::remove_all(unfinished, problem);
    return done;
}

Result<CheckpointMeta> readCheckpointMeta(const std::string& path) {
    std::ifstream file(path + "/state.json");
    if (!file) return makeError(ErrorCode::NotFound, fmt::format("{} is not a checkpoint: it has no state.json.", path));
    std::stringstream text;
    text << file.rdbuf();
    const json meta = json::parse(text.str(), nullptr, false);
    const auto damaged = [&](const std::string& what) {
        return makeError(ErrorCode::Damaged, fmt::format("{}/state.json is damaged: {}.", path, what));
    };
    if (!meta.is_object() || !meta.contains("version")) return damaged("it is not the JSON of a checkpoint");
    if (meta["version"] != kVersion)
        return makeError(ErrorCode::Unsupported, fmt::format("The checkpoint {} was written by another version of Stepscope.", path));
    try {
        CheckpointMeta read;
        auto config = configFromJson(meta.at("config").dump());
        if (!config) return config.error();
        read.config = *config;
        read.step = meta.at("step").get<std::int64_t>();
        read.cursor = meta.at("cursor").get<std::int64_t>();
        read.seed = meta.at("seed").get<std::uint64_t>();
        read.loss = meta.at("loss").is_null() ? std::nan("") : meta.at("loss").get<double>();
        read.skipped = meta.value("skipped", std::int64_t{0});
        read.lossScale = {meta.value("loss_scale", LossScale{}.scale), meta.value("clean_steps", std::int64_t{0})};
        read.hashes = meta.value("xxh128", read.hashes);
        if (!meta.at("tokenizer").is_null()) read.tokenizerJson = meta.at("tokenizer").dump();
        const json& model = meta.at("model");
        read.model = gptConfig(read.config, model.at("vocab_size"));
        read.model.layers = model.at("n_layer");
        read.model.heads = model.at("n_head");
        read.model.width = model.at("n_embd");
        read.model.positions = model.at("n_positions");
        const GptConfig& m = read.model;
        if (m.layers < 1 || m.heads < 1 || m.width < 1 || m.width % m.heads != 0 || m.vocabulary < 1 || m.positions < 1 || read.step < 0 ||
            read.cursor < 0 || read.skipped < 0 || read.skipped > read.step || !(read.lossScale.scale > 0))
            return damaged("its sizes cannot be");
        return read;
    } catch (const json::exception& wrong) {
        return makeError(ErrorCode::Damaged, fmt::format("{}/state.json is damaged: an entry is missing or of the wrong kind.", path), wrong.what());
    }
}

Result<TrainState> loadCheckpoint(const std::string& path, std::int64_t paddedVocabulary) {
    auto meta = readCheckpointMeta(path);
    if (!meta) return meta.error();
    GptConfig config = meta->model;
    config.paddedVocabulary = std::max(paddedVocabulary, config.vocabulary);
    auto state = loadCheckpointWeights(path, *meta, config);
    if (!state) return state.error();
    if (auto whole = checkHash(path, *meta, kMomentsFile); !whole) return whole.error();
    auto moments = readSafeTensors(path + "/" + kMomentsFile);
    if (!moments) return moments.error();
    for (const auto& [prefix, flat] : {std::pair{"exp_avg.", state->firstMoment}, std::pair{"exp_avg_sq.", state->secondMoment}})
        if (auto read = fromFile(*moments, path + "/" + kMomentsFile, *state, prefix, flat); !read) return read.error();
    state->updates = meta->step;
    state->cursor = meta->cursor;
    state->skipped = meta->skipped;
    state->lossScale = meta->lossScale;
    return state;
}

Result<TrainState> loadCheckpointWeights(const std::string& path, const CheckpointMeta& meta, const GptConfig& config) {
    if (auto whole = checkHash(path, meta, kWeightsFile); !whole) return whole.error();
    return loadWeights(path + "/" + kWeightsFile, config, meta.seed);
}

Result<TrainState> loadWeights(const std::string& path, const GptConfig& config, std::uint64_t seed) {
    auto tensors = readSafeTensors(path);
    if (!tensors) return tensors.error();
    TrainState state;
    state.config = config;
    state.layout = ParameterLayout(config);
    state.seed = seed;
    state.weights = at::zeros({state.layout.size()}, at::TensorOptions().dtype(at::kFloat));
    state.firstMoment = at::zeros_like(state.weights);
    state.secondMoment = at::zeros_like(state.weights);
    if (auto read = fromFile(*tensors, path, state, "", state.weights); !read) return read.error();
    return state;
}

}  // namespace stepscope
