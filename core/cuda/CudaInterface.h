// What the program and the plug-in libstepscope_cuda.so say to each other: one versioned table of plain function pointers.
// Included by both sides; torch-free, CUDA-free, STL-free, so that either side may be rebuilt alone. Raise kCudaInterfaceVersion with every
// change. Every function that can fail returns null when it worked, else a sentence that lives as long as the process.
// The forms of the fused operations take device pointers, contiguous and row-major; parameters, statistics and their gradients are float32,
// activations are of `scalar`. They only put work onto the stream: nothing is allocated and nothing waits. A gradient of a parameter is
// summed in a fixed order (the same bits every time) and needs workspace: device memory of as many bytes as its function says.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/cuda/CudaActivity.h"
#include "core/kernels/adamw/AdamWStep.h"
#include "core/kernels/residual_norm/NormArguments.h"

namespace stepscope {

inline constexpr int kCudaInterfaceVersion = 11;

enum class CudaScalar : std::int32_t { Float32 = 0, BFloat16 = 1, Float16 = 2 };

struct CudaRows {
    CudaScalar scalar = CudaScalar::Float32;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    void* stream = nullptr;  // a cudaStream_t
};

inline constexpr std::int64_t kMostNormColumns = 16384;  // of residualNormForward and residualNormBackward
struct CudaCrossEntropy {
    std::int64_t vocabulary = 0;  // ids that can occur, <= columns; those beyond it get the gradient 0
    float smoothing = 0;
    float gradientScale = 1;
    void* logits = nullptr;  // overwritten by the gradient when that is wanted
    bool wantsGradient = false;
    const std::int64_t* targets = nullptr;
    float* losses = nullptr;  // (rows), nats
};

// One of the three gradients of attention's heads, elements of a row beside each other.
struct CudaHeadPart {
    const void* data = nullptr;                                     // null = zeros
    std::int64_t batchStride = 0, headStride = 0, tokenStride = 0;  // in elements
};

struct CudaEmbedding {
    std::int64_t context = 1;     // the position of row r is r % context
    std::int64_t vocabulary = 0;  // rows of the table
    const std::int64_t* ids = nullptr;
};

// One parameter of a list: what AdamW updates, and the gradient that is measured and applied. low: bfloat16, gets the new weights rounded;
// null: nowhere.
struct CudaParameter {
    const float* gradient = nullptr;
    float* weight = nullptr;
    float* first = nullptr;
    float* second = nullptr;
    void* low = nullptr;
    std::int64_t count = 0;
};
struct CudaUpdate {
    const CudaParameter* parameters = nullptr;  // host memory, read before the call returns
    std::int64_t count = 0;
    void* stream = nullptr;
};

// One parameter whose moments are in 8 bits (core/state/EightBitMoments.h): a byte a value, and a scale for every 256 of them.
struct CudaEightBitParameter {
    const float* gradient = nullptr;
    float* weight = nullptr;
    std::uint8_t* first = nullptr;
    std::uint8_t* second = nullptr;
    float* firstScales = nullptr;
    float* secondScales = nullptr;
    std::int64_t count = 0;
};
struct CudaEightBitUpdate {
    const CudaEightBitParameter* parameters = nullptr;  // host memory, as both codes: read before the call returns
    std::int64_t count = 0;
    const float* firstCode = nullptr;   // (256), rising: what the codes of first moments stand for
    const float* secondCode = nullptr;  // of second moments, none below 0
    void* stream = nullptr;
};

struct CudaGpuDescription {
    char name[96];
    char driver[32];  // version of the NVIDIA driver, "580.65.06"
    std::int64_t memoryBytes;
    std::int32_t computeMajor;
    std::int32_t computeMinor;
    // What the driver does not tell is 0.
    std::int32_t multiprocessors;
    std::int32_t threadsPerMultiprocessor;
    std::int32_t threadsPerBlock;
    std::int32_t warp;
    std::int64_t registersPerMultiprocessor, registersPerBlock;
    std::int64_t sharedPerMultiprocessorBytes, sharedPerBlockBytes, sharedPerBlockAtMostBytes;
    std::int64_t l2Bytes;
    std::int64_t clockKHz, memoryClockKHz;  // at most
    std::int64_t memoryBusBits;
    double bandwidthBytesPerSecond;  // of its memory, as clock and bus give it: two transfers a clock
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
    double energyJoules;             // since the driver was loaded
    std::int64_t throttleReasons;    // NVML's bits of why the clock is not at its highest: nvmlClocksEventReasons
    std::int64_t pcieSentBytes;      // a second, by the device
    std::int64_t pcieReceivedBytes;  //
};

// Who else computes on a GPU. What nobody can tell is negative: where the driver does not say it, or does not list this process, which has to have
// work on it. So it is in most containers, where processes bear other numbers, or none are shown.
struct CudaGpuOthers {
    std::int64_t processes;  // without this one, and without those that only draw
    double busyPct;          // of the last second: in which kernels of theirs ran
};

struct CudaInterface {
    std::int32_t version;

