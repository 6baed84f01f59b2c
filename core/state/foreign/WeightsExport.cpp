#include "core/state/foreign/WeightsExport.h"

#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/data/foreign/HuggingFaceConfig.h"
#include "core/data/foreign/LlmcModel.h"
#include "core/data/foreign/ShardIndex.h"
#include "core/state/DurableFile.h"
#include "core/state/UnfinishedCheckpoints.h"
#include "core/state/foreign/ForeignModel.h"
#include "core/state/foreign/ForeignText.h"
#include "core/state/foreign/Gpt2Tensors.h"

namespace stepscope {
namespace {

constexpr const char* kLlmcFile = "model.bin";

Gpt2Sizes sizesOf(const GptConfig& model) {
    return {.layers = model.layers,
            .heads = model.heads,
            .width = model.width,
            .vocabulary = model.vocabulary,
            .positions = model.positions,
            .tiedHead = model.tiedHead};
}

Error cancelledExport(const std::string& folder) {
    return makeError(ErrorCode::Cancelled, fmt::format("The export was stopped; {} was not written.", folder));
}

Status writeWhole(const std::string& path, const std::string& text) {
    DurableFile file(path);
    file.write(text.data(), text.size());
    return file.close();
}

// The tensors, each refusing to be made once the export is cancelled: that is asked as often as there is something to do.
std::vector<TensorToWrite> tensorsOf(const WeightsExport& wanted, const std::string& folder, const std::atomic<bool>& cancelled) {
    auto tensors = gpt2Tensors(*wanted.tensors, wanted.model);
    for (TensorToWrite& tensor : tensors)
        tensor.make = [make = std::move(tensor.make), &cancelled, folder]() -> Result<at::Tensor> {
            if (cancelled) return cancelledExport(folder);
            return make();
        };
    return tensors;
}

std::int64_t bytesOf(const TensorToWrite& tensor, bool bf16) {
    std::int64_t bytes = bf16 ? 2 : 4;
    for (const std::int64_t extent : tensor.shape) bytes *= extent;
    return bytes;
}

Status writeSafeTensorsFiles(const WeightsExport& wanted, const std::string& into, std::vector<TensorToWrite> tensors) {
    const at::ScalarType type = wanted.bf16 ? at::kBFloat16 : at::kFloat;
    const std::map<std::string, std::string> metadata{{"format", "pt"}};
    std::vector<std::vector<TensorToWrite>> shards(1);
    std::int64_t inShard = 0, all = 0;
    for (TensorToWrite& tensor : tensors) {
        if (tensor.name != "lm_head.weight") tensor.name = "transformer." + tensor.name;
        const std::int64_t bytes = bytesOf(tensor, wanted.bf16);
        if (inShard > 0 && inShard + bytes > wanted.shardBytes) {
            shards.emplace_back();
            inShard = 0;
        }
        inShard += bytes;
        all += bytes;
        shards.back().push_back(std::move(tensor));
    }
    if (shards.size() == 1) return writeSafeTensors(into + "/" + kWeightsFileOfFolder, shards.front(), type, metadata);
    std::map<std::string, std::string> fileOf;
    for (std::size_t i = 0; i < shards.size(); ++i) {
        const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
        for (const TensorToWrite& tensor : shards[i]) fileOf.emplace(tensor.name, name);
        if (auto done = writeSafeTensors(into + "/" + name, shards[i], type, metadata); !done) return done;
    }
    return writeWhole(into + "/" + kShardIndexFile, shardIndex(fileOf, all));
}

Status writeTokenizer(const WeightsExport& wanted, const std::string& into, std::optional<std::int64_t>& endOfText, std::vector<std::string>& notes) {
    if (wanted.tokenizer == nullptr) {
        notes.emplace_back(wanted.whyNoTokenizer.empty() ? std::string("No tokenizer is written: the run trained on ready tokens.")
                                                         : "No tokenizer is written: " + wanted.whyNoTokenizer);
        return {};
    }
    if (wanted.tokenizer->name() == "char") {
        notes.emplace_back(
            fmt::format("No tokenizer is written: one of characters has no form that transformers reads; id n is the n-th of the {} "
                        "characters of the text, sorted by code point.",
                        wanted.tokenizer->vocabulary()));
        return {};
    }
    const auto texts = bytePairTexts(*wanted.tokenizer);
    if (!texts) return texts.error();
    const auto vocabulary = nlohmann::json::parse(texts->vocabulary);
    if (const auto end = vocabulary.find(kEndOfText); end != vocabulary.end() && end->get<std::int64_t>() < wanted.model.vocabulary)
        endOfText = end->get<std::int64_t>();
    if (wanted.tokenizer->name() == "byte")
        notes.emplace_back(
            "The byte tokenizer is written as a vocabulary of 256 bytes without merges: transformers gives every text the same ids by it.");
    if (auto done = writeWhole(into + "/" + kVocabularyFile, texts->vocabulary); !done) return done;
    if (auto done = writeWhole(into + "/" + kMergesFile, texts->merges); !done) return done;
    return writeWhole(into + "/" + kTokenizerConfigFile, huggingFaceTokenizerConfig(wanted.model.positions, endOfText.has_value()));
}

Status writeHuggingFace(const WeightsExport& wanted, const std::string& into, std::vector<TensorToWrite> tensors, std::vector<std::string>& notes) {
    std::optional<std::int64_t> endOfText;
    if (auto done = writeTokenizer(wanted, into, endOfText, notes); !done) return done;
    const HuggingFaceConfig config{.sizes = sizesOf(wanted.model), .dropout = wanted.dropout, .endOfText = endOfText, .bf16 = wanted.bf16};
    if (auto done = writeWhole(into + "/" + kConfigFile, huggingFaceConfig(config)); !done) return done;
    return writeSafeTensorsFiles(wanted, into, std::move(tensors));
}

Status writeLlmc(const WeightsExport& wanted, const std::string& into, const std::vector<TensorToWrite>& tensors, std::vector<std::string>& notes) {
    const at::ScalarType type = wanted.bf16 ? at::kBFloat16 : at::kFloat;
    std::map<std::string, const TensorToWrite*> byName;
    for (const TensorToWrite& tensor : tensors) byName.emplace(tensor.name, &tensor);
    const std::string header = llmcHeader(sizesOf(wanted.model), wanted.bf16);
    DurableFile file(into + "/" + kLlmcFile);
    file.write(header.data(), header.size());
    const auto write = [&](const at::Tensor& tensor) {
        const at::Tensor plain = tensor.to(at::kCPU, type).contiguous();
        file.write(plain.data_ptr(), static_cast<std::size_t>(plain.numel()) * c10::elementSize(type));
    };
    for (const LlmcGroup& group : llmcGroups())
        for (std::int64_t l = 0; l < (group.ofBlocks ? wanted.model.layers : 1); ++l) {
            const auto made = byName.at(group.ofBlocks ? fmt::format("h.{}.{}", l, group.name) : group.name)->make();
            if (!made) return made.error();
            write(group.linear ? made->t() : *made);
            if (group.name == std::string_view("wte.weight"))
                write(at::zeros({llmcPaddedVocabulary(wanted.model.vocabulary) - wanted.model.vocabulary, wanted.model.width}));
        }
    notes.emplace_back("No tokenizer is written: llm.c brings its own gpt2_tokenizer.bin, which is that of GPT-2.");
    return file.close();
}

// Whether an export writes a file of this name. Only such files may be put aside.
bool isOfAnExport(const std::string& name) {
    static const std::set<std::string> known{
        kConfigFile, kWeightsFileOfFolder,     kShardIndexFile,           kVocabularyFile, kMergesFile, kTokenizerConfigFile,
        kLlmcFile,   "generation_config.json", "special_tokens_map.json", "tokenizer.json"};
    return known.contains(name) || (name.starts_with("model-") && name.ends_with(".safetensors"));
}

Status mayTakeThePlaceOf(const std::string& folder, bool force) {
    namespace fs = std::filesystem;
    std::error_code problem;
    const fs::file_status there = fs::symlink_status(folder, problem);
    if (there.type() == fs::file_type::not_found) return {};
    const auto refuse = [&](const std::string& what) { return makeError(ErrorCode::BadInput, fmt::format("{} {}.", folder, what)); };
    if (!force) return refuse("is already there; choose another folder, or --force to write it anew");
    if (there.type() != fs::file_type::directory) return refuse("is no folder, and --force writes no more than an export anew; choose another place");
    for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
        const std::string name = at->path().filename().string();
        if (!isOfAnExport(name) || at->symlink_status(problem).type() == fs::file_type::directory)
            return refuse(fmt::format("holds {}, which no export writes, and --force would remove it; choose another folder", name));
    }
    if (problem) return makeError(ErrorCode::Io, fmt::format("{} cannot be read: {}.", folder, problem.message()));
    return {};
}

// Whether the weights that are read lie in that folder: an export in their place would leave only what it wrote, bf16 perhaps.
bool holdsTheSource(const std::string& folder, const std::string& source) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const fs::path from = fs::absolute(source, ignored);
    return fs::equivalent(folder, from, ignored) || (!fs::is_directory(from, ignored) && fs::equivalent(folder, from.parent_path(), ignored));
}

}  // namespace

