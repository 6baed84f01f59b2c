// The Workbench behind both front ends: see Workbench.h.
#include "app/workbench/Checkpoints.h"
#include "app/workbench/Gpus.h"
#include "app/workbench/LiveRun.h"
#include "app/workbench/WorkerWaits.h"
#include "app/workbench/Workbench.h"
#include "core/analysis/MemoryPrediction.h"
#include "core/base/Format.h"
#include "core/memory/HostAllocator.h"
#include "core/memory/SystemMemory.h"
#include "core/profile/MachineProbe.h"

#include <c10/core/Device.h>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>

namespace stepscope {
namespace {

// Rows of the embedding when the data has not been read yet: what the tokenizer has, or for characters the most that is usual.
std::int64_t likelyVocabulary(const RunConfig& config) {
    if (config.vocabulary > 0) return config.vocabulary;
    return config.tokenizer == "gpt2" ? 50257 : config.tokenizer == "byte" ? 256 : 128;
}

// What LibTorch's libraries, their threads and the session database add to the process when the first step runs, whatever the model:
// measured by tests/bench/memory_prediction --floor.
constexpr std::int64_t kFirstStepLoads = 31'000'000;

Machine thisMachine() {
    Machine machine = probeMachine();
    describeGpus(machine, cudaPlugin());
    return machine;
}

class Engine final : public Workbench {
public:
    explicit Engine(Machine machine) : m_registry(std::make_shared<const Registry>(std::move(machine))) {}

    const Machine& machine() const override { return m_registry->machine(); }
    SwitchCatalogue switches(const RunConfig& config) const override { return m_registry->catalogue(config); }
    Result<RunConfig> complete(RunConfig config) const override { return m_registry->complete(std::move(config)); }

    Estimate estimate(const RunConfig& config) const override {
        auto full = m_registry->complete(config);
        if (!full) return {};
        const GptConfig shape = m_registry->modelShape(*full, likelyVocabulary(*full));
        const MemoryPrediction predicted = predictMemory(m_registry->running(*full), {ParameterLayout(shape).size(), shape.paddedVocabulary, shape.hidden(), shape.hiddenRows()});
        const Bytes weights = predicted.of(MemoryKind::Weights) + predicted.of(MemoryKind::LowWeights), gradients = predicted.of(MemoryKind::Gradients),
                    moments = predicted.of(MemoryKind::Moments), logits = predicted.of(MemoryKind::Logits);
        const std::int64_t lasting = weights.count + gradients.count + moments.count + logits.count;
        return {parameterCount(shape), weights, gradients, moments, {predicted.tensors.count - lasting}, logits, predicted.total(),
                memoryFor(*full), predicted.tensors, {residentMemory().count + kFirstStepLoads}, describeParts(predicted)};
    }

    Result<std::unique_ptr<Run>> start(RunRequest request, EventSink& sink) override {
        if (!request.resume.empty()) {
            auto place = resolveCheckpoint(request);
            if (!place) return place.error();
            request.resume = *place;
        }
        auto config = m_registry->complete(request.config);
        if (!config) return config.error();
        request.config = *config;
        const Estimate needed = estimate(request.config);
        if (auto fits = checkMemory(request.config, needed); !fits) return fits.error();
        return std::unique_ptr<Run>(std::make_unique<LiveRun>(std::move(request), m_registry, sink, forecastOf(needed)));
    }

private:
    // Of the device that a run is on: of a GPU all of it, for nothing else should be there.
    Bytes memoryFor(const RunConfig& config) const {
        if (config.word("device") == "cpu") return host_memory::affordable();
        return machine().gpus.at(static_cast<std::size_t>(c10::Device(config.word("device")).index())).memory;
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

    static RunForecast forecastOf(const Estimate& needed) {
        const Bytes peak = needed.total + needed.process;
        return {peak, fmt::format("Predicted peak memory: {} for tensors of {} available ({}); {} with the program itself.", format::bytes(needed.total),
                                  format::bytes(needed.available), needed.parts, format::bytes(peak))};
    }

    static Status checkMemory(const RunConfig& config, const Estimate& needed) {
        // What the allocator keeps beyond the tensors it gives up before it refuses anything.
        if (needed.tensors <= needed.available) return {};
        return makeError(ErrorCode::OutOfMemory,
                         fmt::format("batch-size {} × context {} with this model needs about {}, and {} are available; lower batch-size, context or the model's size.",
                                     config.integer("batch-size"), config.integer("context"), format::bytes(needed.tensors), format::bytes(needed.available)));
    }

    std::shared_ptr<const Registry> m_registry;
};

}  // namespace

void initialiseEngine() {
    linkWorkerWaits();
    host_memory::install();
    cudaPlugin();
}

std::unique_ptr<Workbench> Workbench::create() { return create(thisMachine()); }
std::unique_ptr<Workbench> Workbench::create(Machine machine) { return std::make_unique<Engine>(std::move(machine)); }

}  // namespace stepscope
