// Random text for property tests: random code points of all planes, or random bytes. The same for the same seed.
#pragma once
#include <string>

#include "core/base/CounterRandom.h"
#include "core/data/tokenizers/Utf8.h"

namespace stepscope::testing {

class RandomText {
public:
    explicit RandomText(std::uint64_t seed) : m_seed(seed) {}

    std::uint64_t below(std::uint64_t bound) { return counterRandomBelow(m_seed, 0, m_draws++, bound); }

    std::string bytes(std::size_t count) {
        std::string text;
        while (text.size() < count) text.push_back(static_cast<char>(below(256)));
        return text;
    }

    // Half ASCII (with many blanks and apostrophes, where words begin and end), the rest from everywhere but surrogates.
    std::string characters(std::size_t count) {
        std::string text;
        for (std::size_t i = 0; i < count; ++i) {
            char32_t c = 0;
            switch (below(6)) {
                case 0:
                    c = static_cast<char32_t>(below(128));
                    break;
                case 1:
                    c = static_cast<char32_t>(' ' + below(2) * 7);
                    break;
                case 2:
                    c = static_cast<char32_t>('a' + below(26));
                    break;
                case 3:
                    c = static_cast<char32_t>(below(0x800));
                    break;
                case 4:
                    c = static_cast<char32_t>(below(0xD800));
                    break;
                default:
                    c = static_cast<char32_t>(0xE000 + below(0x110000 - 0xE000));
                    break;
            }
            utf8::append(text, c);
        }
        return text;
    }

private:
    std::uint64_t m_seed;
    std::uint64_t m_draws = 0;
};

}  // namespace stepscope::testing
