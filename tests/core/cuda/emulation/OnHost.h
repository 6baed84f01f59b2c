// The CUDA forms of the fused operations, compiled for the host: their table, over pointers of the program's own memory.
#pragma once
#include "core/cuda/CudaInterface.h"

extern "C" const stepscope::CudaInterface* stepscope_cuda_on_host();

// Where there is a fake CUPTI: opens `file`, which outlives its use, as CUPTI from the next capture on; null: the fake one again.
extern "C" void stepscope_cuda_on_host_opens(const char* file);
