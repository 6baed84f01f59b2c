#include "sessions/Slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "core/trace/Note.h"
#include "core/trace/SliceCodec.h"

namespace stepscope {
namespace {

constexpr std::int64_t kBytesAtOnce = std::int64_t{8} << 20;
constexpr std::int64_t kBytesSideBySide = std::int64_t{64} << 20;  // of all lanes
constexpr std::int64_t kBytesByBegin = std::int64_t{16} << 20;     // as much where who reads has other things to hold

Result<std::vector<ChunkRange>> lanesOf(SessionReader& reader, std::int64_t session) {
    const auto lanes = reader.chunkLanes(session);
    if (!lanes) return lanes.error();
    std::vector<ChunkRange> all;
    for (const auto& lane : *lanes)
        if (isSlices(lane.kind))
            all.push_back({lane.kind, lane.lane, {std::numeric_limits<std::int64_t>::min()}, {std::numeric_limits<std::int64_t>::max()}});
    return all;
}

}  // namespace

Status forEachSliceBlock(SessionReader& reader, std::int64_t session, const std::function<Status(const SliceBlock&)>& take) {
    const auto lanes = lanesOf(reader, session);
    if (!lanes) return lanes.error();
    for (const ChunkRange& lane : *lanes) {
        ChunkPlace after;
        for (bool more = true; more;) {
            const auto page = reader.chunks(session, lane, after, kBytesAtOnce);
            if (!page) return page.error();
            for (const auto& chunk : page->chunks) {
                const auto block = decodeSlices(*chunk);
                if (!block) return block.error();
                if (auto good = take(*block); !good) return good;
            }
            after = page->next;
            more = page->more;
        }
    }
    return {};
}

namespace {

enum class LaneTurns { HostFirst, ByBegin };

// What of a lane comes next; blocks are unpacked when it is their turn.
class LaneAhead {
public:
    LaneAhead(SessionReader& reader, std::int64_t session, ChunkRange lane, std::int64_t bytes, LaneTurns turns)
        : m_reader(reader), m_session(session), m_lane(std::move(lane)), m_bytes(bytes), m_turns(turns) {}

    // False: there is no more.
    Result<bool> look() {
        while (m_next == m_page.chunks.size()) {
            if (!m_page.more && m_looked) return false;
            auto page = m_reader.chunks(m_session, m_lane, m_page.next, m_bytes);
            if (!page) return page.error();
            m_page = std::move(*page);
            m_next = 0;
            if (!std::exchange(m_looked, true) && !m_page.chunks.empty() && m_turns == LaneTurns::HostFirst) {
                const auto block = decodeSlices(*m_page.chunks.front());
                if (!block) return block.error();
                m_device = block->thread.device >= 0;
            }
        }
        return true;
    }
    // When its turn is, of equals the host's first where that matters.
    std::pair<std::int64_t, bool> due() const {
        const Chunk& chunk = *m_page.chunks[m_next];
        return {m_device ? chunk.end.ns : chunk.begin.ns, m_device};
    }
    Result<SliceBlock> take() { return decodeSlices(*std::exchange(m_page.chunks[m_next++], nullptr)); }

private:
    SessionReader& m_reader;
    std::int64_t m_session;
    ChunkRange m_lane;
    std::int64_t m_bytes;
    LaneTurns m_turns;
    ChunkPage m_page;
    std::size_t m_next = 0;
    bool m_looked = false, m_device = false;
};

Status readSideBySide(SessionReader& reader, std::int64_t session, LaneTurns order, std::int64_t bytesOfAll,
                      const std::function<Status(const SliceBlock&)>& take) {
    const auto lanes = lanesOf(reader, session);
    if (!lanes) return lanes.error();
    if (lanes->empty()) return {};
    // A block at least of each, whatever its size.
    const std::int64_t bytes = std::min(kBytesAtOnce, bytesOfAll / static_cast<std::int64_t>(lanes->size()));
    std::vector<LaneAhead> ahead;
    using Turn = std::pair<std::pair<std::int64_t, bool>, std::size_t>;
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
    const auto lookAt = [&](std::size_t lane) -> Status {
        const auto more = ahead[lane].look();
        if (!more) return more.error();
        if (*more) turns.emplace(ahead[lane].due(), lane);
        return {};
    };
    for (const ChunkRange& lane : *lanes) {
        ahead.emplace_back(reader, session, lane, bytes, order);
        if (auto good = lookAt(ahead.size() - 1); !good) return good;
    }
    while (!turns.empty()) {
        const std::size_t lane = turns.top().second;
        turns.pop();
        const auto block = ahead[lane].take();
        if (!block) return block.error();
        if (auto good = take(*block); !good) return good;
        if (auto good = lookAt(lane); !good) return good;
    }
    return {};
}

}  // namespace

Status forEachSliceBlockInTime(SessionReader& reader, std::int64_t session, const std::function<Status(const SliceBlock&)>& take) {
    return readSideBySide(reader, session, LaneTurns::HostFirst, kBytesSideBySide, take);
}

Status forEachSliceBlockByBegin(SessionReader& reader, std::int64_t session, const std::function<Status(const SliceBlock&)>& take) {
    return readSideBySide(reader, session, LaneTurns::ByBegin, kBytesByBegin, take);
}

Result<std::vector<SliceThread>> sliceThreads(SessionReader& reader, std::int64_t session) {
    const auto lanes = lanesOf(reader, session);
    if (!lanes) return lanes.error();
    std::vector<SliceThread> threads;
    for (const ChunkRange& lane : *lanes) {
        const auto page = reader.chunks(session, lane, {}, 1);
        if (!page) return page.error();
        if (page->chunks.empty()) continue;
        const auto block = decodeSlices(*page->chunks.front());
        if (!block) return block.error();
        threads.push_back(block->thread);
    }
    return threads;
}

Result<std::int64_t> sliceCount(SessionReader& reader, std::int64_t session) {
    const auto lanes = reader.chunkLanes(session);
    if (!lanes) return lanes.error();
    std::int64_t count = 0;
    for (const auto& lane : *lanes)
        if (isSlices(lane.kind)) count += lane.records;
    return count;
}

namespace {

Result<std::vector<std::string>> notesOf(SessionReader& reader, std::int64_t session, std::int64_t lane) {
    constexpr std::int64_t kNotesAtOnce = std::int64_t{1} << 20;  // bytes: there are few, or nobody reads them
    const ChunkRange all{kNote, lane, {std::numeric_limits<std::int64_t>::min()}, {std::numeric_limits<std::int64_t>::max()}};
    const auto page = reader.chunks(session, all, {}, kNotesAtOnce);
    if (!page) return page.error();
    std::vector<std::string> notes;
    for (const auto& chunk : page->chunks)
        if (std::string note = noteOf(*chunk); std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
    return notes;
}

}  // namespace

Result<std::vector<std::string>> captureNotes(SessionReader& reader, std::int64_t session) {
    return notesOf(reader, session, kCaptureNotes);
}

Result<std::string> counterNote(SessionReader& reader, std::int64_t session) {
    const auto notes = notesOf(reader, session, kCounterNotes);
    if (!notes) return notes.error();
    return notes->empty() ? std::string() : notes->back();
}

Error noCapture(std::int64_t session) {
    return makeError(
               ErrorCode::NotFound,
               fmt::format("Session {} holds no capture; `train --profile wait=1,warmup=1,active=3` records one, and so does Capture now on the "
                           "page Operations while a run goes on.",
                           session))
        .about(Subject::Kind::Session, std::to_string(session));
}

}  // namespace stepscope
