// A record of CUPTI's as a CudaActivity. Called while a buffer is collected, on the thread that collects.
#pragma once
#include "core/cuda/CudaActivity.h"
#include "core/cuda/cupti/CuptiLibrary.h"

namespace stepscope::cupti {

// False where its kind is none of those that are asked for. Times are handed on as they are, whatever they say.
bool read(const Library& library, const CUpti_Activity& record, CudaActivity& into);

}  // namespace stepscope::cupti
