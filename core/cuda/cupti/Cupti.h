// A capture of kernels, copies, calls and waits by CUPTI's Activity API: the plug-in's side of CudaInterface's capture functions, which say what each
// does. One capture at a time in a process. CUPTI's callbacks only take and give buffers; they are read by whoever collects.
#pragma once
#include "core/cuda/CudaActivity.h"

namespace stepscope {

const char* captureBegin(const CudaCaptureOptions& options);
const char* captureCollect(bool last, void* user, TakeCudaActivities take);
void captureEnd(CudaCaptureCounts* counts);
void capturePush(std::int64_t external);
std::int64_t capturePop();
std::uint64_t captureNow();
const char* captureGraphBegins(const CudaCaptureOptions& options);
void captureGraphEnds();

}  // namespace stepscope
