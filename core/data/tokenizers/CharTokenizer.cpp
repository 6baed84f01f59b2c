// The character tokenizer of Tokenizer.h: ids are the sorted distinct code points of a text.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/data/tokenizers/Tokenizer.h"
#include "core/data/tokenizers/Utf8.h"

namespace stepscope {
namespace {

constexpr std::int32_t kUnseen = -1;
constexpr std::size_t kCodePoints = 0x110000;

class CharTokenizer final : public Tokenizer {
public:
    explicit CharTokenizer(std::vector<char32_t> characters) : m_characters(std::move(characters)) {
        if (!m_characters.empty()) m_idOf.assign(m_characters.back() + 1, kUnseen);
        for (std::size_t id = 0; id < m_characters.size(); ++id) m_idOf[m_characters[id]] = static_cast<std::int32_t>(id);
    }

    std::string name() const override { return "char"; }
    std::int64_t vocabulary() const override { return static_cast<std::int64_t>(m_characters.size()); }

    std::size_t bytesOf(std::int32_t id) const override { return utf8::length(m_characters[static_cast<std::size_t>(id)]); }
    std::size_t cutAfter(std::string_view, std::size_t wanted) const override { return wanted; }
    std::string toJson() const override {
        std::string characters;
        for (const char32_t c : m_characters) utf8::append(characters, c);
        return nlohmann::json{{"name", "char"}, {"characters", characters}}.dump();
    }

    Result<std::vector<std::int32_t>> encode(std::string_view text) const override {
        std::vector<std::int32_t> ids;
        ids.reserve(text.size());
        for (std::size_t at = 0; at < text.size();) {
            const utf8::Step step = utf8::decode(text, at);
            if (!step.valid) return makeError(ErrorCode::BadInput, fmt::format("The text is not UTF-8 at byte {}.", at));
            const std::int32_t id = step.codePoint < m_idOf.size() ? m_idOf[step.codePoint] : kUnseen;
            if (id == kUnseen) return unseen(text.substr(at, step.length), step.codePoint, at);
            ids.push_back(id);
            at += step.length;
        }
        return ids;
    }

    std::string decode(std::span<const std::int32_t> ids) const override {
        std::string text;
        for (const std::int32_t id : ids) {
            const bool known = id >= 0 && static_cast<std::size_t>(id) < m_characters.size();
            utf8::append(text, known ? m_characters[static_cast<std::size_t>(id)] : U'\uFFFD');
        }
        return text;
    }

private:
    Error unseen(std::string_view character, char32_t codePoint, std::size_t at) const {
        const std::string shown = codePoint < 0x20 || codePoint == 0x7F ? std::string() : fmt::format("\"{}\" ", character);
        return makeError(ErrorCode::BadInput, fmt::format("The character {}(U+{:04X}) at byte {} is none of the {} characters of the training text.",
                                                          shown, static_cast<std::uint32_t>(codePoint), at, m_characters.size()));
    }

    std::vector<char32_t> m_characters;  // by id
    std::vector<std::int32_t> m_idOf;    // by code point
};

}  // namespace

std::shared_ptr<const Tokenizer> charTokenizer(std::string_view text, const std::function<bool(std::size_t)>& wanted) {
    constexpr std::size_t kBetweenAsks = std::size_t{64} << 20;
    std::vector<char> seen(kCodePoints);
    std::size_t ask = kBetweenAsks;
    for (std::size_t at = 0; at < text.size();) {
        if (at >= ask) {
            if (wanted && !wanted(at)) return nullptr;
            ask = at + kBetweenAsks;
        }
        const utf8::Step step = utf8::decode(text, at);
        seen[step.codePoint] = 1;
        at += step.length;
    }
    std::vector<char32_t> characters;
    for (std::size_t c = 0; c < kCodePoints; ++c)
        if (seen[c] != 0) characters.push_back(static_cast<char32_t>(c));
    return std::make_shared<CharTokenizer>(std::move(characters));
}

}  // namespace stepscope
