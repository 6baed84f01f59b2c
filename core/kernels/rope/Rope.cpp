#include "core/kernels/rope/Rope.h"

#include <cmath>

namespace stepscope {

void ropeTurns(std::int64_t context, std::int64_t half, double base, float* cosines, float* sines) {
    for (std::int64_t t = 0; t < context; ++t)
        for (std::int64_t d = 0; d < half; ++d) {
            const double angle = static_cast<double>(t) * std::pow(base, -static_cast<double>(d) / static_cast<double>(half));
            cosines[t * half + d] = static_cast<float>(std::cos(angle));
            sines[t * half + d] = static_cast<float>(std::sin(angle));
        }
}

void ropeRotate(std::span<double> head, std::span<const double> angles) {
    const std::size_t half = angles.size();
    for (std::size_t d = 0; d < half; ++d) {
        const double x = head[d], y = head[half + d], cosine = std::cos(angles[d]), sine = std::sin(angles[d]);
        head[d] = x * cosine - y * sine;
        head[half + d] = y * cosine + x * sine;
    }
}

}  // namespace stepscope
