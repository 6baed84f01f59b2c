#include "sessions/importers/PerfettoFile.h"

#include <fmt/format.h>

#include <utility>

#include "sessions/importers/ByteSource.h"
#include "sessions/importers/PerfettoEvents.h"
#include "sessions/importers/ProtoFields.h"

namespace stepscope::importing {
namespace {

constexpr std::uint64_t kLongestPacket = std::uint64_t{64} << 20;
constexpr std::size_t kLongestHead = 20;  // a field's number and its size, ten bytes each
constexpr std::uint64_t kPacket = 1 << 3 | 2;

// One trace while it is read: the bytes that are there and not yet read.
class PerfettoStream {
public:
    PerfettoStream(std::string path, TraceBuilder& trace, std::function<std::string()> next, bool unpacked)
        : m_path(std::move(path)), m_trace(trace), m_events(trace), m_next(std::move(next)), m_unpacked(unpacked) {}

    Status read(const std::function<Status()>& source) {
        Status done = packets();
        if (Status under = source(); !under) return under;  // why the bytes ended is more than that they did
        if (!done) return done;
        m_events.end();
        m_trace.file().source = "perfetto";
        return {};
    }

private:
    std::string_view left() const { return std::string_view(m_window).substr(m_at); }
    // At least so many bytes, or all that there are.
    void fill(std::size_t wanted) {
        while (!m_ended && m_window.size() - m_at < wanted) {
            if (m_at > 0) {
                m_window.erase(0, m_at);
                m_offset += static_cast<std::int64_t>(m_at);
                m_at = 0;
            }
            const std::string piece = m_next();
            m_ended = piece.empty();
            m_window += piece;
        }
    }

    Status packets() {
        while (true) {
            fill(kLongestHead);
            if (left().empty()) return {};
            std::string_view head = left();
            std::uint64_t key = 0, size = 0;
            if (!ProtoFields::varint(head, key)) return head.empty() ? ended() : wrong("there is no packet");
            const auto type = key & 7;
            if (type == 2 && !ProtoFields::varint(head, size)) return head.empty() ? ended() : wrong("the size of a packet is damaged");
            if (type == 0 && !ProtoFields::varint(head, size)) return head.empty() ? ended() : wrong("there is no packet");
            if (type == 1 || type == 5) size = type == 1 ? 8 : 4;
            if (type == 3 || type == 4 || type > 5) return wrong("there is no packet");
            const std::size_t behind = left().size() - head.size();
            if (type == 0) size = 0;  // it was the number
            if (size > kLongestPacket) return wrong("a packet of more than 64 MiB begins");
            fill(behind + size);
            if (left().size() < behind + size) return ended();
            if (key != kPacket)
                m_trace.skip("parts of the file that are no packets");
            else if (!m_events.take(left().substr(behind, size)))
                return wrong("a packet is damaged");
            if (!m_trace.status()) return m_trace.status();
            m_at += behind + size;
        }
    }

    Error wrong(const std::string& what) const {
        return makeError(ErrorCode::BadInput,
                         fmt::format("\"{}\" cannot be read as a trace of Perfetto's: {} at byte {}{}; export or copy it again.", m_path, what,
                                     m_offset + static_cast<std::int64_t>(m_at), m_unpacked ? " of what it unpacks to" : ""))
            .about(Subject::Kind::File, m_path);
    }
    Error ended() const { return wrong("it ends in the middle of the packet that begins"); }

    const std::string m_path;
    TraceBuilder& m_trace;
    PerfettoEvents m_events;
    std::function<std::string()> m_next;
    const bool m_unpacked;
    std::string m_window;
    std::size_t m_at = 0;
    std::int64_t m_offset = 0;  // in the file, of where the window begins
    bool m_ended = false;
};

}  // namespace

// The first packet whole, with fields as every packet of a trace has them: JSON that begins with a line break is none.
bool looksLikePerfetto(std::string_view head) {
    std::uint64_t key = 0, size = 0;
    if (!ProtoFields::varint(head, key) || key != kPacket || !ProtoFields::varint(head, size) || size == 0 || size > head.size()) return false;
    constexpr int kTimestamp = 8, kSequence = 10;
    bool told = false;
    ProtoFields fields(head.substr(0, size));
    while (fields.next()) told = told || fields.field == kTimestamp || fields.field == kSequence;
    return fields.good() && told;
}

Status readPerfettoFile(const std::string& path, TraceBuilder& trace, const std::function<bool(double)>& go) {
    auto source = ByteSource::open(path);
    if (!source) return source.error();
    bool stopped = false;
    PerfettoStream stream(
        path, trace,
        [&] {
            stopped = stopped || !go((*source)->fraction());
            return stopped ? std::string() : (*source)->next();
        },
        (*source)->packed());
    return stream.read([&]() -> Status {
        if (stopped) return makeError(ErrorCode::Cancelled, "The import was stopped; nothing of it is stored.");
        return (*source)->status();
    });
}

Status readPerfettoBytes(std::string_view bytes, std::size_t piece, TraceBuilder& trace) {
    PerfettoStream stream(
        "bytes", trace,
        [&] {
            std::string next(bytes.substr(0, piece));
            bytes.remove_prefix(next.size());
            return next;
        },
        false);
    return stream.read([]() -> Status { return {}; });
}

}  // namespace stepscope::importing
