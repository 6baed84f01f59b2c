#include "core/program/EagerProgram.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full_like.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "core/model/Gpt.h"

namespace stepscope {

EagerProgram::EagerProgram(ProgramParts parts, std::shared_ptr<LowWeights> low)
    : PhasedProgram(std::move(parts)), m_ops(m_parts.ops), m_low(std::move(low)) {
    m_ops.attention = [this](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
        if (!m_attentionAsked) {
            m_report.attention = attentionThatRuns(q, k, v);
            m_attentionAsked = true;
        }
        return m_parts.ops.attention(q, k, v);
    };
}

void EagerProgram::subscribe(GradientSubscriber* subscriber) {
    PhasedProgram::subscribe(subscriber);
    m_leaves.onGradient(subscriber == nullptr ? std::function<void(std::size_t)>() : [this](std::size_t slot) { m_announcer.slotIsFinal(slot); });
}

std::string EagerProgram::attentionThatRuns(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) const {
    if (m_parts.attentionName == "manual" || m_parts.attentionName == "fused") return m_parts.attentionName;
    // Inside SDPA autocast has already lowered its inputs; outside it the question needs the lowered ones.
    if (m_parts.autocast) return chosenSdpa(q.to(*m_parts.autocast), k.to(*m_parts.autocast), v.to(*m_parts.autocast));
    return chosenSdpa(q, k, v);
}

void EagerProgram::bind(const TrainState& state) {
    m_leaves.bind(state);
    if (m_parts.keepsLowWeights() && m_low->bind(state)) ++m_report.weightCopies;
}

void EagerProgram::begin(const TrainState&, const AdamW&) {
    clearGradients();
    m_losses.clear();
}

void EagerProgram::take(const Micro&) {
    m_batch = m_feed.copy();
}

void EagerProgram::pass(const TrainState& state, const Micro& micro, PhaseClock& clock) {
    clock.enter(Phase::Forward);
    const auto [inputs, targets] = std::exchange(m_batch, {});
    at::Tensor loss;
    {
        const AutocastScope autocast(m_parts.device.type(), m_parts.autocast);
        loss = gptLoss(state.config, m_parts.keepsLowWeights() ? m_low->over(m_leaves.weights()) : m_leaves.weights(), m_ops, inputs, targets,
                       {.dropout = m_parts.dropout,
                        .smoothing = m_parts.labelSmoothing,
                        .seed = state.seed,
                        .step = state.updates + 1,
                        .firstSequence = micro.firstSequence,
                        .backwardScale = micro.incoming});
    }
    m_losses.push_back(loss.variable_data());  // without the graph
    clock.enter(Phase::Backward);
    loss.backward(micro.incoming == 1 ? at::Tensor() : at::full_like(loss, micro.incoming));
}

std::vector<double> EagerProgram::takeLosses() {
    std::vector<double> values;
    for (const auto& loss : m_losses) values.push_back(loss.item<double>());
    m_losses.clear();
    return values;
}

bool EagerProgram::unscale(double scale) {
    const c10::NoGradGuard noGradient;
    std::vector<at::Tensor> gradients;
    for (const auto& group : m_leaves.groups()) gradients.insert(gradients.end(), group.gradients.begin(), group.gradients.end());
    return stepscope::unscale(gradients, scale);
}

double EagerProgram::clip(AdamW& settings) {
    const c10::NoGradGuard noGradient;
    auto groups = m_leaves.groups();
    if (m_parts.maxNorm > 0 && m_parts.normForOptimizer) {
        const double norm = m_parts.normForOptimizer(groups);
        settings.gradientScale = std::min(1.0, m_parts.maxNorm / (norm + 1e-6));
        return norm;
    }
    const at::Tensor norm = globalNorm(groups);
    if (m_parts.maxNorm > 0) clipByNorm(groups, norm, m_parts.maxNorm);
    return norm.item<double>();
}

void EagerProgram::update(TrainState& state, const AdamW& settings) {
    const c10::NoGradGuard noGradient;
    if (!state.share.whole()) {
        // The rest comes from the others; copies in 16 bits are made anew then.
        for (auto& group : partGroups(state, m_leaves.gradients()))
            if (!group.parameters.empty()) m_parts.optimizer(group, settings);
        return;
    }
    auto groups = m_leaves.groups();
    if (m_parts.keepsLowWeights()) m_low->addTo(groups);
    for (auto& group : groups) m_parts.optimizer(group, settings);
    if (m_parts.keepsLowWeights()) m_low->written(state);
}

void EagerProgram::release() {
    if (!m_parts.keepGradients) clearGradients();
}

void EagerProgram::clearGradients() {
    m_leaves.clearGradients(m_parts.keepGradients ? Leaves::Clear::ToZero : Leaves::Clear::ToNone);
}

double EagerProgram::evaluate(const TrainState& state, const BatchSource& batches, std::int64_t tokens, const Ended& ended) {
    const std::int64_t sequences = validationSequences(tokens, m_parts.context);
    ScopeSettings settings = m_parts.scope;
    // A back-end forced for training may not take validation's float32 (flash on a GPU): LibTorch chooses there.
    if (m_parts.validationAutocast != m_parts.autocast) settings.sdpa = {};
    const ProgramScope scope(settings);
    const c10::NoGradGuard noGradient;
    auto weights = WeightsView::over(state.weights, state.layout, state.config, /*asLeaves=*/false);
    if (m_parts.validationAutocast == at::kBFloat16 && m_low->holds(state)) weights = m_low->over(std::move(weights));
    const AutocastScope autocast(m_parts.device.type(), m_parts.validationAutocast);
    const Share mine = validationShare(sequences);
    double sum = 0;
    for (std::int64_t done = mine.begin; done < mine.end; done += m_parts.batchSize) {
        if (ended && ended()) return kUnknown;
        const std::int64_t now = std::min(m_parts.batchSize, mine.end - done);
        const auto [inputs, targets] = m_feed.validation(batches, done, now);
        sum += gptLoss(state.config, weights, m_parts.ops, inputs, targets).item<double>() * static_cast<double>(now);
    }
    return validationMean(sum, sequences);
}

}  // namespace stepscope
