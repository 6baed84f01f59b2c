#include "app/workbench/engine/EngineOutlet.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "core/base/Format.h"
#include "core/events/Event.h"
#include "sessions/EventTime.h"
#include "sessions/wire/EventWire.h"

namespace stepscope {

void EngineOutlet::publish(Event event) {
    const std::lock_guard lock(m_mutex);
    m_at = std::max(m_at, timeOf(event));
    if (const auto* changed = std::get_if<StateChanged>(&event); changed && ended(changed->state)) sayAllLeftOut();
    writeEvent(event);
}

void EngineOutlet::publishChunk(ChunkPtr chunk) {
    const Status good = checkChunk(*chunk);
    const std::lock_guard lock(m_mutex);
    if (!good) return leaveOut(good.error().sentence);  // nobody could store it
    const FrameBytes payload = chunkToBytes(m_number + 1, *chunk);
    write(FrameType::Chunk, payload, ++m_number);  // what can be stored fits into a frame
}

void EngineOutlet::send(FrameType type, const FrameBytes& payload) {
    const std::lock_guard lock(m_mutex);
    write(type, payload, 0);
}

void EngineOutlet::writeEvent(const Event& event) {
    const FrameBytes payload = eventToBytes(m_number + 1, event);
    if (payload.size() <= kMostFrameBytes) return write(FrameType::Event, payload, ++m_number);
    const auto words = [](std::size_t bytes) { return format::bytes({static_cast<std::int64_t>(bytes)}); };
    leaveOut(fmt::format("It takes {}; an engine can send {} at a time.", words(payload.size()), words(kMostFrameBytes)));
}

// Of many that follow each other not every one gets a line: the first, the second, the fourth and so on, and all at the end.
void EngineOutlet::leaveOut(const std::string& why) {
    ++m_leftOut;
    if (!std::has_single_bit(m_leftOut)) return;
    m_leftOutSaid = m_leftOut;
    const std::string soFar = m_leftOut > 1 ? fmt::format(" {} parts have been left out so far.", m_leftOut) : std::string();
    warn(fmt::format("A part of what this run records was left out. {}{}", why, soFar));
}

void EngineOutlet::sayAllLeftOut() {
    if (std::exchange(m_leftOutSaid, m_leftOut) != m_leftOut) warn(fmt::format("{} parts of what this run records were left out.", m_leftOut));
}

void EngineOutlet::warn(std::string text) {
    writeEvent(LogLine{m_at, 0, LogLevel::Warning, std::move(text)});
}

}  // namespace stepscope
