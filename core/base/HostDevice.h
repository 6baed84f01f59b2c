// STEPSCOPE_HOST_DEVICE: a function for the host and, when nvcc compiles it, for the GPU too. What is written so is tested on the host, on
// machines without a GPU. Includes nothing of CUDA.
#pragma once

#if defined(__CUDACC__)
#define STEPSCOPE_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define STEPSCOPE_HOST_DEVICE inline
#endif
