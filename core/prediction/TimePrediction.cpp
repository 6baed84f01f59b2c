#include "core/prediction/TimePrediction.h"

#include <algorithm>
#include <cmath>

namespace stepscope {
namespace {

void mention(std::string& basis, const char* what) {
    basis += (basis.empty() ? "" : ", ") + std::string(what);
}

// Within these factors of what memory needs for its bytes, an update is bound by memory: slower, something else is; faster, a cache holds it.
constexpr double kSlower = 2, kFaster = 0.5;

bool isBoundByMemory(const StepWork& work, double updateMs, const MachinePeaks& peaks) {
    const double needs = (work.updateBytes + work.clipBytes) / peaks.bytesPerSecond * 1e3;
    return std::isfinite(needs) && needs > 0 && updateMs >= kFaster * needs && updateMs <= kSlower * needs;
}

// 8-bit moments are coded, and a copy in a narrower format spares casts elsewhere: neither is told by bytes alone.
bool isPlainUpdate(const RunPlan& plan) {
    return plan.execution == Execution::Eager && plan.optimizer != OptimizerKind::EightBit && !plan.keepsLowWeights();
}

bool isLibrarys(AttentionKind kind) {
    return kind == AttentionKind::Auto;
}

}  // namespace

TimePrediction predictTime(const RunPlan& now, const RunPlan& other, const ModelSizes& sizes, const StepTimes& times, const MachinePeaks& peaks) {
    TimePrediction told;
    if (!(times.ms > 0)) return told;
    // What is told of is made equal; any other difference is one that nobody measured.
    RunPlan rest = other;
    rest.config = now.config;
    rest.notes = now.notes;
    rest.precision = now.precision;
    rest.batchSize = now.batchSize;
    rest.accumulation = now.accumulation;
    rest.recompute = now.recompute;
    const bool turns = now.attention != other.attention;
    const bool measured = std::isfinite(times.manualAttentionMs) && std::isfinite(times.sdpaAttentionMs);
    const bool canTurn = (isLibrarys(now.attention) || now.attention == AttentionKind::Manual) &&
                         (isLibrarys(other.attention) || other.attention == AttentionKind::Manual) && now.execution == Execution::Eager;
    if (turns && measured && canTurn) rest.attention = now.attention;
    const bool updates = now.optimizer != other.optimizer || now.keepsGradients != other.keepsGradients;
    const StepWork workNow = stepWork(now, sizes), workThen = stepWork(other, sizes);
    const double update = std::clamp(times.updateMs, 0.0, times.ms);
    if (updates && isPlainUpdate(now) && isPlainUpdate(other) && isBoundByMemory(workNow, update, peaks)) {
        rest.optimizer = now.optimizer;
        rest.keepsGradients = now.keepsGradients;
    }
    if (!(rest == now)) return told;
    const bool converts = now.precision != other.precision;
    const double peakNow = peaks.of(now.precision), peakThen = peaks.of(other.precision);
    const bool grows = now.batchSize != other.batchSize || now.accumulation != other.accumulation;
    const bool recomputes = !(now.recompute == other.recompute);
    // What attention alone costs a second time, and of its times only those of one way are known, the peak of products does not tell.
    if (now.recompute.attentionOnly != other.recompute.attentionOnly) return told;
    if ((converts || recomputes) && !(std::isfinite(peakNow) && std::isfinite(peakThen))) return told;
    if (!converts && !grows && !recomputes && !turns && !updates) return told;

    const double layers = static_cast<double>(now.config.layers);
    const double tokens = workThen.tokens / workNow.tokens;
    // What is none of them: by token, but for the update.
    const double body = times.ms - update;
    const double productsNow = std::isfinite(peakNow) ? std::min(workNow.products / peakNow * 1e3, body) : 0;
    const double productsThen =
        std::isfinite(peakThen) && workNow.products > 0 ? productsNow * (workThen.products / workNow.products) * (peakNow / peakThen) : 0;
    const double attentionNow = turns ? std::min((now.attention == AttentionKind::Manual ? times.manualAttentionMs : times.sdpaAttentionMs) * layers *
                                                     static_cast<double>(now.accumulation),
                                                 body - productsNow)
                                      : 0;
    const double attentionThen = turns ? (other.attention == AttentionKind::Manual ? times.manualAttentionMs : times.sdpaAttentionMs) * layers *
                                             static_cast<double>(now.accumulation) * tokens
                                       : 0;
    const double others = (body - productsNow - attentionNow) * tokens;
    double updateThen = update, clearing = 0;
    if (updates) {
        const double bytesNow = workNow.updateBytes + workNow.clipBytes, bytesThen = workThen.updateBytes + workThen.clipBytes;
        const double ofMemory = std::min(bytesNow / peaks.bytesPerSecond * 1e3, update);
        updateThen = update + ofMemory * (bytesThen / bytesNow - 1);
        clearing = std::max((workThen.clearingBytes - workNow.clearingBytes) / peaks.bytesPerSecond * 1e3, -others);
    }
    told.known = true;
    // A block that is run again computes its attention again too.
    const double again = recomputes ? (workThen.attention - workNow.attention * tokens) / peakThen * 1e3 : 0;
    told.ms = std::max(others + again, 0.0) + productsThen + attentionThen + updateThen + clearing;
    told.msPerToken = told.ms / workThen.tokens;
    told.ratio = times.ms / workNow.tokens / told.msPerToken;
    if (converts) mention(told.basis, "products at the other format's peak");
    if (recomputes) mention(told.basis, "blocks run again at the peak");
    if (turns) mention(told.basis, "attention as measured at this shape");
    if (updates) mention(told.basis, "the update by the bytes it moves");
    if (grows) mention(told.basis, "the same work a token, one update a step");
    return told;
}

}  // namespace stepscope
