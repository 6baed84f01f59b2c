// How an AllocationBlock becomes a Chunk of kind "allocs/1" and back; columns of variable-length integers, differences from one to the next. Called
// where allocations are recorded or imported and by whoever reads a session; any thread.
#pragma once
#include "core/base/Result.h"
#include "core/trace/Allocation.h"
#include "core/trace/Chunk.h"

namespace stepscope {

constexpr const char* kAllocations = "allocs/1";
constexpr std::size_t kMostAllocations = 1 << 20;        // in one block
constexpr std::size_t kMostAllocationStrings = 1 << 18;  // in one block
constexpr std::size_t kLongestAllocationName = 4096;     // bytes; what is longer is cut
constexpr std::size_t kMostLossDevices = 4096;           // in one block

// Allocations need not be in order; what cannot be (a device or a total below -1, the clock's very end) is left out and counted as invalid. `at`:
// where a block that holds nothing but counts lies.
Chunk encodeAllocations(AllocationBlock block, TimeNs at = {});

// In order of time, of one instant as they were given. The bytes are a stranger's: limits are checked before memory is taken, and what is wrong is
// one sentence with the place of the byte.
Result<AllocationBlock> decodeAllocations(const Chunk& chunk);

}  // namespace stepscope
