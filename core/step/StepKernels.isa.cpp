// The row and tile operations behind StepKernels.h, compiled once for each instruction set.
#include "core/step/StepKernelsTable.h"

#include "core/kernels/gemm/PairRows.h"
#include "core/kernels/isa/Vec.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

using namespace step;

using i64 = std::int64_t;


constexpr float kNormEpsilon = 1e-5f;  // GPT-2's layer_norm_epsilon
constexpr float kNegativeInfinity = -__builtin_inff();

inline i64 least(i64 a, i64 b) { return a < b ? a : b; }

template <typename E>
E* at(void* base, i64 offset) {
    return static_cast<E*>(base) + offset;
}
template <typename E>
const E* at(const void* base, i64 offset) {
    return static_cast<const E*>(base) + offset;
}

STEPSCOPE_INLINE float total(Vec v) { return sum(v); }
// Lanes beyond the first n get `fill`.
STEPSCOPE_INLINE Vec keepOr(Vec v, float fill, i64 n) { return n >= kLanes ? v : firstLanes(v, n, all(fill)); }
STEPSCOPE_INLINE Vec keep(Vec v, i64 n) { return keepOr(v, 0.0f, n); }

// gelu_tanh(x) = x * s, s = sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3) (Hendrycks and Gimpel 2016).
constexpr float kTwoRoot = 1.5957691216057308f, kCubic = 0.044715f;
template <typename E>
STEPSCOPE_INLINE Vec gate(Vec x, Vec square) {
    const Vec u = x * fma(square, all(-kTwoRoot * kCubic), all(-kTwoRoot));
    return all(1.0f) / (all(1.0f) + expOf(E{}, min(u, all(88.0f)), zero()));
}
template <typename E>
STEPSCOPE_INLINE Vec gelu(Vec x) {
    return x * gate<E>(x, x * x);
}
template <typename E>
STEPSCOPE_INLINE Vec geluSlope(Vec x) {
    const Vec square = x * x, s = gate<E>(x, square);
    const Vec du = fma(square, all(3 * kTwoRoot * kCubic), all(kTwoRoot));
    return fma(x * s * (all(1.0f) - s), du, s);
}

// The rows of a tile, just written to `rows`, once more as words of the panel they belong to. Columns beyond the last become zeros.
template <typename E>
STEPSCOPE_INLINE void pairTile(const E* from, i64 stride, i64 row, i64 column, i64 rows, i64 columns, std::uint32_t* pairs, i64 panelStride) {
    std::uint32_t* to = pairs + column / gemm::kPanel * panelStride + row / kPerWord<E> * gemm::kPanel;
    for (i64 r = 0; r < rows; r += kPerWord<E>, to += gemm::kPanel) {
        const E* even = from + r * stride;
        const E* odd = r + 1 < rows ? even + stride : nullptr;
        if (columns == gemm::kPanel) {
            pairRows(even, odd, gemm::kPanel, to);
            continue;
        }
        pairRows(even, odd, columns, to);
        for (i64 c = columns; c < gemm::kPanel; ++c) to[c] = 0;
    }
}

void embed(const i64* ids, i64 firstPosition, i64 context, i64 rows, i64 width, const float* tokenTable, const float* positionTable, float* x) {
    i64 position = firstPosition;
    for (i64 r = 0; r < rows; ++r) {
        const float* token = tokenTable + ids[r] * width;
        const float* place = positionTable + position * width;
        forLanes(width, [&](i64 c, i64 n) { put(x + r * width + c, (get(token + c, n) + get(place + c, n)), n); });
        if (++position == context) position = 0;
    }
}

