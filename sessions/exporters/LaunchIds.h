// LaunchIds: which numbers of launches have a call of the host and which have work of a device, a bit each. They are counted up by those who record,
// so that two bits of many lie together. Used by the exporters of traces, which have to know both ends of an arrow before they write the first; one
// thread.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/base/KeyedHash.h"
#include "core/trace/Slice.h"

namespace stepscope {

class LaunchIds {
public:
    void add(const SliceBlock& block);
    // Whether both ends are there. Of correlation 0, which is none, never.
    bool joined(std::int64_t rank, std::int64_t correlation) const;
    std::size_t bytes() const { return m_pages.size() * kPageBytes; }  // that they take, about

    // What an arrow leads to from the call that asked for it: work, and waits that a device records.
    static bool isLaunched(SliceKind kind, bool device) { return isDeviceWork(kind) || (device && kind == SliceKind::Synchronisation); }
    static bool isCall(SliceKind kind) { return kind == SliceKind::Runtime || kind == SliceKind::Driver; }
    static constexpr int kPageBits = 8;  // so many numbers in a page: 256

private:
    struct Page {
        std::array<std::uint64_t, 4> calls{}, launched{};
    };
    using Key = std::pair<std::int64_t, std::int64_t>;                                         // rank, and the number without its last bits
    static constexpr std::size_t kPageBytes = sizeof(Page) + sizeof(Key) + 4 * sizeof(void*);  // with what the table takes
    KeyedMap<Key, Page> m_pages;
};

}  // namespace stepscope
