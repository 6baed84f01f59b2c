// GPT-2's pre-tokenising split: text into words (a leading blank belongs to the word), numbers, signs and white space;
// merges never cross their edges. The pattern is GPT-2's own (Radford et al. 2019), run by PCRE2 with its JIT compiler
// wherever a word is more than ASCII letters or digits.
#pragma once
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <memory>
#include <string_view>

namespace stepscope {

class WordSplitter {
public:
    WordSplitter();

    // Walks over the words of one text, which must be valid UTF-8 and outlive the walk. One walk a thread.
    class Walk {
    public:
        Walk(const WordSplitter& splitter, std::string_view text);
        bool next(std::string_view& word);  // false at the end

    private:
        struct FreeMatch {
            void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
        };
        const pcre2_code* m_pattern;
        std::string_view m_text;
        std::size_t m_at = 0;
        std::unique_ptr<pcre2_match_data, FreeMatch> m_match;
    };

private:
    struct FreeCode {
        void operator()(pcre2_code* code) const { pcre2_code_free(code); }
    };
    std::unique_ptr<pcre2_code, FreeCode> m_pattern;
};

}  // namespace stepscope
