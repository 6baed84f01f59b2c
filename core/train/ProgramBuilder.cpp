#include "core/train/ProgramBuilder.h"

#include <fmt/format.h>

#include "core/train/EagerProgram.h"

namespace stepscope {

ProgramBuilder::ProgramBuilder(const RunConfig& config) : m_config(config) {
    m_parts.adamW = {.beta1 = config.beta1, .beta2 = config.beta2, .epsilon = config.epsilon, .weightDecay = config.weightDecay};
    m_parts.dropout = config.dropout;
    m_parts.labelSmoothing = config.labelSmoothing;
}

void ProgramBuilder::claim(const std::string& slot) {
    const auto [held, fresh] = m_claims.emplace(slot, m_owner);
    if (!fresh && held->second != m_owner && !m_conflict)
        m_conflict =
            makeError(ErrorCode::Unsupported, fmt::format("{} and {} both decide the {}; switch one of them off.", held->second, m_owner, slot));
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
void ProgramBuilder::setCudnnBenchmark(bool on) {
    claim("cuDNN's choice of algorithms");
    m_parts.scope.cudnnBenchmark = on;
}
void ProgramBuilder::setRecompute(RecomputePlan plan) {
    claim("recomputation of activations");
    m_parts.recompute = plan;
}
void ProgramBuilder::setHostMemory(host_memory::Mode mode) {
    claim("host allocator");
    m_parts.scope.hostMemory = mode;
}
void ProgramBuilder::setAttention(AttentionSlot attention) {
    claim("attention");
    m_parts.attentionName = std::move(attention.name);
    m_parts.ops.attention = std::move(attention.function);
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
void ProgramBuilder::setOptimizer(std::string name, OptimizerFunction function, Moments moments) {
    claim("optimizer");
    m_parts.eightBitMoments = moments == Moments::EightBit;
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
void ProgramBuilder::setKeepGradients(bool keep) {
    claim("clearing of gradients");
    m_parts.keepGradients = keep;
}
void ProgramBuilder::setEmbedOp(decltype(ModelOps::embed) embed) {
    claim("embedding");
    m_parts.ops.embed = std::move(embed);
}
void ProgramBuilder::setNormOp(decltype(ModelOps::residualNorm) residualNorm) {
    claim("residual sum and norm");
    m_parts.ops.residualNorm = std::move(residualNorm);
}
void ProgramBuilder::setLinearOp(decltype(ModelOps::linear) linear) {
    claim("linear projections");
    m_parts.ops.linear = std::move(linear);
}
void ProgramBuilder::setActivationOps(ActivationOps activation) {
    claim("activation");
    m_parts.ops.linearGelu = std::move(activation.gelu);
    m_parts.ops.linearSwiglu = std::move(activation.swiglu);
}
void ProgramBuilder::setHeadsOps(HeadsOps heads) {
    claim("layout of the heads");
    m_parts.ops.linearHeads = std::move(heads.split);
    m_parts.ops.mergeHeads = std::move(heads.merge);
}
void ProgramBuilder::setLossOp(decltype(ModelOps::loss) loss) {
    claim("loss");
    m_parts.ops.loss = std::move(loss);
}
void ProgramBuilder::setProgram(ProgramMaker make) {
    claim("program");
    m_make = std::move(make);
}
void ProgramBuilder::setTokenPlace(TokenPlace place) {
    claim("place of the tokens");
    m_parts.feed.place = place;
}
void ProgramBuilder::setBatchCreation(BatchCreation creation) {
    claim("cutting of batches");
    m_parts.feed.creation = creation;
}
void ProgramBuilder::setLoaderWorkers(std::int64_t threads) {
    claim("loader's threads");
    m_parts.feed.workers = threads;
}
void ProgramBuilder::setLoaderPrefetch(std::int64_t batches) {
    claim("loader's queue");
    m_parts.feed.prefetch = batches;
}
void ProgramBuilder::setLoaderPinned(bool on) {
    claim("loader's memory");
    m_parts.feed.pinned = on;
}
void ProgramBuilder::setLoaderNonBlocking(bool on) {
    claim("copy to the device");
    m_parts.feed.nonBlocking = on;
}

Result<std::unique_ptr<StepProgram>> ProgramBuilder::build() const {
    if (m_conflict) return *m_conflict;
    ProgramParts parts = m_parts;
    if (m_validationAutocast) parts.validationAutocast = parts.autocast;
    if (parts.autocast == at::kHalf) parts.lossScaleGrowth = m_config.lossScaleGrowth;
    parts.recompute.applyTo(parts.ops);
    if (m_make) return m_make(std::move(parts));
    return std::unique_ptr<StepProgram>(std::make_unique<EagerProgram>(std::move(parts)));
}

}  // namespace stepscope
