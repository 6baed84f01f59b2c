// What each instruction set's compilation of Gemm.isa.cpp provides; Gemm.cpp picks one. Plain data: no inline function may leak from there.
#pragma once
#include "core/kernels/gemm/Gemm.h"

namespace stepscope::gemm {

struct Table {
    Kernels kernels[2];  // by Element
    Packers packers[2];
};

}  // namespace stepscope::gemm
