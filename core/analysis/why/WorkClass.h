// WorkClass: what kind of work an operation is, for people who ask where a step's time goes: few kinds that every form of a step has, whether it runs
// hundreds of operations or one stage a layer. Pure functions.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/trace/Slice.h"

namespace stepscope {

enum class WorkClass : std::uint8_t {
    MatrixProducts,  // of the layers, with what is fused into them
    Attention,       // scores, softmax and weighted sum, whichever back-end
    Normalisation,
    Pointwise,  // activations, sums, dropout, embeddings
    Loss,       // the vocabulary's product with the cross-entropy, which a fused form cannot be told apart from
    Optimizer,  // clipping, AdamW, packing of weights
    Copies,     // casts, transposed copies, concatenation
    Data,       // batches made and moved
    Host,       // everything that computes nothing: views, allocation, autograd's own work, waiting of threads for each other, the loop
    LaunchGaps  // of a step on a GPU: when it had nothing to do
};
constexpr int kWorkClasses = 10;
const char* toString(WorkClass kind);  // "matrix products", ..., as a person reads it

// A difference as the waterfall and all that speak of it write one: "+1.25 ms", "\u22120.4 ms" with a true minus, "0" where it is none.
std::string signedMilliseconds(double ms);

// phase and role: as SliceBlock has them ("backward", "attention/core"); name: of the operation. A Step or Phase slice's own time is Host. Kernels
// and copies of a GPU are told as the operations that launched them, and where those say nothing by their own names.
WorkClass workClass(SliceKind kind, std::string_view name, std::string_view phase, std::string_view role);

}  // namespace stepscope
