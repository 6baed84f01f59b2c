// SpareLanes: of what lies on one stream of a device, what reaches beyond something that it began in, and the lane beside the stream's own that it is
// written to: readers want slices that nest. Told by the begin of the slices, it holds those that others may still come before, and of all others
// those alone that have a lane beside. Used by KinetoRows.cpp; one thread.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace stepscope::kineto {

class SpareLanes {
public:
    static constexpr int kMost = 16;  // of a stream, as a capture has (core/profile/activity/ActivityDecoder.cpp)

    void add(std::int64_t from, std::int64_t to) { m_waiting.push_back({from, to}); }
    // Nothing that begins before comes any more.
    void settle(std::int64_t before);
    void done();
    // From 1 on; 0: on the stream's own. Behind done().
    int of(std::int64_t from, std::int64_t to) const;
    std::size_t waiting() const { return m_waiting.size(); }

private:
    struct Span {
        std::int64_t from = 0, to = 0;
    };
    struct Beside {
        Span span;
        int lane = 0;
    };
    static bool outside(const Span& one, const Span& other);
    void place(const Span& span);

    std::vector<Span> m_waiting;
    std::array<std::vector<std::int64_t>, kMost + 1> m_ends;  // of what is open on the stream's own lane and on those beside it, outermost first
    std::deque<Beside> m_beside;                              // in the order in which they are placed, which is that of outside()
};

}  // namespace stepscope::kineto
