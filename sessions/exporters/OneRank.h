// OneRank: of which of several workers an export of captures is; nothing: of all of them. Readers of traces want a file for each worker. Used by the
// exporters of captures, on their callers' threads.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "core/base/Result.h"
#include "core/trace/Allocation.h"
#include "core/trace/Sample.h"
#include "core/trace/Slice.h"

namespace stepscope {

using OneRank = std::optional<std::int64_t>;

inline bool isOfRank(const OneRank& asked, std::int64_t rank) {
    return !asked || *asked == rank;
}
inline bool isOfRank(const OneRank& asked, const SliceBlock& block) {
    return isOfRank(asked, block.thread.rank);
}
inline bool isOfRank(const OneRank& asked, const SampleBlock& block) {
    return isOfRank(asked, block.rank);
}
inline bool isOfRank(const OneRank& asked, const AllocationBlock& block) {
    return isOfRank(asked, block.rank);
}

// NotFound, where others were captured and this one was not: which there are.
Status rankIsThere(const OneRank& asked, std::int64_t session, const std::set<std::int64_t>& captured);
// Of a trace that has all of several: how to have one alone, as who reads it takes all of it for the part of one. Empty: it has no several.
std::string severalRanksSentence(const std::string& database, std::int64_t session);

}  // namespace stepscope
