// GraphProgram: cuda-graph. After a few eager steps, forward and backward pass of a micro-batch are captured into one CUDA graph, clipping and
// AdamW into another, and replayed: a launch each, without waiting for the device in between; around them only copies: the batch and the numbers of
// AdamW, then loss and norm. What cannot be captured runs eagerly, and the report says why. Of several workers each adds up gradients and loss with
// the others' between the two. Works on the same TrainState as every other Program.
#pragma once
#include <c10/core/Stream.h>

#include "core/program/EagerProgram.h"

namespace stepscope {

// Work that was captured once.
class CapturedGraph {
public:
    virtual ~CapturedGraph() = default;
    virtual void replay() = 0;
    virtual std::int64_t kernels() const = 0;
};

// What captures, and on which stream: CUDA graphs, or in a test without a GPU what plays them.
class StepCapture {
public:
    virtual ~StepCapture() = default;
    // Not the default one, which cannot be captured. The same for every Program of a device.
    virtual c10::Stream stream(at::Device device) const = 0;
    // Throws what work() throws, and the reason when the capture fails. sharesWith: null, or a graph whose memory this one goes on using.
    virtual std::unique_ptr<CapturedGraph> capture(at::Device device, const CapturedGraph* sharesWith, const std::function<void()>& work) const = 0;
};
std::unique_ptr<const StepCapture> cudaStepCapture();

class GraphProgram final : public PhasedProgram {
public:
    // parts.captured is there, and works on parts.device.
    explicit GraphProgram(ProgramParts parts, std::unique_ptr<const StepCapture> graphs = cudaStepCapture());

    void prepare(const TrainState& state) override;
    StepResult step(TrainState& state, const BatchSource& batches, double rate) override;
    double evaluate(const TrainState& state, const BatchSource& batches, std::int64_t tokens, const Ended& ended = {}) override;
    void shareWith(DataParallel* others) override;
    void subscribe(GradientSubscriber* subscriber) override;

private:
    // Of a captured step: all its gradients are final when it has been launched.
    void bind(const TrainState& state) override;
    void begin(const TrainState& state, const AdamW& settings) override;
    void take(const Micro& micro) override;
    void pass(const TrainState& state, const Micro& micro, PhaseClock& clock) override;
    at::Tensor gradientOf(std::size_t slot) override { return m_leaves.weights().all[slot].grad(); }
    std::vector<double> takeLosses() override { return {m_hostResults.data_ptr<float>()[0]}; }
    double clip(AdamW&) override { return m_hostResults.data_ptr<float>()[1]; }  // done
    bool decidesOnDevice() const override { return true; }
    void update(TrainState& state, const AdamW& settings) override;

    StepResult eager(TrainState& state, const BatchSource& batches, double rate);
    void makeBuffers();
    void capture(const TrainState& state);
    Status captureTogether(const TrainState& state);
    void rehearse(const GptConfig& config);
    void microStep(const GptConfig& config, bool first);
    void updateStep();
    void forget();
    void giveBack();

    std::unique_ptr<const StepCapture> m_graphs;
    std::shared_ptr<LowWeights> m_low = std::make_shared<LowWeights>();  // when m_parts.keepsLowWeights(); m_eager's too
    EagerProgram m_eager;
    c10::Stream m_stream;
    Leaves m_leaves;

    // What the graphs read and write, at the same addresses in every step.
    at::Tensor m_words;                     // int64: the next two
    at::Tensor m_slot;                      // of m_feed
    at::Tensor m_numbers;                   // (2, floats of AdamWStep), a row a group
    at::Tensor m_results;                   // (2): the next two
    at::Tensor m_loss, m_norm;              // no dimensions; of the whole step
    at::Tensor m_incoming;                  // no dimensions: the gradient of a micro-batch's loss, its share of the mean over all workers'
    at::Tensor m_hostWords, m_hostResults;  // on the host, pinned beside a GPU: what is copied there, and what comes back

    int m_eagerSteps = 0;
    std::int64_t m_copiesMade = 0;  // ProgramReport::weightCopies, but m_eager's
    bool m_captured = false, m_givenUp = false;
    std::unique_ptr<CapturedGraph> m_first, m_next, m_update;  // m_next: further micro-batches, which add to the gradients
};

}  // namespace stepscope
