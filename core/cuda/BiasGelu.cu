// Fused bias + GELU (tanh form) on the GPU. Arithmetic: core/kernels/bias_gelu/BiasGeluMath.h; passes: Activation.cuh.
#include "core/cuda/Activation.cuh"
#include "core/cuda/Forms.h"
#include "core/kernels/bias_gelu/BiasGeluMath.h"

namespace stepscope {
namespace {

struct Gelu {
    static constexpr int kParts = 1;
    __device__ static float value(const float (&x)[1]) { return bias_gelu::value(x[0]); }
    __device__ static void gradient(float gradOut, const float (&x)[1], float (&to)[1]) { to[0] = gradOut * bias_gelu::derivative(x[0]); }
};

}  // namespace

const char* biasGeluForward(const CudaRows& shape, const void* in, const float* bias, void* out) {
    return activation::forward<Gelu>(shape, in, bias, out);
}

const char* biasGeluBackward(const CudaRows& shape, const void* gradOut, const void* in, const float* bias, void* gradIn, float* gradBias,
                             void* workspace) {
    return activation::backward<Gelu>(shape, gradOut, in, bias, gradIn, gradBias, workspace);
}

}  // namespace stepscope
