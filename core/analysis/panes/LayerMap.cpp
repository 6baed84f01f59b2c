#include "core/analysis/panes/LayerMap.h"

#include <algorithm>
#include <set>

#include "core/base/StepPlace.h"
#include "core/trace/Lod.h"

namespace stepscope {
namespace {

// In the order of a step; what is no word of ours behind them, by name.
template <class Word>
int orderOfWord(const std::string& word, int words) {
    for (int i = 0; i < words; ++i)
        if (word == toString(static_cast<Word>(i))) return i;
    return words;
}
template <class Word>
void orderWords(std::vector<std::string>& all, int words) {
    std::ranges::sort(all, [&](const std::string& a, const std::string& b) {
        return std::pair(orderOfWord<Word>(a, words), a) < std::pair(orderOfWord<Word>(b, words), b);
    });
}

}  // namespace

void LayerMap::add(const SliceBlock& block) {
    std::map<std::tuple<bool, std::uint32_t, std::int32_t, std::uint32_t>, LayerCell> some;
    for (const Slice& slice : block.slices) {
        const bool kernel = slice.kind == SliceKind::Kernel;
        if (!kernel && !isOperation(slice.kind)) continue;
        LayerCell& cell = some[{kernel, slice.phase, slice.layer, slice.role}];
        cell.time = cappedSum(cell.time, kernel ? slice.duration : slice.self());
        cell.calls += 1;
    }
    for (const auto& [key, cell] : some) {
        const auto [kernel, phase, layer, role] = key;
        m_kernels = m_kernels || kernel;
        LayerCell& into = m_cells[{kernel, block.strings[phase], layer, block.strings[role]}];
        into.time = cappedSum(into.time, cell.time);
        into.calls += cell.calls;
    }
}

std::vector<std::string> LayerMap::phases() const {
    std::set<std::string> some;
    for (const auto& [key, cell] : m_cells)
        if (!std::get<1>(key).empty() && (std::get<2>(key) >= 0 || !std::get<3>(key).empty())) some.insert(std::get<1>(key));
    std::vector<std::string> all(some.begin(), some.end());
    orderWords<Activity>(all, kActivities);
    return all;
}

LayerGrid LayerMap::grid(bool kernels, const std::string& phase) const {
    LayerGrid grid;
    std::set<std::int32_t> layers;
    std::set<std::string> roles;
    std::map<std::pair<std::int32_t, std::string>, LayerCell> cells;
    for (const auto& [key, cell] : m_cells) {
        const auto& [onDevice, when, layer, role] = key;
        if (onDevice != kernels || (!phase.empty() && when != phase)) continue;
        const bool placed = layer >= 0 || !role.empty();
        for (LayerCell* into : {placed ? &cells[{layer, role}] : nullptr, placed ? &grid.placed : &grid.elsewhere}) {
            if (into == nullptr) continue;
            into->time = cappedSum(into->time, cell.time);
            into->calls += cell.calls;
        }
        if (!placed) continue;
        layers.insert(layer);
        roles.insert(role);
    }
    grid.layers.assign(layers.begin(), layers.end());
    if (!grid.layers.empty() && grid.layers.front() < 0) std::rotate(grid.layers.begin(), grid.layers.begin() + 1, grid.layers.end());
    grid.roles.assign(roles.begin(), roles.end());
    orderWords<Role>(grid.roles, kRoles);
    for (const std::int32_t layer : grid.layers) {
        auto& row = grid.cells.emplace_back();
        for (const std::string& role : grid.roles) {
            const auto found = cells.find({layer, role});
            row.push_back(found == cells.end() ? LayerCell{} : found->second);
        }
    }
    return grid;
}

}  // namespace stepscope
