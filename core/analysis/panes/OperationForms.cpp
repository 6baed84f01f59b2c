#include "core/analysis/panes/OperationForms.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "core/analysis/captures/DeviceSummary.h"
#include "core/trace/Lod.h"

namespace stepscope {

void OperationForms::add(const SliceBlock& block) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> called;  // own time by name and arguments
    std::set<std::pair<std::uint32_t, std::int64_t>> shared;                 // our own, by name and step
    for (const Slice& slice : block.slices) {
        if (!isOperation(slice.kind) || slice.arguments == 0) continue;
        auto& time = called[{slice.name, slice.arguments}];
        time = cappedSum(time, slice.self());
        const SliceArguments& with = block.arguments[slice.arguments];
        if ((slice.kind == SliceKind::Own || with.text.empty()) && (with.flops > 0 || with.bytes > 0)) shared.emplace(slice.name, slice.step);
    }
    for (const auto& [key, time] : called) {
        const SliceArguments& with = block.arguments[key.second];
        if (with.flops <= 0 && with.bytes <= 0 && with.text.empty()) continue;
        auto& into = m_types[block.strings[key.first]][elementType(with.text)];
        into = cappedSum(into, time);
    }
    for (const auto& [name, step] : shared) m_sharing[block.strings[name]].emplace(block.thread.rank, step, block.thread.laneNumber());
}

std::string OperationForms::typeOf(const std::string& operation) const {
    const auto found = m_types.find(operation);
    if (found == m_types.end()) return {};
    return std::ranges::max_element(found->second, {}, [](const auto& one) { return one.second; })->first;
}

std::string OperationForms::formatsOf(const std::string& operation) const {
    const auto found = m_types.find(operation);
    if (found == m_types.end()) return {};
    std::vector<std::pair<std::int64_t, std::string>> all;
    std::int64_t whole = 0;
    for (const auto& [type, time] : found->second) {
        if (type.empty()) continue;
        all.emplace_back(time, type);
        whole = cappedSum(whole, time);
    }
    if (all.size() == 1 || whole <= 0) return all.empty() ? std::string() : all.front().second;
    std::ranges::stable_sort(all, std::ranges::greater{}, [](const auto& one) { return one.first; });
    std::string text;
    for (const auto& [time, type] : all)
        text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", type, 100 * static_cast<double>(time) / static_cast<double>(whole));
    return text;
}

std::int64_t OperationForms::threadsOf(const std::string& operation) const {
    const auto found = m_sharing.find(operation);
    if (found == m_sharing.end()) return 1;
    std::int64_t most = 1, ofStep = 0;
    std::pair<std::int64_t, std::int64_t> last{-1, -1};
    for (const auto& [rank, step, lane] : found->second) {
        ofStep = last == std::pair(rank, step) ? ofStep + 1 : 1;
        last = {rank, step};
        if (step >= 0 || found->second.size() == static_cast<std::size_t>(ofStep))
            most = std::max(most, ofStep);  // what is of no step is of many Programs
    }
    return most;
}

}  // namespace stepscope
