#include "app/workbench/MemoryNeed.h"

#include <c10/core/Device.h>
#include <fmt/format.h>

#include <algorithm>

#include "app/workbench/Gpus.h"
#include "core/base/Format.h"
#include "core/memory/HostAllocator.h"
#include "core/memory/SystemMemory.h"
#include "core/prediction/MemoryPrediction.h"

namespace stepscope {
namespace {

// What LibTorch's libraries, their threads and the session database add to the process when the first step runs, whatever the model:
// measured by tests/bench/memory_prediction --floor.
constexpr std::int64_t kFirstStepLoads = 31'000'000, kPlannedStepLoads = 19'000'000;

// The device that a run is on.
struct Place {
    Bytes available;
    std::string room;                  // Workbench::Estimate
    std::int64_t cublasWorkspace = 0;  // ModelSizes
};

// parseChosenWorkspaceSize() of LibTorch 2.11.0 (ATen/cuda/CublasHandlePool.cpp), read in the wheel's libtorch_cuda.so: Hopper has 32 MiB a handle
// and stream, others :4096:2:16:8 in the words of CUBLAS_WORKSPACE_CONFIG.
std::int64_t cublasWorkspace(const Gpu& gpu) {
    constexpr std::int64_t kKiB = 1024;
    return gpu.computeMajor == 9 && gpu.computeMinor == 0 ? 32 * kKiB * kKiB : (2 * 4096 + 8 * 16) * kKiB;
}

// The CUDA context is among what NVML calls used from the first tensor on. Before that nobody tells how large it will be, and it is not taken off.
Place placeOn(const Gpu& gpu, const std::string& device, const CudaPlugin& plugin) {
    const std::string card = fmt::format("on {}, {}: ", device, gpu.name), all = format::bytes(gpu.memory);
    const auto now = gpuMemory(gpu, c10::Device(device).index(), plugin);
    if (!now) return {gpu.memory, card + fmt::format("it has {}", all), cublasWorkspace(gpu)};
    std::string room = card + fmt::format("{} of {} are free", format::bytes(now->free), all);
    if (now->ours.count > 0) room += fmt::format(", and {} are this program's", format::bytes(now->ours));
    return {now->free + now->ours, std::move(room), cublasWorkspace(gpu)};
}

Place placeOf(const Machine& machine, const RunPlan& plan, const CudaPlugin& plugin) {
    if (!plan.gpu) return {host_memory::affordable(), {}};
    return placeOn(machine.gpus.at(static_cast<std::size_t>(*plan.gpu)), plan.device(), plugin);
}

}  // namespace

Workbench::Estimate estimateMemory(const Registry& registry, const RunPlan& plan, DataIds ids, const CudaPlugin& plugin) {
    const GptConfig shape = registry.modelShape(plan, ids.vocabulary);
    const Place place = placeOf(registry.machine(), plan, plugin);
    RunPlan asItRuns = plan;
    if (plan.config.validation == "split" && plan.config.validationFraction == 0) asItRuns.validation = {};  // there is nothing to validate on
    const MemoryPrediction predicted = predictMemory(asItRuns, {.parameters = ParameterLayout(shape).size(),
                                                                .vocabulary = shape.paddedVocabulary,
                                                                .hidden = shape.hidden(),
                                                                .hiddenRows = shape.hiddenRows(),
                                                                .threads = plan.config.threads > 0 ? plan.config.threads : registry.machine().cores,
                                                                .cublasWorkspace = place.cublasWorkspace,
                                                                .tokens = ids.tokens});
    const Bytes weights = predicted.of(MemoryKind::Weights) + predicted.of(MemoryKind::LowWeights), gradients = predicted.of(MemoryKind::Gradients),
                moments = predicted.of(MemoryKind::Moments), logits = predicted.of(MemoryKind::Logits);
    const std::int64_t lasting = weights.count + gradients.count + moments.count + logits.count;
    const std::int64_t loads = plan.execution == Execution::Planned ? kPlannedStepLoads : kFirstStepLoads;
    return {parameterCount(shape),
            weights,
            gradients,
            moments,
            {predicted.tensors.count - lasting},
            logits,
            predicted.total(),
            place.available,
            predicted.tensors,
            {residentMemory().count + loads},
            describeParts(predicted),
            place.room,
            predicted.byKind,
            {static_cast<std::int64_t>(tokensOnDevice(plan, ids.tokens))}};
}

Workbench::Estimate estimateMemoryElsewhere(const Registry& registry, const RunPlan& plan, std::int64_t vocabulary) {
    Workbench::Estimate needed = estimateMemory(registry, plan, vocabulary, CudaPlugin{});
    if (!plan.gpu) needed.available = registry.machine().memory;
    return needed;
}

RunForecast forecastOf(const Workbench::Estimate& needed) {
    const Bytes peak = needed.total + needed.process;
    // The program itself lies in other memory than a GPU's.
    if (!needed.room.empty())
        return {peak, needed.tensors,
                fmt::format("Predicted peak memory of the tensors: {} ({}) {}.", format::bytes(needed.total), needed.parts, needed.room)};
    return {peak, needed.tensors,
            fmt::format("Predicted peak memory: {} for tensors of {} available ({}); {} with the program itself.", format::bytes(needed.total),
                        format::bytes(needed.available), needed.parts, format::bytes(peak))};
}

Status checkMemory(const RunPlan& plan, const Workbench::Estimate& needed) {
    // What the allocator keeps beyond the tensors it gives up before it refuses anything.
    if (needed.tensors <= needed.available) return {};
    const std::string room = needed.room.empty() ? fmt::format(", and {} are available", format::bytes(needed.available)) : " " + needed.room;
    const bool tokens = needed.tokens.count > 0;
    return makeError(ErrorCode::OutOfMemory,
                     fmt::format("batch-size {} × context {} with this model{} needs about {}{}; lower batch-size, context or the model's size{}.",
                                 plan.batchSize, plan.context, tokens ? " and all tokens" : "", format::bytes(needed.tensors), room,
                                 tokens ? ", or leave the tokens off the GPU" : ""));
}

Status checkMemoryOfFlip(const Registry& registry, const RunPlan& from, const RunPlan& to, DataIds ids, const CudaPlugin& plugin) {
    const Workbench::Estimate needed = estimateMemory(registry, to, ids, plugin);
    if (from.gpu == to.gpu && needed.tensors <= estimateMemory(registry, from, ids, plugin).tensors) return {};
    return checkMemory(to, needed);
}

Status checkMemoryOfTurns(const Registry& registry, const RunPlan& a, const RunPlan& b, DataIds ids, const CudaPlugin& plugin) {
    const Workbench::Estimate ofA = estimateMemory(registry, a, ids, plugin), ofB = estimateMemory(registry, b, ids, plugin);
    // Of the one that waits: what it keeps from step to step beside the State. A step that autograd runs gives its activations back.
    const auto waiting = [&](const RunPlan& plan, const Workbench::Estimate& of) {
        const auto bytes = [&](MemoryKind kind) { return of.byKind[static_cast<std::size_t>(kind)].count; };
        if (plan.execution == Execution::Eager)
            return bytes(MemoryKind::Gradients) + bytes(MemoryKind::LowWeights) + static_cast<std::int64_t>(tokensOnDevice(plan, ids.tokens));
        return of.tensors.count - bytes(MemoryKind::Weights) - bytes(MemoryKind::Moments);
    };
    const Bytes both{std::max(ofA.tensors.count + waiting(b, ofB), ofB.tensors.count + waiting(a, ofA))};
    if (both <= ofB.available) return {};
    const std::string room = ofB.room.empty() ? fmt::format(", and {} are available", format::bytes(ofB.available)) : " " + ofB.room;
    return makeError(
        ErrorCode::OutOfMemory,
        fmt::format("taking turns keeps both values ready, which needs about {}{}; lower batch-size or context first.", format::bytes(both), room));
}

}  // namespace stepscope
