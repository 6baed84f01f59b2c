#include "sessions/SessionTrace.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <algorithm>
#include <map>

#include "core/trace/LodBuilder.h"
#include "core/trace/LodCodec.h"
#include "core/trace/SliceCodec.h"
#include "sessions/ChunkTables.h"
#include "sessions/file/Connection.h"
#include "sessions/file/SqliteError.h"
#include "sessions/record/ChunkPacking.h"

namespace stepscope {
namespace {

constexpr std::int64_t kTraceBytesAtOnce = std::int64_t{4} << 20;

// By lane: does the level of detail stand for as many slices as there are?
bool isWhole(const std::vector<ChunkLane>& lanes) {
    std::map<std::int64_t, std::int64_t> slices, covered;
    for (const auto& lane : lanes) {
        if (isSlices(lane.kind)) slices[lane.lane] = cappedSum(slices[lane.lane], std::max<std::int64_t>(0, lane.records));
        if (lane.kind == kLod) covered[lane.lane] = lane.records;
    }
    return std::ranges::all_of(slices, [&](const auto& one) { return covered[one.first] == one.second; });
}

void forgetLod(SQLite::Database& database, std::int64_t session) {
    for (const auto& lane : readChunkLanes(database, session)) {
        if (!isLod(lane.kind)) continue;
        for (const char* sql : {"DELETE FROM chunks WHERE lane = (SELECT id FROM chunk_lanes WHERE session = ? AND kind = ? AND lane = ?)",
                                "DELETE FROM chunk_lanes WHERE session = ? AND kind = ? AND lane = ?"}) {
            SQLite::Statement statement(database, sql);
            statement.bind(1, session);
            statement.bind(2, lane.kind);
            statement.bind(3, lane.lane);
            statement.exec();
        }
    }
}

Status storeLod(const std::string& path, std::int64_t session, const std::vector<ChunkPtr>& made) {
    auto connection = openForWriting(path);
    if (!connection) return connection.error();
    return guarded(path, [&]() -> Status {
        SQLite::Transaction transaction(**connection, SQLite::TransactionBehavior::IMMEDIATE);
        // Another window may have been quicker.
        if (isWhole(readChunkLanes(**connection, session))) return {};
        forgetLod(**connection, session);
        {
            ChunkWriter writer(**connection, session);
            std::int64_t sequence = 0;
            for (const ChunkPtr& chunk : made) writer.write(*chunk, packed(*chunk), sequence++);
        }
        transaction.commit();
        return {};
    });
}

}  // namespace

Result<std::unique_ptr<SessionTrace>> SessionTrace::open(const std::string& path, std::int64_t session) {
    auto reader = SessionReader::open(path);
    if (!reader) return reader.error();
    return std::unique_ptr<SessionTrace>(new SessionTrace(path, session, std::move(*reader)));
}

Status SessionTrace::complete(const std::function<bool()>& goesOn) {
    const auto lanes = m_reader->chunkLanes(m_session);
    if (!lanes) return lanes.error();
    if (!m_made.empty() || isWhole(*lanes)) return {};
    const auto summary = m_reader->summary(m_session);
    if (!summary) return summary.error();
    if (!ended(summary->state)) return {};
    LodBuilder builder;
    std::vector<ChunkPtr> made;
    for (const auto& lane : *lanes) {
        if (!isSlices(lane.kind)) continue;
        ChunkPlace after;
        for (bool more = true; more;) {
            if (!goesOn()) return makeError(ErrorCode::Cancelled, "Something else is shown now.");
            const ChunkRange all{lane.kind, lane.lane, {std::numeric_limits<std::int64_t>::min()}, {std::numeric_limits<std::int64_t>::max()}};
            const auto page = m_reader->chunks(m_session, all, after, kTraceBytesAtOnce);
            if (!page) return page.error();
            for (const auto& chunk : page->chunks) {
                const auto block = decodeSlices(*chunk);
                if (!block) return block.error();
                builder.add(lane.lane, *block, made);
            }
            after = page->next;
            more = page->more;
        }
        builder.bringUpToDate(made);
    }
    if (!storeLod(m_path, m_session, made)) m_made = std::move(made);
    return {};
}

Result<std::vector<TraceSourceLane>> SessionTrace::lanes() {
    const auto lanes = m_reader->chunkLanes(m_session);
    if (!lanes) return lanes.error();
    std::vector<TraceSourceLane> all;
    for (const auto& lane : *lanes)
        if (m_made.empty() || !isLod(lane.kind)) all.push_back({lane.kind, lane.lane, lane.records, lane.begin, lane.end});
    std::map<std::pair<std::string, std::int64_t>, TraceSourceLane> made;
    for (const ChunkPtr& chunk : m_made) {
        auto [found, added] = made.try_emplace({chunk->kind, chunk->lane}, TraceSourceLane{chunk->kind, chunk->lane, 0, chunk->begin, chunk->end});
        found->second.records += chunk->count;
        found->second.begin = std::min(found->second.begin, chunk->begin);
        found->second.end = std::max(found->second.end, chunk->end);
    }
    for (const auto& [key, lane] : made) all.push_back(lane);
    return all;
}

Status SessionTrace::read(const std::string& kind, std::int64_t lane, std::int64_t from, std::int64_t to,
                          const std::function<Status(const Chunk&)>& take) {
    if (!m_made.empty() && isLod(kind)) {
        for (const ChunkPtr& chunk : m_made)
            if (chunk->kind == kind && chunk->lane == lane && chunk->begin.ns < to && (chunk->end.ns > from || chunk->begin.ns >= from))
                if (auto done = take(*chunk); !done) return done;
        return {};
    }
    ChunkPlace after;
    for (bool more = true; more;) {
        const auto page = m_reader->chunks(m_session, {kind, lane, {from}, {to}}, after, kTraceBytesAtOnce);
        if (!page) return page.error();
        for (const auto& chunk : page->chunks)
            if (auto done = take(*chunk); !done) return done;
        after = page->next;
        more = page->more;
    }
    return {};
}

}  // namespace stepscope
