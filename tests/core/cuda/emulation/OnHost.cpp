// What tests ask of the plug-in that is compiled for the host, and the calls of the CUDA runtime that the plug-in makes.
#include "OnHost.h"

#include <cuda_runtime.h>

extern "C" const stepscope::CudaInterface* stepscope_cuda_interface(int version);

extern "C" cudaError_t CUDARTAPI cudaPeekAtLastError() {
    return cudaSuccess;
}
extern "C" cudaError_t CUDARTAPI cudaGetLastError() {
    return cudaSuccess;
}
extern "C" const char* CUDARTAPI cudaGetErrorString(cudaError_t) {
    return "no error";
}
extern "C" cudaError_t CUDARTAPI cudaGetDeviceCount(int*) {
    return cudaErrorNoDevice;
}
extern "C" cudaError_t CUDARTAPI cudaDeviceGetAttribute(int*, enum cudaDeviceAttr, int) {
    return cudaErrorNoDevice;
}
extern "C" cudaError_t CUDARTAPI cudaSetDevice(int) {
    return cudaErrorNoDevice;
}
extern "C" cudaError_t CUDARTAPI cudaDeviceSynchronize() {
    return cudaSuccess;
}
extern "C" cudaError_t CUDARTAPI cudaDeviceGetPCIBusId(char*, int, int) {
    return cudaErrorNoDevice;
}

extern "C" __attribute__((visibility("default"))) const stepscope::CudaInterface* stepscope_cuda_on_host() {
    return stepscope_cuda_interface(stepscope::kCudaInterfaceVersion);
}
