// EagerProgram: a step as LibTorch's autograd runs it: forward operations, loss.backward(), clip, AdamW over the parameters.
#pragma once
#include "core/train/PhaseClock.h"
#include "core/train/ProgramBuilder.h"

namespace stepscope {

class EagerProgram final : public StepProgram {
public:
    explicit EagerProgram(ProgramParts parts);

    StepResult step(TrainState& state, const BatchSource& batches, double rate) override;
    double evaluate(const TrainState& state, const BatchSource& batches, std::int64_t microBatches) override;
    const ProgramReport& report() const override { return m_report; }

private:
    void bind(TrainState& state);
    void clearGradients();
    std::vector<ParameterGroup> groups() const;
    std::string attentionThatRuns(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) const;
    void noteSettings();
    bool scales() const { return m_parts.lossScaleGrowth > 0; }
    // Everything after backward: unscale, clip, update.
    void finish(TrainState& state, double rate, PhaseClock& clock, StepResult& result);

    ProgramParts m_parts;
    ProgramReport m_report;
    ModelOps m_ops;  // m_parts.ops, its attention asking once which back-end runs
    bool m_attentionAsked = false;

    // Leaves over the State's memory; made again when the State's buffers or shape change.
    const void *m_boundTo = nullptr, *m_boundMoments = nullptr;
    GptConfig m_boundConfig;
    WeightsView m_leaves;
    std::vector<at::Tensor> m_firstMoments, m_secondMoments, m_firstScales, m_secondScales;
    std::vector<bool> m_decays;

    BatchFeed m_feed;
};

}  // namespace stepscope
