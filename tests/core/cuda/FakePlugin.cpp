// A plug-in that speaks another version than the program: its door answers null, as the real one does then.
#include "core/cuda/CudaInterface.h"

extern "C" const stepscope::CudaInterface* stepscope_cuda_interface(int) {
    return nullptr;
}
