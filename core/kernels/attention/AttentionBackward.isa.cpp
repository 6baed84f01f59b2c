// Attention backwards, compiled once per instruction set. Scores are taken again, tile by tile and transposed (keys
// down, queries across), so that what belongs to a query, its sum and its correction, are registers and not broadcasts.
#include "core/kernels/attention/AttentionByTiles.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

constexpr std::int64_t kKeys = 32, kQueries = 64;
constexpr float kHuge = 3.0e38f;

struct BackwardScratch {
    Unit *keys, *values;                                // (T, units along the width)
    Unit *queriesAcross, *gradOutAcross;                // (units, T)
    Unit *keysDown, *queriesDown, *gradOutDown;         // (T / per, columns): units of `per` rows
    Unit *probabilities, *gradScores, *gradScorePairs;  // (kKeys, kQueries) in units along the queries; the last along the keys
    float *scores, *gradProbabilities;                  // (kKeys, kQueries)
    float *gradKeys, *gradValues;                       // (kKeys, columns)
    float* gradQueries;                                 // (T, columns)
    float *logSum, *correction;                         // (T)
    std::int64_t bytes;
};

struct Extents {
    std::int64_t rows, columns, units;  // all padded
};
template <class T, Way W>
Extents extents(AttentionShape shape) {
    return {roundUp(shape.context, 16), roundUp(shape.width, kLanes), roundUp(roundUp(shape.width, kTogether<T>) / kPerUnit<T, W>, 4)};
}

template <class T, Way W>
BackwardScratch backwardPieces(AttentionShape shape, void* scratch) {
    constexpr std::int64_t per = kPerUnit<T, W>;
    const Extents e = extents<T, W>(shape);
    Pieces pieces{static_cast<char*>(scratch)};
    BackwardScratch s;
    const std::int64_t staged = e.rows * e.units, paired = e.rows / per * e.columns, tile = kKeys * kQueries;
    s.keys = pieces.take<Unit>(staged);
    s.values = pieces.take<Unit>(staged);
    s.queriesAcross = pieces.take<Unit>(staged);
    s.gradOutAcross = pieces.take<Unit>(staged);
    s.keysDown = pieces.take<Unit>(paired);
    s.queriesDown = pieces.take<Unit>(paired);
    s.gradOutDown = pieces.take<Unit>(paired);
    s.probabilities = pieces.take<Unit>(tile / per);
    s.gradScores = pieces.take<Unit>(tile / per);
    s.gradScorePairs = pieces.take<Unit>(tile / per);
    s.scores = pieces.take<float>(tile);
    s.gradProbabilities = pieces.take<float>(tile);
    s.gradKeys = pieces.take<float>(kKeys * e.columns);
    s.gradValues = pieces.take<float>(kKeys * e.columns);
    s.gradQueries = pieces.take<float>(e.rows * e.columns);
    s.logSum = pieces.take<float>(e.rows);
    s.correction = pieces.take<float>(e.rows);
    s.bytes = pieces.used;
    return s;
}

template <class T, Way W>
std::int64_t scratchBytes(AttentionShape shape) {
    return backwardPieces<T, W>(shape, nullptr).bytes;
}

template <class T, Way W>
void pack(AttentionShape shape, const BackwardScratch& s, HeadRows<const T> q, HeadRows<const T> k, HeadRows<const T> v, HeadRows<const T> out,
          HeadRows<const T> gradOut, const float* logSum) {
    const Extents e = extents<T, W>(shape);
    const std::int64_t context = shape.context, width = shape.width;
    stageRows<T, W>(q, context, width, s.keys, e.units, e.rows);
    transposeUnits(s.keys, e.rows, e.units, s.queriesAcross);
    stageRows<T, W>(gradOut, context, width, s.keys, e.units, e.rows);
    transposeUnits(s.keys, e.rows, e.units, s.gradOutAcross);
    stageRows<T, W>(k, context, width, s.keys, e.units, e.rows);
    stageRows<T, W>(v, context, width, s.values, e.units, e.rows);
    pairRows<T, W>(k, context, width, s.keysDown, e.columns, e.rows);
    pairRows<T, W>(q, context, width, s.queriesDown, e.columns, e.rows);
    pairRows<T, W>(gradOut, context, width, s.gradOutDown, e.columns, e.rows);
    __builtin_memset(s.gradQueries, 0, static_cast<std::size_t>(e.rows * e.columns) * sizeof(float));
    for (std::int64_t i = 0; i < e.rows; ++i) {
        Vec total = zero();
        if (i < context)
            forLanes(width, [&](std::int64_t c, std::int64_t lanes) {
                total = fma(get(out.data + i * out.stride + c, lanes), get(gradOut.data + i * gradOut.stride + c, lanes), total);
            });
        s.correction[i] = sum(total);
        s.logSum[i] = i < context ? logSum[i] : kHuge;  // a padded query sees nothing
    }
}

