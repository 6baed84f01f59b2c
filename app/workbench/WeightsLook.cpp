#include "app/workbench/WeightsLook.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/workbench/Checkpoints.h"
#include "app/workbench/Starts.h"
#include "app/workbench/experiments/ExperimentQuestion.h"
#include "core/base/Format.h"
#include "core/events/ConfigNumbers.h"
#include "core/model/ParameterLayout.h"
#include "core/state/WeightsFile.h"
#include "core/state/foreign/ForeignModel.h"
#include "core/train/Failure.h"

namespace stepscope {
namespace {

std::string asFound(const GptConfig& shape, const ForeignModel& model) {
    std::string text = fmt::format("{} layers, {} heads, {} wide, {} ids", shape.layers, shape.heads, shape.width, format::count(shape.vocabulary));
    if (shape.positionKind == PositionKind::Learned && shape.positions > 1) text += fmt::format(", {} positions", format::count(shape.positions));
    text += fmt::format(": {} parameters. ", format::count(parameterCount(shape)));
    if (!model.tokenizer.empty()) return text + "The data are read by the tokenizer that came with them.";
    if (model.gpt2Ids) return text + "Their ids are those of GPT-2's vocabulary.";
    return text + (model.whyNoTokenizer.empty() ? "No tokenizer came with them." : model.whyNoTokenizer);
}

// Which keys the weights have otherwise. A vocabulary that is not set is the tokenizer's, and of characters or ready tokens nobody knows it yet.
std::vector<DifferingKey> otherKeys(const RunConfig& config, const RunConfig& shaped) {
    auto keys = differingKeys(config, shaped);
    const std::int64_t known = knownVocabulary(config);
    std::erase_if(keys, [&](const DifferingKey& one) {
        return one.key == "vocabulary" && config.vocabulary == 0 && (known == 0 || known == shaped.vocabulary);
    });
    return keys;
}

Result<WeightsLook> looked(const std::string& path, const RunConfig& config) {
    const auto shaped = withShapeOf(path, config);
    if (!shaped) return shaped.error();
    const auto shape = shapeOfWeights(path, gptConfig(config, std::max<std::int64_t>(1, config.vocabulary)));
    if (!shape) return shape.error();
    const auto opened = openForeignModel(path);
    if (!opened) return opened.error();
    WeightsLook look{.found = asFound(*shape, *opened), .problem = {}, .shaped = {}};
    if (!opened->model && headsBeside(path) == 0) look.found += " Nothing tells how many heads it has: heads is taken as it is set.";
    const auto keys = otherKeys(config, *shaped);
    // How many heads there are no tensor tells, so nothing of other heads fits.
    const bool partial = config.initPartial == "on" && std::ranges::find(keys, "heads", &DifferingKey::key) == keys.end();
    if (!keys.empty() && !partial) {
        std::string others;
        for (const DifferingKey& one : keys) others += fmt::format("{}{} {} instead of {}", others.empty() ? "" : ", ", one.key, one.b, one.a);
        look.problem = fmt::format("They are of another model than the one that is set: {}.", others);
        look.shaped = *shaped;
        return look;
    }
    const RunConfig& model = keys.empty() ? *shaped : config;
    GptConfig wanted = gptConfig(model, model.vocabulary > 0 ? model.vocabulary : shaped->vocabulary);
    wanted.positions = std::max<std::int64_t>(1, batchShape(config).context);
    const auto fit = describeFit(path, wanted, partial);
    if (!fit) return fit.error();
    if (!fit->empty()) look.found += ' ' + *fit;
    return look;
}

}  // namespace

WeightsLook lookAtWeights(const std::string& path, const RunConfig& config) {
    try {
        auto look = looked(path, config);
        if (look) return std::move(*look);
        return {.found = {}, .problem = look.error().sentence, .shaped = {}};
    } catch (const std::exception& thrown) {
        return {.found = {}, .problem = describeException(thrown, Doing::Reading).sentence, .shaped = {}};
    }
}

}  // namespace stepscope
