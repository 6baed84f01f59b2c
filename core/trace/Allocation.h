// Allocation: memory that was taken or given back at an instant, and what is in use then where that is known. AllocationBlock: a few thousand of them
// of one lane with their kinds and owners, recorded or imported, stored (AllocationCodec.h), drawn and added up. A block stands for itself.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace stepscope {

struct Allocation {
    std::int64_t at = 0;               // ns of the session's clock
    std::uint64_t address = 0;         // 0: unknown
    std::int64_t bytes = 0;            // taken; given back where it is negative
    std::int64_t device = -1;          // ordinal of the device whose memory it is; -1: the host's
    std::int64_t totalAllocated = -1;  // bytes in use on that device afterwards; -1: unknown
    std::int64_t totalReserved = -1;   //   and held by the allocator
    std::uint32_t kind = 0;            // a place in AllocationBlock::strings: "weights", "activations"; 0: unknown
    std::uint32_t owner = 0;           //   who took it, the name of an operation; 0: unknown

    bool operator==(const Allocation&) const = default;
};

// Of the allocations that could not be kept, those of one device's memory.
struct LostAllocations {
    std::int64_t device = -1;  // -1: the host's
    std::int64_t lost = 0;

    bool operator==(const LostAllocations&) const = default;
};

struct AllocationBlock {
    std::int64_t lane = 0;                  // where it is drawn: a number that the session's other lanes of allocations do not have
    std::int64_t process = 0;               // of the system
    std::int64_t thread = 0;                //   that took the memory; 0: unknown
    std::int64_t rank = 0;                  // which of the workers of a distributed run
    std::int64_t lost = 0;                  // allocations that could not be kept since the block before
    std::int64_t invalid = 0;               //   and whose numbers cannot be
    std::vector<LostAllocations> lostOf{};  // whose memory the lost ones were, where that is known; no more than `lost` together
    std::vector<std::string> strings{std::string()};
    std::vector<Allocation> allocations;

    bool operator==(const AllocationBlock&) const = default;
};

}  // namespace stepscope
