#include "core/data/BatchSource.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/Check.h"
#include "core/base/CounterRandom.h"
#include "core/base/Format.h"
#include "core/data/tokens/TokenRows.h"

namespace stepscope {
namespace {

// Keeps the places of sequences apart from other draws of the same seed (weights, random ids).
constexpr std::uint64_t kBatchStream = 0x62617463682d6964;

// Golden-ratio (Weyl) sequence: however many of its first members are taken, they lie evenly spread over [0, bound).
std::int64_t spread(std::int64_t i, std::int64_t bound) {
    const std::uint64_t fraction = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ULL;
    return static_cast<std::int64_t>((static_cast<unsigned __int128>(fraction) * static_cast<std::uint64_t>(bound)) >> 64);
}

// Sequences cursor ... of a part of `tokens` ids; place(i, bound) of sequence i is below bound.
template <class Place>
std::vector<std::int64_t> startsIn(std::int64_t tokens, std::int64_t cursor, std::int64_t batch, std::int64_t context, Place place) {
    // The last start that leaves room for context + 1 tokens inside this part is bound - 1.
    const std::int64_t bound = tokens - context;
    SS_CHECK(cursor >= 0 && batch >= 0 && context > 0 && bound > 0);
    std::vector<std::int64_t> starts(static_cast<std::size_t>(batch));
    for (std::int64_t b = 0; b < batch; ++b) starts[static_cast<std::size_t>(b)] = place(cursor + b, bound);
    return starts;
}

// Of a text even the loop gets a sequence at a time: tokenising anew for each id is what nobody does.
void loopOver(const TokenRow& row, std::int64_t start, std::int64_t context, std::int64_t* inputs, std::int64_t* targets) {
    if (!row.randomAccess()) {
        std::vector<std::int64_t> window(static_cast<std::size_t>(context) + 1);
        row.copy(start, context + 1, window.data());
        for (std::int64_t t = 0; t < context; ++t) inputs[t] = window[static_cast<std::size_t>(t)];
        for (std::int64_t t = 0; t < context; ++t) targets[t] = window[static_cast<std::size_t>(t) + 1];
        return;
    }
    for (std::int64_t t = 0; t < context; ++t) row.copy(start + t, 1, inputs + t);
    for (std::int64_t t = 0; t < context; ++t) row.copy(start + t + 1, 1, targets + t);
}

void vectorised(const TokenRow& row, std::int64_t start, std::int64_t context, std::int64_t* inputs, std::int64_t* targets) {
    row.copy(start, context, inputs);
    row.copy(start + 1, context, targets);
}

}  // namespace

std::shared_ptr<const TokenRow> BatchSource::tokens(TokenPlace place) const {
    if (place == TokenPlace::Mapped) return m_corpus.tokens;
    if (place == TokenPlace::Text) {
        if (m_corpus.text == nullptr) throw DataChanged(m_corpus.whyNoText);
        return m_corpus.text;
    }
    const std::lock_guard lock(m_ramMutex);
    auto row = m_ram.lock();
    if (row == nullptr) m_ram = row = copiedToRam(m_corpus.tokens, m_corpus.vocabulary);
    return row;
}

Status BatchSource::accepts(const RunPlan& plan) const {
    if (auto fits = checkContext(m_corpus, plan.context); !fits) return fits;
    const TokenPlace place = plan.feed.place;
    if (place == TokenPlace::Text && m_corpus.text == nullptr) return makeError(ErrorCode::Unsupported, m_corpus.whyNoText);
    if (place == TokenPlace::Text) return m_corpus.text->prepare();
    return place == TokenPlace::Ram ? hasRoomForCopy() : Status();  // to a GPU they are copied from where they lie
}

Status BatchSource::hasRoomForCopy() const {
    const std::lock_guard lock(m_ramMutex);
    if (!m_ram.expired()) return {};
    const Bytes size = sizeInRam(*m_corpus.tokens, m_corpus.vocabulary), free = m_corpus.freeMemory();
    if (size <= free) return {};
    return noRoom(fmt::format("data-source=ram copies the tokens to RAM, and those of {} take {} there", m_corpus.description, format::bytes(size)),
                  free, "choose data-source=mmap or less data");
}

std::vector<std::int64_t> BatchSource::starts(Split split, std::uint64_t seed, std::int64_t cursor, std::int64_t batch, std::int64_t context) const {
    if (split == Split::Train) return trainingStarts(m_corpus.trainTokens, seed, cursor, batch, context);
    return startsIn(m_corpus.validationTokens(), cursor, batch, context,
                    [&](std::int64_t i, std::int64_t bound) { return m_corpus.trainTokens + spread(i, bound); });
}

std::vector<std::int64_t> trainingStarts(std::int64_t trainTokens, std::uint64_t seed, std::int64_t cursor, std::int64_t batch,
                                         std::int64_t context) {
    return startsIn(trainTokens, cursor, batch, context, [&](std::int64_t i, std::int64_t bound) {
        return static_cast<std::int64_t>(counterRandomBelow(seed, kBatchStream, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(bound)));
    });
}

void BatchSource::fill(Split split, std::uint64_t seed, std::int64_t cursor, std::int64_t batch, std::int64_t context, std::int64_t* inputs,
                       std::int64_t* targets) const {
    cutBatch(*m_corpus.tokens, BatchCreation::Vectorised, starts(split, seed, cursor, batch, context), context, m_corpus.vocabulary, inputs, targets);
}

void cutBatch(const TokenRow& row, BatchCreation how, const std::vector<std::int64_t>& starts, std::int64_t context, std::int64_t vocabulary,
              std::int64_t* inputs, std::int64_t* targets) {
    std::int64_t largest = 0;
    for (std::size_t b = 0; b < starts.size(); ++b) {
        std::int64_t* in = inputs + static_cast<std::int64_t>(b) * context;
        std::int64_t* out = targets + static_cast<std::int64_t>(b) * context;
        switch (how) {
            case BatchCreation::Loop:
                loopOver(row, starts[b], context, in, out);
                break;
            case BatchCreation::Vectorised:
                vectorised(row, starts[b], context, in, out);
                break;
            case BatchCreation::Strided:
                row.copyPair(starts[b], context, in, out);
                break;
        }
        largest = std::max(largest, in[0]);
        for (std::int64_t t = 0; t < context; ++t) largest = std::max(largest, out[t]);
    }
    if (largest >= vocabulary)
        throw DataChanged(fmt::format("The tokens were overwritten by another program while the run read them: id {} is not below the vocabulary {}",
                                      largest, vocabulary));
}

}  // namespace stepscope
