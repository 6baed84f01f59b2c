#include "core/program/ProgramBuilder.h"

#include <ATen/Parallel.h>

#include "core/program/EagerProgram.h"

namespace stepscope {
namespace {

std::optional<at::ScalarType> autocastOf(Precision precision) {
    if (precision == Precision::Float32) return std::nullopt;
    return precision == Precision::Fp16 ? at::kHalf : at::kBFloat16;
}

at::Float32MatmulPrecision inside(MatmulPrecision precision) {
    if (precision == MatmulPrecision::Highest) return at::Float32MatmulPrecision::HIGHEST;
    return precision == MatmulPrecision::High ? at::Float32MatmulPrecision::HIGH : at::Float32MatmulPrecision::MEDIUM;
}

}  // namespace

ProgramBuilder::ProgramBuilder(const RunPlan& plan) {
    const RunConfig& config = plan.config;
    m_parts.device = at::Device(plan.device());
    m_parts.scope.matmulPrecision = inside(plan.matmulPrecision);
    m_parts.scope.cudnnBenchmark = plan.cudnnAutotune;
    m_parts.scope.threads = config.threads > 0 ? static_cast<int>(config.threads) : at::get_num_threads();
    m_parts.scope.hostMemory = plan.hostMemory == HostMemory::Caching ? host_memory::Mode::Caching : host_memory::Mode::System;
    m_parts.autocast = autocastOf(plan.precision);
    m_parts.validationAutocast = autocastOf(plan.validation.precision);
    m_parts.batchSize = plan.batchSize;
    m_parts.context = plan.context;
    m_parts.accumulation = plan.accumulation;
    m_parts.maxNorm = plan.maxNorm;
    m_parts.dropout = config.dropout;
    m_parts.labelSmoothing = config.labelSmoothing;
    m_parts.eightBitMoments = plan.optimizer == OptimizerKind::EightBit;
    m_parts.lossScaleGrowth = plan.precision == Precision::Fp16 ? config.lossScaleGrowth : 0;
    m_parts.recompute = plan.recompute;
    m_parts.keepGradients = plan.keepsGradients;
    m_parts.keepZeros = config.keepZeros == "on";
    m_parts.sums = plan.sums;
    m_parts.adamW = {.beta1 = config.beta1, .beta2 = config.beta2, .epsilon = config.epsilon, .weightDecay = config.weightDecay};
    m_parts.feed = plan.feed;
}

void ProgramBuilder::setAttention(AttentionSlot attention) {
    m_parts.attentionName = std::move(attention.name);
    m_parts.ops.attention = std::move(attention.function);
    m_parts.scope.sdpa = attention.backends;
}
void ProgramBuilder::setOptimizer(std::string name, OptimizerFunction function) {
    m_parts.optimizerName = std::move(name);
    m_parts.optimizer = std::move(function);
}
void ProgramBuilder::setClippingOptimizer(std::string name, OptimizerFunction function, decltype(ProgramParts::normForOptimizer) norm,
                                          CapturedOptimizer captured) {
    setOptimizer(std::move(name), std::move(function));
    m_parts.normForOptimizer = std::move(norm);
    m_parts.optimizerWritesLow = true;
    m_parts.captured = std::move(captured);
}
void ProgramBuilder::setActivationOps(ActivationOps activation) {
    m_parts.ops.linearGelu = std::move(activation.gelu);
    m_parts.ops.linearSwiglu = std::move(activation.swiglu);
}
void ProgramBuilder::setHeadsOps(HeadsOps heads) {
    m_parts.ops.linearHeads = std::move(heads.split);
    m_parts.ops.mergeHeads = std::move(heads.merge);
}

std::unique_ptr<StepProgram> ProgramBuilder::build() const {
    ProgramParts parts = m_parts;
    recomputeParts(parts.recompute, parts.ops);
    if (m_make) return m_make(std::move(parts));
    return std::make_unique<EagerProgram>(std::move(parts));
}

}  // namespace stepscope
