// What the program and the plug-in libstepscope_cuda.so say to each other: one versioned table of plain function pointers.
// Included by both sides; torch-free, CUDA-free, STL-free, so that either side may be rebuilt alone. Append members at the
// end and raise kCudaInterfaceVersion; never reorder.
// Every function that can fail returns null when it worked, else a sentence that lives as long as the process.
#pragma once
#include <cstddef>
#include <cstdint>

namespace stepscope {

inline constexpr int kCudaInterfaceVersion = 1;

enum class CudaScalar : std::int32_t { Float32 = 0, BFloat16 = 1 };

// Activations are row-major (rows, columns) device pointers of `scalar`; stream is a cudaStream_t.
struct CudaBiasGelu {
    CudaScalar scalar;
    std::int64_t rows;
    std::int64_t columns;
    void* stream;
};

struct CudaGpuDescription {
    char name[96];
    char driver[32];  // version of the NVIDIA driver, "580.65.06"
    std::int64_t memoryBytes;
    std::int32_t computeMajor;
    std::int32_t computeMinor;
};

// One reading of NVML. What a device cannot tell is negative.
struct CudaGpuSample {
    double utilisationPct;
    double memoryBusyPct;
    std::int64_t memoryUsedBytes;
    std::int64_t memoryTotalBytes;
    double powerWatts;
    double temperatureCelsius;
    std::int64_t smClockMHz;
};

struct CudaInterface {
    std::int32_t version;

    // out = gelu(in + bias), the tanh form.
    const char* (*biasGeluForward)(const CudaBiasGelu& shape, const void* in, const void* bias, void* out);
    // gradIn = gradOut * gelu'(in + bias) and gradBias = column sums of it, in float32 and in a fixed order (same bits
    // every time). workspace is device memory of at least biasGeluWorkspaceBytes(); gradBias is of `scalar`.
    const char* (*biasGeluBackward)(const CudaBiasGelu& shape, const void* gradOut, const void* in, const void* bias, void* gradIn,
                                    void* gradBias, void* workspace);
    std::size_t (*biasGeluWorkspaceBytes)(std::int64_t rows, std::int64_t columns);

    // NVML, opened at the first call. Device numbers are NVML's (PCI order).
    const char* (*gpuCount)(std::int32_t* count);
    const char* (*describeGpu)(std::int32_t device, CudaGpuDescription* description);
    const char* (*sampleGpu)(std::int32_t device, CudaGpuSample* sample);

    // What cuptiGetVersion() answers: 130000 and above for CUPTI 13.
    const char* (*cuptiVersion)(std::uint32_t* version);
};

}  // namespace stepscope

// The only symbol that the plug-in exports. Null when it does not speak the version that was asked for.
extern "C" const stepscope::CudaInterface* stepscope_cuda_interface(int version);
