// MemoryCurve: memory in use over time on the host and on each device, from recorded allocations: its highest point in a range, which may be its
// beginning, and what was alive then, by kind and owner. Blocks are added in any order. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/KeyedHash.h"
#include "core/trace/Allocation.h"

namespace stepscope {

struct MemoryOwner {
    std::string kind, owner;  // empty: unknown
    std::int64_t bytes = 0, count = 0;
};
// One of them by itself.
struct MemoryPiece {
    std::string kind, owner;
    std::int64_t bytes = 0, at = 0;  // ns: when it was taken
};
struct MemoryOfDevice {
    std::int64_t rank = 0, device = -1;  // -1: the host
    bool absolute = false;               // the recording says how much is in use; else it is counted from the first allocation that was recorded
    std::vector<std::pair<std::int64_t, std::int64_t>> curve;  // ns, bytes; of each part of the range its highest point and its last
    std::int64_t peak = 0, peakAt = 0;
    std::int64_t reserved = -1;                          // by the allocator, at most; -1: unknown
    std::int64_t allocations = 0, taken = 0, freed = 0;  // in the range: how often memory was taken, and bytes
    std::vector<MemoryOwner> alive;                      // at the peak, of what was recorded as taken; most first
    std::int64_t aliveBytes = 0;
    std::vector<MemoryPiece> pieces;  // of those that were alive, the largest
    std::int64_t alivePieces = 0;     // how many there were
    std::int64_t missing = 0;  // allocations up to the end of the range that were lost or invalid and may be this memory's: all of it is without
};

class MemoryCurve {
public:
    static constexpr std::size_t kMostKept = 1'000'000;
    static constexpr std::size_t kPoints = 2000;  // parts of a range
    static constexpr std::size_t kMostPieces = 5000;

    // Everything from the begin of the capture on, so that it is known what is alive. False where there is no more room.
    bool add(const AllocationBlock& block);
    bool empty() const { return m_all.empty(); }
    bool full() const { return m_full; }
    // Of [from, to), by rank and device.
    std::vector<MemoryOfDevice> result(std::int64_t from, std::int64_t to) const;

private:
    struct Kept {
        std::int64_t at = 0;
        std::uint64_t address = 0;
        std::int64_t bytes = 0, device = -1, rank = 0, total = -1, reserved = -1;
        std::uint32_t kind = 0, owner = 0;
    };
    std::uint32_t textOf(const std::string& text);

    std::vector<Kept> m_all;
    std::vector<std::string> m_texts{std::string()};
    KeyedMap<std::string, std::uint32_t> m_places{{std::string(), 0}};
    bool m_full = false;
};

}  // namespace stepscope
