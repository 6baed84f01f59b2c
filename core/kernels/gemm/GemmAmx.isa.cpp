// The products behind Gemm.h by AMX's tiles. Its unit adds the products of 16 words before it adds them to the sum, the two halves apart, so that its
// bits are its own: on a processor that has it no other form runs. Only the highest instruction set has it, and only where the system lets us
// (Isa::Amx).
#include "core/kernels/gemm/GemmTiles.h"
#include "core/kernels/isa/Amx.h"

#if STEPSCOPE_ISA_LEVEL >= 3

namespace stepscope::STEPSCOPE_ISA {
namespace {

class AmxUnit {
public:
    STEPSCOPE_INLINE void zero() { AmxTiles::zero<2, 2>(); }
    STEPSCOPE_INLINE void load(const float* from, i64 stride) { AmxTiles::load<2, 2>(from, stride); }
    STEPSCOPE_INLINE void store(float* to, i64 stride) { AmxTiles::store<2, 2>(to, stride); }
    STEPSCOPE_INLINE void multiply(const Word* a, i64 rowStride, i64 blockStride, const Word* b, i64 blocks) {
        for (i64 i = 0; i < blocks; ++i, a += blockStride, b += kBlockWords * gemm::kPanel) AmxTiles::multiply<2, 2>(a, rowStride, b, gemm::kPanel);
    }

private:
    AmxTiles m_tiles;
};

}  // namespace

extern const gemm::FormTable gemmAmxForms;  // a constant is local to its file otherwise
const gemm::FormTable gemmAmxForms = {.forms = {{}, {{"amx-8", byTiles<AmxUnit, true, 8>()}, {"amx-16", byTiles<AmxUnit, true, 16>()}}}};

}  // namespace stepscope::STEPSCOPE_ISA

#endif
