// What a streaming reader of JSON asks of bytes that may end in the middle: where a text, a value or a number ends. Nothing is copied and nothing
// recurses. Used by ChromeTrace.cpp on the importing thread, and by exporters before they read what a session has stored; the bytes are a stranger's.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepscope::importing {

// How a piece of JSON ended: there, or the bytes end before it does, or it is no JSON.
enum class Scan { Done, More, Bad, TooDeep };

constexpr int kDeepestJson = 512;

inline bool isJsonSpace(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}
// Past spaces; `end` where nothing else follows.
inline const char* skipJsonSpace(const char* at, const char* end) {
    while (at < end && isJsonSpace(*at)) ++at;
    return at;
}
// `at` is behind the opening quote and moves behind the closing one. `plain`: without a backslash.
Scan skipJsonText(const char*& at, const char* end, bool& plain);
// Any value; `at` is at its first byte and moves behind it. Brackets are matched; what lies between them is looked at when it is kept.
Scan skipJsonValue(const char*& at, const char* end);

// What a text between quotes says, at most `most` bytes of it, cut between characters. What is no escape stays as it is.
std::string jsonText(std::string_view between, std::size_t most);
// Without spaces between the tokens and without raw control characters within texts.
void appendCompact(std::string& out, std::string_view value);
// Whether it is one well-formed value.
bool isJson(std::string_view value);
// Whether it may be one, nested at most kDeepestJson deep: what then walks it by recursion, as whoever writes it again does, has the stack for it.
bool isShallowJson(std::string_view value);

// A decimal number times 1000, exact where it has three decimals at most, else rounded to the nearest: microseconds to nanoseconds without a
// floating-point number in between. Nothing where it is no number or does not fit.
std::optional<std::int64_t> thousandfold(std::string_view number);
std::optional<std::int64_t> wholeNumber(std::string_view number);  // quoted or not, "0x…" too

}  // namespace stepscope::importing
