#include "sessions/importers/RecordSorter.h"

#include <algorithm>
#include <numeric>
#include <queue>

namespace stepscope::importing {
namespace {

bool before(const Record& a, const Record& b) {
    if (a.lane != b.lane) return a.lane < b.lane;
    if (a.start != b.start) return a.start < b.start;
    return a.duration > b.duration;
}

constexpr std::size_t kLongestRecord = 16 * 10;

void put(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
}
void putSigned(std::string& out, std::int64_t value) {
    put(out, (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}

}  // namespace

// What spill() wrote, record by record, through a buffer of its own.
class RecordSorter::RunReader {
public:
    RunReader(RunFile& file, Run run) : m_file(file), m_run(run) {}

    bool next(Record& record) {
        if (m_end - m_at < kLongestRecord) refill();
        if (m_at >= m_end) return false;
        record.lane = static_cast<std::uint32_t>(whole());
        const std::uint64_t kind = whole();
        record.kind = static_cast<SliceKind>(kind & 0x7f);
        record.recomputed = (kind & 0x80) != 0;
        record.start = integer();
        record.duration = integer();
        record.name = static_cast<std::uint32_t>(whole());
        record.phase = static_cast<std::uint32_t>(whole());
        record.role = static_cast<std::uint32_t>(whole());
        record.arguments = static_cast<std::uint32_t>(whole());
        record.layer = static_cast<std::int32_t>(integer());
        record.step = integer();
        record.sequence = integer();
        record.forwardThread = integer();
        record.correlation = integer();
        record.external = integer();
        return m_at <= m_end;
    }

private:
    static constexpr std::size_t kBuffer = std::size_t{256} << 10;

    void refill() {
        m_buffer.erase(0, m_at);
        m_at = 0;
        const std::size_t had = m_buffer.size();
        const auto more = static_cast<std::size_t>(std::min<std::int64_t>(kBuffer, m_run.end - m_run.begin));
        m_buffer.resize(had + more);
        const std::size_t got = m_file.read(m_run.begin, m_buffer.data() + had, more);
        m_run.begin = got < more ? m_run.end : m_run.begin + static_cast<std::int64_t>(got);
        m_buffer.resize(had + got);
        m_end = m_buffer.size();
    }
    std::uint64_t whole() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; m_at < m_end && shift < 64; shift += 7) {
            const auto byte = static_cast<unsigned char>(m_buffer[m_at++]);
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) return value;
        }
        m_at = m_end + 1;
        return 0;
    }
    std::int64_t integer() {
        const std::uint64_t value = whole();
        return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
    }

    RunFile& m_file;
    Run m_run;
    std::string m_buffer;
    std::size_t m_at = 0, m_end = 0;
};

void RecordSorter::sortBuffer() {
    // By lane without comparing; lanes come mostly in order of time already.
    std::uint32_t lanes = 0;
    for (const Record& record : m_records) lanes = std::max(lanes, record.lane + 1);
    std::vector<std::uint32_t> begin(lanes + 1, 0);
    for (const Record& record : m_records) ++begin[record.lane + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    m_order.resize(m_records.size());
    auto place = begin;
    for (std::uint32_t i = 0; i < m_records.size(); ++i) m_order[place[m_records[i].lane]++] = i;
    const auto less = [&](std::uint32_t a, std::uint32_t b) { return before(m_records[a], m_records[b]); };
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        const auto from = m_order.begin() + begin[lane], to = m_order.begin() + begin[lane + 1];
        if (!std::is_sorted(from, to, less)) std::stable_sort(from, to, less);
    }
}

void RecordSorter::spill() {
    sortBuffer();
    Run run;
    std::string out;
    bool first = true;
    const auto write = [&] {
        const std::int64_t at = m_file.append(out.data(), out.size());
        if (first) run.begin = at;
        first = false;
        run.end = at + static_cast<std::int64_t>(out.size());
        out.clear();
    };
    for (const std::uint32_t i : m_order) {
        const Record& record = m_records[i];
        put(out, record.lane);
        put(out, static_cast<std::uint64_t>(record.kind) | (record.recomputed ? 0x80 : 0));
        putSigned(out, record.start);
        putSigned(out, record.duration);
        put(out, record.name);
        put(out, record.phase);
        put(out, record.role);
        put(out, record.arguments);
        putSigned(out, record.layer);
        putSigned(out, record.step);
        putSigned(out, record.sequence);
        putSigned(out, record.forwardThread);
        putSigned(out, record.correlation);
        putSigned(out, record.external);
        if (out.size() >= (1U << 16)) write();
    }
    write();
    m_runs.push_back(run);
    m_records.clear();
}

Status RecordSorter::merge(const std::function<bool(const Record&)>& take) {
    if (m_runs.empty()) {
        sortBuffer();
        for (const std::uint32_t i : m_order)
            if (!take(m_records[i])) break;
        return m_file.status();
    }
    if (!m_records.empty()) spill();
    m_file.flush();
    m_records = {};
    m_order = {};
    std::vector<RunReader> readers;
    std::vector<Record> heads(m_runs.size());
    for (const Run& run : m_runs) readers.emplace_back(m_file, run);
    // Of equal records that of the earlier run first, so that the order of the file is kept.
    const auto later = [&](std::size_t a, std::size_t b) { return before(heads[b], heads[a]) || (!before(heads[a], heads[b]) && a > b); };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> queue(later);
    for (std::size_t i = 0; i < readers.size(); ++i)
        if (readers[i].next(heads[i])) queue.push(i);
    while (!queue.empty()) {
        const std::size_t i = queue.top();
        queue.pop();
        if (!take(heads[i])) break;
        if (readers[i].next(heads[i])) queue.push(i);
    }
    return m_file.status();
}

}  // namespace stepscope::importing
