#include "core/data/tokenizers/WordSplitter.h"

#include <array>

#include "core/base/Check.h"

namespace stepscope {
namespace {

// White space is spelt out (Unicode's White_Space): PCRE2's \s also takes U+180E, which Unicode 6.3 made a format character.
#define SPACES "\\p{Z}\\x{09}-\\x{0D}\\x{85}"
constexpr const char* kPattern =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" SPACES "\\p{L}\\p{N}]+|[" SPACES "]+(?![^" SPACES "])|[" SPACES "]+";
#undef SPACES

enum class Kind : unsigned char { Sign, Letter, Number, Beyond };  // Beyond: not ASCII, so the pattern is asked

constexpr std::array<Kind, 256> kKinds = [] {
    std::array<Kind, 256> kinds{};
    for (std::size_t byte = 0x80; byte < kinds.size(); ++byte) kinds[byte] = Kind::Beyond;
    for (std::size_t byte = '0'; byte <= '9'; ++byte) kinds[byte] = Kind::Number;
    for (std::size_t letter = 0; letter < 26; ++letter) kinds['A' + letter] = kinds['a' + letter] = Kind::Letter;
    return kinds;
}();

Kind kindOf(char byte) {
    return kKinds[static_cast<unsigned char>(byte)];
}

// Where the word ends that begins at `at`, if it is one of ASCII letters or of ASCII digits, perhaps behind a blank: most are. There the pattern's
// alternatives for letters and for numbers are the first that match. 0: ask the pattern.
std::size_t plainWordEnd(std::string_view text, std::size_t at) {
    std::size_t end = at + (text[at] == ' ' ? 1 : 0);
    if (end == text.size()) return 0;
    const Kind kind = kindOf(text[end]);
    if (kind != Kind::Letter && kind != Kind::Number) return 0;
    while (end < text.size() && kindOf(text[end]) == kind) ++end;
    return end < text.size() && kindOf(text[end]) == Kind::Beyond ? 0 : end;
}

}  // namespace

WordSplitter::WordSplitter() {
    int problem = 0;
    PCRE2_SIZE where = 0;
    m_pattern.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(kPattern), PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED, &problem,
                                  &where, nullptr));
    SS_CHECK(m_pattern != nullptr);
    // Where no JIT may run (hardened kernels) this fails and pcre2_match interprets: slower, the same words.
    pcre2_jit_compile(m_pattern.get(), PCRE2_JIT_COMPLETE);
}

WordSplitter::Walk::Walk(const WordSplitter& splitter, std::string_view text)
    : m_pattern(splitter.m_pattern.get()), m_text(text), m_match(pcre2_match_data_create(1, nullptr)) {
    SS_CHECK(m_match != nullptr);
}

bool WordSplitter::Walk::next(std::string_view& word) {
    if (m_at >= m_text.size()) return false;
    if (const std::size_t end = plainWordEnd(m_text, m_at); end > 0) {
        word = m_text.substr(m_at, end - m_at);
        m_at = end;
        return true;
    }
    const int found =
        pcre2_match(m_pattern, reinterpret_cast<PCRE2_SPTR>(m_text.data()), m_text.size(), m_at, PCRE2_NO_UTF_CHECK, m_match.get(), nullptr);
    SS_CHECK(found > 0);  // every character is a letter, a number, a space or none of them: something always matches
    const PCRE2_SIZE end = pcre2_get_ovector_pointer(m_match.get())[1];
    SS_CHECK(end > m_at);
    word = m_text.substr(m_at, end - m_at);
    m_at = end;
    return true;
}

}  // namespace stepscope
