#include "core/data/ReadyTokens.h"

#include <fmt/format.h>

#include <cstring>

#include "core/data/MappedFile.h"
#include "core/data/TokenFileHeader.h"
#include "core/data/TokenRows.h"

namespace stepscope {
namespace {

// llm.c: 256 int32, of which the first three are magic, version and number of tokens.
constexpr std::size_t kLlmcHeader = 1024;
constexpr std::int32_t kLlmcGpt2 = 20240520, kLlmcLlama3 = 20240801;
constexpr std::int32_t kLlmcWeights = 20240326, kLlmcTokenizer = 20240328, kLlmcHellaSwag = 20240522;

std::int32_t wordAt(std::string_view bytes, std::size_t index) {
    std::int32_t word = 0;
    if ((index + 1) * sizeof word <= bytes.size()) std::memcpy(&word, bytes.data() + index * sizeof word, sizeof word);
    return word;
}

}  // namespace

Result<ReadyTokens> readReadyTokens(std::string_view bytes, std::shared_ptr<const void> owner, const std::string& name) {
    const auto refused = [&](ErrorCode code, const std::string& what) { return makeError(code, fmt::format("{} {}.", name, what)); };
    if (bytes.empty()) return refused(ErrorCode::BadInput, "is empty: it holds no tokens");
    if (bytes.starts_with(std::string_view(TokenFileHeader::kMagic.data(), TokenFileHeader::kMagic.size())))
        return refused(ErrorCode::BadInput, "is a token cache of Stepscope; name the text it was made from instead");
    const std::int32_t magic = wordAt(bytes, 0);
    if (magic == kLlmcWeights || magic == kLlmcTokenizer || magic == kLlmcHellaSwag)
        return refused(ErrorCode::BadInput,
                       fmt::format("is a file of llm.c, but holds {}, not tokens to train on", magic == kLlmcWeights     ? "weights"
                                                                                               : magic == kLlmcTokenizer ? "a tokenizer"
                                                                                                                         : "HellaSwag questions"));
    if (magic != kLlmcGpt2 && magic != kLlmcLlama3) {
        if (bytes.size() % 2 != 0)
            return refused(ErrorCode::Damaged, fmt::format("has an odd number of bytes ({}), so it is not a row of 16-bit tokens", bytes.size()));
        return ReadyTokens{rowOf<std::uint16_t>(bytes, std::move(owner)), ReadyTokens::Format::Plain};
    }
    const bool gpt2 = magic == kLlmcGpt2;
    if (bytes.size() < kLlmcHeader)
        return refused(ErrorCode::Damaged, fmt::format("is cut short: {} of the 1024 bytes of llm.c's header are there", bytes.size()));
    const std::int32_t version = wordAt(bytes, 1), expected = gpt2 ? 1 : 7;
    if (version != expected)
        return refused(ErrorCode::Unsupported, fmt::format("is a token file of llm.c of version {}; version {} can be read", version, expected));
    const std::string_view ids = bytes.substr(kLlmcHeader);
    const std::int64_t says = wordAt(bytes, 2), width = gpt2 ? 2 : 4;
    if (says < 0 || static_cast<std::int64_t>(ids.size()) != says * width)
        return refused(ErrorCode::Damaged, fmt::format("does not hold together: its header says {} tokens, its size is that of {}", says,
                                                       static_cast<std::int64_t>(ids.size()) / width));
    if (gpt2) return ReadyTokens{rowOf<std::uint16_t>(ids, std::move(owner)), ReadyTokens::Format::LlmcGpt2};
    return ReadyTokens{rowOf<std::uint32_t>(ids, std::move(owner)), ReadyTokens::Format::LlmcLlama3};
}

Result<ReadyTokens> openReadyTokens(const std::string& path) {
    auto file = MappedFile::open(path);
    if (!file) return file.error();
    auto owner = std::make_shared<const MappedFile>(std::move(*file));
    auto ready = readReadyTokens(owner->bytes(), owner, path);
    if (ready) ready->row = watched(std::move(ready->row), std::move(owner));
    return ready;
}

}  // namespace stepscope
