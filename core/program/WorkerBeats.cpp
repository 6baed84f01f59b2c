#include "core/program/WorkerBeats.h"

namespace stepscope {

WorkerBeats::WorkerBeats(DataParallel* others, std::chrono::milliseconds every)
    : m_others(others != nullptr && others->rank() == 0 ? others : nullptr), m_every(every) {
    if (m_others != nullptr) m_thread = std::thread([this] { beat(); });
}

WorkerBeats::~WorkerBeats() {
    {
        const std::lock_guard lock(m_mutex);
        m_ended = true;
    }
    m_ends.notify_all();
    if (m_thread.joinable()) m_thread.join();
}

bool WorkerBeats::end() {
    {
        const std::lock_guard lock(m_mutex);
        m_ended = true;
    }
    m_ends.notify_all();
    if (m_thread.joinable()) m_thread.join();
    if (m_broke) std::rethrow_exception(m_broke);
    return m_stopAgreed;
}

void WorkerBeats::beat() {
    try {
        std::unique_lock lock(m_mutex);
        while (!m_ends.wait_for(lock, m_every, [this] { return m_ended; })) {
            lock.unlock();
            const bool stops = m_others->agree(Wish::Wait) == Wish::Stop;
            lock.lock();
            m_stopAgreed = stops;
            if (stops) return;
        }
    } catch (...) {
        m_broke = std::current_exception();
    }
}

}  // namespace stepscope
