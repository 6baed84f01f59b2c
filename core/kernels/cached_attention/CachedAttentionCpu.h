// Keys and values of one head as they are kept, and attention over them. Called by core/inference; one thread a call. T, in which they are kept, is
// float or Bf16; arithmetic is float32.
#pragma once
#include "core/kernels/cached_attention/CachedAttention.h"
#include "core/kernels/isa/Bf16.h"
#include "core/kernels/isa/Isa.h"

namespace stepscope {

struct CachedHead {
    std::int64_t width = 0;
    float scale = 1;  // of the scores, usually 1 / sqrt(width)
};

template <class T>
struct CachedAttentionTable {
    // Keeps key and value (width each) of one position.
    void (*keep)(CachedHead head, const float* key, const float* value, std::int64_t position, T* keys, T* values);
    // out (width) = attention of `query` over positions [0, positions), at least one. scores: scratch, a multiple of 16 and at least `positions`
    // long.
    void (*attend)(CachedHead head, const float* query, const T* keys, const T* values, std::int64_t positions, float* scores, float* out);
};
STEPSCOPE_ISA_TABLES(CachedAttentionTable, cachedAttention)

}  // namespace stepscope
