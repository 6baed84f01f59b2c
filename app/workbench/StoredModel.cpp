#include "app/workbench/StoredModel.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/state/Checkpoint.h"
#include "core/state/WeightsFile.h"
#include "core/state/foreign/ForeignModel.h"

namespace stepscope {
namespace {

Result<StoredModel> ofCheckpoint(const std::string& path) {
    auto meta = readCheckpointMeta(path);
    if (!meta) return meta.error();
    StoredModel stored;
    stored.place = path;
    stored.model = meta->model;
    if (meta->tokenizerJson.empty()) {
        stored.whyNoTokenizer = fmt::format("The checkpoint {} was trained on ready token ids; without a tokenizer it cannot write text.", path);
    } else {
        auto tokenizer = tokenizerFromJson(meta->tokenizerJson);
        if (!tokenizer) return tokenizer.error();
        stored.tokenizer = std::move(*tokenizer);
    }
    auto tensors = openCheckpointWeights(path, *meta);
    if (!tensors) return tensors.error();
    stored.tensors = std::make_unique<SafeTensorsFile>(std::move(*tensors));
    stored.config = std::move(meta->config);
    return stored;
}

Result<StoredModel> ofOthers(const std::string& path) {
    auto foreign = openForeignModel(path);
    if (!foreign) return foreign.error();
    StoredModel stored;
    stored.place = path;
    stored.foreign = true;
    stored.model = *foreign->model;
    stored.tensors = std::move(foreign->tensors);
    stored.whyNoTokenizer = foreign->whyNoTokenizer;
    auto tokenizer = tokenizerOf(*foreign, true);
    if (!tokenizer && !foreign->gpt2Ids) return tokenizer.error();
    // GPT-2's vocabulary may not be installed; what needs no text goes on without it.
    if (tokenizer)
        stored.tokenizer = std::move(*tokenizer);
    else
        stored.whyNoTokenizer = tokenizer.error().sentence;
    if (stored.tokenizer) stored.config.tokenizer = stored.tokenizer->name();
    return stored;
}

}  // namespace

Result<StoredModel> openStoredModel(const std::string& path) {
    std::error_code ignored;
    const bool checkpoint = std::filesystem::exists(path + "/state.json", ignored);
    return !checkpoint && tellsItsModel(path) ? ofOthers(path) : ofCheckpoint(path);
}

Error giveNoNumbers(const std::string& place) {
    return makeError(ErrorCode::Training, fmt::format("The weights of {} give no numbers; choose an earlier checkpoint.", place));
}

Result<ModelWeights> weightsOf(const StoredModel& model) {
    auto weights = readWeights(*model.tensors, model.place, model.model);
    if (!weights) return weights.error();
    return ModelWeights{model.model, ParameterLayout(model.model), std::move(*weights)};
}

}  // namespace stepscope
