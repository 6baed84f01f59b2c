// Attention over kept keys and values, compiled once per instruction set.
#include "core/kernels/cached_attention/CachedAttentionCpu.h"

#include "core/kernels/isa/Vec.h"

namespace stepscope::STEPSCOPE_ISA {
namespace {

using i64 = std::int64_t;

constexpr i64 kBlock = 16;  // kKeyBlock
static_assert(kBlock % kLanes == 0);
constexpr int kVectors = static_cast<int>(kBlock / kLanes);
constexpr float kLowest = -3.0e38f;  // not -inf: less itself it would be NaN

template <class T>
void keep(CachedHead head, const float* key, const float* value, i64 position, T* keys, T* values) {
    T* at = keys + position / kBlock * head.width * kBlock + position % kBlock;
    for (i64 d = 0; d < head.width; ++d) store(at + d * kBlock, all(key[d]), 1);
    T* row = values + position * head.width;
    forLanes(head.width, [&](i64 d, i64 lanes) { put(row + d, get(value + d, lanes), lanes); });
}

// N registers of the output, over all positions.
template <class T, int N>
STEPSCOPE_INLINE void mix(const T* values, i64 width, i64 positions, const float* shares, i64 lanes, Vec (&out)[N]) {
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) out[n] = zero();
    for (i64 j = 0; j < positions; ++j) {
        const Vec share = all(shares[j]);
#pragma GCC unroll 4
        for (int n = 0; n < N; ++n) out[n] = fma(share, get(values + j * width + n * kLanes, lanes), out[n]);
    }
}

template <class T>
void attend(CachedHead head, const float* query, const T* keys, const T* values, i64 positions, float* scores, float* out) {
    Vec most = all(kLowest);
    for (i64 first = 0; first < positions; first += kBlock) {
        Vec sums[kVectors];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) sums[v] = zero();
        const T* block = keys + first * head.width;
        for (i64 d = 0; d < head.width; ++d) {
            const Vec q = all(query[d]);
#pragma GCC unroll 4
            for (int v = 0; v < kVectors; ++v) sums[v] = fma(q, load(block + d * kBlock + v * kLanes), sums[v]);
        }
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
            const i64 left = positions - first - v * kLanes, lanes = left < 0 ? 0 : left < kLanes ? left : kLanes;
            const Vec scaled = firstLanes(sums[v] * all(head.scale), lanes, all(kLowest));
            store(scores + first + v * kLanes, scaled);
            most = max(scaled, most);
        }
    }
    const Vec highest = all(largest(most));
    Vec total = zero();
    for (i64 j = 0; j < positions; j += kLanes) {
        const i64 lanes = positions - j < kLanes ? positions - j : kLanes;
        const Vec share = firstLanes(exp(load(scores + j) - highest), lanes, zero());
        store(scores + j, share);
        total = total + share;
    }
    const Vec part = all(1.0f / sum(total));
    i64 d = 0;
    for (; d + 4 * kLanes <= head.width; d += 4 * kLanes) {
        Vec mixed[4];
        mix<T, 4>(values + d, head.width, positions, scores, kLanes, mixed);
#pragma GCC unroll 4
        for (int n = 0; n < 4; ++n) store(out + d + n * kLanes, mixed[n] * part);
    }
    for (; d < head.width; d += kLanes) {
        const i64 lanes = head.width - d < kLanes ? head.width - d : kLanes;
        Vec mixed[1];
        mix<T, 1>(values + d, head.width, positions, scores, lanes, mixed);
        put(out + d, mixed[0] * part, lanes);
    }
}

}  // namespace

const CachedAttentionTable<float> cachedAttentionFloat{keep<float>, attend<float>};
const CachedAttentionTable<Bf16> cachedAttentionBf16{keep<Bf16>, attend<Bf16>};

}  // namespace stepscope::STEPSCOPE_ISA
