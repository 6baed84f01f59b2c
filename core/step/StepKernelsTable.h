// What each instruction set's compilation of StepKernels.isa.cpp provides; StepKernels.cpp picks one.
#pragma once
#include "core/step/StepKernels.h"

namespace stepscope::step {

struct Table {
    Kernels kernels[2];  // by gemm::Element
};

}  // namespace stepscope::step
