// EngineOutlet: what an engine that runs apart says: numbers what happens, so that whoever reads knows that none is missing, and leaves where the
// frames go to who is one (a pipe in EngineServer.cpp, a journal in detached/). What no frame can hold is left out, and said. Any thread.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>

#include "core/events/EventSink.h"
#include "sessions/wire/Frame.h"

namespace stepscope {

class EngineOutlet : public EventSink {
public:
    void publish(Event event) override;
    void publishChunk(ChunkPtr chunk) override;
    // What is no event. Of one that nobody reads any more nothing is written, and nothing fails. Unsupported: no frame can hold it, and nothing was
    // written.
    virtual Status send(FrameType type, const FrameBytes& payload);
    // Why a run cannot be, or what became of it cannot be said; shorter where no frame can hold it.
    void refuse(const Error& why);
    // Whoever publishes must not wait for a disk any longer: the run is to stop.
    virtual void stopping() {}

protected:
    // One at a time, what a frame can hold. number: of an event or a chunk; 0 of all else.
    virtual void write(FrameType type, const FrameBytes& payload, std::uint64_t number) = 0;

private:
    // All under m_mutex.
    void writeEvent(const Event& event);
    void leaveOut(const std::string& why);
    void sayAllLeftOut();
    void warn(std::string text);

    std::mutex m_mutex;
    std::uint64_t m_number = 0;  // under m_mutex, as what follows
    TimeNs m_at;                 // of the newest event
    std::uint64_t m_leftOut = 0, m_leftOutSaid = 0;
};

}  // namespace stepscope
