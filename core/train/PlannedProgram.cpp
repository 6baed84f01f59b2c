#include "core/train/PlannedProgram.h"

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
#include <cmath>

#include "core/base/Check.h"
#include "core/base/Format.h"
#include "core/model/ChunkedLoss.h"
#include "core/step/StepEngine.h"
#include "core/train/EagerProgram.h"

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
            .members = at::get_num_threads(),
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
    constexpr std::int64_t kLogitBytes = 32 << 20;  // core/analysis/PlannedMemory.cpp counts on it
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

PlannedProgram::PlannedProgram(ProgramParts parts)
    : m_parts(std::move(parts)), m_feed(m_parts.feed, m_parts.device, m_parts.batchSize, m_parts.context) {
    m_report.attention = "planned";
    m_report.optimizer = m_parts.optimizerName;
    m_report.autocast = m_parts.autocast ? "bf16" : "off";
    m_report.matmulPrecision = "highest";  // float32 products are this Program's own
}

PlannedProgram::~PlannedProgram() = default;

void PlannedProgram::bind(const TrainState& state) {
    const bool other = m_engine == nullptr || m_boundConfig != state.config;
    const std::int64_t begin = now();
    if (other) {
        m_engine.reset();
        m_block.reset();
        auto engine = std::make_unique<StepEngine>(shapeOf(state.config, m_parts), placesIn(state.layout, state.config));
        m_block = at::empty({engine->bytes()}, at::TensorOptions().dtype(at::kByte));
        engine->plan(m_block.data_ptr());
        m_engine = std::move(engine);
    }
    if (other || m_boundTo != state.weights.data_ptr() || m_boundMoments != state.firstMoment.data_ptr()) {
        SS_CHECK(state.eightBit() == m_parts.eightBitMoments);
        std::vector<at::Tensor> views;
        for (const auto& slot : state.layout.slots()) views.push_back(ParameterLayout::view(gradients(), slot));
        m_groups = withGradients(parameterGroups(state), state.layout, views);
        m_packedAt = -1;
    }
    if (m_packedAt != state.updates) m_engine->pack(state.weights.data_ptr<float>());
    // Apart from the steps: what a plan costs is paid once, and no median of steps should carry it.
    if (other)
        m_report.preparation = fmt::format("The whole step is planned: {} of buffers placed and the weights packed in {:.3f} s.",
                                           format::bytes({m_engine->bytes()}), static_cast<double>(now() - begin) * 1e-9);
    m_boundConfig = state.config;
    m_boundTo = state.weights.data_ptr();
    m_boundMoments = state.firstMoment.data_ptr();
    m_packedAt = state.updates;
}

at::Tensor PlannedProgram::gradients() const {
    return at::from_blob(m_engine->gradients(), {m_engine->parameters().size}, at::TensorOptions().dtype(at::kFloat));
}

StepResult PlannedProgram::step(TrainState& state, const BatchSource& batches, double rate) {
    const ProgramScope scope(m_parts.scope);
    m_report.hostMemory = host_memory::mode() == host_memory::Mode::Caching ? "caching" : "system";
    StepResult result;
    const auto phase = [&](Phase which) -> std::int64_t& { return result.phaseNs[static_cast<std::size_t>(which)]; };
    bind(state);
    double lossSum = 0;
    for (std::int64_t micro = 0; micro < m_parts.accumulation; ++micro) {
        const std::int64_t begin = now();
        m_feed.cut(batches, state.seed, state.cursor + micro * m_parts.batchSize);
        phase(Phase::Batch) += now() - begin;
        const auto [inputs, targets] = m_feed.copy();  // the host's own: nothing is copied
        std::array<std::int64_t, 2> marks{};
        const double loss = m_engine->accumulate(state.weights.data_ptr<float>(),
                                                 {.ids = inputs.data_ptr<std::int64_t>(),
                                                  .targets = targets.data_ptr<std::int64_t>(),
                                                  .first = micro == 0,
                                                  .share = 1.0 / static_cast<double>(m_parts.accumulation),
                                                  .seed = state.seed,
                                                  .update = static_cast<std::uint64_t>(state.updates + 1),
                                                  .firstSequence = micro * m_parts.batchSize},
                                                 marks);
        phase(Phase::Forward) += marks[0];
        phase(Phase::Backward) += marks[1];
        lossSum += loss;
        if (!std::isfinite(loss)) break;
    }
    result.loss = lossSum / static_cast<double>(m_parts.accumulation);
    result.tokens = m_parts.accumulation * m_parts.batchSize * m_parts.context;
    if (!std::isfinite(result.loss)) {
        result.breakdown = Breakdown::Loss;
        return result;
    }
    std::int64_t begin = now();
    // 8-bit moments must never see what is no number: a block's scale would be lost for good.
    const bool measures = m_parts.maxNorm > 0 || m_parts.eightBitMoments;
    if (measures) result.gradientNorm = m_engine->gradientNorm();
    phase(Phase::Clip) += now() - begin;
    if (measures && !std::isfinite(result.gradientNorm)) {
        result.breakdown = Breakdown::Gradients;
        return result;
    }
    begin = now();
    update(state, rate, result.gradientNorm);
    phase(Phase::Optimizer) += now() - begin;
    return result;
}

