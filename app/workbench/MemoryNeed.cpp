// See MemoryNeed.h.
#include "app/workbench/MemoryNeed.h"

#include "core/analysis/MemoryPrediction.h"
#include "core/base/Format.h"
#include "core/memory/HostAllocator.h"
#include "core/memory/SystemMemory.h"

#include <c10/core/Device.h>
#include <fmt/format.h>

namespace stepscope {
namespace {

// What LibTorch's libraries, their threads and the session database add to the process when the first step runs, whatever the model:
// measured by tests/bench/memory_prediction --floor.
constexpr std::int64_t kFirstStepLoads = 31'000'000;

// Of the device that a run is on: of a GPU all of it, for nothing else should be there.
Bytes memoryFor(const Machine& machine, const RunConfig& config) {
    if (config.word("device") == "cpu") return host_memory::affordable();
    return machine.gpus.at(static_cast<std::size_t>(c10::Device(config.word("device")).index())).memory;
}

}  // namespace

Workbench::Estimate estimateMemory(const Registry& registry, const RunConfig& config, std::int64_t vocabulary) {
    const GptConfig shape = registry.modelShape(config, vocabulary);
    const MemoryPrediction predicted = predictMemory(registry.running(config), {ParameterLayout(shape).size(), shape.paddedVocabulary, shape.hidden(), shape.hiddenRows()});
    const Bytes weights = predicted.of(MemoryKind::Weights) + predicted.of(MemoryKind::LowWeights), gradients = predicted.of(MemoryKind::Gradients),
                moments = predicted.of(MemoryKind::Moments), logits = predicted.of(MemoryKind::Logits);
    const std::int64_t lasting = weights.count + gradients.count + moments.count + logits.count;
    return {parameterCount(shape), weights, gradients, moments, {predicted.tensors.count - lasting}, logits, predicted.total(),
            memoryFor(registry.machine(), config), predicted.tensors, {residentMemory().count + kFirstStepLoads}, describeParts(predicted)};
}

RunForecast forecastOf(const Workbench::Estimate& needed) {
    const Bytes peak = needed.total + needed.process;
    return {peak, needed.tensors, fmt::format("Predicted peak memory: {} for tensors of {} available ({}); {} with the program itself.", format::bytes(needed.total),
                                              format::bytes(needed.available), needed.parts, format::bytes(peak))};
}

Status checkMemory(const RunConfig& config, const Workbench::Estimate& needed) {
    // What the allocator keeps beyond the tensors it gives up before it refuses anything.
    if (needed.tensors <= needed.available) return {};
    return makeError(ErrorCode::OutOfMemory,
                     fmt::format("batch-size {} × context {} with this model needs about {}, and {} are available; lower batch-size, context or the model's size.",
                                 config.integer("batch-size"), config.integer("context"), format::bytes(needed.tensors), format::bytes(needed.available)));
}

Status checkMemoryOfFlip(const Registry& registry, const RunConfig& from, const RunConfig& to, std::int64_t vocabulary) {
    const Workbench::Estimate needed = estimateMemory(registry, to, vocabulary);
    if (from.word("device") == to.word("device") && needed.tensors <= estimateMemory(registry, from, vocabulary).tensors) return {};
    return checkMemory(to, needed);
}

}  // namespace stepscope
