#include "core/step/Team.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace stepscope {
namespace {

inline void pause() {
#if defined(__x86_64__)
    _mm_pause();
#endif
}

// Workers of one step arrive within microseconds of each other, so waiting starts by looking; a worker whose processor is taken by another
// program would be looked for in vain, so after about 50 us the wait goes through the system.
constexpr int kLooks = 2000;

template <typename T>
void await(const std::atomic<T>& value, T old) {
    for (int look = 0; look < kLooks; ++look) {
        if (value.load(std::memory_order_acquire) != old) return;
        pause();
    }
    while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

}  // namespace

Team::Team(int workers) {
    try {
        for (int worker = 1; worker < workers; ++worker) m_threads.emplace_back([this, worker] { serve(worker); });
    } catch (...) {  // the system starts no more of them; those that were are not left behind
        leave();
        throw;
    }
}

Team::~Team() {
    leave();
}

void Team::leave() {
    m_leaving.store(true);
    m_round.fetch_add(1, std::memory_order_release);
    m_round.notify_all();
    for (auto& thread : m_threads) thread.join();
}

void Team::serve(int worker) {
    std::uint32_t seen = 0;
    while (true) {
        await(m_round, seen);
        ++seen;
        if (m_leaving.load()) return;
        (*m_work)(worker);
        if (m_busy.fetch_sub(1, std::memory_order_acq_rel) == 1) m_busy.notify_all();
    }
}

void Team::run(const std::function<void(int)>& work) {
    m_work = &work;
    m_busy.store(static_cast<int>(m_threads.size()), std::memory_order_relaxed);
    m_round.fetch_add(1, std::memory_order_release);
    m_round.notify_all();
    work(0);
    for (int left = m_busy.load(std::memory_order_acquire); left != 0; left = m_busy.load(std::memory_order_acquire)) await(m_busy, left);
}

void Team::barrier() {
    const std::uint32_t phase = m_phase.load(std::memory_order_relaxed);
    if (m_arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == size()) {
        m_arrived.store(0, std::memory_order_relaxed);
        m_phase.fetch_add(1, std::memory_order_release);
        m_phase.notify_all();
        return;
    }
    await(m_phase, phase);
}

}  // namespace stepscope