std::string whyNotExported(const GptConfig& model, WeightsFormat format) {
    const char* where = format == WeightsFormat::Llmc ? "A GPT-2 of llm.c" : "A GPT-2 of transformers";
    std::vector<std::pair<const char*, const char*>> differences;
    if (model.norm == NormKind::RmsNorm) differences.emplace_back("norm=rmsnorm", "has LayerNorm");
    if (model.positionKind == PositionKind::Rope) differences.emplace_back("positions=rope", "has a table of positions");
    if (model.activation == Activation::Swiglu) differences.emplace_back("activation=swiglu", "has GELU");
    if (model.placement == NormPlacement::Post) differences.emplace_back("norm-placement=post", "has its norms before the branches");
    if (!model.tiedHead && format == WeightsFormat::Llmc) differences.emplace_back("tied-head=off", "has no head but its table of tokens");
    if (differences.empty()) return {};
    std::string named, has;
    for (const auto& [setting, instead] : differences) {
        named += (named.empty() ? "" : ", ") + std::string(setting);
        has += (has.empty() ? "" : ", ") + std::string(instead);
    }
    return fmt::format(
        "{} cannot be this model ({}): it {}; train with the settings of GPT-2, or use the checkpoint's model.safetensors, which has all of "
        "its weights.",
        where, named, has);
}

