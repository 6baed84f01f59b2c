// keyedHash(): SipHash-1-3 under a key that each process draws anew. Who writes a file cannot choose texts that collide, as with a hash that
// everybody can work out. Used by the tables of this folder; any thread.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace stepscope::importing {

std::uint64_t keyedHash(std::string_view text);

struct KeyedHash {
    std::size_t operator()(const std::string& text) const { return keyedHash(text); }
};

}  // namespace stepscope::importing
