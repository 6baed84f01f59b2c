// StepProgram: how one step is executed. Built from a RunConfig over a State; holds nothing worth saving and sets nothing global
// when it is built: everything process-wide or thread-local is in its Scope (ProgramScope.h), applied around each call and
// restored. All calls on the trainer thread.
#pragma once
#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "core/data/BatchSource.h"
#include "core/events/Phase.h"
#include "core/program/Breakdown.h"
#include "core/program/GradientRanges.h"
#include "core/state/TrainState.h"

namespace stepscope {

class DataParallel;

struct StepResult {
    double loss = kUnknown;                 // mean over the micro-batches, nats
    double gradientNorm = kUnknown;         // before clipping
    double lossScale = kUnknown;            // fp16: that this step ran with
    bool skipped = false;                   // fp16: gradients overflowed; the step counts, its update was left out, the scale is halved
    Breakdown breakdown = Breakdown::None;  // no step was made; the weights are as they were
    std::int64_t tokens = 0;                // of all workers
    std::array<std::int64_t, kPhases> phaseNs{};
    std::int64_t phases = 0;  // that were entered, some of them more than once
};

// What really ran, asked of the libraries while the last step was executed: not what was wished for.
struct ProgramReport {
    std::string matmulPrecision;  // at::Context's float32 precision during the step: "highest" ...
    std::string autocast;         // "off", "bf16", "fp16"
    std::string attention;        // back-end taken: "manual", "sdpa-flash", ...
    std::string hostMemory;       // allocator mode: "system", "caching"
    std::string optimizer;
    int threads = 0;  // that LibTorch's operations were shared among; the planned step's own team
    bool cudnnBenchmark = false;
    std::int64_t weightCopies =
        0;                        // how often packed or 16-bit copies of the weights were made anew, because a State was new or others had written it
    std::int64_t graphBytes = 0;  // that a captured step works in, beside what its device's allocator hands out while it is replayed
    std::string preparation;      // what was made ahead of the steps and how long it took, or why it could not be; a sentence, empty = nothing
};

// How many sequences of `context` tokens a validation of `tokens` reads.
inline std::int64_t validationSequences(std::int64_t tokens, std::int64_t context) {
    return std::max<std::int64_t>(1, (tokens + context - 1) / context);
}

class StepProgram {
public:
    virtual ~StepProgram() = default;

    // Makes all that this Program keeps of a State (views, buffers, packed and 16-bit copies of the weights) unless it has it already. step() does so
    // by itself; who times steps calls it before the clock starts, so that a Program does not pay for what another one wrote.
    virtual void prepare(const TrainState& state) = 0;

    // One update of `state` with learning rate `rate`: `grad-accumulation` micro-batches of each worker, clip, AdamW. Advances the cursor.
    // On a breakdown the State is left as it was before the update. Throws what LibTorch throws.
    virtual StepResult step(TrainState& state, const BatchSource& batches, double rate) = 0;

    // Mean loss over `tokens` of the validation part, in whole sequences (at least one): the same places whatever the batch size is. Changes nothing
    // in the State. `ended` is asked between batches, where it is given: true breaks it off, and there is no number. Not where workers share it.
    using Ended = std::function<bool()>;
    virtual double evaluate(const TrainState& state, const BatchSource& batches, std::int64_t tokens, const Ended& ended = {}) = 0;

    // The other workers of a run whose steps are made together: each step takes the batches of all, this Program its own part of them, and sums,
    // losses and validation are everybody's. Null = there are none. It outlives the Program or is taken away.
    virtual void shareWith(DataParallel* others) = 0;

    // Who hears which gradients are final while backward goes on; null = nobody, which costs nothing. It outlives the Program or is taken away.
    virtual void subscribe(GradientSubscriber* subscriber) = 0;

    // Of the last step; empty words before the first.
    virtual const ProgramReport& report() const = 0;
};

}  // namespace stepscope
