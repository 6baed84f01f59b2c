// RecorderQueue: what is published and not yet written. Many producers, one consumer (the recorder thread), bounded: when it is full
// the producer waits. Unlike Channel it lets events gather before the consumer takes them, and knows what has been committed. Bounded in
// two ways: so many events and blocks, and so many bytes of blocks, these until they are committed.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "core/events/Event.h"

namespace stepscope {

using Queued = std::variant<Event, ChunkPtr>;

class RecorderQueue {
public:
    RecorderQueue(std::size_t capacity, std::size_t byteCapacity) : m_capacity(capacity < 1 ? 1 : capacity), m_byteCapacity(byteCapacity) {}

    // Any thread. When there was no room it waits, and what it waited is queued right behind and returned. After close(): dropped.
    std::optional<RecorderWaited> push(Queued item);

    // The consumer: waits for a first event, lets more gather for `gather` (less when the queue gets full, is flushed or closed),
    // and takes them all. False = closed, and nothing is left.
    bool take(std::vector<Queued>& batch, std::chrono::milliseconds gather);
    void committed(const std::vector<Queued>& batch);
    // The consumer sleeps between two tries; close() wakes it.
    void waitForClose(std::chrono::steady_clock::time_point until);
    // The consumer is gone: nobody need wait for it any longer. Returns how many events were left.
    std::size_t abandon();

    void flush();                    // waits until everything pushed so far is committed, or the consumer is gone
    std::int64_t pushed() const;     // so far,
    std::int64_t committed() const;  //   and how many of them, in their order, are in the database
    std::int64_t bytes() const;      // of blocks that are not
    bool producersWait() const;      // for room
    void close();                    // producers that are waiting still get their event in

private:
    mutable std::mutex m_mutex;
    std::condition_variable m_forConsumer, m_forProducers, m_forFlushers;
    bool hasRoomFor(std::size_t bytes) const {  // a block larger than all the room passes alone
        return m_items.size() < m_capacity && (bytes == 0 || m_heldBytes == 0 || m_heldBytes + bytes <= m_byteCapacity);
    }
    bool halfFull() const { return m_items.size() >= m_capacity / 2 || m_queuedBytes >= m_byteCapacity / 2; }

    std::vector<Queued> m_items;
    std::size_t m_capacity, m_byteCapacity;
    std::size_t m_queuedBytes = 0, m_heldBytes = 0;  // of blocks: in m_items; besides, taken and not yet committed
    std::size_t m_waiting = 0;                       // producers
    std::int64_t m_pushed = 0, m_taken = 0, m_committed = 0, m_flushTo = 0;
    bool m_closed = false, m_abandoned = false;
};

}  // namespace stepscope