template <typename E>
void normForward(const float* x, i64 rows, i64 width, const float* weight, const float* bias, void* out, i64 stride, float* mean, float* inverse) {
    const float share = 1.0f / static_cast<float>(width);
    for (i64 r = 0; r < rows; ++r) {
        const float* row = x + r * width;
        Vec sum = zero();
        forLanes(width, [&](i64 c, i64 n) { sum = (sum + get(row + c, n)); });
        const float mu = total(sum) * share;
        Vec squares = zero();
        forLanes(width, [&](i64 c, i64 n) {
            const Vec d = keep((get(row + c, n) - all(mu)), n);
            squares = fma(d, d, squares);
        });
        const float inv = 1.0f / __builtin_sqrtf(total(squares) * share + kNormEpsilon);
        mean[r] = mu;
        inverse[r] = inv;
        auto* to = at<E>(out, r * stride);
        forLanes(width, [&](i64 c, i64 n) {
            const Vec normed = ((get(row + c, n) - all(mu)) * all(inv));
            put(to + c, fma(normed, get(weight + c, n), get(bias + c, n)), n);
        });
    }
}

void normBackward(const float* dy, i64 stride, const float* x, i64 rows, i64 width, const float* weight, const float* mean, const float* inverse, float* dx,
                  bool addTo, float* weightGradient, float* biasGradient) {
    const float share = 1.0f / static_cast<float>(width);
    for (i64 r = 0; r < rows; ++r) {
        const float *row = x + r * width, *g = dy + r * stride;
        float* to = dx + r * width;
        const Vec mu = all(mean[r]), inv = all(inverse[r]);
        Vec sum = zero(), dot = zero();
        forLanes(width, [&](i64 c, i64 n) {
            const Vec d = get(g + c, n), normed = keep(((get(row + c, n) - mu) * inv), n), w = (d * get(weight + c, n));
            sum = (sum + w);
            dot = fma(w, normed, dot);
            put(weightGradient + c, fma(d, normed, get(weightGradient + c, n)), n);
            put(biasGradient + c, (d + get(biasGradient + c, n)), n);
        });
        const Vec a = all(total(sum) * share), b = all(total(dot) * share);
        forLanes(width, [&](i64 c, i64 n) {
            const Vec normed = ((get(row + c, n) - mu) * inv), w = (get(g + c, n) * get(weight + c, n));
            const Vec d = (inv * (w - fma(normed, b, a)));
            put(to + c, addTo ? (d + get(to + c, n)) : d, n);
        });
    }
}

template <typename E>
void convert(const float* from, i64 fromStride, i64 rows, i64 columns, void* to, i64 toStride, float* columnSum) {
    for (i64 r = 0; r < rows; ++r) {
        auto* out = at<E>(to, r * toStride);
        const float* in = from + r * fromStride;
        if (columnSum == nullptr) {
            forLanes(columns, [&](i64 c, i64 n) { put(out + c, get(in + c, n), n); });
            continue;
        }
        forLanes(columns, [&](i64 c, i64 n) {
            put(out + c, get(in + c, n), n);
            put(columnSum + c, (get(columnSum + c, n) + get(out + c, n)), n);
        });
    }
}

template <typename E>
void columnSum(const void* from, i64 stride, i64 rows, i64 columns, float* sum) {
    for (i64 r = 0; r < rows; ++r) {
        const auto* in = at<E>(from, r * stride);
        forLanes(columns, [&](i64 c, i64 n) { put(sum + c, (get(sum + c, n) + get(in + c, n)), n); });
    }
}

template <typename E>
void biasTile(void* context, float* tile, i64 row, i64 column, i64 rows, i64 columns) {
    const auto& t = *static_cast<const BiasTile*>(context);
    for (i64 r = 0; r < rows; ++r) {
        auto* out = at<E>(t.out, (row + r) * t.stride + column);
        const float* in = tile + r * gemm::kPanel;
        forLanes(columns, [&](i64 c, i64 n) {
            const Vec v = get(in + c, n);
            put(out + c, t.bias == nullptr ? v : (v + get(t.bias + column + c, n)), n);
        });
    }
}

