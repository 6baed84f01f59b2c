// The buffers that CUPTI writes its records into. It takes empty ones and gives filled ones back by callbacks, on threads of its own; whoever
// collects takes those, reads them and gives them back. Inside the plug-in only; any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>

#include "core/cuda/CudaActivity.h"
#include "core/cuda/cupti/CuptiLibrary.h"

namespace stepscope::cupti {

struct FilledBuffer {
    CUcontext context;
    std::uint32_t stream;
    std::uint8_t* bytes;
    std::size_t valid;
};

// How large each is, which the first call with a size that can be decides, and how many there may be: two at the least.
void makeRoom(const CudaCaptureOptions& options);

// CUPTI's callbacks.
void CUPTIAPI bufferRequested(std::uint8_t** buffer, std::size_t* size, std::size_t* mostRecords);
void CUPTIAPI bufferCompleted(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size, std::size_t valid);

std::deque<FilledBuffer> takeFilled();  // in the order they came; each is given back
void giveBack(std::uint8_t* buffer);
// Gives back all that were filled before, by a graph's kinds or after the last capture: nobody asked for what is in them.
void forgetFilled();

}  // namespace stepscope::cupti
