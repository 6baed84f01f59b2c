#include "core/state/Checkpoint.h"

#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/base/Check.h"
#include "core/data/CheckpointDescription.h"
#include "core/data/Hash128.h"
#include "core/data/MappedFile.h"
#include "core/events/ConfigJson.h"
#include "core/model/ParameterLayout.h"
#include "core/state/DurableFile.h"
#include "core/state/EightBitMoments.h"
#include "core/state/SafeTensors.h"
#include "core/state/UnfinishedCheckpoints.h"
#include "core/state/WeightsFile.h"

namespace stepscope {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestStateFile = 16'000'000;  // of state.json; all characters of Unicode as a tokenizer take a third of it
constexpr std::uintmax_t kLargestHeader = 64u << 20;      // of a file of tensors, beside their data
constexpr const char* kWeightsFile = "model.safetensors";
constexpr const char* kMomentsFile = "optimizer.safetensors";

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
std::int64_t checkpointBytes(std::int64_t parameters) {
    return 3 * 4 * parameters;
}
std::int64_t checkpointRoom(const TrainState& state) {
    return checkpointBytes(state.layout.size()) + 1'000'000;
}

Status saveCheckpoint(const std::string& path, const TrainState& state, const RunConfig& config, const std::string& tokenizerJson, double loss,
                      const CheckpointOrigin& origin, const FloatMoments* moments) {
    SS_CHECK(moments != nullptr || state.share.whole());
    if (std::error_code ignored; fs::exists(path, ignored))
        return makeError(ErrorCode::BadInput, fmt::format("{} is already there; choose another place for the checkpoint.", path));
    auto folder = UnfinishedFolder::make(path);
    if (!folder) return folder.error();
    const std::string& unfinished = folder->path();
    if (auto done = writeSafeTensors(unfinished + "/" + kWeightsFile, namedForFile(state.weights, state, ""), {{"format", "pt"}}); !done) return done;
    // 8-bit moments come back exactly: encoding what was decoded gives the same bytes.
    const FloatMoments asFloat = moments != nullptr ? *moments : floatMoments(state);
    NamedTensors both = namedForFile(asFloat.first, state, "exp_avg.");
    const NamedTensors second = namedForFile(asFloat.second, state, "exp_avg_sq.");
    both.insert(both.end(), second.begin(), second.end());
    if (auto done = writeSafeTensors(unfinished + "/" + kMomentsFile, both); !done) return done;
    json hashes;
    for (const char* name : {kWeightsFile, kMomentsFile}) {
        auto hash = hashOfFile(unfinished + "/" + name);
        if (!hash) return hash.error();
        hashes[name] = *hash;
    }
    const json meta = {{"version", kCheckpointVersion},
                       {"step", state.updates},
                       {"cursor", state.cursor},
                       {"seed", state.seed},
                       {"skipped", state.skipped},
                       {"loss_scale", state.lossScale.scale},
                       {"clean_steps", state.lossScale.cleanSteps},
                       {"best_validation", std::isfinite(state.patience.best) ? json(state.patience.best) : json()},
                       {"best_step", state.patience.bestStep},
                       {"waited", state.patience.waited},
                       {"loss", std::isfinite(loss) ? json(loss) : json()},
                       {"text", origin.text},
                       {"threads", origin.threads},
                       {"workers", origin.workers},
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
    return folder->moveTo(path);
}

namespace {

// What is there instead, as far as that helps.
Error noCheckpoint(const std::string& path) {
    std::error_code ignored;
    const auto refused = [&](const char* what) { return makeError(ErrorCode::NotFound, fmt::format("{} {}", path, what)); };
    const fs::file_status there = fs::status(path, ignored);
    if (!fs::exists(there)) return refused("is not there; name the folder of a checkpoint.");
    if (!fs::is_directory(there)) return refused("is not a checkpoint: it is a file; name the folder that the checkpoint is.");
    if (fs::exists(path + "/config.json", ignored))
        return refused(
            "is not a checkpoint: it holds the weights of another program. A run can begin with them (train --init), and saves checkpoints of its "
            "own.");
    if (fs::exists(path + "/state.json", ignored))
        return refused("is not a checkpoint: its state.json is no ordinary file; name the folder of another checkpoint.");
    return refused("is not a checkpoint: it has no state.json.");
}

}  // namespace

Result<CheckpointMeta> readCheckpointMeta(const std::string& path) {
    const auto damaged = [&](const std::string& what) {
        return makeError(ErrorCode::Damaged, fmt::format("{}/state.json is damaged: {}.", path, what));
    };
    std::error_code problem;
    // Looked at before it is opened: whoever opens a pipe waits for one who writes.
    if (!fs::is_regular_file(path + "/state.json", problem)) return noCheckpoint(path);
    std::ifstream file(path + "/state.json");
    if (!file) return noCheckpoint(path);
    // Before anything is made of it: a tree of values takes many times its text in memory, and a deep one all of the stack.
    if (fs::file_size(path + "/state.json", problem) > kLargestStateFile || problem)
        return damaged("it is too large for the description of a checkpoint");
    std::stringstream whole;
    whole << file.rdbuf();
    const std::string text = whole.str();
    auto told = parseCheckpointDescription(text, path);
    if (!told) return told.error();
    CheckpointMeta read;
    read.config = std::move(told->config);
    read.tokenizerJson = std::move(told->tokenizerJson);
    read.loss = told->loss;
    read.step = told->step;
    read.cursor = told->cursor;
    read.seed = told->seed;
    read.skipped = told->skipped;
    read.lossScale = {told->lossScale.value_or(LossScale{}.scale), told->cleanSteps};
    read.patience = {told->bestValidation, told->bestStep, told->waited};
    read.origin = {std::move(told->text), told->threads, told->workers};
    read.hashes = std::move(told->hashes);
    read.model = gptConfig(read.config, told->vocabulary);
    read.model.positions = told->positions;
    // What a model of these sizes would take must be there before it is allocated.
    const auto held = fs::file_size(path + "/" + kWeightsFile, problem);
    if (!problem && held / sizeof(float) < static_cast<std::uintmax_t>(parameterCount(read.model)))
        return damaged(fmt::format("a model of its sizes has {} parameters, more than {} can hold", parameterCount(read.model), kWeightsFile));
    // And nothing that is much larger is read, or hashed, to its end.
    const auto most = static_cast<std::uintmax_t>(parameterCount(read.model)) * sizeof(double) + kLargestHeader;
    for (const auto& [file, copies] : {std::pair{kWeightsFile, 1}, std::pair{kMomentsFile, 2}})
        if (const auto size = fs::file_size(path + "/" + file, problem); !problem && size > most * static_cast<std::uintmax_t>(copies))
            return damaged(fmt::format("{} is larger than a model of its sizes, with {} parameters", file, parameterCount(read.model)));
    return read;
}

Result<SafeTensorsFile> openCheckpointWeights(const std::string& path, const CheckpointMeta& meta) {
    if (auto whole = checkHash(path, meta, kWeightsFile); !whole) return whole.error();
    auto file = SafeTensorsFile::open(path + "/" + kWeightsFile);
    if (!file) return file;
    // All of them were written out of a model: one that the options in state.json leave no place for says that these are another model's.
    std::set<std::string> places;
    const ParameterLayout layout(meta.model);
    for (const auto& slot : layout.slots()) places.insert(slot.name);
    for (const auto& [name, entry] : file->entries())
        if (!places.contains(name))
            return makeError(ErrorCode::Damaged,
                             fmt::format("{}/{} has {}, for which the model that {}/state.json tells of has no place; one of the two was changed.",
                                         path, kWeightsFile, name, path));
    return file;
}

namespace {

Result<TrainState> loadCheckpointWeights(const std::string& path, const CheckpointMeta& meta, const GptConfig& config) {
    auto tensors = openCheckpointWeights(path, meta);
    if (!tensors) return tensors.error();
    auto weights = readWeights(*tensors, path + "/" + kWeightsFile, config);
    if (!weights) return weights.error();
    TrainState state;
    state.config = config;
    state.layout = ParameterLayout(config);
    state.seed = meta.seed;
    state.weights = std::move(*weights);
    state.firstMoment = at::zeros_like(state.weights);
    state.secondMoment = at::zeros_like(state.weights);
    return state;
}

}  // namespace

Result<TrainState> loadCheckpoint(const std::string& path, std::int64_t paddedVocabulary) {
    auto meta = readCheckpointMeta(path);
    if (!meta) return meta.error();
    GptConfig config = meta->model;
    config.paddedVocabulary = std::max(paddedVocabulary, config.vocabulary);
    auto state = loadCheckpointWeights(path, *meta, config);
    if (!state) return state.error();
    if (auto whole = checkHash(path, *meta, kMomentsFile); !whole) return whole.error();
    const std::string moments = path + "/" + kMomentsFile;
    auto file = SafeTensorsFile::open(moments);
    if (!file) return file.error();
    for (const auto& [prefix, flat] : {std::pair{"exp_avg.", state->firstMoment}, std::pair{"exp_avg_sq.", state->secondMoment}})
        if (auto read = readAll(*file, moments, *state, prefix, flat); !read) return read.error();
    state->updates = meta->step;
    state->cursor = meta->cursor;
    state->skipped = meta->skipped;
    state->lossScale = meta->lossScale;
    state->patience = meta->patience;
    return state;
}

}  // namespace stepscope
