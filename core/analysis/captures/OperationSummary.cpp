#include "core/analysis/captures/OperationSummary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace stepscope {
namespace {

// Sums of what a stranger's file may say stay within bounds.
std::int64_t bounded(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

std::int64_t weight(const SummaryRow& row, SummarySort sort) {
    switch (sort) {
        case SummarySort::Self:
            return row.self.ns;
        case SummarySort::Total:
            return row.total.ns;
        case SummarySort::Memory:
            return row.bytes;
    }
    return 0;
}

// A row while it is added up, with its own time place by place.
struct Growing {
    SummaryRow row;
    std::map<std::pair<std::int32_t, std::string>, std::int64_t> ofPlace;  // layer and role
    std::map<std::string, std::int64_t> ofPhase;
};

template <class Key>
const Key& heaviest(const std::map<Key, std::int64_t>& all) {
    return std::ranges::max_element(all, {}, [](const auto& one) { return one.second; })->first;
}

}  // namespace

Result<SummaryBy> summaryBy(const std::string& word) {
    if (word == "op") return SummaryBy::Operation;
    if (word == "kernel") return SummaryBy::Kernel;
    if (word == "layer") return SummaryBy::Layer;
    if (word == "role") return SummaryBy::Role;
    return makeError(ErrorCode::BadInput, fmt::format("Rows are by op, kernel, layer or role, not by \"{}\".", word));
}

Result<SummarySort> summarySort(const std::string& word) {
    if (word == "self") return SummarySort::Self;
    if (word == "total") return SummarySort::Total;
    if (word == "memory") return SummarySort::Memory;
    return makeError(ErrorCode::BadInput, fmt::format("Rows are sorted by self, total or memory, not by \"{}\".", word));
}

std::string layerName(std::int32_t layer, const std::string& role) {
    if (layer >= 0) return fmt::format("layer {}", layer);
    return role.empty() ? "none" : role;
}

std::size_t OperationSummary::Hash::operator()(const Place& place) const {
    const auto mix = [](std::uint64_t a, std::uint64_t b) { return (a ^ b) * 0x9E3779B97F4A7C15ULL; };
    const std::uint64_t words = mix(place.name, static_cast<std::uint64_t>(place.phase) << 32 | place.role);
    return mix(words >> 7, static_cast<std::uint64_t>(static_cast<std::uint32_t>(place.layer)) << 1 | (place.own ? 1U : 0U)) >> 3;
}

std::uint32_t OperationSummary::textOf(const std::string& text) {
    const auto [found, added] = m_textPlaces.try_emplace(text, static_cast<std::uint32_t>(m_texts.size()));
    if (added) m_texts.push_back(text);
    return found->second;
}

void OperationSummary::count(Sum& sum, const Slice& slice, const SliceArguments& arguments, std::int64_t total) {
    sum.shortest = sum.calls == 0 ? slice.duration : std::min(sum.shortest, slice.duration);
    sum.longest = std::max(sum.longest, slice.duration);
    sum.calls += 1;
    sum.self = bounded(sum.self, slice.self());
    sum.total = bounded(sum.total, total);
    sum.spent = bounded(sum.spent, slice.duration);
    sum.recomputed += slice.recomputed ? 1 : 0;
    sum.flops = bounded(sum.flops, arguments.flops);
    sum.bytes = bounded(sum.bytes, arguments.bytes);
}

void OperationSummary::add(const SliceBlock& block) {
    m_totals.lost = bounded(m_totals.lost, block.lost);
    m_totals.invalid = bounded(m_totals.invalid, block.invalid);
    m_totals.slices += static_cast<std::int64_t>(block.slices.size());
    std::vector<std::uint32_t> texts;
    std::vector<bool> backward;
    texts.reserve(block.strings.size());
    backward.reserve(block.strings.size());
    for (const auto& text : block.strings) {
        texts.push_back(textOf(text));
        backward.push_back(text == "backward");
    }
    std::array<std::vector<OutermostCalls*>, 2> calls;  // by name, of LibTorch's operations and of our own
    for (auto& of : calls) of.resize(block.strings.size());
    for (const auto& slice : block.slices) {
        if (slice.kind == SliceKind::Step) {
            m_totals.steps += 1;
            m_totals.lastStep = std::max(m_totals.lastStep, slice.step);
            m_totals.stepTime.ns = bounded(m_totals.stepTime.ns, slice.duration);
        }
        if (isDeviceWork(slice.kind)) {
            m_totals.kernels += 1;
            m_totals.deviceTime.ns = bounded(m_totals.deviceTime.ns, slice.duration);
            count(m_kernels[{texts[slice.name], texts[slice.phase], texts[slice.role], slice.layer, false}], slice, block.arguments[slice.arguments],
                  slice.duration);
        }
        if (!isOperation(slice.kind)) continue;
        m_totals.operations += 1;
        m_totals.self.ns = bounded(m_totals.self.ns, slice.self());
        if (backward[slice.phase]) {
            m_totals.backward.ns = bounded(m_totals.backward.ns, slice.self());
            if (slice.layer >= 0 || slice.role != 0) m_totals.backwardPlaced.ns = bounded(m_totals.backwardPlaced.ns, slice.self());
        }
        const bool own = slice.kind == SliceKind::Own;
        OutermostCalls*& outermost = calls[own ? 1 : 0][slice.name];
        if (outermost == nullptr) outermost = &m_outermost[{block.thread.laneNumber(), texts[slice.name], own}];
        count(m_sums[{texts[slice.name], texts[slice.phase], texts[slice.role], slice.layer, own}], slice, block.arguments[slice.arguments],
              slice.duration - outermost->countedTwice(slice.start, slice.duration, m_remembered, kMostOutermost));
    }
}

bool OperationSummary::ofDevice(SummaryBy by) const {
    if (by == SummaryBy::Kernel || by == SummaryBy::Operation) return by == SummaryBy::Kernel;
    return std::ranges::any_of(m_kernels, [&](const auto& one) { return one.first.layer >= 0 || !m_texts[one.first.role].empty(); });
}

std::vector<SummaryRow> OperationSummary::rows(SummaryBy by, SummarySort sort, std::size_t limit) const {
    std::map<std::pair<std::string, bool>, Growing> growing;
    for (const auto& [place, sum] : ofDevice(by) ? m_kernels : m_sums) {
        const std::string &role = m_texts[place.role], &phase = m_texts[place.phase];
        const bool byName = by == SummaryBy::Operation || by == SummaryBy::Kernel;
        std::string name = byName ? m_texts[place.name] : by == SummaryBy::Layer ? layerName(place.layer, role) : role.empty() ? "none" : role;
        const bool own = by == SummaryBy::Operation && place.own;
        Growing& into = growing[{std::move(name), own}];
        SummaryRow& row = into.row;
        const std::int64_t total = byName ? sum.total : sum.self, spent = byName ? sum.spent : sum.self;
        row.shortest.ns = row.calls == 0 ? sum.shortest : std::min(row.shortest.ns, sum.shortest);
        row.longest.ns = std::max(row.longest.ns, sum.longest);
        row.calls += sum.calls;
        row.self.ns = bounded(row.self.ns, sum.self);
        row.total.ns = bounded(row.total.ns, total);
        row.spent.ns = bounded(row.spent.ns, spent);
        row.recomputed += sum.recomputed;
        row.flops = bounded(row.flops, sum.flops);
        row.bytes = bounded(row.bytes, sum.bytes);
        auto& ofPlace = into.ofPlace[{by == SummaryBy::Role ? -1 : place.layer, by == SummaryBy::Layer && place.layer >= 0 ? std::string() : role}];
        ofPlace = bounded(ofPlace, sum.self);
        auto& ofPhase = into.ofPhase[phase];
        ofPhase = bounded(ofPhase, sum.self);
    }
    std::vector<SummaryRow> all;
    for (auto& [key, one] : growing) {
        one.row.name = key.first;
        one.row.own = key.second;
        std::tie(one.row.layer, one.row.role) = heaviest(one.ofPlace);
        one.row.phase = heaviest(one.ofPhase);
        one.row.places = static_cast<std::int64_t>(one.ofPlace.size());
        all.push_back(std::move(one.row));
    }
    std::ranges::stable_sort(all, [&](const SummaryRow& a, const SummaryRow& b) { return weight(a, sort) > weight(b, sort); });
    if (limit > 0 && all.size() > limit) all.resize(limit);
    return all;
}

}  // namespace stepscope
