// Arena: lays out the buffers of planned work (a whole step, or its head alone) in one block of memory. Two passes: the same code first counts, then
// hands out pointers, so that size and layout cannot disagree. No ownership: the block is a tensor of the caller's, counted by the allocator's
// budget.
#pragma once
#include <cstddef>
#include <cstdint>

namespace stepscope {

class Arena {
public:
    Arena() = default;                                                        // counts
    explicit Arena(void* block) : m_block(static_cast<std::byte*>(block)) {}  // hands out

    // `count` objects at a 4 KiB boundary if large, else at a cache line. nullptr while counting.
    template <typename T>
    T* take(std::int64_t count) {
        const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(T)), line = bytes >= 65536 ? 4096 : 64;
        m_used = (m_used + line - 1) / line * line;
        T* place = m_block == nullptr ? nullptr : reinterpret_cast<T*>(m_block + m_used);
        m_used += bytes;
        return place;
    }
    std::int64_t used() const { return m_used; }  // bytes

private:
    std::byte* m_block = nullptr;
    std::int64_t m_used = 0;
};

}  // namespace stepscope
