// See PlannedProgram.h.
#include "core/train/PlannedProgram.h"

#include "core/step/StepEngine.h"
#include "core/train/EagerProgram.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <c10/core/GradMode.h>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

namespace stepscope {
namespace {

StepParameters placesIn(const ParameterLayout& layout, const GptConfig& config) {
    StepParameters all;
    const auto offset = [&](const std::string& name) { return layout.slot(name).offset; };
    all.size = layout.size();
    all.decayEnd = layout.decayEnd();
    all.tokens = offset("wte.weight");
    all.positions = offset("wpe.weight");
    all.positionRows = config.positions;
    for (std::int64_t l = 0; l < config.layers; ++l) {
        const auto norm = [&](const char* name) {
            return NormPlace{offset(fmt::format("h.{}.{}.weight", l, name)), offset(fmt::format("h.{}.{}.bias", l, name))};
        };
        const auto linear = [&](const char* name) {
            const auto& slot = layout.slot(fmt::format("h.{}.{}.weight", l, name));
            return LinearPlace{slot.shape[0], slot.shape[1], slot.offset, offset(fmt::format("h.{}.{}.bias", l, name))};
        };
        all.blocks.push_back({.norm1 = norm("ln_1"), .norm2 = norm("ln_2"), .qkv = linear("attn.c_attn"), .projection = linear("attn.c_proj"),
                              .expand = linear("mlp.c_fc"), .contract = linear("mlp.c_proj")});
    }
    all.norm = {offset("ln_f.weight"), offset("ln_f.bias")};
    return all;
}

StepBuffers buffersOf(const TrainState& state) {
    return {state.weights.data_ptr<float>(), state.firstMoment.data_ptr<float>(), state.secondMoment.data_ptr<float>()};
}

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

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
    if (m_engine == nullptr || m_boundConfig != state.config) {
        const StepShape shape{.layers = state.config.layers, .heads = state.config.heads, .width = state.config.width, .vocabulary = state.config.vocabulary,
                              .paddedVocabulary = state.config.paddedVocabulary, .batch = m_parts.batchSize, .context = m_parts.context,
                              .element = m_parts.autocast ? gemm::Element::Bf16 : gemm::Element::F32, .members = at::get_num_threads()};
        m_engine.reset();
        m_block.reset();
        auto engine = std::make_unique<StepEngine>(shape, placesIn(state.layout, state.config));
        m_block = at::empty({engine->bytes()}, at::TensorOptions().dtype(at::kByte));
        engine->plan(m_block.data_ptr());
        m_engine = std::move(engine);
        m_boundConfig = state.config;
        m_packedAt = -1;
    }
    if (m_boundTo != state.weights.data_ptr() || m_packedAt != state.updates) m_engine->pack(buffersOf(state));
    m_boundTo = state.weights.data_ptr();
    m_packedAt = state.updates;
}

at::Tensor PlannedProgram::gradients() const {
    return at::from_blob(const_cast<float*>(m_engine->gradients()), {m_engine->parameters().size}, at::TensorOptions().dtype(at::kFloat));
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
        const double loss = m_engine->accumulate(buffersOf(state), inputs.data_ptr<std::int64_t>(), targets.data_ptr<std::int64_t>(), micro == 0,
                                                 1.0 / static_cast<double>(m_parts.accumulation), marks);
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
    if (m_parts.maxNorm > 0) result.gradientNorm = m_engine->gradientNorm();
    phase(Phase::Clip) += now() - begin;
    if (m_parts.maxNorm > 0 && !std::isfinite(result.gradientNorm)) {
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
        m_engine->update(buffersOf(state), {.rate = rate, .beta1 = settings.beta1, .beta2 = settings.beta2, .epsilon = settings.epsilon,
                                            .weightDecay = settings.weightDecay, .t = settings.t, .maxNorm = m_parts.maxNorm}, norm);
    } else {
        // The other implementations see the flat buffers as one tensor a group; afterwards the weights are packed in a pass of its own.
        const c10::NoGradGuard noGradient;
        const at::Tensor gradient = gradients();
        const std::int64_t end = state.layout.decayEnd(), size = state.layout.size();
        std::vector<ParameterGroup> groups(2);
        for (int g = 0; g < 2; ++g) {
            const auto part = [&](const at::Tensor& flat) { return g == 0 ? flat.narrow(0, 0, end) : flat.narrow(0, end, size - end); };
            groups[static_cast<std::size_t>(g)] = {.parameters = {part(state.weights)}, .gradients = {part(gradient)}, .firstMoments = {part(state.firstMoment)},
                                                   .secondMoments = {part(state.secondMoment)}, .decays = g == 0};
        }
        if (m_parts.maxNorm > 0) clipByNorm(groups, at::full({}, norm, at::TensorOptions().dtype(at::kFloat)), m_parts.maxNorm);
        for (auto& group : groups) m_parts.optimizer(group, settings);
        m_engine->pack(buffersOf(state));
    }
    state.updates += 1;
    state.cursor += m_parts.accumulation * m_parts.batchSize;
    m_packedAt = state.updates;
}

double PlannedProgram::evaluate(const TrainState& state, const BatchSource& batches, std::int64_t microBatches) {
    if (m_parts.validationAutocast != m_parts.autocast) {
        if (m_plain == nullptr) m_plain = std::make_unique<EagerProgram>(m_parts);
        return m_plain->evaluate(state, batches, microBatches);
    }
    const ProgramScope scope(m_parts.scope);
    bind(state);
    double sum = 0;
    for (std::int64_t i = 0; i < microBatches; ++i) {
        const auto [inputs, targets] = m_feed.validation(batches, i * m_parts.batchSize);
        sum += m_engine->evaluate(buffersOf(state), inputs.data_ptr<std::int64_t>(), targets.data_ptr<std::int64_t>());
    }
    return sum / static_cast<double>(microBatches);
}

}  // namespace stepscope
