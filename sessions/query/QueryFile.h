// QueryFile: the stored session that a query is about, open for reading; and what of it the views are made of. One a run, on its thread.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "sessions/SessionStore.h"
#include "sessions/file/Connection.h"
#include "sessions/query/RowSource.h"

namespace stepscope::query {

struct QueryFile {
    std::string path;
    std::int64_t session = 0;
    std::unique_ptr<SessionReader> reader;
    Connection tables;
    std::vector<ChunkLane> lanes;
    struct StoredCapture {
        std::int64_t end = 0, firstStep = 0, lastStep = 0;
    };
    std::vector<StoredCapture> captures;  // by their ends

    // Which capture something that began at `at` is of, from 1 on. It ends with the first worker's last step: where that step is known, what another
    // worker or a GPU still does of it is of that capture.
    std::int64_t captureOf(std::int64_t at, std::int64_t step = -1) const;
    // How many records of the chunks of this kind there are, as their rows say.
    double records(const char* kind) const;
};

Result<QueryFile> openQueryFile(const std::string& path, std::int64_t session);

// The views of each family, for queryViews(), and what feeds them. `file` and `guard` outlive the sources.
std::vector<QueryView> sliceViews();
std::vector<QueryView> bulkViews();    // sample, alloc, step, worker_phase, worker_clock
std::vector<QueryView> storedViews();  // the ordinary tables
void addSliceSources(RowSources& into, QueryFile& file, QueryGuard& guard);
void addBulkSources(RowSources& into, QueryFile& file, QueryGuard& guard);
void addStoredSources(RowSources& into, QueryFile& file, QueryGuard& guard);
const QueryView& viewNamed(const std::string& name);

// A fixed statement over the session's tables: ?1 the session, ?2 and ?3 the range of time. Texts of a row live until the next.
std::unique_ptr<Rows> statementRows(QueryFile& file, const std::string& sql, const Asked& asked);

}  // namespace stepscope::query
