#include "app/workbench/workers/RunWorkers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "app/workbench/workers/SameRun.h"
#include "core/base/Format.h"
#include "core/data/Corpus.h"
#include "core/data/Hash128.h"
#include "core/kernels/isa/Isa.h"
#include "core/workers/PrepareInTurn.h"

namespace stepscope {
namespace {

// Weights, moments, step and place in the data: what two States that train alike have in common.
std::string hashOfState(const TrainState& state) {
    std::string hashes = fmt::format("{} {} {} {}", state.updates, state.skipped, state.cursor, state.seed);
    for (const at::Tensor* flat : {&state.weights, &state.firstMoment, &state.secondMoment, &state.firstScales, &state.secondScales})
        if (flat->defined()) hashes += " " + hashOf({static_cast<const char*>(flat->const_data_ptr()), flat->nbytes()}).hex();
    return hashOf(hashes).hex();
}

}  // namespace

Result<std::unique_ptr<RunWorkers>> RunWorkers::join(const RunRequest& request, const RunPlan& plan, const std::atomic<bool>& cancelled) {
    auto group = WorkerGroup::join(request.workers, request.workerPatience, [&] { return cancelled.load(); });
    if (!group) return group.error();
    RunFacts facts = programFacts();
    for (auto& fact : settingsOf(request)) facts.push_back(std::move(fact));
    const auto said = (*group)->texts(sayFacts(facts));
    if (!said) return said.error();
    if (const Status same = sameFacts(*said, "words"); !same) return same.error();
    std::unique_ptr<RunWorkers> workers(new RunWorkers(std::move(*group)));
    if (plan.onGpu()) {
        auto gpu = GpuSums::join(*workers->m_group, at::Device(plan.device()), request.workerPatience);
        if (!gpu) return gpu.error();
        workers->m_parallel.addUpOn(std::move(*gpu));
    }
    return workers;
}

std::string RunWorkers::whyNotShared(const RunPlan& plan) const {
    const GpuSums* const gpu = m_parallel.gpu();
    if (!plan.onGpu() || (gpu != nullptr && gpu->takes(at::Device(plan.device())))) return {};
    return "The workers of this run have not joined these GPUs; a run of several workers that is to train on GPUs is started there.";
}

Result<std::vector<LinkTime>> RunWorkers::link() {
    if (m_parallel.gpu() != nullptr) return std::vector<LinkTime>();
    return timeLink(*m_group);
}

Result<std::optional<Restart>> RunWorkers::restart(const RunRequest& request) {
    if (request.workers.restart == 0) return std::optional<Restart>();
    auto found = findRestart(*m_group, request);
    if (!found) return found.error();
    return std::optional<Restart>(std::move(*found));
}

Status RunWorkers::openInTurn(const RunConfig& config, const std::atomic<bool>& cancelled,
                              const std::function<Status(const std::atomic<bool>& stop)>& open) {
    const auto isText = [](const std::string& data) { return data != "random" && !isReadyTokens(data); };
    // What is ready needs no cache, and all look at it at once.
    const bool waits = isText(config.data) || (config.validation != "split" && isText(config.validation));
    const int first = m_group->firstHere(), rank = m_parallel.rank();
    const int turn = !waits || rank == 0 ? 0 : rank == first || first == 0 ? 1 : 2;
    return prepareInTurn(
        *m_group, turn, [&] { return cancelled.load(); }, open, beat());
}

Status RunWorkers::beginSideBySide(const std::atomic<bool>& cancelled, const std::function<Status()>& begin) {
    return prepareInTurn(
        *m_group, 0, [&] { return cancelled.load(); }, [&](const std::atomic<bool>& stop) { return stop ? Status() : begin(); }, beat());
}

std::int64_t RunWorkers::threads(const RunConfig& config, int cores) const {
    return config.threads > 0 ? config.threads : std::max(1, cores / m_group->sharingProcessors());
}

Status RunWorkers::compareStart(const TrainerSetup& setup, const std::string& gpu) {
    RunFacts facts = startFacts(setup.batches->corpus(), setup.origin.threads, toString(isaInUse()), hashOfState(setup.state));
    // One of another kind rounds otherwise.
    if (!gpu.empty()) facts.emplace_back("GPU", gpu);
    const auto said = m_group->texts(sayFacts(facts));
    if (!said) return said.error();
    return sameFacts(*said, "data, threads and weights");
}

std::string RunWorkers::description(const RunPlan& plan, std::int64_t threads) const {
    const std::int64_t workers = m_parallel.size();
    const GpuSums* const gpu = m_parallel.gpu();
    const std::string onGpus =
        gpu != nullptr && plan.onGpu() ? fmt::format(" and a GPU each, joined by NCCL {}", ncclVersionWords(gpu->ncclVersion())) : std::string();
    return fmt::format(
        "{} workers train together, {} of them on this machine, with {} thread{} each{}: an update takes {} sequences, {} of each worker.", workers,
        m_group->onThisMachine(), threads, threads == 1 ? "" : "s", onGpus, workers * plan.accumulation * plan.batchSize,
        plan.accumulation * plan.batchSize);
}

std::string RunWorkers::waits(std::int64_t steps, double stepSeconds) {
    try {
        const auto seconds = m_parallel.gather({std::chrono::duration<double>(m_parallel.waited()).count()});
        if (steps < 1 || !(stepSeconds > 0)) return {};
        // All have the same time; who works longest waits least.
        const auto [least, most] = std::ranges::minmax_element(seconds);
        const auto said = [&](auto which) {
            return fmt::format("worker {} waited {} of a step ({}) for the others", which - seconds.begin(),
                               format::milliseconds(1e3 * *which / static_cast<double>(steps)), format::percent(*which / stepSeconds));
        };
        return fmt::format("Least of all {}, most {}.", said(least), said(most));
    } catch (const WorkersApart&) {
        return {};
    }
}

}  // namespace stepscope
