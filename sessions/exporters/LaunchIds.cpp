#include "sessions/exporters/LaunchIds.h"

namespace stepscope {
namespace {

struct BitOfPage {
    std::size_t word = 0;
    std::uint64_t bit = 0;
};

BitOfPage bitOf(std::int64_t correlation) {
    const auto at = static_cast<std::uint64_t>(correlation) & ((1U << LaunchIds::kPageBits) - 1);
    return {static_cast<std::size_t>(at / 64), std::uint64_t{1} << (at % 64)};
}

}  // namespace

void LaunchIds::add(const SliceBlock& block) {
    const bool device = block.thread.device >= 0;
    for (const auto& slice : block.slices) {
        const bool call = isCall(slice.kind), launched = isLaunched(slice.kind, device);
        if (slice.correlation == 0 || (!call && !launched)) continue;
        Page& page = m_pages[{block.thread.rank, slice.correlation >> kPageBits}];
        const BitOfPage at = bitOf(slice.correlation);
        if (call) page.calls[at.word] |= at.bit;
        if (launched) page.launched[at.word] |= at.bit;
    }
}

bool LaunchIds::joined(std::int64_t rank, std::int64_t correlation) const {
    if (correlation == 0) return false;
    const auto found = m_pages.find({rank, correlation >> kPageBits});
    if (found == m_pages.end()) return false;
    const BitOfPage at = bitOf(correlation);
    return (found->second.calls[at.word] & found->second.launched[at.word] & at.bit) != 0;
}

}  // namespace stepscope
