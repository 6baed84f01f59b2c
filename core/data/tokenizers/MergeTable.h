// MergeTable: which two symbols become one, and when. Asked several times for each word of a text, so its slots lie side by side in one block of
// memory, and a pair is looked for from the slot that its hash names onwards (Knuth, The Art of Computer Programming 3, 6.4: open addressing). Filled
// once; any thread may read it afterwards.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/CounterRandom.h"

namespace stepscope {

class MergeTable {
public:
    struct Merge {
        std::int32_t rank = 0, merged = 0;
    };

    // Ids are not negative. Of a pair that is there already the last one stays, as in Hugging Face's tokenizers.
    void add(std::int32_t left, std::int32_t right, Merge merge) {
        if (2 * (m_count + 1) > m_slots.size()) grow();
        Slot& slot = m_slots[placeOf(pairOf(left, right))];
        if (slot.pair == kFree) ++m_count;
        slot = {pairOf(left, right), merge};
    }
    const Merge* find(std::int32_t left, std::int32_t right) const {
        const Slot& slot = m_slots[placeOf(pairOf(left, right))];
        return slot.pair == kFree ? nullptr : &slot.merge;
    }

private:
    static constexpr std::uint64_t kFree = ~std::uint64_t{0};  // two ids of -1
    struct Slot {
        std::uint64_t pair = kFree;
        Merge merge;
    };
    static std::uint64_t pairOf(std::int32_t left, std::int32_t right) {
        return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) | static_cast<std::uint32_t>(right);
    }
    // Of the pair, or where it would be: half of the slots stay free, so there is one.
    std::size_t placeOf(std::uint64_t pair) const {
        const std::size_t last = m_slots.size() - 1;
        std::size_t place = static_cast<std::size_t>(splitMix64(pair)) & last;
        while (m_slots[place].pair != pair && m_slots[place].pair != kFree) place = (place + 1) & last;
        return place;
    }
    void grow() {
        std::vector<Slot> before(2 * m_slots.size());
        before.swap(m_slots);
        for (const Slot& slot : before)
            if (slot.pair != kFree) m_slots[placeOf(slot.pair)] = slot;
    }
    std::vector<Slot> m_slots = std::vector<Slot>(16);  // as many as a power of two
    std::size_t m_count = 0;
};

}  // namespace stepscope
