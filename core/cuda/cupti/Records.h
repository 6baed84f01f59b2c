// A record of CUPTI's as a CudaActivity. Called while a buffer is collected, on the thread that collects.
#pragma once
#include "core/cuda/CudaActivity.h"
#include "core/cuda/cupti/CuptiLibrary.h"

namespace stepscope::cupti {

// False where its kind is none of those that are asked for. Times are handed on as they are, whatever they say.
bool read(const Library& library, const CUpti_Activity& record, CudaActivity& into);

// Of a call that asks the runtime or the driver for something it knows, and neither gives the GPU work nor waits for it: LibTorch asks which device
// is the current one some twenty times for each kernel (16 674 of 19 203 calls of three steps of GPT-2 small), and all that is in nobody's way.
// Kineto leaves such calls out of its traces, too.
bool onlyAsks(const CudaActivity& call);

}  // namespace stepscope::cupti
