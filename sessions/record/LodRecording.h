// LodRecording: the level of detail of a session that is being recorded (core/trace/LodBuilder.h), made on the recorder thread from the chunks of
// each batch and stored in its transaction. It is brought up to date behind each capture, and while one goes on for long every second at first, then
// less and less often, so that the blocks that this cuts short stay few.
#pragma once
#include <algorithm>
#include <chrono>
#include <vector>

#include "core/trace/LodBuilder.h"
#include "sessions/record/RecorderQueue.h"

namespace stepscope {

class LodRecording {
public:
    std::vector<ChunkPtr> of(const std::vector<Queued>& batch) {
        std::vector<ChunkPtr> more;
        bool captured = false;
        for (const Queued& item : batch) {
            if (const auto* chunk = std::get_if<ChunkPtr>(&item))
                m_builder.add(**chunk, more);
            else
                captured = captured || std::holds_alternative<CaptureDone>(std::get<Event>(item));
        }
        const auto now = Clock::now();
        if (m_builder.upToDate()) {
            m_since = now;
        } else if (captured || now - m_since >= std::max<Clock::duration>(std::chrono::seconds(1), (now - m_begun) / 64)) {
            m_builder.bringUpToDate(more);
            m_since = now;
        }
        return more;
    }
    std::vector<ChunkPtr> rest() {
        std::vector<ChunkPtr> more;
        m_builder.bringUpToDate(more);
        return more;
    }

private:
    using Clock = std::chrono::steady_clock;
    LodBuilder m_builder;
    Clock::time_point m_begun = Clock::now(), m_since = m_begun;
};

}  // namespace stepscope
