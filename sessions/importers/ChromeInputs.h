// ChromeInputs: what an operation of a Chrome trace was called with, in the words of SliceArguments::text. Most operations are called with the same
// over and over, so what was worked out is kept, in a set amount of memory. Used by ChromeEvents.cpp on the importing thread; the bytes are a
// stranger's.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/KeyedHash.h"

namespace stepscope::importing {

class ChromeInputs {
public:
    // Of "Input Dims" and "Input type" as they stand in the file. False where those words have none for it; `into` is empty or as it was then.
    bool text(std::string_view dims, std::string_view types, std::string& into);

private:
    KeyedMap<std::string, std::string> m_known;  // dims and types as written -> text, empty: not to be said so
    std::size_t m_bytes = 0;                     // of m_known, about
};

}  // namespace stepscope::importing