void residualTile(void* context, float* tile, i64 row, i64 column, i64 rows, i64 columns) {
    const auto& t = *static_cast<const ResidualTile*>(context);
    for (i64 r = 0; r < rows; ++r) {
        const i64 place = (row + r) * t.stride + column;
        const float* in = tile + r * gemm::kPanel;
        forLanes(columns, [&](i64 c, i64 n) {
            Vec v = (get(t.from + place + c, n) + get(in + c, n));
            if (t.bias != nullptr) v = (v + get(t.bias + column + c, n));
            put(t.out + place + c, v, n);
        });
    }
}

template <typename E>
void geluTile(void* context, float* tile, i64 row, i64 column, i64 rows, i64 columns) {
    const auto& t = *static_cast<const GeluTile*>(context);
    auto* after = at<E>(t.after, row * t.afterStride + column);
    for (i64 r = 0; r < rows; ++r) {
        auto* before = at<E>(t.before, (row + r) * t.beforeStride + column);
        const float* in = tile + r * gemm::kPanel;
        forLanes(columns, [&](i64 c, i64 n) {
            Vec v = get(in + c, n);
            if (t.bias != nullptr) v = v + get(t.bias + column + c, n);
            put(before + c, v, n);
            put(after + r * t.afterStride + c, gelu<E>(v), n);
        });
    }
    if (t.pairs != nullptr) pairTile(after, t.afterStride, row, column, rows, columns, t.pairs, t.panelStride);
}

template <typename E>
void geluBackwardTile(void* context, float* tile, i64 row, i64 column, i64 rows, i64 columns) {
    const auto& t = *static_cast<const GeluBackwardTile*>(context);
    const auto* before = at<E>(t.before, row * t.beforeStride + column);
    auto* out = at<E>(t.out, row * t.outStride + column);
    forLanes(columns, [&](i64 c, i64 n) {
        Vec sum = zero();
        for (i64 r = 0; r < rows; ++r) {
            const Vec d = get(tile + r * gemm::kPanel + c, n) * geluSlope<E>(get(before + r * t.beforeStride + c, n));
            put(out + r * t.outStride + c, d, n);
            sum = sum + d;
        }
        if (t.biasGradient != nullptr) put(t.biasGradient + column + c, get(t.biasGradient + column + c, n) + sum, n);
    });
    if (t.pairs != nullptr) pairTile(out, t.outStride, row, column, rows, columns, t.pairs, t.panelStride);
}

template <typename E>
void softmax(const float* scores, i64 stride, i64 rows, i64 firstRow, i64 columns, i64 padded, float scale, void* out, i64 outStride, float* logSum) {
    for (i64 r = 0; r < rows; ++r) {
        const float* in = scores + r * stride;
        const i64 seen = least(columns, firstRow + r + 1);
        auto* to = at<E>(out, r * outStride);
        Vec greatest = all(kNegativeInfinity);
        forLanes(seen, [&](i64 c, i64 n) { greatest = max(greatest, keepOr(get(in + c, n), kNegativeInfinity, n)); });
        const float top = largest(greatest) * scale;
        Vec sum = zero();
        forLanes(seen, [&](i64 c, i64 n) { sum = (sum + keep(expOf(E{}, get(in + c, n) * all(scale), all(top)), n)); });
        const float log = top + __builtin_logf(total(sum));
        logSum[r] = log;
        // Normalised by the same expression as in the backward pass, so that both see the same weights.
        forLanes(seen, [&](i64 c, i64 n) { put(to + c, expOf(E{}, get(in + c, n) * all(scale), all(log)), n); });
        for (i64 c = seen; c < padded; ++c) to[c] = E{};
    }
}

