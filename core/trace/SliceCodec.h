// How a SliceBlock becomes a Chunk of kind "slices/2" and back. Columns of variable-length integers, differences from slice to slice: what the
// recorder packs with zstd comes to a few bytes a slice (tests/sessions/bench/bench_slices prints it). Called where slices are recorded and by
// whoever reads a session; any thread.
#pragma once
#include <string>

#include "core/base/Result.h"
#include "core/trace/Chunk.h"
#include "core/trace/Slice.h"

namespace stepscope {

constexpr const char* kSlices = "slices/2";
constexpr const char* kSlicesBefore = "slices/1";  // without lanes of devices, launches and external ids: still read
inline bool isSlices(const std::string& kind) {
    return kind == kSlices || kind == kSlicesBefore;
}
constexpr std::size_t kMostSlices = 1 << 20;                     // in one block
constexpr std::size_t kLongestSliceName = 65536;                 // bytes; what is longer is cut
constexpr std::size_t kLongestSliceExtra = 65536;                // bytes of SliceArguments::extra; what is longer is left out
constexpr std::size_t kMostSliceStrings = 1 << 18;               // in one block
constexpr std::int64_t kMostSliceCount = std::int64_t{1} << 62;  // of anything that is counted in SliceArguments

// Slices need not be in order; those that cannot be (a negative duration, or less than what they called) are left out and counted as invalid. Its
// lane is SliceThread::laneNumber(). `at`: where a block that holds nothing but counts lies.
Chunk encodeSlices(SliceBlock block, TimeNs at = {});

// By start, those around others first. The bytes are a stranger's: limits are checked before memory is taken, and what is wrong is one sentence with
// the place of the byte.
Result<SliceBlock> decodeSlices(const Chunk& chunk);

}  // namespace stepscope
