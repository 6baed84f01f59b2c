// Among whom pruning looks for the smallest, in types and in words. Torch-free, for whoever asks; used by Pruning.h.
#pragma once
#include <string>

#include "core/base/Result.h"

namespace stepscope {

enum class PruneScope {
    Global,  // the weights of all matrices of the blocks together
    Layer,   // those of each matrix: every one loses the same share
    Heads    // whole heads of the attention, of all layers together
};
constexpr PruneScope kAllPruneScopes[]{PruneScope::Global, PruneScope::Layer, PruneScope::Heads};

// "global", "layer", "heads"; the sentence says what each is.
inline const char* toString(PruneScope scope) {
    return scope == PruneScope::Global ? "global" : scope == PruneScope::Layer ? "layer" : "heads";
}
Result<PruneScope> pruneScopeNamed(const std::string& word);

}  // namespace stepscope
