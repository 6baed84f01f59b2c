// Fused bias + SwiGLU on the GPU. Arithmetic: core/kernels/swiglu/SwigluMath.h; passes: Activation.cuh.
#include "core/cuda/Activation.cuh"
#include "core/cuda/Forms.h"
#include "core/kernels/swiglu/SwigluMath.h"

namespace stepscope {
namespace {

struct Swiglu {
    static constexpr int kParts = 2;
    __device__ static float value(const float (&x)[2]) { return swiglu::value(x[0], x[1]); }
    __device__ static void gradient(float gradOut, const float (&x)[2], float (&to)[2]) {
        const swiglu::Gradients both = swiglu::gradients(gradOut, x[0], x[1]);
        to[0] = both.gate;
        to[1] = both.up;
    }
};

}  // namespace

const char* swigluForward(const CudaRows& shape, const void* in, const float* bias, void* out) {
    return activation::forward<Swiglu>(shape, in, bias, out);
}

const char* swigluBackward(const CudaRows& shape, const void* gradOut, const void* in, const float* bias, void* gradIn, float* gradBias,
                           void* workspace) {
    return activation::backward<Swiglu>(shape, gradOut, in, bias, gradIn, gradBias, workspace);
}

}  // namespace stepscope