Result<ExportedWeights> exportWeights(const WeightsExport& wanted, const std::string& folder, const std::atomic<bool>& cancelled) {
    namespace fs = std::filesystem;
    if (const std::string why = whyNotExported(wanted.model, wanted.format); !why.empty()) return makeError(ErrorCode::Unsupported, why);
    // "out/" is the folder out: a name is needed for what is written beside it.
    const fs::path given(folder);
    std::error_code ignored;
    const std::string place = fs::absolute(given.has_filename() ? given : given.parent_path(), ignored).string();
    if (auto may = mayTakeThePlaceOf(place, wanted.force); !may) return may.error();
    if (holdsTheSource(place, wanted.place))
        return makeError(ErrorCode::BadInput, fmt::format("{} holds the weights that are to be written; choose another folder.", place));
    if (auto holds = holdsModel(*wanted.tensors, wanted.model, wanted.place); !holds) return holds.error();
    auto unfinished = UnfinishedFolder::make(place);
    if (!unfinished) return unfinished.error();
    ExportedWeights written;
    if (wanted.model.splitQkv) written.notes.emplace_back("Query, key and value (qkv=split) are written as the one projection that GPT-2 has.");
    if (!wanted.model.bias) written.notes.emplace_back("Biases that the model has not (bias=off) are written as zeros, which add nothing.");
    auto tensors = tensorsOf(wanted, place, cancelled);
    const Status done = wanted.format == WeightsFormat::Llmc ? writeLlmc(wanted, unfinished->path(), tensors, written.notes)
                                                             : writeHuggingFace(wanted, unfinished->path(), std::move(tensors), written.notes);
    if (!done) return done.error();
    if (auto whole = wanted.tensors->whole(); !whole) return whole.error();
    if (cancelled) return cancelledExport(place);
    const bool there = fs::exists(fs::symlink_status(place, ignored));
    if (auto moved = there ? unfinished->replace(place) : unfinished->moveTo(place); !moved) return moved.error();
    for (const auto& entry : fs::directory_iterator(place, ignored))
        written.files.push_back({entry.path().filename().string(), static_cast<std::int64_t>(fs::file_size(entry.path(), ignored))});
    std::ranges::sort(written.files, {}, &ExportedFile::name);
    return written;
}

}  // namespace stepscope
