// ChunkWriter and ChunkQuery: the tables of bulk data (migrations/0007-chunks.sql). The writer is the recorder's, on its thread inside its
// transaction; a query belongs to a reader's connection. What removes blocks belongs to a transaction of the caller's. All throw SQLite::Exception.
#pragma once
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "sessions/SessionStore.h"

namespace stepscope {

class ChunkWriter {
public:
    ChunkWriter(SQLite::Database& database, std::int64_t session) : m_database(database), m_session(session) {}

    // `frame`: the chunk's bytes, packed. Writing the same chunk with the same number again changes nothing.
    void write(const Chunk& chunk, const std::string& frame, std::int64_t sequence);

private:
    std::int64_t laneOf(const Chunk& chunk);

    SQLite::Database& m_database;
    std::int64_t m_session;
    std::optional<SQLite::Statement> m_addLane, m_findLane, m_insert, m_grow;
};

std::vector<ChunkLane> readChunkLanes(SQLite::Database& database, std::int64_t session);
Result<ChunkPage> readChunks(SQLite::Database& database, const std::string& path, std::int64_t session, const ChunkRange& range,
                             const ChunkPlace& after, std::int64_t mostBytes);
void purgeChunks(SQLite::Database& database, std::int64_t session);

// Whether its blocks are what captures observed, and not what was made of that.
bool isOfCaptures(const std::string& kind);
// Removes what captures observed in blocks that begin in (after, until]. With it the level of detail goes whole, for folds reach over captures: who
// looks at the session next makes it again.
void removeCaptureBlocks(SQLite::Database& database, std::int64_t session, std::int64_t after, std::int64_t until);
// Takes the times of workers back to a moment: steps that ended behind it go, also out of a block that reaches over it. A block that cannot be read
// stays as it is.
void cutWorkerTimes(SQLite::Database& database, std::int64_t session, std::int64_t moment);

}  // namespace stepscope
