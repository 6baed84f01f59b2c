// EagerProgram: a step as LibTorch's autograd runs it: forward operations, loss.backward(), clip, AdamW over the parameters. Nothing waits for a GPU
// before all micro-batches are on their way.
#pragma once
#include "core/program/Leaves.h"
#include "core/program/LowWeights.h"
#include "core/program/PhasedProgram.h"

namespace stepscope {

class EagerProgram final : public PhasedProgram {
public:
    // low: the copy to work with, where another Program that takes turns with this one keeps it too.
    explicit EagerProgram(ProgramParts parts, std::shared_ptr<LowWeights> low = std::make_shared<LowWeights>());

    void subscribe(GradientSubscriber* subscriber) override;
    double evaluate(const TrainState& state, const BatchSource& batches, std::int64_t tokens, const Ended& ended = {}) override;

private:
    void bind(const TrainState& state) override;
    void begin(const TrainState& state, const AdamW& settings) override;
    void take(const Micro& micro) override;
    void pass(const TrainState& state, const Micro& micro, PhaseClock& clock) override;
    at::Tensor gradientOf(std::size_t slot) override { return m_leaves.weights().all[slot].grad(); }
    std::vector<double> takeLosses() override;
    bool unscale(double scale) override;
    double clip(AdamW& settings) override;
    void update(TrainState& state, const AdamW& settings) override;
    void release() override;

    void clearGradients();
    std::string attentionThatRuns(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) const;

    ModelOps m_ops;  // m_parts.ops, its attention asking once which back-end runs
    bool m_attentionAsked = false;

    Leaves m_leaves;
    std::shared_ptr<LowWeights> m_low;  // when m_parts.keepsLowWeights()
    BatchFeed::Batch m_batch;
    std::vector<at::Tensor> m_losses;  // of the step's micro-batches, no dimensions
};

}  // namespace stepscope
