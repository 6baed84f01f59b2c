#include "core/analysis/captures/OperationMemory.h"

#include <algorithm>
#include <limits>

namespace stepscope {

void OperationMemory::add(const AllocationBlock& block) {
    for (const Allocation& one : block.allocations) {
        if (one.bytes <= 0 || one.owner == 0) continue;
        std::int64_t& sum = m_bytes[block.strings[one.owner]];
        if (__builtin_add_overflow(sum, one.bytes, &sum)) sum = std::numeric_limits<std::int64_t>::max();
    }
}

std::int64_t OperationMemory::of(const std::string& operation) const {
    const auto found = m_bytes.find(operation);
    return found == m_bytes.end() ? 0 : found->second;
}

void OperationMemory::sort(std::vector<SummaryRow>& rows) const {
    std::ranges::stable_sort(rows, [&](const SummaryRow& a, const SummaryRow& b) { return of(a.name) > of(b.name); });
}

}  // namespace stepscope
