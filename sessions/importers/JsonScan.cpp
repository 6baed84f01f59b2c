#include "sessions/importers/JsonScan.h"

#include <array>
#include <bit>
#include <bitset>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace stepscope::importing {
namespace {

// 0: goes on; the others end a run of bytes between brackets.
constexpr std::array<bool, 256> structural() {
    std::array<bool, 256> table{};
    for (const char c : {'"', '{', '}', '[', ']'}) table[static_cast<unsigned char>(c)] = true;
    return table;
}
constexpr auto kStructural = structural();

void appendUtf8(std::string& out, std::uint32_t code) {
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xc0 | code >> 6);
        out += static_cast<char>(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        out += static_cast<char>(0xe0 | code >> 12);
        out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
        out += static_cast<char>(0x80 | (code & 0x3f));
    } else {
        out += static_cast<char>(0xf0 | code >> 18);
        out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
        out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
        out += static_cast<char>(0x80 | (code & 0x3f));
    }
}

std::optional<std::uint32_t> hex4(std::string_view text, std::size_t at) {
    if (at + 4 > text.size()) return std::nullopt;
    std::uint32_t code = 0;
    const auto [end, problem] = std::from_chars(text.data() + at, text.data() + at + 4, code, 16);
    if (problem != std::errc{} || end != text.data() + at + 4) return std::nullopt;
    return code;
}

}  // namespace

Scan skipJsonText(const char*& at, const char* end, bool& plain) {
    const char* p = at;
    plain = true;
    for (;;) {
#ifdef __SSE2__
        const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
        while (end - p >= 16) {
            const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
            const int found = _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, slash)));
            if (found != 0) {
                p += std::countr_zero(static_cast<unsigned>(found));
                break;
            }
            p += 16;
        }
#endif
        while (p < end && *p != '"' && *p != '\\') ++p;
        if (p == end) return Scan::More;
        if (*p == '"') {
            at = p + 1;
            return Scan::Done;
        }
        plain = false;
        if (end - p < 2) return Scan::More;
        p += 2;
    }
}

Scan skipJsonValue(const char*& at, const char* end) {
    const char* p = at;
    if (p == end) return Scan::More;
    bool plain = true;
    if (*p == '"') {
        ++p;
        if (const Scan text = skipJsonText(p, end, plain); text != Scan::Done) return text;
        at = p;
        return Scan::Done;
    }
    if (*p != '{' && *p != '[') {
        // A number or a word: up to what ends it.
        while (p < end && *p != ',' && *p != '}' && *p != ']' && !isJsonSpace(*p)) {
            if (*p == '"' || *p == '{' || *p == '[' || *p == ':' || p - at > 4096) return Scan::Bad;
            ++p;
        }
        if (p == end) return Scan::More;
        if (p == at) return Scan::Bad;
        at = p;
        return Scan::Done;
    }
    std::bitset<kDeepestJson> object;
    int depth = 0;
    while (p < end) {
        const char c = *p;
        if (!kStructural[static_cast<unsigned char>(c)]) {
            ++p;
            continue;
        }
        ++p;
        if (c == '"') {
            if (const Scan text = skipJsonText(p, end, plain); text != Scan::Done) return text;
        } else if (c == '{' || c == '[') {
            if (depth == kDeepestJson) {
                at = p;
                return Scan::TooDeep;
            }
            object[static_cast<std::size_t>(depth++)] = c == '{';
        } else {
            if (object[static_cast<std::size_t>(--depth)] != (c == '}')) {
                at = p;
                return Scan::Bad;
            }
            if (depth == 0) {
                at = p;
                return Scan::Done;
            }
        }
    }
    return Scan::More;
}

std::string jsonText(std::string_view between, std::size_t most) {
    std::string out;
    std::size_t i = 0;
    while (i < between.size() && out.size() <= most + 4) {
        const char c = between[i];
        if (c != '\\' || i + 1 == between.size()) {
            out += c;
            ++i;
            continue;
        }
        const char escape = between[i + 1];
        i += 2;
        constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
        if (const auto simple = from.find(escape); simple != std::string_view::npos) {
            out += to[simple];
        } else if (const auto code = escape == 'u' ? hex4(between, i) : std::nullopt) {
            i += 4;
            std::uint32_t whole = *code;
            if (whole >= 0xd800 && whole < 0xdc00 && between.substr(i, 2) == "\\u") {
                if (const auto low = hex4(between, i + 2); low && *low >= 0xdc00 && *low < 0xe000) {
                    whole = 0x10000 + ((whole - 0xd800) << 10) + (*low - 0xdc00);
                    i += 6;
                }
            }
            appendUtf8(out, whole >= 0xd800 && whole < 0xe000 ? 0xfffd : whole);
        } else {
            out += escape;
        }
    }
    if (out.size() > most) {
        std::size_t cut = most;
        while (cut > 0 && (static_cast<unsigned char>(out[cut]) & 0xc0) == 0x80) --cut;
        out.resize(cut);
    }
    return out;
}

