#include "core/program/PlannedProgram.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/base/Check.h"
#include "core/base/Format.h"
#include "core/model/ChunkedLoss.h"
#include "core/program/EagerProgram.h"
#include "core/step/StepEngine.h"

namespace stepscope {
namespace {

StepParameters placesIn(const ParameterLayout& layout, const GptConfig& config) {
    const auto find = [&](const std::string& name) {
        const auto found = std::ranges::find(layout.slots(), name, &ParameterSlot::name);
        return found == layout.slots().end() ? nullptr : &*found;
    };
    const auto offset = [&](const std::string& name) { return find(name) == nullptr ? kAbsent : find(name)->offset; };
    const auto norm = [&](const std::string& name) { return NormPlace{offset(name + ".weight"), offset(name + ".bias")}; };
    StepParameters all{.size = layout.size(),
                       .decayEnd = layout.decayEnd(),
                       .tokens = offset("wte.weight"),
                       .head = offset(config.tiedHead ? "wte.weight" : "lm_head.weight"),
                       .positions = offset("wpe.weight"),
                       .positionRows = config.positions,
                       .blocks = {},
                       .norm = norm("ln_f")};
    for (std::int64_t l = 0; l < config.layers; ++l) {
        const auto branch = [&](const std::string& normName, const std::vector<std::string>& in, const std::string& out) {
            const auto named = [&](const std::string& name) { return fmt::format("h.{}.{}", l, name); };
            const auto linear = [&](const std::string& name) {
                const ParameterSlot& slot = layout.slot(named(name + ".weight"));
                return LinearPlace{slot.shape[0], slot.shape[1], slot.offset, offset(named(name + ".bias"))};
            };
            BranchPlace place{.norm = norm(named(normName)), .in = {}, .out = linear(out)};
            for (const auto& name : in) place.in.push_back(linear(name));
            return place;
        };
        const auto attention =
            config.splitQkv ? std::vector<std::string>{"attn.q_proj", "attn.k_proj", "attn.v_proj"} : std::vector<std::string>{"attn.c_attn"};
        all.blocks.push_back({branch("ln_1", attention, "attn.c_proj"), branch("ln_2", {"mlp.c_fc"}, "mlp.c_proj")});
    }
    return all;
}

StepShape shapeOf(const GptConfig& config, const ProgramParts& parts) {
    return {.layers = config.layers,
            .heads = config.heads,
            .width = config.width,
            .hidden = config.hidden(),
            .vocabulary = config.vocabulary,
            .batch = parts.batchSize,
            .context = parts.context,
            .element = parts.autocast ? gemm::Element::Bf16 : gemm::Element::F32,
            .workers = at::get_num_threads(),
            .gated = config.activation == Activation::Swiglu,
            .splitQkv = config.splitQkv,
            .rms = config.norm == NormKind::RmsNorm,
            .postNorm = config.placement == NormPlacement::Post,
            .rotaryBase = config.positionKind == PositionKind::Rope ? kRopeBase : 0.0,
            .dropout = parts.dropout,
            .smoothing = parts.labelSmoothing};
}

// Validation in another precision than training's runs the plain model, whose float32 logits would be larger than all that is planned.
std::unique_ptr<StepProgram> plainProgram(ProgramParts parts, const GptConfig& config) {
    constexpr std::int64_t kLogitBytes = 32 << 20;  // core/prediction/PlannedMemory.cpp counts on it
    const std::int64_t rows = std::max<std::int64_t>(32, kLogitBytes / (4 * config.paddedVocabulary));
    parts.ops.loss = [rows](const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets, const LossSettings& settings) {
        return chunkedLoss(rows, hidden, head, targets, settings);
    };
    return std::make_unique<EagerProgram>(std::move(parts));
}

std::int64_t now() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace

PlannedProgram::PlannedProgram(ProgramParts parts) : PhasedProgram(std::move(parts)) {
    m_report.attention = "planned";
}

PlannedProgram::~PlannedProgram() = default;

void PlannedProgram::bind(const TrainState& state) {
    const bool other = m_engine == nullptr || m_boundConfig != state.config;
    const std::int64_t begin = now();
    if (other) {
        m_engine.reset();
        m_block.reset();
        m_packed = {};
        auto engine = std::make_unique<StepEngine>(shapeOf(state.config, m_parts), placesIn(state.layout, state.config));
        m_block = at::empty({engine->bytes()}, at::TensorOptions().dtype(at::kByte));
        engine->plan(m_block.data_ptr());
        m_engine = std::move(engine);
        m_gradients.clear();
        for (const auto& slot : state.layout.slots()) m_gradients.push_back(ParameterLayout::view(gradients(), slot));
    }
    if (other || m_boundTo != state.weights.data_ptr() || m_boundMoments != state.firstMoment.data_ptr())
        m_groups = withGradients(parameterGroups(state), state.layout, m_gradients);
    if (m_packed != state.revision()) {
        m_packed = {};
        m_engine->pack(state.weights.data_ptr<float>());
        m_packed = state.revision();
        ++m_report.weightCopies;
    }
    // Apart from the steps: what a plan costs is paid once, and no median of steps should carry it.
    if (other)
        m_report.preparation = fmt::format("The whole step is planned: {} of buffers placed and the weights packed in {:.3f} s.",
                                           format::bytes({m_engine->bytes()}), static_cast<double>(now() - begin) * 1e-9);
    m_boundConfig = state.config;
    m_boundTo = state.weights.data_ptr();
    m_boundMoments = state.firstMoment.data_ptr();
}

at::Tensor PlannedProgram::gradients() const {
    return at::from_blob(m_engine->gradients(), {m_engine->parameters().size}, at::TensorOptions().dtype(at::kFloat));
}

void PlannedProgram::begin(const TrainState&, const AdamW&) {
    m_losses.clear();
}

void PlannedProgram::take(const Micro&) {
    m_batch = m_feed.copy();  // the host's own: nothing is copied
}

void PlannedProgram::pass(const TrainState& state, const Micro& micro, PhaseClock& clock) {
    // The engine counts layers, the layout's ranges begin behind the last one: with the head, where that has a matrix of its own.
    const std::int64_t layers = state.config.layers;
    std::function<void(std::int64_t)> layerIsFinal;
    if (micro.last && m_announcer.hasSubscriber())
        layerIsFinal = [&](std::int64_t layer) {
            if (layer < layers || !state.config.tiedHead)
                m_announcer.rangeIsFinal(static_cast<std::size_t>(layers - layer - (state.config.tiedHead ? 1 : 0)));
        };
    clock.enter(Phase::Forward);
    const std::function<void()> backwardBegins = [&] { clock.enter(Phase::Backward); };
    const double loss = m_engine->accumulate(state.weights.data_ptr<float>(), {.ids = m_batch.inputs.data_ptr<std::int64_t>(),
                                                                               .targets = m_batch.targets.data_ptr<std::int64_t>(),
                                                                               .first = micro.number == 0,
                                                                               .share = micro.incoming,
                                                                               .seed = state.seed,
                                                                               .update = static_cast<std::uint64_t>(state.updates + 1),
                                                                               .firstSequence = micro.firstSequence,
                                                                               .layerIsFinal = layerIsFinal ? &layerIsFinal : nullptr,
                                                                               .backwardBegins = &backwardBegins});
    m_losses.push_back(loss);
}

double PlannedProgram::clip(AdamW& settings) {
    const double norm = m_engine->gradientNorm();
    if (m_parts.maxNorm <= 0) return norm;
    if (updatesByItself()) {
        // As torch.nn.utils.clip_grad_norm_ scales: never up.
        settings.gradientScale = std::min(1.0, m_parts.maxNorm / (norm + 1e-6));
    } else {
        const c10::NoGradGuard noGradient;
        clipByNorm(m_groups, at::full({}, norm, at::TensorOptions().dtype(at::kFloat)), m_parts.maxNorm);
    }
    return norm;
}

void PlannedProgram::update(TrainState& state, const AdamW& settings) {
    if (!state.share.whole()) {
        // The rest comes from the others, and is packed when it is there.
        const MomentRange held = momentRange(state.layout, state.share);
        if (updatesByItself())
            return m_engine->update({.weights = state.weights.data_ptr<float>(),
                                     .firstMoment = state.firstMoment.data_ptr<float>(),
                                     .secondMoment = state.secondMoment.data_ptr<float>(),
                                     .begin = held.begin,
                                     .end = held.end},
                                    adamWStep(settings, true));
        const c10::NoGradGuard noGradient;
        for (auto& group : partGroups(state, m_gradients))
            if (!group.parameters.empty()) m_parts.optimizer(group, settings);
        return;
    }
    if (updatesByItself()) {
        m_engine->update({state.weights.data_ptr<float>(), state.firstMoment.data_ptr<float>(), state.secondMoment.data_ptr<float>()},
                         adamWStep(settings, true));
    } else {
        // The other implementations change the weights first; they are packed in a pass of their own.
        const c10::NoGradGuard noGradient;
        for (auto& group : m_groups) m_parts.optimizer(group, settings);
        m_engine->pack(state.weights.data_ptr<float>());
    }
    m_packed = state.revision();
}

void PlannedProgram::received(const TrainState& state) {
    m_engine->pack(state.weights.data_ptr<float>());
    m_packed = state.revision();
}

double PlannedProgram::lossOfBatch(const TrainState& state, const at::Tensor& inputs, const at::Tensor& targets) {
    return m_engine->evaluate(state.weights.data_ptr<float>(), inputs.data_ptr<std::int64_t>(), targets.data_ptr<std::int64_t>());
}

double PlannedProgram::evaluate(const TrainState& state, const BatchSource& batches, std::int64_t tokens, const Ended& ended) {
    if (m_parts.validationAutocast != m_parts.autocast) {
        if (m_plain == nullptr) m_plain = plainProgram(m_parts, state.config);
        m_plain->shareWith(m_others);
        return m_plain->evaluate(state, batches, tokens, ended);
    }
    const ProgramScope scope(m_parts.scope);
    bind(state);
    const std::int64_t sequences = validationSequences(tokens, m_parts.context), batch = m_parts.batchSize;
    const Share mine = validationShare(sequences);
    const std::int64_t left = mine.size() % batch;
    double sum = 0;
    for (std::int64_t done = mine.begin; done + batch <= mine.end; done += batch) {
        if (ended && ended()) return kUnknown;
        const auto [inputs, targets] = m_feed.validation(batches, done, batch);
        sum += lossOfBatch(state, inputs, targets) * static_cast<double>(batch);
    }
    if (left > 0) {
        // The plan is of whole batches: what is left over is filled up with its first sequence, whose loss is taken off again.
        const auto [inputs, targets] = m_feed.validation(batches, mine.end - left, left);
        const at::Tensor filled = at::zeros({batch}, inputs.options()), first = at::zeros({batch}, inputs.options());
        for (std::int64_t i = 0; i < left; ++i) filled.data_ptr<std::int64_t>()[i] = i;
        sum += lossOfBatch(state, inputs.index_select(0, filled), targets.index_select(0, filled)) * static_cast<double>(batch);
        sum -= lossOfBatch(state, inputs.index_select(0, first), targets.index_select(0, first)) * static_cast<double>(batch - left);
    }
    return validationMean(sum, sequences);
}

}  // namespace stepscope
