// Attention of one new token over the keys and values that were kept of those before it: how they lie, and the plain reference in double. For the
// writing of text, where each token is computed once (core/inference). Torch-free; any thread, no state.
#pragma once
#include <cstdint>
#include <span>

namespace stepscope {

// Keys of 16 positions lie together, so that 16 scores come from one pass: element d of position j at (j / 16 * width + d) * 16 + j % 16. Values lie
// row by row. Both have room for a multiple of 16 positions.
constexpr std::int64_t kKeyBlock = 16;
constexpr std::int64_t keyBlocks(std::int64_t positions) {
    return (positions + kKeyBlock - 1) / kKeyBlock;
}
constexpr std::int64_t keyPlace(std::int64_t width, std::int64_t position, std::int64_t element) {
    return (position / kKeyBlock * width + element) * kKeyBlock + position % kKeyBlock;
}

// out = sum over j < positions of softmax(scale * query.key[j]) * value[j]; keys and values row by row here, (positions, width).
void attendPlainly(std::span<const double> query, std::span<const double> keys, std::span<const double> values, double scale, std::span<double> out);

}  // namespace stepscope
