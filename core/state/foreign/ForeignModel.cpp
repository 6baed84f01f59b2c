#include "core/state/foreign/ForeignModel.h"

#include <ATen/ops/equal.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/data/MappedFile.h"
#include "core/data/foreign/HuggingFaceConfig.h"
#include "core/data/tokens/ReadyTokens.h"
#include "core/model/ParameterLayout.h"
#include "core/state/foreign/ForeignText.h"
#include "core/state/foreign/TensorSources.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestForeignText = 16'000'000;  // an index of a hundred thousand tensors takes 10 MB
constexpr const char* kNoPickle =
    "a pickle is a program, and is never loaded; save the weights as safetensors (model.save_pretrained(FOLDER) of transformers does)";

std::string beginningOf(const std::string& path, std::size_t most) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) return {};
    std::ifstream file(path, std::ios::binary);
    std::string bytes(most, '\0');
    file.read(bytes.data(), static_cast<std::streamsize>(most));
    bytes.resize(static_cast<std::size_t>(file.gcount()));
    return bytes;
}

// What torch.save writes: a zip archive, or a bare pickle. The length of a safetensors header is below 2^24, which neither of them can be mistaken
// for.
bool isPickle(const std::string& path) {
    const std::string bytes = beginningOf(path, 8);
    if (bytes.size() < 8) return false;
    if (bytes.starts_with("PK\x03\x04")) return true;
    const bool protocol = bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
    return protocol && bytes.find_first_not_of('\0', 3) != std::string::npos;
}

// A folder without safetensors: what there is instead.
Error noWeightsIn(const std::string& folder) {
    std::error_code problem;
    for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
        const std::string name = at->path().filename().string();
        for (const char* ending : {".bin", ".pt", ".pth", ".ckpt", ".pkl"})
            if (name.ends_with(ending) && isPickle(at->path().string()))
                return makeError(ErrorCode::Unsupported, fmt::format("{} has its weights in {} alone: {}.", folder, name, kNoPickle));
        for (const char* ending : {".h5", ".msgpack", ".onnx", ".gguf"})
            if (name.ends_with(ending))
                return makeError(ErrorCode::Unsupported,
                                 fmt::format("{} has no {}, and {} is of a format that is not read here; save the weights as safetensors.", folder,
                                             kWeightsFileOfFolder, name));
    }
    return makeError(ErrorCode::NotFound,
                     fmt::format("{} has no {} and no {}; fetch the weights too.", folder, kWeightsFileOfFolder, kShardIndexFile));
}

GptConfig modelOf(const Gpt2Sizes& sizes) {
    return {.layers = sizes.layers,
            .heads = sizes.heads,
            .width = sizes.width,
            .vocabulary = sizes.vocabulary,
            .paddedVocabulary = sizes.vocabulary,
            .positions = sizes.positions,
            .tiedHead = sizes.tiedHead};
}

// A tied model may have its head once more, but no other one: which of the two was meant, nobody can tell.
Status headIsTheTable(const ForeignModel& model, const std::string& config) {
    TensorSource& source = *model.tensors;
    const std::string head = writtenName(source.entries(), "lm_head.weight");
    if (!model.model->tiedHead || head.empty()) return {};
    const auto table = source.read(writtenName(source.entries(), "wte.weight")), other = source.read(head);
    if (!table) return table.error();
    if (!other) return other.error();
    if (at::equal(*table, *other)) return source.whole();
    return makeError(ErrorCode::BadInput, fmt::format("{} ties the head to the table of tokens, and lm_head.weight is another; set its "
                                                      "tie_word_embeddings to false, or take lm_head.weight out.",
                                                      config));
}

void findTokenizer(ForeignModel& model) {
    std::error_code ignored;
    const auto has = [&](const char* name) { return fs::exists(fs::path(model.place) / name, ignored); };
    const bool both = has(kVocabularyFile) && has(kMergesFile);
    model.whyNoTokenizer = fmt::format("{} has no tokenizer ({} and {}, or tokenizer.json).", model.place, kVocabularyFile, kMergesFile);
    if (!both && !has("tokenizer.json")) return;
    // Another program's kind is no tokenizer here, and nothing is wrong with the weights beside it. Two damaged files are told where they are read.
    const auto own = tokenizerOfFolder(model.place, false);
    if (own || (both && own.error().code != ErrorCode::Unsupported))
        model.tokenizer = model.place;
    else
        model.whyNoTokenizer = own.error().sentence;
}

