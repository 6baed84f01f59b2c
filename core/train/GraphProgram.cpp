// See GraphProgram.h.
#include "core/train/GraphProgram.h"

#include "core/cuda/loader/CudaGraph.h"
#include "core/memory/DeviceMemory.h"
#include "core/model/Gpt.h"

#include <ATen/TensorOperators.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

namespace stepscope {
namespace {

constexpr int kEagerSteps = 3;  // libraries choose their kernels and take their workspaces meanwhile: none of that may be captured
constexpr std::int64_t kNumbers = sizeof(AdamWStep) / sizeof(float);

struct CapturedCudaGraph final : CapturedGraph {
    explicit CapturedCudaGraph(CudaGraph captured) : graph(std::move(captured)) {}
    void replay() override { graph.replay(); }
    std::int64_t kernels() const override { return graph.kernels(); }

    CudaGraph graph;
};

class CudaStepCapture final : public StepCapture {
public:
    c10::Stream stream(at::Device device) const override {
        return c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device, /*isHighPriority=*/false);
    }
    std::unique_ptr<CapturedGraph> capture(at::Device device, const CapturedGraph* sharesWith, const std::function<void()>& work) const override {
        const CudaGraph* const with = sharesWith != nullptr ? &static_cast<const CapturedCudaGraph*>(sharesWith)->graph : nullptr;
        return std::make_unique<CapturedCudaGraph>(CudaGraph::capture(device.index(), with, work));
    }
};

// A cast that an earlier forward pass left in autocast's cache would not be part of the graph.
class WithoutAutocastCache {
public:
    WithoutAutocastCache() : m_former(at::autocast::is_autocast_cache_enabled()) { at::autocast::set_autocast_cache_enabled(false); }
    ~WithoutAutocastCache() { at::autocast::set_autocast_cache_enabled(m_former); }
    WithoutAutocastCache(const WithoutAutocastCache&) = delete;
    WithoutAutocastCache& operator=(const WithoutAutocastCache&) = delete;

private:
    bool m_former;
};

}  // namespace

std::unique_ptr<const StepCapture> cudaStepCapture() { return std::make_unique<const CudaStepCapture>(); }

GraphProgram::GraphProgram(ProgramParts parts, std::unique_ptr<const StepCapture> graphs)
    : m_parts(std::move(parts)), m_graphs(std::move(graphs)), m_eager(m_parts, m_low),
      m_feed(m_parts.feed, m_parts.device, m_parts.batchSize, m_parts.context), m_stream(m_graphs->stream(m_parts.device)) {}

StepResult GraphProgram::eager(TrainState& state, const BatchSource& batches, double rate) {
    const StepResult result = m_eager.step(state, batches, rate);
    const std::string preparation = m_report.preparation;
    m_report = m_eager.report();
    m_report.preparation = preparation;
    return result;
}

StepResult GraphProgram::step(TrainState& state, const BatchSource& batches, double rate) {
    const c10::StreamGuard onStream(m_stream);
    if (m_leaves.bind(state)) forget();
    if (m_feed.prepare(batches)) forget();
    if (m_givenUp || m_eagerSteps++ < kEagerSteps) return eager(state, batches, rate);
    if (!m_captured) {
        try {
            capture(state);
        } catch (const std::exception& thrown) {
            const std::string why = thrown.what();
            forget();
            m_givenUp = true;
            m_report.preparation = fmt::format("The step could not be captured into a CUDA graph, so it runs eagerly: {}.", why.substr(0, why.find('\n')));
            return eager(state, batches, rate);
        }
    }
    return replay(state, batches, rate);
}

void GraphProgram::forget() {
    // The graphs before what they point to.
    m_update.reset();
    m_next.reset();
    m_first.reset();
    m_captured = false;
    m_eagerSteps = 0;
    m_leaves.clearGradients(Leaves::Clear::ToNone);
}

void GraphProgram::microStep(const GptConfig& config, bool first) {
    const double incoming = 1 / static_cast<double>(m_parts.accumulation);  // gradient of the mean over the micro-batches
    const auto [inputs, targets] = m_feed.read(m_slot);
    at::Tensor loss;
    {
        const AutocastScope autocast(m_parts.device.type(), m_parts.autocast);
        const WithoutAutocastCache fresh;
        loss = gptLoss(config, m_parts.keepsLowWeights() ? m_low->over(m_leaves.weights()) : m_leaves.weights(), m_parts.ops, inputs, targets,
                       {.smoothing = m_parts.labelSmoothing, .backwardScale = incoming});
    }
    loss.backward(at::full_like(loss, incoming));
    const c10::NoGradGuard none;
    if (first) m_loss.copy_(loss * incoming);
    else m_loss.add_(loss, incoming);
}

