// Two trainers of one run, each on a thread of its own as a process would have it.
#pragma once
#include <ATen/Parallel.h>

#include <array>
#include <memory>

#include "TinyTraining.h"
#include "core/program/DataParallel.h"
#include "tests/support/ThreadWorkers.h"

namespace stepscope::testing {

// A worker that fails leaves, as its process would.
inline std::array<TrainerOutcome, 2> trainTogether(ThreadWorkers& group, std::array<std::unique_ptr<TinyTrainer>, 2>& workers) {
    std::array<TrainerOutcome, 2> outcomes;
    group.run([&](int rank) {
        at::set_num_threads(1);
        DataParallel others(group.of(rank));
        TinyTrainer& worker = *workers[static_cast<std::size_t>(rank)];
        worker.setup.others = &others;
        TrainerOutcome& outcome = outcomes[static_cast<std::size_t>(rank)];
        outcome = worker.run();
        if (outcome.state == RunState::Failed) group.leave();
    });
    return outcomes;
}

}  // namespace stepscope::testing
