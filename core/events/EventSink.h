// Where events go in. Apart from Event.h, so that who only hands a sink on is not compiled anew with each new event.
#pragma once
#include "core/trace/Chunk.h"

namespace stepscope {

struct Event;

// The one door. Both may be called from any thread and must not throw.
class EventSink {
public:
    virtual ~EventSink() = default;
    virtual void publish(Event event) = 0;
    // Bulk data, for those who keep or draw it; nothing of it is an Event, so a listener without this misses no event.
    virtual void publishChunk(ChunkPtr) {}
};

}  // namespace stepscope
