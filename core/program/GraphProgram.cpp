#include "core/program/GraphProgram.h"

#include <ATen/TensorOperators.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/zeros.h>
#include <c10/core/Event.h>
#include <c10/core/GradMode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>

#include "core/base/Check.h"
#include "core/base/StepPlace.h"
#include "core/cuda/loader/CudaGraph.h"
#include "core/memory/DeviceMemory.h"
#include "core/model/Gpt.h"
#include "core/profile/KernelSource.h"

namespace stepscope {
namespace {

constexpr int kEagerSteps = 3;  // libraries choose their kernels and take their workspaces meanwhile: none of that may be captured
constexpr std::int64_t kFloats = sizeof(AdamWStep) / sizeof(float);
constexpr std::int64_t kWords = kFloats;  // 64-bit ones, that the numbers of both groups take
static_assert(2 * sizeof(AdamWStep) == kWords * sizeof(std::int64_t));

struct CapturedCudaGraph final : CapturedGraph {
    explicit CapturedCudaGraph(CudaGraph captured) : graph(std::move(captured)) {}
    void replay() override { graph.replay(); }
    std::int64_t kernels() const override { return graph.kernels(); }

    CudaGraph graph;
};

class CudaStepCapture final : public StepCapture {
public:
    // One a device for the whole process: for each stream that cuBLAS has worked on it keeps workspaces that are never given back.
    c10::Stream stream(at::Device device) const override {
        static std::mutex alone;
        static std::map<c10::DeviceIndex, c10::Stream> taken;
        const std::lock_guard lock(alone);
        const auto found = taken.find(device.index());
        if (found != taken.end()) return found->second;
        const c10::impl::VirtualGuardImpl streams(device.type());
        return taken.emplace(device.index(), streams.getStreamFromGlobalPool(device, /*isHighPriority=*/false)).first->second;
    }
    std::unique_ptr<CapturedGraph> capture(at::Device device, const CapturedGraph* sharesWith, const std::function<void()>& work) const override {
        const CudaGraph* const with = sharesWith != nullptr ? &static_cast<const CapturedCudaGraph*>(sharesWith)->graph : nullptr;
        const GraphListening listening(cudaPlugin());
        return std::make_unique<CapturedCudaGraph>(CudaGraph::capture(device.index(), with, work));
    }
};

// Work on a Program's own stream, which begins when what the caller's has been given is done: streams of LibTorch's pool do not wait for the default
// one.
class OnStream {
public:
    explicit OnStream(const c10::Stream& own) : m_callers(c10::impl::VirtualGuardImpl(own.device_type()).getStream(own.device())), m_guard(own) {
        if (own.device().is_cpu() || m_callers == own) return;
        c10::Event given(own.device_type());
        given.record(m_callers);
        own.wait(given);
    }

private:
    c10::Stream m_callers;
    c10::StreamGuard m_guard;
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

// Of the eager steps beside a captured one: gradients that are kept are the graphs', a second set would lie there for nothing.
ProgramParts withoutKeptGradients(ProgramParts parts) {
    parts.keepGradients = false;
    return parts;
}

}  // namespace

std::unique_ptr<const StepCapture> cudaStepCapture() {
    return std::make_unique<const CudaStepCapture>();
}

GraphProgram::GraphProgram(ProgramParts parts, std::unique_ptr<const StepCapture> graphs)
    : PhasedProgram(std::move(parts)),
      m_graphs(std::move(graphs)),
      m_eager(withoutKeptGradients(m_parts), m_low),
      m_stream(m_graphs->stream(m_parts.device)) {}

StepResult GraphProgram::eager(TrainState& state, const BatchSource& batches, double rate) {
    const StepResult result = m_eager.step(state, batches, rate);
    const std::string preparation = m_report.preparation;
    m_report = m_eager.report();
    m_report.preparation = preparation;
    m_report.weightCopies += m_copiesMade;
    return result;
}

void GraphProgram::subscribe(GradientSubscriber* subscriber) {
    PhasedProgram::subscribe(subscriber);
    m_eager.subscribe(subscriber);
}

// What was captured has a micro-batch's share of the mean in it.
void GraphProgram::shareWith(DataParallel* others) {
    if (others != m_others) forget();
    PhasedProgram::shareWith(others);
    m_eager.shareWith(others);
}

void GraphProgram::bind(const TrainState& state) {
    if (m_leaves.bind(state)) forget();
    if (!m_parts.keepsLowWeights() || !m_low->bind(state)) return;  // in place: the graphs know the address
    ++m_copiesMade;
    ++m_report.weightCopies;
}

void GraphProgram::prepare(const TrainState& state) {
    const OnStream own(m_stream);
    PhasedProgram::prepare(state);
}

StepResult GraphProgram::step(TrainState& state, const BatchSource& batches, double rate) {
    const OnStream own(m_stream);
    if (m_leaves.bind(state)) forget();
    if (m_feed.prepare(batches)) forget();
    if (m_givenUp || m_eagerSteps++ < kEagerSteps) return eager(state, batches, rate);
    SS_CHECK(state.share.whole());
    if (!m_captured) {
        if (const Status captured = captureTogether(state); !captured) {
            forget();
            m_givenUp = true;
            giveBack();
            m_report.preparation = fmt::format("The step could not be captured into a CUDA graph, so it runs eagerly: {}", captured.error().sentence);
            return eager(state, batches, rate);
        }
    }
    return PhasedProgram::step(state, batches, rate);
}

// A captured step adds up more than an eager one, so either all workers make captured steps or none does.
Status GraphProgram::captureTogether(const TrainState& state) {
    Status own;
    try {
        capture(state);
    } catch (const std::exception& thrown) {
        const std::string why = thrown.what();
        const std::string said = why.substr(0, why.find('\n'));
        own = makeError(ErrorCode::Unsupported, said.ends_with('.') ? said : said + ".");
    }
    return m_others != nullptr ? m_others->agree(own) : own;
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

// What lies in LibTorch's cache is reserved on the device and of no use to a capture, which takes anew all that it needs.
void GraphProgram::giveBack() {
    m_stream.synchronize();
    device_memory::trim(m_parts.device);
}

void GraphProgram::microStep(const GptConfig& config, bool first) {
    const std::int64_t batches = m_parts.accumulation * workers();
    const double incoming = 1 / static_cast<double>(batches);  // gradient of the mean over the micro-batches of all workers
    const auto cut = [this] {
        const PlaceScope place(Role::Embedding);  // whoever captures such steps names the place of everything in the graph
        return m_feed.read(m_slot);
    };
    const auto [inputs, targets] = cut();
    at::Tensor loss;
    {
        const AutocastScope autocast(m_parts.device.type(), m_parts.autocast);
        const WithoutAutocastCache fresh;
        loss = gptLoss(config, m_parts.keepsLowWeights() ? m_low->over(m_leaves.weights()) : m_leaves.weights(), m_parts.ops, inputs, targets,
                       {.smoothing = m_parts.labelSmoothing, .backwardScale = incoming});
    }
    loss.backward(m_incoming);
    const c10::NoGradGuard none;
    const PlaceScope place(Role::HeadLoss);
    if (batches == 1)
        m_loss.copy_(loss);
    else if (first)
        at::mul_out(m_loss, loss, m_incoming);
    else
        m_loss.add_(loss, incoming);
}

void GraphProgram::updateStep() {
    const c10::NoGradGuard none;
    auto groups = m_leaves.groups();
    if (m_parts.keepsLowWeights()) m_low->addTo(groups);
    m_parts.captured.norm(groups, m_norm);
    m_norm.add_(m_loss, 0);  // a loss that is no number makes the norm none, and then the update leaves everything as it is
    for (std::size_t g = 0; g < groups.size(); ++g)
        m_parts.captured.update(groups[g], m_numbers[static_cast<std::int64_t>(g)], m_norm, m_parts.maxNorm);
}

// All that will be captured runs once before: a kernel is loaded onto the device when it is first asked for, which need not work inside a capture,
// and some are in no eager step. The loss is then made no number, so that the update changes nothing.
void GraphProgram::rehearse(const GptConfig& config) {
    microStep(config, true);
    if (m_parts.accumulation > 1) microStep(config, false);
    m_loss.fill_(std::numeric_limits<double>::quiet_NaN());
    updateStep();
    m_leaves.clearGradients(Leaves::Clear::ToNone);
}

void GraphProgram::makeBuffers() {
    const auto numbers = at::TensorOptions().dtype(at::kFloat), words = at::TensorOptions().dtype(at::kLong);
    const bool pinned = !m_parts.device.is_cpu();  // memory that a GPU reads and writes by itself
    const std::int64_t slot = m_feed.slotSize(), places = m_feed.cutsOnDevice() ? slot : 0;
    m_words = at::zeros({slot + kWords}, words.device(m_parts.device));
    m_slot = m_words.narrow(0, 0, slot);
    m_numbers = m_words.narrow(0, slot, kWords).view(at::kFloat).view({2, kFloats});
    m_hostWords = at::empty({m_parts.accumulation * places + kWords}, words.pinned_memory(pinned));
    m_results = at::zeros({2}, numbers.device(m_parts.device));
    m_loss = m_results[0];
    m_norm = m_results[1];
    m_hostResults = at::empty({2}, numbers.pinned_memory(pinned));
    m_incoming = at::full({}, 1 / static_cast<double>(m_parts.accumulation * workers()), numbers.device(m_parts.device));
}

void GraphProgram::capture(const TrainState& state) {
    const ProgramScope scope(m_parts.scope);
    const auto begin = std::chrono::steady_clock::now();
    makeBuffers();
    if (m_parts.keepsLowWeights()) m_low->bind(state);
    m_leaves.clearGradients(Leaves::Clear::ToNone);
    rehearse(state.config);
    giveBack();
    device_memory::takePeak(m_parts.device);
    // The first micro-batch makes the gradients, in the graphs' own memory.
    m_first = m_graphs->capture(m_parts.device, nullptr, [this, config = state.config] { microStep(config, true); });
    if (m_parts.accumulation > 1)
        m_next = m_graphs->capture(m_parts.device, m_first.get(), [this, config = state.config] { microStep(config, false); });
    m_update = m_graphs->capture(m_parts.device, m_first.get(), [this] { updateStep(); });
    m_captured = true;
    // What the work took and gave back lies in the graphs' own memory now, and no replay asks for it again.
    m_report.graphBytes = std::max<std::int64_t>(0, device_memory::takePeak(m_parts.device).count - device_memory::live(m_parts.device).count);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const std::int64_t kernels = m_first->kernels() + (m_next ? (m_parts.accumulation - 1) * m_next->kernels() : 0) + m_update->kernels();
    m_report.preparation =
        fmt::format("CUDA graphs: {} kernels a step in {} launches, captured in {:.2f} s.", kernels, m_parts.accumulation + 1, took.count());
}

// Copies read what is written here later; nothing is written again before the end of the step has waited for them.
void GraphProgram::begin(const TrainState&, const AdamW& settings) {
    const AdamWStep both[2] = {adamWStep(settings, true), adamWStep(settings, false)};  // in the order of Leaves::groups()
    std::memcpy(m_hostWords.data_ptr<std::int64_t>() + (m_feed.cutsOnDevice() ? m_feed.slotSize() : 0), both, sizeof both);
}

// The batch that was cut; with the first the numbers of the step, in one copy where the batch is only places. On the host they stand after the first
// batch's places as they do on the device, and the places of further batches after them.
void GraphProgram::take(const Micro& micro) {
    const c10::NoGradGuard none;
    const std::int64_t places = m_feed.cutsOnDevice() ? m_feed.slotSize() : 0, begin = micro.number == 0 ? 0 : kWords + micro.number * places;
    if (places > 0)
        std::ranges::copy(m_feed.places(), m_hostWords.data_ptr<std::int64_t>() + begin);
    else
        m_feed.copyInto(m_slot);
    if (micro.number == 0)
        m_words.narrow(0, m_slot.numel() - places, places + kWords).copy_(m_hostWords.narrow(0, 0, places + kWords), /*non_blocking=*/true);
    else if (places > 0)
        m_slot.copy_(m_hostWords.narrow(0, begin, places), /*non_blocking=*/true);
}

void GraphProgram::pass(const TrainState&, const Micro& micro, PhaseClock& clock) {
    const c10::NoGradGuard none;
    clock.enter(Phase::Backward);  // and the forward pass: one launch
    (micro.number == 0 ? m_first : m_next)->replay();
    // The update decides on the device, with each worker: it must see the loss of all, or one that is no number would keep some of them from it.
    if (micro.last && m_others != nullptr) m_others->addUpToo(m_loss);
}

void GraphProgram::update(TrainState& state, const AdamW&) {
    const c10::NoGradGuard none;
    m_update->replay();
    m_hostResults.copy_(m_results, /*non_blocking=*/true);
    if (m_parts.keepsLowWeights()) m_low->written(state);
}

double GraphProgram::evaluate(const TrainState& state, const BatchSource& batches, std::int64_t tokens, const Ended& ended) {
    const OnStream own(m_stream);  // its blocks are those of the steps: LibTorch keeps a cache a stream
    return m_eager.evaluate(state, batches, tokens, ended);
}

}  // namespace stepscope
