#include "core/train/EagerProgram.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full_like.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "core/base/Check.h"
#include "core/model/Gpt.h"

namespace stepscope {
namespace {

bool unscaleAll(const std::vector<ParameterGroup>& groups, double scale) {
    std::vector<at::Tensor> gradients;
    for (const auto& group : groups) gradients.insert(gradients.end(), group.gradients.begin(), group.gradients.end());
    return unscale(gradients, scale);
}

const char* word(at::Float32MatmulPrecision precision) {
    return precision == at::Float32MatmulPrecision::HIGHEST ? "highest" : precision == at::Float32MatmulPrecision::HIGH ? "high" : "medium";
}

}  // namespace

EagerProgram::EagerProgram(ProgramParts parts, std::shared_ptr<LowWeights> low)
    : m_parts(std::move(parts)), m_ops(m_parts.ops), m_low(std::move(low)), m_feed(m_parts.feed, m_parts.device, m_parts.batchSize, m_parts.context) {
    m_ops.attention = [this](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
        if (!m_attentionAsked) {
            m_report.attention = attentionThatRuns(q, k, v);
            m_attentionAsked = true;
        }
        return m_parts.ops.attention(q, k, v);
    };
    m_report.optimizer = m_parts.optimizerName;
}

std::string EagerProgram::attentionThatRuns(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) const {
    if (m_parts.attentionName == "manual" || m_parts.attentionName == "fused") return m_parts.attentionName;
    // Inside SDPA autocast has already lowered its inputs; outside it the question needs the lowered ones.
    if (m_parts.autocast) return chosenSdpa(q.to(*m_parts.autocast), k.to(*m_parts.autocast), v.to(*m_parts.autocast));
    return chosenSdpa(q, k, v);
}

void EagerProgram::clearGradients() {
    m_leaves.clearGradients(m_parts.keepGradients ? Leaves::Clear::ToZero : Leaves::Clear::ToNone);
}

void EagerProgram::noteSettings() {
    m_report.matmulPrecision = word(at::globalContext().float32MatmulPrecision());
    m_report.hostMemory = host_memory::mode() == host_memory::Mode::Caching ? "caching" : "system";
    m_report.autocast = !m_parts.autocast ? "off" : *m_parts.autocast == at::kBFloat16 ? "bf16" : "fp16";
}

StepResult EagerProgram::step(TrainState& state, const BatchSource& batches, double rate) {
    const ProgramScope scope(m_parts.scope);
    SS_CHECK(state.eightBit() == m_parts.eightBitMoments);
    m_leaves.bind(state);
    if (m_parts.keepsLowWeights()) m_low->bind(state);
    noteSettings();
    StepResult result;
    PhaseClock clock(result.phaseNs, m_parts.device);
    clearGradients();
    const double scale = scales() ? state.lossScale.scale : 1;
    if (scales()) result.lossScale = scale;
    double lossSum = 0;
    for (std::int64_t micro = 0; micro < m_parts.accumulation; ++micro) {
        clock.lap(Phase::Optimizer);
        m_feed.cut(batches, state.seed, state.cursor + micro * m_parts.batchSize);
        clock.lap(Phase::Batch);
        const auto [inputs, targets] = m_feed.copy();
        clock.lap(m_parts.device.is_cpu() ? Phase::Batch : Phase::Copy);            // on a CPU nothing is copied
        const double incoming = scale / static_cast<double>(m_parts.accumulation);  // gradient of the mean over the micro-batches
        at::Tensor loss;
        {
            const AutocastScope autocast(m_parts.device.type(), m_parts.autocast);
            loss = gptLoss(state.config, m_parts.keepsLowWeights() ? m_low->over(m_leaves.weights()) : m_leaves.weights(), m_ops, inputs, targets,
                           {.dropout = m_parts.dropout,
                            .smoothing = m_parts.labelSmoothing,
                            .seed = state.seed,
                            .step = state.updates + 1,
                            .firstSequence = micro * m_parts.batchSize,
                            .backwardScale = incoming});
        }
        const double value = loss.item<double>();
        clock.lap(Phase::Forward);
        lossSum += value;
        if (!std::isfinite(value)) break;
        loss.backward(incoming == 1 ? at::Tensor() : at::full_like(loss, incoming));
        clock.lap(Phase::Backward);
    }
    result.loss = lossSum / static_cast<double>(m_parts.accumulation);
    result.tokens = m_parts.accumulation * m_parts.batchSize * m_parts.context;
    if (!std::isfinite(result.loss))
        result.breakdown = Breakdown::Loss;
    else
        finish(state, rate, clock, result);
    clock.settle();
    return result;
}

void EagerProgram::finish(TrainState& state, double rate, PhaseClock& clock, StepResult& result) {
    const c10::NoGradGuard noGradient;
    auto all = m_leaves.groups();
    AdamW settings = m_parts.adamW;
    if (scales()) {
        const bool clean = unscaleAll(all, state.lossScale.scale);
        if (!clean && state.lossScale.scale <= kLeastLossScale) result.breakdown = Breakdown::Gradients;
        if (result.breakdown != Breakdown::None) return;
        moveScale(state.lossScale, clean, m_parts.lossScaleGrowth);
        result.skipped = !clean;
    }
    const bool measures = !result.skipped && (m_parts.maxNorm > 0 || m_parts.eightBitMoments);
    if (measures && m_parts.maxNorm > 0 && m_parts.normForOptimizer) {
        result.gradientNorm = m_parts.normForOptimizer(all);
        settings.gradientScale = std::min(1.0, m_parts.maxNorm / (result.gradientNorm + 1e-6));
    } else if (measures) {
        const at::Tensor norm = globalNorm(all);
        if (m_parts.maxNorm > 0) clipByNorm(all, norm, m_parts.maxNorm);
        result.gradientNorm = norm.item<double>();
    }
    clock.lap(Phase::Clip);
    if (measures && !std::isfinite(result.gradientNorm)) {
        result.breakdown = Breakdown::Gradients;
        return;
    }
    if (!result.skipped) {
        settings.rate = rate;
        settings.t = state.updates - state.skipped + 1;
        if (m_parts.keepsLowWeights()) m_low->addTo(all);
        for (auto& group : all) m_parts.optimizer(group, settings);
    }
    if (!m_parts.keepGradients) clearGradients();
    clock.lap(Phase::Optimizer);
    state.updates += 1;
    state.skipped += result.skipped ? 1 : 0;
    m_low->written(state);
    state.cursor += m_parts.accumulation * m_parts.batchSize;
}

double EagerProgram::evaluate(const TrainState& state, const BatchSource& batches, std::int64_t tokens) {
    const std::int64_t sequences = validationSequences(tokens, m_parts.context);
    ScopeSettings settings = m_parts.scope;
    // A back-end forced for training may not take validation's float32 (flash on a GPU): LibTorch chooses there.
    if (m_parts.validationAutocast != m_parts.autocast) settings.sdpa = {};
    const ProgramScope scope(settings);
    const c10::NoGradGuard noGradient;
    auto weights = WeightsView::over(state.weights, state.layout, state.config, /*asLeaves=*/false);
    if (m_parts.validationAutocast == at::kBFloat16 && m_low->holds(state)) weights = m_low->over(std::move(weights));
    const AutocastScope autocast(m_parts.device.type(), m_parts.validationAutocast);
    double sum = 0;
    for (std::int64_t done = 0; done < sequences; done += m_parts.batchSize) {
        const std::int64_t now = std::min(m_parts.batchSize, sequences - done);
        const auto [inputs, targets] = m_feed.validation(batches, done, now);
        sum += gptLoss(state.config, weights, m_parts.ops, inputs, targets).item<double>() * static_cast<double>(now);
    }
    return sum / static_cast<double>(sequences);
}

}  // namespace stepscope
