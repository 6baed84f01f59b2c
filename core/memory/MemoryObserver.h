// MemoryObserver: who hears of each block of host memory that LibTorch is given and gives back (HostAllocator). Several may listen, and begin or stop
// while other threads allocate. Where nobody does it costs the load of a number.
#pragma once
#include <cstdint>

#include "core/base/ObserverList.h"

namespace stepscope {

// Called inside the allocator, on the thread that asks it: who listens takes no memory from LibTorch there. A block's end is told before anybody can
// be given its memory again. live: what all blocks hold then, this one included or not any more.
class MemoryObserver {
public:
    virtual ~MemoryObserver() = default;
    virtual void taken(const void* block, std::int64_t bytes, std::int64_t live) noexcept = 0;
    virtual void givenBack(const void* block, std::int64_t bytes, std::int64_t live) noexcept = 0;
};

using MemoryObservers = ObserverList<MemoryObserver>;
inline constinit MemoryObservers memoryObservers;

}  // namespace stepscope