// A padded query is zeros, which an infinite key or value makes NaN: that would reach the gradients of this key through the sum over its queries.
void clearPadding(const BackwardScratch& s, std::int64_t keys, std::int64_t queries, std::int64_t columns) {
    if (queries == columns) return;
    for (std::int64_t i = 0; i < keys; ++i)
        for (std::int64_t j = queries; j < columns; ++j) s.scores[i * kQueries + j] = s.gradProbabilities[i * kQueries + j] = 0;
}

// Scores and gradients of probabilities of a tile to probabilities and gradients of scores. Key row i is key `first + i`, query column j
// is query `begin + j`; a key after its query gives nothing.
template <class T, Way W>
void softmaxTile(const BackwardScratch& s, float scale, std::int64_t first, std::int64_t keys, std::int64_t begin, std::int64_t columns) {
    constexpr std::int64_t together = kTogether<T>;
    const Vec factor = all(scale);
    for (std::int64_t i = 0; i < keys; i += together)
        for (std::int64_t j = 0; j < columns; j += kLanes) {
            const Vec logs = load(s.logSum + begin + j), correction = load(s.correction + begin + j);
            Vec gradients[together];
            for (std::int64_t h = 0; h < together; ++h) {
                const std::int64_t at = (i + h) * kQueries + j, unseen = first + i + h - (begin + j);
                Vec p = exp(fma(load(s.scores + at), factor, -logs));
                Vec g = p * (load(s.gradProbabilities + at) - correction) * factor;
                if (unseen > 0) {
                    p = firstLanes(zero(), unseen < kLanes ? unseen : kLanes, p);
                    g = firstLanes(zero(), unseen < kLanes ? unseen : kLanes, g);
                }
                putUnits<T, W>(s.probabilities, at, p);
                putUnits<T, W>(s.gradScores, at, g);
                gradients[h] = g;
            }
            putPairs<T, W>(s.gradScorePairs + i / kPerUnit<T, W> * kQueries + j, kQueries, gradients[0], gradients[together - 1]);
        }
}

template <class T, Way W>
void backward(AttentionShape shape, HeadRows<const T> q, HeadRows<const T> k, HeadRows<const T> v, HeadRows<const T> out, HeadRows<const T> gradOut,
              const float* logSum, HeadRows<T> gradQ, HeadRows<T> gradK, HeadRows<T> gradV, void* scratch) {
    constexpr std::int64_t per = kPerUnit<T, W>;
    const BackwardScratch s = backwardPieces<T, W>(shape, scratch);
    Products<T, W> multiply;
    const Extents e = extents<T, W>(shape);
    const std::int64_t C = e.columns;
    pack<T, W>(shape, s, q, k, v, out, gradOut, logSum);
    for (std::int64_t first = 0; first < shape.context; first += kKeys) {
        const std::int64_t keys = shape.context - first < kKeys ? shape.context - first : kKeys, padded = roundUp(keys, kTogether<T>);
        for (std::int64_t begin = first; begin < shape.context; begin += kQueries) {
            const std::int64_t queries = shape.context - begin < kQueries ? shape.context - begin : kQueries, columns = roundUp(queries, 16);
            const bool again = begin > first;
            multiply(padded, columns, e.units, {s.keys + first * e.units, e.units, 1}, s.queriesAcross + begin, e.rows, s.scores, kQueries, false);
            multiply(padded, columns, e.units, {s.values + first * e.units, e.units, 1}, s.gradOutAcross + begin, e.rows, s.gradProbabilities,
                     kQueries, false);
            clearPadding(s, padded, queries, columns);
            softmaxTile<T, W>(s, shape.scale, first, padded, begin, columns);
            multiply(keys, C, columns / per, {s.probabilities, kQueries / per, 1}, s.gradOutDown + begin / per * C, C, s.gradValues, C, again);
            multiply(keys, C, columns / per, {s.gradScores, kQueries / per, 1}, s.queriesDown + begin / per * C, C, s.gradKeys, C, again);
            multiply(queries, C, padded / per, {s.gradScorePairs, 1, kQueries}, s.keysDown + first / per * C, C, s.gradQueries + begin * C, C, true);
        }
        putRows(s.gradKeys, C, keys, shape.width, HeadRows<T>{gradK.data + first * gradK.stride, gradK.stride});
        putRows(s.gradValues, C, keys, shape.width, HeadRows<T>{gradV.data + first * gradV.stride, gradV.stride});
    }
    putRows(s.gradQueries, C, shape.context, shape.width, gradQ);
}

}  // namespace

const AttentionBackwardForms<float> attentionBackwardFloat{{{scratchBytes<float, Way::Units>, backward<float, Way::Units>}}};
const AttentionBackwardForms<Bf16> attentionBackwardBf16{{{scratchBytes<Bf16, Way::Units>, backward<Bf16, Way::Units>},
                                                          {scratchBytes<Bf16, kOther>, backward<Bf16, kOther>},
                                                          {scratchBytes<Bf16, kByTiles>, backward<Bf16, kByTiles>}}};

}  // namespace stepscope::STEPSCOPE_ISA
