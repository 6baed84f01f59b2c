// How a SampleBlock becomes a Chunk of kind "samples/1" and back. Columns as of SliceCodec.h; a value is what differs from the value before it of the
// same series, so that a counter that stands still takes a byte. Called where samples are recorded or imported and by whoever reads a session; any
// thread.
#pragma once
#include "core/base/Result.h"
#include "core/trace/Chunk.h"
#include "core/trace/Sample.h"

namespace stepscope {

constexpr const char* kSamples = "samples/1";
constexpr std::size_t kMostSamples = 1 << 20;       // in one block
constexpr std::size_t kMostSampleSeries = 1 << 16;  // in one block
constexpr std::size_t kLongestSampleName = 4096;    // bytes; what is longer is cut

// Samples need not be in order; what is not finite, of no series or at the clock's very end is left out and counted as invalid. `at`: where a block
// that holds nothing but counts lies.
Chunk encodeSamples(SampleBlock block, TimeNs at = {});

// In order of time, of one instant as they were given. The bytes are a stranger's: limits are checked before memory is taken, and what is wrong is
// one sentence with the place of the byte.
Result<SampleBlock> decodeSamples(const Chunk& chunk);

}  // namespace stepscope
