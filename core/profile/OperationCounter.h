// OperationCounter: how many launches of work run while it lives (OperationStream.h says what is one): this is what fusion makes fewer. LibTorch's
// observers cost tens of nanoseconds an operation, so the Trainer counts one step of each Program, not all. Any number at a time, and beside a
// capture: each counts everything. Made and ended on the thread that runs the steps.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "core/profile/OperationStream.h"

namespace stepscope {

class OperationCounter {
public:
    OperationCounter() : m_count(std::make_shared<Count>()), m_listening(m_count) {}

    std::int64_t count() const { return m_count->launches.load(std::memory_order_relaxed); }  // so far

private:
    struct Count final : OperationObserver {
        void operationEnds(const OperationDone& operation) noexcept override {
            if (operation.launch) launches.fetch_add(1, std::memory_order_relaxed);
        }
        std::atomic<std::int64_t> launches{0};
    };
    std::shared_ptr<Count> m_count;
    OperationListening m_listening;
};

}  // namespace stepscope
