// AllocationTrace: plays back who takes and gives back memory during a step, in order, and tells the most that was held at once, by
// kind, and what an allocator keeps beyond that. Used by the prediction of memory (MemoryPrediction.h); any thread.
#pragma once
#include <array>
#include <cstddef>
#include <map>
#include <vector>

#include "core/base/MemoryKind.h"

namespace stepscope {

class AllocationTrace {
public:
    // caching: as the host allocator's caching mode (size classes, freed blocks kept); else as the C library.
    explicit AllocationTrace(bool caching) : m_caching(caching) {}

    using Block = std::size_t;
    static constexpr Block kNone = static_cast<Block>(-1);

    Block take(MemoryKind kind, double bytes);  // bytes may be absurd: nothing overflows
    // What lies with others in one block that is never given back, so that nothing is rounded up for it.
    void takePart(MemoryKind kind, double bytes);
    void drop(Block& block);  // kNone is allowed; sets it to kNone
    // A block that is gone at once.
    void touch(MemoryKind kind, double bytes) {
        Block block = take(kind, bytes);
        drop(block);
    }

    double live() const { return m_live; }
    double peak() const { return m_peak; }
    const std::array<double, kMemoryKinds>& atPeak() const { return m_atPeak; }
    // The most that the allocator had from the system at any time.
    double held() const;

private:
    void count(MemoryKind kind, double bytes);
    struct Held {
        MemoryKind kind;
        double bytes;
        std::size_t bin;
    };
    // Blocks of one class of sizes. Freed ones serve only their own class, so each class keeps its most.
    struct Bin {
        std::size_t now = 0, most = 0;
        double largest = 0;
    };
    std::size_t binFor(double bytes) const;
    bool m_caching;
    std::vector<Held> m_blocks;
    std::vector<Block> m_free;
    std::array<double, kMemoryKinds> m_now{}, m_atPeak{};
    double m_live = 0, m_peak = 0;
    std::map<std::size_t, Bin> m_bins;
    double m_mapped = 0, m_mappedPeak = 0;  // blocks that are given back to the system when they are freed
};

}  // namespace stepscope
