// Reads the two files of a byte-level BPE vocabulary into BytePairMerges. The files write every byte as a printable
// character: bytes 33-126, 161-172 and 174-255 as themselves, the other 68 as U+0100 onwards (GPT-2's convention).
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/data/tokenizers/BytePairMerges.h"
#include "core/data/tokenizers/Utf8.h"

namespace stepscope {
namespace {

struct Alphabet {
    std::array<char32_t, 256> characterOf{};
    std::array<std::int32_t, 0x200> byteOf{};  // -1 = no byte is written so

    Alphabet() {
        byteOf.fill(-1);
        char32_t spare = 0x100;
        for (std::int32_t byte = 0; byte < 256; ++byte) {
            const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
            const char32_t character = printable ? static_cast<char32_t>(byte) : spare++;
            characterOf[static_cast<std::size_t>(byte)] = character;
            byteOf[character] = byte;
        }
    }
};

const Alphabet& alphabet() {
    static const Alphabet made;
    return made;
}

// The bytes a symbol stands for. A character outside the alphabet (of a special token) stands for its own UTF-8.
std::string bytesOfSymbol(const std::string& symbol) {
    std::string bytes;
    for (std::size_t at = 0; at < symbol.size();) {
        const utf8::Step step = utf8::decode(symbol, at);
        const std::int32_t byte = step.codePoint < alphabet().byteOf.size() ? alphabet().byteOf[step.codePoint] : -1;
        if (byte >= 0)
            bytes.push_back(static_cast<char>(byte));
        else
            bytes.append(symbol, at, step.length);
        at += step.length;
    }
    return bytes;
}

// Takes {"symbol": id, ...} as it is parsed: a document tree of 50 000 nodes would take longer than all the rest.
class VocabularyReader final : public nlohmann::json_sax<nlohmann::json> {
public:
    std::vector<std::pair<std::string, std::uint64_t>> symbols;
    std::string problem = "it holds no object of symbols and ids";
    std::string cause;

    bool start_object(std::size_t) override { return m_depth++ == 0; }
    bool end_object() override { return true; }
    bool key(string_t& symbol) override {
        symbols.emplace_back(std::move(symbol), 0);
        return true;
    }
    bool number_unsigned(number_unsigned_t id) override {
        if (m_depth == 0) return false;
        symbols.back().second = id;
        return true;
    }
    bool number_integer(number_integer_t) override { return notAnId(); }
    bool number_float(number_float_t, const string_t&) override { return notAnId(); }
    bool null() override { return notAnId(); }
    bool boolean(bool) override { return notAnId(); }
    bool string(string_t&) override { return notAnId(); }
    bool binary(binary_t&) override { return notAnId(); }
    bool start_array(std::size_t) override { return notAnId(); }
    bool end_array() override { return notAnId(); }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
        problem = "it is not JSON";
        cause = error.what();
        return false;
    }

private:
    bool notAnId() {
        if (!symbols.empty()) problem = fmt::format("\"{}\" has no id", symbols.back().first);
        return false;
    }
    int m_depth = 0;
};

Error damaged(const std::string& name, const std::string& what, std::string cause = {}) {
    return makeError(ErrorCode::Damaged, fmt::format("{} is not a GPT-2 vocabulary file: {}; fetch it again.", name, what), std::move(cause));
}

}  // namespace

Status BytePairMerges::readVocabulary(std::string_view json, const std::string& name, std::unordered_map<std::string, std::int32_t>& idOf) {
    VocabularyReader reader;
    if (!nlohmann::json::sax_parse(json, &reader) || reader.symbols.empty()) return damaged(name, reader.problem, reader.cause);
    const std::size_t count = reader.symbols.size();
    m_bytesOf.assign(count, {});
    std::vector<bool> taken(count);
    idOf.reserve(count);
    for (auto& [symbol, id] : reader.symbols) {
        if (id >= count || taken[id]) return damaged(name, fmt::format("the id {} of \"{}\" is not a free one below {}", id, symbol, count));
        taken[id] = true;
        m_bytesOf[id] = bytesOfSymbol(symbol);
        idOf.emplace(std::move(symbol), static_cast<std::int32_t>(id));
    }
    for (std::size_t byte = 0; byte < 256; ++byte) {
        std::string symbol;
        utf8::append(symbol, alphabet().characterOf[byte]);
        const auto found = idOf.find(symbol);
        if (found == idOf.end()) return damaged(name, fmt::format("it has no symbol for the byte {}", byte));
        m_idOfByte[byte] = found->second;
    }
    return {};
}

Status BytePairMerges::readMerges(std::string_view text, const std::string& name, const std::unordered_map<std::string, std::int32_t>& idOf) {
    std::int32_t rank = 0, number = 0;
    m_ofBytes.assign(256 * 256, {.rank = kNever, .merged = 0});
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
        const std::size_t blank = line.find(' ');
        const auto wrong = [&](const char* what) { return damaged(name, fmt::format("line {} {}", number, what)); };
        if (blank == std::string_view::npos) return wrong("does not hold two symbols");
        const std::string first(line.substr(0, blank)), second(line.substr(blank + 1));
        const auto left = idOf.find(first), right = idOf.find(second), merged = idOf.find(first + second);
        if (left == idOf.end() || right == idOf.end() || merged == idOf.end()) return wrong("names a symbol that the vocabulary lacks");
        m_merges.add(left->second, right->second, {.rank = rank++, .merged = merged->second});
    }
    for (std::size_t left = 0; left < 256; ++left)
        for (std::size_t right = 0; right < 256; ++right)
            if (const auto* merge = m_merges.find(m_idOfByte[left], m_idOfByte[right])) m_ofBytes[left << 8 | right] = *merge;
    // Where the 256 bytes are all there is, nothing can be merged.
    if (rank == 0 && idOf.size() > 256) return damaged(name, "it holds no merges");
    return {};
}

Result<BytePairMerges> BytePairMerges::parse(std::string_view vocabularyJson, const std::string& vocabularyName, std::string_view mergesText,
                                             const std::string& mergesName) {
    BytePairMerges merges;
    std::unordered_map<std::string, std::int32_t> idOf;
    if (auto read = merges.readVocabulary(vocabularyJson, vocabularyName, idOf); !read) return read.error();
    if (auto read = merges.readMerges(mergesText, mergesName, idOf); !read) return read.error();
    return merges;
}

}  // namespace stepscope
