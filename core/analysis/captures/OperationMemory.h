// OperationMemory: what operations allocated, as captured allocations (core/trace/Allocation.h) tell it: bytes that were taken, by owner, given back
// or not. Beside OperationSummary, whose bytes are those that operations read and write. Blocks are added in any order.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/captures/OperationSummary.h"
#include "core/base/KeyedHash.h"
#include "core/trace/Allocation.h"

namespace stepscope {

class OperationMemory {
public:
    void add(const AllocationBlock& block);
    bool known() const { return !m_bytes.empty(); }
    std::int64_t of(const std::string& operation) const;  // 0: took none
    // Most bytes first; rows that took equally much keep their order.
    void sort(std::vector<SummaryRow>& rows) const;

private:
    KeyedMap<std::string, std::int64_t> m_bytes;
};

}  // namespace stepscope
