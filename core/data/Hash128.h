// 128-bit content hash (XXH3) of texts, tokenizers and token files. It finds damage and change, not an attacker.
#pragma once
#include <compare>
#include <cstdint>
#include <memory>
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

// The same of bytes that come piece by piece. One thread.
class StreamingHash {
public:
    StreamingHash();
    ~StreamingHash();
    void add(std::string_view bytes);
    Hash128 digest() const;  // of all that were added; more may follow
    void reset();

private:
    struct State;
    std::unique_ptr<State> m_state;
};

}  // namespace stepscope