void PlannedProgram::update(TrainState& state, double rate, double norm) {
    AdamW settings = m_parts.adamW;
    settings.rate = rate;
    settings.t = state.updates - state.skipped + 1;
    if (m_parts.optimizerName == "fused") {
        // As torch.nn.utils.clip_grad_norm_ scales: never up.
        if (m_parts.maxNorm > 0) settings.gradientScale = std::min(1.0, m_parts.maxNorm / (norm + 1e-6));
        m_engine->update({state.weights.data_ptr<float>(), state.firstMoment.data_ptr<float>(), state.secondMoment.data_ptr<float>()},
                         adamWStep(settings, true));
    } else {
        // The other implementations change the weights first; they are packed in a pass of their own.
        const c10::NoGradGuard noGradient;
        if (m_parts.maxNorm > 0) clipByNorm(m_groups, at::full({}, norm, at::TensorOptions().dtype(at::kFloat)), m_parts.maxNorm);
        for (auto& group : m_groups) m_parts.optimizer(group, settings);
        m_engine->pack(state.weights.data_ptr<float>());
    }
    state.updates += 1;
    state.cursor += m_parts.accumulation * m_parts.batchSize;
    m_packedAt = state.updates;
}

double PlannedProgram::lossOfBatch(const TrainState& state, const at::Tensor& inputs, const at::Tensor& targets) {
    return m_engine->evaluate(state.weights.data_ptr<float>(), inputs.data_ptr<std::int64_t>(), targets.data_ptr<std::int64_t>());
}

double PlannedProgram::evaluate(const TrainState& state, const BatchSource& batches, std::int64_t tokens) {
    if (m_parts.validationAutocast != m_parts.autocast) {
        if (m_plain == nullptr) m_plain = plainProgram(m_parts, state.config);
        return m_plain->evaluate(state, batches, tokens);
    }
    const ProgramScope scope(m_parts.scope);
    bind(state);
    const std::int64_t sequences = validationSequences(tokens, m_parts.context), batch = m_parts.batchSize, left = sequences % batch;
    double sum = 0;
    for (std::int64_t done = 0; done + batch <= sequences; done += batch) {
        const auto [inputs, targets] = m_feed.validation(batches, done, batch);
        sum += lossOfBatch(state, inputs, targets) * static_cast<double>(batch);
    }
    if (left > 0) {
        // The plan is of whole batches: what is left over is filled up with its first sequence, whose loss is taken off again.
        const auto [inputs, targets] = m_feed.validation(batches, sequences - left, left);
        const at::Tensor filled = at::zeros({batch}, inputs.options()), first = at::zeros({batch}, inputs.options());
        for (std::int64_t i = 0; i < left; ++i) filled.data_ptr<std::int64_t>()[i] = i;
        sum += lossOfBatch(state, inputs.index_select(0, filled), targets.index_select(0, filled)) * static_cast<double>(batch);
        sum -= lossOfBatch(state, inputs.index_select(0, first), targets.index_select(0, first)) * static_cast<double>(batch - left);
    }
    return sum / static_cast<double>(sequences);
}

}  // namespace stepscope
