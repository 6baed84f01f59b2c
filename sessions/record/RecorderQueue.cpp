#include "sessions/record/RecorderQueue.h"

#include <algorithm>

#include "sessions/EventTime.h"

namespace stepscope {

using Clock = std::chrono::steady_clock;

namespace {

std::size_t bytesOf(const Queued& item) {
    const auto* chunk = std::get_if<ChunkPtr>(&item);
    return chunk != nullptr ? (*chunk)->bytes.size() : 0;
}

TimeNs timeOfQueued(const Queued& item) {
    const auto* chunk = std::get_if<ChunkPtr>(&item);
    return chunk != nullptr ? (*chunk)->end : timeOf(std::get<Event>(item));
}

}  // namespace

std::optional<RecorderWaited> RecorderQueue::push(Queued item) {
    const std::size_t bytes = bytesOf(item);
    std::optional<RecorderWaited> waited;
    std::unique_lock lock(m_mutex);
    if (m_closed) return waited;
    if (!hasRoomFor(bytes)) {
        const auto begin = Clock::now();
        ++m_waiting;
        m_forProducers.wait(lock, [&] { return hasRoomFor(bytes) || m_closed; });
        --m_waiting;
        if (m_abandoned) return waited;  // counted by abandon()
        const TimeNs length{std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count()};
        // The queue has no clock of the session: the wait began when the event happened.
        waited = RecorderWaited{timeOfQueued(item) + length, length};
    }
    m_items.push_back(std::move(item));
    m_queuedBytes += bytes;
    m_heldBytes += bytes;
    if (waited) m_items.emplace_back(std::in_place_type<Event>, *waited);  // in place: g++ 12 warns wrongly of a moved one
    m_pushed += waited ? 2 : 1;
    // Only what the consumer waits for wakes it: a first event, or no time to gather more.
    const bool wake = m_items.size() <= 2 || halfFull() || m_closed;
    lock.unlock();
    if (wake) m_forConsumer.notify_one();
    return waited;
}

bool RecorderQueue::take(std::vector<Queued>& batch, std::chrono::milliseconds gather) {
    batch.clear();
    std::unique_lock lock(m_mutex);
    m_forConsumer.wait(lock, [&] { return !m_items.empty() || (m_closed && m_waiting == 0); });
    m_forConsumer.wait_until(lock, Clock::now() + gather, [&] { return m_closed || m_flushTo > m_taken || halfFull(); });
    m_items.swap(batch);
    m_queuedBytes = 0;
    m_taken += static_cast<std::int64_t>(batch.size());
    const bool more = !batch.empty() || m_waiting > 0 || !m_closed;
    lock.unlock();
    m_forProducers.notify_all();
    return more;
}

void RecorderQueue::committed(const std::vector<Queued>& batch) {
    {
        std::lock_guard lock(m_mutex);
        m_committed += static_cast<std::int64_t>(batch.size());
        for (const Queued& item : batch) m_heldBytes -= bytesOf(item);
    }
    m_forFlushers.notify_all();
    m_forProducers.notify_all();
}

void RecorderQueue::waitForClose(Clock::time_point until) {
    std::unique_lock lock(m_mutex);
    // Already closed: a plain sleep, or a recorder that is told to finish would try without pause.
    if (m_closed)
        m_forConsumer.wait_until(lock, until, [] { return false; });
    else
        m_forConsumer.wait_until(lock, until, [&] { return m_closed; });
}

std::size_t RecorderQueue::abandon() {
    std::size_t left = 0;
    {
        std::lock_guard lock(m_mutex);
        left = m_items.size() + m_waiting;
        m_items.clear();
        m_queuedBytes = 0;
        m_closed = m_abandoned = true;
    }
    m_forProducers.notify_all();
    m_forFlushers.notify_all();
    return left;
}

void RecorderQueue::flush() {
    std::unique_lock lock(m_mutex);
    const auto target = m_pushed;
    m_flushTo = std::max(m_flushTo, target);
    m_forConsumer.notify_one();
    m_forFlushers.wait(lock, [&] { return m_committed >= target || m_abandoned; });
}

std::int64_t RecorderQueue::pushed() const {
    const std::lock_guard lock(m_mutex);
    return m_pushed;
}

std::int64_t RecorderQueue::committed() const {
    const std::lock_guard lock(m_mutex);
    return m_committed;
}

std::int64_t RecorderQueue::bytes() const {
    const std::lock_guard lock(m_mutex);
    return m_abandoned ? 0 : static_cast<std::int64_t>(m_heldBytes);
}

bool RecorderQueue::producersWait() const {
    const std::lock_guard lock(m_mutex);
    return m_waiting > 0;
}

void RecorderQueue::close() {
    {
        std::lock_guard lock(m_mutex);
        m_closed = true;
    }
    m_forConsumer.notify_one();
    m_forProducers.notify_all();
}

}  // namespace stepscope
