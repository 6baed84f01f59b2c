// What each instruction set's compilation of GemmProducts.isa.cpp and GemmPack.isa.cpp provides; Gemm.cpp picks one. Plain data: no inline function
// may leak from there.
#pragma once
#include "core/kernels/gemm/Gemm.h"

namespace stepscope::gemm {

constexpr int kMostForms = 8;

struct FormTable {
    Form forms[2][kMostForms];  // by Element; the first is what the others are held against, and after the last there is one without a name
};
struct PackerTable {
    Packers packers[2];  // by Element
};

}  // namespace stepscope::gemm
