// PlannedProgram: fusion=step. The whole step planned ahead by core/step: every buffer allocated once, the backward pass written by hand, no
// autograd. Works on the same TrainState as every other Program; what it derives from the weights (packed copies) is made anew when somebody else
// changed them.
#pragma once
#include "core/train/ParameterGroups.h"
#include "core/train/ProgramBuilder.h"

namespace stepscope {

class StepEngine;

class PlannedProgram final : public StepProgram {
public:
    explicit PlannedProgram(ProgramParts parts);
    ~PlannedProgram() override;

    StepResult step(TrainState& state, const BatchSource& batches, double rate) override;
    double evaluate(const TrainState& state, const BatchSource& batches, std::int64_t tokens) override;
    const ProgramReport& report() const override { return m_report; }

    // The engine's gradients as a flat tensor like state.weights, of the last step; for tests.
    double lossOfBatch(const TrainState& state, const at::Tensor& inputs, const at::Tensor& targets);
    at::Tensor gradients() const;

private:
    void bind(const TrainState& state);
    void update(TrainState& state, double rate, double norm);

    ProgramParts m_parts;
    ProgramReport m_report;
    std::unique_ptr<StepEngine> m_engine;
    at::Tensor m_block;                    // the engine's buffers
    std::unique_ptr<StepProgram> m_plain;  // validates when validation's precision is another
    GptConfig m_boundConfig;
    const void *m_boundTo = nullptr, *m_boundMoments = nullptr;
    std::vector<ParameterGroup> m_groups;  // for optimizers other than the engine's own
    std::int64_t m_packedAt = -1;          // state.updates when the weights were packed
    BatchFeed m_feed;
};

}  // namespace stepscope
