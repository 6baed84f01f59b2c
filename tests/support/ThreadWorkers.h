// ThreadWorkers: several workers of a run as threads of one test, with Collectives over memory: sums in the order of ranks, and an error where the
// workers do not do the same, or one has left.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/kernels/isa/Bf16.h"
#include "core/workers/Collectives.h"

namespace stepscope::testing {

class ThreadWorkers {
public:
    explicit ThreadWorkers(int size) : m_calls(static_cast<std::size_t>(size)) {
        for (int rank = 0; rank < size; ++rank) m_workers.push_back(std::make_unique<Worker>(*this, rank));
    }

    Collectives& of(int rank) { return *m_workers[static_cast<std::size_t>(rank)]; }
    // Whoever waits for it, now or later, gets an error.
    void leave() {
        {
            const std::lock_guard lock(m_mutex);
            m_left = true;
        }
        m_met.notify_all();
    }
    // Each on a thread; returns when all are done.
    void run(const std::function<void(int rank)>& work) {
        std::vector<std::jthread> threads;
        for (int rank = 0; rank < static_cast<int>(m_calls.size()); ++rank) threads.emplace_back([&work, rank] { work(rank); });
    }
    int sums() const { return m_sums; }  // that were made, of all workers
    int gathers() const { return m_gathers; }

private:
    enum class Kind { Sum, SumBf16, Gather };
    struct Call {
        Kind kind = Kind::Sum;
        const void* bytes = nullptr;
        std::int64_t count = 0;
    };

    class Worker final : public Collectives {
    public:
        Worker(ThreadWorkers& all, int rank) : m_all(all) {
            m_place.rank = m_place.localRank = rank;
            m_place.size = m_place.localSize = static_cast<int>(all.m_calls.size());
        }
        const WorkerPlace& place() const override { return m_place; }
        Status sum(float* values, std::int64_t count) override {
            ++m_all.m_sums;
            std::vector<float> total;
            const Status done = m_all.together(m_place.rank, {Kind::Sum, values, count}, [&](const std::vector<Call>& calls) {
                total.assign(static_cast<const float*>(calls[0].bytes), static_cast<const float*>(calls[0].bytes) + count);
                for (std::size_t other = 1; other < calls.size(); ++other)
                    for (std::int64_t i = 0; i < count; ++i) total[static_cast<std::size_t>(i)] += static_cast<const float*>(calls[other].bytes)[i];
            });
            if (done) std::memcpy(values, total.data(), total.size() * sizeof(float));
            return done;
        }
        Status sumBf16(std::uint16_t* bits, std::int64_t count) override {
            ++m_all.m_sums;
            std::vector<std::uint16_t> total;
            const Status done = m_all.together(m_place.rank, {Kind::SumBf16, bits, count}, [&](const std::vector<Call>& calls) {
                const auto of = [](const Call& call) { return static_cast<const std::uint16_t*>(call.bytes); };
                total.assign(of(calls[0]), of(calls[0]) + count);
                for (std::size_t other = 1; other < calls.size(); ++other)
                    for (std::size_t i = 0; i < total.size(); ++i)
                        total[i] = toBf16(toFloat(Bf16{total[i]}) + toFloat(Bf16{of(calls[other])[i]})).bits;
            });
            if (done) std::memcpy(bits, total.data(), total.size() * sizeof(std::uint16_t));
            return done;
        }
        Status gather(const void* own, std::int64_t bytes, void* all) override {
            ++m_all.m_gathers;
            return m_all.together(m_place.rank, {Kind::Gather, own, bytes}, [&](const std::vector<Call>& calls) {
                for (std::size_t rank = 0; rank < calls.size(); ++rank)
                    std::memcpy(static_cast<char*>(all) + rank * static_cast<std::size_t>(bytes), calls[rank].bytes, static_cast<std::size_t>(bytes));
            });
        }

    private:
        ThreadWorkers& m_all;
        WorkerPlace m_place;
    };

    // Reads what all have brought, while it is there.
    Status together(int rank, const Call& own, const std::function<void(const std::vector<Call>&)>& read) {
        {
            const std::lock_guard lock(m_mutex);
            m_calls[static_cast<std::size_t>(rank)] = own;
        }
        if (!meet()) return makeError(ErrorCode::Training, "Another worker has left.");
        bool alike = true;
        for (const Call& call : m_calls) alike = alike && call.kind == own.kind && call.count == own.count;
        if (alike) read(m_calls);
        if (!meet()) return makeError(ErrorCode::Training, "Another worker has left.");
        return alike ? Status() : makeError(ErrorCode::Internal, "The workers do not do the same.");
    }

    bool meet() {
        std::unique_lock lock(m_mutex);
        const std::int64_t round = m_round;
        if (++m_there == m_calls.size()) {
            m_there = 0;
            ++m_round;
            m_met.notify_all();
            return true;
        }
        m_met.wait(lock, [&] { return m_round != round || m_left; });
        return m_round != round;
    }

    std::mutex m_mutex;
    std::condition_variable m_met;
    std::size_t m_there = 0;
    std::int64_t m_round = 0;
    bool m_left = false;
    std::vector<Call> m_calls;  // by rank
    std::vector<std::unique_ptr<Worker>> m_workers;
    std::atomic<int> m_sums{0}, m_gathers{0};
};

}  // namespace stepscope::testing
