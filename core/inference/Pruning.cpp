#include "core/inference/Pruning.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <vector>

namespace stepscope {
namespace {

using Matrices = std::vector<std::span<float>>;

// The `count` smallest of all, the first of equal ones first.
void pruneSmallest(const Matrices& matrices, std::int64_t count) {
    if (count == 0) return;
    std::vector<float> sizes;
    for (const auto& matrix : matrices)
        for (const float value : matrix) sizes.push_back(std::fabs(value));
    const auto border = sizes.begin() + (count - 1);
    std::nth_element(sizes.begin(), border, sizes.end());
    const float largest = *border;
    std::int64_t below = std::count_if(sizes.begin(), border, [largest](float size) { return size < largest; });
    std::int64_t equal = count - below;
    for (const auto& matrix : matrices)
        for (float& value : matrix) {
            const float size = std::fabs(value);
            if (size < largest || (size == largest && equal-- > 0)) value = 0;
        }
}

void prunePattern(std::span<float> matrix, std::int64_t columns, std::int64_t kept, std::int64_t of) {
    std::vector<std::int64_t> order;
    for (std::size_t row = 0; row < matrix.size(); row += static_cast<std::size_t>(columns))
        for (std::int64_t first = 0; first < columns; first += of) {
            const auto group = matrix.subspan(row + static_cast<std::size_t>(first), static_cast<std::size_t>(std::min(of, columns - first)));
            order.clear();
            for (std::size_t i = 0; i < group.size(); ++i) order.push_back(static_cast<std::int64_t>(i));
            std::stable_sort(order.begin(), order.end(), [group](std::int64_t a, std::int64_t b) {
                return std::fabs(group[static_cast<std::size_t>(a)]) > std::fabs(group[static_cast<std::size_t>(b)]);
            });
            for (std::size_t i = static_cast<std::size_t>(kept); i < order.size(); ++i) group[static_cast<std::size_t>(order[i])] = 0;
        }
}

}  // namespace

Result<Pruning> patternNamed(const std::string& word) {
    constexpr std::int64_t kMost = 64;
    Pruning pruning;
    const auto colon = word.find(':');
    const auto number = [&](std::size_t begin, std::size_t end, std::int64_t& into) {
        const auto [last, problem] = std::from_chars(word.data() + begin, word.data() + end, into);
        return problem == std::errc{} && last == word.data() + end;
    };
    if (colon != std::string::npos && number(0, colon, pruning.kept) && number(colon + 1, word.size(), pruning.of) && pruning.kept >= 1 &&
        pruning.kept < pruning.of && pruning.of <= kMost)
        return pruning;
    return makeError(ErrorCode::BadInput,
                     fmt::format("A pattern is how many of how many neighbours stay, such as 2:4, at most of {}; not \"{}\".", kMost, word));
}

PruneCount prune(const at::Tensor& weights, const ParameterLayout& layout, const Pruning& pruning) {
    PruneCount count;
    Matrices all;
    for (const ParameterSlot& slot : layout.slots()) {
        if (!slot.linear) continue;
        const std::span matrix(weights.data_ptr<float>() + slot.offset, static_cast<std::size_t>(slot.count));
        if (pruning.of > 0) prunePattern(matrix, slot.shape[1], pruning.kept, pruning.of);
        if (pruning.of == 0 && pruning.eachMatrix) pruneSmallest({matrix}, std::llround(pruning.share * static_cast<double>(slot.count)));
        all.push_back(matrix);
        count.weights += slot.count;
    }
    if (pruning.of == 0 && !pruning.eachMatrix) pruneSmallest(all, std::llround(pruning.share * static_cast<double>(count.weights)));
    for (const auto& matrix : all) count.zeros += std::count(matrix.begin(), matrix.end(), 0.0f);
    return count;
}

}  // namespace stepscope
