// EagerProgram: a step as LibTorch's autograd runs it: forward operations, loss.backward(), clip, AdamW over the parameters.
#pragma once
#include "core/train/Leaves.h"
#include "core/train/LowWeights.h"
#include "core/train/PhaseClock.h"
#include "core/train/ProgramBuilder.h"

namespace stepscope {

class EagerProgram final : public StepProgram {
public:
    // low: the copy to work with, where another Program that takes turns with this one keeps it too.
    explicit EagerProgram(ProgramParts parts, std::shared_ptr<LowWeights> low = std::make_shared<LowWeights>());

    StepResult step(TrainState& state, const BatchSource& batches, double rate) override;
    double evaluate(const TrainState& state, const BatchSource& batches, std::int64_t tokens) override;
    const ProgramReport& report() const override { return m_report; }

private:
    void clearGradients();
    std::string attentionThatRuns(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) const;
    void noteSettings();
    bool scales() const { return m_parts.lossScaleGrowth > 0; }
    // Everything after backward: unscale, clip, update.
    void finish(TrainState& state, double rate, PhaseClock& clock, StepResult& result);

    ProgramParts m_parts;
    ProgramReport m_report;
    ModelOps m_ops;  // m_parts.ops, its attention asking once which back-end runs
    bool m_attentionAsked = false;

    Leaves m_leaves;
    std::shared_ptr<LowWeights> m_low;  // when m_parts.keepsLowWeights()
    BatchFeed m_feed;
};

}  // namespace stepscope
