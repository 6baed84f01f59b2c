#include "core/analysis/panes/ModelFlops.h"

#include <algorithm>
#include <map>

namespace stepscope {
namespace {

double mostOf(const Roof& roof) {
    return std::max({roof.float32, roof.bf16, roof.fp16});
}

}  // namespace

std::optional<ModelFlops> modelFlops(const RangePanes& panes, const Roof& roof) {
    if (panes.steps.size() != 1 || panes.severalRanks || panes.gpus.size() > 1) return std::nullopt;
    const DividedSteps& steps = panes.steps.front();
    // Operations of a run on a GPU only launch what computes.
    if (steps.device != panes.devices || steps.steps <= 0 || steps.window.ns <= 0) return std::nullopt;
    // Of a GPU what lies between captures is divided, too; where that is most of it, it is no step's time.
    if (steps.device && steps.window.ns / 2 > panes.totals.stepTime.ns) return std::nullopt;
    double flops = 0;
    std::map<std::string, double> ofType;
    const auto add = [&](const std::string& type, double computed) {
        flops += computed;
        ofType[type] += computed;
    };
    if (steps.device)
        for (const PaneKernel& one : panes.kernels) add(one.row.type, one.row.flops);
    else
        for (const PaneOperation& one : panes.operations) add(one.type, static_cast<double>(one.row.flops));
    if (flops <= 0) return std::nullopt;
    const std::string& type = std::ranges::max_element(ofType, {}, [](const auto& one) { return one.second; })->first;
    ModelFlops found{.perSecond = flops / steps.window.seconds()};
    if (!roof.known()) {
        found.source = roof.whyNone;
        return found;
    }
    // Where nobody says the format, or it was not measured of a CPU, the highest roof claims too little rather than too much. A GPU's formats are too
    // far from each other for that.
    found.peak = roof.flopsOf(type);
    if (found.peak <= 0 && (!steps.device || type.empty())) found.peak = mostOf(roof);
    found.source = found.peak > 0 ? roof.source : "the peak of " + std::string(formatOf(type)) + " is not known of this GPU";
    return found;
}

}  // namespace stepscope
