// StepPlan: every buffer of a StepEngine, laid out once. N rows, C width, F width inside the MLP; E = bf16 or float32; "words" as in Gemm.h.
// *Pairs are operands for products that sum over rows (weight gradients): panels of 32 columns, steps(N) words each.
#pragma once
#include <cstddef>

#include "core/kernels/isa/Bf16.h"
#include "core/step/StepEngine.h"

namespace stepscope {

// Elements as the words that an operand A is made of.
inline const std::uint32_t* wordsOf(const std::byte* elements) {
    return reinterpret_cast<const std::uint32_t*>(elements);
}

// function(E{}) for elements whose type is known at run time.
template <class Function>
void withElement(gemm::Element element, Function&& function) {
    if (element == gemm::Element::Bf16)
        function(Bf16{});
    else
        function(float{});
}

struct NormPlan {
    float* input = nullptr;                  // (N, C)
    float *mean = nullptr, *rstd = nullptr;  // (N)
};

// Half of a block. Where the norm comes first, its input is the stream before the branch, and the stream after it has a buffer of its own; where it
// comes last, its input is the sum, and one stream is worked on in place.
struct BranchPlan {
    float *before = nullptr, *after = nullptr;  // residual stream, (N, C)
    NormPlan norm;
    std::vector<gemm::PackedLinear> in;
    gemm::PackedLinear out;
    std::uint32_t *inPairs = nullptr, *outPairs = nullptr;  // what the products read; outPairs of attention and GELU are packed in backward
};

struct LayerPlan {
    BranchPlan attention, feedForward;
    float* logSum = nullptr;            // (batch, heads, context)
    std::byte* attended = nullptr;      // (N, C) E
    std::byte* qkvRows = nullptr;       // (N, 3 parts) E
    std::byte* expandedRows = nullptr;  // (N, hiddenRows) E, before the activation
};

// Gradients of what one layer's products gave. Two sets taken in turn: while one worker still multiplies those of a layer, another may write the
// next.
struct BranchDeltas {
    std::vector<std::uint32_t*> in;
    std::uint32_t* out = nullptr;
};
struct LayerDeltas {
    BranchDeltas attention, feedForward;
};

struct StepEngine::Plan {
    std::vector<LayerPlan> layers;
    float* gradients = nullptr;  // (size)
    float* output = nullptr;     // residual stream after the last block, (N, C)
    NormPlan norm;
    std::byte* hidden = nullptr;                      // (N, C) E, what the head reads
    std::byte *dAttended = nullptr, *dQkv = nullptr;  // (N, C) and (N, 3 parts) E
    float* dx = nullptr;                              // (N, C) gradient of the residual stream
    LayerDeltas deltas[2];
    float *cosines = nullptr, *sines = nullptr;  // of RoPE, (context, half a head)
    struct Worker {
        std::byte *normed = nullptr, *delta = nullptr, *activated = nullptr, *dExpanded = nullptr;  // row blocks, E
        float* gradient = nullptr;                                                                  // row block, (rows, C)
        void* scratch = nullptr;                                                                    // attention's, for one head of one sequence
        // gradients of biases and norms, and a block of new weights
        float* vectors = nullptr;
        std::byte* low = nullptr;
    };
    std::vector<Worker> workers;
    std::vector<double> partial;  // per worker
};

}  // namespace stepscope
