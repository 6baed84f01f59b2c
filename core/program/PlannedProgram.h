// PlannedProgram: fusion=step. The whole step planned ahead by core/step: every buffer allocated once, the backward pass written by hand, no
// autograd. Works on the same TrainState as every other Program; what it derives from the weights (packed copies) is made anew when somebody else
// changed them.
#pragma once
#include "core/program/ParameterGroups.h"
#include "core/program/PhasedProgram.h"

namespace stepscope {

class StepEngine;

class PlannedProgram final : public PhasedProgram {
public:
    explicit PlannedProgram(ProgramParts parts);
    ~PlannedProgram() override;

    double evaluate(const TrainState& state, const BatchSource& batches, std::int64_t tokens, const Ended& ended = {}) override;

    // The engine's gradients as a flat tensor like state.weights, of the last step; for tests.
    at::Tensor gradients() const;

private:
    void bind(const TrainState& state) override;
    void begin(const TrainState& state, const AdamW& settings) override;
    void take(const Micro& micro) override;
    void pass(const TrainState& state, const Micro& micro, PhaseClock& clock) override;
    at::Tensor gradientOf(std::size_t slot) override { return m_gradients[slot]; }
    std::vector<double> takeLosses() override { return m_losses; }
    double clip(AdamW& settings) override;
    void update(TrainState& state, const AdamW& settings) override;
    void received(const TrainState& state) override;

    double lossOfBatch(const TrainState& state, const at::Tensor& inputs, const at::Tensor& targets);
    // Whether the engine's own pass clips, updates and packs at once.
    bool updatesByItself() const { return m_parts.optimizerName == "fused"; }

    std::unique_ptr<StepEngine> m_engine;
    at::Tensor m_block;                    // the engine's buffers
    std::unique_ptr<StepProgram> m_plain;  // validates when validation's precision is another
    GptConfig m_boundConfig;
    const void *m_boundTo = nullptr, *m_boundMoments = nullptr;
    std::vector<at::Tensor> m_gradients;   // of the engine, one a parameter
    std::vector<ParameterGroup> m_groups;  // for optimizers other than the engine's own
    Revision m_packed;                     // that the packed weights are of
    BatchFeed::Batch m_batch;
    std::vector<double> m_losses;  // of the step's micro-batches
};

}  // namespace stepscope
