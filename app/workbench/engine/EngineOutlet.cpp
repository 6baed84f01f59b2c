#include "app/workbench/engine/EngineOutlet.h"

#include <utility>

#include "core/events/Event.h"
#include "sessions/wire/EventWire.h"

namespace stepscope {

void EngineOutlet::publish(Event event) {
    const std::lock_guard lock(m_mutex);
    writeNumbered(FrameType::Event, eventToBytes(m_number + 1, event));
}

void EngineOutlet::publishChunk(ChunkPtr chunk) {
    if (!checkChunk(*chunk)) return;  // nobody could store it
    const std::lock_guard lock(m_mutex);
    writeNumbered(FrameType::Chunk, chunkToBytes(m_number + 1, *chunk));
}

void EngineOutlet::send(FrameType type, const FrameBytes& payload) {
    const std::lock_guard lock(m_mutex);
    write(type, payload, 0);
}

void EngineOutlet::writeNumbered(FrameType type, const FrameBytes& payload) {
    if (payload.size() > kMostFrameBytes) return;
    write(type, payload, ++m_number);
}

}  // namespace stepscope
