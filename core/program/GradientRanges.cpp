#include "core/program/GradientRanges.h"

#include <string_view>

#include "core/base/Check.h"

namespace stepscope {
namespace {

// "h.3" of "h.3.attn.c_proj.weight"; empty for what is in no block.
std::string_view blockOf(const ParameterSlot& slot) {
    const std::string_view name = slot.name;
    return name.starts_with("h.") ? name.substr(0, name.find('.', 2)) : std::string_view();
}

}  // namespace

std::vector<GradientRange> gradientRanges(const ParameterLayout& layout) {
    const auto& slots = layout.slots();
    const auto offsetOf = [&](std::size_t slot) { return slot < slots.size() ? slots[slot].offset : layout.size(); };
    const auto range = [&](std::size_t begin, std::size_t end) {
        return GradientRange{offsetOf(begin), offsetOf(end) - offsetOf(begin), begin, end - begin};
    };
    // The layout has embeddings, the blocks' matrices from the first to the last, an untied head, then biases and norms.
    std::vector<GradientRange> forward;
    std::size_t begin = 0, end = 0;
    while (end < slots.size() && slots[end].decays) {
        ++end;
        if (end == slots.size() || !slots[end].decays || blockOf(slots[end]) != blockOf(slots[begin])) {
            forward.push_back(range(begin, end));
            begin = end;
        }
    }
    std::vector<GradientRange> all(forward.rbegin(), forward.rend());
    if (end < slots.size()) all.push_back(range(end, slots.size()));
    return all;
}

void GradientAnnouncer::begin(const ParameterLayout& layout, GradientOf gradientOf) {
    if (m_subscriber == nullptr) return;
    m_ranges = gradientRanges(layout);
    m_gradientOf = std::move(gradientOf);
    m_offsets.clear();
    for (const auto& slot : layout.slots()) m_offsets.push_back(slot.offset);
    m_rangeOf.assign(layout.slots().size(), 0);
    m_missing.clear();
    for (std::size_t r = 0; r < m_ranges.size(); ++r) {
        m_missing.push_back(m_ranges[r].slots);
        for (std::size_t i = 0; i < m_ranges[r].slots; ++i) m_rangeOf[m_ranges[r].firstSlot + i] = r;
    }
    m_next = 0;
    m_open = true;
}

void GradientAnnouncer::slotIsFinal(std::size_t slot) {
    if (!m_open) return;
    std::size_t& missing = m_missing.at(m_rangeOf.at(slot));
    SS_CHECK(missing > 0);
    --missing;
    announce();
}

void GradientAnnouncer::rangeIsFinal(std::size_t range) {
    if (!m_open) return;
    m_missing.at(range) = 0;
    announce();
}

void GradientAnnouncer::end() {
    if (!m_open) return;
    m_missing.assign(m_ranges.size(), 0);
    announce();
    m_open = false;
    m_gradientOf = {};
    m_subscriber->reduce();
}

void GradientAnnouncer::announce() {
    for (; m_next < m_ranges.size() && m_missing[m_next] == 0; ++m_next) {
        const GradientRange& range = m_ranges[m_next];
        FinalGradients announced{range.offset, range.count, {}, {}};
        for (std::size_t slot = range.firstSlot; slot < range.firstSlot + range.slots; ++slot) {
            announced.parameters.push_back(m_gradientOf(slot));
            announced.offsets.push_back(m_offsets[slot]);
        }
        m_subscriber->onFinal(announced);
    }
}

}  // namespace stepscope