Result<ForeignModel> openFolder(const std::string& folder) {
    std::error_code ignored;
    const auto has = [&](const char* name) { return fs::exists(fs::path(folder) / name, ignored); };
    if (!has(kConfigFile) && has("state.json"))
        return makeError(ErrorCode::BadInput,
                         fmt::format("{} is a checkpoint: go on from it with --resume, or give the {} in it.", folder, kWeightsFileOfFolder));
    if (!has(kConfigFile))
        return makeError(
            ErrorCode::NotFound,
            fmt::format("{} has no {}; give the folder of a GPT-2 of Hugging Face, a safetensors file or llm.c's .bin.", folder, kConfigFile));
    const std::string config = folder + "/" + kConfigFile;
    const auto text = foreignText(config);
    if (!text) return text.error();
    const auto sizes = parseHuggingFaceConfig(*text, config);
    if (!sizes) return sizes.error();
    ForeignModel model;
    model.place = folder;
    model.model = modelOf(*sizes);
    if (has(kWeightsFileOfFolder)) {
        const std::string weights = folder + "/" + kWeightsFileOfFolder;
        if (isPickle(weights)) return makeError(ErrorCode::Unsupported, fmt::format("{} is a pickle of PyTorch: {}.", weights, kNoPickle));
        auto file = SafeTensorsFile::open(weights);
        if (!file) return file.error();
        model.tensors = std::make_unique<SafeTensorsFile>(std::move(*file));
    } else if (has(kShardIndexFile)) {
        auto shards = ShardedTensors::open(folder);
        if (!shards) return shards.error();
        model.tensors = std::make_unique<ShardedTensors>(std::move(*shards));
    } else {
        return noWeightsIn(folder);
    }
    if (auto holds = holdsModel(*model.tensors, *model.model, config); !holds) return holds.error();
    if (auto same = headIsTheTable(model, config); !same) return same.error();
    findTokenizer(model);
    return model;
}

}  // namespace

Result<std::string> foreignText(const std::string& path) {
    auto file = MappedFile::open(path);
    if (!file) return file.error();
    if (file->bytes().size() > kLargestForeignText)
        return makeError(ErrorCode::BadInput, fmt::format("{} has {} bytes, more than any file of its kind.", path, file->bytes().size()));
    std::string text(file->bytes());
    if (file->cutShort()) return makeError(ErrorCode::Io, fmt::format("{} became shorter while it was read.", path));
    return text;
}

bool tellsItsModel(const std::string& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored) || beginsAsLlmcModel(beginningOf(path, 4));
}

Result<ForeignModel> openForeignModel(const std::string& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return openFolder(path);
    if (beginsAsLlmcModel(beginningOf(path, 4))) {
        auto file = LlmcTensors::open(path);
        if (!file) return file.error();
        ForeignModel model;
        model.place = path;
        model.model = modelOf(file->sizes());
        model.gpt2Ids = model.model->vocabulary == kGpt2Vocabulary;
        if (!model.gpt2Ids) model.whyNoTokenizer = fmt::format("{} comes without a tokenizer.", path);
        model.tensors = std::make_unique<LlmcTensors>(std::move(*file));
        return model;
    }
    if (isPickle(path)) return makeError(ErrorCode::Unsupported, fmt::format("{} is a pickle of PyTorch: {}.", path, kNoPickle));
    auto file = SafeTensorsFile::open(path);
    if (!file) return file.error();
    ForeignModel model;
    model.place = path;
    model.whyNoTokenizer = fmt::format("{} comes without a tokenizer.", path);
    model.tensors = std::make_unique<SafeTensorsFile>(std::move(*file));
    return model;
}

Result<std::shared_ptr<const Tokenizer>> tokenizerOf(const ForeignModel& model, bool documents) {
    if (!model.tokenizer.empty()) return tokenizerOfFolder(model.tokenizer, documents);
    if (model.gpt2Ids) return gpt2Tokenizer({}, documents);
    return std::shared_ptr<const Tokenizer>();
}

Status holdsModel(const TensorSource& source, const GptConfig& model, const std::string& place) {
    const auto contradicts = [&](const std::string& what) {
        return makeError(ErrorCode::BadInput, fmt::format("{} and the tensors contradict each other: {}.", place, what));
    };
    const auto& entries = source.entries();
    // Before a list of what should be there is made: a thousand layers that are not there need none.
    if (static_cast<std::size_t>(model.layers) > entries.size())
        return contradicts(fmt::format("it says {} layers, and there are {} tensors", model.layers, entries.size()));
    const ParameterLayout layout(model);
    for (const ParameterSlot& slot : layout.slots()) {
        const std::string name = writtenName(entries, slot.name);
        if (name.empty()) return contradicts(fmt::format("there is no {}", slot.name));
        std::vector<std::int64_t> shape = slot.shape;
        if (slot.linear) std::swap(shape[0], shape[1]);
        const TensorEntry& entry = entries.at(name);
        if (entry.shape != shape)
            return contradicts(fmt::format("{} is [{}], and would be [{}]", slot.name, fmt::join(entry.shape, ", "), fmt::join(shape, ", ")));
        if (!entry.isReal()) return contradicts(fmt::format("{} is of type {}, and weights are F32, F16, BF16 or F64", slot.name, entry.type));
    }
    const std::string next = fmt::format("h.{}.ln_1.weight", model.layers);
    if (!writtenName(entries, next).empty()) return contradicts(fmt::format("it says {} layers, and there is {}", model.layers, next));
    return {};
}

}  // namespace stepscope
