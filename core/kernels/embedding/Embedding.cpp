// The reference: plain loops.
#include "core/kernels/embedding/Embedding.h"

#include "core/base/Check.h"

namespace stepscope {
namespace {

// Where the element of token row r lies in its row of wte, and in its row of wpe.
struct Places {
    std::size_t token, position;
};
Places placesOf(EmbeddingShape shape, std::span<const std::int64_t> ids, std::size_t r, std::size_t c) {
    const auto columns = static_cast<std::size_t>(shape.columns), context = static_cast<std::size_t>(shape.context);
    return {static_cast<std::size_t>(ids[r]) * columns + c, r % context * columns + c};
}

void check(EmbeddingShape shape, std::span<const std::int64_t> ids, std::size_t elements, std::size_t positions) {
    SS_CHECK(shape.columns > 0 && shape.context > 0 && static_cast<std::int64_t>(ids.size()) == shape.rows);
    SS_CHECK(static_cast<std::int64_t>(elements) == shape.rows * shape.columns);
    SS_CHECK(positions == 0 || static_cast<std::int64_t>(positions) == shape.context * shape.columns);
}

}  // namespace

void embeddingForward(EmbeddingShape shape, std::span<const std::int64_t> ids, std::span<const float> wte, std::span<const float> wpe,
                      std::span<float> out) {
    check(shape, ids, out.size(), wpe.size());
    const auto columns = static_cast<std::size_t>(shape.columns);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const Places at = placesOf(shape, ids, i / columns, i % columns);
        out[i] = wpe.empty() ? wte[at.token] : wte[at.token] + wpe[at.position];
    }
}

void embeddingBackward(EmbeddingShape shape, std::span<const std::int64_t> ids, std::span<const float> gradOut, std::span<float> gradWte,
                       std::span<float> gradWpe) {
    check(shape, ids, gradOut.size(), gradWpe.size());
    const auto columns = static_cast<std::size_t>(shape.columns);
    for (std::size_t i = 0; i < gradOut.size(); ++i) {
        const Places at = placesOf(shape, ids, i / columns, i % columns);
        if (!gradWte.empty()) gradWte[at.token] += gradOut[i];
        if (!gradWpe.empty()) gradWpe[at.position] += gradOut[i];
    }
}

}  // namespace stepscope
