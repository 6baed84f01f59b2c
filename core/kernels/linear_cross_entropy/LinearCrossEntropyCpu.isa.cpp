// What linear + cross-entropy does beside its products, compiled once per instruction set.
#include "core/kernels/linear_cross_entropy/LinearCrossEntropyCpu.h"

#include "core/kernels/gemm/PairRows.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

using i64 = std::int64_t;

constexpr float kLowest = -3.0e38f;  // not -inf: a row of -inf less -inf would be NaN

// The reference of a row, from its first columns or lifted.
void refer(LogitsTile& t, const float* in, i64 row, i64 columns, bool fresh) {
    Vec greatest = all(kLowest);
    forLanes(columns, [&](i64 c, i64 n) { greatest = max(greatest, firstLanes(get(in + c, n), n, all(kLowest))); });
    const float top = largest(greatest);
    float* sum = t.sum + row * LogitsTile::kSumLanes;
    if (fresh) {
        t.reference[row] = top;
        for (i64 lane = 0; lane < LogitsTile::kSumLanes; ++lane) sum[lane] = 0;
    } else if (top > t.reference[row] + LogitsTile::kLift) {
        const float factor = __builtin_expf(t.reference[row] - top);
        t.reference[row] = top;
        for (i64 lane = 0; lane < LogitsTile::kSumLanes; ++lane) sum[lane] *= factor;
        if (t.lift != nullptr) t.lift(t.owner, row, factor);
    }
}

template <typename E>
void logits(void* context, float* tile, i64 row, i64 column, i64 rows, i64 columns) {
    auto& t = *static_cast<LogitsTile*>(context);
    const i64 first = t.firstColumn + column;
    if (first == 0) {
        for (i64 r = 0; r < rows; ++r) refer(t, tile + r * gemm::kPanel, row + r, columns, true);
    } else {
        // One question for the whole tile; almost never yes.
        Vec excess = all(kLowest);
        for (i64 r = 0; r < rows; ++r) {
            const Vec reference = all(t.reference[row + r]);
            for (i64 c = 0; c < columns; c += kLanes) excess = max(excess, load(tile + r * gemm::kPanel + c) - reference);
        }
        if (largest(excess) > LogitsTile::kLift)
            for (i64 r = 0; r < rows; ++r) refer(t, tile + r * gemm::kPanel, row + r, columns, false);
    }
    E scratch[gemm::kPanel];
    for (i64 r = 0; r < rows; ++r) {
        const i64 here = row + r, wanted = t.targets[here] - first;
        const float* in = tile + r * gemm::kPanel;
        if (wanted >= 0 && wanted < columns) t.target[here] = in[wanted];
        const Vec reference = all(t.reference[here]);
        auto* out = t.rowMajor == nullptr ? scratch : static_cast<E*>(t.rowMajor) + here * t.tileWidth + column;
        float* sums = t.sum + here * LogitsTile::kSumLanes;
        Vec sum = load(sums);
        for (i64 c = 0; c < gemm::kPanel; c += kLanes) {
            // Lanes beyond the vocabulary get no probability.
            const i64 n = columns - c;
            const Vec e = n >= kLanes ? expOf(E{}, load(in + c), reference)
                          : n <= 0    ? zero()
                                      : firstLanes(expOf(E{}, load(in + c), reference), n, zero());
            sum = sum + e;
            store(out + c, e);
        }
        store(sums, sum);
    }
    if (t.paired == nullptr) return;
    const E* from = static_cast<E*>(t.rowMajor) + row * t.tileWidth + column;
    for (i64 r = 0; r < rows; r += kPerWord<E>, from += kPerWord<E> * t.tileWidth)
        pairRows(from, r + 1 < rows ? from + t.tileWidth : nullptr, gemm::kPanel, t.paired + (row + r) / kPerWord<E> * t.tileWidth + column);
}

template <typename E>
void finish(const FinishedRows& of) {
    const Vec less = all(-of.less), spread = all(-of.spread);
    for (i64 r = 0; r < of.rows; ++r) {
        const Vec scale = all(of.share / of.sum[r]);
        const float* target = of.table + of.targets[r] * of.width;
        float* d = of.dHidden + r * of.width;
        const E* hidden = static_cast<const E*>(of.hidden) + r * of.hiddenStride;
        E* scaled = static_cast<E*>(of.scaled) + r * of.scaledStride;
        E* low = of.low == nullptr ? nullptr : static_cast<E*>(of.low) + r * of.width;
        forLanes(of.width, [&](i64 c, i64 n) {
            // The target's row as the products saw it: subtracting it unrounded would leave the rounding of all rows' weights in the sum, in one
            // direction for every token.
            put(scaled + c, get(target + c, n), n);
            Vec gradient = fma(get(scaled + c, n), less, get(d + c, n) * scale);
            if (of.tableSum != nullptr) gradient = fma(get(of.tableSum + c, n), spread, gradient);
            put(d + c, gradient, n);
            if (low != nullptr) put(low + c, gradient, n);
            put(scaled + c, get(hidden + c, n) * scale, n);
        });
    }
}

template <typename E>
void lower(const float* from, i64 count, void* to) {
    forLanes(count, [&](i64 c, i64 n) { put(static_cast<E*>(to) + c, get(from + c, n), n); });
}

template <typename E>
void sumLowered(const float* from, i64 stride, i64 rows, i64 columns, float* to) {
    forLanes(columns, [&](i64 c, i64 n) { put(to + c, zero(), n); });
    for (i64 r = 0; r < rows; ++r)
        forLanes(columns, [&](i64 c, i64 n) {
            E rounded[kLanes];
            store(rounded, get(from + r * stride + c, n));
            put(to + c, load(rounded) + get(to + c, n), n);
        });
}

template <typename E>
float dot(const void* elements, const float* with, i64 count) {
    Vec total = zero();
    forLanes(count, [&](i64 c, i64 n) { total = fma(get(static_cast<const E*>(elements) + c, n), get(with + c, n), total); });
    return sum(total);
}

template <typename E>
void add(const E* from, i64 count, float factor, float* to) {
    forLanes(count, [&](i64 c, i64 n) { put(to + c, fma(get(from + c, n), all(factor), get(to + c, n)), n); });
}
template <typename E>
void addElements(const void* from, i64 count, float factor, float* to) {
    add(static_cast<const E*>(from), count, factor, to);
}

template <typename E>
constexpr LinearCrossEntropyTable tableOf() {
    return {.logits = logits<E>,
            .finish = finish<E>,
            .lower = lower<E>,
            .sumLowered = sumLowered<E>,
            .dot = dot<E>,
            .addElements = addElements<E>,
            .add = add<float>};
}

}  // namespace

extern const LinearCrossEntropyTable linearCrossEntropyFloat, linearCrossEntropyBf16;  // a constant is local to its file otherwise
const LinearCrossEntropyTable linearCrossEntropyFloat = tableOf<float>(), linearCrossEntropyBf16 = tableOf<Bf16>();

}  // namespace stepscope::STEPSCOPE_ISA
