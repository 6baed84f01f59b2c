// See CrossEntropyCpu.h: compiled once per instruction set.
#include "core/kernels/cross_entropy/CrossEntropyCpu.h"

#include "core/kernels/isa/Vec.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

constexpr std::int64_t kBlock = 1024;
constexpr float kLowest = -3.0e38f;  // not -inf: a block of -inf less -inf would be NaN

struct Normalizer {
    float reference = kLowest;  // at or above every logit so far
    float sum = 0;              // of e^(logit - reference)
    float plainSum = 0;         // of the logits, for smoothing
};

template <class T>
Normalizer normalizer(const T* row, std::int64_t count, bool wantPlainSum) {
    Normalizer n;
    for (std::int64_t begin = 0; begin < count; begin += kBlock) {
        const T* block = row + begin;
        const std::int64_t length = count - begin < kBlock ? count - begin : kBlock;
        Vec most = all(n.reference);
        forLanes(length, [&](std::int64_t c, std::int64_t lanes) { most = max(firstLanes(get(block + c, lanes), lanes, all(kLowest)), most); });
        const float reference = largest(most);
        // Once a block, and only when the maximum has grown, which it rarely does after the first.
        if (reference > n.reference) {
            n.sum *= __builtin_expf(n.reference - reference);
            n.reference = reference;
        }
        Vec total = zero(), plain = zero();
        forLanes(length, [&](std::int64_t c, std::int64_t lanes) {
            const Vec x = get(block + c, lanes);
            total = total + firstLanes(exp(x - all(n.reference)), lanes, zero());
            if (wantPlainSum) plain = plain + x;
        });
        n.sum += sum(total);
        n.plainSum += sum(plain);
    }
    return n;
}

template <class T>
void rows(CrossEntropyShape shape, const T* logits, const std::int64_t* targets, float* losses, T* gradient, std::int64_t begin, std::int64_t end) {
    const std::int64_t V = shape.vocabulary;
    const float spread = shape.smoothing / static_cast<float>(V);
    for (std::int64_t r = begin; r < end; ++r) {
        const T* row = logits + r * shape.columns;
        const Normalizer n = normalizer(row, V, shape.smoothing > 0);
        const float logSum = n.reference + __builtin_logf(n.sum);
        const float atTarget = sum(load(row + targets[r], 1));
        losses[r] = shape.smoothing > 0 ? logSum - (1.0f - shape.smoothing) * atTarget - spread * n.plainSum : logSum - atTarget;
        if (gradient == nullptr) continue;
        T* to = gradient + r * shape.columns;
        // Against the reference, not the log of the sum: one rounding less.
        const Vec scale = all(shape.gradientScale / n.sum), less = all(-shape.gradientScale * spread), reference = all(n.reference);
        forLanes(V, [&](std::int64_t c, std::int64_t lanes) { put(to + c, fma(exp(get(row + c, lanes) - reference), scale, less), lanes); });
        const float p = __builtin_expf(atTarget - n.reference) / n.sum;
        store(to + targets[r], all(shape.gradientScale * (p - spread - (1.0f - shape.smoothing))), 1);
        forLanes(shape.columns - V, [&](std::int64_t c, std::int64_t lanes) { put(to + V + c, zero(), lanes); });
    }
}

}  // namespace

const CrossEntropyTable<float> crossEntropyFloat{rows<float>};
const CrossEntropyTable<Bf16> crossEntropyBf16{rows<Bf16>};

}  // namespace stepscope::STEPSCOPE_ISA
