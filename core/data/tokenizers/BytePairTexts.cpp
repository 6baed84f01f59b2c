// Tokenizers as the two files that other programs read, and back: bytePairTexts and tokenizerOfFolder of Tokenizer.h.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/data/DataFolders.h"
#include "core/data/MappedFile.h"
#include "core/data/foreign/TokenizerFile.h"
#include "core/data/tokenizers/Tokenizer.h"
#include "core/data/tokenizers/Utf8.h"

namespace stepscope {
namespace {

constexpr std::size_t kLargestTexts = 6'000'000;    // of one file; GPT-2's take 1 MB and half of one
constexpr std::size_t kLargestStored = 12'000'000;  // of what a checkpoint holds of both: its whole description may have 16 MB

constexpr std::size_t kLargestTokenizerFile = 3 * kLargestTexts;  // the same with blanks

Result<std::string> wholeText(const std::string& path, std::size_t most = kLargestTexts) {
    auto file = MappedFile::open(path);
    if (!file) return file.error();
    if (file->bytes().size() > most)
        return makeError(ErrorCode::BadInput,
                         fmt::format("{} has {} bytes, more than a checkpoint keeps of a tokenizer ({}).", path, file->bytes().size(), most));
    std::string text(file->bytes());
    if (file->cutShort()) return makeError(ErrorCode::Io, fmt::format("{} became shorter while it was read.", path));
    return text;
}

std::string filesHash(const Tokenizer& tokenizer) {
    return nlohmann::json::parse(tokenizer.toJson()).value("files", "");
}

// Byte b is the symbol that GPT-2's files write for it, with the id b.
BytePairTexts textsOfBytes() {
    nlohmann::ordered_json vocabulary = nlohmann::ordered_json::object();
    char32_t spare = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
        const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
        std::string symbol;
        utf8::append(symbol, printable ? static_cast<char32_t>(byte) : spare++);
        vocabulary[symbol] = byte;
    }
    return {vocabulary.dump() + "\n", "#version: 0.2\n"};
}

// Whether the ids are the bytes: then every text has the ids of the byte tokenizer.
bool idsAreBytes(const Tokenizer& tokenizer) {
    if (tokenizer.vocabulary() != 256) return false;
    std::string all;
    for (char32_t c = 0; c < 0x800; ++c) utf8::append(all, c);
    for (const char32_t lead : {0x800,  0x1000, 0x2000, 0x3000, 0x4000, 0x5000,  0x6000,  0x7000,  0x8000,  0x9000,  0xA000,
                                0xB000, 0xC000, 0xD000, 0xE000, 0xF000, 0x10000, 0x40000, 0x80000, 0xC0000, 0x100000})
        utf8::append(all, lead);
    const auto ids = tokenizer.encode(all), bytes = byteTokenizer()->encode(all);
    return ids.ok() && bytes.ok() && *ids == *bytes;
}

// transformers reads more than the two files, and would cut texts otherwise where it says so.
Status checkBeside(const std::string& folder) {
    const auto check = [&](const char* file, std::size_t most, const auto& allows) -> Status {
        const std::string path = folder + "/" + file;
        std::error_code ignored;
        if (!std::filesystem::exists(path, ignored)) return {};
        const auto text = wholeText(path, most);
        if (!text) return text.error();
        return allows(*text, path);
    };
    if (const Status plain = check("tokenizer_config.json", kLargestTexts, checkTokenizerSettings); !plain) return plain;
    if (const Status plain = check("added_tokens.json", kLargestTexts, checkAddedTokens); !plain) return plain;
    return check("tokenizer.json", kLargestTokenizerFile,
                 [](const std::string& text, const std::string& path) { return parseTokenizerFile(text, path).status(); });
}

Result<BytePairTexts> textsIn(const std::string& folder, const std::string& vocabularyPath, const std::string& mergesPath) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const std::string both = folder + "/tokenizer.json";
    if (fs::exists(both, ignored) && (!fs::exists(vocabularyPath, ignored) || !fs::exists(mergesPath, ignored))) {
        const auto text = wholeText(both, kLargestTokenizerFile);
        if (!text) return text.error();
        return parseTokenizerFile(*text, both);
    }
    auto vocabulary = wholeText(vocabularyPath), merges = wholeText(mergesPath);
    if (!vocabulary) return vocabulary.error();
    if (!merges) return merges.error();
    if (const Status plain = checkBeside(folder); !plain) return plain.error();
    return BytePairTexts{std::move(*vocabulary), std::move(*merges)};
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> tokenizerOfFolder(const std::string& folder, bool documents) {
    const std::string vocabularyPath = folder + "/vocab.json", mergesPath = folder + "/merges.txt";
    auto texts = textsIn(folder, vocabularyPath, mergesPath);
    if (!texts) return texts.error();
    auto own = bytePairTokenizer(std::move(*texts), documents, vocabularyPath, mergesPath);
    if (!own) return own;
    if (const std::size_t stored = (*own)->toJson().size(); stored > kLargestStored)
        return makeError(ErrorCode::BadInput, fmt::format("The tokenizer in {} would take {} bytes of each checkpoint, more than one keeps ({}).",
                                                          folder, stored, kLargestStored));
    if (idsAreBytes(**own)) return byteTokenizer();
    if (auto installed = gpt2Tokenizer({}, documents); installed && filesHash(**installed) == filesHash(**own)) return installed;
    return own;
}

Result<BytePairTexts> bytePairTexts(const Tokenizer& tokenizer) {
    if (tokenizer.name() == "byte") return textsOfBytes();
    if (tokenizer.name() != "gpt2")
        return makeError(ErrorCode::Unsupported, fmt::format("A {} tokenizer has no form that other programs read.", tokenizer.name()));
    const auto json = nlohmann::json::parse(tokenizer.toJson());
    if (json.contains("vocabulary")) return BytePairTexts{json["vocabulary"].get<std::string>(), json["merges"].get<std::string>()};
    const std::filesystem::path folder = gpt2VocabularyFolder();
    std::error_code ignored;
    const auto read = [&](const char* first, const char* second) {
        return wholeText((folder / (std::filesystem::exists(folder / first, ignored) ? first : second)).string());
    };
    auto vocabulary = read("encoder.json", "vocab.json"), merges = read("vocab.bpe", "merges.txt");
    if (!vocabulary) return vocabulary.error();
    if (!merges) return merges.error();
    BytePairTexts texts{std::move(*vocabulary), std::move(*merges)};
    // The folder may have changed since the tokenizer was made of it.
    const auto same = bytePairTokenizer(texts, false);
    if (!same) return same.error();
    if (filesHash(**same) != filesHash(tokenizer))
        return makeError(ErrorCode::Damaged, fmt::format("The vocabulary files in {} are not those of this tokenizer any more.", folder.string()));
    return texts;
}

}  // namespace stepscope
