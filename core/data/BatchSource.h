// BatchSource: which tokens are in batch number n. Sequence i of a seed starts at a place drawn by a counter-based generator,
// so a batch depends only on (seed, cursor): not on the batch size, the accumulation, the loader or the number of workers.
// Shared by the Programs of a run; any thread.
#pragma once
#include <mutex>
#include <vector>

#include "core/data/Corpus.h"
#include "core/events/RunPlan.h"

namespace stepscope {

enum class Split { Train, Validation };

class BatchSource {
public:
    explicit BatchSource(Corpus corpus) : m_corpus(std::move(corpus)) {}

    const Corpus& corpus() const { return m_corpus; }

    // The tokens at `place`: the same ids everywhere. Copies are made once and live as long as somebody holds them.
    // Throws DataChanged when there is no text.
    std::shared_ptr<const TokenRow> tokens(TokenPlace place) const;

    // Whether this data can serve a plan: its context fits, there is a text for data-source=text, and room for a copy.
    Status accepts(const RunPlan& plan) const;

    // Where sequences cursor ... cursor + batch - 1 of `split` begin in the row.
    // Validation ignores the seed: every run sees the same validation sequences, evenly spread.
    std::vector<std::int64_t> starts(Split split, std::uint64_t seed, std::int64_t cursor, std::int64_t batch, std::int64_t context) const;

    // Those sequences. inputs: (batch, context) int64; targets: (batch, context) int64, targets[b][t] = inputs[b][t + 1].
    void fill(Split split, std::uint64_t seed, std::int64_t cursor, std::int64_t batch, std::int64_t context, std::int64_t* inputs,
              std::int64_t* targets) const;

private:
    Status hasRoomForCopy() const;

    Corpus m_corpus;
    mutable std::mutex m_ramMutex;
    mutable std::weak_ptr<const TokenRow> m_ram;
};

// BatchSource::starts of the training part, for whoever has no BatchSource any more: loader workers.
std::vector<std::int64_t> trainingStarts(std::int64_t trainTokens, std::uint64_t seed, std::int64_t cursor, std::int64_t batch, std::int64_t context);

// Cuts the sequences that begin at `starts` out of `row`; shapes as of BatchSource::fill. Throws DataChanged, also when an id is not
// below `vocabulary`: then a file was overwritten, and the model would read beyond its tables.
void cutBatch(const TokenRow& row, BatchCreation how, const std::vector<std::int64_t>& starts, std::int64_t context, std::int64_t vocabulary,
              std::int64_t* inputs, std::int64_t* targets);

}  // namespace stepscope
