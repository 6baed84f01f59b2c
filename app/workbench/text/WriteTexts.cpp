#include "app/workbench/text/WriteTexts.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/workbench/StoredModel.h"
#include "core/inference/PackedModel.h"
#include "core/train/Failure.h"
#include "core/train/Generator.h"

namespace stepscope {
namespace {

struct Writer {
    GeneratorWeights weights;
    std::shared_ptr<const Tokenizer> tokenizer;
};

Result<Writer> openWriter(const std::string& path) {
    const auto model = openStoredModel(path);
    if (!model) return model.error();
    if (!model->tokenizer) return makeError(ErrorCode::Unsupported, model->whyNoTokenizer);
    auto weights = weightsOf(*model);
    if (!weights) return weights.error();
    return Writer{{weights->config, weights->layout, weights->weights}, model->tokenizer};
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
        // A tokenizer that cannot read a prompt knows the byte in it, and nothing of the file.
        for (std::size_t i = 0; i < std::min(request.places.size(), request.prompts.size()); ++i)
            if (const auto ids = writer->tokenizer->encode(request.prompts[i]); !ids)
                return makeError(ids.error().code, fmt::format("{}: {}", request.places[i], ids.error().sentence));
        TextWork work;
        auto texts = generateTexts(
            writer->weights, *writer->tokenizer, request.how, request.prompts,
            {.type = *type, .threads = static_cast<int>(request.threads), .ignoreEnd = request.ignoreEnd},
            [&](std::size_t prompt, const std::string& soFar, const TextWork& took) { onText(prompt, soFar, speedOf(took)); }, cancelled, work);
        if (!texts) return texts.error();
        return TextAnswer{std::move(*texts), speedOf(work), work.stopped};
    } catch (const std::exception& thrown) {
        return describeException(thrown, Doing::Reading);
    }
}

}  // namespace stepscope
