// bias + GELU (tanh form), forwards and backwards: the plain reference that every fast version is held against.
// Called by the tests of the CUDA kernel and by the CPU forms; any thread, no state. Row-major (rows, columns).
// GELU: Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016; the tanh form is GPT-2's.
#pragma once
#include <cstddef>
#include <span>

namespace stepscope {

// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), and its derivative.
double geluTanh(double x);
double geluTanhDerivative(double x);

struct BiasGeluShape {
    std::size_t rows = 0;     // tokens, B*T
    std::size_t columns = 0;  // features of the hidden layer, also the length of the bias
};

// out[r][c] = gelu(in[r][c] + bias[c]).
void biasGeluForward(BiasGeluShape shape, std::span<const float> in, std::span<const float> bias, std::span<float> out);

// gradIn[r][c] = gradOut[r][c] * gelu'(in[r][c] + bias[c]); gradBias[c] = sum over r of gradIn[r][c], summed in double.
void biasGeluBackward(BiasGeluShape shape, std::span<const float> gradOut, std::span<const float> in, std::span<const float> bias,
                      std::span<float> gradIn, std::span<float> gradBias);

}  // namespace stepscope
