// The plain loops, computed in double and rounded once.
#include "core/kernels/residual_norm/ResidualNorm.h"

#include <cmath>

#include "core/base/Check.h"

namespace stepscope {
namespace {

struct Statistics {
    double mean = 0, rstd = 0;
};

Statistics statisticsOf(NormShape shape, std::span<const float> row) {
    Statistics s;
    const double n = static_cast<double>(row.size());
    if (!shape.rms) {
        for (const float x : row) s.mean += x;
        s.mean /= n;
    }
    double squares = 0;
    for (const float x : row) squares += (x - s.mean) * (x - s.mean);
    s.rstd = 1 / std::sqrt(squares / n + static_cast<double>(shape.epsilon));
    return s;
}

}  // namespace

NormedRows residualNormForward(NormShape shape, std::span<const float> x, std::span<const float> delta, std::span<const float> weight,
                               std::span<const float> bias) {
    const auto C = static_cast<std::size_t>(shape.columns);
    SS_CHECK(C > 0 && x.size() % C == 0 && weight.size() == C && (delta.empty() || delta.size() == x.size()) && (bias.empty() || bias.size() == C));
    NormedRows out{.sum = std::vector<float>(x.begin(), x.end()), .normed = std::vector<float>(x.size()), .mean = {}, .rstd = {}};
    for (std::size_t i = 0; i < delta.size(); ++i) out.sum[i] += delta[i];
    for (std::size_t r = 0; r < x.size() / C; ++r) {
        const auto row = std::span(out.sum).subspan(r * C, C);
        const Statistics s = statisticsOf(shape, row);
        out.mean.push_back(static_cast<float>(s.mean));
        out.rstd.push_back(static_cast<float>(s.rstd));
        for (std::size_t c = 0; c < C; ++c)
            out.normed[r * C + c] = static_cast<float>((row[c] - s.mean) * s.rstd * weight[c] + (bias.empty() ? 0.0 : bias[c]));
    }
    return out;
}

NormGradients residualNormBackward(NormShape shape, std::span<const float> gradNormed, std::span<const float> sum, std::span<const float> weight,
                                   std::span<const float> gradResidual) {
    const auto C = static_cast<std::size_t>(shape.columns);
    SS_CHECK(C > 0 && sum.size() % C == 0 && gradNormed.size() == sum.size() && weight.size() == C);
    SS_CHECK(gradResidual.empty() || gradResidual.size() == sum.size());
    NormGradients out{.sum = std::vector<float>(sum.size()), .weight = {}, .bias = {}};
    std::vector<double> gradWeight(C, 0.0), gradBias(C, 0.0);
    for (std::size_t r = 0; r < sum.size() / C; ++r) {
        const auto row = sum.subspan(r * C, C);
        const auto g = gradNormed.subspan(r * C, C);
        const Statistics s = statisticsOf(shape, row);
        double plain = 0, alongHat = 0;
        for (std::size_t c = 0; c < C; ++c) {
            const double hat = (row[c] - s.mean) * s.rstd;
            gradWeight[c] += g[c] * hat;
            gradBias[c] += g[c];
            plain += static_cast<double>(g[c]) * weight[c];
            alongHat += static_cast<double>(g[c]) * weight[c] * hat;
        }
        const double a = shape.rms ? 0 : plain / static_cast<double>(C), b = alongHat / static_cast<double>(C);
        for (std::size_t c = 0; c < C; ++c) {
            const double hat = (row[c] - s.mean) * s.rstd;
            const double through = (static_cast<double>(g[c]) * weight[c] - a - hat * b) * s.rstd;
            out.sum[r * C + c] = static_cast<float>(through + (gradResidual.empty() ? 0.0 : gradResidual[r * C + c]));
        }
    }
    out.weight.assign(gradWeight.begin(), gradWeight.end());
    out.bias.assign(gradBias.begin(), gradBias.end());
    return out;
}

}  // namespace stepscope
