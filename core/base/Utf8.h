// UTF-8 of strangers: what well-formed characters are there, and which of them a line of text may hold. Pure functions.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace stepscope {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // where a text may begin with it, it is none of the text

// How many bytes of well-formed UTF-8 begin here (RFC 3629: none overlong, no surrogates), 0 when it is none; the code point goes to `code`. Text is
// not empty.
std::size_t utf8At(std::string_view text, char32_t& code);

bool isUtf8(std::string_view text);

// False: control characters, line breaks among them, and those that turn the direction of writing. A terminal would obey them.
bool showsAsWritten(char32_t code);

// At most so many bytes from the beginning, without the character that would be cut in two. Bytes that are no UTF-8 are cut where they are.
std::string_view firstBytes(std::string_view text, std::size_t most);

// Text from elsewhere (a name, a note, what a model wrote) as a terminal or a table may show it: control characters, which could move a cursor or
// change a title, what turns the direction of writing, and bytes that are no UTF-8 become U+FFFD; so do line breaks unless they are kept.
std::string printable(std::string_view text, bool keepLines = false);

// The same, line breaks kept, of a text that comes in pieces, which may be cut within a character.
class PrintableStream {
public:
    std::string add(std::string_view piece);  // what can be shown by now
    std::string end();                        // the rest, of which no whole character has come

private:
    std::string m_rest;
};

}  // namespace stepscope
