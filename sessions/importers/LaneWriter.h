// LaneWriter: the records of one lane after the other, in order of their start, become blocks: how deep each slice lies and how much of it was spent
// in what it called. Used by TraceBuilder::finish().
#pragma once
#include <functional>
#include <unordered_map>
#include <vector>

#include "core/trace/Allocation.h"
#include "core/trace/Sample.h"
#include "sessions/importers/TraceBuilder.h"

namespace stepscope::importing {

class LaneWriter {
public:
    LaneWriter(TraceBuilder& trace, std::int64_t origin, const std::function<bool(TraceBuilder::Encode)>& take)
        : m_trace(trace), m_origin(origin), m_out(take) {}

    void beginLane(std::uint32_t lane);
    bool take(const Record& record);
    bool endLane();

private:
    struct Open {
        Record record;
        std::int64_t end = 0, called = 0, covered = 0;
        std::int64_t forwardStart = 0, step = kNoStep;
        std::int32_t depth = 0;
        std::uint32_t phase = TextStore::kNone;  // of the annotation that it is or lies in: of an operation that says none
    };
    bool takeSlice(const Record& record, std::int64_t start);
    void toldTwice(Record& record) const;
    void launchesOnce(Record& record);
    Open* holderOf(Open& open);
    static void charge(Open& outer, std::int64_t from, std::int64_t to);
    bool closeUpTo(std::int64_t at);
    bool close(const Open& open);
    void untangle();
    bool flush();
    std::uint32_t stringOf(std::uint32_t text);
    std::uint32_t argumentsOf(std::uint32_t number);

    TraceBuilder& m_trace;
    std::int64_t m_origin, m_base = 0;
    const std::function<bool(TraceBuilder::Encode)>& m_out;
    std::uint32_t m_lane = 0;
    std::vector<Open> m_open;
    bool m_tangled = false;      // not each lies within the one before
    std::int64_t m_soonest = 0;  // where the first of tangled ones ends
    std::int64_t m_rounded = 0;  // ns, of the lane's file
    bool m_callsTwice = false;
    std::int64_t m_looked = 0, m_taken = 0;  // at tangled slices, so that their number times their number is bounded
    std::size_t m_arrow = 0;

    SliceBlock m_block;
    SampleBlock m_samples;
    AllocationBlock m_allocations;
    std::unordered_map<std::uint32_t, std::uint32_t> m_strings, m_arguments;
    std::unordered_map<std::uint64_t, std::uint32_t> m_series;
    std::size_t m_bytes = 0;
};

}  // namespace stepscope::importing
