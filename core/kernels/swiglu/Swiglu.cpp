// The plain loops, computed in double and rounded once.
#include "core/kernels/swiglu/Swiglu.h"

#include <cmath>
#include <vector>

#include "core/base/Check.h"

namespace stepscope {
namespace {

double sigmoid(double x) {
    return 1 / (1 + std::exp(-x));
}

}  // namespace

void swigluForward(std::size_t columns, std::span<const float> in, std::span<const float> bias, std::span<float> out) {
    SS_CHECK(columns > 0 && in.size() == 2 * out.size() && out.size() % columns == 0 && (bias.empty() || bias.size() == 2 * columns));
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t c = i % columns, gateAt = i / columns * 2 * columns + c;
        const double gate = static_cast<double>(in[gateAt]) + (bias.empty() ? 0.0 : bias[c]);
        const double up = static_cast<double>(in[gateAt + columns]) + (bias.empty() ? 0.0 : bias[columns + c]);
        out[i] = static_cast<float>(gate * sigmoid(gate) * up);
    }
}

void swigluBackward(std::size_t columns, std::span<const float> gradOut, std::span<const float> in, std::span<const float> bias,
                    std::span<float> gradIn, std::span<float> gradBias) {
    SS_CHECK(columns > 0 && in.size() == 2 * gradOut.size() && gradIn.size() == in.size() && gradBias.size() == 2 * columns);
    std::vector<double> sums(2 * columns, 0.0);
    for (std::size_t i = 0; i < gradOut.size(); ++i) {
        const std::size_t c = i % columns, gateAt = i / columns * 2 * columns + c;
        const double gate = static_cast<double>(in[gateAt]) + (bias.empty() ? 0.0 : bias[c]);
        const double up = static_cast<double>(in[gateAt + columns]) + (bias.empty() ? 0.0 : bias[columns + c]);
        const double s = sigmoid(gate);
        const double gradGate = gradOut[i] * up * s * (1 + gate * (1 - s)), gradUp = gradOut[i] * gate * s;
        gradIn[gateAt] = static_cast<float>(gradGate);
        gradIn[gateAt + columns] = static_cast<float>(gradUp);
        sums[c] += gradGate;
        sums[columns + c] += gradUp;
    }
    for (std::size_t c = 0; c < 2 * columns; ++c) gradBias[c] = static_cast<float>(sums[c]);
}

}  // namespace stepscope
