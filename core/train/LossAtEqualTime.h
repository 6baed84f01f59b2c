// What two configurations have learnt after equally long training: with each of several seeds both sides train for so many seconds of their own, in
// turns of some seconds so that both see the same machine, and are validated, both on as many tokens as the side that is set to read more. What
// differs between seeds is the noise; the pairs of one seed share their first weights and their batches, as far as the two take the same. Trainer
// thread.
#pragma once
#include <array>
#include <atomic>
#include <functional>
#include <memory>

#include "core/base/Result.h"
#include "core/data/BatchSource.h"
#include "core/events/Experiment.h"
#include "core/events/RunConfig.h"
#include "core/events/RunPlan.h"
#include "core/program/ProgramFactory.h"

namespace stepscope {

struct EqualTimeSide {
    RunConfig config;  // complete; learning rate and validation tokens are read from it
    RunPlan plan;
    std::shared_ptr<const TrainState> start;
};

struct EqualTimeSetup {
    std::array<EqualTimeSide, 2> sides;  // A, B
    std::shared_ptr<const BatchSource> batches;
    const ProgramFactory* factory = nullptr;
    const SessionClock* clock = nullptr;
    double seconds = 0;       // > 0, of training for each side and seed; a step that began before is ended
    std::int64_t seeds = 0;   // >= 2
    std::uint64_t coins = 1;  // seed of the order of both
    // First seed of the States; the others follow it. Whatever the coins: what is learnt is that of the same draws in each experiment of these
    // settings.
    std::uint64_t seed = 1;
    bool drawWeights = true;  // a seed draws weights and batches; false: `start` was trained, a seed draws batches alone
    bool together = true;     // both States lie on the device at a time; false: one after the other, in an order that the coin decides
    std::function<bool()> stopAsked;
    std::function<void(double fraction)> progress;
};

// Of the seeds that both sides came to the end of; with fewer than two no interval. An error names the side: it diverged, or there is nothing to
// validate on. Throws what LibTorch throws.
Result<EqualTimeLoss> lossAtEqualTime(const EqualTimeSetup& setup);

// The mean of b - a and Student's interval with two-sided `alpha`, from pairs of losses; fills what EqualTimeLoss says of losses.
void summariseEqualTime(const std::vector<std::array<double, 2>>& losses, double alpha, EqualTimeLoss& into);

}  // namespace stepscope
