// AMX's tiles as the kernels use them: 16 rows of 16 words, a word being one float32 sum or two bf16. Tiles 0 to 3 hold sums, 4 and 5 two of A one
// below the other, 6 and 7 two of B side by side. Assembly, because compilers know the instructions as functions of another target only. Run where
// isaInUse() is Isa::Amx; included by *.isa.cpp files only.
#pragma once
#include "core/kernels/isa/Vec.h"

#if STEPSCOPE_ISA_LEVEL >= 3

namespace stepscope::STEPSCOPE_ISA {

// While it lives this thread's tiles are whole, and afterwards free: whoever saves registers has nothing to save.
class AmxTiles {
public:
    AmxTiles() {
        struct alignas(64) Configuration {
            std::uint8_t palette = 1, startRow = 0, reserved[14] = {};
            std::uint16_t rowBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
            std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
        };
        static constexpr Configuration whole;
        asm volatile("ldtilecfg %0" : : "m"(whole));
    }
    ~AmxTiles() { asm volatile("tilerelease"); }
    AmxTiles(const AmxTiles&) = delete;
    AmxTiles& operator=(const AmxTiles&) = delete;

    // Of R x C tiles of sums, 1 or 2 each, whose rows are `stride` floats apart.
    template <int R, int C>
    static STEPSCOPE_INLINE void zero() {
        asm volatile("tilezero %tmm0");
        if constexpr (C > 1) asm volatile("tilezero %tmm1");
        if constexpr (R > 1) asm volatile("tilezero %tmm2");
        if constexpr (R > 1 && C > 1) asm volatile("tilezero %tmm3");
    }
    template <int R, int C>
    static STEPSCOPE_INLINE void load(const float* from, std::int64_t stride) {
        const float* below = from + 16 * stride;
        const std::int64_t bytes = stride * 4;
        asm volatile("tileloadd (%0,%1,1), %%tmm0" : : "r"(from), "r"(bytes) : "memory");
        if constexpr (C > 1) asm volatile("tileloadd 64(%0,%1,1), %%tmm1" : : "r"(from), "r"(bytes) : "memory");
        if constexpr (R > 1) asm volatile("tileloadd (%0,%1,1), %%tmm2" : : "r"(below), "r"(bytes) : "memory");
        if constexpr (R > 1 && C > 1) asm volatile("tileloadd 64(%0,%1,1), %%tmm3" : : "r"(below), "r"(bytes) : "memory");
    }
    template <int R, int C>
    static STEPSCOPE_INLINE void store(float* to, std::int64_t stride) {
        float* below = to + 16 * stride;
        const std::int64_t bytes = stride * 4;
        asm volatile("tilestored %%tmm0, (%0,%1,1)" : : "r"(to), "r"(bytes) : "memory");
        if constexpr (C > 1) asm volatile("tilestored %%tmm1, 64(%0,%1,1)" : : "r"(to), "r"(bytes) : "memory");
        if constexpr (R > 1) asm volatile("tilestored %%tmm2, (%0,%1,1)" : : "r"(below), "r"(bytes) : "memory");
        if constexpr (R > 1 && C > 1) asm volatile("tilestored %%tmm3, 64(%0,%1,1)" : : "r"(below), "r"(bytes) : "memory");
    }
    // Adds the products of 16 words: rows of A `rowOfA` words apart, its second tile 16 rows below; those of B `rowOfB` apart, its second beside.
    template <int R, int C>
    static STEPSCOPE_INLINE void multiply(const std::uint32_t* a, std::int64_t rowOfA, const std::uint32_t* b, std::int64_t rowOfB) {
        const std::uint32_t* below = a + 16 * rowOfA;
        const std::int64_t bytesOfA = rowOfA * 4, bytesOfB = rowOfB * 4;
        asm volatile("tileloadd (%0,%1,1), %%tmm6" : : "r"(b), "r"(bytesOfB) : "memory");
        asm volatile("tileloadd (%0,%1,1), %%tmm4\n\ttdpbf16ps %%tmm6, %%tmm4, %%tmm0" : : "r"(a), "r"(bytesOfA) : "memory");
        if constexpr (C > 1) asm volatile("tileloadd 64(%0,%1,1), %%tmm7\n\ttdpbf16ps %%tmm7, %%tmm4, %%tmm1" : : "r"(b), "r"(bytesOfB) : "memory");
        if constexpr (R > 1) asm volatile("tileloadd (%0,%1,1), %%tmm5\n\ttdpbf16ps %%tmm6, %%tmm5, %%tmm2" : : "r"(below), "r"(bytesOfA) : "memory");
        if constexpr (R > 1 && C > 1) asm volatile("tdpbf16ps %tmm7, %tmm5, %tmm3");
    }
};

}  // namespace stepscope::STEPSCOPE_ISA

#endif
