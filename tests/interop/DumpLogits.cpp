// dump_logits --ids MODEL TEXT: the ids that the model's tokenizer gives a text, one a line.
// dump_logits MODEL IDS OUT: the logits that Stepscope computes of a stored model (a checkpoint's folder, one of transformers, llm.c's file) for the
// ids in IDS, one a line, as float32 of (ids, vocabulary) in OUT. For tests/interop/transformers_agree.py.
#include <ATen/ops/tensor.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <fstream>

#include "app/workbench/StoredModel.h"
#include "core/model/Gpt.h"

namespace {

using namespace stepscope;

int dumpIds(const char* place, const char* file) {
    const auto stored = openStoredModel(place);
    if (!stored || !stored->tokenizer) {
        fmt::print(stderr, "{}\n", stored ? stored->whyNoTokenizer : stored.error().sentence);
        return 1;
    }
    std::ifstream stream(file, std::ios::binary);
    const auto ids = stored->tokenizer->encode(std::string{std::istreambuf_iterator<char>(stream), {}});
    if (!ids) {
        fmt::print(stderr, "{}\n", ids.error().sentence);
        return 1;
    }
    for (const std::int32_t id : *ids) fmt::print("{}\n", id);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        fmt::print(stderr, "dump_logits MODEL IDS OUT, or --ids MODEL TEXT\n");
        return 2;
    }
    if (std::string_view(argv[1]) == "--ids") return dumpIds(argv[2], argv[3]);
    const auto stored = openStoredModel(argv[1]);
    const auto weights = stored ? weightsOf(*stored) : Result<ModelWeights>(stored.error());
    if (!weights) {
        fmt::print(stderr, "{}\n", weights.error().sentence);
        return 1;
    }
    std::ifstream listed(argv[2]);
    std::vector<std::int64_t> ids;
    for (std::int64_t id = 0; listed >> id;) ids.push_back(id);
    const c10::InferenceMode inference;
    const auto view = WeightsView::over(weights->weights, weights->layout, weights->config, false);
    const at::Tensor tokens = at::tensor(ids, at::kLong).view({1, -1});
    const at::Tensor logits = gptLogits(weights->config, view, gptHidden(weights->config, view, {}, tokens)).contiguous();
    std::ofstream out(argv[3], std::ios::binary);
    out.write(static_cast<const char*>(logits.data_ptr()), static_cast<std::streamsize>(logits.numel() * 4));
    return out.flush() ? 0 : 1;
}
