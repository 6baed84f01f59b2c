// OperationCounter: how many operations run while it lives: LibTorch's that do work of their own (those that only call others, make a view or
// allocate are left out) and our fused kernels. This is what fusion makes fewer. LibTorch's observers cost tens of nanoseconds an operation, so
// the Trainer counts one step of each Program, not all. One at a time in a process; made and ended on the trainer thread.
#pragma once
#include <cstdint>

#include "core/base/OperationSpan.h"

namespace stepscope {

class OperationCounter final : OperationListener {
public:
    OperationCounter();
    ~OperationCounter();
    OperationCounter(const OperationCounter&) = delete;
    OperationCounter& operator=(const OperationCounter&) = delete;

    std::int64_t count() const;  // so far

private:
    void begin(const char* name, int member) override;
    void end(const char*, int) override {}

    std::uint64_t m_callback;
    std::atomic<std::int64_t> m_own{0};
};

}  // namespace stepscope
