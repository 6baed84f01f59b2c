// PhasedProgram: the one skeleton of a step: feed, forward, backward, reduce, clip, update. It keeps the order and the times of the phases, decides
// what a loss or a gradient that is no number means, moves fp16's loss scale, announces final gradients, and counts what was trained. Programs
// derive from it and supply the parts. Trainer thread.
#pragma once
#include <vector>

#include "core/base/Share.h"
#include "core/program/DataParallel.h"
#include "core/program/PhaseClock.h"
#include "core/program/ProgramBuilder.h"

namespace stepscope {

class PhasedProgram : public StepProgram {
public:
    void prepare(const TrainState& state) override;
    StepResult step(TrainState& state, const BatchSource& batches, double rate) override;
    void shareWith(DataParallel* others) override;
    void subscribe(GradientSubscriber* subscriber) override { m_announcer.subscribe(subscriber); }
    const ProgramReport& report() const override { return m_report; }

protected:
    explicit PhasedProgram(ProgramParts parts);

    struct Micro {
        std::int64_t number = 0;
        bool last = true;                // of the step
        double incoming = 1;             // the gradient that its loss's backward starts from: its share of the mean, times fp16's scale
        std::int64_t firstSequence = 0;  // its place among all sequences of the step
    };

    // The parts, in the order of a step. All run under the Program's scope.

    // Makes what is kept of this State unless it is there.
    virtual void bind(const TrainState& state) = 0;
    // Before the first micro-batch. settings: of this update.
    virtual void begin(const TrainState& /*state*/, const AdamW& /*settings*/) {}
    // Brings the batch that m_feed has cut to where the forward pass reads it.
    virtual void take(const Micro& micro) = 0;
    // Forward and backward pass, each entered on the clock; tells m_announcer what becomes final in the last one.
    virtual void pass(const TrainState& state, const Micro& micro, PhaseClock& clock) = 0;
    // A parameter's gradient when backward is done, in the memory where the update reads it.
    virtual at::Tensor gradientOf(std::size_t slot) = 0;
    // The losses of the micro-batches that were passed, or of all together; waits for the device.
    virtual std::vector<double> takeLosses() = 0;
    // fp16: divides the gradients by the scale; false when one of them is no number.
    virtual bool unscale(double /*scale*/) { return true; }
    // The gradients' norm; clipped by it, or the factor left in settings.gradientScale.
    virtual double clip(AdamW& settings) = 0;
    // Whether the update itself measures, clips, and leaves everything as it is where loss or norm is no number: then it comes before both are asked
    // for.
    virtual bool decidesOnDevice() const { return false; }
    virtual void update(TrainState& state, const AdamW& settings) = 0;
    // After the update of a State that holds a part of the moments: the other workers' parts of the weights are there, too.
    virtual void received(const TrainState& /*state*/) {}
    // After the update, or in its place.
    virtual void release() {}

    std::int64_t workers() const { return m_others == nullptr ? 1 : m_others->size(); }

    // Of so many sequences of a validation those that this worker reads: whole batches, and the last worker what is left over.
    Share validationShare(std::int64_t sequences) const;
    // The mean of their losses; sum: of this worker's.
    double validationMean(double sum, std::int64_t sequences);

    ProgramParts m_parts;
    ProgramReport m_report;
    BatchFeed m_feed;
    GradientAnnouncer m_announcer;
    DataParallel* m_others = nullptr;

private:
    std::int64_t sequences() const { return workers() * m_parts.accumulation * m_parts.batchSize; }  // of a step
    bool scales() const { return m_parts.lossScaleGrowth > 0; }
    void bindChecked(const TrainState& state);
    void noteSettings();
    void passAll(const TrainState& state, const BatchSource& batches, PhaseClock& clock);
    void conclude(TrainState& state, AdamW& settings, PhaseClock& clock, StepResult& result);
    void concludeOnDevice(TrainState& state, AdamW& settings, PhaseClock& clock, StepResult& result);
    void withholdFromZeros(const TrainState& state);
    double meanLoss(PhaseClock& clock);
};

}  // namespace stepscope
