// What the Workbench does for both front ends: it checks and completes what is asked, and starts runs, experiments and studies.
#include <fmt/format.h>

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "app/workbench/Checkpoints.h"
#include "app/workbench/Gpus.h"
#include "app/workbench/LiveRun.h"
#include "app/workbench/MemoryNeed.h"
#include "app/workbench/Starts.h"
#include "app/workbench/Workbench.h"
#include "app/workbench/engine/EngineRun.h"
#include "app/workbench/experiments/StudyRequests.h"
#include "app/workbench/process/LibraryWarnings.h"
#include "app/workbench/process/WorkerWaits.h"
#include "app/workbench/workers/LocalRun.h"
#include "core/kernels/isa/Isa.h"
#include "core/memory/HostAllocator.h"
#include "core/profile/MachineProbe.h"

namespace stepscope {
namespace {

Machine thisMachine() {
    Machine machine = probeMachine();
    describeGpus(machine, cudaPlugin());
    return machine;
}

// What several workers of one run were started for is training: all else each of them would do by itself, beside the others.
Status onlyOnce() {
    const auto place = workerPlace();
    if (!place || place->alone()) return {};
    return makeError(ErrorCode::BadInput,
                     fmt::format("This is worker {} of {}, and several workers only train together; start this once, without torchrun or srun.",
                                 place->rank, place->size));
}

class Engine final : public Workbench {
public:
    Engine(Machine machine, bool elsewhere) : m_registry(std::make_shared<const Registry>(std::move(machine))), m_elsewhere(elsewhere) {}

    const Machine& machine() const override { return m_registry->machine(); }
    SwitchCatalogue switches(const RunConfig& config) const override { return m_registry->catalogue(config, knownVocabulary(config)); }
    Result<RunConfig> complete(RunConfig config) const override { return m_registry->complete(std::move(config)); }

    Estimate estimate(const RunConfig& config) const override {
        const auto full = m_registry->complete(config);
        if (!full) return {};
        const auto plan = m_registry->plan(*full, knownVocabulary(*full));
        if (!plan) return {};
        return m_elsewhere ? estimateMemoryElsewhere(*m_registry, *plan, likelyVocabulary(*full))
                           : estimateMemory(*m_registry, *plan, likelyVocabulary(*full));
    }

    Result<std::unique_ptr<Run>> start(RunRequest request, EventSink& sink) override {
        if (const Status once = onlyOnce(); request.workers.alone() && !once) return once.error();
        if (!request.engineTakenUp.empty()) return startTakenUpRun(std::move(request), m_registry, sink);
        // What lies on another machine is looked at there.
        if (!request.resume.empty() && !request.engineElsewhere) {
            auto place = resolveCheckpoint(request);
            if (!place) return place.error();
            request.resume = *place;
        }
        if (auto begun = agreeOnBeginning(request); !begun) return begun.error();
        auto config = m_registry->complete(request.config);
        if (!config) return config.error();
        if (!request.name.empty())
            if (auto good = checkSessionName(request.name); !good) return good.error();
        request.config = *config;
        if (!request.engine.empty()) return startEngineRun(std::move(request), m_registry, sink);
        if (request.localWorkers > 1) return startLocalRun(*this, std::move(request), sink);
        if (request.workers.rank != 0) {
            request.record = false;
            request.capture.reset();
            std::erase_if(request.scheduled, [](const ScheduledCommand& one) { return std::holds_alternative<Capture>(one.command); });
        }
        // What is done between workers has something to say where there are several.
        const auto registry =
            request.workers.alone() ? m_registry : std::make_shared<const Registry>(machine(), request.workers.size, request.workers.localRank);
        const auto plan = registry->plan(*config, knownVocabulary(*config));
        if (!plan) return plan.error();
        host_memory::shareAmong(request.workers.localSize);  // the run asks the others, where that is unknown
        const Estimate needed = estimateMemory(*registry, *plan, likelyVocabulary(*config));
        // Before anything is read where that can be said; the run asks once more when it has read its data.
        if (auto fits = checkMemory(*plan, needed); !fits && plan->vocabulary > 0) return fits.error();
        return std::unique_ptr<Run>(std::make_unique<LiveRun>(std::move(request), *plan, registry, sink, forecastOf(needed)));
    }

