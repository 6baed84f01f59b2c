#include "app/workbench/engine/EngineOutlet.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "app/workbench/engine/StartWords.h"
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
    if (const Status fits = fitsFrame(payload, "It"); !fits) return leaveOut(fits.error().sentence);
    write(FrameType::Chunk, payload, ++m_number);
}

Status EngineOutlet::send(FrameType type, const FrameBytes& payload) {
    if (Status fits = fitsFrame(payload, "What the engine has to say"); !fits) return fits;
    const std::lock_guard lock(m_mutex);
    write(type, payload, 0);
    return {};
}

void EngineOutlet::refuse(const Error& why) {
    const Status said = send(FrameType::Refused, errorToBytes(why));
    if (!said) (void)send(FrameType::Refused, errorToBytes(said.error()));
}

void EngineOutlet::writeEvent(const Event& event) {
    const FrameBytes payload = eventToBytes(m_number + 1, event);
    if (const Status fits = fitsFrame(payload, "It"); !fits) return leaveOut(fits.error().sentence);
    write(FrameType::Event, payload, ++m_number);
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
