#include "sessions/Slices.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/trace/Note.h"
#include "core/trace/SliceCodec.h"

namespace stepscope {
namespace {

constexpr std::int64_t kBytesAtOnce = std::int64_t{8} << 20;

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
