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
    for (const Slice& slice : block.slices) {
        if (!isOperation(slice.kind) || slice.arguments == 0) continue;
        auto& time = called[{slice.name, slice.arguments}];
        time = cappedSum(time, slice.self());
    }
    for (const auto& [key, time] : called) {
        const SliceArguments& with = block.arguments[key.second];
        if (with.flops <= 0 && with.bytes <= 0 && with.text.empty()) continue;
        if (with.text.empty()) m_sharing[block.strings[key.first]].insert(block.thread.laneNumber());
        auto& into = m_types[block.strings[key.first]][elementType(with.text)];
        into = cappedSum(into, time);
    }
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
    return found == m_sharing.end() ? 1 : std::max<std::int64_t>(1, static_cast<std::int64_t>(found->second.size()));
}

}  // namespace stepscope
