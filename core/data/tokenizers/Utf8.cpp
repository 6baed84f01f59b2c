#include "core/data/tokenizers/Utf8.h"

#include <cstdint>
#include <cstring>

namespace stepscope::utf8 {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

// What may follow a lead byte: how many continuation bytes, and the range of the first of them.
struct Lead {
    std::size_t following = 0;
    unsigned char least = 0x80, most = 0xBF;
    char32_t bits = 0;
};

bool leadOf(unsigned char byte, Lead& lead) {
    if (byte >= 0xC2 && byte <= 0xDF)
        lead = {1, 0x80, 0xBF, byte & 0x1Fu};
    else if (byte == 0xE0)
        lead = {2, 0xA0, 0xBF, 0};
    else if (byte == 0xED)
        lead = {2, 0x80, 0x9F, 0xDu};
    else if (byte >= 0xE1 && byte <= 0xEF)
        lead = {2, 0x80, 0xBF, byte & 0x0Fu};
    else if (byte == 0xF0)
        lead = {3, 0x90, 0xBF, 0};
    else if (byte >= 0xF1 && byte <= 0xF3)
        lead = {3, 0x80, 0xBF, byte & 0x07u};
    else if (byte == 0xF4)
        lead = {3, 0x80, 0x8F, 4};
    else
        return false;
    return true;
}

// The first byte at or after `at` that is not ASCII; eight at a time, because nearly all text is.
std::size_t skipAscii(std::string_view text, std::size_t at) {
    while (at + 8 <= text.size()) {
        std::uint64_t eight;
        std::memcpy(&eight, text.data() + at, 8);
        if ((eight & 0x8080808080808080ULL) != 0) break;
        at += 8;
    }
    while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
    return at;
}

}  // namespace

Step decode(std::string_view text, std::size_t at) {
    const auto first = static_cast<unsigned char>(text[at]);
    if (first < 0x80) return {first, 1, true};
    Lead lead;
    if (!leadOf(first, lead)) return {};
    char32_t codePoint = lead.bits;
    for (std::size_t i = 1; i <= lead.following; ++i) {
        if (at + i >= text.size()) return {0xFFFD, i, false};
        const auto byte = static_cast<unsigned char>(text[at + i]);
        if (byte < (i == 1 ? lead.least : 0x80) || byte > (i == 1 ? lead.most : 0xBF)) return {0xFFFD, i, false};
        codePoint = (codePoint << 6) | (byte & 0x3Fu);
    }
    return {codePoint, lead.following + 1, true};
}

void append(std::string& text, char32_t c) {
    const auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
    if (c < 0x80) {
        put(c);
    } else if (c < 0x800) {
        put(0xC0 | (c >> 6));
        put(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        put(0xE0 | (c >> 12));
        put(0x80 | ((c >> 6) & 0x3F));
        put(0x80 | (c & 0x3F));
    } else {
        put(0xF0 | (c >> 18));
        put(0x80 | ((c >> 12) & 0x3F));
        put(0x80 | ((c >> 6) & 0x3F));
        put(0x80 | (c & 0x3F));
    }
}

std::size_t findInvalid(std::string_view text) {
    for (std::size_t at = skipAscii(text, 0); at < text.size(); at = skipAscii(text, at)) {
        const Step step = decode(text, at);
        if (!step.valid) return at;
        at += step.length;
    }
    return std::string_view::npos;
}

std::string repair(std::string text) {
    std::size_t at = findInvalid(text);
    if (at == std::string::npos) return text;
    std::string repaired = text.substr(0, at);
    while (at < text.size()) {
        const Step step = decode(text, at);
        if (step.valid)
            repaired.append(text, at, step.length);
        else
            repaired.append(kReplacement);
        at += step.length;
    }
    return repaired;
}

bool isSpace(char32_t c) {
    return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
           c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::size_t cutAfter(std::string_view text, std::size_t wanted) {
    for (std::size_t at = wanted < 1 ? 1 : wanted; at < text.size(); ++at) {
        if (text[at] != ' ' && text[at] != '\n') continue;
        std::size_t before = at - 1;
        while (before > 0 && at - before < 4 && (static_cast<unsigned char>(text[before]) & 0xC0) == 0x80) --before;
        const Step step = decode(text, before);
        if (step.valid && !isSpace(step.codePoint)) return at;
    }
    return text.size();
}

}  // namespace stepscope::utf8
