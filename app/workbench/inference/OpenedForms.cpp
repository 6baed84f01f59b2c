#include "app/workbench/inference/OpenedForms.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/workbench/StoredModel.h"
#include "app/workbench/diagnose/PeakMeter.h"
#include "core/base/Format.h"
#include "core/memory/SystemMemory.h"
#include "core/profile/MachineProbe.h"

namespace stepscope {
namespace {

constexpr std::int64_t kUsualPrompt = 128, kUsualText = 64;
constexpr double kMemoryToUse = 0.9;  // of what is free

Error badForms(std::string sentence) {
    return makeError(ErrorCode::BadInput, std::move(sentence));
}

Status checkFormNumbers(const FormsRequest& request) {
    if (request.tokens < 1 || request.tokens > kMostFormTokens)
        return badForms(fmt::format("Of the held-out text 1 to {} tokens are read; these are {}.", kMostFormTokens, request.tokens));
    if (!(request.budgetSeconds >= 0) || request.budgetSeconds > kMostFormSeconds)
        return badForms(fmt::format("The times are given 0 (none are taken) to {:.0f} seconds.", kMostFormSeconds));
    if (!(request.delta >= kLeastFormDelta) || request.delta > kMostFormDelta)
        return badForms(fmt::format("Differences that count as none are {:g} to {:g} %.", 100 * kLeastFormDelta, 100 * kMostFormDelta));
    if (request.fineTune < 0 || request.fineTune > kMostFineTuning)
        return badForms(fmt::format("A pruning is fine-tuned for 0 to {} steps; these are {}.", kMostFineTuning, request.fineTune));
    if (request.sequences < 1 || request.sequences > kMostFormTexts)
        return badForms(fmt::format("Texts are written 1 to {} beside each other; these are {}.", kMostFormTexts, request.sequences));
    return {};
}

Result<std::vector<WeightType>> typesOf(const FormsRequest& request) {
    std::vector<WeightType> types{WeightType::F32};
    for (const std::string& word : request.forms.empty() ? allForms() : request.forms) {
        const auto type = weightTypeNamed(word);
        if (!type) return type.error();
        if (std::ranges::find(types, *type) == types.end()) types.push_back(*type);
    }
    return types;
}

Result<TimedShape> shapeOf(const FormsRequest& request, const GptConfig& model) {
    if (model.positions < 2) return badForms("The model has a single position, so no text can be written behind a prompt.");
    TimedShape shape;
    shape.sequences = request.sequences;
    shape.prompt = request.prompt > 0 ? request.prompt : std::min(kUsualPrompt, model.positions / 2);
    const std::int64_t room = model.positions - shape.prompt;
    shape.text = request.text > 0 ? request.text : std::min(kUsualText, std::max<std::int64_t>(room, 1));
    if (request.prompt < 0 || request.text < 0 || shape.text > room)
        return badForms(fmt::format("A prompt of {} and a text of {} tokens do not fit the model's {} positions; take fewer.", shape.prompt,
                                    shape.text, model.positions));
    return shape;
}

// Before any is taken: the weights as they are stored, a copy of each form, and one more while zeros are tried.
Status checkFormsMemory(const GptConfig& config, std::size_t forms) {
    const double wanted = 4.0 * static_cast<double>(parameterCount(config)) * (2 + static_cast<double>(forms));
    const Bytes available = availableMemory();
    if (wanted <= kMemoryToUse * static_cast<double>(available.count)) return {};
    return makeError(ErrorCode::OutOfMemory,
                     fmt::format("All forms of these weights beside each other take up to {}, and {} are free; ask for fewer forms.",
                                 format::bytes({static_cast<std::int64_t>(wanted)}), format::bytes(available)));
}

}  // namespace

std::vector<std::int64_t> OpenedForms::prompts() const {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(shape.sequences * shape.prompt));
    const std::int64_t there = text.end - text.begin;
    for (std::size_t filled = 0; filled < ids.size();) {
        const std::int64_t count = std::min<std::int64_t>(there, static_cast<std::int64_t>(ids.size() - filled));
        text.corpus.tokens->copy(text.begin, count, ids.data() + filled);
        filled += static_cast<std::size_t>(count);
    }
    return ids;
}

Result<OpenedForms> openForms(const FormsRequest& request, const std::function<void(const std::string&)>& tell, const std::atomic<bool>& cancelled) {
    if (auto good = checkFormNumbers(request); !good) return good.error();
    auto types = typesOf(request);
    if (!types) return types.error();
    tell("opening the weights");
    auto model = openStoredModel(request.from);
    if (!model) return model.error();
    if (request.pruning && request.fineTune > 0 && model->foreign)
        return badForms(
            fmt::format("{} is of no run of Stepscope, so it has no training text to fine-tune on; leave out the fine-tuning.", request.from));
    const auto shape = shapeOf(request, model->model);
    if (!shape) return shape.error();
    if (auto fits = checkFormsMemory(model->model, types->size()); !fits) return fits.error();
    tell("opening the text");
    auto text = openHeldOut(*model, request.data, request.tokens, cancelled);
    if (!text) return text.error();
    const auto weights = weightsOf(*model);
    if (!weights) return weights.error();
    OpenedForms opened;
    opened.types = std::move(*types);
    opened.shape = *shape;
    opened.text = std::move(*text);
    opened.weights = GeneratorWeights{weights->config, weights->layout, weights->weights};
    if (const std::string why = whyNotDecoded(opened.weights); !why.empty())
        return makeError(ErrorCode::Unsupported, fmt::format("{} cannot be measured: {}.", request.from, why));
    const Machine machine = probeMachine();
    opened.threads = static_cast<int>(request.threads > 0 ? request.threads : machine.cores);
    opened.context = std::min(opened.weights.config.positions, opened.tokens());
    opened.bytesPerSecond = knownPeaks(machine, {.device = "cpu", .threads = request.threads}).bytesPerSecond;
    return opened;
}

}  // namespace stepscope
