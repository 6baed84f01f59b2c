#include "core/state/EightBitMoments.h"

#include <ATen/Parallel.h>
#include <ATen/ops/zeros.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <cmath>

#include "core/base/Check.h"
#include "core/base/OperationSpan.h"
#include "core/cuda/loader/CudaPlugin.h"
#include "core/model/DeviceStream.h"
#include "core/state/BlockCode.h"

namespace stepscope {
namespace {

constexpr std::int64_t kBlocksPerTask = 16;

// encode(slot's first element, its count, its first block) for every parameter.
template <class Function>
void eachSlot(const ParameterLayout& layout, const Function& function) {
    const auto offsets = blockOffsets(layout);
    for (std::size_t i = 0; i < layout.slots().size(); ++i) function(layout.slots()[i].offset, layout.slots()[i].count, offsets[i]);
}

struct Encoded {
    at::Tensor codes, scales;
    double error = 0;
};

// On the device of `moment`.
Encoded encoded(const at::Tensor& moment, const ParameterLayout& layout, const BlockCode& code) {
    const at::Tensor values = moment.cpu();
    Encoded made{at::zeros({layout.size()}, at::TensorOptions().dtype(at::kByte)),
                 at::zeros({blockOffsets(layout).back()}, at::TensorOptions().dtype(at::kFloat))};
    const float* from = values.data_ptr<float>();
    double squares = 0, errors = 0;
    std::vector<float> back;
    eachSlot(layout, [&](std::int64_t begin, std::int64_t count, std::int64_t block) {
        std::uint8_t* codes = made.codes.data_ptr<std::uint8_t>() + begin;
        float* scales = made.scales.data_ptr<float>() + block;
        code.encode(from + begin, count, codes, scales);
        back.resize(static_cast<std::size_t>(count));
        code.decode(codes, scales, count, back.data());
        for (std::int64_t i = 0; i < count; ++i) {
            const double value = from[begin + i], lost = value - back[static_cast<std::size_t>(i)];
            squares += value * value;
            errors += lost * lost;
        }
    });
    made.error = squares > 0 ? std::sqrt(errors / squares) : 0;
    made.codes = made.codes.to(moment.device());
    made.scales = made.scales.to(moment.device());
    return made;
}

// On the CPU.
at::Tensor decoded(const at::Tensor& codesAnywhere, const at::Tensor& scalesAnywhere, const ParameterLayout& layout, const BlockCode& code) {
    const at::Tensor codes = codesAnywhere.cpu(), scales = scalesAnywhere.cpu();
    at::Tensor values = at::zeros({layout.size()}, at::TensorOptions().dtype(at::kFloat));
    eachSlot(layout, [&](std::int64_t begin, std::int64_t count, std::int64_t block) {
        code.decode(codes.data_ptr<std::uint8_t>() + begin, scales.data_ptr<float>() + block, count, values.data_ptr<float>() + begin);
    });
    return values;
}

// One block of at most kCodeBlock values, decoded on the stack.
struct BlockUpdate {
    const AdamW& s;
    double kept, stepSize, rootOfSecond;

    void operator()(float* w, const float* g, std::uint8_t* m8, float* mScale, std::uint8_t* v8, float* vScale, std::int64_t count) const {
        float m[kCodeBlock], v[kCodeBlock];
        firstMomentCode().decode(m8, mScale, count, m);
        secondMomentCode().decode(v8, vScale, count, v);
        const auto b1 = static_cast<float>(s.beta1), b2 = static_cast<float>(s.beta2), keep = static_cast<float>(kept);
        const auto newer1 = static_cast<float>(1 - s.beta1), newer2 = static_cast<float>(1 - s.beta2);  // subtracted in double
        const auto size = static_cast<float>(stepSize), root = static_cast<float>(1 / rootOfSecond), floor = static_cast<float>(s.epsilon);
        for (std::int64_t i = 0; i < count; ++i) {
            m[i] = b1 * m[i] + newer1 * g[i];
            v[i] = b2 * v[i] + newer2 * g[i] * g[i];
            w[i] = keep * w[i] - size * m[i] / (std::sqrt(v[i]) * root + floor);
        }
        firstMomentCode().encode(m, count, m8, mScale);
        secondMomentCode().encode(v, count, v8, vScale);
    }
};

// Weights in float32 and both moments in a byte are read and written, gradients read; a scale for each block of both moments counts for little.
OperationWork workOf(std::int64_t values) {
    return {0, (2 * (4 + 1 + 1) + 4) * values};
}

// All parameters of the group at once.
void updateOnGpu(const ParameterGroup& group, const AdamW& s) {
    std::int64_t values = 0;
    for (const auto& parameter : group.parameters) values += parameter.numel();
    const OperationSpan span("AdamW, 8-bit moments", Role::Optimizer, 0, [&] { return workOf(values); });
    const at::Device device = group.parameters.front().device();
    const c10::DeviceGuard guard(device);
    std::vector<at::Tensor> gradients;  // alive until the launch
    std::vector<CudaEightBitParameter> list;
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
        SS_CHECK(group.firstMoments[i].scalar_type() == at::kByte);
        gradients.push_back(group.gradients[i].contiguous());
        list.push_back({.gradient = gradients.back().data_ptr<float>(),
                        .weight = group.parameters[i].data_ptr<float>(),
                        .first = group.firstMoments[i].data_ptr<std::uint8_t>(),
                        .second = group.secondMoments[i].data_ptr<std::uint8_t>(),
                        .firstScales = group.firstScales[i].data_ptr<float>(),
                        .secondScales = group.secondScales[i].data_ptr<float>(),
                        .count = gradients.back().numel()});
    }
    const CudaEightBitUpdate update{.parameters = list.data(),
                                    .count = static_cast<std::int64_t>(list.size()),
                                    .firstCode = firstMomentCode().values().data(),
                                    .secondCode = secondMomentCode().values().data(),
                                    .stream = streamOf(device)};
    const char* why = cudaPlugin().interface->adamWEightBit(update, adamWStep(s, group.decays));
    TORCH_CHECK(why == nullptr, why);
}

}  // namespace

