// The size classes of the caching host allocator: eight steps between two powers of two, blocks of 2 MiB and more on whole huge pages.
// Used by core/memory, which hands blocks out, and by core/analysis, which predicts what that takes. Pure arithmetic.
#pragma once
#include <bit>
#include <cstddef>

namespace stepscope::size_classes {

constexpr std::size_t kHeader = 64;                 // in front of every block; keeps the 64-byte alignment that vector code counts on
constexpr std::size_t kSmallestCached = 64 * 1024;  // smaller blocks come from the C library
constexpr std::size_t kPage = 4096, kHugePage = 2 * 1024 * 1024;
constexpr std::size_t kBins = 64 * 8;

// size >= 8.
constexpr std::size_t binOf(std::size_t size) {
    const auto power = static_cast<std::size_t>(std::bit_width(size) - 1);
    const std::size_t eighth = (size - (std::size_t{1} << power)) >> (power - 3);
    return power * 8 + eighth;
}
constexpr std::size_t binCeiling(std::size_t bin) {
    const std::size_t power = bin / 8, eighth = bin % 8;
    return (std::size_t{1} << power) + ((eighth + 1) << (power - 3)) - 1;
}
constexpr std::size_t pagesOf(std::size_t size) {
    return size >= kHugePage ? kHugePage : kPage;
}

// What is mapped for a block of `size` bytes, header included: at most 12.5 % more, and whole pages.
constexpr std::size_t mappingFor(std::size_t size) {
    const std::size_t ceiling = binCeiling(binOf(size)) + 1;
    return (ceiling + pagesOf(ceiling) - 1) / pagesOf(ceiling) * pagesOf(ceiling);
}

}  // namespace stepscope::size_classes
