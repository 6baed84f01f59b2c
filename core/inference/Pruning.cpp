#include "core/inference/Pruning.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
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

// Calls each(piece) for every run of neighbours in memory that belongs to one head: rows of query, key and value, which are in one matrix or in
// three, and in each row of the projection the head's columns.
template <typename Each>
void eachPieceOf(const at::Tensor& weights, const ParameterLayout& layout, const GptConfig& model, std::int64_t layer, std::int64_t head,
                 Each&& each) {
    const std::int64_t width = model.width, size = width / model.heads;
    const auto piece = [&](const std::string& matrix, std::int64_t begin, std::int64_t count) {
        const ParameterSlot& slot = layout.slot(fmt::format("h.{}.attn.{}.weight", layer, matrix));
        each(std::span(weights.data_ptr<float>() + slot.offset + begin, static_cast<std::size_t>(count)));
    };
    for (std::int64_t part = 0; part < 3; ++part) {
        constexpr const char* kOfTheirOwn[]{"q_proj", "k_proj", "v_proj"};
        const std::int64_t row = head * size + (model.splitQkv ? 0 : part * width);
        piece(model.splitQkv ? kOfTheirOwn[part] : "c_attn", row * width, size * width);
    }
    for (std::int64_t row = 0; row < width; ++row) piece("c_proj", row * width + head * size, size);
}

// The `count` smallest of all layers, the first of equal ones first. A layer may lose all of its heads: its residual stream passes by.
void pruneHeads(const at::Tensor& weights, const ParameterLayout& layout, const GptConfig& model, std::int64_t count) {
    const std::vector<double> norms = headNorms(weights, layout, model);
    std::vector<std::size_t> order(norms.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&norms](std::size_t a, std::size_t b) { return norms[a] < norms[b]; });
    order.resize(static_cast<std::size_t>(count));
    for (const std::size_t smallest : order) {
        const auto at = static_cast<std::int64_t>(smallest);
        eachPieceOf(weights, layout, model, at / model.heads, at % model.heads, [](std::span<float> piece) { std::ranges::fill(piece, 0.0f); });
    }
}

}  // namespace

std::vector<double> headNorms(const at::Tensor& weights, const ParameterLayout& layout, const GptConfig& model) {
    std::vector<double> norms;
    for (std::int64_t layer = 0; layer < model.layers; ++layer)
        for (std::int64_t head = 0; head < model.heads; ++head) {
            double squares = 0;
            eachPieceOf(weights, layout, model, layer, head, [&squares](std::span<const float> piece) {
                for (const float value : piece) squares += static_cast<double>(value) * static_cast<double>(value);
            });
            norms.push_back(std::sqrt(squares));
        }
    return norms;
}

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

Result<PruneScope> pruneScopeNamed(const std::string& word) {
    for (const PruneScope scope : kAllPruneScopes)
        if (word == toString(scope)) return scope;
    return makeError(
        ErrorCode::BadInput,
        fmt::format("--scope is global (the smallest weights of all), layer (of each matrix) or heads (the smallest heads), not \"{}\".", word));
}

PruneCount prune(const at::Tensor& weights, const ParameterLayout& layout, const GptConfig& model, const Pruning& pruning) {
    PruneCount count;
    Matrices all;
    const bool pattern = pruning.of > 0;
    for (const ParameterSlot& slot : layout.slots()) {
        if (!slot.linear) continue;
        const std::span matrix(weights.data_ptr<float>() + slot.offset, static_cast<std::size_t>(slot.count));
        if (pattern)
            prunePattern(matrix, slot.shape[1], pruning.kept, pruning.of);
        else if (pruning.scope == PruneScope::Layer)
            pruneSmallest({matrix}, std::llround(pruning.share * static_cast<double>(slot.count)));
        all.push_back(matrix);
        count.weights += slot.count;
    }
    if (!pattern && pruning.scope == PruneScope::Global) pruneSmallest(all, std::llround(pruning.share * static_cast<double>(count.weights)));
    if (!pattern && pruning.scope == PruneScope::Heads) {
        count.heads = std::llround(pruning.share * static_cast<double>(model.layers * model.heads));
        pruneHeads(weights, layout, model, count.heads);
    }
    for (const auto& matrix : all) count.zeros += std::count(matrix.begin(), matrix.end(), 0.0f);
    return count;
}

}  // namespace stepscope
