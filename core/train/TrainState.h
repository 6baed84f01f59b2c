// TrainState: what training *is*: flat float32 buffers, step number, data cursor, seed. It is what a checkpoint holds. Every
// Program, fused or not, works on the same memory; flipping a switch builds another Program over the same State.
// Owned by the trainer thread.
#pragma once
#include "core/base/Result.h"
#include "core/model/WeightsView.h"

#include <string>

namespace stepscope {

struct TrainState {
    GptConfig config;
    ParameterLayout layout;
    at::Tensor weights;          // (layout.size()) float32
    at::Tensor firstMoment;      // same shape: AdamW's exponential average of the gradient
    at::Tensor secondMoment;     // same shape: of its square
    std::int64_t updates = 0;    // optimizer steps made: AdamW's t, StepDone::step
    std::int64_t cursor = 0;     // training sequences consumed
    std::uint64_t seed = 1;      // of batches and of rows added later

    // Fresh weights as GPT-2 initialises them: normal(0, 0.02), residual projections scaled by 1/sqrt(2 layers) (Radford et al.
    // 2019, section 2.3), norms 1, biases and padded rows 0. The same seed gives the same bits.
    static TrainState initialise(const GptConfig& config, std::uint64_t seed);

    // Changes the padding of the vocabulary or the number of positions; every value that fits both shapes is kept bit for bit.
    // Rows of the vocabulary that are dropped hold zeros; positions only grow. New position rows are drawn as at the start.
    void relayout(const GptConfig& to);

    void moveTo(at::Device device);
};

}  // namespace stepscope
