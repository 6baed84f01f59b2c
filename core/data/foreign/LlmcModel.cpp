#include "core/data/foreign/LlmcModel.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace stepscope {
namespace {

// Places in the header.
constexpr std::size_t kVersion = 1, kPositions = 2, kVocabulary = 3, kLayers = 4, kHeads = 5, kWidth = 6, kPadded = 7;
constexpr std::int64_t kPadding = 128;

using LlmcNumbers = std::array<std::int32_t, kLlmcHeaderBytes / 4>;

// Rows and columns of one tensor as it lies in the file; columns 0: a vector.
std::pair<std::int64_t, std::int64_t> extentOf(std::string_view name, const Gpt2Sizes& s, std::int64_t rowsOfTable) {
    const std::int64_t C = s.width;
    if (name == "wte.weight") return {rowsOfTable, C};
    if (name == "wpe.weight") return {s.positions, C};
    if (name == "attn.c_attn.weight") return {3 * C, C};
    if (name == "attn.c_attn.bias") return {3 * C, 0};
    if (name == "attn.c_proj.weight") return {C, C};
    if (name == "mlp.c_fc.weight") return {4 * C, C};
    if (name == "mlp.c_fc.bias") return {4 * C, 0};
    if (name == "mlp.c_proj.weight") return {C, 4 * C};
    return {C, 0};
}

// Lays all tensors out one behind the other; returns the end of the last.
std::uint64_t layOut(LlmcModel& model) {
    const std::uint64_t element = model.bf16 ? 2 : 4;
    std::uint64_t at = kLlmcHeaderBytes;
    for (const LlmcGroup& group : llmcGroups()) {
        const auto [rows, columns] = extentOf(group.name, model.sizes, model.paddedVocabulary);
        const std::int64_t kept = group.name == std::string_view("wte.weight") ? model.sizes.vocabulary : rows;
        const std::int64_t width = columns == 0 ? 1 : columns;
        for (std::int64_t l = 0; l < (group.ofBlocks ? model.sizes.layers : 1); ++l) {
            TensorEntry entry{.type = model.bf16 ? "BF16" : "F32"};
            entry.shape.push_back(kept);
            if (columns > 0) entry.shape.push_back(columns);
            entry.begin = at;
            entry.end = at + static_cast<std::uint64_t>(kept * width) * element;
            model.tensors.emplace(group.ofBlocks ? fmt::format("h.{}.{}", l, group.name) : group.name, std::move(entry));
            at += static_cast<std::uint64_t>(rows * width) * element;
        }
    }
    return at;
}

}  // namespace

const std::vector<LlmcGroup>& llmcGroups() {
    static const std::vector<LlmcGroup> groups{
        {"wte.weight", false, false},       {"wpe.weight", false, false},      {"ln_1.weight", true, false},       {"ln_1.bias", true, false},
        {"attn.c_attn.weight", true, true}, {"attn.c_attn.bias", true, false}, {"attn.c_proj.weight", true, true}, {"attn.c_proj.bias", true, false},
        {"ln_2.weight", true, false},       {"ln_2.bias", true, false},        {"mlp.c_fc.weight", true, true},    {"mlp.c_fc.bias", true, false},
        {"mlp.c_proj.weight", true, true},  {"mlp.c_proj.bias", true, false},  {"ln_f.weight", false, false},      {"ln_f.bias", false, false}};
    return groups;
}

std::int64_t llmcPaddedVocabulary(std::int64_t vocabulary) {
    return (vocabulary + kPadding - 1) / kPadding * kPadding;
}

bool beginsAsLlmcModel(std::string_view bytes) {
    std::int32_t magic = 0;
    if (bytes.size() < sizeof magic) return false;
    std::memcpy(&magic, bytes.data(), sizeof magic);
    return magic == kLlmcModelMagic;
}

Result<LlmcModel> parseLlmcModel(std::string_view header, std::uint64_t fileBytes, const std::string& name) {
    const auto damaged = [&](const std::string& what) {
        return makeError(ErrorCode::Damaged, fmt::format("{} is not a whole file of llm.c's weights: {}.", name, what));
    };
    if (header.size() < kLlmcHeaderBytes) return damaged("it is shorter than its header");
    if (!beginsAsLlmcModel(header)) return damaged(fmt::format("it does not begin with {}", kLlmcModelMagic));
    LlmcNumbers number{};
    std::memcpy(number.data(), header.data(), kLlmcHeaderBytes);
    const std::int32_t version = number[kVersion];
    // The later versions took the number 3 again: only these say how far the vocabulary is padded.
    const bool padded = number[kPadded] != 0 && version != 2;
    if (version != 2 && version != 3 && !(version == 5 && padded))
        return makeError(ErrorCode::Unsupported, fmt::format("{} is of version {} of llm.c's weights{}; 2, 3 and 5 can be read.", name, version,
                                                             version == 5 ? " and says no padded vocabulary" : ""));
    LlmcModel model;
    model.sizes = {.layers = number[kLayers],
                   .heads = number[kHeads],
                   .width = number[kWidth],
                   .vocabulary = number[kVocabulary],
                   .positions = number[kPositions],
                   .tiedHead = true};
    model.paddedVocabulary = padded ? number[kPadded] : model.sizes.vocabulary;
    model.bf16 = padded ? version == 5 : version == 3;
    struct Bound {
        const char* what;
        std::int64_t value, most;
    };
    for (const Bound& bound :
         {Bound{"layers", model.sizes.layers, kMostForeignLayers}, Bound{"heads", model.sizes.heads, kMostForeignHeads},
          Bound{"channels", model.sizes.width, kMostForeignWidth}, Bound{"ids", model.sizes.vocabulary, kMostForeignRows},
          Bound{"positions", model.sizes.positions, kMostForeignRows}, Bound{"padded ids", model.paddedVocabulary, kMostForeignRows}})
        if (bound.value < 1 || bound.value > bound.most)
            return damaged(fmt::format("its header says {} {}, and there are from 1 to {}", bound.value, bound.what, bound.most));
    if (model.sizes.width % model.sizes.heads != 0)
        return damaged(fmt::format("its header says {} channels, which do not divide by {} heads", model.sizes.width, model.sizes.heads));
    if (model.paddedVocabulary < model.sizes.vocabulary)
        return damaged(fmt::format("its header pads {} ids to {}", model.sizes.vocabulary, model.paddedVocabulary));
    if (const std::uint64_t end = layOut(model); end != fileBytes)
        return damaged(fmt::format("it has {} bytes, and a model as its header says takes {}", fileBytes, end));
    return model;
}

std::string llmcHeader(const Gpt2Sizes& sizes, bool bf16) {
    LlmcNumbers number{};
    number[0] = kLlmcModelMagic;
    number[kVersion] = bf16 ? 5 : 3;
    number[kPositions] = static_cast<std::int32_t>(sizes.positions);
    number[kVocabulary] = static_cast<std::int32_t>(sizes.vocabulary);
    number[kLayers] = static_cast<std::int32_t>(sizes.layers);
    number[kHeads] = static_cast<std::int32_t>(sizes.heads);
    number[kWidth] = static_cast<std::int32_t>(sizes.width);
    number[kPadded] = static_cast<std::int32_t>(llmcPaddedVocabulary(sizes.vocabulary));
    return {reinterpret_cast<const char*>(number.data()), kLlmcHeaderBytes};
}

}  // namespace stepscope
