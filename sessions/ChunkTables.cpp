#include "sessions/ChunkTables.h"

#include <SQLiteCpp/Transaction.h>

#include <algorithm>
#include <limits>

#include "core/trace/AllocationCodec.h"
#include "core/trace/LodCodec.h"
#include "core/trace/SampleCodec.h"
#include "core/trace/SliceCodec.h"
#include "core/trace/WorkerTimes.h"
#include "sessions/file/SqliteError.h"
#include "sessions/record/ChunkPacking.h"

namespace stepscope {
namespace {

SQLite::Statement& prepared(std::optional<SQLite::Statement>& statement, SQLite::Database& database, const char* sql) {
    if (!statement) statement.emplace(database, sql);
    statement->tryReset();
    return *statement;
}

std::int64_t saturatingDifference(std::int64_t a, std::int64_t b) {
    std::int64_t difference = 0;
    return __builtin_sub_overflow(a, b, &difference) ? std::numeric_limits<std::int64_t>::min() : difference;
}

int runWith(SQLite::Database& database, const char* sql, const std::vector<std::int64_t>& values) {
    SQLite::Statement statement(database, sql);
    for (std::size_t i = 0; i < values.size(); ++i) statement.bind(static_cast<int>(i) + 1, values[i]);
    return statement.exec();
}

struct KnownLane {
    std::int64_t id = 0;
    std::string kind;
};
std::vector<KnownLane> storedLanes(SQLite::Database& database, std::int64_t session) {
    SQLite::Statement select(database, "SELECT id, kind FROM chunk_lanes WHERE session = ?");
    select.bind(1, session);
    std::vector<KnownLane> all;
    while (select.executeStep()) all.push_back({select.getColumn(0).getInt64(), select.getColumn(1).getString()});
    return all;
}

// Sums the lane up anew, now that it has fewer or shorter blocks; one without any goes. longest_ns stays: it is a bound.
void sumUpLane(SQLite::Database& database, std::int64_t lane) {
    runWith(database,
            "UPDATE chunk_lanes SET (chunks, records, bytes, packed_bytes, begin_ns, end_ns) = (SELECT count(*), coalesce(sum(records), 0), "
            "coalesce(sum(bytes), 0), coalesce(sum(length(packed)), 0), coalesce(min(begin_ns), 0), coalesce(max(end_ns), 0) FROM chunks WHERE lane "
            "= ?1) WHERE id = ?1",
            {lane});
    runWith(database, "DELETE FROM chunk_lanes WHERE id = ? AND chunks = 0", {lane});
}

// Of a block that reaches over the moment what lies before it.
void cutBlock(SQLite::Database& database, std::int64_t id, std::int64_t moment) {
    SQLite::Statement select(database, "SELECT begin_ns, end_ns, records, bytes, packed FROM chunks WHERE id = ?");
    select.bind(1, id);
    if (!select.executeStep()) return;
    const SQLite::Column blob = select.getColumn(4);
    auto content = unpacked(blob.getBlob(), static_cast<std::size_t>(blob.getBytes()), select.getColumn(3).getInt64());
    if (!content) return;
    auto times = decodeWorkerTimes({.kind = kWorkerTimes,
                                    .begin = {select.getColumn(0).getInt64()},
                                    .end = {select.getColumn(1).getInt64()},
                                    .count = select.getColumn(2).getInt64(),
                                    .bytes = std::move(*content)});
    select.reset();
    if (!times || times->steps.empty()) return;
    const auto behind = std::ranges::upper_bound(times->steps, moment, {}, &WorkerTimes::Step::at);
    const auto kept = static_cast<std::size_t>(behind - times->steps.begin());
    if (kept == times->steps.size()) return;
    if (kept == 0) {
        runWith(database, "DELETE FROM chunks WHERE id = ?", {id});
        return;
    }
    times->ns.resize(times->ns.size() / times->steps.size() * kept);
    times->steps.resize(kept);
    const Chunk rest = encodeWorkerTimes(*times);
    const std::string frame = packed(rest);
    SQLite::Statement update(database, "UPDATE chunks SET end_ns = ?, records = ?, bytes = ?, packed = ? WHERE id = ?");
    update.bind(1, rest.end.ns);
    update.bind(2, rest.count);
    update.bind(3, static_cast<std::int64_t>(rest.bytes.size()));
    update.bindNoCopy(4, frame.data(), static_cast<int>(frame.size()));
    update.bind(5, id);
    update.exec();
}

}  // namespace

std::int64_t ChunkWriter::laneOf(const Chunk& chunk) {
    auto& add = prepared(m_addLane, m_database,
                         "INSERT OR IGNORE INTO chunk_lanes (session, kind, lane, chunks, records, bytes, packed_bytes, begin_ns, end_ns, longest_ns)"
                         " VALUES (?1, ?2, ?3, 0, 0, 0, 0, ?4, ?5, 0)");
    add.bind(1, m_session);
    add.bindNoCopy(2, chunk.kind);
    add.bind(3, chunk.lane);
    add.bind(4, chunk.begin.ns);
    add.bind(5, chunk.end.ns);
    add.exec();
    auto& find = prepared(m_findLane, m_database, "SELECT id FROM chunk_lanes WHERE session = ?1 AND kind = ?2 AND lane = ?3");
    find.bind(1, m_session);
    find.bindNoCopy(2, chunk.kind);
    find.bind(3, chunk.lane);
    if (!find.executeStep()) throw std::runtime_error("a lane that was just made is not there");
    const std::int64_t id = find.getColumn(0).getInt64();
    find.tryReset();
    return id;
}

void ChunkWriter::write(const Chunk& chunk, const std::string& frame, std::int64_t sequence) {
    const std::int64_t lane = laneOf(chunk);
    auto& insert = prepared(m_insert, m_database,
                            "INSERT OR IGNORE INTO chunks (lane, begin_ns, seq, end_ns, records, bytes, packed) VALUES (?, ?, ?, ?, ?, ?, ?)");
    insert.bind(1, lane);
    insert.bind(2, chunk.begin.ns);
    insert.bind(3, sequence);
    insert.bind(4, chunk.end.ns);
    insert.bind(5, chunk.count);
    insert.bind(6, static_cast<std::int64_t>(chunk.bytes.size()));
    insert.bindNoCopy(7, frame.data(), static_cast<int>(frame.size()));
    if (insert.exec() == 0) return;  // it is stored: the commit that was tried again had come through
    auto& grow = prepared(m_grow, m_database,
                          "UPDATE chunk_lanes SET chunks = chunks + 1, records = records + ?2, bytes = bytes + ?3, packed_bytes = packed_bytes + ?4,"
                          " begin_ns = min(begin_ns, ?5), end_ns = max(end_ns, ?6), longest_ns = max(longest_ns, ?6 - ?5) WHERE id = ?1");
    grow.bind(1, lane);
    grow.bind(2, chunk.count);
    grow.bind(3, static_cast<std::int64_t>(chunk.bytes.size()));
    grow.bind(4, static_cast<std::int64_t>(frame.size()));
    grow.bind(5, chunk.begin.ns);
    grow.bind(6, chunk.end.ns);
    grow.exec();
}

std::vector<ChunkLane> readChunkLanes(SQLite::Database& database, std::int64_t session) {
    SQLite::Statement select(database,
                             "SELECT kind, lane, chunks, records, bytes, packed_bytes, begin_ns, end_ns FROM chunk_lanes WHERE session = ?"
                             " ORDER BY kind, lane");
    select.bind(1, session);
    std::vector<ChunkLane> all;
    while (select.executeStep())
        all.push_back({select.getColumn(0).getString(),
                       select.getColumn(1).getInt64(),
                       select.getColumn(2).getInt64(),
                       select.getColumn(3).getInt64(),
                       select.getColumn(4).getInt64(),
                       select.getColumn(5).getInt64(),
                       {select.getColumn(6).getInt64()},
                       {select.getColumn(7).getInt64()}});
    return all;
}

Result<ChunkPage> readChunks(SQLite::Database& database, const std::string& path, std::int64_t session, const ChunkRange& range,
                             const ChunkPlace& after, std::int64_t mostBytes) {
    const SQLite::Transaction snapshot(database);
    ChunkPage page;
    page.next = after;
    SQLite::Statement lane(database, "SELECT id, longest_ns FROM chunk_lanes WHERE session = ? AND kind = ? AND lane = ?");
    lane.bind(1, session);
    lane.bind(2, range.kind);
    lane.bind(3, range.lane);
    if (!lane.executeStep()) return page;
    const std::int64_t earliest = saturatingDifference(range.from.ns, lane.getColumn(1).getInt64());
    // Both bounds and the place to go on from are of the index; the blob is read of blocks that are handed out only.
    SQLite::Statement select(database,
                             "SELECT begin_ns, seq, end_ns, records, bytes, packed FROM chunks WHERE lane = ?1 AND begin_ns >= ?2 AND begin_ns < ?3"
                             " AND (begin_ns, seq) > (?4, ?5) AND (end_ns > ?6 OR begin_ns >= ?6) ORDER BY begin_ns, seq");
    select.bind(1, lane.getColumn(0).getInt64());
    select.bind(2, std::max(earliest, after.begin));
    select.bind(3, range.to.ns);
    select.bind(4, after.begin);
    select.bind(5, after.sequence);
    select.bind(6, range.from.ns);
    std::int64_t taken = 0;
    while (select.executeStep()) {
        const std::int64_t bytes = select.getColumn(4).getInt64();
        if (!page.chunks.empty() && (bytes > mostBytes - taken)) {
            page.more = true;
            break;
        }
        const SQLite::Column blob = select.getColumn(5);
        auto content = unpacked(blob.getBlob(), static_cast<std::size_t>(blob.getBytes()), bytes);
        if (!content) return damagedRow(path, content.error().cause);
        Chunk chunk{
            range.kind,         range.lane, {select.getColumn(0).getInt64()}, {select.getColumn(2).getInt64()}, select.getColumn(3).getInt64(),
            std::move(*content)};
        if (const Status good = checkChunk(chunk); !good) return damagedRow(path, good.error().cause);
        page.next = {chunk.begin.ns, select.getColumn(1).getInt64()};
        taken += bytes;
        page.chunks.push_back(std::make_shared<const Chunk>(std::move(chunk)));
    }
    return page;
}

void purgeChunks(SQLite::Database& database, std::int64_t session) {
    for (const char* sql :
         {"DELETE FROM chunks WHERE lane IN (SELECT id FROM chunk_lanes WHERE session = ?)", "DELETE FROM chunk_lanes WHERE session = ?"}) {
        SQLite::Statement statement(database, sql);
        statement.bind(1, session);
        statement.exec();
    }
}

bool isOfCaptures(const std::string& kind) {
    return isSlices(kind) || kind == kSamples || kind == kAllocations;
}

void removeCaptureBlocks(SQLite::Database& database, std::int64_t session, std::int64_t after, std::int64_t until) {
    const auto lanes = storedLanes(database, session);
    int removed = 0;
    for (const auto& [id, kind] : lanes) {
        if (!isOfCaptures(kind)) continue;
        const int here = runWith(database, "DELETE FROM chunks WHERE lane = ? AND begin_ns > ? AND begin_ns <= ?", {id, after, until});
        if (here > 0) sumUpLane(database, id);
        removed += here;
    }
    if (removed == 0) return;
    for (const auto& [id, kind] : lanes) {
        if (!isLod(kind)) continue;
        runWith(database, "DELETE FROM chunks WHERE lane = ?", {id});
        sumUpLane(database, id);
    }
}

void cutWorkerTimes(SQLite::Database& database, std::int64_t session, std::int64_t moment) {
    for (const auto& [id, kind] : storedLanes(database, session)) {
        if (kind != kWorkerTimes) continue;
        runWith(database, "DELETE FROM chunks WHERE lane = ? AND begin_ns > ?", {id, moment});
        std::vector<std::int64_t> over;
        {
            // The end of a block lies just behind its last step's.
            SQLite::Statement select(database, "SELECT id FROM chunks WHERE lane = ? AND end_ns - 1 > ?");
            select.bind(1, id);
            select.bind(2, moment);
            while (select.executeStep()) over.push_back(select.getColumn(0).getInt64());
        }
        for (const std::int64_t block : over) cutBlock(database, block, moment);
        sumUpLane(database, id);
    }
}

}  // namespace stepscope
