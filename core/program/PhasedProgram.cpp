#include "core/program/PhasedProgram.h"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <numeric>

#include "core/base/Check.h"

namespace stepscope {
namespace {

const char* word(at::Float32MatmulPrecision precision) {
    return precision == at::Float32MatmulPrecision::HIGHEST ? "highest" : precision == at::Float32MatmulPrecision::HIGH ? "high" : "medium";
}

}  // namespace

PhasedProgram::PhasedProgram(ProgramParts parts)
    : m_parts(std::move(parts)), m_feed(m_parts.feed, m_parts.device, m_parts.batchSize, m_parts.context) {
    m_report.optimizer = m_parts.optimizerName;
}

void PhasedProgram::prepare(const TrainState& state) {
    const ProgramScope scope(m_parts.scope);
    bindChecked(state);
}

void PhasedProgram::shareWith(DataParallel* others) {
    m_others = others;
    subscribe(others);
}

void PhasedProgram::bindChecked(const TrainState& state) {
    SS_CHECK(state.eightBit() == m_parts.eightBitMoments);
    bind(state);
}

// What the libraries say themselves.
void PhasedProgram::noteSettings() {
    m_report.matmulPrecision = word(at::globalContext().float32MatmulPrecision());
    m_report.hostMemory = host_memory::mode() == host_memory::Mode::Caching ? "caching" : "system";
    m_report.autocast = !m_parts.autocast ? "off" : *m_parts.autocast == at::kBFloat16 ? "bf16" : "fp16";
    m_report.threads = at::get_num_threads();
    m_report.cudnnBenchmark = at::globalContext().benchmarkCuDNN();
}

StepResult PhasedProgram::step(TrainState& state, const BatchSource& batches, double rate) {
    const ProgramScope scope(m_parts.scope);
    bindChecked(state);
    noteSettings();
    if (m_others != nullptr) m_others->addUpIn(m_parts.sums);
    StepResult result;
    result.tokens = sequences() * m_parts.context;
    if (scales()) result.lossScale = state.lossScale.scale;
    AdamW settings = m_parts.adamW;
    settings.rate = rate;
    settings.t = state.updates - state.skipped + 1;

    PhaseClock clock(result.phaseNs, m_parts.device);
    clock.enter(Phase::Optimizer);
    begin(state, settings);
    passAll(state, batches, clock);
    if (m_parts.keepZeros) {
        clock.enter(Phase::Clip);
        withholdFromZeros(state);
    }
    if (decidesOnDevice())
        concludeOnDevice(state, settings, clock, result);
    else
        conclude(state, settings, clock, result);
    clock.settle();
    result.phases = clock.entered();
    if (result.breakdown != Breakdown::None) return result;
    state.updates += 1;
    state.skipped += result.skipped ? 1 : 0;
    state.cursor += sequences();
    return result;
}

void PhasedProgram::passAll(const TrainState& state, const BatchSource& batches, PhaseClock& clock) {
    const double scale = scales() ? state.lossScale.scale : 1;
    // Workers take micro-batches in turn: from one of a worker's to its next it is always as far.
    const std::int64_t stride = workers() * m_parts.batchSize, own = m_others == nullptr ? 0 : m_others->rank() * m_parts.batchSize;
    for (std::int64_t number = 0; number < m_parts.accumulation; ++number) {
        const Micro micro{number, number + 1 == m_parts.accumulation, scale / static_cast<double>(m_parts.accumulation * workers()),
                          number * stride + own};
        clock.enter(Phase::Batch);
        m_feed.cut(batches, state.seed, state.cursor + micro.firstSequence, stride);
        if (!m_parts.device.is_cpu()) clock.enter(Phase::Copy);  // on a CPU nothing is copied
        take(micro);
        if (micro.last && m_announcer.hasSubscriber()) m_announcer.begin(state.layout, [this](std::size_t slot) { return gradientOf(slot); });
        pass(state, micro, clock);
    }
    if (!m_announcer.hasSubscriber()) return;
    if (m_others != nullptr) clock.enter(Phase::Waiting);  // for the sums that backward did not hide
    m_announcer.end();
}

// Before anything reads the gradients: neither their norm nor the update sees what a weight that is zero would get, so that with moments of zero
// (state/Zeros.h) AdamW leaves it and them as they are, whichever form of the update it is and wherever it runs. Of several workers each has the sums
// by now, and the same weights.
void PhasedProgram::withholdFromZeros(const TrainState& state) {
    const c10::NoGradGuard noGradient;
    for (std::size_t i = 0; i < state.layout.slots().size(); ++i) {
        const ParameterSlot& slot = state.layout.slots()[i];
        if (slot.linear) gradientOf(i).masked_fill_(ParameterLayout::view(state.weights, slot).eq(0), 0);
    }
}

// The mean over the micro-batches, in the order of their sequences; no number from the first one that is none.
double PhasedProgram::meanLoss(PhaseClock& clock) {
    std::vector<double> losses = takeLosses();
    if (m_others != nullptr) {
        clock.enter(Phase::Waiting);
        losses = m_others->losses(losses);
        clock.enter(Phase::Clip);
    }
    double sum = 0;
    for (const double loss : losses) {
        sum += loss;
        if (!std::isfinite(loss)) break;
    }
    return sum / static_cast<double>(losses.size());
}

Share PhasedProgram::validationShare(std::int64_t sequences) const {
    if (m_others == nullptr) return {0, sequences};
    const Share whole = share((sequences + m_parts.batchSize - 1) / m_parts.batchSize, m_others->rank(), m_others->size());
    return {whole.begin * m_parts.batchSize, std::min(sequences, whole.end * m_parts.batchSize)};
}

double PhasedProgram::validationMean(double sum, std::int64_t sequences) {
    if (m_others != nullptr) {
        const auto sums = m_others->gather({sum});
        sum = std::accumulate(sums.begin(), sums.end(), 0.0);
    }
    return sum / static_cast<double>(sequences);
}

void PhasedProgram::conclude(TrainState& state, AdamW& settings, PhaseClock& clock, StepResult& result) {
    clock.enter(Phase::Clip);
    result.loss = meanLoss(clock);
    if (!std::isfinite(result.loss)) {
        result.breakdown = Breakdown::Loss;
        return;
    }
    if (scales()) {
        const bool clean = unscale(state.lossScale.scale);
        if (!clean && state.lossScale.scale <= kLeastLossScale) {
            result.breakdown = Breakdown::Gradients;
            return;
        }
        moveScale(state.lossScale, clean, m_parts.lossScaleGrowth);
        result.skipped = !clean;
    }
    // 8-bit moments must never see what is no number: a block's scale would be lost for good.
    const bool measures = !result.skipped && (m_parts.maxNorm > 0 || m_parts.eightBitMoments);
    if (measures) result.gradientNorm = clip(settings);
    if (measures && !std::isfinite(result.gradientNorm)) {
        result.breakdown = Breakdown::Gradients;
        return;
    }
    clock.enter(Phase::Optimizer);
    if (!result.skipped) {
        state.bumpRevision();
        update(state, settings);
        if (!state.share.whole()) {
            SS_CHECK(m_others != nullptr && m_others->size() == state.share.of);
            clock.enter(Phase::Waiting);
            m_others->handRound(state.weights, momentBounds(state.layout, state.share.of));
            state.bumpRevision();
            clock.enter(Phase::Optimizer);
            received(state);
        }
    }
    release();
}

void PhasedProgram::concludeOnDevice(TrainState& state, AdamW& settings, PhaseClock& clock, StepResult& result) {
    clock.enter(Phase::Optimizer);
    state.bumpRevision();
    update(state, settings);
    clock.settle();  // the only wait of the step
    result.loss = meanLoss(clock);
    result.gradientNorm = clip(settings);
    if (!std::isfinite(result.loss))
        result.breakdown = Breakdown::Loss;
    else if (!std::isfinite(result.gradientNorm))
        result.breakdown = Breakdown::Gradients;
}

}  // namespace stepscope
