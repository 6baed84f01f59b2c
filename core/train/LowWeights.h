// LowWeights: matrices and biases of the blocks' linears in bfloat16, as products under autocast want them. The fused AdamW writes this copy in
// the pass that changes the weights, so that no step casts them again. Owned by a Program; trainer thread.
#pragma once
#include "core/train/ParameterGroups.h"

namespace stepscope {

class LowWeights {
public:
    // Makes the copy follow this State. It is cast anew where the State has changed in a way that this Program has not written.
    void bind(const TrainState& state);
    // Whether the copy is that of the State's weights as they are.
    bool holds(const TrainState& state) const;

    // The same weights, each that is copied with its copy beside it. For one forward pass.
    WeightsView over(WeightsView weights) const;
    // Tells the optimizer where to write what it changes.
    void addTo(std::vector<ParameterGroup>& groups) const;
    // The optimizer has written the update that `state` now counts.
    void written(const TrainState& state) { m_writtenAt = state.updates; }

private:
    const void* m_boundTo = nullptr;
    GptConfig m_boundConfig;
    std::int64_t m_writtenAt = -1;
    std::vector<at::Tensor> m_copies;  // one a slot of the layout; undefined where none is kept
    std::vector<bool> m_decays;        // of each slot: which group it is in
};

}  // namespace stepscope
