// Channel<T>: many producers, one consumer; a mutex and two vectors that are swapped.
// Used front end -> trainer (commands) and trainer -> window (drained by a timer), where the producer never waits. What is stored goes another way,
// through the RecorderQueue of sessions/record. Lock-free only if a benchmark ever shows this above 1 % of a step.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace stepscope {

template <class T>
class Channel {
public:
    // capacity 0 = unbounded: push never waits.
    explicit Channel(std::size_t capacity = 0) : m_capacity(capacity) {}

    // Appends. Waits while the channel is full and open; returns how long it waited. After close() the item is dropped.
    std::chrono::nanoseconds push(T item) {
        std::unique_lock lock(m_mutex);
        std::chrono::nanoseconds waited{0};
        if (m_capacity != 0 && m_items.size() >= m_capacity && !m_closed) {
            const auto begin = std::chrono::steady_clock::now();
            m_roomFor.wait(lock, [&] { return m_items.size() < m_capacity || m_closed; });
            waited = std::chrono::steady_clock::now() - begin;
        }
        if (m_closed) return waited;
        m_items.push_back(std::move(item));
        lock.unlock();
        m_hasItems.notify_one();
        return waited;
    }

    // Takes everything there is without waiting; `into` is cleared first and its storage is reused.
    void drain(std::vector<T>& into) {
        into.clear();
        {
            std::lock_guard lock(m_mutex);
            m_items.swap(into);
        }
        m_roomFor.notify_all();
    }

    // Waits until there is something, the channel is closed, or the time is up; then drains. False = closed and empty.
    bool drainFor(std::vector<T>& into, std::chrono::milliseconds patience) {
        into.clear();
        bool alive = true;
        {
            std::unique_lock lock(m_mutex);
            m_hasItems.wait_for(lock, patience, [&] { return !m_items.empty() || m_closed; });
            m_items.swap(into);
            alive = !into.empty() || !m_closed;
        }
        m_roomFor.notify_all();
        return alive;
    }

    void close() {
        {
            std::lock_guard lock(m_mutex);
            m_closed = true;
        }
        m_hasItems.notify_all();
        m_roomFor.notify_all();
    }

    std::size_t size() const {
        std::lock_guard lock(m_mutex);
        return m_items.size();
    }

private:
    mutable std::mutex m_mutex;
    std::condition_variable m_hasItems;
    std::condition_variable m_roomFor;
    std::vector<T> m_items;
    std::size_t m_capacity;
    bool m_closed = false;
};

}  // namespace stepscope
