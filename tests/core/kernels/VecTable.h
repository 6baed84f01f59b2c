// The functions of VecTest.isa.cpp, for VecTest.cpp.
#pragma once
#include "core/kernels/isa/Bf16.h"
#include "core/kernels/isa/Isa.h"

namespace stepscope {

struct VecTable {
    void (*exps)(const float* in, float* out, std::int64_t count);
    void (*sigmoids)(const float* in, float* out, std::int64_t count);
    void (*tanhs)(const float* in, float* out, std::int64_t count);
    void (*rounded)(const float* in, Bf16* out, std::int64_t count);
    void (*widened)(const Bf16* in, float* out, std::int64_t count);
    float (*summed)(const float* in, std::int64_t count);
    float (*greatest)(const float* in, std::int64_t count);
};
STEPSCOPE_ISA_TABLE(VecTable, vecTable)

}  // namespace stepscope
