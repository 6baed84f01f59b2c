// RecorderQueue: what is published and not yet written. Many producers, one consumer (the recorder thread), bounded: when it is full
// the producer waits. Unlike Channel it lets events gather before the consumer takes them, and knows what has been committed.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "core/events/Event.h"

namespace stepscope {

class RecorderQueue {
public:
    explicit RecorderQueue(std::size_t capacity) : m_capacity(capacity < 1 ? 1 : capacity) {}

    // Any thread. When there was no room it waits, and what it waited is queued right behind and returned. After close(): dropped.
    std::optional<RecorderWaited> push(Event event);

    // The consumer: waits for a first event, lets more gather for `gather` (less when the queue gets full, is flushed or closed),
    // and takes them all. False = closed, and nothing is left.
    bool take(std::vector<Event>& batch, std::chrono::milliseconds gather);
    void committed(std::size_t count);
    // The consumer sleeps between two tries; close() wakes it.
    void waitForClose(std::chrono::steady_clock::time_point until);
    // The consumer is gone: nobody need wait for it any longer. Returns how many events were left.
    std::size_t abandon();

    void flush();  // waits until everything pushed so far is committed, or the consumer is gone
    void close();  // producers that are waiting still get their event in

private:
    std::mutex m_mutex;
    std::condition_variable m_forConsumer, m_forProducers, m_forFlushers;
    std::vector<Event> m_items;
    std::size_t m_capacity;
    std::size_t m_waiting = 0;  // producers
    std::int64_t m_pushed = 0, m_taken = 0, m_committed = 0, m_flushTo = 0;
    bool m_closed = false, m_abandoned = false;
};

}  // namespace stepscope
