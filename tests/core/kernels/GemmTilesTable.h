// The forms of GemmTilesTest.isa.cpp, for GemmTilesTest.cpp.
#pragma once
#include "core/kernels/gemm/GemmTable.h"
#include "core/kernels/isa/Isa.h"

namespace stepscope {

STEPSCOPE_ISA_TABLE(gemm::FormTable, plainTileForms)

}  // namespace stepscope
