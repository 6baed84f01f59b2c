// SessionKeeper: who keeps the session of a run in this process's place, where the run is trained for another one (EngineServer). Asked by LiveRun on
// the trainer thread.
#pragma once
#include <cstdint>
#include <string>

#include "core/base/Result.h"
#include "core/base/Units.h"
#include "core/events/SessionInfo.h"

namespace stepscope {

struct SessionPlace {
    std::int64_t session = 0;  // its number there
    std::string checkpointFolder;
};

class SessionKeeper {
public:
    virtual ~SessionKeeper() = default;
    // Once, when all is ready: from its answer on, events are kept. Waits for it. now: of the run's clock. Errors are those of opening a database.
    virtual Result<SessionPlace> open(const SessionInfo& info, TimeNs now) = 0;
    virtual bool blocked() const = 0;             // as Recorder
    virtual std::int64_t chunkBytes() const = 0;  // as Recorder
    // It keeps a copy: this process stores the session in its own database, too, and the place that open() told is nothing.
    virtual bool beside() const { return false; }
};

}  // namespace stepscope
