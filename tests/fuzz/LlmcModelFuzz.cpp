// Any bytes as numbers over the header of llm.c's weights, the file as large as the last eight of them say: tensors that lie within the file, none
// over another, or one sentence.
#include <algorithm>
#include <cstring>

#include "core/base/Check.h"
#include "core/data/foreign/LlmcModel.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace stepscope;
    std::string header = llmcHeader({.layers = 2, .heads = 2, .width = 16, .vocabulary = 61, .positions = 12}, size % 2 == 0);
    if (size > 0) std::memcpy(header.data(), bytes, std::min(size, header.size()));
    std::uint64_t fileBytes = 0;
    if (size >= 8) std::memcpy(&fileBytes, bytes + size - 8, 8);
    // Half of the files are as large as a model of the usual header.
    if (size % 3 != 0) fileBytes = kLlmcHeaderBytes + (size % 2 == 0 ? 2 : 4) * 8832;
    const auto model = parseLlmcModel(header, fileBytes, "fuzz");
    if (!model) {
        SS_CHECK(model.error().sentence.ends_with('.') && model.error().sentence.starts_with("fuzz "));
        return 0;
    }
    std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
    for (const auto& [name, entry] : model->tensors) places.emplace_back(entry.begin, entry.end);
    std::ranges::sort(places);
    SS_CHECK(places.front().first == kLlmcHeaderBytes && places.back().second <= fileBytes);
    for (std::size_t i = 1; i < places.size(); ++i) SS_CHECK(places[i].first >= places[i - 1].second);
    return 0;
}
