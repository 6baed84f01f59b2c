// The plain loops behind BiasGelu.h: computed in double and rounded once, so that a fast version is judged by its own
// error and not by the reference's. Called by tests and CPU forms, any thread.
#include "core/kernels/bias_gelu/BiasGelu.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "core/base/Check.h"

namespace stepscope {
namespace {

constexpr double kCubic = 0.044715;
const double kScale = std::sqrt(2.0 / std::numbers::pi);

}  // namespace

double geluTanh(double x) {
    return 0.5 * x * (1.0 + std::tanh(kScale * (x + kCubic * x * x * x)));
}

double geluTanhDerivative(double x) {
    const double t = std::tanh(kScale * (x + kCubic * x * x * x));
    return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * kScale * (1.0 + 3.0 * kCubic * x * x);
}

void biasGeluForward(BiasGeluShape shape, std::span<const float> in, std::span<const float> bias, std::span<float> out) {
    SS_CHECK(in.size() == shape.rows * shape.columns && out.size() == in.size() && bias.size() == shape.columns);
    for (std::size_t r = 0; r < shape.rows; ++r)
        for (std::size_t c = 0; c < shape.columns; ++c) {
            const std::size_t i = r * shape.columns + c;
            out[i] = static_cast<float>(geluTanh(static_cast<double>(in[i]) + bias[c]));
        }
}

void biasGeluBackward(BiasGeluShape shape, std::span<const float> gradOut, std::span<const float> in, std::span<const float> bias,
                      std::span<float> gradIn, std::span<float> gradBias) {
    SS_CHECK(in.size() == shape.rows * shape.columns && gradOut.size() == in.size() && gradIn.size() == in.size());
    SS_CHECK(bias.size() == shape.columns && gradBias.size() == shape.columns);
    std::vector<double> sums(shape.columns, 0.0);
    for (std::size_t r = 0; r < shape.rows; ++r)
        for (std::size_t c = 0; c < shape.columns; ++c) {
            const std::size_t i = r * shape.columns + c;
            const double g = gradOut[i] * geluTanhDerivative(static_cast<double>(in[i]) + bias[c]);
            gradIn[i] = static_cast<float>(g);
            sums[c] += g;
        }
    for (std::size_t c = 0; c < shape.columns; ++c) gradBias[c] = static_cast<float>(sums[c]);
}

}  // namespace stepscope
