// What the `io` of a list of fields (EventFields.h, CommandFields.h) is where the list itself is asked for: the name and kind of each field, in
// order. Two builds that write the same words read each other's frames; Hello carries their hash. Any thread.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "sessions/wire/WireIo.h"

namespace stepscope {

class LayoutWords {
public:
    template <class T>
    void operator()(const char* name, const T& v) {
        if constexpr (std::is_same_v<T, bool>)
            add(name, 'b');
        else if constexpr (WireWord<T>)
            add(name, 'e', static_cast<std::size_t>(lastWord(v)));
        else if constexpr (std::is_floating_point_v<T>)
            add(name, 'f', sizeof(v));
        else if constexpr (std::is_integral_v<T>)
            add(name, std::is_signed_v<T> ? 'i' : 'u', sizeof(v));
        else
            add(name, 's', sizeof(v));
    }
    // Of what a list of fields cannot tell.
    void word(std::string_view text) { (m_words += text) += ' '; }

    const std::string& words() const { return m_words; }
    // FNV-1a.
    std::uint64_t hash() const {
        std::uint64_t hash = 14695981039346656037ull;
        for (const char c : m_words) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
        return hash;
    }

private:
    void add(std::string_view name, char kind, std::size_t more = 0) {
        ((m_words += name) += ':') += kind;
        (m_words += std::to_string(more)) += ' ';
    }

    std::string m_words;
};

}  // namespace stepscope
