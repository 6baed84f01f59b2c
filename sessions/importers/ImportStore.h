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
    // Writes what is queued and the events, and shows the session as finished.
    virtual Status finish(const std::vector<Event>& events, TimeNs end) = 0;
};

}  // namespace stepscope::importing
