// ObserverList: who listens to something that other threads may be saying at this moment. Who speaks takes a snapshot when it begins and tells the
// end to the same ones, so that each observer's begins and ends pair whatever is added and removed between. Nobody waits for anybody: an observer is
// shared with the snapshots, and one that was removed may still hear the ends of what it heard begin.
#pragma once
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace stepscope {

template <class Observer>
class ObserverList {
public:
    using Observers = std::vector<std::shared_ptr<Observer>>;
    using Snapshot = std::shared_ptr<const Observers>;  // never changes; null: nobody

    // All that it costs where nobody listens.
    bool empty() const { return m_count.load(std::memory_order_relaxed) == 0; }

    Snapshot now() const {
        const std::lock_guard lock(m_mutex);
        return m_now;
    }

    void add(std::shared_ptr<Observer> observer) {
        const std::lock_guard lock(m_mutex);
        auto next = m_now ? *m_now : Observers();
        next.push_back(std::move(observer));
        publish(std::move(next));
    }

    void remove(const Observer* observer) {
        const std::lock_guard lock(m_mutex);
        auto next = m_now ? *m_now : Observers();
        std::erase_if(next, [&](const auto& one) { return one.get() == observer; });
        publish(std::move(next));
    }

private:
    void publish(Observers next) {
        const auto count = static_cast<int>(next.size());
        m_now = next.empty() ? nullptr : std::make_shared<const Observers>(std::move(next));
        m_count.store(count, std::memory_order_relaxed);
    }

    std::atomic<int> m_count{0};
    mutable std::mutex m_mutex;
    Snapshot m_now;
};

// Listens as long as it lives.
template <class Observer>
class Listening {
public:
    Listening(ObserverList<Observer>& list, std::shared_ptr<Observer> observer) : m_list(list), m_observer(observer.get()) {
        m_list.add(std::move(observer));
    }
    ~Listening() { m_list.remove(m_observer); }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

private:
    ObserverList<Observer>& m_list;
    const Observer* m_observer;
};

}  // namespace stepscope
