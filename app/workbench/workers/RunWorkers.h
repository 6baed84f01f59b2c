// RunWorkers: the several workers of one run, as the one that this process is sees them: joined before the run begins, of one mind about settings,
// data and what training begins with, and told where this one cannot go on. Made and used on the trainer thread.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/workbench/Workbench.h"
#include "app/workbench/workers/LinkTimes.h"
#include "app/workbench/workers/Restart.h"
#include "core/program/DataParallel.h"
#include "core/program/WorkerBeats.h"
#include "core/train/Trainer.h"
#include "core/workers/WorkerGroup.h"

namespace stepscope {

class RunWorkers {
public:
    // Waits for the others, until it is cancelled. Refused with a sentence, the same with each worker, where one has other settings or another
    // version.
    static Result<std::unique_ptr<RunWorkers>> join(const RunRequest& request, const RunPlan& plan, const std::atomic<bool>& cancelled);

    // What those before these left to go on with, where torchrun started them anew; none at a first start. All ask together.
    Result<std::optional<Restart>> restart(const RunRequest& request);
    // The session that has begun, for those who may come in their place. request: as it was started.
    void leave(const RunRequest& request, std::int64_t session) { leaveSession(*m_group, request, session); }

    // Opens the data by `open`, which is to stop when its argument comes true, without anybody's being taken for lost however long it takes. Text is
    // made tokens by the first worker while the others wait, then they take those out of its cache; on a machine that does not see the cache one of
    // its workers makes them for the rest of that machine. All ask together. Errors: those of prepareInTurn.
    Status openInTurn(const RunConfig& config, const std::atomic<bool>& cancelled, const std::function<Status(const std::atomic<bool>& stop)>& open);

    // The same of what each does for itself before the first step: what training begins with, and the first worker's session. Where a file is not
    // there with one of them, all hear why.
    Status beginSideBySide(const std::atomic<bool>& cancelled, const std::function<Status()>& begin);
    // How often one is heard of that keeps the others waiting.
    std::chrono::milliseconds beat() const { return beatWithin(m_group->patience()); }

    int onThisMachine() const { return m_group->onThisMachine(); }
    // CPU threads of this worker: as set, or its share of the cores that it may use: all where nobody else may use them, as srun binds workers.
    std::int64_t threads(const RunConfig& config, int cores) const;
    // Everything is read and made: is it the same with all of them? gpu: what this worker trains on, empty on a CPU.
    Status compareStart(const TrainerSetup& setup, const std::string& gpu);
    // How fast sums are here, for forecasts. All ask together, before the first step. Empty where GPUs make them: nothing is foretold of those.
    Result<std::vector<LinkTime>> link();
    // Why these workers cannot run this plan; empty = they can.
    std::string whyNotShared(const RunPlan& plan) const;
    // This worker ends: the others are told why.
    void giveUp(const Error& why) { m_group->giveUp(why.sentence); }

    DataParallel& parallel() { return m_parallel; }
    bool first() const { return m_parallel.rank() == 0; }

    // For the log and for people: who trains, and how large an update is.
    std::string description(const RunPlan& plan, std::int64_t threads) const;
    // How long each has waited for the others; all ask when a run has come to its end. Empty where one is gone by then.
    std::string waits(std::int64_t steps, double stepSeconds);

private:
    explicit RunWorkers(std::unique_ptr<WorkerGroup> group) : m_group(std::move(group)), m_parallel(*m_group) {}

    std::unique_ptr<WorkerGroup> m_group;
    DataParallel m_parallel;
};

}  // namespace stepscope
