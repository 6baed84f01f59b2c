// PickleText: values as Python's pickle writes them in protocol 2: dictionaries, lists, texts, whole numbers. Written only: nothing here reads
// pickles, because reading one runs what it says. Used by exporters; one thread at a time.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/KeyedHash.h"

namespace stepscope {

class PickleText {
public:
    PickleText() : m_text("\x80\x02", 2) {}

    void beginDict() { m_text += "}("; }
    void endDict() { m_text += 'u'; }
    void beginList() { m_text += "]("; }
    void endList() { m_text += 'e'; }
    // Of a dictionary: followed by its value. UTF-8 or what is left of it: bytes that are none become '?'.
    void text(std::string_view value);
    void whole(std::int64_t value);
    void unsignedWhole(std::uint64_t value);
    void entry(std::string_view key, std::string_view value) {
        text(key);
        text(value);
    }
    void entry(std::string_view key, std::int64_t value) {
        text(key);
        whole(value);
    }
    void end() { m_text += '.'; }
    // What was written since it was last taken.
    std::string take();

private:
    std::string m_text;
    KeyedMap<std::string, std::uint32_t> m_memo;  // texts that came before are named by a number
};

}  // namespace stepscope
