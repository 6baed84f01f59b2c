// LayerMap: where in the model the time of a range went: own time of operations, and time of kernels, by layer, part of the model and phase. Blocks
// are added in any order. Any thread, one at a time.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/trace/Slice.h"

namespace stepscope {

struct LayerCell {
    std::int64_t time = 0;  // ns
    std::int64_t calls = 0;
};
struct LayerGrid {
    std::vector<std::int32_t> layers;           // rows: those of the model in their order, -1 (outside of the blocks) last
    std::vector<std::string> roles;             // columns, in the order of a forward pass, others by name
    std::vector<std::vector<LayerCell>> cells;  // by row, then column
    LayerCell placed, elsewhere;                // of all cells, and of what has neither layer nor role
};

class LayerMap {
public:
    void add(const SliceBlock& block);
    bool hasKernels() const { return m_kernels; }
    std::vector<std::string> phases() const;  // that something with a place ran in, in the order of a step
    // kernels: of what ran on GPUs instead of operations. phase: empty: all.
    LayerGrid grid(bool kernels, const std::string& phase = {}) const;

private:
    using Key = std::tuple<bool, std::string, std::int32_t, std::string>;  // on a GPU, phase, layer, role
    std::map<Key, LayerCell> m_cells;
    bool m_kernels = false;
};

}  // namespace stepscope
