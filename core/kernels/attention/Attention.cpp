// The plain loops, computed in double and rounded once.
#include "core/kernels/attention/Attention.h"

#include <algorithm>
#include <cmath>

#include "core/base/Check.h"

namespace stepscope {
namespace {

// Probabilities of row i over keys 0..i.
std::vector<double> weightsOf(AttentionShape shape, std::span<const float> q, std::span<const float> k, std::size_t i) {
    const auto D = static_cast<std::size_t>(shape.width);
    std::vector<double> w(i + 1);
    for (std::size_t j = 0; j <= i; ++j) {
        for (std::size_t d = 0; d < D; ++d) w[j] += static_cast<double>(q[i * D + d]) * k[j * D + d];
        w[j] *= shape.scale;
    }
    const double most = *std::max_element(w.begin(), w.end());
    double sum = 0;
    for (double& x : w) sum += x = std::exp(x - most);
    for (double& x : w) x /= sum;
    return w;
}

void check(AttentionShape shape, std::span<const float> q, std::span<const float> k, std::span<const float> v) {
    const auto count = static_cast<std::size_t>(shape.context * shape.width);
    SS_CHECK(q.size() == count && k.size() == count && v.size() == count);
}

std::vector<float> rounded(const std::vector<double>& all) {
    return {all.begin(), all.end()};
}

}  // namespace

std::vector<float> causalAttention(AttentionShape shape, std::span<const float> q, std::span<const float> k, std::span<const float> v) {
    check(shape, q, k, v);
    const auto T = static_cast<std::size_t>(shape.context), D = static_cast<std::size_t>(shape.width);
    std::vector<double> out(T * D);
    for (std::size_t i = 0; i < T; ++i) {
        const auto w = weightsOf(shape, q, k, i);
        for (std::size_t j = 0; j <= i; ++j)
            for (std::size_t d = 0; d < D; ++d) out[i * D + d] += w[j] * v[j * D + d];
    }
    return rounded(out);
}

AttentionGradients causalAttentionBackward(AttentionShape shape, std::span<const float> q, std::span<const float> k, std::span<const float> v,
                                           std::span<const float> gradOut) {
    check(shape, q, k, v);
    SS_CHECK(gradOut.size() == q.size());
    const auto T = static_cast<std::size_t>(shape.context), D = static_cast<std::size_t>(shape.width);
    std::vector<double> gradQ(T * D), gradK(T * D), gradV(T * D);
    for (std::size_t i = 0; i < T; ++i) {
        const auto w = weightsOf(shape, q, k, i);
        std::vector<double> gradW(i + 1);
        double along = 0;
        for (std::size_t j = 0; j <= i; ++j) {
            for (std::size_t d = 0; d < D; ++d) {
                gradW[j] += static_cast<double>(gradOut[i * D + d]) * v[j * D + d];
                gradV[j * D + d] += w[j] * gradOut[i * D + d];
            }
            along += w[j] * gradW[j];
        }
        for (std::size_t j = 0; j <= i; ++j) {
            const double gradScore = w[j] * (gradW[j] - along) * shape.scale;
            for (std::size_t d = 0; d < D; ++d) {
                gradQ[i * D + d] += gradScore * k[j * D + d];
                gradK[j * D + d] += gradScore * q[i * D + d];
            }
        }
    }
    return {rounded(gradQ), rounded(gradK), rounded(gradV)};
}

}  // namespace stepscope
