// Team: the threads that run one step together. Unlike a parallel_for per operation they are woken once a step and meet at barriers, so that
// a step of a small model is not spent in waking threads. The calling thread is worker 0. Owned by a StepEngine, used on the trainer thread.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace stepscope {

class Team {
public:
    explicit Team(int workers);  // throws std::system_error where so many threads cannot be started
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int size() const { return static_cast<int>(m_threads.size()) + 1; }

    // Runs work(worker) on every worker and returns when all are done. `work` must not throw.
    void run(const std::function<void(int worker)>& work);

    // Called by every worker inside run(): returns when all have called it.
    void barrier();

private:
    void serve(int worker);
    void leave();

    std::vector<std::thread> m_threads;
    const std::function<void(int)>* m_work = nullptr;
    std::atomic<std::uint32_t> m_round{0};  // odd work numbers wake the workers
    std::atomic<int> m_busy{0};
    std::atomic<bool> m_leaving{false};
    alignas(64) std::atomic<int> m_arrived{0};
    alignas(64) std::atomic<std::uint32_t> m_phase{0};
};

}  // namespace stepscope
