#include "core/state/Zeros.h"

#include <ATen/TensorOperators.h>
#include <c10/core/GradMode.h>

#include "core/base/Check.h"

namespace stepscope {

std::int64_t restMomentsOfZeros(TrainState& state) {
    SS_CHECK(state.share.whole() && !state.eightBit());
    const c10::NoGradGuard noGradient;
    state.bumpRevision();
    std::int64_t zeros = 0;
    for (const ParameterSlot& slot : state.layout.slots()) {
        if (!slot.linear) continue;
        const at::Tensor isZero = ParameterLayout::view(state.weights, slot).eq(0);
        zeros += isZero.sum().item<std::int64_t>();
        for (const at::Tensor& moment : {state.firstMoment, state.secondMoment}) ParameterLayout::view(moment, slot).masked_fill_(isZero, 0);
    }
    return zeros;
}

}  // namespace stepscope
