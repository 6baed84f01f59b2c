// TrainState: what training *is*: flat float32 buffers, step number, data cursor, seed. It is what a checkpoint holds. Every
// Program, fused or not, works on the same memory; flipping a switch builds another Program over the same State.
// Owned by the trainer thread.
#pragma once
#include <string>

#include "core/base/Result.h"
#include "core/model/WeightsView.h"
#include "core/train/LossScaler.h"

namespace stepscope {

struct TrainState {
    GptConfig config;
    ParameterLayout layout;
    at::Tensor weights;                    // (layout.size()) float32
    at::Tensor firstMoment;                // same shape: AdamW's exponential average of the gradient; float32, or uint8 (EightBitMoments.h)
    at::Tensor secondMoment;               // same shape: of its square
    at::Tensor firstScales, secondScales;  // of 8-bit moments; undefined otherwise
    std::int64_t updates = 0;              // steps made: StepDone::step
    std::int64_t skipped = 0;              // those of them whose update fp16's overflow left out: AdamW's t is updates - skipped
    LossScale lossScale;                   // of fp16
    std::int64_t cursor = 0;               // training sequences consumed
    std::uint64_t seed = 1;                // of batches and of rows added later

    // Fresh weights as GPT-2 initialises them: normal(0, 0.02), residual projections scaled by 1/sqrt(2 layers) (Radford et al.
    // 2019, section 2.3), norms 1, biases and padded rows 0. The same seed gives the same bits.
    static TrainState initialise(const GptConfig& config, std::uint64_t seed);

    // Changes the padding of the vocabulary or the number of positions; every value that fits both shapes is kept bit for bit.
    // Rows of the vocabulary that are dropped hold zeros; positions only grow. New position rows are drawn as at the start.
    void relayout(const GptConfig& to);

    void moveTo(at::Device device);

    // Whether every weight and every moment is a number: only then is it worth keeping.
    bool isFinite() const;
    bool eightBit() const { return firstScales.defined(); }
};

}  // namespace stepscope
