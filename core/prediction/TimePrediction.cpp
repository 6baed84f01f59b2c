#include "core/prediction/TimePrediction.h"

#include <algorithm>
#include <cmath>

namespace stepscope {
namespace {

void mention(std::string& basis, const char* what) {
    basis += (basis.empty() ? "" : ", ") + std::string(what);
}

bool isLibrarys(AttentionKind kind) {
    return kind == AttentionKind::Auto;
}

}  // namespace

TimePrediction predictTime(const RunPlan& now, const RunPlan& other, const ModelSizes& sizes, const StepTimes& times, const MachinePeaks& peaks) {
    TimePrediction told;
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
    if (!(rest == now) || !(times.ms > 0)) return told;
    const bool converts = now.precision != other.precision;
    const double peakNow = peaks.of(now.precision), peakThen = peaks.of(other.precision);
    const bool grows = now.batchSize != other.batchSize || now.accumulation != other.accumulation;
    const bool recomputes = !(now.recompute == other.recompute);
    if ((converts || recomputes) && !(std::isfinite(peakNow) && std::isfinite(peakThen))) return told;
    if (!converts && !grows && !recomputes && !turns) return told;

    const StepWork workNow = stepWork(now, sizes), workThen = stepWork(other, sizes);
    const double layers = static_cast<double>(now.config.layers);
    const double tokens = workThen.tokens / workNow.tokens;
    // What is none of them: by token, but for the update.
    const double update = std::clamp(times.updateMs, 0.0, times.ms);
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
    told.known = true;
    told.ms = (body - productsNow - attentionNow) * tokens + productsThen + attentionThen + update;
    told.msPerToken = told.ms / workThen.tokens;
    told.ratio = times.ms / workNow.tokens / told.msPerToken;
    if (converts) mention(told.basis, "products at the other format's peak");
    if (recomputes) mention(told.basis, "blocks run again at the peak");
    if (turns) mention(told.basis, "attention as measured at this shape");
    if (grows) mention(told.basis, "the same work a token, one update a step");
    return told;
}

}  // namespace stepscope