void GraphProgram::updateStep() {
    const c10::NoGradGuard none;
    auto groups = m_leaves.groups();
    if (m_parts.keepsLowWeights()) m_low->addTo(groups);
    m_parts.captured.norm(groups, m_norm);
    m_norm.add_(m_loss, 0);  // a loss that is no number makes the norm none, and then the update leaves everything as it is
    for (std::size_t g = 0; g < groups.size(); ++g) m_parts.captured.update(groups[g], m_numbers[static_cast<std::int64_t>(g)], m_norm, m_parts.maxNorm);
}

void GraphProgram::capture(const TrainState& state) {
    const ProgramScope scope(m_parts.scope);
    const auto begin = std::chrono::steady_clock::now();
    const auto numbers = at::TensorOptions().dtype(at::kFloat).device(m_parts.device);
    m_slot = m_feed.slot();
    m_numbers = at::zeros({2, kNumbers}, numbers);
    m_results = at::zeros({2}, numbers);
    m_loss = m_results[0];
    m_norm = m_results[1];
    if (m_parts.keepsLowWeights()) m_low->bind(state);
    device_memory::takePeak(m_parts.device);
    m_leaves.clearGradients(Leaves::Clear::ToNone);  // the first micro-batch makes them, in the graphs' own memory
    m_first = m_graphs->capture(m_parts.device, nullptr, [this, config = state.config] { microStep(config, true); });
    if (m_parts.accumulation > 1) m_next = m_graphs->capture(m_parts.device, m_first.get(), [this, config = state.config] { microStep(config, false); });
    m_update = m_graphs->capture(m_parts.device, m_first.get(), [this] { updateStep(); });
    m_captured = true;
    // What the work took and gave back lies in the graphs' own memory now, and no replay asks for it again.
    m_report.graphBytes = std::max<std::int64_t>(0, device_memory::takePeak(m_parts.device).count - device_memory::live(m_parts.device).count);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const std::int64_t kernels = m_first->kernels() + (m_next ? (m_parts.accumulation - 1) * m_next->kernels() : 0) + m_update->kernels();
    m_report.preparation = fmt::format("CUDA graphs: {} kernels a step in {} launches, captured in {:.2f} s.", kernels, m_parts.accumulation + 1, took.count());
}

void GraphProgram::writeNumbers(const TrainState& state, double rate) {
    AdamW settings = m_parts.adamW;
    settings.rate = rate;
    settings.t = state.updates - state.skipped + 1;
    AdamWStep both[2] = {adamWStep(settings, true), adamWStep(settings, false)};  // in the order of Leaves::groups()
    m_numbers.copy_(at::from_blob(both, {2, kNumbers}, at::kFloat));
}

StepResult GraphProgram::replay(TrainState& state, const BatchSource& batches, double rate) {
    const c10::NoGradGuard none;
    StepResult result;
    PhaseClock clock(result.phaseNs, m_parts.device);
    if (m_parts.keepsLowWeights()) m_low->bind(state);  // in place: the graphs know the address
    writeNumbers(state, rate);  // first, while the device has nothing to do
    for (std::int64_t micro = 0; micro < m_parts.accumulation; ++micro) {
        clock.lap(Phase::Optimizer);
        m_feed.cut(batches, state.seed, state.cursor + micro * m_parts.batchSize);
        clock.lap(Phase::Batch);
        m_feed.copyInto(m_slot);
        clock.lap(Phase::Copy);
        (micro == 0 ? m_first : m_next)->replay();
        clock.lap(Phase::Backward);  // and the forward pass: one launch
    }
    m_update->replay();
    clock.lap(Phase::Optimizer);
    const at::Tensor results = m_results.cpu();
    clock.settle();
    result.loss = results[0].item<double>();
    result.gradientNorm = results[1].item<double>();
    result.tokens = m_parts.accumulation * m_parts.batchSize * m_parts.context;
    if (!std::isfinite(result.loss)) result.breakdown = Breakdown::Loss;
    else if (!std::isfinite(result.gradientNorm)) result.breakdown = Breakdown::Gradients;
    if (result.breakdown != Breakdown::None) return result;
    state.updates += 1;
    state.cursor += m_parts.accumulation * m_parts.batchSize;
    m_low->written(state);
    return result;
}

double GraphProgram::evaluate(const TrainState& state, const BatchSource& batches, std::int64_t microBatches) { return m_eager.evaluate(state, batches, microBatches); }

}  // namespace stepscope
