// GraphProgram: cuda-graph. After a few eager steps, forward and backward pass of a micro-batch are captured into one CUDA graph, clipping and
// AdamW into another, and replayed: a launch each, without waiting for the device in between. What cannot be captured runs eagerly, and the
// report says why. Works on the same TrainState as every other Program.
#pragma once
#include "core/cuda/loader/CudaGraph.h"
#include "core/train/EagerProgram.h"

#include <c10/core/Stream.h>

namespace stepscope {

class GraphProgram final : public StepProgram {
public:
    // parts.captured is there, and the device is a GPU.
    explicit GraphProgram(ProgramParts parts);

    StepResult step(TrainState& state, const BatchSource& batches, double rate) override;
    double evaluate(const TrainState& state, const BatchSource& batches, std::int64_t microBatches) override;
    const ProgramReport& report() const override { return m_report; }

private:
    StepResult eager(TrainState& state, const BatchSource& batches, double rate);
    void capture(const TrainState& state);
    void microStep(const TrainState& state, bool first);
    StepResult replay(TrainState& state, const BatchSource& batches, double rate);
    void writeNumbers(const TrainState& state, double rate);
    void forget();

    ProgramParts m_parts;
    ProgramReport m_report;
    EagerProgram m_eager;
    BatchFeed m_feed;
    c10::Stream m_stream;  // not the default one, which cannot be captured
    Leaves m_leaves;
    LowWeights m_low;  // when m_parts.keepsLowWeights()

    // What the graphs read and write, at the same addresses in every step.
    at::Tensor m_inputs, m_targets;  // (batch, context)
    at::Tensor m_numbers;            // (2, floats of AdamWStep), a row a group
    at::Tensor m_loss, m_norm;       // no dimensions; of the whole step

    int m_eagerSteps = 0;
    bool m_captured = false, m_givenUp = false;
    CudaGraph m_first, m_next, m_update;  // m_next: further micro-batches, which add to the gradients
};

}  // namespace stepscope
