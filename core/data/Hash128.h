// 128-bit content hash (XXH3) of texts, tokenizers and token files. It finds damage and change, not an attacker.
#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace stepscope {

struct Hash128 {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    auto operator<=>(const Hash128&) const = default;
    std::string hex() const;  // 32 digits
};

Hash128 hashOf(std::string_view bytes);

}  // namespace stepscope
