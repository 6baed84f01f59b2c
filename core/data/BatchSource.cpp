// See BatchSource.h.
#include "core/data/BatchSource.h"

#include "core/base/Check.h"
#include "core/base/CounterRandom.h"

#include <algorithm>

namespace stepscope {
namespace {

// Keeps the places of sequences apart from other draws of the same seed (weights, random ids).
constexpr std::uint64_t kBatchStream = 0x62617463682d6964;

// Golden-ratio (Weyl) sequence: however many of its first members are taken, they lie evenly spread over [0, bound).
std::int64_t spread(std::int64_t i, std::int64_t bound) {
    const std::uint64_t fraction = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ULL;
    return static_cast<std::int64_t>((static_cast<unsigned __int128>(fraction) * static_cast<std::uint64_t>(bound)) >> 64);
}

}  // namespace

void BatchSource::fill(Split split, std::uint64_t seed, std::int64_t cursor, std::int64_t batch, std::int64_t context, std::int64_t* inputs,
                       std::int64_t* targets) const {
    const bool train = split == Split::Train;
    const std::int64_t begin = train ? 0 : m_corpus.trainTokens;
    // The last start that leaves room for context + 1 tokens inside this part is starts - 1.
    const std::int64_t starts = (train ? m_corpus.trainTokens : m_corpus.validationTokens()) - context;
    SS_CHECK(cursor >= 0 && batch >= 0 && context > 0 && starts > 0);
    for (std::int64_t b = 0; b < batch; ++b) {
        const std::int64_t i = cursor + b;
        const std::int64_t start =
            train
                ? static_cast<std::int64_t>(counterRandomBelow(seed, kBatchStream, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(starts)))
                : spread(i, starts);
        std::int64_t* in = inputs + b * context;
        std::int64_t* out = targets + b * context;
        m_corpus.tokens->copy(begin + start, context, in);
        std::copy(in + 1, in + context, out);
        m_corpus.tokens->copy(begin + start + context, 1, out + context - 1);
    }
}

}  // namespace stepscope
