#include "core/prediction/AllocationTrace.h"

#include <algorithm>
#include <cmath>

#include "core/base/SizeClasses.h"

namespace stepscope {
namespace {

constexpr std::size_t kMapped = static_cast<std::size_t>(-1);
// glibc maps larger blocks one by one and gives them back (DEFAULT_MMAP_THRESHOLD_MAX). Smaller ones end on its heap after the first
// step, and there a hole is reused by its own size at best: posix_memalign asks for more than the block it will hand out. Best fit with
// merging of neighbours, tried as a model, predicted clearly less than 6 layers of 384 really took (tests/bench/memory_prediction compares).
constexpr double kAlwaysMapped = 32.0 * 1024 * 1024;
constexpr double kSaturated = 4e18;

}  // namespace

std::size_t AllocationTrace::binFor(double bytes) const {
    if (!m_caching && bytes >= kAlwaysMapped) return kMapped;
    return size_classes::binOf(static_cast<std::size_t>(bytes) + size_classes::kHeader);
}

void AllocationTrace::count(MemoryKind kind, double bytes) {
    m_now[static_cast<std::size_t>(kind)] += bytes;
    m_live += bytes;
    if (m_live > m_peak) {
        m_peak = m_live;
        m_atPeak = m_now;
    }
}

void AllocationTrace::takePart(MemoryKind kind, double bytes) {
    bytes = std::min(bytes, kSaturated);
    m_mappedPeak = std::max(m_mappedPeak, m_mapped += bytes);
    count(kind, bytes);
}

AllocationTrace::Block AllocationTrace::take(MemoryKind kind, double bytes) {
    bytes = std::min(bytes, kSaturated);
    const Held held{kind, bytes, binFor(bytes)};
    if (held.bin == kMapped) {
        m_mappedPeak = std::max(m_mappedPeak, m_mapped += bytes);
    } else {
        Bin& of = m_bins[held.bin];
        of.most = std::max(of.most, ++of.now);
        of.largest = std::max(of.largest, bytes);
    }
    count(kind, bytes);
    if (m_free.empty()) {
        m_blocks.push_back(held);
        return m_blocks.size() - 1;
    }
    const Block block = m_free.back();
    m_free.pop_back();
    m_blocks[block] = held;
    return block;
}

void AllocationTrace::drop(Block& block) {
    if (block == kNone) return;
    const Held& held = m_blocks[block];
    m_now[static_cast<std::size_t>(held.kind)] -= held.bytes;
    m_live -= held.bytes;
    if (held.bin == kMapped)
        m_mapped -= held.bytes;
    else
        --m_bins[held.bin].now;
    m_free.push_back(block);
    block = kNone;
}

double AllocationTrace::held() const {
    double bytes = m_mappedPeak;
    for (const auto& [bin, of] : m_bins) {
        // Only the pages that the largest block of a class reached were ever touched.
        const bool pages = m_caching && of.largest >= static_cast<double>(size_classes::kSmallestCached);
        const double page = pages ? static_cast<double>(size_classes::pagesOf(static_cast<std::size_t>(of.largest))) : 1;
        bytes += static_cast<double>(of.most) * std::ceil((of.largest + size_classes::kHeader) / page) * page;
    }
    return bytes;
}

}  // namespace stepscope