void appendCompact(std::string& out, std::string_view value) {
    bool text = false;
    for (std::size_t i = 0; i < value.size(); ++i) {
        const char c = value[i];
        if (!text) {
            if (isJsonSpace(c)) continue;
            text = c == '"';
            out += c;
            continue;
        }
        if (static_cast<unsigned char>(c) < 0x20) {
            constexpr std::string_view digits = "0123456789abcdef";
            out += "\\u00";
            out += digits[static_cast<unsigned char>(c) >> 4];
            out += digits[c & 0xf];
            continue;
        }
        out += c;
        if (c == '\\' && i + 1 < value.size())
            out += value[++i];
        else if (c == '"')
            text = false;
    }
}

bool isJson(std::string_view value) {
    return nlohmann::json::accept(value.begin(), value.end());
}

bool isShallowJson(std::string_view value) {
    const char* at = skipJsonSpace(value.data(), value.data() + value.size());
    return skipJsonValue(at, value.data() + value.size()) == Scan::Done;
}

std::optional<std::int64_t> thousandfold(std::string_view number) {
    std::size_t i = 0;
    const bool negative = !number.empty() && number[0] == '-';
    if (negative) ++i;
    std::uint64_t digits = 0;
    int scale = 3, seen = 0;
    bool fraction = false, rounds = false, cut = false;
    for (; i < number.size(); ++i) {
        const char c = number[i];
        if (c == '.') {
            if (fraction) return std::nullopt;
            fraction = true;
            continue;
        }
        if (c < '0' || c > '9') break;
        ++seen;
        const auto digit = static_cast<std::uint64_t>(c - '0');
        if (cut || (fraction && scale == 0)) {
            // Below a nanosecond, or beyond what fits: the first of them rounds.
            if (!cut) rounds = digit >= 5;
            cut = true;
            if (!fraction) return std::nullopt;
            continue;
        }
        if (digits > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) return std::nullopt;
        digits = digits * 10 + digit;
        if (fraction) --scale;
    }
    if (seen == 0) return std::nullopt;
    if (i < number.size()) {
        if (number[i] != 'e' && number[i] != 'E') return std::nullopt;
        std::string_view power = number.substr(i + 1);
        if (power.starts_with('+')) power.remove_prefix(1);
        int exponent = 0;
        const auto [end, problem] = std::from_chars(power.data(), power.data() + power.size(), exponent);
        if (problem != std::errc{} || end != power.data() + power.size() || exponent < -400 || exponent > 400) return std::nullopt;
        scale += exponent;
        if (cut && exponent > 0) return std::nullopt;  // decimals that were cut would count
    }
    for (; scale > 0 && digits != 0; --scale) {
        if (digits > std::numeric_limits<std::uint64_t>::max() / 10) return std::nullopt;
        digits *= 10;
    }
    for (; scale < 0 && digits != 0; ++scale) {
        rounds = digits % 10 >= 5;
        digits /= 10;
    }
    // Before it is rounded: the largest of all would become 0.
    if (digits > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) - (rounds ? 1 : 0)) return std::nullopt;
    if (rounds) ++digits;
    const auto value = static_cast<std::int64_t>(digits);
    return negative ? -value : value;
}

std::optional<std::int64_t> wholeNumber(std::string_view number) {
    if (number.size() >= 2 && number.front() == '"' && number.back() == '"') number = number.substr(1, number.size() - 2);
    std::int64_t value = 0;
    const bool hex = number.starts_with("0x");
    if (hex) number.remove_prefix(2);
    if (number.empty()) return std::nullopt;
    const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), value, hex ? 16 : 10);
    if (problem != std::errc{} || end != number.data() + number.size()) return std::nullopt;
    return value;
}

}  // namespace stepscope::importing
