// UTF-8 by the definition of Unicode 15, table 3-7: overlong forms, surrogates and values above U+10FFFF are not UTF-8.
// Called by the tokenizers and the text readers, on any thread.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace stepscope::utf8 {

struct Step {
    char32_t codePoint = 0xFFFD;
    std::size_t length = 1;  // bytes to go on by; of a broken sequence its longest well-formed beginning
    bool valid = false;
};

// The code point at `at` < text.size().
Step decode(std::string_view text, std::size_t at);
void append(std::string& text, char32_t codePoint);
constexpr std::size_t length(char32_t codePoint) {
    return codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
}

// Offset of the first byte that is not part of valid UTF-8, or npos.
std::size_t findInvalid(std::string_view text);
// Every broken sequence replaced by U+FFFD, as the Unicode standard recommends (one a longest well-formed beginning).
std::string repair(std::string text);

// The white space of Unicode (property White_Space).
bool isSpace(char32_t codePoint);

// A place in [wanted, text.size()] where `text` can be cut so that every tokenizer gives the same tokens for the two parts
// as for the whole: after a character that is no space and before a blank or line feed. text.size() when there is none.
std::size_t cutAfter(std::string_view text, std::size_t wanted);

}  // namespace stepscope::utf8
