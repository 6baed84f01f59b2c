#include "core/program/DealtMoments.h"

#include <ATen/ops/empty.h>

namespace stepscope {

FloatMoments gatheredMoments(const TrainState& state, DataParallel& others, bool wanted) {
    const auto bounds = momentBounds(state.layout, state.share.of);
    const auto whole = [&](const at::Tensor& part) {
        const at::Tensor all = wanted ? at::empty({state.layout.size()}, part.options().device(at::kCPU)) : at::Tensor();
        others.bringTogether(part, bounds, all);
        return all;
    };
    at::Tensor first = whole(state.firstMoment);
    return {std::move(first), whole(state.secondMoment)};
}

void makeWhole(TrainState& state, DataParallel& others) {
    if (state.share.whole()) return;
    FloatMoments all = gatheredMoments(state, others, true);
    state.bumpRevision();
    state.firstMoment = all.first.to(state.weights.device());
    state.secondMoment = all.second.to(state.weights.device());
    state.share = {};
}

}  // namespace stepscope