template <typename E>
void softmaxBackward(float* scores, const float* dP, i64 stride, i64 rows, i64 firstRow, i64 columns, i64 padded, float scale, const float* logSum,
                     void* weights, void* dScores, i64 outStride) {
    for (i64 r = 0; r < rows; ++r) {
        float* in = scores + r * stride;
        const float* d = dP + r * stride;
        const i64 seen = least(columns, firstRow + r + 1);
        auto *p = at<E>(weights, r * outStride), *ds = at<E>(dScores, r * outStride);
        Vec dot = zero();
        forLanes(seen, [&](i64 c, i64 n) {
            const Vec w = keep(expOf(E{}, get(in + c, n) * all(scale), all(logSum[r])), n);
            put(p + c, w, n);
            put(in + c, w, n);
            dot = fma(w, get(d + c, n), dot);
        });
        const float share = total(dot);
        forLanes(seen, [&](i64 c, i64 n) {
            put(ds + c, get(in + c, n) * (get(d + c, n) - all(share)) * all(scale), n);
        });
        for (i64 c = seen; c < padded; ++c) p[c] = ds[c] = E{};
    }
}

void addScaled(const float* from, i64 count, float factor, float* to) {
    forLanes(count, [&](i64 c, i64 n) { put(to + c, fma(get(from + c, n), all(factor), get(to + c, n)), n); });
}

// Blocks of float32 sums are added in double: 100 million squares would lose digits in one float32 sum.
double sumOfSquares(const float* values, i64 count) {
    double squares = 0;
    for (i64 first = 0; first < count; first += 4096) {
        const i64 here = least(4096, count - first);
        Vec a = zero(), b = zero();
        i64 c = 0;
        for (; c + 2 * kLanes <= here; c += 2 * kLanes) {
            const Vec x = load(values + first + c), y = load(values + first + c + kLanes);
            a = fma(x, x, a);
            b = fma(y, y, b);
        }
        for (; c < here; c += kLanes) {
            const Vec x = get(values + first + c, least(kLanes, here - c));
            a = fma(x, x, a);
        }
        squares += static_cast<double>(total(a + b));
    }
    return squares;
}

template <typename E>
void adamW(AdamWRange range, i64 count, AdamWScalars s) {
    const Vec clip = all(s.clip), keepFactor = all(s.keep), beta1 = all(s.beta1), rest1 = all(1.0f - s.beta1), beta2 = all(s.beta2), rest2 = all(1.0f - s.beta2);
    const Vec step = all(-s.stepSize), root = all(1.0f / s.secondRoot), epsilon = all(s.epsilon);
    auto* low = at<E>(range.low, 0);
    forLanes(count, [&](i64 c, i64 n) {
        const Vec g = (get(range.gradient + c, n) * clip);
        const Vec m = fma(rest1, g, (beta1 * get(range.first + c, n)));
        const Vec v = fma((rest2 * g), g, (beta2 * get(range.second + c, n)));
        const Vec w = fma(step, (m / ((sqrt(v) * root) + epsilon)), (keepFactor * get(range.weight + c, n)));
        put(range.first + c, m, n);
        put(range.second + c, v, n);
        put(range.weight + c, w, n);
        if (low != nullptr) put(low + c, w, n);
    });
}

template <typename E>
constexpr Kernels tableOf() {
    return {.embed = embed,
            .normForward = normForward<E>,
            .normBackward = normBackward,
            .convert = convert<E>,
            .columnSum = columnSum<E>,
            .biasTile = biasTile<E>,
            .residualTile = residualTile,
            .geluTile = geluTile<E>,
            .geluBackwardTile = geluBackwardTile<E>,
            .softmax = softmax<E>,
            .softmaxBackward = softmaxBackward<E>,
            .addScaled = addScaled,
            .sumOfSquares = sumOfSquares,
            .adamW = adamW<E>};
}

}  // namespace

extern const step::Table stepTable;  // a constant is local to its file otherwise
const step::Table stepTable = {.kernels = {tableOf<float>(), tableOf<Bf16>()}};

}  // namespace stepscope::STEPSCOPE_ISA
