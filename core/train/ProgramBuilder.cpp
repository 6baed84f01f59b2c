// See ProgramBuilder.h.
#include "core/train/ProgramBuilder.h"

#include "core/train/EagerProgram.h"

#include <fmt/format.h>

namespace stepscope {

ProgramBuilder::ProgramBuilder(const RunConfig& config) {
    m_parts.adamW = {.beta1 = config.beta1, .beta2 = config.beta2, .epsilon = config.epsilon, .weightDecay = config.weightDecay};
}

void ProgramBuilder::claim(const std::string& slot) {
    const auto [held, fresh] = m_claims.emplace(slot, m_owner);
    if (!fresh && held->second != m_owner && !m_conflict)
        m_conflict = makeError(ErrorCode::Unsupported,
                               fmt::format("{} and {} both decide the {}; switch one of them off.", held->second, m_owner, slot));
}

void ProgramBuilder::setDevice(at::Device device) {
    claim("device");
    m_parts.device = device;
}
void ProgramBuilder::setMatmulPrecision(at::Float32MatmulPrecision precision) {
    claim("float32 matrix products");
    m_parts.scope.matmulPrecision = precision;
}
void ProgramBuilder::setAutocast(std::optional<at::ScalarType> dtype) {
    claim("autocast precision");
    m_parts.autocast = dtype;
}
void ProgramBuilder::setValidationAutocast(bool on) {
    claim("validation precision");
    m_validationAutocast = on;
}
void ProgramBuilder::setHostMemory(host_memory::Mode mode) {
    claim("host allocator");
    m_parts.scope.hostMemory = mode;
}
void ProgramBuilder::setAttention(AttentionSlot attention) {
    claim("attention");
    m_parts.attentionName = std::move(attention.name);
    m_parts.attention = std::move(attention.function);
    m_parts.scope.sdpa = attention.backends;
}
void ProgramBuilder::setBatchSize(std::int64_t sequences) {
    claim("batch size");
    m_parts.batchSize = sequences;
}
void ProgramBuilder::setContext(std::int64_t tokens) {
    claim("context");
    m_parts.context = tokens;
}
void ProgramBuilder::setAccumulation(std::int64_t microBatches) {
    claim("gradient accumulation");
    m_parts.accumulation = microBatches;
}
void ProgramBuilder::setGradientClip(double maxNorm) {
    claim("gradient clipping");
    m_parts.maxNorm = maxNorm;
}
void ProgramBuilder::setOptimizer(std::string name, OptimizerFunction function) {
    claim("optimizer");
    m_parts.optimizerName = std::move(name);
    m_parts.optimizer = std::move(function);
}
void ProgramBuilder::setKeepGradients(bool keep) {
    claim("clearing of gradients");
    m_parts.keepGradients = keep;
}

Result<std::unique_ptr<StepProgram>> ProgramBuilder::build() const {
    if (m_conflict) return *m_conflict;
    ProgramParts parts = m_parts;
    if (m_validationAutocast) parts.validationAutocast = parts.autocast;
    return std::unique_ptr<StepProgram>(std::make_unique<EagerProgram>(std::move(parts)));
}

}  // namespace stepscope
