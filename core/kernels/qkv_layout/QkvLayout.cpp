// The reference: plain loops.
#include "core/kernels/qkv_layout/QkvLayout.h"

#include "core/base/Check.h"

namespace stepscope {
namespace {

// Calls visit(place in the rows, place in the heads, column) for each of `count` elements.
template <class Visit>
void forPlaces(HeadShape shape, std::int64_t parts, std::size_t count, Visit visit) {
    const std::int64_t C = shape.heads * shape.width, columns = parts * C, elements = static_cast<std::int64_t>(count);
    SS_CHECK(columns > 0 && shape.context > 0 && elements % (columns * shape.context) == 0);
    for (std::int64_t i = 0; i < elements; ++i) {
        const std::int64_t row = i / columns, column = i % columns, part = column / C, head = column % C / shape.width, d = column % shape.width;
        const std::int64_t sequence = row / shape.context, t = row % shape.context;
        const std::int64_t at = part * (elements / parts) + ((sequence * shape.heads + head) * shape.context + t) * shape.width + d;
        visit(static_cast<std::size_t>(i), static_cast<std::size_t>(at), static_cast<std::size_t>(column));
    }
}

}  // namespace

std::vector<float> qkvLayoutSplit(HeadShape shape, std::int64_t parts, std::span<const float> rows, std::span<const float> bias) {
    SS_CHECK(bias.empty() || static_cast<std::int64_t>(bias.size()) == parts * shape.heads * shape.width);
    std::vector<float> heads(rows.size());
    forPlaces(shape, parts, rows.size(), [&](std::size_t inRows, std::size_t inHeads, std::size_t column) {
        heads[inHeads] = bias.empty() ? rows[inRows] : static_cast<float>(static_cast<double>(rows[inRows]) + bias[column]);
    });
    return heads;
}

std::vector<float> qkvLayoutMerge(HeadShape shape, std::int64_t parts, std::span<const float> heads) {
    std::vector<float> rows(heads.size());
    forPlaces(shape, parts, heads.size(), [&](std::size_t inRows, std::size_t inHeads, std::size_t) { rows[inRows] = heads[inHeads]; });
    return rows;
}

std::vector<float> qkvLayoutColumnSums(std::int64_t columns, std::span<const float> rows) {
    SS_CHECK(columns > 0 && rows.size() % static_cast<std::size_t>(columns) == 0);
    std::vector<double> sums(static_cast<std::size_t>(columns), 0.0);
    for (std::size_t i = 0; i < rows.size(); ++i) sums[i % sums.size()] += rows[i];
    return {sums.begin(), sums.end()};
}

}  // namespace stepscope
