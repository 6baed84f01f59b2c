// BatchSource: which tokens are in batch number n. Sequence i of a seed starts at a place drawn by a counter-based generator,
// so a batch depends only on (seed, cursor): not on the batch size, the accumulation, the loader or the number of workers.
#pragma once
#include "core/data/Corpus.h"

namespace stepscope {

enum class Split { Train, Validation };

class BatchSource {
public:
    explicit BatchSource(Corpus corpus) : m_corpus(std::move(corpus)) {}

    const Corpus& corpus() const { return m_corpus; }

    // Sequences cursor ... cursor + batch - 1 of `split`.
    // inputs: (batch, context) int64; targets: (batch, context) int64, targets[b][t] = inputs[b][t + 1].
    // Validation ignores the seed: every run sees the same validation sequences, evenly spread.
    void fill(Split split, std::uint64_t seed, std::int64_t cursor, std::int64_t batch, std::int64_t context, std::int64_t* inputs,
              std::int64_t* targets) const;

private:
    Corpus m_corpus;
};

}  // namespace stepscope
