#include "app/workbench/text/WriteTexts.h"

#include <fmt/format.h>

#include "core/inference/PackedModel.h"
#include "core/state/Checkpoint.h"
#include "core/train/Failure.h"
#include "core/train/Generator.h"

namespace stepscope {
namespace {

struct Writer {
    GeneratorWeights weights;
    std::shared_ptr<const Tokenizer> tokenizer;
};

Result<Writer> openWriter(const std::string& checkpoint) {
    auto meta = readCheckpointMeta(checkpoint);
    if (!meta) return meta.error();
    if (meta->tokenizerJson.empty())
        return makeError(ErrorCode::Unsupported,
                         fmt::format("The checkpoint {} was trained on ready token ids; without a tokenizer it cannot write text.", checkpoint));
    auto tokenizer = tokenizerFromJson(meta->tokenizerJson);
    if (!tokenizer) return tokenizer.error();
    auto state = loadCheckpointWeights(checkpoint, *meta, meta->model);
    if (!state) return state.error();
    return Writer{{state->config, state->layout, state->weights}, std::move(*tokenizer)};
}

TextSpeed speedOf(const TextWork& work) {
    return {.promptTokens = work.promptTokens,
            .textTokens = work.textTokens,
            .promptPerSecond = work.promptRate(),
            .textPerSecond = work.textRate(),
            .weights = work.weights,
            .cache = work.cache,
            .threads = work.threads,
            .recomputed = work.recomputed};
}

}  // namespace

Result<TextAnswer> writeTexts(const TextRequest& request,
                              const std::function<void(std::size_t prompt, const std::string& soFar, const TextSpeed& speed)>& onText,
                              const std::atomic<bool>& cancelled) {
    try {
        const auto type = weightTypeNamed(request.dtype);
        if (!type) return type.error();
        const auto writer = openWriter(request.from);
        if (!writer) return writer.error();
        TextWork work;
        auto texts = generateTexts(
            writer->weights, *writer->tokenizer, request.how, request.prompts, {.type = *type, .threads = static_cast<int>(request.threads)},
            [&](std::size_t prompt, const std::string& soFar, const TextWork& took) { onText(prompt, soFar, speedOf(took)); }, cancelled, work);
        if (!texts) return texts.error();
        return TextAnswer{std::move(*texts), speedOf(work)};
    } catch (const std::exception& thrown) {
        return describeException(thrown);
    }
}

}  // namespace stepscope
