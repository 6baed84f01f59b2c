// Causal attention of one head on the CPU, forwards and backwards, without a table of scores in memory: tiles of at most 32 x 128 stay in
// cache (Dao et al., "FlashAttention", 2022; one pass over the keys, the sum rescaled when the maximum grows). Called by core/fused and by
// the whole-step program, one call per (batch, head) on any thread. T is float or Bf16; sums are float32. Where the processor has them,
// products of Bf16 are its pair products: probabilities and score gradients are then rounded to Bf16 between two products.
#pragma once
#include "core/kernels/isa/Bf16.h"
#include "core/kernels/isa/Isa.h"

namespace stepscope {

struct AttentionShape {
    std::int64_t context = 0;  // T, rows of q, k and v
    std::int64_t width = 0;    // D, of this head
    float scale = 1;           // of the scores, usually 1 / sqrt(D)
};

// T rows of D elements, `stride` elements from one to the next: heads may lie inside rows of (T, 3C).
template <class T>
struct HeadRows {
    T* data = nullptr;
    std::int64_t stride = 0;
};

template <class T>
struct AttentionForwardTable {
    // Bytes of scratch that one call needs; it must begin at a multiple of 64 and need not be cleared.
    std::int64_t (*scratchBytes)(AttentionShape shape);
    // out[i] = sum over j <= i of softmax(scale q[i].k[j]) v[j]; logSum[i] = log of the sum of e^(scale q[i].k[j]), kept for backward.
    void (*run)(AttentionShape shape, HeadRows<const T> q, HeadRows<const T> k, HeadRows<const T> v, HeadRows<T> out, float* logSum, void* scratch);
};
template <class T>
struct AttentionForwardForms {
    AttentionForwardTable<T> forms[3];  // the second: pairs of Bf16 taken apart, where the set has pairs; the third: AMX's tiles, for Isa::Amx
};
STEPSCOPE_ISA_TABLES(AttentionForwardForms, attentionForward)

template <class T>
struct AttentionBackwardTable {
    std::int64_t (*scratchBytes)(AttentionShape shape);
    // Gradients of q, k and v, set and not added to. They may lie where q, k and v lie: all are read before the first is written.
    void (*run)(AttentionShape shape, HeadRows<const T> q, HeadRows<const T> k, HeadRows<const T> v, HeadRows<const T> out, HeadRows<const T> gradOut,
                const float* logSum, HeadRows<T> gradQ, HeadRows<T> gradK, HeadRows<T> gradV, void* scratch);
};
template <class T>
struct AttentionBackwardForms {
    AttentionBackwardTable<T> forms[3];
};
STEPSCOPE_ISA_TABLES(AttentionBackwardForms, attentionBackward)

// The faster forms on this processor (core/kernels/forms), which give the same bits; where it has AMX, that one, whose bits are its own. Any thread.
template <class T>
const AttentionForwardTable<T>& attentionForward();
template <class T>
const AttentionBackwardTable<T>& attentionBackward();

}  // namespace stepscope
