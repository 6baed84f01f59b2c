// Record: one imported slice, flow end, sample or allocation, before its lane is put in order. RecordSorter: orders any number of them by lane, start
// and length with a set amount of memory: full buffers are sorted and go to a nameless file as runs, which are merged at the end. Used on the
// importing thread.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/trace/Slice.h"
#include "sessions/importers/TextStore.h"

namespace stepscope::importing {

// What the fields hold of a flow end, a sample and an allocation says TraceBuilder.h, which alone makes and reads those.
struct Record {
    std::uint32_t lane = 0;  // as TraceBuilder numbers them
    SliceKind kind = SliceKind::Other;
    bool recomputed = false;
    std::int64_t start = 0, duration = 0;         // ns of the file's clock
    std::uint32_t name = 0, phase = 0, role = 0;  // texts
    std::uint32_t arguments = 0;
    std::int32_t layer = -1;
    std::int64_t step = kNoStep, sequence = -1, forwardThread = 0, correlation = 0, external = 0;
};

class RecordSorter {
public:
    RecordSorter(std::string folder, std::size_t mostRecords) : m_most(mostRecords), m_file(std::move(folder)) {}

    void add(const Record& record) {
        m_records.push_back(record);
        if (m_records.size() >= m_most) spill();
    }
    // Hands out everything, lane by lane, in a lane by start, of one start the longest first. Ends where `take` says false. Once only.
    Status merge(const std::function<bool(const Record&)>& take);
    const Status& status() const { return m_file.status(); }

private:
    struct Run {
        std::int64_t begin = 0, end = 0;
    };
    class RunReader;
    void sortBuffer();
    void spill();

    std::size_t m_most;
    std::vector<Record> m_records;
    std::vector<std::uint32_t> m_order;
    std::vector<Run> m_runs;
    RunFile m_file;
};

}  // namespace stepscope::importing
