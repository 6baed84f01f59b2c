// NextTokens: what a writer of text asks of a model: what follows each of some sequences that grow. Three ways of computing it: `cached`, each token
// once by a Decoder; `kept`, each token once by core/model where the weights are, a GPU; `recomputed`, the whole context anew for each token, where
// there is no memory for either. On the thread that writes text.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/Units.h"
#include "core/inference/GeneratorWeights.h"
#include "core/kernels/packed_rows/PackedRows.h"

namespace stepscope {

struct Continued {
    std::int64_t sequence = 0, id = 0;
};

class NextTokens {
public:
    virtual ~NextTokens() = default;
    // The sequences begin with these ids, at least one each; of more than the model has positions, the last ones count.
    virtual void begin(std::span<const std::vector<std::int64_t>> prompts) = 0;
    // One more token of some sequences, each at most once. Beyond the model's positions the oldest fall out: one a token where the context is
    // recomputed; where it is kept, half of all positions at once, or everything that was kept would be of no use for each token (positions count
    // from the first token of the context).
    virtual void append(std::span<const Continued> tokens) = 0;
    // (vocabulary), of a sequence of the last begin() or append().
    virtual std::span<const float> logits(std::int64_t sequence) const = 0;
    virtual Bytes weightBytes() const = 0;
    virtual Bytes cacheBytes() const = 0;
};

struct NextTokensRoom {
    std::int64_t sequences = 1;
    std::int64_t tokens = 0;  // of the longest, prompt and text together
};

// threads >= 1. Throws what LibTorch throws where memory is not enough.
std::unique_ptr<NextTokens> cachedTokens(const GeneratorWeights& weights, WeightType type, const NextTokensRoom& room, int threads);
// In float32, its keys and values beside the weights. Throws the same.
std::unique_ptr<NextTokens> keptTokens(const GeneratorWeights& weights, const NextTokensRoom& room);
std::unique_ptr<NextTokens> recomputedTokens(const GeneratorWeights& weights);

}  // namespace stepscope