    Result<std::unique_ptr<Run>> startExperiment(ExperimentRequest request, EventSink& sink) override {
        if (const Status once = onlyOnce(); !once) return once.error();
        return startExperimentOn(m_registry, std::move(request), sink);
    }

    Result<std::unique_ptr<Run>> startLadder(LadderRequest request, EventSink& sink) override {
        if (const Status once = onlyOnce(); !once) return once.error();
        return startLadderOn(m_registry, std::move(request), sink);
    }

    Result<std::unique_ptr<Run>> startTune(TuneRequest request, EventSink& sink) override {
        if (const Status once = onlyOnce(); !once) return once.error();
        return startTuneOn(m_registry, std::move(request), sink);
    }

    std::string whyNothingDiffers(const RunConfig& a, const RunConfig& b) const override { return whyNothingDiffersOn(*m_registry, a, b); }
    Result<LadderForecast> forecast(LadderRequest request) const override { return forecastOn(m_registry, std::move(request)); }

private:
    // What a run begins with is one of its settings, so that it is stored with them and "run again" repeats it; an option that names it sets it.
    static Status agreeOnBeginning(RunRequest& request) {
        if (request.resume.empty()) {
            std::error_code ignored;
            if (request.init.empty() && request.config.init != kRandomWeights) request.init = request.config.init;
            if (!request.init.empty() && !request.engineElsewhere) request.config.init = std::filesystem::absolute(request.init, ignored).string();
            if (request.initPartial) request.config.initPartial = "on";
            if (request.config.keepZeros == "on" && request.init.empty())
                return makeError(
                           ErrorCode::BadInput,
                           "keep-zeros=on keeps what was pruned, and random weights have no zeros; begin with pruned weights (init) or go on from "
                           "a pruned checkpoint.")
                    .about(Subject::Kind::Key, "keep-zeros");
            return {};
        }
        if (request.engineElsewhere) return {};
        const auto checkpoint = inspectCheckpoint(request.resume);
        if (!checkpoint) return {};  // what is wrong with it the run says
        if (checkpoint->config.initPartial != request.config.initPartial)
            return makeError(ErrorCode::BadInput, "A resumed run has the weights of its checkpoint; leave init-partial as it was, or begin anew.")
                .about(Subject::Kind::Key, "init-partial");
        if (checkpoint->config.init == request.config.init) return {};
        return makeError(ErrorCode::BadInput,
                         fmt::format("A resumed run has the weights of its checkpoint, not those of {}; leave init as it was, or begin anew.",
                                     request.config.init))
            .about(Subject::Kind::Key, "init");
    }

    // A session's number means its newest checkpoint.
    static Result<std::string> resolveCheckpoint(const RunRequest& request) {
        std::int64_t session = 0;
        const std::string& wish = request.resume;
        const auto [stop, problem] = std::from_chars(wish.data(), wish.data() + wish.size(), session);
        if (problem == std::errc{} && stop == wish.data() + wish.size() && !std::filesystem::exists(wish))
            return newestCheckpoint(request.database.empty() ? defaultDatabasePath() : request.database, session);
        return wish;
    }

    std::shared_ptr<const Registry> m_registry;
    const bool m_elsewhere;  // the registry's machine is another one
};

}  // namespace

void initialiseEngine() {
    std::signal(SIGXFSZ, SIG_IGN);  // beyond a limit to the size of files a write fails instead, as on a full disk
    linkWorkerWaits();
    takeLibraryWarnings();
    host_memory::install();
    cudaPlugin();
}

Status checkEnvironment() {
    if (const auto limit = host_memory::limitOfEnvironment(); !limit) return limit.error();
    Isa isa;
    if (const char* asked = std::getenv("STEPSCOPE_ISA"); asked != nullptr && *asked != '\0' && !isaNamed(asked, isa))
        return makeError(ErrorCode::BadInput,
                         fmt::format("STEPSCOPE_ISA is \"{}\"; it takes baseline, avx2, avx512, avx512bf16 or amx, or is not set at all.", asked));
    return {};
}

std::unique_ptr<Workbench> Workbench::create() {
    return std::make_unique<Engine>(thisMachine(), /*elsewhere=*/false);
}
std::unique_ptr<Workbench> Workbench::create(Machine machine) {
    return std::make_unique<Engine>(std::move(machine), /*elsewhere=*/true);
}

}  // namespace stepscope
