// The products behind Gemm.h by AMX's tiles. Its unit adds the products of 16 words before it adds them to the sum, the two halves apart, so that its
// bits are its own: on a processor that has it no other form runs. Only the highest instruction set has it, and only where the system lets us
// (Isa::Amx).
#include "core/kernels/gemm/GemmTiles.h"

#if STEPSCOPE_ISA_LEVEL >= 3

namespace stepscope::STEPSCOPE_ISA {
namespace {

// Tiles 0 to 3 hold the sums, 4 and 5 two of A, 6 and 7 two of B. Assembly, because compilers know the instructions as functions of another target
// only.
class AmxUnit {
public:
    AmxUnit() {
        struct alignas(64) Configuration {
            std::uint8_t palette = 1, startRow = 0, reserved[14] = {};
            std::uint16_t rowBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
            std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
        };
        static constexpr Configuration whole;
        asm volatile("ldtilecfg %0" : : "m"(whole));
    }
    ~AmxUnit() { asm volatile("tilerelease"); }
    AmxUnit(const AmxUnit&) = delete;
    AmxUnit& operator=(const AmxUnit&) = delete;

    STEPSCOPE_INLINE void zero() { asm volatile("tilezero %tmm0\n\ttilezero %tmm1\n\ttilezero %tmm2\n\ttilezero %tmm3"); }
    STEPSCOPE_INLINE void load(const float* from, i64 stride) {
        const i64 bytes = stride * 4;
        asm volatile(
            "tileloadd (%0,%2,1), %%tmm0\n\ttileloadd 64(%0,%2,1), %%tmm1\n\t"
            "tileloadd (%1,%2,1), %%tmm2\n\ttileloadd 64(%1,%2,1), %%tmm3"
            :
            : "r"(from), "r"(from + 16 * stride), "r"(bytes)
            : "memory");
    }
    STEPSCOPE_INLINE void store(float* to, i64 stride) {
        const i64 bytes = stride * 4;
        asm volatile(
            "tilestored %%tmm0, (%0,%2,1)\n\ttilestored %%tmm1, 64(%0,%2,1)\n\t"
            "tilestored %%tmm2, (%1,%2,1)\n\ttilestored %%tmm3, 64(%1,%2,1)"
            :
            : "r"(to), "r"(to + 16 * stride), "r"(bytes)
            : "memory");
    }
    STEPSCOPE_INLINE void multiply(const Word* a, i64 rowStride, i64 blockStride, const Word* b, i64 blocks) {
        const i64 bytesOfA = rowStride * 4;
        constexpr i64 bytesOfB = gemm::kPanel * 4;
        for (i64 i = 0; i < blocks; ++i, a += blockStride, b += kBlockWords * gemm::kPanel)
            asm volatile(
                "tileloadd (%2,%4,1), %%tmm6\n\ttileloadd (%0,%3,1), %%tmm4\n\ttdpbf16ps %%tmm6, %%tmm4, %%tmm0\n\t"
                "tileloadd 64(%2,%4,1), %%tmm7\n\ttdpbf16ps %%tmm7, %%tmm4, %%tmm1\n\t"
                "tileloadd (%1,%3,1), %%tmm5\n\ttdpbf16ps %%tmm6, %%tmm5, %%tmm2\n\ttdpbf16ps %%tmm7, %%tmm5, %%tmm3"
                :
                : "r"(a), "r"(a + 16 * rowStride), "r"(b), "r"(bytesOfA), "r"(bytesOfB)
                : "memory");
    }
};

}  // namespace

extern const gemm::FormTable gemmAmxForms;  // a constant is local to its file otherwise
const gemm::FormTable gemmAmxForms = {.forms = {{}, {{"amx-8", byTiles<AmxUnit, true, 8>()}, {"amx-16", byTiles<AmxUnit, true, 16>()}}}};

}  // namespace stepscope::STEPSCOPE_ISA

#endif
