// keyedHash(): SipHash-1-3 under a key that each process draws anew, for texts, and a mixed word under the same key, for numbers. Who writes a file
// cannot choose texts or correlation ids that collide, as with a hash that everybody can work out. For every table whose keys come from a file; any
// thread.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace stepscope {

std::uint64_t keyedHash(std::string_view text);
std::uint64_t keyedHash(std::uint64_t number);

struct KeyedHash {
    std::size_t operator()(const std::string& text) const { return keyedHash(text); }
    std::size_t operator()(std::uint64_t number) const { return keyedHash(number); }
    template <typename A, typename B>
    std::size_t operator()(const std::pair<A, B>& pair) const {
        return keyedHash(keyedHash(static_cast<std::uint64_t>(pair.first)) + static_cast<std::uint64_t>(pair.second));
    }
};

template <typename Key, typename Value>
using KeyedMap = std::unordered_map<Key, Value, KeyedHash>;

}  // namespace stepscope
