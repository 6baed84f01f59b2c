// SipHash-1-3 (Aumasson and Bernstein): one round for each eight bytes, three at the end. Any thread; the key is drawn at its first call.
#include "core/base/KeyedHash.h"

#include <array>
#include <bit>
#include <cstring>
#include <random>

namespace stepscope {
namespace {

const std::array<std::uint64_t, 2>& drawnKey() {
    static const std::array<std::uint64_t, 2> key = [] {
        std::random_device random;
        const auto word = [&] { return static_cast<std::uint64_t>(random()) << 32 | random(); };
        return std::array{word(), word()};
    }();
    return key;
}

}  // namespace

std::uint64_t keyedHash(std::string_view text) {
    const std::array<std::uint64_t, 2>& key = drawnKey();
    std::uint64_t a = key[0] ^ 0x736f6d6570736575, b = key[1] ^ 0x646f72616e646f6d, c = key[0] ^ 0x6c7967656e657261, d = key[1] ^ 0x7465646279746573;
    const auto round = [&] {
        a += b;
        b = std::rotl(b, 13) ^ a;
        a = std::rotl(a, 32);
        c += d;
        d = std::rotl(d, 16) ^ c;
        a += d;
        d = std::rotl(d, 21) ^ a;
        c += b;
        b = std::rotl(b, 17) ^ c;
        c = std::rotl(c, 32);
    };
    const auto take = [&](std::uint64_t word) {
        d ^= word;
        round();
        a ^= word;
    };
    std::size_t at = 0;
    for (; at + 8 <= text.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + at, 8);
        take(word);
    }
    std::uint64_t last = static_cast<std::uint64_t>(text.size()) << 56;
    for (std::size_t i = 0; at + i < text.size(); ++i) last |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[at + i])) << (8 * i);
    take(last);
    c ^= 0xff;
    for (int i = 0; i < 3; ++i) round();
    return a ^ b ^ c ^ d;
}

// The finaliser of MurmurHash3 (Appleby) between two words of the key: numbers come by the million, one at a time.
std::uint64_t keyedHash(std::uint64_t number) {
    const std::array<std::uint64_t, 2>& key = drawnKey();
    number ^= key[0];
    number = (number ^ (number >> 33)) * 0xff51afd7ed558ccdULL;
    number = (number ^ (number >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return (number ^ (number >> 33)) + key[1];
}

}  // namespace stepscope
