// Attention forwards, compiled once per instruction set.
#include "core/kernels/attention/AttentionByTiles.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

// A tile of scores: 16 KiB, beside as much of keys and values in a 48 KiB L1.
constexpr std::int64_t kQueries = 32, kKeys = 128;
constexpr float kLowest = -3.0e38f;  // not -inf: less itself it would be NaN

struct ForwardScratch {
    Unit *queries, *keys, *values, *probabilities;
    float *scores, *out;
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
ForwardScratch forwardPieces(AttentionShape shape, void* scratch) {
    constexpr std::int64_t per = kPerUnit<T, W>;
    const auto [rows, columns, units] = extents<T, W>(shape);
    Pieces pieces{static_cast<char*>(scratch)};
    ForwardScratch s;
    s.queries = pieces.take<Unit>(rows * units);
    s.keys = pieces.take<Unit>(rows * units);
    s.values = pieces.take<Unit>(rows / per * columns);
    s.probabilities = pieces.take<Unit>(kQueries * kKeys / per);
    s.scores = pieces.take<float>(kQueries * kKeys);
    s.out = pieces.take<float>(kQueries * columns);
    s.bytes = pieces.used;
    return s;
}

template <class T, Way W>
std::int64_t scratchBytes(AttentionShape shape) {
    return forwardPieces<T, W>(shape, nullptr).bytes;
}

struct Running {
    float most = kLowest;  // at or above every scaled score of the row so far
    float sum = 0;         // of e^(score - most)
};

// One row of a tile: scores to probabilities against the running maximum. Returns what the sums so far have to be multiplied by.
template <class T, Way W>
float softmaxRow(Running& row, const float* scores, std::int64_t valid, std::int64_t columns, float scale, Unit* probabilities) {
    Vec most = all(kLowest);
    forLanes(valid, [&](std::int64_t c, std::int64_t lanes) { most = max(firstLanes(load(scores + c), lanes, all(kLowest)), most); });
    const float highest = largest(most) * scale, former = row.most;
    if (highest > former) row.most = highest;
    const Vec factor = all(scale), less = all(-row.most);
    Vec total = zero();
    std::int64_t c = 0;
    for (; c < valid; c += kLanes) {
        const std::int64_t lanes = valid - c < kLanes ? valid - c : kLanes;
        const Vec p = firstLanes(exp(fma(load(scores + c), factor, less)), lanes, zero());
        total = total + p;
        putUnits<T, W>(probabilities, c, p);
    }
    for (; c < columns; c += kLanes) putUnits<T, W>(probabilities, c, zero());
    const float rescale = former == row.most ? 1.0f : __builtin_expf(former - row.most);
    row.sum = row.sum * rescale + sum(total);
    return rescale;
}

template <class T, Way W>
void forward(AttentionShape shape, HeadRows<const T> q, HeadRows<const T> k, HeadRows<const T> v, HeadRows<T> out, float* logSum, void* scratch) {
    constexpr std::int64_t per = kPerUnit<T, W>;
    const ForwardScratch s = forwardPieces<T, W>(shape, scratch);
    Products<T, W> multiply;
    const auto [rows, columns, units] = extents<T, W>(shape);
    stageRows<T, W>(k, shape.context, shape.width, s.queries, units, rows);
    transposeUnits(s.queries, rows, units, s.keys);  // (units, rows)
    stageRows<T, W>(q, shape.context, shape.width, s.queries, units, rows);
    pairRows<T, W>(v, shape.context, shape.width, s.values, columns, rows);  // (rows / per, columns)
    for (std::int64_t begin = 0; begin < shape.context; begin += kQueries) {
        const std::int64_t queries = shape.context - begin < kQueries ? shape.context - begin : kQueries;
        Running running[kQueries];
        for (std::int64_t first = 0; first < begin + queries; first += kKeys) {
            const std::int64_t keys = begin + queries - first < kKeys ? begin + queries - first : kKeys, padded = roundUp(keys, 16);
            multiply(queries, padded, units, {s.queries + begin * units, units, 1}, s.keys + first, rows, s.scores, kKeys, false);
            for (std::int64_t i = 0; i < queries; ++i) {
                const std::int64_t seen = begin + i - first + 1, valid = seen < 0 ? 0 : seen < keys ? seen : keys;
                const float rescale =
                    softmaxRow<T, W>(running[i], s.scores + i * kKeys, valid, padded, shape.scale, s.probabilities + i * kKeys / per);
                if (first > 0 && rescale != 1.0f)
                    forLanes(columns,
                             [&](std::int64_t c, std::int64_t) { store(s.out + i * columns + c, load(s.out + i * columns + c) * all(rescale)); });
            }
            multiply(queries, columns, padded / per, {s.probabilities, kKeys / per, 1}, s.values + first / per * columns, columns, s.out, columns,
                     first > 0);
        }
        for (std::int64_t i = 0; i < queries; ++i) {
            const Vec share = all(1.0f / running[i].sum);
            T* to = out.data + (begin + i) * out.stride;
            forLanes(shape.width, [&](std::int64_t c, std::int64_t lanes) { put(to + c, get(s.out + i * columns + c, lanes) * share, lanes); });
            logSum[begin + i] = running[i].most + __builtin_logf(running[i].sum);
        }
    }
}

}  // namespace

const AttentionForwardForms<float> attentionForwardFloat{{{scratchBytes<float, Way::Units>, forward<float, Way::Units>}}};
const AttentionForwardForms<Bf16> attentionForwardBf16{{{scratchBytes<Bf16, Way::Units>, forward<Bf16, Way::Units>},
                                                        {scratchBytes<Bf16, kOther>, forward<Bf16, kOther>},
                                                        {scratchBytes<Bf16, kByTiles>, forward<Bf16, kByTiles>}}};

}  // namespace stepscope::STEPSCOPE_ISA
