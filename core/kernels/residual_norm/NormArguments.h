// What residual addition + norm takes, the same for the CPU's form (ResidualNormCpu.h) and the CUDA form (core/cuda): host or device pointers,
// contiguous and row-major (rows, columns) where nothing else is said. T is the type of the activations beside the residual stream: float,
// Bf16, or void where it is told apart (CudaRows::scalar). The stream, statistics and weights are float32. Torch-free, STL-free.
#pragma once

namespace stepscope {

// sum = x + delta; normed = (sum - mean) * rstd * weight + bias.
template <class T>
struct NormForward {
    float epsilon = 1e-5f;
    bool rms = false;  // RMSNorm: no mean is taken away
    const float* x = nullptr;
    const T* delta = nullptr;       // null = nothing is added and sum is not written
    const float* weight = nullptr;  // (columns)
    const float* bias = nullptr;    // (columns); null = none
    float* sum = nullptr;           // may be x on the CPU
    T* normed = nullptr;
    float* mean = nullptr;  // (rows), kept for backward; untouched for RMSNorm, may be null then
    float* rstd = nullptr;  // (rows), kept for backward: 1 / sqrt(variance + epsilon)
};

// gradSum = gradResidual + the gradient through the norm.
template <class T>
struct NormBackward {
    bool rms = false;
    const T* gradNormed = nullptr;
    const float* sum = nullptr;
    const float* mean = nullptr;
    const float* rstd = nullptr;
    const float* weight = nullptr;
    const float* gradResidual = nullptr;  // what came back along the stream; null = nothing
    float* gradSum = nullptr;             // may be gradResidual on the CPU
    T* gradDelta = nullptr;               // the same numbers as T; null = not wanted
    float* gradWeight = nullptr;          // (columns); null = not wanted
    float* gradBias = nullptr;            // (columns); null = not wanted
};

}  // namespace stepscope
