// The first 128 bytes of a token file, as they lie on the disk. Used by the reader and the writer of TokenFile.h.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/data/tokens/TokenFile.h"

namespace stepscope {

struct TokenFileHeader {
    static constexpr std::array<char, 8> kMagic{'S', 'S', 'T', 'O', 'K', 'E', 'N', 'S'};
    static constexpr std::uint32_t kVersion = 1;

    std::array<char, 8> magic = kMagic;
    std::uint32_t version = kVersion;
    std::uint32_t bytesPerId = 2;  // 2 | 4
    std::uint64_t count = 0;       // of ids
    std::uint64_t vocabulary = 0;
    Hash128 text, tokenizer, ids;
    std::array<std::uint64_t, 4> reserved{};
    Hash128 header;  // of the 112 bytes before it

    Hash128 ownHash() const { return hashOf({reinterpret_cast<const char*>(this), offsetof(TokenFileHeader, header)}); }
};
static_assert(sizeof(TokenFileHeader) == 128 && std::endian::native == std::endian::little);

inline std::uint32_t bytesPerIdOf(std::int64_t vocabulary) {
    return vocabulary <= 0x10000 ? 2 : 4;
}

}  // namespace stepscope