    // out = gelu(in + bias), the tanh form; bias null = none.
    const char* (*biasGeluForward)(const CudaRows& shape, const void* in, const float* bias, void* out);
    // gradIn = gradOut * gelu'(in + bias), gradBias = its column sums; gradBias null = not wanted. Workspace: columnSumsWorkspaceBytes(rows,
    // columns).
    const char* (*biasGeluBackward)(const CudaRows& shape, const void* gradOut, const void* in, const float* bias, void* gradIn, float* gradBias,
                                    void* workspace);
    // out (rows, columns) = silu(gate) * up, where a row of `in` holds `columns` gates, then as many ups; workspace for 2 columns.
    const char* (*swigluForward)(const CudaRows& shape, const void* in, const float* bias, void* out);
    const char* (*swigluBackward)(const CudaRows& shape, const void* gradOut, const void* in, const float* bias, void* gradIn, float* gradBias,
                                  void* workspace);

    // gradWeight and gradBias are set, not added to.
    const char* (*residualNormForward)(const CudaRows& shape, const NormForward<void>& norm);
    const char* (*residualNormBackward)(const CudaRows& shape, const NormBackward<void>& norm, void* workspace);
    std::size_t (*residualNormWorkspaceBytes)(std::int64_t rows, std::int64_t columns);

    const char* (*crossEntropy)(const CudaRows& shape, const CudaCrossEntropy& loss);

    // rows (B*T, 3*heads*width) of q, k, v from their parts (B, heads, T, width), gradBias = their column sums; shape.rows = B*T; gradBias null = not
    // wanted. Workspace: columnSumsWorkspaceBytes(rows, columns).
    const char* (*mergeHeads)(const CudaRows& shape, std::int64_t context, std::int64_t heads, const CudaHeadPart (&parts)[3], void* rows,
                              float* gradBias, void* workspace);
    // sums (columns) of in (rows, columns).
    const char* (*columnSums)(const CudaRows& shape, const void* in, float* sums, void* workspace);
    std::size_t (*columnSumsWorkspaceBytes)(std::int64_t rows, std::int64_t columns);

    // Tables and results are float32 whatever the scalar. An id outside the table gives a row that is no number and no gradient: the run
    // then stops with its diagnosis.
    const char* (*embeddingForward)(const CudaRows& shape, const CudaEmbedding& embedding, const float* wte, const float* wpe, float* out);
    // gradWte[id] += the sum of gradOut's rows of that id. sorted.ids: ids in ascending order; order: the token each came from, ascending within
    // one id. Workspace: embeddingBackwardWorkspaceBytes(rows, columns).
    const char* (*embeddingBackward)(const CudaRows& shape, const CudaEmbedding& sorted, const std::int64_t* order, const float* gradOut,
                                     float* gradWte, void* workspace);
    std::size_t (*embeddingBackwardWorkspaceBytes)(std::int64_t rows, std::int64_t columns);
    // gradWpe (context, columns) = sums of gradOut over the sequences.
    const char* (*positionBackward)(const CudaRows& shape, std::int64_t context, const float* gradOut, float* gradWpe);

    // *norm (device) = L2 norm of all gradients of the list. Workspace: globalNormWorkspaceBytes(list).
    const char* (*globalNorm)(const CudaUpdate& list, float* norm, void* workspace);
    std::size_t (*globalNormWorkspaceBytes)(const CudaUpdate& list);
    // One update of every parameter. step: device memory. norm (device): null = gradients are applied as they are; else they are clipped to
    // maxNorm (0 = not clipped), and when it is not finite nothing is changed at all.
    const char* (*adamW)(const CudaUpdate& list, const AdamWStep* step, const float* norm, float maxNorm);
    // The same with moments in 8 bits. step: host memory. Gradients must be finite: a block's scale would be lost for good.
    const char* (*adamWEightBit)(const CudaEightBitUpdate& list, const AdamWStep& step);

    // NVML, opened at the first call. Device numbers are CUDA's.
    const char* (*gpuCount)(std::int32_t* count);
    const char* (*describeGpu)(std::int32_t device, CudaGpuDescription* description);
    const char* (*sampleGpu)(std::int32_t device, CudaGpuSample* sample);
    const char* (*othersOnGpu)(std::int32_t device, CudaGpuOthers* others);

    // What cuptiGetVersion() answers: 130000 and above for CUPTI 13.
    const char* (*cuptiVersion)(std::uint32_t* version);

    // A capture of what the process puts onto its devices, by CUPTI. Kernels, copies and memsets are recorded or it does not begin; other kinds where
    // CUPTI has them. One at a time: begin, collect and end are called by one thread after the other.
    const char* (*captureBegin)(const CudaCaptureOptions& options);
    // Hands on what is complete, at least every 250 ms while a capture lives; last: all that is still under way, which it waits for. A sentence is
    // no end: what was there has been handed on.
    const char* (*captureCollect)(bool last, void* user, TakeCudaActivities take);
    void (*captureEnd)(CudaCaptureCounts* counts);
    // The calling thread is at work for `external` until it pops: what it has launched meanwhile says so, and nodes of graphs that it captures.
    // Allowed at any time. Pop gives the id that was on top, 0 when there was none.
    void (*capturePush)(std::int64_t external);
    std::int64_t (*capturePop)();
    std::uint64_t (*captureNow)();  // CUPTI's clock, ns; 0 outside of a capture
    // Around the capture and the making of a CUDA graph: kernels of graphs that were made outside of it may not be recorded, and belong to nothing.
    const char* (*captureGraphBegins)(const CudaCaptureOptions& options);
    void (*captureGraphEnds)();
};

}  // namespace stepscope

// The only symbol that the plug-in exports. Null when it does not speak the version that was asked for.
extern "C" const stepscope::CudaInterface* stepscope_cuda_interface(int version);
