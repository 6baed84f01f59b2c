// ImportStore: the session that an import becomes. Its row is there from the start, hidden as if it were deleted, so that nobody ever sees half of
// it; chunks are encoded, packed and written on a thread of its own, a few megabytes a transaction, by the same ChunkWriter as recorded ones. Used by
// Import.cpp.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "core/events/SessionInfo.h"
#include "core/trace/Chunk.h"

namespace stepscope {
struct Event;
}

namespace stepscope::importing {

class ImportStore {
public:
    // Removes what imports that were killed have left behind, too.
    static Result<std::unique_ptr<ImportStore>> open(const std::string& database, const SessionInfo& info);
    // Without a finish() before, everything is removed again.
    virtual ~ImportStore() = default;

    virtual std::int64_t session() const = 0;
    // Waits while a lot is queued. False: the disk refused, or somebody removed it; finish() says what.
    virtual bool add(std::function<Chunk()> encode) = 0;
    // The same of events, which are in order of time and follow those before. What they say of the session's state is what it has from then on.
    virtual bool add(std::vector<Event> events) = 0;
    // Writes what is queued, and shows the session.
    virtual Status finish() = 0;
};

}  // namespace stepscope::importing