std::vector<std::int64_t> blockOffsets(const ParameterLayout& layout) {
    std::vector<std::int64_t> offsets{0};
    for (const auto& slot : layout.slots()) offsets.push_back(offsets.back() + codeBlocks(slot.count));
    return offsets;
}

double toEightBit(TrainState& state) {
    if (state.eightBit()) return 0;
    state.bumpRevision();
    Encoded first = encoded(state.firstMoment, state.layout, firstMomentCode());
    state.firstMoment = std::move(first.codes);
    Encoded second = encoded(state.secondMoment, state.layout, secondMomentCode());
    state.secondMoment = std::move(second.codes);
    state.firstScales = std::move(first.scales);
    state.secondScales = std::move(second.scales);
    return std::max(first.error, second.error);
}

FloatMoments floatMoments(const TrainState& state) {
    if (!state.eightBit()) return {state.firstMoment, state.secondMoment};
    return {decoded(state.firstMoment, state.firstScales, state.layout, firstMomentCode()),
            decoded(state.secondMoment, state.secondScales, state.layout, secondMomentCode())};
}

void toFloat(TrainState& state) {
    if (!state.eightBit()) return;
    state.bumpRevision();
    const at::Device device = state.weights.device();
    const FloatMoments moments = floatMoments(state);
    state.firstMoment = moments.first.to(device);
    state.secondMoment = moments.second.to(device);
    state.firstScales = at::Tensor();
    state.secondScales = at::Tensor();
}

void adamWEightBit(ParameterGroup& group, const AdamW& s) {
    if (!group.parameters.empty() && takesCudaForm(group.parameters.front())) return updateOnGpu(group, s);
    const double first = 1 - std::pow(s.beta1, static_cast<double>(s.t)), second = 1 - std::pow(s.beta2, static_cast<double>(s.t));
    const BlockUpdate update{s, 1 - s.rate * (group.decays ? s.weightDecay : 0.0), s.rate / first, std::sqrt(second)};
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
        SS_CHECK(group.firstMoments[i].scalar_type() == at::kByte);
        const OperationSpan span("AdamW, 8-bit moments", Role::Optimizer, 0, [&] { return workOf(group.parameters[i].numel()); });
        const at::Tensor gradient = group.gradients[i].contiguous();
        float* w = group.parameters[i].data_ptr<float>();
        const float* g = gradient.data_ptr<float>();
        auto *m8 = group.firstMoments[i].data_ptr<std::uint8_t>(), *v8 = group.secondMoments[i].data_ptr<std::uint8_t>();
        float *mScales = group.firstScales[i].data_ptr<float>(), *vScales = group.secondScales[i].data_ptr<float>();
        const std::int64_t count = gradient.numel();
        at::parallel_for(0, codeBlocks(count), kBlocksPerTask, [&](std::int64_t from, std::int64_t to) {
            for (std::int64_t block = from; block < to; ++block) {
                const std::int64_t at = block * kCodeBlock;
                update(w + at, g + at, m8 + at, mScales + block, v8 + at, vScales + block, std::min(kCodeBlock, count - at));
            }
        });
    }
}

}  // namespace stepscope
