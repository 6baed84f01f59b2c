// LowWeights: matrices and biases of the blocks' linears in bfloat16, as products under autocast want them. The fused AdamW writes this copy in
// the pass that changes the weights, so that no step casts them again. Owned by a Program; trainer thread.
#pragma once
#include "core/program/ParameterGroups.h"

namespace stepscope {

class LowWeights {
public:
    // Makes the copy follow this State: true when it was cast anew, for it is of another State or somebody else has written there.
    bool bind(const TrainState& state);
    // Whether the copy is that of the State's weights as they are.
    bool holds(const TrainState& state) const;

    // The same weights, each that is copied with its copy beside it. For one forward pass.
    WeightsView over(WeightsView weights) const;
    // Tells the optimizer where to write what it changes.
    void addTo(std::vector<ParameterGroup>& groups) const;
    // The optimizer has written into both.
    void written(const TrainState& state) { m_copied = state.revision(); }

private:
    Revision m_copied;  // that the copy is of
    GptConfig m_placedFor;
    at::Device m_placedOn{at::kCPU};
    std::vector<at::Tensor> m_copies;  // one a slot of the layout; undefined where none is kept
    std::vector<bool> m_decays;        // of each slot: which group it is in
};

}  // namespace stepscope
